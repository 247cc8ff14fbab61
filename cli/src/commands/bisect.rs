//! `turnfold bisect`: the first entry at which something becomes true.

use serde::Serialize;
use turnfold_core::AnyState;

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::output::{Tone, counted, paint};
use crate::record;
use crate::verdict::{ShellJudge, Verdict};
use turnfold_replay::condition::{Predicate, Survey};
use turnfold_replay::difference::{Difference, differences};
use turnfold_replay::eyes::Eyes;
use turnfold_replay::record::{Record, RecordJson};
use turnfold_replay::revision::SourceName;
use turnfold_replay::sight::Sight;

/// Find the first entry at which something becomes true
///
/// It must be false in the setup and true at the end. The log is halved again and again; with `--linear` every entry
/// is looked at, for conditions that come and go. A condition on a field that the view does not have, or of another
/// kind than the field, is an error that says what there is instead; so is a `--run` command that cannot be run.
///
/// With `--as` a player, numbers count the entries that the player may know of, as in `log`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold bisect duel --when '/units/3/at == [4,-2]'")]
pub(crate) struct Args {
    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "REV|FILE")]
    source: SourceName,

    /// The condition on the view: PATH OP VALUE with ==, !=, <, <=, > or >=
    #[arg(long, value_name = "CONDITION", required_unless_present = "run", conflicts_with = "run")]
    when: Option<Predicate>,

    /// A shell command that gets the path of a replay file as its argument: 0 is false, 125 cannot tell, 1 to 124 true
    #[arg(long, value_name = "COMMAND")]
    run: Option<String>,

    /// Whose view the condition is on
    #[arg(long = "as", value_name = "SEAT", default_value_t = Eyes::HOST)]
    eyes: Eyes,

    /// Look at every entry, from the first
    #[arg(long)]
    linear: bool,
}

#[derive(Serialize)]
struct BisectJson<'a> {
    first: Option<u64>,
    /// The entries among which the first one is, where some could not be told.
    suspects: Vec<u64>,
    probes: u64,
    entry: Option<RecordJson<'a>>,
    state: Vec<Difference>,
}

/// What a player may not see.
const RUN: &str = "the command of `--run` is given whole replay files";

/// Asks whether the condition holds after some number of entries, as the eyes count them.
struct Probe<'a> {
    sight: &'a Sight,
    args: &'a Args,
    judge: Option<ShellJudge<'a>>,
    /// A state known to be before whatever is asked next, and its number of entries.
    base: (usize, Box<dyn AnyState>),
    survey: Survey,
    probes: u64,
}

impl<'a> Probe<'a> {
    fn new(sight: &'a Sight, args: &'a Args) -> Result<Self, Failure> {
        let judge = args.run.as_deref().map(ShellJudge::new).transpose()?;
        Ok(Self { sight, args, judge, base: (0, sight.start()?), survey: Survey::default(), probes: 0 })
    }

    /// Folds on from the base, which stays.
    fn state_after(&self, count: usize) -> Result<Box<dyn AnyState>, Failure> {
        let (from, base) = &self.base;
        let mut state = base.fork();
        self.sight.advance(state.as_mut(), *from, count)?;
        Ok(state)
    }

    fn ask(&mut self, count: usize) -> Result<Verdict, Failure> {
        self.probes += 1;
        let verdict = match (&self.args.when, &self.judge) {
            (Some(predicate), _) => {
                let state = self.state_after(count)?;
                let holds = predicate.ask(&self.sight.view(state.as_ref()), &mut self.survey);
                if holds { Verdict::True } else { Verdict::False }
            }
            (None, Some(judge)) => judge.judge(&self.sight.whole(RUN)?.until(count).to_replay()?)?,
            (None, None) => return Err(Failure::usage("`bisect` needs `--when` or `--run`")),
        };
        tracing::info!(count, ?verdict, "looked at the state after so many entries");
        Ok(verdict)
    }

    /// Takes a state known to be before whatever is asked next.
    fn advance(&mut self, count: usize) -> Result<(), Failure> {
        if self.args.when.is_some() {
            self.base = (count, self.state_after(count)?);
        }
        Ok(())
    }
}

impl Probe<'_> {
    /// Requires the condition to make sense in the view, before it gets a negative answer that might come of that
    /// alone. A field may be there only now and then, so every entry after the first `seen` is looked at until one has
    /// it.
    fn check_condition(&mut self, seen: usize) -> Result<(), Failure> {
        let Some(predicate) = &self.args.when else { return Ok(()) };
        for count in seen + 1..=self.sight.known_count() {
            if self.survey.is_comparable() {
                break;
            }
            self.ask(count)?;
            self.advance(count)?;
        }
        Ok(predicate.check(&self.survey)?)
    }
}

