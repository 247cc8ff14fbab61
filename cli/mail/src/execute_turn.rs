//! `mail run`: the clock, and the execution of a ready turn. Each step is one append to the game, then one to the desk
//! (PM-13, PM-27, FD-10).

use std::cell::RefCell;

use turnfold_core::paper::DeskTime;
use turnfold_core::rules::desk::{Command, PlayCount, RefusalCode};
use turnfold_core::{Digest, Seat};
use turnfold_history::session::is_roll;
use turnfold_history::{HistorySource, Record};
use turnfold_store::{BranchInfo, BranchName, NewEntries, PackedEntries, Seq, StoreError};

use super::desk_turn::{SeatStep, TurnPlan};
use super::game_turn::{GameTurn, OrderEnd, PlayedBetween, PlayedRules};
use super::host::{MailHost, PlayedStep, RunReport};
use super::host_dice::{FairTurn, TableDice, TurnDice};
use super::pairing::TurnKey;
use super::turn_position::{self, TurnEnd, TurnEntries};
use crate::error::MailError;

/// The most turns that a run executes.
const TURNS_MAX: usize = 50;

impl MailHost<'_> {
    /// Does everything that is due at this time: lets the deadline pass, executes a turn that is ready, and begins the
    /// next. It is idempotent and completes an interrupted run. Values of recorded dice come from `table`.
    ///
    /// # Errors
    /// [`MailError::Refused`] if the game differs from the desk's records, and errors of the dice, the store or a log.
    pub fn run(&mut self, at: DeskTime, table: &mut TableDice<'_>) -> Result<RunReport, MailError> {
        let mut report = RunReport::default();
        let state = self.desk.state();
        let has_come = !self.is_letter_unsent
            && state.is_open()
            && state.deadline().is_some_and(|deadline| at >= deadline);
        // PM-12: papers after this clock are late, so the clock is set only once the deadline has come.
        if has_come && state.clock().is_none_or(|clock| at > clock) {
            report.effects.extend(self.decide(vec![Command::Clock(at)])?);
        }
        // PM-40: remind the seats that the match waits for.
        let reminder = self.desk.state().reminders_due(at).next();
        if let Some(hours) = reminder {
            let is_later = self.desk.state().clock().is_none_or(|clock| at > clock);
            let clock = is_later.then_some(Command::Clock(at));
            report.effects.extend(self.decide(clock.into_iter().chain([Command::Remind(hours)]).collect())?);
        }
        // PM-42: orders ahead can make the next turn ready as well.
        for _ in 0..TURNS_MAX {
            let Some(plan) = self.desk.plan().cloned() else { break };
            execute(self, &plan, at, table, &mut report)?;
        }
        Ok(report)
    }
}

/// Executes a turn and begins the next.
fn execute(
    host: &mut MailHost<'_>,
    plan: &TurnPlan,
    at: DeskTime,
    table: &mut TableDice<'_>,
    report: &mut RunReport,
) -> Result<(), MailError> {
    let dice = match plan.last_roll {
        Some(_) => TurnDice::Fair(FairTurn::new(host.game.genesis.match_id, host.key, plan)),
        None => TurnDice::Table(table),
    };
    let dice = RefCell::new(dice);
    let branch = branch_of(host, plan)?;
    turn_position::require_known(host, plan)?;
    let revision = host.game.revision(&branch).at(plan.from.1);
    let store = host.store;
    let source = HistorySource::of_branch(&revision, store, host.registry, None)?;
    let module = source.history.rules.module();
    let game = GameTurn::new(source.state(None)?, plan.from.1, Box::new(|due| dice.borrow_mut().roll(due)));
    let mut execution = TurnExecution { host, plan, branch, dice: &dice, game, module, rolls: 0, report };
    // (3)
    let mut played = Vec::new();
    for step in &plan.steps {
        if execution.seat(step)? {
            played.push(step.seat);
        }
    }
    let ends_round = execution.between()?;
    let TurnExecution { host, branch, game, report, .. } = execution;
    let end = TurnEnd { played, ends_round };
    let commands = turn_position::next_position(host, plan, &branch, &game, &end, at)?;
    report.effects.extend(host.decide(commands)?);
    Ok(())
}

/// A turn while it is executed.
struct TurnExecution<'h, 's, 'd, 't, 'u> {
    host: &'h mut MailHost<'s>,
    plan: &'h TurnPlan,
    branch: BranchName,
    dice: &'d RefCell<TurnDice<'t, 'u>>,
    game: GameTurn<'d>,
    /// The module that plays the game, if one does.
    module: Option<Digest>,
    /// How many rolls the turn has had.
    rolls: u32,
    report: &'h mut RunReport,
}

