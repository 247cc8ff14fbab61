//! `turnfold find`: finds entries in many logs, near or far.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;

use turnfold_core::Seat;
use turnfold_history::search::{Condition, FoundEntry, Pattern, Survey, Wanted, find, name_like};
use turnfold_history::{ReplayError, SeatHistory, SourceName, Viewer};
use turnfold_show::render::recorded_mark;
use ureq::http::StatusCode;

use crate::client::{Client, NotAnswered, path_of};
use crate::context::Context;
use crate::corpus::{Corpus, CorpusArgs};
use crate::failure::{ExitStatus, Failure, Result};
use crate::histories::listed;
use crate::output::{Line, Output, Sourced, dim, plain, printable, warning};
use crate::remote::{ListPart, print_pages, seen_at};

/// The most found entries of a log that are held in memory until the logs before it are printed. A log with more of
/// them is folded again when it is printed.
const HITS_MAX: usize = 1000;

/// Find entries in many matches
///
/// Looks through replay files, folders, bundles and matches, many at once. With `--when`, finds the entries that make a
/// condition true which was false before; see `bisect` for how conditions are written. Other options select entries, and
/// an entry must fit all of them. Prints nothing for a match without such an entry, and exits with 1 if there is none in
/// any. A reason that no rules give, a seat that no match has and an effect that no entry has are errors that list what
/// there is instead.
///
/// With `--as p1`, only what p1 may know is searched, and entries are counted as in `log`. On a service, only what the token
/// may read is searched, as its seat.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  turnfold find 'replays/**' --when '/units/0/at == [-2,1] && /turn >= 3'\n  \
    turnfold find --matches --command 'move *' --reason out_of_range --first"
)]
pub(crate) struct Args {
    #[command(flatten)]
    corpus: CorpusArgs,

    #[command(flatten)]
    wanted: WantedArgs,

    /// Whose view to search [default: host]
    #[arg(long = "as", value_name = "SEAT")]
    viewer: Option<Viewer>,

    /// Print only the first such entry of each match
    #[arg(long)]
    first: bool,
}

#[derive(Clone, Debug, clap::Args)]
#[group(required = true, multiple = true)]
struct WantedArgs {
    /// A condition on the view that the entry makes true
    #[arg(long, value_name = "CONDITION")]
    when: Option<Condition>,

    /// The command, as a pattern: `*` stands for any text, `?` for one character
    #[arg(long, value_name = "PATTERN")]
    command: Option<Pattern>,

    /// The name of one of its effects
    #[arg(long, value_name = "NAME")]
    effect: Option<String>,

    /// Why it was ignored
    #[arg(long, value_name = "NAME")]
    reason: Option<String>,

    /// Who gave the command
    #[arg(long, value_name = "SEAT")]
    seat: Option<Seat>,

    /// Look at recorded outcomes, not at computed ones; without `--effect` and `--reason`, find the
    /// entries whose two outcomes differ
    #[arg(long)]
    recorded: bool,
}

