//! `turnfold play`: append commands to a match.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;
use turnfold_core::{AnyRules, DueRoll, Seat};
use turnfold_store::{IdempotencyKey, NewEntry, Store};

use crate::clock;
use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::position::{Position, Tail};
use crate::record::{Became, Detail, Record};
use crate::revision::Revision;
use crate::script::{self, ScriptLine};
use crate::table::{Played, Roller, Table, is_roll};

/// The heading of the options that keep two writers apart.
const SAFETY: &str = "Options for scripts and shared matches";

/// The heading of the options about rolls.
const DICE: &str = "Dice options";

/// Append commands to a match and print what becomes of each
///
/// All commands of a call are recorded, or none of them: when one is rejected, nothing is recorded. In a seeded match
/// due rolls are made at once, also before the first command; without any command only they are made.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold play duel 'p1: click 0,2' 'p1: move 0,1'")]
pub(crate) struct Args {
    /// The line of play, MATCH[@BRANCH]
    #[arg(value_name = "REV")]
    revision: Revision,

    /// Commands, each `[SEAT:] command`, such as `p1: move 2,3`
    #[arg(value_name = "COMMAND", conflicts_with = "script")]
    commands: Vec<String>,

    /// Seat of commands that name none [default: whose command it is]
    #[arg(long = "as", value_name = "SEAT")]
    seat: Option<Seat>,

    /// Read the commands from a file, one a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,

    /// Append only if the last entry is number N
    #[arg(long, help_heading = SAFETY, value_name = "N")]
    expect: Option<u64>,

    /// Append only once: a repeated call with this key prints what the first one did
    #[arg(long, help_heading = SAFETY, value_name = "KEY")]
    key: Option<IdempotencyKey>,

    /// Leave due rolls due
    #[arg(long, help_heading = DICE)]
    no_auto_roll: bool,

    /// Roll the due dice of a recorded match by the operating system
    #[arg(long, help_heading = DICE, value_enum, value_name = "SOURCE")]
    dice: Option<DiceSource>,
}

/// Dice from outside a recorded match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DiceSource {
    /// The operating system's randomness
    System,
}

/// What `play` prints as JSON when there was nothing to play.
#[derive(Serialize)]
struct NothingPlayed {
    played: u64,
    due_roll: Option<DueRoll>,
}

/// Writes a place in a script so that what is wrong there follows.
pub(crate) fn before_colon(place: Option<String>) -> String {
    place.map_or_else(String::new, |place| format!("{place}: "))
}

