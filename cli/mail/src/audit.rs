//! The audit of play by mail (PM-32, PM-33, FD-19), which compares the game's log with its desk.

mod authorship;
mod dice;
mod segments;

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::paper::{PaperContent, PaperHead};
use turnfold_core::rules::desk::{Command, Desk};
use turnfold_core::{DicePolicy, Registry, Rules, Seat};
use turnfold_history::text::counted;
use turnfold_history::{Revision, recorded_rules};
use turnfold_proof::ProofError;
use turnfold_proof::audit::{
    AuditQuestion, AuditRow, AuditedRecords, FurtherRow, FurtherRows, PlayerKey, RowBuilder,
};
use turnfold_proof::bundle::sizes::{BranchFinder, revision};
use turnfold_proof::bundle::{
    BranchIndex, BundleOutline, BundleRecords, BundleRules, BundledMatch, BundledRecord,
};
use turnfold_store::Entry;

use self::authorship::Authorship;
use self::dice::FairDice;
use self::segments::{AuditedPair, CollectedMatch, Pairing};
use super::desk_history::{DeskHistory, DeskTurn};
use super::letter_words::seat_names;
use super::pairing::{DeskOf, TurnKey};

pub use dice::FairRoll;

/// Audits well-formed matches. Returns all eight rows; matches by mail are compared with their desks.
///
/// # Errors
/// What cannot be read. Faults of the matches are in the rows.
pub fn audit(records: &dyn BundleRecords, question: AuditQuestion<'_>) -> Result<Vec<AuditRow>, ProofError> {
    audit_with(records, question, &mut |_| {})
}

/// Audits matches like [`audit`], and passes each roll of fair dice with its inputs to `on_roll` (FD-20).
///
/// # Errors
/// As for [`audit`].
pub fn audit_with(
    records: &dyn BundleRecords,
    question: AuditQuestion<'_>,
    on_roll: &mut dyn FnMut(&FairRoll),
) -> Result<Vec<AuditRow>, ProofError> {
    let branches = BranchFinder::of(records.outline());
    let rules = BundleRules::of(records.outline(), question.registry);
    let mut mail = MailAudit::new(&branches, &rules.registry, on_roll);
    let fair_dice = mail.matches_with_fair_dice();
    let mut take = |branch, index, record: &BundledRecord<'_>| mail.take(branch, index, record);
    let audited = AuditedRecords::read(records, &branches, &rules, question, &fair_dice, &mut take)?;
    mail.end_before(records.outline().matches.len());
    Ok(audited.rows(mail.rows.further()))
}

/// The matches by mail while a bundle is read. Each is collected until game and desk are read, then judged.
struct MailAudit<'a> {
    finder: &'a BranchFinder<'a>,
    registry: &'a Registry,
    on_roll: &'a mut dyn FnMut(&FairRoll),
    pairings: Vec<Pairing>,
    collected: BTreeMap<usize, CollectedMatch>,
    current: usize,
    rows: MailRows,
}

impl<'a> MailAudit<'a> {
    fn new(
        finder: &'a BranchFinder<'a>,
        registry: &'a Registry,
        on_roll: &'a mut dyn FnMut(&FairRoll),
    ) -> Self {
        let pairings = Pairing::all(finder, registry);
        let mut rows = MailRows::default();
        let mut collected = BTreeMap::new();
        for pairing in &pairings {
            rows.paired.extend([pairing.game, pairing.desk]);
            collected.entry(pairing.game).or_insert(CollectedMatch::new(false));
            collected.insert(pairing.desk, CollectedMatch::new(true));
        }
        rows.find_second_desks(finder.outline, &pairings);
        Self { finder, registry, on_roll, pairings, collected, current: 0, rows }
    }

    fn take(&mut self, (of, branch): BranchIndex, index: u64, record: &BundledRecord<'_>) {
        if of > self.current {
            self.end_before(of);
            self.current = of;
        }
        if let Some(collected) = self.collected.get_mut(&of) {
            collected.take(branch, index, record);
        }
    }

    /// Returns the matches whose dice are left to this audit: games with fair dice, and desks, which roll none.
    fn matches_with_fair_dice(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for Pairing { game, desk, .. } in &self.pairings {
            found.insert(*desk);
            let game_match = self.finder.outline.matches.get(*game);
            if game_match.is_some_and(|bundled| matches!(bundled.genesis.dice, DicePolicy::Fair(_))) {
                found.insert(*game);
            }
        }
        found
    }

