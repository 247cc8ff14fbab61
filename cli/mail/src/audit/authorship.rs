//! Who gave which command: derives every entry of the game and every position again from the desk (PM-2, PM-13, PM-14,
//! PM-32).

use std::collections::VecDeque;

use turnfold_core::BranchName;
use turnfold_core::dice::DiceStream;
use turnfold_core::rules::desk::{Secret, Setup};
use turnfold_core::{AnyState, DicePolicy, Digest, DueRoll, Seat};
use turnfold_history::session::ScriptCommand;
use turnfold_history::{LogEntry, Record, ReplayError, Revision};
use turnfold_store::{Entry, IdempotencyKey};

use super::segments::{SegmentEnd, TurnSegment};
use super::{Authors, MailRows};
use crate::desk_history::{Execution, SeatStep, TurnPlan, TurnRecord};
use crate::execute_turn::{Round, TurnEnd};
use crate::game_turn::{GameTurn, OrderEnd, PlayedRules, is_shown_to_all};
use crate::letter_words::seat_names;
use crate::pairing::TurnKey;

pub(super) struct Authorship<'a> {
    setup: &'a Setup,
    desk: &'a Revision,
    /// The branch, entry and round of each position so far.
    rounds: Vec<(BranchName, u64, Round)>,
    /// The last position up to which all players see everything: branch, entry and state. A shown entry is not
    /// concealed later.
    shown: Option<(BranchName, u64, Box<dyn AnyState>)>,
    /// Whether the walk has ended, with a fault or because nothing more can be checked.
    has_ended: bool,
    has_failed: bool,
}

/// A fault and its place; `None` if the walk ends without a fault.
struct Fault(Option<(Revision, String)>);

impl Fault {
    fn at(at: Revision, reason: impl Into<String>) -> Self {
        Self(Some((at, reason.into())))
    }
}

impl<'a> Authorship<'a> {
    pub(super) fn of(setup: &'a Setup, desk: &'a Revision) -> Self {
        Self { setup, desk, rounds: Vec::new(), shown: None, has_ended: false, has_failed: false }
    }

    pub(super) fn check(&mut self, segment: &TurnSegment<'_>, rows: &mut MailRows) {
        if self.has_ended {
            return;
        }
        if let Err(Fault(fault)) = self.walk(segment, &mut rows.authors) {
            self.has_ended = true;
            if let Some((at, reason)) = fault {
                self.has_failed = true;
                rows.authorship.fail(Some(at), reason);
            }
        }
    }

    /// Requires each played branch to end with its last turn. `branches` has each branch with its last played entry and
    /// its head.
    pub(super) fn finish(&self, branches: &[(Revision, u64, u64)], rows: &mut MailRows) {
        for (at, to, head) in branches {
            if head > to && !self.has_failed {
                let reason = "the entry comes after the last position of its branch";
                rows.authorship.fail(Some(at.at(to.saturating_add(1))), reason);
            }
        }
    }

    fn walk(&mut self, segment: &TurnSegment<'_>, authors: &mut Authors) -> Result<(), Fault> {
        let turn = segment.turn;
        let mut entries = WalkedEntries { segment, next: 0, desk: self.desk, authors };
        let Some(plan) = &turn.plan else { return entries.end() };
        if turn.is_takeback() && !segment.begins_there {
            let (branch, seq) = &turn.from;
            let reason = format!("the branch does not begin at entry {seq} of `{branch}`, as was agreed");
            return Err(Fault::at(segment.at.clone(), reason));
        }
        let mut game = GameTurn::new(segment.start.fork(), turn.from.1, Box::new(recorded_dice(segment)));
        let host = plan.host_key();
        let rules = PlayedRules::of(self.setup);
        let mut played = Vec::new();
        if !turn.is_takeback() {
            entries.take(&entries.played(game.roll_due())?, &host)?;
            for step in &plan.steps {
                let key = plan.key_of(step);
                let mut has_played = false;
                if let Some(digest) = &step.order {
                    has_played = self.order(step, digest, &key, &mut game, &mut entries)?;
                }
                // PM-80: what an order leaves open is played by default.
                if plan.has_default(step) {
                    let default = entries.played(game.default(step.seat, rules))?;
                    entries.take(&default, &plan.default_key(step.seat))?;
                    has_played |= !default.is_empty();
                }
                if has_played {
                    played.push(step.seat);
                }
            }
        }
        let between =
            entries.played(game.between(&plan.living, &plan.gone, !plan.steps.is_empty(), rules))?;
        entries.take(&between.played, &host)?;
        entries.end()?;
        let Some(position) = &turn.end else { return Ok(()) };
        match segment.end {
            SegmentEnd::Short => return Err(entries.short(position)),
            SegmentEnd::Position => {}
            _ => return Ok(()),
        }
        let end = TurnEnd { played, ends_round: between.ends_round };
        match self.check_position(segment, position, plan, &end, game.state()) {
            Ok(()) => Ok(()),
            Err(reason) => Err(Fault::at(self.desk.at(position.seq), reason)),
        }
    }