/// Gives the commands of a call, from its arguments or its script.
pub(crate) fn lines_of(commands: &[String], script: Option<&PathBuf>) -> Result<Vec<ScriptLine>, Failure> {
    match script {
        Some(path) => script::read(path),
        None => Ok(commands.iter().map(|command| ScriptLine::parse(command)).collect()),
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let lines = lines_of(&args.commands, args.script.as_ref())?;
    let store = context.open_store()?;
    let Revision { match_name, branch, .. } = &args.revision;
    if let Some(key) = &args.key
        && let Some(range) = store.find_key(match_name, branch, key)?
    {
        return repeat(args, &lines, &store, range, context);
    }
    let whole = Revision { seq: None, ..args.revision.clone() };
    let position = Position::before_entries_of(Tail::last(0), &whole, &store, Some(&store))?;
    let head = position.head;
    for expected in args.expect.into_iter().chain(args.revision.seq) {
        if expected != head {
            return Err(Failure::negative(format!(
                "expected `{whole}` at entry {expected}, but its last entry is {head}"
            ))
            .hint(format!(
                "look at `turnfold log {whole}` and try again, or branch off with `turnfold branch`"
            )));
        }
    }
    let (rules, dice) = (position.rules, position.dice);
    let roller = Roller::choose(&dice, args.no_auto_roll, args.dice.is_some())?;
    let mut table = Table::new(position.state, dice, roller, head + 1, Detail::default());
    let mut played = Vec::new();
    if lines.is_empty() {
        table.roll_due(&mut played)?;
    }
    for line in &lines {
        if let Err(record) = table.submit(line, args.seat, &mut played)? {
            let place = line.place(args.script.as_ref());
            return reject(&record, place, lines.len(), rules, context);
        }
    }
    append(args, &store, head, &played)?;
    // What was acknowledged is durable: trouble with closing is warned of, but the outcomes are told all the same.
    drop(store);
    for entry in &played {
        entry.record.print(&mut context.output)?;
    }
    if played.is_empty() {
        nothing_played(&table, &whole, context)?;
    }
    Ok(Answer::Yes)
}

fn append(args: &Args, store: &Store, head: u64, played: &[Played]) -> Result<(), Failure> {
    if played.is_empty() {
        return Ok(());
    }
    let recorded_at_ms = clock::now_ms()?;
    let entry =
        |entry: &Played| NewEntry { seat: entry.seat, command: entry.command.clone(), recorded_at_ms };
    let entries = played.iter().map(entry).collect();
    store.append(&args.revision.match_name, &args.revision.branch, head, entries, args.key.as_ref())?;
    Ok(())
}

fn reject(
    record: &Record,
    place: Option<String>,
    lines: usize,
    rules: &dyn AnyRules,
    context: &mut Context,
) -> Result<Answer, Failure> {
    record.print(&mut context.output)?;
    context.output.flush()?;
    let all = if lines > 1 {
        format!("; none of the {lines} commands was recorded")
    } else {
        "; nothing was recorded".into()
    };
    let failure = Failure::negative(format!("{}the command was rejected{all}", before_colon(place)));
    Err(match &record.became {
        Became::Rejected(rejected) => {
            failure.hint(format!("`turnfold rules {} {}` explains it", rules.name(), rejected.code))
        }
        _ => failure,
    })
}

fn nothing_played(table: &Table, whole: &Revision, context: &mut Context) -> Result<(), Failure> {
    let due_roll = table.state.due_roll();
    if context.output.is_json() {
        return Ok(context.output.json(&NothingPlayed { played: 0, due_roll })?);
    }
    let text = match due_roll {
        Some(due) => format!("nothing played; a roll is due: {due}"),
        None => format!("nothing played and no roll is due; see `turnfold legal {whole}`"),
    };
    Ok(context.output.line(text)?)
}

/// Prints what the first call with this key did.
fn repeat(
    args: &Args,
    lines: &[ScriptLine],
    store: &Store,
    range: RangeInclusive<u64>,
    context: &mut Context,
) -> Result<Answer, Failure> {
    let (first, last) = range.into_inner();
    let revision = args.revision.at(last);
    let count = last.saturating_sub(first).saturating_add(1);
    let mut position = Position::before_entries_of(Tail::last(count), &revision, store, Some(store))?;
    let mut records = Vec::new();
    position.fold(Seat::Host, &mut |step| records.push(Record::of(step, Detail::default())))?;
    if !is_same_request(lines, args.seat, &records, position.rules) {
        return Err(Failure::negative(format!(
            "the key was used for other commands, entries {first} to {last} of `{}`",
            Revision { seq: None, ..revision }
        ))
        .hint("choose a new key"));
    }
    tracing::info!(first, last, "the key was used before; these entries were recorded then");
    for record in &records {
        record.print(&mut context.output)?;
    }
    Ok(Answer::Yes)
}

/// Tells whether the recorded entries are the commands asked for, with nothing but rolls between them.
fn is_same_request(
    lines: &[ScriptLine],
    seat: Option<Seat>,
    records: &[Record],
    rules: &dyn AnyRules,
) -> bool {
    let mut asked = lines.iter().peekable();
    for record in records {
        let matches = asked.peek().is_some_and(|line| {
            let named = line.seat.or(seat);
            let same_command = rules.canonical(&line.command).is_ok_and(|command| command == record.command);
            same_command && named.is_none_or(|named| Some(named) == record.seat)
        });
        if matches {
            asked.next();
        } else if !is_roll(&record.command) {
            return false;
        }
    }
    asked.next().is_none()
}