impl From<&WantedArgs> for Wanted {
    fn from(args: &WantedArgs) -> Self {
        let WantedArgs { when, command, effect, reason, seat, recorded } = args.clone();
        Self { when, command, effect, reason, seat, recorded, after: None }
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let viewer = args.viewer.unwrap_or(Viewer::HOST);
    if args.wanted.recorded {
        // A recorded outcome covers concealed parts, too.
        viewer.require_all("recorded outcomes")?;
    }
    let Context { workspace, output, .. } = context;
    let corpus = args.corpus.corpus(workspace)?;
    let wanted = Wanted::from(&args.wanted);
    // The service searches what it can, because then no log is sent.
    if let Ok(Some(client)) = corpus.workspace.service()
        && is_searched_far(&corpus, args, client)
    {
        return Ok(find_far(corpus, args, &wanted, client, output)?.into());
    }
    let look = |seat_history: SeatHistory| Looked::at(seat_history, &wanted, args.first);
    let mut survey = Survey::default();
    let mut is_found = false;
    let mut known = KnownNames::default();
    let unread = corpus.each(viewer, look, |name, looked| {
        survey.merge(looked.survey);
        known.merge(looked.names);
        let source = name.up_to(None).to_string();
        let mut after = None;
        for hit in looked.hits {
            is_found = true;
            print(&source, &hit, output)?;
            after = Some(hit.seq);
        }
        let Some(seat_history) = looked.rest else { return Ok(()) };
        let rest = Wanted { after, ..wanted.clone() };
        let mut printed = Ok(());
        find(&seat_history, &rest, &mut Survey::default(), &mut |hit| {
            printed = print(&source, &hit, output);
            if printed.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(printed?)
    })?;
    if let Some(failure) = unread {
        return Err(failure);
    }
    if !is_found {
        known.require(&wanted)?;
        survey.check().map_err(ReplayError::from)?;
    }
    Ok(is_found.into())
}

/// Returns `true` if a service searches all logs. If the viewer is a seat and names an entry, they are searched here,
/// because the service searches only what the seat knows now.
fn is_searched_far(corpus: &Corpus, args: &Args, client: &Client) -> bool {
    let sees_all = args.viewer.is_none_or(Viewer::sees_all) && client.sees_all();
    for log in &corpus.logs.sources {
        match log {
            SourceName::Revision(revision) if revision.seq.is_none() || sees_all => {}
            _ => return false,
        }
    }
    !args.wanted.recorded
}

/// Searches one match after another. If the condition is unusable for every match, returns the first failure.
fn find_far(
    corpus: Corpus,
    args: &Args,
    wanted: &Wanted,
    client: &Client,
    output: &mut Output,
) -> Result<bool> {
    let mut count = 0_u64;
    let mut makes_sense = false;
    let mut senseless = None;
    let mut workspace = corpus.workspace;
    corpus.logs.answer_each(SourceName::to_string, &mut workspace, |source, _| {
        let SourceName::Revision(revision) = source else { return Ok(ExitStatus::Yes) };
        let mut query = query_of(wanted);
        query.extend(seen_at(revision.seq, args.viewer));
        let part = ListPart {
            path: path_of(revision, "find"),
            query,
            after: None,
            count: args.first.then_some(1),
            source: Some(source.up_to(None).to_string()),
        };
        match print_pages(client, part, output) {
            Ok(found) => {
                count += found;
                makes_sense = true;
            }
            Err(NotAnswered::ApiError(error))
                if wanted.when.is_some() && error.status == StatusCode::UNPROCESSABLE_ENTITY =>
            {
                senseless.get_or_insert(error.failure);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(ExitStatus::Yes)
    })?;
    match senseless {
        Some(failure) if !makes_sense => Err(failure),
        _ => Ok(count > 0),
    }
}

fn query_of(wanted: &Wanted) -> Vec<(&'static str, String)> {
    let Wanted { when, command, effect, reason, seat, .. } = wanted;
    let mut query = vec![("all", "true".into())];
    let options = [
        ("when", when.as_ref().map(ToString::to_string)),
        ("command", command.as_ref().map(ToString::to_string)),
        ("effect", effect.clone()),
        ("reason", reason.clone()),
        ("seat", seat.map(|seat| seat.to_string())),
    ];
    for (name, value) in options {
        if let Some(value) = value {
            query.push((name, value));
        }
    }
    query
}

struct Looked {
    hits: Vec<FoundEntry>,
    survey: Survey,
    /// The names that the log has, if nothing was found, because only then are they needed.
    names: KnownNames,
    /// The log to fold again, if more was found in it than is held.
    rest: Option<SeatHistory>,
}

impl Looked {
    fn at(seat_history: SeatHistory, wanted: &Wanted, is_first: bool) -> Result<Self, ReplayError> {
        let mut hits = Vec::new();
        let mut survey = Survey::default();
        let mut is_more = false;
        find(&seat_history, wanted, &mut survey, &mut |hit| {
            if hits.len() == HITS_MAX {
                is_more = true;
                return ControlFlow::Break(());
            }
            hits.push(hit);
            if is_first { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let mut names = KnownNames::default();
        if hits.is_empty() {
            names = KnownNames::of(&seat_history, wanted)?;
        }
        Ok(Self { hits, survey, names, rest: is_more.then_some(seat_history) })
    }
}

/// The seats, reasons and effects of the searched logs, for errors about unknown names.
#[derive(Default)]
struct KnownNames {
    players: BTreeSet<Seat>,
    /// All reasons that the rules may give; read only if a reason is searched for.
    reasons: BTreeSet<String>,
    /// The names of all effects; read only if an effect is searched for.
    effects: BTreeSet<String>,
}

impl KnownNames {
    fn of(seat_history: &SeatHistory, wanted: &Wanted) -> Result<Self, ReplayError> {
        let mut known =
            Self { players: seat_history.start()?.players().iter().copied().collect(), ..Self::default() };
        if wanted.reason.is_some() {
            known.reasons = seat_history.rules().ignored_codes().into_iter().map(String::from).collect();
        }
        if wanted.effect.is_none() {
            return Ok(known);
        }
        seat_history.fold(&mut |seen| {
            for outcome in [Some(&seen.outcome()), seen.recorded_outcome()].into_iter().flatten() {
                let names = outcome.effects().filter_map(|effect| effect.split(' ').next());
                known.effects.extend(names.map(String::from));
            }
        })?;
        Ok(known)
    }

    fn merge(&mut self, more: Self) {
        self.players.extend(more.players);
        self.reasons.extend(more.reasons);
        self.effects.extend(more.effects);
    }

    /// Requires every name that is searched for to occur in at least one of the logs.
    fn require(&self, wanted: &Wanted) -> Result<()> {
        if self.players.is_empty() {
            return Ok(());
        }
        if let Some(seat) = wanted.seat.filter(|seat| *seat != Seat::Host && !self.players.contains(seat)) {
            let seats = listed(&self.players);
            return Err(Failure::usage(format!("no log has a seat `{seat}`; there are {seats} and host")));
        }
        if let Some(reason) = wanted.reason.as_ref().filter(|reason| !self.reasons.contains(*reason)) {
            return Err(unknown("there is no reason", reason, &self.reasons));
        }
        match &wanted.effect {
            Some(effect) if !self.effects.contains(effect) => {
                Err(unknown("no entry has an effect", effect, &self.effects))
            }
            _ => Ok(()),
        }
    }
}

fn unknown(what: &str, name: &str, names: &BTreeSet<String>) -> Failure {
    let like = name_like(names.iter().map(String::as_str), name);
    let like = like.map(|like| format!(", did you mean `{like}`?")).unwrap_or_default();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let listed_names = if names.is_empty() { "none".into() } else { names.join(", ") };
    Failure::usage(format!("{what} `{}`{like}; there are: {listed_names}", printable(name)))
}

fn print(source: &str, found: &FoundEntry, output: &mut Output) -> io::Result<()> {
    let FoundEntry { seq, entry } = found;
    output.show(&Sourced { source, item: found }, || {
        let mut text = "setup".to_string();
        let mut mark = String::new();
        if let Some(entry) = entry {
            text = entry.text();
            if let Some(recorded) = &entry.recorded {
                mark = format!(" {}", recorded_mark(recorded));
            }
        }
        vec![Line::from([dim(format!("{source}:{seq}")), plain(" "), plain(text), warning(mark)])]
    })
}
