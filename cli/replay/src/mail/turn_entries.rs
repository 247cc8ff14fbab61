//! Steps of turns as the game's log has them, found by their keys (PM-2).

use turnfold_core::{AnyRules, Seat};
use turnfold_store::{BranchName, Entry, MatchName, Seq, Store};

use super::error::MailError;
use super::keys::TurnKey;
use crate::entry::{CommandForm, LogEntry};
use crate::session::is_roll;

/// The entries of one append.
pub(super) struct TurnEntry(Vec<LogEntry>);

/// Finds the entries that a line of the game has with this key.
pub(super) fn step_of(
    store: &Store,
    name: &MatchName,
    branch: &BranchName,
    key: &TurnKey,
) -> Result<Option<TurnEntry>, MailError> {
    let key = key.to_string().parse().map_err(MailError::broken)?;
    let Some(range) = store.find_idempotency_key(name, branch, &key)? else { return Ok(None) };
    let entries: Result<Vec<Entry>, _> = store.entries(name, branch, range)?.collect();
    Ok(Some(TurnEntry(entries?.into_iter().map(LogEntry::from).collect())))
}

impl TurnEntry {
    /// Returns the number of its first entry.
    pub(super) fn first(&self) -> Option<Seq> {
        self.0.first().map(|entry| entry.seq)
    }

    /// Returns its entries.
    pub(super) fn entries(&self) -> &[LogEntry] {
        &self.0
    }

    /// Returns the number and the text of each command.
    pub(super) fn commands(&self, rules: &dyn AnyRules) -> Result<Vec<(Seq, String)>, MailError> {
        let text = |entry: &LogEntry| match &entry.command {
            CommandForm::Text(text) => Ok((entry.seq, text.clone())),
            CommandForm::Bytes(bytes) => Ok((entry.seq, rules.command_text(bytes)?)),
        };
        let read: Result<_, turnfold_core::decode::DecodeError> = self.0.iter().map(text).collect();
        read.map_err(MailError::broken)
    }

    /// Returns `true` if a command of `between` is among them: one by the host that is no roll.
    pub(super) fn ends_round(&self, rules: &dyn AnyRules) -> Result<bool, MailError> {
        let commands = self.commands(rules)?;
        let mut own = self.0.iter().zip(&commands).filter(|(entry, _)| entry.seat == Seat::Host);
        Ok(own.any(|(_, (_, command))| !is_roll(command)))
    }
}
