//! A match as its viewer knows it, played on in memory: what may come of commands, and nothing is recorded (VW-46).
//!
//! A trial continues what `export --as` gives the viewer, so that no command finds out what is concealed. Its dice are
//! fresh, so that no command finds out what a seed rolls next.

use std::path::Path;

use serde::Serialize;
use turnfold_core::{DicePolicy, DueRoll};
use turnfold_history::session::is_roll;
use turnfold_history::{
    Detail, History, LogEntry, Record, RejectedCommand, ReplayError, Roller, ScriptCommand, SeatHistory,
    Session, Viewer,
};

use crate::page::frames::{FrameDocument, FrameLimits};
use crate::render::{LegalCommand, WhoseTurn, legal_commands};

/// What came of commands that were tried. What it serializes as is a contract.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    /// What the viewer sees of the commands and rolls.
    #[serde(flatten)]
    pub frames: FrameDocument,
    /// The commands and the rolls that were made, each `SEAT: command`. The same trial begins with them, and rolls none
    /// of them again.
    pub commands: Vec<String>,
    /// The commands of every seat that would be applied then, by what the viewer knows.
    pub legal: Vec<LegalCommand>,
    /// The roll that the rules wait for then.
    pub due_roll: Option<DueRoll>,
    /// Whose turn it is then.
    pub now: WhoseTurn,
}

/// Returns the match that the viewer knows, as `export --as` writes it, with dice that anyone may roll.
fn into_known(history: SeatHistory) -> Result<History, ReplayError> {
    if history.viewer().see_all() {
        return Ok(History { dice: DicePolicy::Recorded, ..history.into_history() });
    }
    let replay = history.to_replay()?;
    let known = History::of_replay(Path::new(&replay.file), &replay)?;
    // Those that it learned of later have no place here, and leave no gap.
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
    // A match as a viewer knows it has no secret from this viewer, who gives the commands of every seat.
    let detail = Detail::new(Viewer::HOST);
    let own_head = known.head();
    let mut session = Session::new(state, DicePolicy::Recorded, roller, own_head + 1, detail);
    let mut played = Vec::new();
    for (index, line) in commands.iter().enumerate() {
        if !is_roll(&line.command) {
            session.roll_due(&mut played)?;
        }
        match session.submit_alone(line, None) {
            Ok(record) => played.push(record),
            Err(mut record) => {
                record.state_hash = None;
                return Ok(Err(RejectedCommand { index, record }));
            }
        }
    }
    session.roll_due(&mut played)?;
    known.entries.extend(played.iter().filter_map(entry));
    let mut frames = FrameDocument::of(&SeatHistory::of(viewer, known)?, own_head, limits)?;
    // Of the entries before, the viewer may have learned some later, which this match does not have.
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
