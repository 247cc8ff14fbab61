//! Who gave which command: every entry of the game is walked again from the papers of its desk (PM-2, PM-32).

use std::collections::VecDeque;

use turnfold_core::dice::DiceStream;
use turnfold_core::rules::desk::Setup;
use turnfold_core::{Digest, DueRoll, Seat};
use turnfold_store::{Entry, IdempotencyKey};

use super::rows::{Authors, MailRows};
use super::segment::{Segment, SegmentEnd};
use super::stands::{Stands, TurnResult};
use super::turns::Settlement;
use crate::error::ReplayError;
use crate::mail::{GameTurn, OrderEnd, SeatStep, TurnKey, TurnPlan, TurnRecord};
use crate::record::Record;
use crate::revision::Revision;
use crate::session::is_roll;

/// The authorship of one match.
pub(super) struct Authorship<'a> {
    setup: &'a Setup,
    /// The line of the desk.
    desk: &'a Revision,
    stands: Stands,
    /// Something is wrong, or nothing more can be checked.
    has_ended: bool,
    has_failed: bool,
}

/// What is wrong, and where. Without words nothing is: there is only nothing more to walk.
struct Fault(Option<(Revision, String)>);

impl Fault {
    fn at(at: Revision, reason: impl Into<String>) -> Self {
        Self(Some((at, reason.into())))
    }
}

impl<'a> Authorship<'a> {
    pub(super) fn of(setup: &'a Setup, desk: &'a Revision) -> Self {
        Self { setup, desk, stands: Stands::default(), has_ended: false, has_failed: false }
    }

    /// Requires the entries of a turn to be those that follow from the desk.
    pub(super) fn check(&mut self, segment: &Segment<'_>, rows: &mut MailRows) {
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

    /// Requires the lines that were played to end where they were played to: line, last entry of a turn, last entry.
    pub(super) fn finish(&self, lines: &[(Revision, u64, u64)], rows: &mut MailRows) {
        if self.has_failed {
            return;
        }
        for (at, to, _) in lines.iter().filter(|(_, to, head)| head > to) {
            let reason = "the entry is behind the last stand of its line";
            rows.authorship.fail(Some(at.at(to.saturating_add(1))), reason);
        }
    }

    fn walk(&mut self, segment: &Segment<'_>, authors: &mut Authors) -> Result<(), Fault> {
        let turn = segment.turn;
        let mut entries = Entries { segment, next: 0, desk: self.desk, authors };
        let Some(plan) = &turn.plan else { return entries.end("") };
        if turn.is_takeback && !segment.begins_there {
            let (line, seq) = &turn.from;
            let reason = format!("the line does not begin at entry {seq} of `{line}`, as was agreed");
            return Err(Fault::at(segment.at.clone(), reason));
        }
        let mut game = GameTurn::new(segment.start.fork(), turn.from.1, Box::new(recorded_dice(segment)));
        let host = plan.host_key();
        let Setup { default, between, .. } = self.setup;
        let mut played = Vec::new();
        if !turn.is_takeback {
            entries.take(&entries.played(game.roll_due())?, &host)?;
            for step in &plan.steps {
                let key = plan.key_of(step);
                let has_played = if let Some(digest) = &step.order {
                    self.order((step, digest), &key, &mut game, &mut entries)?
                } else {
                    let default = entries.played(game.default(step.seat, default))?;
                    entries.take(&default, &key)?;
                    !default.is_empty()
                };
                played.extend(has_played.then_some(step.seat));
            }
        }
        let TurnPlan { living, gone, .. } = plan;
        let between = entries.played(game.between((living, gone), (default, between)))?;
        entries.take(&between.played, &host)?;
        entries.end("")?;
        let Some(stand) = &turn.stand else { return Ok(()) };
        match segment.end {
            SegmentEnd::Short => return Err(entries.short(stand)),
            SegmentEnd::Stand => {}
            _ => return Ok(()),
        }
        let ends_round = between.ends_round;
        let result = TurnResult { game: game.state(), living, played: &played, ends_round };
        let checked = self.stands.check(segment, stand, &result, self.setup);
        checked.map_err(|reason| Fault::at(self.desk.at(stand.seq), reason))
    }

    /// PM-19: an order is carried out as far as the game takes it, or refused for the reason that the game gives. Returns
    /// `true` if it was carried out.
    fn order(
        &self,
        (step, digest): (&SeatStep, &Digest),
        key: &TurnKey,
        game: &mut GameTurn<'_>,
        entries: &mut Entries<'_>,
    ) -> Result<bool, Fault> {
        let seat = step.seat;
        let settled = entries.segment.turn.settled.get(digest);
        let fault = |reason: String| {
            let at = settled.map_or_else(|| self.desk.clone(), |(seq, _)| self.desk.at(*seq));
            Fault::at(at, reason)
        };
        let end = entries.played(game.order(seat, step.plays()))?;
        match (end, settled.map(|(_, settlement)| settlement)) {
            (OrderEnd::Carried { .. }, Some(Settlement::Refused(_))) => {
                Err(fault(format!("the order of {seat} is refused, and the game accepts it")))
            }
            (OrderEnd::Carried { count, played }, settlement) => {
                if settlement.is_none() && entries.next().is_none() {
                    return Err(Fault(None));
                }
                entries.take(&played, key)?;
                match settlement {
                    Some(Settlement::Carried(said)) if usize::from(*said) != count => Err(fault(format!(
                        "the desk says that {said} commands of the order of {seat} were played; there are {count}"
                    ))),
                    _ => Ok(true),
                }
            }
            (OrderEnd::Refused(rejected), Some(Settlement::Refused(code))) if *code == rejected.code => {
                Ok(false)
            }
            (OrderEnd::Refused(rejected), Some(Settlement::Refused(_))) => {
                Err(fault(format!("the game refuses the order of {seat} as `{}`", rejected.code)))
            }
            (OrderEnd::Refused(rejected), Some(Settlement::Carried(_))) => {
                let why = format!("the game rejects the order of {seat} as `{}`", rejected.code);
                let next = entries.next().filter(|entry| entry.seat == seat);
                Err(next.map_or_else(|| fault(why.clone()), |entry| entries.unexpected(entry, None, &why)))
            }
            (OrderEnd::Refused(_), None) => Err(Fault(None)),
        }
    }
}

/// Dice that fall as the log has it; where it has something else, comparing entries says so.
fn recorded_dice(segment: &Segment<'_>) -> impl FnMut(&DueRoll) -> Result<Vec<i32>, ReplayError> + 'static {
    let commands = segment.entries.iter().filter_map(|entry| segment.rules.command_text(&entry.command).ok());
    let rolls = commands.filter(|command| is_roll(command)).map(|command| {
        command.split(' ').skip(1).map_while(|value| value.parse().ok()).collect::<Vec<i32>>()
    });
    let mut rolls: VecDeque<Vec<i32>> = rolls.collect();
    let mut others = 0;
    move |due| {
        let values = rolls.pop_front().filter(|values| due.accepts(values));
        // Each time others, lest the game ask for ever.
        let any = || {
            others += 1;
            let mut dice = DiceStream::new(&[0; 32], others);
            (0..due.count).map(|_| dice.draw(due.low, due.high)).collect()
        };
        Ok(values.unwrap_or_else(any))
    }
}

/// The entries of a turn, while they are walked.
struct Entries<'a> {
    segment: &'a Segment<'a>,
    next: usize,
    desk: &'a Revision,
    authors: &'a mut Authors,
}

impl Entries<'_> {
    /// Dice that never end come from the log, so the error has to name the log.
    fn played<T>(&self, played: Result<T, ReplayError>) -> Result<T, Fault> {
        let at = || self.segment.at.at(self.segment.turn.from.1.saturating_add(1));
        played.map_err(|error| Fault::at(at(), error.to_string()))
    }

