//! The current turn as a received bundle shows it: its position, owed seals, offers, and a trial of commands (PM-16, PM-28).
//!
//! Orders of others may be left out. So this module reads only records that are never left out. It derives owed seals
//! from them if the desk cannot be applied.

use std::collections::BTreeMap;

use turnfold_core::paper::{DeskTime, Offer, OrdersAhead, PaperContent, PaperLine};
use turnfold_core::rules::desk::{Command, Missed};
use turnfold_core::{AnyState, CommandSource, DicePolicy, Digest, Logged, Outcome, Registry, Seat};
use turnfold_history::history::entry::stored;
use turnfold_history::history::rules_of;
use turnfold_history::{Record, Revision};
use turnfold_proof::bundle::BundleRecords;
use turnfold_proof::bundle::sizes::BranchFinder;
use turnfold_store::Entry;

use super::desk_turn::TurnRecord;
use super::game_turn::{GameTurn, OrderEnd};
use super::received_bundle::ReceivedBundle;
use crate::error::MailError;

#[derive(Clone, Debug)]
pub(super) struct ShownTurn {
    /// Its number: how many positions are recorded.
    pub(super) number: u32,
    pub(super) position: Option<TurnRecord>,
    /// The clock when the position was recorded.
    since: Option<DeskTime>,
    /// The host's clock.
    pub(super) clock: Option<DeskTime>,
}

impl ShownTurn {
    pub(super) fn of(received: &ReceivedBundle) -> Self {
        let mut found = Self { number: 0, position: None, since: None, clock: None };
        for entry in received.history.entries() {
            if let Command::Clock(at) = &entry.command {
                found.clock = Some(*at);
            }
            if let Some(position) = entry.position() {
                found.number = found.number.saturating_add(1);
                (found.position, found.since) = (Some(position), found.clock);
            }
        }
        found
    }

    /// Returns `true` for a seat that must seal before it orders (PM-16).
    pub(super) fn must_seal(&self, received: &ReceivedBundle, seat: Seat) -> bool {
        let asked = self.position.as_ref().map(|position| position.seats.as_slice()).unwrap_or_default();
        let terms = &received.terms;
        asked.len() >= 2 && asked.contains(&seat) && (terms.sealed || terms.hosted.contains(&seat))
    }

    /// Returns the seats that must seal and have not, unless they have missed the deadline. If the desk could not be
    /// applied, a seat counts as having missed the deadline only if that is certain.
    pub(super) fn owing_seals(&self, received: &ReceivedBundle, reader: Seat) -> Vec<Seat> {
        let Some(position) = &self.position else { return Vec::new() };
        if let Some(owing) = received.owing_seals() {
            return owing;
        }
        let deadline = self.deadline(position, received, reader);
        if received.terms.missed != Missed::Wait && self.clock >= deadline {
            return Vec::new();
        }
        let has_sealed = |seat: Seat| {
            received.papers().any(|(seq, signed)| {
                let head = signed.paper().head();
                let content = signed.paper().content();
                let is_seal = matches!(content, PaperContent::Seal { link, .. } if *link == position.link);
                seq > position.seq && is_seal && head.seat == seat && head.turn == self.number
            })
        };
        let asked = position.seats.iter().copied();
        asked.filter(|seat| self.must_seal(received, *seat) && !has_sealed(*seat)).collect()
    }

    /// Returns the digests of this turn's offers that begin with these digits.
    pub(super) fn offers<'a>(
        &self,
        received: &'a ReceivedBundle,
        digits: &str,
    ) -> Vec<(Digest, Seat, &'a Offer)> {
        let papers = received.history.entries().iter().filter_map(|entry| entry.command.paper());
        let offers = papers.filter_map(|paper| match paper.content() {
            PaperContent::Offer(offer) if paper.head().turn == self.number => {
                Some((paper.digest(), paper.head().seat, offer))
            }
            _ => None,
        });
        offers.filter(|(digest, ..)| digest.to_string().starts_with(digits)).collect()
    }

    /// Returns the latest deadline that the turn may have had. An offer to move it needs the reader's consent or, if
    /// the reader made it, the consent of another seat.
    fn deadline(&self, position: &TurnRecord, received: &ReceivedBundle, reader: Seat) -> Option<DeskTime> {
        let since = self.since.map(|since| since.after_hours(received.terms.hours));
        let agreed = |to: Digest, offered_by: Seat| {
            let answer = PaperContent::Answer { to, agree: true };
            let mut papers = received.papers().map(|(_, signed)| signed.paper());
            papers
                .any(|paper| *paper.content() == answer && [offered_by, paper.head().seat].contains(&reader))
        };
        let behind = received.history.entries().iter().filter(|entry| entry.seq > position.seq);
        let moved = behind.filter_map(|entry| match &entry.command {
            Command::Extend { until, .. } => Some(*until),
            Command::Paper(signed) => match signed.paper().content() {
                PaperContent::Offer(Offer::Extend(until)) => {
                    agreed(signed.paper().digest(), signed.paper().head().seat).then_some(*until)
                }
                _ => None,
            },
            _ => None,
        });
        // PM-39: the deadline may wait for any absence.
        let papers = received.history.entries().iter().filter_map(|entry| entry.command.paper());
        let back = papers.filter_map(|paper| match paper.content() {
            PaperContent::Absent(until) => Some(until.after_hours(received.terms.hours)),
            _ => None,
        });
        moved.chain(since).chain(back).max()
    }
}

