//! The host of a match by mail: its key, what it appends to the desk, and what a run did (PM-27).

use turnfold_core::outcome::{Ruled as _, Ruling};
use turnfold_core::paper::{DeskTime, Player};
use turnfold_core::rules::desk::{Command, Desk, Effect};
use turnfold_core::trust::{PrivateKey, VerifierKey};
use turnfold_core::{Digest, Registry, Rules as _, Seat, Verdict};
use turnfold_history::{ReplayError, SourceName};
use turnfold_proof::signing::Signers;
use turnfold_store::{BranchName, Entry, IdempotencyKey, MatchName, NewEntry, Seq, Store};

use super::desk_history::{AppliedEntry, DeskHistory};
use super::pairing::MailMatch;
use super::paper_form::name_line;
use super::received_mail::ReceivedMail;
use crate::error::MailError;

/// A match by mail, as its host has it.
pub struct MailHost<'a> {
    pub(super) store: &'a Store,
    pub(super) registry: &'a Registry,
    pub(super) game: MailMatch,
    pub(super) desk: DeskHistory,
    pub(super) key: &'a PrivateKey,
    pub(super) recorded_at_ms: i64,
    /// The hash of the token of the page that asks. This page stays open when its seat is joined (PM-74).
    pub page: Option<Digest>,
    /// Whether a letter of this turn is unsent, which keeps the deadline from passing (PM-101).
    pub is_letter_unsent: bool,
}

impl<'a> MailHost<'a> {
    /// Opens a match. One of the keys must be the host's of its desk, and must have signed no other history of the desk
    /// (TR-11).
    ///
    /// # Errors
    /// [`MailError::Unusable`] without that key, and errors of the match, its store and what the key signed.
    pub fn of(
        store: &'a Store,
        name: &MatchName,
        registry: &'a Registry,
        signers: &'a Signers,
        recorded_at_ms: i64,
    ) -> Result<Self, MailError> {
        let game = MailMatch::find(store, name, registry)?;
        let host: Option<VerifierKey> = game.terms.host.parse().ok();
        let Some(key) = host.and_then(|host| signers.key_of(&host)) else {
            let host = &game.terms.host;
            let message = format!("the host of `{name}` signs with `{host}`, not with this key");
            return Err(MailError::Unusable(message));
        };
        // FD-18: a desk that was rolled back would open elements that players already know.
        signers.require_unforked(store, &game.desk_branch())?;
        let desk = DeskHistory::read(store, &game)?;
        Ok(Self { store, registry, game, desk, key, recorded_at_ms, page: None, is_letter_unsent: false })
    }

    /// Returns the match.
    #[must_use]
    pub const fn mail_match(&self) -> &MailMatch {
        &self.game
    }

    /// Returns the desk.
    #[must_use]
    pub const fn desk(&self) -> &DeskHistory {
        &self.desk
    }

    pub(super) fn is_short(&self, at: DeskTime) -> bool {
        let state = self.desk.state();
        let turn_seconds = u64::from(self.game.terms.hours) * 3600;
        let deadline = state.deadline().map_or(u64::MAX, DeskTime::unix_seconds);
        state.is_open() && deadline.saturating_sub(at.unix_seconds()) < turn_seconds / 2
    }

    /// PM-113: returns `true` if a mail arrived after a deadline that the desk's clock has not passed yet. An arrival
    /// later than `now` is a wrong time and does not count.
    #[must_use]
    pub fn is_after_deadline(&self, mail: &ReceivedMail, now: DeskTime) -> bool {
        let state = self.desk.state();
        match (mail.arrived, state.deadline()) {
            (Some(arrived), Some(deadline)) => state.is_open() && deadline <= arrived && arrived <= now,
            _ => false,
        }
    }

