//! Trials: commands played in memory on a match as its viewer knows it, with nothing recorded (VW-46).
//!
//! A trial continues the match that `export --as` writes for the viewer, so no command reveals what is concealed. Its dice are
//! fresh, so no command reveals what a seed rolls next.

use std::path::Path;

use serde::Serialize;
use turnfold_core::{DicePolicy, DueRoll};
use turnfold_history::session::{NotPlayed, RejectedCommand, Roller, ScriptCommand, Session};
use turnfold_history::{Detail, History, LogEntry, Record, ReplayError, SeatHistory, Viewer};

use crate::page::frames::{FrameDocument, FrameLimits};
use crate::render::{LegalCommand, WhoseTurn, legal_commands};

/// The result of a trial. Its JSON form is stable.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    /// What the viewer sees of the commands and rolls, as frames.
    #[serde(flatten)]
    pub frames: FrameDocument,
    /// The commands and the rolls that were made, each `SEAT: command`. A trial that begins with them makes none of the rolls
    /// again.
    pub commands: Vec<String>,
    /// The legal commands of every seat at the end, by what the viewer knows.
    pub legal: Vec<LegalCommand>,
    /// The roll that is due at the end.
    pub due_roll: Option<DueRoll>,
    /// Whose turn it is at the end.
    pub now: WhoseTurn,
}

/// Returns the match that the viewer knows, as `export --as` writes it, with dice that anyone may roll.
fn into_known(history: SeatHistory) -> Result<History, ReplayError> {
    if history.viewer().sees_all() {
        return Ok(History { dice: DicePolicy::Recorded, ..history.into_history()? });
    }
    let replay = history.to_replay()?;
    let known = History::of_replay(Path::new(&replay.file), &replay)?;
    // Entries that the viewer learned of only later are not in this match, so the numbers are closed up.
    let entries = (1..).zip(known.entries).map(|(seq, entry)| LogEntry { seq, ..entry }).collect();
    Ok(History { dice: DicePolicy::Recorded, name: history.name().clone(), entries, ..known })
}

/// Plays commands of any seats on the match that the viewer knows. The roller makes the rolls that fall due before a
/// command and at the end.
///
/// The inner result is the command that was rejected.
///
/// # Errors
/// As for [`SeatHistory::to_replay`], [`ReplayError::Chance`] and [`ReplayError::EndlessRolls`].
pub fn try_out(
    history: SeatHistory,
    commands: &[ScriptCommand],
    roller: Roller,
    limits: FrameLimits,
) -> Result<Result<Trial, RejectedCommand>, ReplayError> {
    let viewer = history.viewer();
    let head = history.head();
    let mut known = into_known(history)?;
    let state = known.state()?;
    // This match holds nothing that its viewer may not know, and the viewer plays every seat.
    let detail = Detail::new(Viewer::HOST);
    let own_head = known.head();
    let mut session = Session::new(state, DicePolicy::Recorded, roller, own_head + 1, detail);
    let mut played = Vec::new();
    for (index, line) in commands.iter().enumerate() {
        if !ScriptCommand::is_roll(&line.command) {
            session.roll_due(&mut played)?;
        }
        match session.submit_without_rolls(line, None) {
            Ok(record) => played.push(record),
            Err(mut record) => {
                record.state_hash = None;
                let reason = NotPlayed::rejected(&record, commands.len(), &*known.rules);
                return Ok(Err(RejectedCommand { index, record, reason }));
            }
        }
    }
    session.roll_due(&mut played)?;
    known.entries.extend(played.iter().filter_map(entry));
    let mut frames = FrameDocument::of(&SeatHistory::of(viewer, known)?, own_head, limits)?;
    // The viewer counts entries that it learned of later, too, which this match does not have.
    let later = head - own_head;
    frames.count_from(later);
    Ok(Ok(Trial {
        frames,
        commands: played.iter().filter_map(text).collect(),
        legal: legal_commands(None, Viewer::HOST, session.state.as_ref()),
        due_roll: session.state.due_roll(),
        now: WhoseTurn::in_state(session.state.as_ref()),
    }))
}

fn entry(record: &Record) -> Option<LogEntry> {
    Some(LogEntry::new(record.seq?, record.seat?, record.command_bytes.clone()))
}

fn text(record: &Record) -> Option<String> {
    Some(format!("{}: {}", record.seat?, record.command))
}
