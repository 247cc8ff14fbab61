//! A ready turn carried out: each step one append to the game, then what the desk says of it (PM-13, PM-27, FD-10).

use std::cell::RefCell;

use turnfold_core::paper::{DeskTime, LineName};
use turnfold_core::rules::desk::{Command, PlayCount, RefusalCode};
use turnfold_store::{BranchName, NewEntry, Seq};

use super::error::MailError;
use super::host::MailHost;
use super::host_dice::{FairTurn, TableDice, TurnDice};
use super::keys::TurnKey;
use super::run_report::{PlayedStep, RunReport};
use super::steps::{SeatStep, TurnPlan};
use super::takeback::line_of;
use super::turn::{GameTurn, OrderEnd, PlayedBetween};
use super::turn_entries::{TurnEntry, step_of};
use super::turn_position;
use crate::position::{Position, Tail};
use crate::record::Record;
use crate::session::is_roll;

/// Carries out a turn and begins the next.
pub(super) fn carry_out(
    host: &mut MailHost<'_>,
    plan: &TurnPlan,
    at: DeskTime,
    table: &mut TableDice<'_>,
    report: &mut RunReport,
) -> Result<(), MailError> {
    let dice = match plan.last_roll {
        Some(_) => TurnDice::Fair(FairTurn::new(host.of.genesis.match_id, host.key, plan)),
        None => TurnDice::Table(table),
    };
    let dice = RefCell::new(dice);
    let branch = line_of(host, plan)?;
    turn_position::require_known(host, plan)?;
    let revision = host.of.line(&branch).at(plan.from.1);
    let (none, store) = (Tail::last(0), host.store);
    let state = Position::before_entries_of(none, &revision, host.registry, store, None, None)?.state;
    let game = GameTurn::new(state, plan.from.1, Box::new(|due| dice.borrow_mut().roll(due)));
    let line: LineName = branch.as_str().parse().map_err(MailError::broken)?;
    let mut carrying = Carrying { host, plan, branch, line, dice: &dice, game, rolls: 0, report };
    // (3)
    let mut played = Vec::new();
    for step in &plan.steps {
        if carrying.seat(step)? {
            played.push(step.seat);
        }
    }
    let ends_round = carrying.between()?;
    let Carrying { host, line, game, report, .. } = carrying;
    let commands = turn_position::stand(host, plan, (&line, game), (&played, ends_round), at)?;
    report.effects.extend(host.decide(commands)?);
    Ok(())
}

/// A turn on its way.
struct Carrying<'h, 's, 'd, 't, 'u> {
    host: &'h mut MailHost<'s>,
    plan: &'h TurnPlan,
    branch: BranchName,
    line: LineName,
    dice: &'d RefCell<TurnDice<'t, 'u>>,
    game: GameTurn<'d>,
    /// How many rolls the turn had.
    rolls: u32,
    report: &'h mut RunReport,
}

