//! `turnfold find`: finds entries in many logs.

mod remote;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde::Serialize;
use turnfold_core::Seat;
use turnfold_history::search::condition::Survey;
use turnfold_history::search::find::{FoundEntry, Pattern, Wanted, find};
use turnfold_history::search::path::name_like;
use turnfold_history::{Condition, Record, ReplayError, SeatHistory, Viewer};
use turnfold_show::render::recorded_mark;

use crate::context::Context;
use crate::corpus::CorpusArgs;
use crate::failure::{ExitStatus, Failure};
use crate::histories::listed;
use crate::output::{Line, Output, dim, plain, printable, warning};

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

/// The most found entries of a log that are held in memory until the logs before it are printed. A log with more of
/// them is folded again when it is printed.
const HITS_MAX: usize = 1000;

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

/// A found entry; the JSON form is stable.
#[derive(Serialize)]
struct Found {
    source: String,
    #[serde(flatten)]
    hit: FoundEntry,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let viewer = args.viewer.unwrap_or(Viewer::HOST);
    if args.wanted.recorded {
        // A recorded outcome covers concealed parts, too.
        viewer.require_all("recorded outcomes").map_err(ReplayError::from)?;
    }
    let mut corpus = args.corpus.corpus(&mut context.workspace)?;
    if !args.wanted.recorded {
        // The service searches what it can, because then no log is sent.
        corpus = match corpus.on_service(args.viewer) {
            Ok(sources) => return remote::find(args, sources, context),
            Err(corpus) => corpus,
        };
    }
    let wanted = Wanted::from(&args.wanted);
    let look = |seat_history: SeatHistory| Looked::at(seat_history, &wanted, args);
    let mut survey = Survey::default();
    let mut count = 0_u64;
    let mut known = KnownNames::default();
    let output = &mut context.output;
    let unread = corpus.each(viewer, look, |name, looked| {
        survey.merge(looked.survey);
        known.merge(looked.names.unwrap_or_default());
        let source = name.up_to(None).to_string();
        for hit in looked.hits {
            count += 1;
            print(Found { source: source.clone(), hit }, output)?;
        }
        match looked.rest {
            Some(seat_history) => print_after(HITS_MAX, &source, &seat_history, &wanted, output),
            None => Ok(()),
        }
    })?;
    if let Some(failure) = unread {
        return Err(failure);
    }
    if count == 0 {
        known.require(&args.wanted)?;
        args.wanted.when.as_ref().map_or(Ok(()), |when| when.check(&survey)).map_err(ReplayError::from)?;
    }
    Ok(ExitStatus::from(count > 0))
}

struct Looked {
    hits: Vec<FoundEntry>,
    survey: Survey,
    /// The names that the log has; present only if nothing was found, because only then are they needed.
    names: Option<KnownNames>,
    /// The log to fold again, if more was found in it than is held.
    rest: Option<SeatHistory>,
}

impl Looked {
    fn at(seat_history: SeatHistory, wanted: &Wanted, args: &Args) -> Result<Self, ReplayError> {
        let mut hits = Vec::new();
        let mut survey = Survey::default();
        let mut is_more = false;
        find(&seat_history, wanted, &mut survey, &mut |hit| {
            if hits.len() == HITS_MAX {
                is_more = true;
                return ControlFlow::Break(());
            }
            hits.push(hit);
            if args.first { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let names = if hits.is_empty() { Some(KnownNames::of(&seat_history, &args.wanted)?) } else { None };
        Ok(Self { hits, survey, names, rest: is_more.then_some(seat_history) })
    }
}

/// Prints the entries found in a log, without the first `passed` of them.
fn print_after(
    passed: usize,
    source: &str,
    seat_history: &SeatHistory,
    wanted: &Wanted,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut count = 0;
    let mut printed = Ok(());
    find(seat_history, wanted, &mut Survey::default(), &mut |hit| {
        count += 1;
        if count > passed {
            printed = print(Found { source: source.into(), hit }, output);
        }
        if printed.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    printed
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
    fn of(seat_history: &SeatHistory, wanted: &WantedArgs) -> Result<Self, ReplayError> {
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
    fn require(&self, wanted: &WantedArgs) -> Result<(), Failure> {
        let players: Vec<_> = self.players.iter().copied().collect();
        if players.is_empty() {
            return Ok(());
        }
        if let Some(seat) = wanted.seat.filter(|seat| *seat != Seat::Host && !players.contains(seat)) {
            let seats = listed(&players);
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

fn print(found: Found, output: &mut Output) -> Result<(), Failure> {
    if output.is_json() {
        return Ok(output.json(&found)?);
    }
    let Found { source, hit: FoundEntry { seq, entry } } = found;
    let text = entry.as_ref().map_or_else(|| "setup".into(), Record::text);
    let mark =
        entry.and_then(|entry| entry.recorded).map(|recorded| format!(" {}", recorded_mark(&recorded)));
    let spans = [dim(format!("{source}:{seq}")), plain(" "), plain(text), warning(mark.unwrap_or_default())];
    Ok(output.line(Line::from(spans))?)
}