impl TurnExecution<'_, '_, '_, '_, '_> {
    /// Executes the step of a seat: its order, then `default` (PM-80). Returns `true` if a command was played.
    fn seat(&mut self, step: &SeatStep) -> Result<bool, MailError> {
        let has_ordered = if let Some(digest) = step.order { self.order(step, digest)? } else { false };
        let has_default = self.plan.has_default(step) && self.default(step.seat)?;
        Ok(has_ordered || has_default)
    }

    /// Plays `default` for a seat that the game still waits for. Returns `true` if a command was played.
    fn default(&mut self, seat: Seat) -> Result<bool, MailError> {
        let key = self.plan.default_key(seat);
        let played = if let Some(done) = self.done(&key)? {
            self.pass(&done)?
        } else {
            let played = self.game.default(seat, PlayedRules::of(&self.host.game.terms))?;
            // An interrupted run may have played for later seats already, and `append` requires the head.
            if played.is_empty() {
                return Ok(false);
            }
            self.append(&key, &played)?
        };
        self.record(&played, None)?;
        Ok(!played.is_empty())
    }

    fn order(&mut self, step: &SeatStep, digest: Digest) -> Result<bool, MailError> {
        let key = self.plan.key_of(step);
        let done = self.done(&key)?;
        let is_due = self.host.desk.state().orders_due().iter().any(|(_, due)| *due == digest);
        let (played, end) = match done {
            Some(done) => {
                let played = self.pass(&done)?;
                let count = played.iter().filter(|entry| !entry.is_roll).count();
                (played, Command::Carried { digest, count: play_count(count)? })
            }
            // An interrupted run recorded the refusal.
            None if !is_due => return Ok(false),
            None => match self.game.order(step.seat, step.plays())? {
                OrderEnd::Carried { count, played } => {
                    let played = self.append(&key, &played)?;
                    (played, Command::Carried { digest, count: play_count(count)? })
                }
                OrderEnd::Refused(rejected) => {
                    let code =
                        RefusalCode::try_from(rejected.code.to_string()).map_err(MailError::not_by_mail)?;
                    (Vec::new(), Command::Refused { digest, code })
                }
            },
        };
        self.record(&played, Some(end).filter(|_| is_due))?;
        Ok(!played.is_empty())
    }

    /// Makes a roll that is due already, then plays what comes after the orders. Such a roll is due only before the
    /// first position, where there are no orders, so both are one append. Returns `true` if a round has ended.
    fn between(&mut self) -> Result<bool, MailError> {
        let plan = self.plan;
        let key = self.plan.host_key();
        let (played, ends_round) = if let Some(done) = self.done(&key)? {
            let ends_round = done.ends_round(&*self.host.game.rules)?;
            (self.pass(&done)?, ends_round)
        } else {
            // (2)
            let mut own = self.game.roll_due()?;
            // (4)
            let rules = PlayedRules::of(&self.host.game.terms);
            let had_orders = !plan.steps.is_empty();
            let PlayedBetween { played, ends_round } =
                self.game.between(&plan.living, &plan.gone, had_orders, rules)?;
            own.extend(played);
            (self.append(&key, &own)?, ends_round)
        };
        self.record(&played, None)?;
        Ok(ends_round)
    }

    /// Finds a step that the game already has, which must come next there. So no roll is made twice after an
    /// interrupted run (FD-12).
    fn done(&self, key: &TurnKey) -> Result<Option<TurnEntries>, MailError> {
        let Some(step) = TurnEntries::find(self.host, &self.branch, key)? else { return Ok(None) };
        if step.0.first().map(|entry| entry.seq) != Some(self.game.head() + 1) {
            return Err(self.unknown_entry());
        }
        Ok(Some(step))
    }

    /// Folds a step that the game already has.
    fn pass(&mut self, step: &TurnEntries) -> Result<Vec<PlayedEntry>, MailError> {
        self.game.take(&step.0)?;
        let mut played = Vec::new();
        for (entry, command) in step.0.iter().zip(step.commands(&*self.host.game.rules)?) {
            let is_roll = is_roll(&command);
            if is_roll {
                let values: Vec<i32> = command.split(' ').filter_map(|word| word.parse().ok()).collect();
                self.dice.borrow_mut().pass(&values)?;
            }
            played.push(PlayedEntry { seq: entry.seq, is_roll });
        }
        Ok(played)
    }

    /// Appends a step to the game.
    fn append(&mut self, key: &TurnKey, records: &[Record]) -> Result<Vec<PlayedEntry>, MailError> {
        let name = &self.host.game.name;
        let store = self.host.store;
        let last = self.game.head();
        let before = last.saturating_sub(records.len() as u64);
        if store.head(name, &self.branch)? != before {
            return Err(self.unknown_entry());
        }
        if records.is_empty() {
            return Ok(Vec::new());
        }
        let recorded_at_ms = self.host.recorded_at_ms;
        let entries: PackedEntries =
            records.iter().filter_map(|record| record.to_store(recorded_at_ms)).collect();
        let key = if self.dice.borrow_mut().had_owned() {
            TurnEntries::key_with_nonce(self.host, &self.branch, key)
        } else {
            key.to_string()
        };
        let key = key.parse().map_err(MailError::not_by_mail)?;
        let entries = NewEntries { entries, module: self.module };
        store.append(name, &self.branch, before, entries, Some(&key))?;
        self.report.played.push(PlayedStep { branch: self.branch.clone(), first: before + 1, last });
        let played = (before + 1..).zip(records);
        Ok(played.map(|(seq, record)| PlayedEntry { seq, is_roll: is_roll(&record.command) }).collect())
    }

    /// Records what the desk does not have yet: the rolls of a step (FD-10), and the result of an order.
    fn record(&mut self, played: &[PlayedEntry], end: Option<Command>) -> Result<(), MailError> {
        let mut commands = Vec::new();
        for roll in played.iter().filter(|entry| entry.is_roll) {
            self.rolls += 1;
            let Some(last) = self.plan.last_roll else { continue };
            let number = u32::from(last) + self.rolls;
            let index = u16::try_from(number).map_err(MailError::not_by_mail)?;
            let is_recorded = self.host.desk.state().last_roll() >= Some(index);
            if let Some(element) = self.dice.borrow_mut().element(index).filter(|_| !is_recorded) {
                commands.push(Command::Rolled {
                    number,
                    element,
                    branch: self.branch.clone(),
                    seq: roll.seq,
                });
            }
        }
        commands.extend(end);
        self.report.effects.extend(self.host.decide(commands)?);
        Ok(())
    }

    fn unknown_entry(&self) -> MailError {
        let at = self.host.game.revision(&self.branch).at(self.game.head() + 1);
        MailError::Refused(format!(
            "`{at}` does not follow from the desk: another program played on this branch"
        ))
    }
}