/// The numbers of entries between which the condition becomes true: false after `low`, true after `high`.
struct Bracket {
    low: usize,
    high: usize,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    if args.run.is_some() {
        args.eyes.require_all(RUN)?;
    }
    let sight = Sight::load(args.eyes, &args.source, context)?;
    let mut probe = Probe::new(&sight, args)?;
    let end = sight.known_count();
    if probe.ask(0)? != Verdict::False {
        probe.check_condition(0)?;
        return Err(Failure::negative("the condition is not false in the setup, so no entry makes it true"));
    }
    let bracket = if args.linear { linear(&mut probe, end)? } else { halve(&mut probe, end)? };
    let Some(bracket) = bracket else {
        probe.check_condition(if args.linear { end } else { 0 })?;
        return Err(Failure::negative(format!(
            "the condition is not true at the end, after {}",
            counted(sight.head(), "entry", "entries")
        ))
        .hint("`--linear` finds conditions that come and go"));
    };
    report(&sight, args, &bracket, probe.probes, context)
}

/// Looks at one entry after another.
fn linear(probe: &mut Probe<'_>, end: usize) -> Result<Option<Bracket>, Failure> {
    let mut low = 0;
    for count in 1..=end {
        match probe.ask(count)? {
            Verdict::True => return Ok(Some(Bracket { low, high: count })),
            Verdict::False => {
                low = count;
                probe.advance(count)?;
            }
            Verdict::CannotTell => {}
        }
    }
    Ok(None)
}

/// Halves what lies between, going around what cannot be told.
fn halve(probe: &mut Probe<'_>, end: usize) -> Result<Option<Bracket>, Failure> {
    if end == 0 || probe.ask(end)? != Verdict::True {
        return Ok(None);
    }
    let (mut low, mut high) = (0, end);
    let mut unknown = std::collections::BTreeSet::new();
    loop {
        let middle = low + (high - low) / 2;
        let candidates = (low + 1..high).filter(|count| !unknown.contains(count));
        let Some(count) = candidates.min_by_key(|count| count.abs_diff(middle)) else {
            return Ok(Some(Bracket { low, high }));
        };
        match probe.ask(count)? {
            Verdict::False => {
                low = count;
                probe.advance(count)?;
            }
            Verdict::True => high = count,
            Verdict::CannotTell => {
                unknown.insert(count);
            }
        }
    }
}

fn report(
    sight: &Sight,
    args: &Args,
    bracket: &Bracket,
    probes: u64,
    context: &mut Context,
) -> Result<Answer, Failure> {
    let mut before = sight.start()?;
    sight.advance(before.as_mut(), 0, bracket.high - 1)?;
    let mut found = None;
    let seqs = bracket.low as u64 + 1..=bracket.high as u64;
    sight.fold(&mut |seen| {
        if seen.seq == *seqs.end() {
            found = Some((seen.record(), seen.view()));
        }
    })?;
    let changes = found.as_ref().map(|(_, after)| differences(&sight.view(before.as_ref()), after));
    let (record, changes) = (found.map(|(record, _)| record), changes.unwrap_or_default());
    let suspects: Vec<u64> = seqs.collect();
    let output = &mut context.output;
    let told = suspects.len() == 1;
    if output.is_json() {
        let first = suspects.last().copied().filter(|_| told);
        let entry = record.as_ref().map(Record::to_json).transpose()?;
        output.json(&BisectJson { first, suspects, probes, entry, state: changes })?;
        return Ok(if told { Answer::Yes } else { Answer::No });
    }
    let condition = args.when.as_ref().map_or_else(|| "the condition".into(), |when| format!("`{when}`"));
    let looks = counted(probes, "look", "looks");
    match suspects.as_slice() {
        [seq] => output.line(paint(Tone::Strong, format_args!("entry {seq} makes {condition} true ({looks})")))?,
        [first, .., last] => output.line(paint(
            Tone::Strong,
            format_args!("one of the entries {first} to {last} makes {condition} true ({looks}); the others cannot be told"),
        ))?,
        [] => {}
    }
    if let Some(record) = &record {
        record::print(record, output)?;
    }
    for change in &changes {
        output.line(format_args!("  {change}"))?;
    }
    Ok(if told { Answer::Yes } else { Answer::No })
}
