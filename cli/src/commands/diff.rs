//! `turnfold diff`: where two lines of play part, and how their outcomes and states differ.

use serde::Serialize;
use turnfold_replay::{
    Comparison, DiffStat, Difference, Divergence, Eyes, Record, Side, Sight, SourceName,
    diff::{compare, records_of},
    outcomes::changed_claims,
    revision::shell_path,
};

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::output::{Output, Tone, counted, paint};

/// Show where two lines of play part and how their states differ
///
/// Prints the commands that only one of them has, the outcomes that differ although the command is the same, and the
/// fields in which the states at the end differ. Both are folded by the rules of this build; a file that tells other
/// outcomes is pointed out. With `--as` a player, what the player may not know of is left
/// out: entries, effects, state hashes, the seed of the dice, and what the setup hides; numbers count the entries that
/// the player may know of, as in `log`. Exits with 1 if they
/// differ.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  turnfold diff duel duel@flank\n  turnfold diff --stat before.tfl after.tfl"
)]
pub(crate) struct Args {
    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "A")]
    a: SourceName,

    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "B")]
    b: SourceName,

    /// Lines of context around differing commands
    #[arg(short = 'U', long, value_name = "N", default_value_t = 3)]
    context: usize,

    /// Whose eyes to look through
    #[arg(long = "as", value_name = "SEAT", default_value_t = Eyes::HOST)]
    eyes: Eyes,

    /// Print one line that counts what differs
    #[arg(long)]
    stat: bool,
}

/// The JSON document.
#[derive(Serialize)]
struct DiffJson<'a> {
    #[serde(flatten)]
    stat: &'a DiffStat,
    a: &'a Side,
    b: &'a Side,
    /// The fields in which the games differ: ruleset, version, dice, setup.
    game: Vec<Difference>,
    /// The entries that only one of them has, and those of which something else became.
    entries: Vec<EntryPair<'a>>,
    state: &'a [Difference],
}

/// An entry in each line of play, or in one.
#[derive(Serialize)]
struct EntryPair<'a> {
    a: Option<&'a Record>,
    b: Option<&'a Record>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    if args.a.is_standard_input() && args.b.is_standard_input() {
        return Err(
            Failure::usage("standard input can be read only once").hint("name a file for one of them")
        );
    }
    let load = |name| Sight::load(args.eyes, name, context);
    let (a, b) = (load(&args.a)?, load(&args.b)?);
    if a.eyes() != b.eyes() {
        let eyes = if a.eyes().see_all() { b.eyes() } else { a.eyes() };
        return Err(Failure::usage(format!("one of the two tells only what `{eyes}` may know"))
            .hint(format!("compare them with `--as {eyes}`")));
    }
    let comparison = compare(&a, &b, args.context)?;
    let output = &mut context.output;
    match (args.stat, output.is_json()) {
        (false, true) => print_json(&comparison, [&a, &b], output)?,
        (true, true) => output.json(&comparison.stat)?,
        (false, false) => print(&comparison, output)?,
        (true, false) => print_stat(&comparison, output)?,
    }
    Ok(if comparison.stat.equal { Answer::Yes } else { Answer::No })
}

fn print_json(comparison: &Comparison, [a, b]: [&Sight; 2], output: &mut Output) -> Result<(), Failure> {
    let Comparison { stat, pairs, .. } = comparison;
    let records_a = records_of(a, pairs.iter().filter_map(|(seq, _)| *seq))?;
    let records_b = records_of(b, pairs.iter().filter_map(|(_, seq)| *seq))?;
    let entries = pairs.iter().map(|&(a, b)| EntryPair {
        a: a.and_then(|seq| records_a.get(&seq)),
        b: b.and_then(|seq| records_b.get(&seq)),
    });
    let entries = entries.collect();
    output.json(&DiffJson {
        stat,
        a: &comparison.a,
        b: &comparison.b,
        game: comparison.game_differences(),
        entries,
        state: &comparison.state,
    })?;
    Ok(())
}

