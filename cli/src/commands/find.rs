//! `turnfold find`: entries of many logs.

#[cfg(feature = "serve")]
mod remote;

use glob::Pattern;
use serde::Serialize;
#[cfg(feature = "serve")]
use serde_json::Value;
use turnfold_core::Seat;
#[cfg(feature = "serve")]
use turnfold_replay::SourceName;
use turnfold_replay::{
    Condition, ReplayError, SeatHistory, ViewedEntry, Viewer,
    search::condition::Survey,
    search::find::{FoundEntry, Wanted, find},
};

use crate::context::Context;
use crate::corpus::CorpusArgs;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Line, Output, dim, plain};
#[cfg(feature = "serve")]
use crate::remote::search::RemoteSearch;

/// Find entries in many matches
///
/// Looks through replay files, folders and matches, many at once. With `--when`, finds the first entry of each that makes a
/// condition true; see `bisect` for how conditions are written. Other options select entries, and an entry must fit all of
/// them. Prints nothing for a match without such an entry, and exits with 1 if there is none in any.
///
/// With `--as p1`, only what p1 may know is searched, and entries are counted as in `log`. On a service, only what the token
/// may read is searched, as its seat.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  turnfold find 'replays/**' --when '/units/0/at == [-2,1] && /turn >= 3'\n  \
    turnfold find --matches --command 'move *' --reason out_of_range --all"
)]
pub(crate) struct Args {
    #[command(flatten)]
    corpus: CorpusArgs,

    #[command(flatten)]
    wanted: WantedArgs,

    /// Whose view to search [default: host]
    #[arg(long = "as", value_name = "SEAT")]
    viewer: Option<Viewer>,

    /// Print every such entry, not only the first of each match
    #[arg(long)]
    all: bool,
}

#[derive(Debug, clap::Args)]
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
}

impl WantedArgs {
    /// Returns `true` if something other than the condition is asked for.
    fn selects(&self) -> bool {
        self.command.is_some() || self.effect.is_some() || self.reason.is_some() || self.seat.is_some()
    }

    fn is_wanted(&self, seen: &ViewedEntry<'_>) -> bool {
        if self.seat.is_some_and(|seat| seat != seen.seat())
            || self.command.as_ref().is_some_and(|pattern| !pattern.matches(&seen.command()))
        {
            return false;
        }
        let outcome = (self.effect.is_some() || self.reason.is_some()).then(|| seen.outcome());
        outcome.is_none_or(|outcome| {
            let has = |name: &str| outcome.effects().any(|effect| effect.split(' ').next() == Some(name));
            self.effect.as_deref().is_none_or(has)
                && self.reason.as_deref().is_none_or(|reason| outcome.code() == Some(reason))
        })
    }
}

#[cfg(feature = "serve")]
impl WantedArgs {
    /// Judges an entry by its document, as [`Self::is_wanted`] judges it in a fold.
    fn is_wanted_record(&self, record: &Value) -> bool {
        let text = |field: &str| record.get(field).and_then(Value::as_str).unwrap_or_default();
        let effects = record.get("effects").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let has =
            |name: &str| effects.iter().any(|effect| effect.get("effect").is_some_and(|found| found == name));
        self.seat.is_none_or(|seat| seat.to_string() == text("seat"))
            && self.command.as_ref().is_none_or(|pattern| pattern.matches(text("command")))
            && self.effect.as_deref().is_none_or(has)
            && self.reason.as_deref().is_none_or(|reason| reason == text("reason"))
    }
}

/// An entry that was found; a contract.
#[derive(Serialize)]
struct Found {
    source: String,
    #[serde(flatten)]
    hit: FoundEntry,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    #[cfg(feature = "serve")]
    if let Some(sources) = remote::sources(&args.corpus, context)? {
        return find_there(args, &sources, context);
    }
    let wanted = &args.wanted;
    let is_wanted = |seen: &ViewedEntry<'_>| wanted.is_wanted(seen);
    let wanted = Wanted {
        when: wanted.when.as_ref(),
        is_wanted: if wanted.selects() { Some(&is_wanted) } else { None },
        all: args.all,
    };
    let look = |sight: SeatHistory| {
        let mut survey = Survey::default();
        let hits = find(&sight, &wanted, &mut survey)?;
        Ok((hits, survey))
    };
    let (mut survey, mut count) = (Survey::default(), 0_u64);
    let corpus = args.corpus.corpus(context)?;
    let output = &mut context.output;
    corpus.each(args.viewer.unwrap_or(Viewer::HOST), look, |name, (hits, shown)| {
        survey.merge(shown);
        for hit in hits {
            count += 1;
            print(Found { source: name.up_to(None).to_string(), hit }, output)?;
        }
        Ok(())
    })?;
    if count == 0 {
        args.wanted.when.as_ref().map_or(Ok(()), |when| when.check(&survey)).map_err(ReplayError::from)?;
    }
    Ok(ExitStatus::from(count > 0))
}

/// Finds entries in the matches of a service.
#[cfg(feature = "serve")]
fn find_there(args: &Args, sources: &[SourceName], context: &mut Context) -> Result<ExitStatus, Failure> {
    let Some(client) = context.service()? else { return Ok(ExitStatus::No) };
    let is_wanted = |record: &Value| args.wanted.is_wanted_record(record);
    let search = RemoteSearch {
        client: &client,
        viewer: args.viewer,
        when: args.wanted.when.as_ref(),
        is_wanted: if args.wanted.selects() { Some(&is_wanted) } else { None },
        all: args.all,
        needs_text: !context.output.is_json(),
    };
    remote::find(&search, sources, context)
}

fn print(found: Found, output: &mut Output) -> Result<(), Failure> {
    if output.is_json() {
        return Ok(output.json(&found)?);
    }
    let Found { source, hit: FoundEntry { seq, entry } } = found;
    let entry = entry.map_or_else(|| "setup".into(), |entry| entry.text());
    Ok(output.line(Line::from([dim(format!("{source}:{seq}")), plain(" "), plain(entry)]))?)
}