    /// PM-19: an order is carried out as far as the game accepts it, or refused for the game's reason. Returns `true` if it
    /// was carried out.
    fn order(
        &self,
        step: &SeatStep,
        digest: &Digest,
        key: &TurnKey,
        game: &mut GameTurn<'_>,
        entries: &mut WalkedEntries<'_>,
    ) -> Result<bool, Fault> {
        let seat = step.seat;
        let mut at = self.desk.clone();
        let mut recorded = None;
        if let Some((seq, execution)) = entries.segment.turn.executions.get(digest) {
            at = self.desk.at(*seq);
            recorded = Some(execution);
        }
        let end = entries.played(game.order(seat, step.plays()))?;
        match (end, recorded) {
            (OrderEnd::Carried { .. }, Some(Execution::Refused(_))) => {
                let reason = format!("the desk refuses the order of {seat}, but the game accepts it");
                Err(Fault::at(at, reason))
            }
            (OrderEnd::Carried { count, played }, execution) => {
                if execution.is_none() && entries.next().is_none() {
                    return Err(Fault(None));
                }
                entries.take(&played, key)?;
                if let Some(Execution::Carried(recorded)) = execution
                    && usize::from(*recorded) != count
                {
                    let reason = format!(
                        "the desk records {recorded} played commands of the order of {seat}, but there are {count}"
                    );
                    return Err(Fault::at(at, reason));
                }
                Ok(true)
            }
            (OrderEnd::Refused(rejected), Some(Execution::Refused(code)))
                if code == rejected.code.as_str() =>
            {
                Ok(false)
            }
            (OrderEnd::Refused(rejected), Some(Execution::Refused(_))) => {
                Err(Fault::at(at, format!("the game refuses the order of {seat} as `{}`", rejected.code)))
            }
            (OrderEnd::Refused(rejected), Some(Execution::Carried(_))) => {
                let why = format!("the game rejects the order of {seat} as `{}`", rejected.code);
                match entries.next() {
                    Some(entry) if entry.seat == seat => Err(entries.unexpected(entry, None, &why)),
                    _ => Err(Fault::at(at, why)),
                }
            }
            (OrderEnd::Refused(_), None) => Err(Fault(None)),
        }
    }

    fn check_position(
        &mut self,
        segment: &TurnSegment<'_>,
        position: &TurnRecord,
        plan: &TurnPlan,
        end: &TurnEnd,
        game: &dyn AnyState,
    ) -> Result<(), String> {
        let setup = self.setup;
        if segment.link != Some(position.link) {
            return Err("the position has another link than the game at its entry".into());
        }
        if position.state.is_some_and(|state| state != game.state_hash()) {
            return Err("the position has another state hash than the game at its entry".into());
        }
        // PM-13: the position has a state hash once nothing of the state is concealed.
        let is_open = setup.secret != Secret::Match && self.is_shown(segment, position, game);
        match (is_open, position.state.is_some()) {
            (true, false) => return Err("the position has no state hash, but nothing is concealed".into()),
            (false, true) => return Err("the position has a state hash, but something is concealed".into()),
            _ => {}
        }
        // PM-14: the position must ask the seats that the game asks.
        let from = if plan.is_takeback {
            let (branch, seq) = &plan.from;
            self.rounds.iter().find(|(on, at, _)| on == branch && at == seq)
        } else {
            self.rounds.last()
        };
        let from = from.map(|(.., round)| round);
        let expected = Round::after(from, &plan.living, plan.is_takeback, end, setup.together, game);
        if expected.seats != position.seats {
            let expected = names(&expected.seats);
            let found = names(&position.seats);
            return Err(format!("the position asks {found}; expected {expected}"));
        }
        self.rounds.push((position.branch.clone(), position.game_seq, expected));
        Ok(())
    }

    fn is_shown(&mut self, segment: &TurnSegment<'_>, position: &TurnRecord, game: &dyn AnyState) -> bool {
        let mut from = 0;
        let mut state = segment.beginning;
        if let Some((branch, seq, shown)) = &self.shown
            && *branch == position.branch
            && *seq <= position.game_seq
        {
            from = *seq;
            state = shown.as_ref();
        }
        let log = LogEntry::stored(segment.whole.between(from, position.game_seq).iter().copied());
        let is_shown = is_shown_to_all(state, &log, &DicePolicy::Recorded) == Ok(true);
        if is_shown {
            self.shown = Some((position.branch.clone(), position.game_seq, game.fork()));
        } else if from == 0 {
            self.shown = None;
        }
        is_shown
    }
}