struct PlayedEntry {
    seq: Seq,
    is_roll: bool,
}

fn play_count(count: usize) -> Result<PlayCount, MailError> {
    u16::try_from(count).map_err(MailError::not_by_mail)?.try_into().map_err(MailError::not_by_mail)
}

/// Returns the branch of the game on which a turn is executed. After an agreed takeback that is a new branch, which is
/// created unless an interrupted run has done so (PM-27).
fn branch_of(host: &MailHost<'_>, plan: &TurnPlan) -> Result<BranchName, MailError> {
    let (from, seq) = &plan.from;
    if !plan.is_takeback {
        return Ok(from.clone());
    }
    let store = host.store;
    let name = &host.game.name;
    let branches = store.branches(name)?;
    for number in 1_u64.. {
        let branch: BranchName = format!("takeback-{number}").parse().map_err(MailError::not_by_mail)?;
        match branches.iter().find(|info| info.name == branch) {
            Some(info) if is_unfinished(host, plan, info)? => return Ok(branch),
            Some(_) => {}
            None => match store.create_branch(name, &branch, from, *seq) {
                Err(StoreError::BranchExists { .. }) => {}
                made => return Ok(made.map(|()| branch)?),
            },
        }
    }
    Err(MailError::not_by_mail("every name of a takeback is taken"))
}

/// Returns `true` for a branch that an interrupted run left: it begins where this takeback does, no position names it,
/// and it only has entries of this turn.
fn is_unfinished(host: &MailHost<'_>, plan: &TurnPlan, info: &BranchInfo) -> Result<bool, MailError> {
    let is_named = host.desk.positions().any(|position| position.branch == info.name);
    if is_named || info.parent.as_ref() != Some(&plan.from) {
        return Ok(false);
    }
    let store = host.store;
    let name = &host.game.name;
    let key = plan.host_key();
    for entry in store.entries(name, &info.name, plan.from.1 + 1..=info.head)? {
        if entry?.idempotency_key.is_none_or(|found| !key.is(found.as_str())) {
            return Ok(false);
        }
    }
    Ok(true)
}
