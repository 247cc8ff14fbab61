//! `mail run`: the clock, and the execution of a ready turn. Each step is one append to the game, then one to the desk
//! (PM-13, PM-27, FD-10).

use std::cell::RefCell;

use turnfold_core::paper::DeskTime;
use turnfold_core::rules::desk::{AskedSeats, Command, PlayCount, RefusalCode, Secret};
use turnfold_core::{AnyRules, AnyState, Digest, Seat};
use turnfold_history::session::ScriptCommand;
use turnfold_history::{History, HistorySource, LogEntry, Record, ReplayError};
use turnfold_store::{BranchInfo, BranchName, Entry, NewEntries, PackedEntries, Seq, StoreError};

use super::desk_history::{DeskTurn, SeatStep, TurnPlan, TurnRecord};
use super::game_turn::{GameTurn, OrderEnd, PlayedRules, is_shown_to_all};
use super::host::{MailHost, PlayedStep, RunReport};
use super::host_dice::{FairTurn, TableDice, TurnDice};
use super::letter_words::seat_names;
use super::pairing::TurnKey;
use crate::error::MailError;

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
        if has_come && Some(at) > state.clock() {
            report.effects.extend(self.decide(vec![Command::Clock(at)])?);
        }
        // PM-40: remind the seats that the match waits for.
        let reminder = self.desk.state().reminders_due(at).next();
        if let Some(hours) = reminder {
            let mut commands = Vec::new();
            if Some(at) > self.desk.state().clock() {
                commands.push(Command::Clock(at));
            }
            commands.push(Command::Remind(hours));
            report.effects.extend(self.decide(commands)?);
        }
        // PM-42: orders ahead can make the next turn ready as well.
        for _ in 0..TURNS_MAX {
            let Some(plan) = self.desk.plan().cloned() else { break };
            execute(self, &plan, at, table, &mut report)?;
        }
        Ok(report)
    }
}

fn execute(
    host: &mut MailHost<'_>,
    plan: &TurnPlan,
    at: DeskTime,
    table: &mut TableDice<'_>,
    report: &mut RunReport,
) -> Result<(), MailError> {
    let match_id = host.game.genesis.match_id;
    let fair = plan.last_roll.map(|last| FairTurn::new(match_id, host.key, &plan.contributions, last));
    let dice = RefCell::new(TurnDice { table, fair });
    let branch = branch_of(host, plan)?;
    require_known(host, plan)?;
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
    let commands = next_position(host, plan, &branch, &game, &end, at)?;
    report.effects.extend(host.decide(commands)?);
    Ok(())
}

