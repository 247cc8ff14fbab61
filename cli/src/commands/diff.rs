//! `turnfold diff`: where two lines of play part, and how their states differ.

use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;
use turnfold_core::Seat;

use crate::context::Context;
use crate::difference::{Difference, differences, view_of};
use crate::failure::{Answer, Failure};
use crate::output::{Output, Tone, paint};
use crate::revision::SourceName;
use crate::source::LineOfPlay;

/// Show where two lines of play part and how their states differ
///
/// Exits with 1 if they differ.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Revision or replay file
    #[arg(value_name = "A")]
    a: SourceName,

    /// Revision or replay file
    #[arg(value_name = "B")]
    b: SourceName,

    /// Lines of context around differing commands
    #[arg(short = 'U', long, value_name = "N", default_value_t = 3)]
    context: usize,

    /// Whose view to compare
    #[arg(long = "as", value_name = "SEAT", default_value_t = Seat::Host)]
    seat: Seat,
}

/// How two lines of play compare; the JSON document.
#[derive(Serialize)]
struct Comparison {
    equal: bool,
    a: Side,
    b: Side,
    /// The first entry that is not the same in both.
    parts_at: Option<u64>,
    /// The game (ruleset, dice, setup) as a unified diff; empty when it is the same.
    game: String,
    /// The commands as a unified diff; empty when they are the same.
    commands: String,
    state: Vec<Difference>,
}

#[derive(Serialize)]
struct Side {
    name: String,
    entries: u64,
    state_hash: String,
}

/// A line of play folded and written out.
struct Folded {
    side: Side,
    game: String,
    commands: Vec<String>,
    view: Value,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let a = fold(&LineOfPlay::load(&args.a, context)?, args.seat)?;
    let b = fold(&LineOfPlay::load(&args.b, context)?, args.seat)?;
    let comparison = compare(a, b, args.context);
    let output = &mut context.output;
    if output.is_json() {
        output.json(&comparison)?;
    } else {
        print(&comparison, output)?;
    }
    Ok(if comparison.equal { Answer::Yes } else { Answer::No })
}

fn fold(line_of_play: &LineOfPlay, seat: Seat) -> Result<Folded, Failure> {
    let mut commands = Vec::new();
    let state = line_of_play
        .fold(&mut |step| commands.push(format!("{} {} {}\n", step.seq(), step.seat(), step.command())))?;
    let rules = line_of_play.rules;
    let setup =
        rules.write_setup(&line_of_play.setup).map_err(|error| Failure::trouble(error.to_string()))?;
    Ok(Folded {
        side: Side {
            name: line_of_play.name.to_string(),
            entries: line_of_play.head(),
            state_hash: state.state_hash().to_string(),
        },
        game: format!(
            "ruleset {} version {}\ndice {}\n{setup}",
            rules.name(),
            rules.version(),
            line_of_play.dice
        ),
        commands,
        view: view_of(state.as_ref(), seat),
    })
}

fn compare(a: Folded, b: Folded, context: usize) -> Comparison {
    let same = a.commands.iter().zip(&b.commands).take_while(|(a, b)| a == b).count();
    let parts = same < a.commands.len().max(b.commands.len());
    let unified = |old: &str, new: &str| {
        let diff = TextDiff::from_lines(old, new);
        diff.unified_diff().context_radius(context).header(&a.side.name, &b.side.name).to_string()
    };
    let game = if a.game == b.game { String::new() } else { unified(&a.game, &b.game) };
    let commands = if parts { unified(&a.commands.concat(), &b.commands.concat()) } else { String::new() };
    let state = differences(&a.view, &b.view);
    let equal = game.is_empty() && !parts && a.side.state_hash == b.side.state_hash;
    let parts_at = parts.then(|| u64::try_from(same + 1).unwrap_or(u64::MAX));
    Comparison { equal, a: a.side, b: b.side, parts_at, game, commands, state }
}

fn print(comparison: &Comparison, output: &mut Output) -> Result<(), Failure> {
    let Comparison { a, b, .. } = comparison;
    if comparison.equal {
        let hash = paint(Tone::Faint, format_args!("#{:.16}", a.state_hash));
        output.line(format_args!("{} and {} are equal: {} entries {hash}", a.name, b.name, a.entries))?;
        return Ok(());
    }
    if !comparison.game.is_empty() {
        output.line(paint(Tone::Strong, "the games differ from the start"))?;
        print_unified(&comparison.game, output)?;
    }
    match comparison.parts_at {
        Some(seq) => {
            output.line(paint(Tone::Strong, format_args!("the lines of play part at entry {seq}")))?;
        }
        None => {
            output.line(paint(Tone::Strong, format_args!("both play the same {} commands", a.entries)))?;
        }
    }
    print_unified(&comparison.commands, output)?;
    if comparison.state.is_empty() {
        let unseen =
            if a.state_hash == b.state_hash { "the states are equal" } else { "the views are equal" };
        output.line(paint(Tone::Strong, unseen))?;
        return Ok(());
    }
    output.line(paint(Tone::Strong, format_args!("state, {} → {}", a.name, b.name)))?;
    for difference in &comparison.state {
        output.line(format_args!("  {difference}"))?;
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
