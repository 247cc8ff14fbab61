//! Fair dice: every roll of the played branches is recomputed (FD-19, FD-20).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use turnfold_core::dice::fair::{Contribution, RollKey};
use turnfold_core::paper::PaperContent;
use turnfold_core::rules::desk::{Desk, Reason, Setup};
use turnfold_core::{CommandSource, DicePolicy, Digest, DueRoll, Logged, Rules, Seat};
use turnfold_history::Revision;
use turnfold_history::session::ScriptCommand;
use turnfold_history::text::counted;
use turnfold_store::Genesis;

use super::MailRows;
use super::segments::{SegmentEnd, TurnSegment};
use crate::desk_history::{DeskHistory, DeskTurn, Execution, RolledEntry};
use crate::letter_words::seat_names;

const NAMED_MAX: usize = 12;

/// A recomputed roll with all of its inputs (FD-20).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FairRoll {
    /// Its entry.
    pub at: Revision,
    /// Its number.
    pub number: u16,
    /// The element that the host opened.
    pub element: Digest,
    /// The last element of each seat.
    pub contributions: Vec<Contribution>,
    /// The key (FD-4).
    pub key: Digest,
    /// The number and the range of the values.
    pub due: DueRoll,
    /// The values.
    pub values: Vec<i32>,
}

impl fmt::Display for FairRoll {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, number, element, contributions, key, due, values } = self;
        write!(out, "{at} is roll {number}: host {number} {element}")?;
        for Contribution { seat, index, element } in contributions {
            write!(out, ", {seat} {index} {element}")?;
        }
        write!(out, "; key {key}; {} of {}..={}:", due.count, due.low, due.high)?;
        for value in values {
            write!(out, " {value}")?;
        }
        Ok(())
    }
}

pub(super) struct FairDice {
    match_id: [u8; 16],
    /// `false` for other dice, and if game and desk have different heads of the host's chain.
    is_fair: bool,
    hosted: Vec<Seat>,
    before: Vec<Contribution>,
    recomputed: u64,
    foreseen: u64,
    /// How many rolls used no secret of some seats, by those seats.
    without_secrets: BTreeMap<Vec<Seat>, u64>,
}

struct GameRoll {
    seq: u64,
    due: Option<DueRoll>,
    command: String,
}

impl FairDice {
    pub(super) fn of(genesis: &Genesis, setup: &Setup, desk: &Revision, rows: &mut MailRows) -> Self {
        let mut is_fair = false;
        if let DicePolicy::Fair(head) = genesis.dice {
            is_fair = setup.head.as_ref().and_then(|head| head.parse().ok()) == Some(head);
            if !is_fair {
                let reason = "the head of the host's chain is not the one in the game's Genesis";
                rows.dice.fail(Some(desk.at(0)), reason);
            }
        }
        Self {
            match_id: genesis.match_id,
            is_fair,
            hosted: setup.hosted.clone(),
            before: Vec::new(),
            recomputed: 0,
            foreseen: 0,
            without_secrets: BTreeMap::new(),
        }
    }

    pub(super) fn not_checked(&self, at: Option<Revision>, reason: String, rows: &mut MailRows) {
        if self.is_fair {
            rows.dice.not_checked(at, reason);
        }
    }

    /// Requires each roll of a turn to have its `rolled` at the desk, in order, and the values that follow from it.
    pub(super) fn check(
        &mut self,
        segment: &TurnSegment<'_>,
        desk: &Revision,
        rows: &mut MailRows,
        on_roll: &mut dyn FnMut(&FairRoll),
    ) {
        if !self.is_fair {
            return;
        }
        let mut contributions = Vec::new();
        if let Some(plan) = &segment.turn.plan {
            contributions.clone_from(&plan.contributions);
        }
        let branch = &segment.at.branch;
        let mut rolled = segment.turn.rolled.iter().peekable();
        for roll in rolls(segment) {
            let at = segment.at.at(roll.seq);
            // FD-10: the desk opens each roll of the game once, and names its entry.
            while let Some(other) = rolled.next_if(|rolled| rolled.branch != *branch || rolled.seq < roll.seq)
            {
                rows.dice.fail(Some(desk.at(other.desk_seq)), names_no_roll(other));
            }
            if let Some(rolled) = rolled.next_if(|rolled| rolled.seq == roll.seq) {
                self.check_values(segment, &roll, rolled, &contributions, rows, on_roll);
            } else if segment.end == SegmentEnd::Unfinished {
                rows.dice.not_checked(Some(at), "the turn is not fully executed yet");
            } else {
                rows.dice.fail(Some(at), "the desk has no `rolled` for this roll");
            }
        }
        if !matches!(segment.end, SegmentEnd::Unusable(_)) {
            for other in rolled {
                rows.dice.fail(Some(desk.at(other.desk_seq)), names_no_roll(other));
            }
        }
        if segment.turn.plan.is_some() {
            self.before = contributions;
        }
    }