    /// PM-101: moves the deadline to a whole turn from now, because a letter of this turn could not be sent before.
    pub(super) fn begin_turn_anew(&mut self, at: DeskTime) -> Result<Vec<Effect>, MailError> {
        let seconds = at.unix_seconds().saturating_add(u64::from(self.game.terms.hours) * 3600);
        let Some(until) = DeskTime::of_unix_seconds(seconds) else { return Ok(Vec::new()) };
        let grounds = String::from("letters of this turn could not be sent in time");
        let grounds = grounds.try_into().map_err(MailError::not_by_mail)?;
        self.decide(vec![Command::Extend { until, grounds }])
    }

    /// Gives a seat to another player (PM-60), who is named by a verifier key or, for a player without a key, by a
    /// name. Returns what happened; nothing if the seat already has this player.
    ///
    /// # Errors
    /// [`MailError::Unusable`] for a name or reason that the desk cannot hold, [`MailError::Refused`] if the rules do
    /// not allow it, and errors of the store.
    pub fn replace(&mut self, seat: Seat, player: &str, reason: &str) -> Result<Vec<Effect>, MailError> {
        let player = match player.splitn(3, '+').collect::<Vec<_>>().as_slice() {
            [name, _, key] if player.parse::<VerifierKey>().is_ok() => Player::read(name, key)?,
            _ => {
                // The record has a name as one word.
                let name = name_line(player).map_err(MailError::Unusable)?;
                Player::read(&name.as_str().replace("%- ", "").replace(' ', "%20"), "-")?
            }
        };
        let state = self.desk.state();
        if state.name_of(seat) == Some(player.name()) && state.key_of(seat) == player.key() {
            return Ok(Vec::new());
        }
        let command = Command::Replace { seat, player, grounds: reason.to_owned().try_into()? };
        match Desk::judge(state, Seat::Host, &command) {
            Err(denied) => Err(MailError::Refused(format!("{seat} was not given away: {denied}"))),
            Ok(Verdict::Ignored(reason)) => {
                let Ruling { code, text, .. } = reason.ruling();
                let why = text.unwrap_or_default();
                Err(MailError::Refused(format!("{seat} was not given away: {why} ({code})")))
            }
            Ok(Verdict::Applied(_)) => self.decide(vec![command]),
        }
    }

    pub(super) fn decide(&mut self, commands: Vec<Command>) -> Result<Vec<Effect>, MailError> {
        let commands = commands.into_iter().map(|command| (Seat::Host, command)).collect();
        let mut effects = Vec::new();
        for applied in self.append(commands, None)? {
            effects.extend(applied.effects);
        }
        Ok(effects)
    }

    pub(super) fn append(
        &mut self,
        commands: Vec<(Seat, Command)>,
        key: Option<&IdempotencyKey>,
    ) -> Result<Vec<AppliedEntry>, MailError> {
        let before = self.desk.head();
        let recorded_at_ms = self.recorded_at_ms;
        let mut applied = Vec::new();
        let mut entries = Vec::new();
        for (seat, command) in commands {
            let command = command.to_bytes();
            let entry = Entry {
                seq: self.desk.head() + 1,
                seat,
                command: command.clone(),
                recorded_at_ms,
                idempotency_key: key.cloned(),
            };
            let name = SourceName::Revision(self.game.desk_branch());
            applied.push(self.desk.take(&entry).map_err(|cause| ReplayError::Entry(name, cause))?.clone());
            entries.push(NewEntry { seat, command, recorded_at_ms });
        }
        if !entries.is_empty() {
            self.close_other_pages(&applied)?;
            self.store.append(&self.game.desk, &BranchName::main(), before, entries, key)?;
        }
        Ok(applied)
    }
}

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct RunReport {
    /// What happened at the desk.
    pub effects: Vec<Effect>,
    /// What was appended to the game.
    pub played: Vec<PlayedStep>,
}

/// Entries that were appended to the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedStep {
    /// The branch.
    pub branch: BranchName,
    /// The first entry.
    pub first: Seq,
    /// The last.
    pub last: Seq,
}
