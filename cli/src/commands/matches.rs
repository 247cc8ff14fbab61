//! `turnfold matches`: the matches of the store.

use std::io;

use serde::Serialize;
use turnfold_core::{AnyState, Registry, Seat};
use turnfold_replay::{Position, ReplayError, Revision, Sources, Tail};
use turnfold_store::{BranchName, MatchInfo, MatchName, StoreReader};

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::identity;
use crate::output::{self, Output, Tone, counted, paint};

/// List the matches of the store
///
/// They come by name, each with its entries, its branches and the time of its last entry, or of its creation before
/// the first. With `--long` each is folded from its last snapshot, to show whose turn it is: which seats have a command
/// that would be applied. A list of thousands takes longer for it. `--after` and `--limit` read a long list page by
/// page: go on after the last name of a page.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold matches --after duel --limit 20\n  turnfold matches --mine p1")]
pub(crate) struct Args {
    /// Begin after this name, whether or not there is such a match
    #[arg(long, value_name = "MATCH")]
    after: Option<MatchName>,

    /// List at most so many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Show also whose turn it is, or that the match is over
    #[arg(short, long)]
    long: bool,

    /// List only the matches in which this seat has a command to give, with whose turn it is
    #[arg(long, value_name = "SEAT")]
    mine: Option<Seat>,
}

/// How many matches are read before they are printed, so that their columns stand under each other.
const PAGE: usize = 256;

/// A match of the list.
struct Listed {
    info: MatchInfo,
    /// When its last entry was recorded, on whatever branch; when it was created if there is none.
    active_at_ms: i64,
    /// Whose turn it is, where that was asked for.
    turn: Option<Turn>,
}

/// Where a match stands.
enum Turn {
    /// No more commands are taken.
    Over,
    /// These seats have a command that would be applied.
    Of(Vec<Seat>),
    /// This build does not have the rules that tell.
    Unknown,
}

#[derive(Serialize)]
struct MatchJson<'a> {
    #[serde(rename = "match")]
    match_name: &'a str,
    ruleset: &'a str,
    version: u32,
    entries: u64,
    branches: u64,
    title: &'a str,
    created_at_ms: i64,
    active_at_ms: i64,
    #[serde(flatten)]
    turn: Option<TurnJson<'a>>,
}

#[derive(Serialize)]
struct TurnJson<'a> {
    over: Option<bool>,
    turn: Option<&'a [Seat]>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let store = context.read_store()?;
    let matches = store.matches_after(args.after.as_ref())?;
    let listed = matches.map(|info| Listed::read(info?, args, &store, &context.registry));
    let wanted = listed.filter(|listed| listed.as_ref().map_or(true, |listed| listed.is_wanted(args)));
    let mut wanted = wanted.take(args.limit.unwrap_or(usize::MAX));
    loop {
        let page: Vec<_> = wanted.by_ref().take(PAGE).collect::<Result<_, _>>()?;
        print(&page, &mut context.output)?;
        if page.len() < PAGE {
            return Ok(Answer::Yes);
        }
    }
}

impl Listed {
    fn read(info: MatchInfo, args: &Args, store: &StoreReader, registry: &Registry) -> Result<Self, Failure> {
        let active_at_ms = active_at_ms(&info, store)?;
        let turn =
            (args.long || args.mine.is_some()).then(|| Turn::of(&info.name, store, registry)).transpose()?;
        Ok(Self { info, active_at_ms, turn })
    }

    fn is_wanted(&self, args: &Args) -> bool {
        match (&args.mine, &self.turn) {
            (None, _) => true,
            (Some(mine), Some(Turn::Of(seats))) => seats.contains(mine),
            (Some(_), _) => false,
        }
    }

    fn to_json(&self) -> MatchJson<'_> {
        let genesis = &self.info.genesis;
        MatchJson {
            match_name: self.info.name.as_str(),
            ruleset: &genesis.ruleset,
            version: genesis.ruleset_version,
            entries: self.info.head,
            branches: self.info.branches,
            title: &genesis.title,
            created_at_ms: genesis.created_at_ms,
            active_at_ms: self.active_at_ms,
            turn: self.turn.as_ref().map(Turn::to_json),
        }
    }
}

impl Turn {
    fn of(name: &MatchName, store: &StoreReader, registry: &Registry) -> Result<Self, Failure> {
        let main = Revision { match_name: name.clone(), branch: BranchName::main(), seq: None };
        let build = identity::of_build();
        match Position::before_entries_of(Tail::last(0), &main, registry, store, build.as_ref(), None) {
            Ok(position) => Ok(Self::in_state(position.state.as_ref())),
            Err(ReplayError::UnknownRuleset { .. } | ReplayError::OtherVersion { .. }) => Ok(Self::Unknown),
            Err(error) => Err(error.into()),
        }
    }

    fn in_state(state: &dyn AnyState) -> Self {
        if state.over() {
            return Self::Over;
        }
        let seats = state.players().iter().copied().chain([Seat::Host]);
        Self::Of(seats.filter(|&seat| !state.legal(seat).is_empty()).collect())
    }

    fn to_json(&self) -> TurnJson<'_> {
        match self {
            Self::Over => TurnJson { over: Some(true), turn: Some(&[]) },
            Self::Of(seats) => TurnJson { over: Some(false), turn: Some(seats) },
            Self::Unknown => TurnJson { over: None, turn: None },
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Over => "over".into(),
            Self::Of(seats) if seats.is_empty() => "nobody's turn".into(),
            Self::Of(seats) => {
                let seats: Vec<_> = seats.iter().map(ToString::to_string).collect();
                format!("turn of {}", seats.join(", "))
            }
            Self::Unknown => "rules of another build".into(),
        }
    }
}

/// Finds when a match was last played on.
fn active_at_ms(info: &MatchInfo, store: &StoreReader) -> Result<i64, Failure> {
    let mut heads = vec![(BranchName::main(), info.head)];
    if info.branches > 1 {
        heads = store.branches(&info.name)?.into_iter().map(|branch| (branch.name, branch.head)).collect();
    }
    let mut active_at_ms = info.genesis.created_at_ms;
    for (branch, head) in heads.iter().filter(|(_, head)| *head > 0) {
        for entry in store.entries(&info.name, branch, *head..=*head)? {
            active_at_ms = active_at_ms.max(entry?.recorded_at_ms);
        }
    }
    Ok(active_at_ms)
}

fn print(page: &[Listed], output: &mut Output) -> io::Result<()> {
    let width = page.iter().map(|listed| listed.info.name.as_str().len()).max().unwrap_or(0);
    for listed in page {
        if output.is_json() {
            output.json(&listed.to_json())?;
            continue;
        }
        let Listed { info, active_at_ms, turn } = listed;
        let name = paint(Tone::Strong, format_args!("{:width$}", info.name));
        let title = &info.genesis.title;
        let title = if title.is_empty() { String::new() } else { format!("  {title}") };
        let entries = counted(info.head, "entry", "entries");
        let branches = counted(info.branches, "branch", "branches");
        let time = paint(Tone::Faint, output::time(Some(*active_at_ms)));
        let turn = turn.as_ref().map(|turn| format!("  {}", turn.text())).unwrap_or_default();
        let ruleset = &info.genesis.ruleset;
        output.line(format_args!("{name}  {ruleset}  {entries}, {branches}  {time}{turn}{title}"))?;
    }
    Ok(())
}