    fn check_values(
        &mut self,
        segment: &TurnSegment<'_>,
        roll: &GameRoll,
        rolled: &RolledEntry,
        contributions: &[Contribution],
        rows: &mut MailRows,
        on_roll: &mut dyn FnMut(&FairRoll),
    ) {
        let at = segment.at.at(roll.seq);
        let Some(due) = roll.due.clone() else {
            rows.dice.fail(Some(at), "no roll was due");
            return;
        };
        let Ok(number) = u16::try_from(rolled.number) else { return };
        let key = RollKey::new(&self.match_id, number, &rolled.element, contributions);
        let values = key.values(&due);
        let expected = segment.start.roll_command(values.clone()).unwrap_or_default();
        if expected != roll.command {
            rows.dice.fail(Some(at), format!("the dice give `{expected}`, found `{}`", roll.command));
            return;
        }
        self.recomputed += 1;
        let mut is_foreseen = true;
        let mut at_heads = Vec::new();
        for part in contributions {
            let before = self.before.iter().find(|before| before.seat == part.seat);
            let is_new = before.is_some() && before != Some(part);
            is_foreseen &= !is_new || self.hosted.contains(&part.seat);
            if part.index == 0 {
                at_heads.push(part.seat);
            }
        }
        self.foreseen += u64::from(is_foreseen);
        *self.without_secrets.entry(at_heads).or_default() += 1;
        on_roll(&FairRoll {
            at,
            number,
            element: rolled.element,
            contributions: contributions.to_vec(),
            key: Digest::new(*key.as_bytes()),
            due,
            values,
        });
    }

    fn without_secrets_of(&self, seats: &[Seat], rolls: u64) -> String {
        let all = counted(self.recomputed, "roll", "rolls");
        let names = seat_names(seats, " or ");
        let they = if seats.len() == 1 { "it" } else { "they" };
        let mut so = "the host and the seat that joined last could have chosen these rolls together";
        for part in &self.before {
            if !seats.contains(&part.seat) && !self.hosted.contains(&part.seat) {
                so = "the secrets of the other seats protect these rolls";
            }
        }
        format!(
            "{rolls} of {all} used no secret from {names} yet, because {they} had not sent an order: {so}"
        )
    }

    pub(super) fn finish(
        self,
        name: &str,
        desk: &DeskHistory,
        turns: &[&DeskTurn],
        unplayed: &BTreeSet<String>,
        rows: &mut MailRows,
    ) {
        if !self.is_fair {
            return;
        }
        *rows.rolls.get_or_insert(0) += self.recomputed;
        let mut remarks = Vec::new();
        let foreseen = counted(self.foreseen, "roll", "rolls");
        for seat in &self.hosted {
            if self.foreseen > 0 {
                remarks.push(format!("{seat} is played by the host and could foresee {foreseen}"));
            }
        }
        for (seats, rolls) in &self.without_secrets {
            if !seats.is_empty() {
                remarks.push(self.without_secrets_of(seats, *rolls));
            }
        }
        let state = desk.state();
        for seat in Desk::players(state) {
            if state.key_of(*seat).is_some() && !state.has_chain(*seat) {
                remarks.push(format!("the chain of {seat} has ended"));
            }
        }
        for (what, turns) in lost_orders(desk, turns) {
            remarks.push(format!("{what} in {}", in_turns(&turns)));
        }
        for branch in unplayed {
            remarks.push(format!("{branch} was not played"));
        }
        rows.dice_remarks.push((name.into(), remarks));
    }
}

fn names_no_roll(rolled: &RolledEntry) -> String {
    let RolledEntry { number, branch, seq, .. } = rolled;
    format!("roll {number} names entry {seq} of `{branch}`, which is not the next roll")
}

fn rolls(segment: &TurnSegment<'_>) -> Vec<GameRoll> {
    let mut state = segment.start.fork();
    let mut rolls = Vec::new();
    for entry in segment.entries {
        let mut due = state.due_roll();
        let logged =
            Logged { seq: entry.seq, seat: entry.seat, command: CommandSource::Bytes(&entry.command) };
        let folded = state.fold(&[logged], &DicePolicy::Recorded, &mut |step| {
            let command = step.command();
            if ScriptCommand::is_roll(&command) {
                rolls.push(GameRoll { seq: entry.seq, due: due.take(), command });
            }
        });
        if folded.is_err() {
            break;
        }
    }
    rolls
}

/// Returns the turns in which the host could have withheld an order, by what happened: a seat missed, or its order did
/// not count (FD-19).
fn lost_orders(desk: &DeskHistory, turns: &[&DeskTurn]) -> BTreeMap<String, BTreeSet<u32>> {
    let mut lost: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for entry in desk.entries() {
        if let Some(signed) = entry.paper()
            && let PaperContent::Order(_) = signed.paper().content()
            && entry.ignored == Some(Reason::Late)
        {
            let head = signed.paper().head();
            lost.entry(format!("an order of {} was late", head.seat)).or_default().insert(head.turn);
        }
    }
    for turn in turns {
        for seat in &turn.missed {
            lost.entry(format!("{seat} missed")).or_default().insert(turn.number);
        }
        for step in turn.plan.iter().flat_map(|plan| &plan.steps) {
            if let Some(digest) = &step.order
                && let Some((_, Execution::Refused(_))) = turn.executions.get(digest)
            {
                let what = format!("the order of {} was refused", step.seat);
                lost.entry(what).or_default().insert(turn.number);
            }
        }
    }
    lost
}

fn in_turns(turns: &BTreeSet<u32>) -> String {
    let named: Vec<_> = turns.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    let word = if turns.len() == 1 { "turn" } else { "turns" };
    let more = match turns.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{word} {}{more}", named.join(", "))
}