    fn end_before(&mut self, match_index: usize) {
        let Self { finder, registry, pairings, collected, rows, on_roll, .. } = self;
        let (done, waiting) =
            std::mem::take(pairings).into_iter().partition(|pairing| pairing.last() < match_index);
        *pairings = waiting;
        for pairing in &done {
            if let (Some(game), Some(desk)) = (collected.get(&pairing.game), collected.get(&pairing.desk)) {
                AuditedPair { finder, registry, pairing, game, desk }.judge(rows, on_roll);
            }
        }
        collected.retain(|index, _| {
            pairings.iter().any(|pairing| pairing.has(*index)) || !done.iter().any(|done| done.has(*index))
        });
    }
}

impl AuditedPair<'_> {
    /// Compares the game with its desk, and reports each roll that was recomputed (FD-20).
    fn judge(&self, rows: &mut MailRows, on_roll: &mut dyn FnMut(&FairRoll)) {
        let Self { finder, pairing, .. } = self;
        let outline = finder.outline;
        let Some(game) = outline.matches.get(pairing.game) else { return };
        let Some(desk_of) = outline.matches.get(pairing.desk) else { return };
        let Some(at_desk) = revision(outline, (pairing.desk, 0)) else { return };
        let Ok(desk) = DeskHistory::start(&pairing.setup, &desk_of.genesis.encode()) else {
            rows.authorship.not_checked(Some(at_desk), "the rules reject the terms of play");
            return;
        };
        let (desk, stuck) = self.desk.read_desk(desk);
        let mut stuck = stuck.map(|reason| (Some(at_desk.clone()), reason.to_owned()));
        let mut turns: Vec<&DeskTurn> = desk.turns().iter().collect();
        // The last turn is incomplete if the log stops early.
        if stuck.is_none() {
            turns.push(desk.current());
        }
        if let Some(reason) = self.other_desk(game, desk_of) {
            rows.authorship.fail(Some(at_desk.at(0)), reason);
        }
        for seat in Desk::players(desk.state()) {
            let Some(key) = desk.state().key_of(*seat) else { continue };
            let match_name = game.name.clone();
            let key = key.verifier().clone();
            rows.authorship.key(PlayerKey { match_name, seat: *seat, key });
        }
        let mut dice = FairDice::of(&game.genesis, &pairing.setup, &at_desk, rows);
        let mut authorship = Authorship::of(&pairing.setup, &at_desk);
        let walked = self.each_segment(game, &turns, &mut |segment| {
            dice.check(segment, &at_desk, rows, on_roll);
            authorship.check(segment, rows);
        });
        match walked {
            Ok(branches) if stuck.is_none() => authorship.finish(&branches, rows),
            Ok(_) => {}
            Err(in_game) => stuck = Some(in_game),
        }
        if let Some((at, reason)) = stuck {
            dice.not_checked(at.clone(), reason.clone(), rows);
            rows.authorship.not_checked(at, reason);
        }
        // PM-38, PM-60: reported as not checked; a fault anywhere in the row counts more. The players have not agreed to
        // a replacement, and the host may have the key.
        let mut plain = BTreeSet::new();
        let mut replaced = Vec::new();
        for entry in desk.entries() {
            match &entry.command {
                Command::Plain(paper) => {
                    if let PaperContent::Order(_) | PaperContent::Ahead(_) = paper.paper().content() {
                        plain.insert(entry.seat);
                    }
                }
                Command::Replace { seat, player, .. } if entry.ignored.is_none() => {
                    replaced
                        .push(format!("the host alone gave {seat} to {}: the host vouches", player.name()));
                }
                _ => {}
            }
        }
        if !plain.is_empty() {
            let seats = seat_names(&plain, ", ");
            let reason = format!("{seats} ordered by plain mail: the host vouches");
            rows.authorship.not_checked(None, reason);
        }
        for reason in replaced {
            rows.authorship.not_checked(None, reason);
        }
        check_seen(&desk, &at_desk, rows);
        let unplayed = unplayed(game, &turns);
        dice.finish(game.name.as_str(), &desk, &turns, &unplayed, rows);
        rows.unplayed.extend(unplayed);
    }

    /// Returns the reason if the desk belongs to another match (PM-1, PM-3).
    fn other_desk(&self, game: &BundledMatch, desk: &BundledMatch) -> Option<String> {
        let Pairing { setup, .. } = self.pairing;
        let id = DeskOf::game(&game.name, &game.genesis.match_id).map(|desk| desk.match_id);
        if id != Ok(desk.genesis.match_id) {
            return Some(format!("its match id is not that of the desk of `{}`", game.name));
        }
        if setup.game != game.genesis.link().to_string() {
            return Some(format!("it is the desk of another match than `{}`", game.name));
        }
        let state = recorded_rules(&game.genesis, self.registry).ok()?.start(&game.genesis.setup).ok()?;
        let players = state.players().len();
        if players == usize::from(setup.seats) {
            return None;
        }
        Some(format!("it has {} seats, and the game {players} players", setup.seats))
    }
}