fn print_stat(comparison: &Comparison, output: &mut Output) -> Result<(), Failure> {
    if comparison.stat.equal {
        return print(comparison, output);
    }
    let DiffStat { equal: _, same_game, parts_at, only_in_a, only_in_b, outcomes_differ, fields_differ } =
        comparison.stat;
    let game = if same_game { "" } else { "other game, " };
    let parts = parts_at.map_or_else(|| "same commands".into(), |seq| format!("parts at entry {seq}"));
    let only = |count: u64, side: &Side| {
        format!("{} only in {}", counted(count, "command", "commands"), side.shown())
    };
    output.line(format_args!(
        "{game}{parts}, {}, {}, {}, {}",
        only(only_in_a, &comparison.a),
        only(only_in_b, &comparison.b),
        counted(outcomes_differ, "outcome differs", "outcomes differ"),
        counted(fields_differ, "field differs", "fields differ"),
    ))?;
    Ok(())
}

fn print(comparison: &Comparison, output: &mut Output) -> Result<(), Failure> {
    let Comparison { stat, a, b, .. } = comparison;
    for side in [a, b] {
        print_note(side, output)?;
    }
    if stat.equal {
        let hash = a.state_hash.map(|hash| paint(Tone::Faint, format_args!(" #{hash:.16}")));
        let (hash, entries) = (hash.unwrap_or_default(), counted(a.entries, "entry", "entries"));
        output.line(format_args!("{} and {} are equal: {entries}{hash}", a.shown(), b.shown()))?;
        return Ok(());
    }
    if !stat.same_game {
        output.line(paint(Tone::Strong, "the games differ from the start"))?;
        print_unified(&comparison.game_diff, output)?;
    }
    let parts = stat.parts_at.map(|seq| format!("the lines of play part at entry {seq}"));
    let same = || format!("both play the same {}", counted(a.entries, "command", "commands"));
    output.line(paint(Tone::Strong, parts.unwrap_or_else(same)))?;
    print_unified(&comparison.commands, output)?;
    if !comparison.outcomes.is_empty() {
        output.line(paint(Tone::Strong, "outcomes that differ although the command is the same"))?;
    }
    for outcome in &comparison.outcomes {
        print_outcome(outcome, output)?;
    }
    if comparison.state.is_empty() {
        let is_equal = a.state_hash.is_some() && a.state_hash == b.state_hash;
        output.line(paint(
            Tone::Strong,
            if is_equal { "the states are equal" } else { "the views are equal" },
        ))?;
        return Ok(());
    }
    output.line(paint(Tone::Strong, format_args!("state, {} → {}", a.shown(), b.shown())))?;
    for difference in &comparison.state {
        output.line(format_args!("  {difference}"))?;
    }
    Ok(())
}

/// Says that a file tells something else than what is compared here.
fn print_note(side: &Side, output: &mut Output) -> Result<(), Failure> {
    let Some(seq) = side.recorded_differs_at else { return Ok(()) };
    let note = paint(Tone::Odd, "note:");
    let explains = match &side.source {
        source if source.is_standard_input() => String::new(),
        source => format!("; `turnfold check {}` explains", shell_path(&source.up_to(None).to_string())),
    };
    output.line(format_args!(
        "{note} {} tells something else of entry {seq} than the rules of this build, by which it is compared{explains}",
        side.shown()
    ))?;
    Ok(())
}

fn print_outcome((divergence, in_b): &(Divergence, u64), output: &mut Output) -> Result<(), Failure> {
    let Divergence { subject, recorded, computed, .. } = divergence;
    let other = if subject.seq() == Some(*in_b) { String::new() } else { format!(", there entry {in_b}") };
    output.line(format_args!("  {subject}{other}"))?;
    if let Some(recorded) = recorded {
        for (tone, line) in changed_claims(recorded, computed) {
            output.line(paint(tone, line))?;
        }
    }
    Ok(())
}

fn print_unified(diff: &str, output: &mut Output) -> Result<(), Failure> {
    for line in diff.lines() {
        let tone = match line.chars().next() {
            Some('+') => Tone::New,
            Some('-') => Tone::Old,
            Some('@') => Tone::Faint,
            _ => Tone::Plain,
        };
        output.line(paint(tone, line))?;
    }
    Ok(())
}