/// Returns the game at the position, if the bundle shows all of it and no other seat has to play before this one.
fn game_before_plays(
    received: &ReceivedBundle,
    position: &TurnRecord,
    seat: Seat,
    registry: &Registry,
) -> Result<Option<Box<dyn AnyState>>, MailError> {
    Ok(game_at(received, position, registry)?.filter(|state| state.waits_for(seat)))
}

/// Reads a seat's lines of replies, which begin after its order if it is asked (PM-123).
pub(super) fn read_lines(
    received: &ReceivedBundle,
    position: &TurnRecord,
    order: (Seat, &[PaperLine]),
    lines: &[String],
    registry: &Registry,
) -> Result<OrdersAhead, MailError> {
    let state = game_at(received, position, registry)?;
    let state = state.ok_or_else(|| MailError::Refused("the bundle does not show all of the game".into()))?;
    let as_typed = |text: &str| vec![text.to_owned()];
    GameTurn::ahead(state.as_ref(), order, BTreeMap::new(), lines, as_typed).map_err(MailError::Refused)
}

/// Returns the game at the position, if the bundle shows all of it.
fn game_at(
    received: &ReceivedBundle,
    position: &TurnRecord,
    registry: &Registry,
) -> Result<Option<Box<dyn AnyState>>, MailError> {
    let game = &received.game;
    let index = game.branches.iter().position(|branch| branch.name == position.branch);
    let Some(index) = index.filter(|index| !game.left_out(*index)) else { return Ok(None) };
    let branch = position.branch.clone();
    let revision = Revision { match_name: game.name.clone(), branch, seq: None };
    let rules = rules_of(&game.genesis, &revision, registry)?;
    let mut state = rules.start(&game.genesis.setup)?;
    let entries = entries(received, index, position.game_seq)?;
    state.fold(&stored(&entries), &game.genesis.dice, &mut |_| {})?;
    Ok(Some(state))
}

/// Reads commands in the states in which they would be played, and returns them as the game would record them. After a
/// roll, and after a command that the game rejects, they stay as the player wrote them.
pub(super) fn read_plays(
    received: &ReceivedBundle,
    position: &TurnRecord,
    seat: Seat,
    plays: &[PaperLine],
    registry: &Registry,
) -> Result<Vec<PaperLine>, MailError> {
    let mut game = game_before_plays(received, position, seat, registry)?;
    let mut read = Vec::new();
    for play in plays {
        let text = game.as_ref().and_then(|game| game.read(play.as_str()).ok());
        read.push(text.as_ref().and_then(|text| text.parse().ok()).unwrap_or_else(|| play.clone()));
        let command = CommandSource::Text(text.as_deref().unwrap_or_default());
        let entry = Logged { seq: position.game_seq, seat, command };
        game.take_if(|game| game.fold(&[entry], &DicePolicy::Recorded, &mut |_| {}).is_err());
    }
    Ok(read)
}

/// Tries commands as the host would play them, up to a roll. Returns which of them would change nothing, and why; none
/// if others have to play before the seat.
pub(super) fn try_plays(
    received: &ReceivedBundle,
    position: &TurnRecord,
    seat: Seat,
    plays: &[PaperLine],
    registry: &Registry,
) -> Result<Vec<String>, MailError> {
    let Some(state) = game_before_plays(received, position, seat, registry)? else { return Ok(Vec::new()) };
    let mut turn = GameTurn::without_dice(state, position.game_seq);
    match turn.order(seat, plays.iter().map(PaperLine::as_str)) {
        Ok(OrderEnd::Refused(rejected)) => Err(MailError::Refused(format!(
            "the game would refuse the order: {}: {}",
            rejected.code, rejected.message
        ))),
        Ok(OrderEnd::Carried { played, .. }) => Ok(played.iter().filter_map(without_effect).collect()),
        Err(_) => Ok(Vec::new()),
    }
}

fn without_effect(record: &Record) -> Option<String> {
    let Outcome::Ignored(code) = &record.outcome else { return None };
    let why = record.message.as_ref().map_or_else(String::new, |message| format!(", {message}"));
    Some(format!("`{}` would change nothing: {}{why}", record.command, code.as_str()))
}

/// Reads the first entries of a branch, including those that it shares with its parents.
fn entries(received: &ReceivedBundle, branch: usize, to: u64) -> Result<Vec<Entry>, MailError> {
    let finder = BranchFinder::of(received.bundle.outline());
    let parts: BTreeMap<_, _> =
        finder.parts((received.game_index, branch), to.saturating_add(1)).into_iter().collect();
    let mut entries = Vec::new();
    received.bundle.each(&mut |branch, record| {
        if let Some(size) = parts.get(&branch)
            && let Ok(Some(entry)) = record.entry()
            && entry.seq < *size
        {
            entries.push(entry);
        }
        Ok(())
    })?;
    entries.sort_by_key(|entry| entry.seq);
    Ok(entries)
}