struct TurnExecution<'h, 's, 'd, 't, 'u> {
    host: &'h mut MailHost<'s>,
    plan: &'h TurnPlan,
    branch: BranchName,
    dice: &'d RefCell<TurnDice<'t, 'u>>,
    game: GameTurn<'d>,
    module: Option<Digest>,
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

    fn default(&mut self, seat: Seat) -> Result<bool, MailError> {
        let key = self.plan.default_key(seat);
        let played = if let Some(done) = self.done(&key)? {
            self.pass(&done)?
        } else {
            let records = self.game.default(seat, PlayedRules::of(&self.host.game.terms))?;
            // An interrupted run may have played for later seats already, and `append` requires the head.
            if records.is_empty() {
                return Ok(false);
            }
            self.append(&key, &records)?
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
        self.record(&played, if is_due { Some(end) } else { None })?;
        Ok(!played.is_empty())
    }

    /// Makes a roll that is due already, then plays what comes after the orders. Such a roll is due only before the
    /// first position, where there are no orders, so both are one append. Returns `true` if a round has ended.
    fn between(&mut self) -> Result<bool, MailError> {
        let plan = self.plan;
        let key = self.plan.host_key();
        if let Some(done) = self.done(&key)? {
            let ends_round = done.ends_round(&*self.host.game.rules)?;
            let played = self.pass(&done)?;
            self.record(&played, None)?;
            return Ok(ends_round);
        }
        // (2)
        let mut records = self.game.roll_due()?;
        // (4)
        let rules = PlayedRules::of(&self.host.game.terms);
        let between = self.game.between(&plan.living, &plan.gone, !plan.steps.is_empty(), rules)?;
        records.extend(between.played);
        let played = self.append(&key, &records)?;
        self.record(&played, None)?;
        Ok(between.ends_round)
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

    fn pass(&mut self, step: &TurnEntries) -> Result<Vec<PlayedEntry>, MailError> {
        self.game.take(&step.0)?;
        let mut played = Vec::new();
        for (entry, command) in step.0.iter().zip(step.commands(&*self.host.game.rules)?) {
            let is_roll = ScriptCommand::is_roll(&command);
            if is_roll {
                let values: Vec<i32> = command.split(' ').filter_map(|word| word.parse().ok()).collect();
                self.dice.borrow_mut().pass(&values)?;
            }
            played.push(PlayedEntry { seq: entry.seq, is_roll });
        }
        Ok(played)
    }

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
        let mut played = Vec::new();
        for (seq, record) in (before + 1..).zip(records) {
            played.push(PlayedEntry { seq, is_roll: ScriptCommand::is_roll(&record.command) });
        }
        Ok(played)
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
            if !is_recorded && let Some(element) = self.dice.borrow_mut().element(index) {
                let branch = self.branch.clone();
                commands.push(Command::Rolled { number, element, branch, seq: roll.seq });
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
    let count = u16::try_from(count).map_err(MailError::not_by_mail)?;
    PlayCount::try_from(count).map_err(MailError::not_by_mail)
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
            None => match store.create_branch(name, &branch, from, *seq, Vec::new()) {
                Ok(()) => return Ok(branch),
                Err(StoreError::BranchExists { .. }) => {}
                Err(error) => return Err(error.into()),
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

fn require_known(host: &MailHost<'_>, plan: &TurnPlan) -> Result<(), MailError> {
    let position = position_of(host, plan).and_then(|index| host.desk.positions().nth(index));
    let Some(TurnRecord { branch, game_seq, link, .. }) = position else { return Ok(()) };
    if link_at(host, branch, *game_seq)? == *link {
        return Ok(());
    }
    let at = host.game.revision(branch).at(*game_seq);
    let desk = &host.game.desk;
    Err(MailError::Refused(format!("the link after `{at}` differs from the position that `{desk}` records")))
}

fn position_of(host: &MailHost<'_>, plan: &TurnPlan) -> Option<usize> {
    let (branch, seq) = &plan.from;
    host.desk.positions().position(|position| position.branch == *branch && position.game_seq == *seq)
}

fn link_at(host: &MailHost<'_>, branch: &BranchName, seq: Seq) -> Result<Digest, MailError> {
    match host.store.links(&host.game.name, branch, seq..=seq)?.last() {
        Some(link) => Ok(*link),
        None => Err(MailError::not_by_mail("it has no links")),
    }
}

fn next_position(
    host: &MailHost<'_>,
    plan: &TurnPlan,
    branch: &BranchName,
    game: &GameTurn<'_>,
    end: &TurnEnd,
    at: DeskTime,
) -> Result<Vec<Command>, MailError> {
    let seq = game.head();
    let state = game.state();
    let seats = due_seats(host, plan, end, state)?;
    let names = if seats.is_empty() { "none".into() } else { seat_names(&seats, ",") };
    let seats: AskedSeats = names.parse().map_err(MailError::not_by_mail)?;
    let last = link_at(host, branch, seq)?;
    let hash = if is_open(host, branch, seq)? { Some(state.state_hash()) } else { None };
    let mut commands = Vec::new();
    if Some(at) > host.desk.state().clock() {
        commands.push(Command::Clock(at));
    }
    commands.push(Command::Stand { branch: branch.clone(), seq, link: last, state: hash, seats });
    Ok(commands)
}

/// PM-13: returns `true` if the position has a STATE.
fn is_open(host: &MailHost<'_>, branch: &BranchName, seq: Seq) -> Result<bool, MailError> {
    if host.game.terms.secret == Secret::Match {
        return Ok(false);
    }
    let revision = host.game.revision(branch).at(seq);
    let history = History::of_branch(&revision, host.store, host.registry)?;
    let log = LogEntry::all_logged(&history.entries);
    let is_open = is_shown_to_all(history.start()?.as_ref(), &log, &history.dice);
    Ok(is_open.map_err(|cause| ReplayError::Entry(history.name, cause))?)
}

/// Returns the seats that have something to do in the game (PM-14).
fn due_seats(
    host: &MailHost<'_>,
    plan: &TurnPlan,
    end: &TurnEnd,
    game: &dyn AnyState,
) -> Result<Vec<Seat>, MailError> {
    let together = host.game.terms.together;
    let mut rounds: Vec<Round> = Vec::new();
    for turn in host.desk.turns() {
        let (Some(plan), Some(position)) = (&turn.plan, &turn.end) else { continue };
        let end = if together { read_end(host, turn, plan, position)? } else { TurnEnd::default() };
        let from = round_before(host, &rounds, plan);
        let waiting = Round::waiting_after(from, &plan.living, plan.is_takeback, &end, together);
        rounds.push(Round { seats: position.seats.clone(), waiting });
    }
    let from = round_before(host, &rounds, plan);
    Ok(Round::after(from, &plan.living, plan.is_takeback, end, together, game).seats)
}

fn round_before<'a>(host: &MailHost<'_>, rounds: &'a [Round], plan: &TurnPlan) -> Option<&'a Round> {
    if plan.is_takeback { rounds.get(position_of(host, plan)?) } else { rounds.last() }
}

fn read_end(
    host: &MailHost<'_>,
    turn: &DeskTurn,
    plan: &TurnPlan,
    position: &TurnRecord,
) -> Result<TurnEnd, MailError> {
    let branch = &position.branch;
    let mut played = turn.executed.clone();
    for step in &plan.steps {
        let key = plan.default_key(step.seat);
        if plan.has_default(step) && TurnEntries::find(host, branch, &key)?.is_some() {
            played.push(step.seat);
        }
    }
    let ends_round = match TurnEntries::find(host, branch, &plan.host_key())? {
        Some(own) => own.ends_round(&*host.game.rules)?,
        None => false,
    };
    Ok(TurnEnd { played, ends_round })
}

/// The entries of one append to the game, found by their idempotency key (PM-2).
struct TurnEntries(Vec<Entry>);

impl TurnEntries {
    fn find(host: &MailHost<'_>, branch: &BranchName, key: &TurnKey) -> Result<Option<Self>, MailError> {
        let store = host.store;
        let name = &host.game.name;
        for key in [key.to_string(), Self::key_with_nonce(host, branch, key)] {
            let key = key.parse().map_err(MailError::not_by_mail)?;
            if let Some(range) = store.find_idempotency_key(name, branch, &key)? {
                return Ok(Some(Self(store.entries(name, branch, range)?.collect::<Result<_, _>>()?)));
            }
        }
        Ok(None)
    }

    fn key_with_nonce(host: &MailHost<'_>, branch: &BranchName, key: &TurnKey) -> String {
        key.with_nonce(host.key, host.game.genesis.match_id, branch.as_str())
    }

    fn commands(&self, rules: &dyn AnyRules) -> Result<Vec<String>, MailError> {
        let mut commands = Vec::new();
        for entry in &self.0 {
            commands.push(rules.command_text(&entry.command).map_err(MailError::not_by_mail)?);
        }
        Ok(commands)
    }

    fn ends_round(&self, rules: &dyn AnyRules) -> Result<bool, MailError> {
        for (entry, command) in self.0.iter().zip(self.commands(rules)?) {
            if entry.seat == Seat::Host && !ScriptCommand::is_roll(&command) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The seats that are asked at a position, and the seats of its round that have not played yet (PM-14).
pub(crate) struct Round {
    pub(crate) seats: Vec<Seat>,
    /// The seats of the round for which neither an order was carried out nor `default` played. Empty if players are not
    /// asked together.
    waiting: Vec<Seat>,
}

#[derive(Default)]
pub(crate) struct TurnEnd {
    /// The seats for which an order was carried out or a command of `default` was applied.
    pub(crate) played: Vec<Seat>,
    pub(crate) ends_round: bool,
}

impl Round {
    /// Returns the seats that are asked after a turn, given the state of the game. `from` is the round of the position
    /// from which the turn continued; `None` before the first. A gone seat is never asked, and no seat is asked while
    /// the game waits for no living seat.
    pub(crate) fn after(
        from: Option<&Self>,
        living: &[Seat],
        is_takeback: bool,
        end: &TurnEnd,
        together: bool,
        game: &dyn AnyState,
    ) -> Self {
        let waiting = Self::waiting_after(from, living, is_takeback, end, together);
        let mut seats = living.to_vec();
        seats.retain(|seat| game.waits_for(*seat));
        if seats.is_empty() {
            return Self { seats, waiting };
        }
        seats = common(living, &[seats, waiting.clone()].concat());
        if let Some(from) = from
            && is_takeback
            && !end.ends_round
        {
            let again = common(living, &from.seats);
            seats = if again.is_empty() { seats } else { again };
        }
        Self { seats, waiting }
    }

    fn waiting_after(
        from: Option<&Self>,
        living: &[Seat],
        is_takeback: bool,
        end: &TurnEnd,
        together: bool,
    ) -> Vec<Seat> {
        if !together {
            return Vec::new();
        }
        let mut waiting = living.to_vec();
        if let Some(from) = from
            && !end.ends_round
        {
            waiting.retain(|seat| from.waiting.contains(seat));
            waiting.retain(|seat| is_takeback || !end.played.contains(seat));
        }
        waiting
    }
}

fn common(living: &[Seat], seats: &[Seat]) -> Vec<Seat> {
    let mut common = living.to_vec();
    common.retain(|seat| seats.contains(seat));
    common
}
