//! `turnfold play`: append commands to a match.

mod repeat;

use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;
use turnfold_core::{AnyRules, AnyState, DicePolicy, DueRoll};
use turnfold_replay::{
    Detail, Eyes, LineOfPlay, Position, Record, ReplayError, Revision, ScriptLine, Session, Sight, Sources,
    Tail, position::keep_snapshots,
};
use turnfold_store::{IdempotencyKey, Store};

use self::repeat::repeat;
use crate::clock;
use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::record;
use crate::roller;
use crate::script;

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

    /// Who plays: all commands are this seat's, and only what it may know of is printed [default: whose command it is]
    #[arg(long = "as", value_name = "SEAT")]
    eyes: Option<Eyes>,

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

/// Returns the commands of a call, from its arguments or its script; with `--as` all are that seat's.
pub(crate) fn lines_of(
    commands: &[String],
    script: Option<&PathBuf>,
    eyes: Option<Eyes>,
) -> Result<Vec<ScriptLine>, Failure> {
    let mut lines = match script {
        Some(path) => script::read(path)?,
        None => commands.iter().map(|command| ScriptLine::parse(command)).collect(),
    };
    if let Some(eyes) = eyes {
        eyes.give(&mut lines).map_err(ReplayError::from)?;
    }
    Ok(lines)
}

/// The end of the line of play, on which commands are played.
struct End {
    rules: &'static dyn AnyRules,
    state: Box<dyn AnyState>,
    dice: DicePolicy,
    /// The number of the last entry in the log.
    head: u64,
    /// All that a player may know of; the host's eyes need no more than the state.
    sight: Option<Sight>,
}

impl End {
    fn of(eyes: Eyes, whole: &Revision, store: &Store, context: &Context) -> Result<Self, Failure> {
        if eyes.see_all() {
            let Position { rules, state, dice, head, .. } = Position::before_entries_of(
                Tail::last(0),
                whole,
                &context.registry,
                store,
                context.build().as_ref(),
                Some(store),
            )?;
            return Ok(Self { rules, state, dice, head, sight: None });
        }
        let line = LineOfPlay::of_log(
            whole,
            store.read(&whole.match_name, &whole.branch, None)?,
            &context.registry,
        )?;
        let (rules, dice, head) = (line.rules, line.dice, line.head());
        let sight = Sight::of(eyes, line)?;
        Ok(Self { rules, state: sight.state()?, dice, head, sight: Some(sight) })
    }

    /// Requires the last entry to be the expected one, as the eyes count.
    fn expect(
        &self,
        expected: impl IntoIterator<Item = u64>,
        whole: &Revision,
        args: &Args,
    ) -> Result<(), Failure> {
        let head = self.sight.as_ref().map_or(self.head, Sight::head);
        match expected.into_iter().find(|expected| *expected != head) {
            None => Ok(()),
            Some(expected) => Err(Failure::negative(format!(
                "expected `{whole}` at entry {expected}, but its last entry is {head}"
            ))
            .hint(format!(
                "look at `turnfold log {whole}{}` and try again, or branch off with `turnfold branch`",
                args.as_option()
            ))),
        }
    }
}

impl Args {
    fn eyes(&self) -> Eyes {
        self.eyes.unwrap_or(Eyes::HOST)
    }

    /// Writes `--as` again for a command to run next.
    fn as_option(&self) -> String {
        self.eyes.map(|eyes| format!(" --as {eyes}")).unwrap_or_default()
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let lines = lines_of(&args.commands, args.script.as_ref(), args.eyes)?;
    let store = context.open_store()?;
    let Revision { match_name, branch, .. } = &args.revision;
    if let Some(key) = &args.key
        && let Some(range) = store.find_idempotency_key(match_name, branch, key)?
    {
        return repeat(&args.revision, args.eyes(), &lines, &store, range, context);
    }
    let whole = Revision { seq: None, ..args.revision.clone() };
    let end = End::of(args.eyes(), &whole, &store, context)?;
    end.expect(args.expect.into_iter().chain(args.revision.seq), &whole, args)?;
    let End { rules, state, dice, head, sight } = end;
    let roller = roller::choose(&dice, args.no_auto_roll, args.dice.is_some())?;
    let mut session = Session::new(state, dice, roller, head + 1, Detail::new(args.eyes()));
    let mut played = Vec::new();
    if lines.is_empty() {
        session.roll_due(&mut played)?;
    }
    for line in &lines {
        if let Err(record) = session.submit(line, &mut played)? {
            let place = script::place(line, args.script.as_ref());
            return reject(&record, place, lines.len(), rules, context);
        }
    }
    let recorded_at_ms = if played.is_empty() { 0 } else { clock::now_ms()? };
    let entries: Vec<_> = played.iter().filter_map(|record| record.to_store(recorded_at_ms)).collect();
    let records = match sight {
        Some(sight) => sight.play_on(&entries)?,
        None => played,
    };
    if !entries.is_empty() {
        let appended = store.append(match_name, branch, head, entries, args.key.as_ref())?;
        keep_snapshots(&whole, (head, appended.last), context, &store);
    }
    // What was acknowledged is durable: trouble with closing is warned of, but the outcomes are told all the same.
    drop(store);
    for record in &records {
        record::print(record, &mut context.output)?;
    }
    if records.is_empty() {
        nothing_played(&session, &whole, args, context)?;
    }
    Ok(Answer::Yes)
}

fn reject(
    record: &Record,
    place: Option<String>,
    lines: usize,
    rules: &dyn AnyRules,
    context: &mut Context,
) -> Result<Answer, Failure> {
    record::print(record, &mut context.output)?;
    context.output.flush()?;
    let all = if lines > 1 {
        format!("; none of the {lines} commands was recorded")
    } else {
        "; nothing was recorded".into()
    };
    let failure = Failure::negative(format!("{}the command was rejected{all}", before_colon(place)));
    Err(match record.outcome.code() {
        Some(code) => failure.hint(format!("`turnfold rules {} {code}` explains it", rules.name())),
        None => failure,
    })
}

fn nothing_played(
    session: &Session,
    whole: &Revision,
    args: &Args,
    context: &mut Context,
) -> Result<(), Failure> {
    let due_roll = session.state.due_roll();
    if context.output.is_json() {
        return Ok(context.output.json(&NothingPlayed { played: 0, due_roll })?);
    }
    let text = match due_roll {
        Some(due) => format!("nothing played; a roll is due: {due}"),
        None => {
            format!("nothing played and no roll is due; see `turnfold legal {whole}{}`", args.as_option())
        }
    };
    Ok(context.output.line(text)?)
}