    fn next(&self) -> Option<&Entry> {
        self.segment.entries.get(self.next).copied()
    }

    /// Requires the next entries to be these, with this key.
    fn take(&mut self, expected: &[Record], key: &TurnKey) -> Result<(), Fault> {
        for record in expected {
            let Some(entry) = self.segment.entries.get(self.next).copied() else {
                return Err(self.missing(record));
            };
            let is_same = record.seat == Some(entry.seat) && record.command_bytes == entry.command;
            if !is_same {
                return Err(self.unexpected(entry, Some(record), ""));
            }
            let found = entry.idempotency_key.as_ref().map(IdempotencyKey::as_str);
            // PM-2
            if found != Some(key.to_string().as_str()) {
                let found = found.map_or_else(|| "none".into(), |found| format!("`{found}`"));
                let reason = format!("expected the key `{key}`, found {found}");
                return Err(Fault::at(self.segment.at.at(entry.seq), reason));
            }
            self.authors.count(entry, key);
            self.next += 1;
        }
        Ok(())
    }

    /// Requires that there are no more.
    fn end(&self, why: &str) -> Result<(), Fault> {
        self.next().map_or(Ok(()), |entry| Err(self.unexpected(entry, None, why)))
    }

    fn missing(&self, record: &Record) -> Fault {
        match (&self.segment.turn.stand, self.segment.end) {
            (Some(stand), SegmentEnd::Stand) => {
                let reason = format!("the stand leaves out `{}`", given(record));
                Fault::at(self.desk.at(stand.seq), reason)
            }
            (Some(stand), SegmentEnd::Short) => self.short(stand),
            _ => Fault(None),
        }
    }

    fn short(&self, stand: &TurnRecord) -> Fault {
        let head = self.segment.turn.from.1.saturating_add(self.segment.entries.len() as u64);
        let reason =
            format!("the stand is at entry {} of `{}`, which ends at {head}", stand.game_seq, stand.line);
        Fault::at(self.desk.at(stand.seq), reason)
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
                format!("`{command}` of the host follows from nothing{expected}")
            }
            seat => format!("no paper by {seat}{expected}"),
        };
        Fault::at(self.segment.at.at(entry.seq), reason)
    }
}

fn given(record: &Record) -> String {
    let seat = record.seat.map(|seat| format!("{seat} ")).unwrap_or_default();
    format!("{seat}{}", record.command)
}