impl Carrying<'_, '_, '_, '_, '_> {
    /// Carries out what a seat does; returns `true` if something of it was played.
    fn seat(&mut self, step: &SeatStep) -> Result<bool, MailError> {
        let key = self.plan.key_of(step);
        let done = self.done(&key)?;
        let Some(digest) = step.order else {
            let played = if let Some(done) = done {
                self.pass(&done)?
            } else {
                let played = self.game.default(step.seat, &self.host.of.terms.default)?;
                self.append(&key, &played)?
            };
            self.tell(&played, None)?;
            return Ok(!played.is_empty());
        };
        let is_due = self.host.desk.state().orders_due().iter().any(|(_, due)| *due == digest);
        let (played, end) = match done {
            Some(done) => {
                let played = self.pass(&done)?;
                let count = played.iter().filter(|entry| !entry.is_roll).count();
                (played, Command::Carried { digest, count: play_count(count)? })
            }
            // It was refused before the run was killed.
            None if !is_due => return Ok(false),
            None => match self.game.order(step.seat, step.plays())? {
                OrderEnd::Carried { count, played } => {
                    let played = self.append(&key, &played)?;
                    (played, Command::Carried { digest, count: play_count(count)? })
                }
                OrderEnd::Refused(rejected) => {
                    let code = RefusalCode::try_from(rejected.code.to_owned()).map_err(MailError::broken)?;
                    (Vec::new(), Command::Refused { digest, code })
                }
            },
        };
        self.tell(&played, Some(end).filter(|_| is_due))?;
        Ok(!played.is_empty())
    }

    /// Plays what comes after the orders, and before that a roll that is due already: that is so before the first stand
    /// only, where there are no orders, so both are one append. Returns `true` if a round has ended.
    fn between(&mut self) -> Result<bool, MailError> {
        let (plan, key) = (self.plan, self.plan.host_key());
        let (played, ends_round) = if let Some(done) = self.done(&key)? {
            let ends_round = done.ends_round(self.host.of.rules)?;
            (self.pass(&done)?, ends_round)
        } else {
            // (2)
            let mut own = self.game.roll_due()?;
            // (4)
            let terms = &self.host.of.terms;
            let commands = (terms.default.as_slice(), terms.between.as_slice());
            let PlayedBetween { played, ends_round } =
                self.game.between((&plan.living, &plan.gone), commands)?;
            own.extend(played);
            (self.append(&key, &own)?, ends_round)
        };
        self.tell(&played, None)?;
        Ok(ends_round)
    }

    /// Finds a step that the game has already; it must be the next one there. So a run after a killed one makes no roll a
    /// second time (FD-12).
    fn done(&self, key: &TurnKey) -> Result<Option<TurnEntry>, MailError> {
        let name = &self.host.of.name;
        let Some(step) = step_of(self.host.store, name, &self.branch, key)? else { return Ok(None) };
        if step.first() != Some(self.game.head() + 1) {
            return Err(self.unknown_entry());
        }
        Ok(Some(step))
    }

    /// Takes a step that the game has.
    fn pass(&mut self, step: &TurnEntry) -> Result<Vec<PlayedEntry>, MailError> {
        self.game.take(step.entries())?;
        let rules = self.host.of.rules;
        let mut played = Vec::new();
        for (seq, command) in step.commands(rules)? {
            let is_roll = is_roll(&command);
            if is_roll {
                let values: Vec<i32> = command.split(' ').filter_map(|word| word.parse().ok()).collect();
                self.dice.borrow_mut().pass(&values)?;
            }
            played.push(PlayedEntry { seq, is_roll });
        }
        Ok(played)
    }

    /// Appends a step to the game.
    fn append(&mut self, key: &TurnKey, records: &[Record]) -> Result<Vec<PlayedEntry>, MailError> {
        let (name, store) = (&self.host.of.name, self.host.store);
        let last = self.game.head();
        let before = last.saturating_sub(records.len() as u64);
        if store.head(name, &self.branch)? != before {
            return Err(self.unknown_entry());
        }
        if records.is_empty() {
            return Ok(Vec::new());
        }
        let recorded_at_ms = self.host.recorded_at_ms;
        let entries: Vec<NewEntry> =
            records.iter().filter_map(|record| record.to_store(recorded_at_ms)).collect();
        let key = key.to_string().parse().map_err(MailError::broken)?;
        store.append(name, &self.branch, before, entries, Some(&key))?;
        self.report.played.push(PlayedStep { line: self.line.clone(), first: before + 1, last });
        let played = (before + 1..).zip(records);
        Ok(played.map(|(seq, record)| PlayedEntry { seq, is_roll: is_roll(&record.command) }).collect())
    }

    /// Records at the desk what it does not have yet: the rolls of a step (FD-10), and the result of an order.
    fn tell(&mut self, played: &[PlayedEntry], end: Option<Command>) -> Result<(), MailError> {
        let mut commands = Vec::new();
        for roll in played.iter().filter(|entry| entry.is_roll) {
            self.rolls += 1;
            let Some(last) = self.plan.last_roll else { continue };
            let number = u32::from(last) + self.rolls;
            let index = u16::try_from(number).map_err(MailError::broken)?;
            let is_told = self.host.desk.state().last_roll() >= Some(index);
            if let Some(element) = self.dice.borrow_mut().element(index).filter(|_| !is_told) {
                commands.push(Command::Rolled { number, element, line: self.line.clone(), seq: roll.seq });
            }
        }
        commands.extend(end);
        self.report.effects.extend(self.host.decide(commands)?);
        Ok(())
    }

    fn unknown_entry(&self) -> MailError {
        let at = self.host.of.line(&self.branch).at(self.game.head() + 1);
        MailError::Refused(format!(
            "`{at}` is not what the desk requires there: another program played on this line"
        ))
    }
}

/// An entry of a step.
struct PlayedEntry {
    seq: Seq,
    is_roll: bool,
}

fn play_count(count: usize) -> Result<PlayCount, MailError> {
    u16::try_from(count).map_err(MailError::broken)?.try_into().map_err(MailError::broken)
}