fn unplayed(game: &BundledMatch, turns: &[&DeskTurn]) -> BTreeSet<String> {
    let mut unplayed = BTreeSet::new();
    for branch in &game.branches {
        let name = &branch.name;
        if !name.is_main() && !turns.iter().any(|turn| turn.branch() == Some(name)) {
            unplayed.insert(format!("{}@{name}", game.name));
        }
    }
    unplayed
}

/// Requires every paper that counts to name a history of this desk that has the position of its turn (PM-33).
fn check_seen(desk: &DeskHistory, at: &Revision, rows: &mut MailRows) {
    for entry in desk.entries() {
        let Some(paper) = entry.command.paper() else { continue };
        if entry.ignored.is_some() {
            continue;
        }
        let PaperHead { seat, turn, seen, .. } = *paper.head();
        let position = desk.position_of_turn(turn);
        if seen.size > entry.seq || desk.root(seen.size) != Some(seen.root) {
            let reason = format!("the paper of {seat} has seen another history of {} records", seen.size);
            rows.consistency.fail(Some(at.at(entry.seq)), reason);
        } else if position.is_some_and(|position| seen.size <= position.seq) {
            let reason = format!("the paper of {seat} is for turn {turn} and has not seen its position");
            rows.consistency.fail(Some(at.at(entry.seq)), reason);
        } else {
            *rows.seen.get_or_insert(0) += 1;
        }
    }
}

#[derive(Default)]
struct MailRows {
    /// The indexes of the games that have a desk, and of the desks.
    paired: BTreeSet<usize>,
    dice: RowBuilder,
    /// How many rolls were recomputed; `None` if no match has fair dice.
    rolls: Option<u64>,
    dice_remarks: Vec<(String, Vec<String>)>,
    authorship: RowBuilder,
    authors: Authors,
    unplayed: Vec<String>,
    consistency: RowBuilder,
    /// How many papers named a history that their desk has; `None` if none did.
    seen: Option<u64>,
}

impl MailRows {
    /// PM-1: fails `consistency` for a second desk of a game, because two desks are two histories.
    fn find_second_desks(&mut self, outline: &BundleOutline, pairings: &[Pairing]) {
        let mut desks: BTreeMap<usize, usize> = BTreeMap::new();
        for pairing in pairings {
            let first = *desks.entry(pairing.game).or_insert(pairing.desk);
            if first != pairing.desk
                && let Some(first) = outline.matches.get(first)
                && let Some(game) = outline.matches.get(pairing.game)
            {
                let reason = format!("`{}` is a desk of `{}` too", first.name, game.name);
                self.consistency.fail(revision(outline, (pairing.desk, 0)), reason);
            }
        }
    }

    fn further(self) -> FurtherRows {
        let mut dice = None;
        if let Some(rolls) = self.rolls {
            let mut text = format!("{} recomputed", counted(rolls, "roll", "rolls"));
            let is_one = self.dice_remarks.len() == 1;
            for (name, remarks) in &self.dice_remarks {
                let of = if is_one { String::new() } else { format!("{name}: ") };
                for remark in remarks {
                    text.extend(["; ", &of, remark]);
                }
            }
            dice = Some(text);
        }
        let mut seen = None;
        if let Some(count) = self.seen {
            let papers = counted(count, "paper", "papers");
            seen = Some(format!("the history that {papers} named is this one"));
        }
        let mut authors = self.authors.text();
        for branch in &self.unplayed {
            authors.extend(["; ", branch, " was not played"]);
        }
        FurtherRows {
            with_authors: self.paired,
            dice: FurtherRow { found: self.dice, checked: dice },
            consistency: FurtherRow { found: self.consistency, checked: seen },
            authorship: FurtherRow { found: self.authorship, checked: Some(authors) },
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Authors {
    signed: u64,
    default: BTreeMap<Seat, u64>,
    host: u64,
}

impl Authors {
    fn count(&mut self, entry: &Entry, key: &TurnKey) {
        match (entry.seat, key) {
            (Seat::Host, _) => self.host += 1,
            (_, TurnKey::Order { .. }) => self.signed += 1,
            (seat, _) => *self.default.entry(seat).or_default() += 1,
        }
    }

    fn text(&self) -> String {
        let default = self.default.iter().map(|(seat, count)| format!(", {count} by default for {seat}"));
        let commands = if self.signed == 1 { "command" } else { "commands" };
        let default: String = default.collect();
        format!("{} {commands} by signed orders{default}, {} by the host", self.signed, self.host)
    }
}