/// Returns dice with the values that the log records. A wrong value shows when the entries are compared.
fn recorded_dice(
    segment: &TurnSegment<'_>,
) -> impl FnMut(&DueRoll) -> Result<Vec<i32>, ReplayError> + 'static {
    let mut rolls: VecDeque<Vec<i32>> = VecDeque::new();
    for entry in segment.entries {
        let command = segment.rules.command_text(&entry.command).unwrap_or_default();
        if ScriptCommand::is_roll(&command) {
            rolls.push_back(command.split(' ').skip(1).map_while(|value| value.parse().ok()).collect());
        }
    }
    let mut others = 0;
    move |due| {
        if let Some(values) = rolls.pop_front()
            && due.accepts(&values)
        {
            return Ok(values);
        }
        // The values differ each time, because the game may ask again until it accepts them.
        others += 1;
        let mut dice = DiceStream::new(&[0; 32], others);
        Ok((0..due.count).map(|_| dice.draw(due.low, due.high)).collect())
    }
}

struct WalkedEntries<'a> {
    segment: &'a TurnSegment<'a>,
    next: usize,
    desk: &'a Revision,
    authors: &'a mut Authors,
}

impl WalkedEntries<'_> {
    /// Makes a fault of an error, such as rolls without an end. The place is in the log, because its rolls were used.
    fn played<T>(&self, played: Result<T, ReplayError>) -> Result<T, Fault> {
        played.map_err(|error| {
            let first = self.segment.turn.from.1.saturating_add(1);
            Fault::at(self.segment.at.at(first), error.to_string())
        })
    }

    fn next(&self) -> Option<&Entry> {
        self.segment.entries.get(self.next).copied()
    }

    fn take(&mut self, expected: &[Record], key: &TurnKey) -> Result<(), Fault> {
        for record in expected {
            let Some(entry) = self.segment.entries.get(self.next).copied() else {
                return Err(self.missing(record));
            };
            if record.seat != Some(entry.seat) || record.command_bytes != entry.command {
                return Err(self.unexpected(entry, Some(record), ""));
            }
            let found = entry.idempotency_key.as_ref().map(IdempotencyKey::as_str);
            // PM-2: an entry's key names its cause.
            if !found.is_some_and(|found| key.is(found)) {
                let found = found.map_or_else(|| "none".into(), |found| format!("`{found}`"));
                let reason = format!("expected the key `{key}`, found {found}");
                return Err(Fault::at(self.segment.at.at(entry.seq), reason));
            }
            self.authors.count(entry, key);
            self.next += 1;
        }
        Ok(())
    }

    fn end(&self) -> Result<(), Fault> {
        let Some(entry) = self.next() else { return Ok(()) };
        Err(self.unexpected(entry, None, ""))
    }

    fn missing(&self, record: &Record) -> Fault {
        match (&self.segment.turn.end, self.segment.end) {
            (Some(position), SegmentEnd::Position) => {
                let reason = format!("the position leaves out `{}`", given(record));
                Fault::at(self.desk.at(position.seq), reason)
            }
            (Some(position), SegmentEnd::Short) => self.short(position),
            _ => Fault(None),
        }
    }

    fn short(&self, position: &TurnRecord) -> Fault {
        let head = self.segment.turn.from.1.saturating_add(self.segment.entries.len() as u64);
        let reason = format!(
            "the position is at entry {} of `{}`, which ends at {head}",
            position.game_seq, position.branch
        );
        Fault::at(self.desk.at(position.seq), reason)
    }

    fn unexpected(&self, entry: &Entry, expected: Option<&Record>, why: &str) -> Fault {
        let expected = match expected {
            Some(record) => format!("; expected `{}`", given(record)),
            None if why.is_empty() => String::new(),
            None => format!("; {why}"),
        };
        let reason = match entry.seat {
            Seat::Host => {
                let command = self.segment.rules.command_text(&entry.command).unwrap_or_default();
                format!("unexpected host command `{command}`{expected}")
            }
            seat => format!("no paper by {seat}{expected}"),
        };
        Fault::at(self.segment.at.at(entry.seq), reason)
    }
}

fn given(record: &Record) -> String {
    match record.seat {
        Some(seat) => format!("{seat} {}", record.command),
        None => record.command.clone(),
    }
}

fn names(seats: &[Seat]) -> String {
    if seats.is_empty() { "no one".into() } else { seat_names(seats, ", ") }
}
