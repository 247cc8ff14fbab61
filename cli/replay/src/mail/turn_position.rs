//! The position of the next turn, and the steps of turns that the game's log has already (PM-2, PM-13, PM-14).

use turnfold_core::paper::{DeskTime, LineName};
use turnfold_core::rules::desk::{AskedSeats, Command, Secret};
use turnfold_core::{AnyRules, AnyState, Digest, Seat};
use turnfold_store::{BranchName, Entry, MatchName, Seq, Store};

use super::desk_turn::{DeskTurn, TurnPlan, TurnRecord};
use super::game_turn::{GameTurn, conceals_something};
use super::host::MailHost;
use super::pairing::{TurnKey, branch_of};
use super::round::{Round, TurnEnd};
use crate::error::ReplayError;
use crate::history::History;
use crate::history::entry::{CommandForm, LogEntry};
use crate::session::is_roll;

/// Requires that the game has the entry of the desk's position, with its link.
pub(super) fn require_known(host: &MailHost<'_>, plan: &TurnPlan) -> Result<(), ReplayError> {
    let position = position_of(host, plan).and_then(|index| host.desk.positions().nth(index));
    let Some(TurnRecord { line, game_seq, link, .. }) = position else { return Ok(()) };
    let branch = branch_of(line)?;
    let at = host.of.line(&branch).at(*game_seq);
    if link_at(host, &branch, *game_seq)? == *link {
        return Ok(());
    }
    Err(ReplayError::Refused(format!(
        "the link after `{at}` differs from the position that `{}` records",
        host.of.desk
    )))
}

/// Returns which position a turn continues from: the first at that entry.
fn position_of(host: &MailHost<'_>, plan: &TurnPlan) -> Option<usize> {
    let (line, seq) = &plan.from;
    host.desk.positions().position(|position| position.line == *line && position.game_seq == *seq)
}

fn link_at(host: &MailHost<'_>, branch: &BranchName, seq: Seq) -> Result<Digest, ReplayError> {
    let links = host.store.links(&host.of.name, branch, seq..=seq)?;
    links.last().copied().ok_or_else(|| ReplayError::not_by_mail("it has no links"))
}

/// Returns the commands that begin the next turn: the clock, if it is later now, and the position.
pub(super) fn next_position(
    host: &MailHost<'_>,
    plan: &TurnPlan,
    line: &LineName,
    game: &GameTurn<'_>,
    facts: &TurnFacts,
    at: DeskTime,
) -> Result<Vec<Command>, ReplayError> {
    let branch = branch_of(line)?;
    let (seq, state) = (game.head(), game.state());
    let seats = due_seats(host, plan, facts, state)?;
    let seats: AskedSeats = names(&seats).parse().map_err(ReplayError::not_by_mail)?;
    let last = link_at(host, &branch, seq)?;
    let hash = if is_open(host, &branch, seq)? { Some(state.state_hash()) } else { None };
    let mut commands = Vec::new();
    if host.desk.state().clock().is_none_or(|clock| at > clock) {
        commands.push(Command::Clock(at));
    }
    commands.push(Command::Stand { line: line.clone(), seq, link: last, state: hash, seats });
    Ok(commands)
}

fn names(seats: &[Seat]) -> String {
    let names: Vec<&str> = seats.iter().map(|seat| seat.name()).collect();
    if names.is_empty() { "none".into() } else { names.join(",") }
}

/// PM-13: whether the position has a STATE.
fn is_open(host: &MailHost<'_>, branch: &BranchName, seq: Seq) -> Result<bool, ReplayError> {
    if host.of.terms.secret == Secret::Match {
        return Ok(false);
    }
    let revision = host.of.line(branch).at(seq);
    let log = host.store.read(&host.of.name, branch, Some(seq))?;
    Ok(!conceals_something(&History::of_log(&revision, log, host.registry)?)?)
}

/// PM-14
fn due_seats(
    host: &MailHost<'_>,
    plan: &TurnPlan,
    facts: &TurnFacts,
    game: &dyn AnyState,
) -> Result<Vec<Seat>, ReplayError> {
    let together = host.of.terms.together;
    let mut rounds: Vec<Round> = Vec::new();
    for turn in host.desk.turns() {
        let (Some(plan), Some(end)) = (&turn.plan, &turn.end) else { continue };
        let facts = if together { TurnFacts::of(host, turn, plan)? } else { TurnFacts::default() };
        let before = round_before(host, &rounds, plan);
        let waiting = Round::waiting_after(facts.end(plan, before), together, &plan.living);
        rounds.push(Round { seats: end.seats.clone(), waiting });
    }
    let before = round_before(host, &rounds, plan);
    Ok(Round::after(facts.end(plan, before), together, &plan.living, game).seats)
}

/// Returns the round of the position from which a turn continues.
fn round_before<'a>(host: &MailHost<'_>, rounds: &'a [Round], plan: &TurnPlan) -> Option<&'a Round> {
    if plan.is_takeback { rounds.get(position_of(host, plan)?) } else { rounds.last() }
}

/// What an executed turn did, as far as it decides which seats are asked next.
#[derive(Default)]
pub(super) struct TurnFacts {
    /// The seats that played.
    pub(super) played: Vec<Seat>,
    /// Whether it ended its round.
    pub(super) ends_round: bool,
}

impl TurnFacts {
    /// Reads in the game what a turn did that has ended.
    fn of(host: &MailHost<'_>, turn: &DeskTurn, plan: &TurnPlan) -> Result<Self, ReplayError> {
        let Some(end) = &turn.end else { return Ok(Self::default()) };
        let branch = branch_of(&end.line)?;
        let of = |key: TurnKey| TurnEntry::find(host.store, &host.of.name, &branch, &key);
        let mut played = turn.executed.clone();
        for step in plan.steps.iter().filter(|step| step.order.is_none()) {
            if of(plan.key_of(step))?.is_some() {
                played.push(step.seat);
            }
        }
        let own = of(plan.host_key())?;
        let ends_round = own.map_or(Ok(false), |step| step.ends_round(host.of.rules))?;
        Ok(Self { played, ends_round })
    }

    fn end<'a>(&'a self, plan: &TurnPlan, from: Option<&'a Round>) -> TurnEnd<'a> {
        TurnEnd { from, is_takeback: plan.is_takeback, ends_round: self.ends_round, played: &self.played }
    }
}

/// The entries of one append to the game, found by their idempotency key (PM-2).
pub(super) struct TurnEntry(Vec<LogEntry>);

impl TurnEntry {
    /// Finds the entries that a line of the game has with this idempotency key.
    pub(super) fn find(
        store: &Store,
        name: &MatchName,
        branch: &BranchName,
        key: &TurnKey,
    ) -> Result<Option<Self>, ReplayError> {
        let key = key.to_string().parse().map_err(ReplayError::not_by_mail)?;
        let Some(range) = store.find_idempotency_key(name, branch, &key)? else { return Ok(None) };
        let entries: Result<Vec<Entry>, _> = store.entries(name, branch, range)?.collect();
        Ok(Some(Self(entries?.into_iter().map(LogEntry::from).collect())))
    }

    /// Returns the number of its first entry.
    pub(super) fn first(&self) -> Option<Seq> {
        self.0.first().map(|entry| entry.seq)
    }

    /// Returns its entries.
    pub(super) fn entries(&self) -> &[LogEntry] {
        &self.0
    }

    /// Returns the number and the text of each command.
    pub(super) fn commands(&self, rules: &dyn AnyRules) -> Result<Vec<(Seq, String)>, ReplayError> {
        let text = |entry: &LogEntry| match &entry.command {
            CommandForm::Text(text) => Ok((entry.seq, text.clone())),
            CommandForm::Bytes(bytes) => Ok((entry.seq, rules.command_text(bytes)?)),
        };
        let read: Result<_, turnfold_core::decode::DecodeError> = self.0.iter().map(text).collect();
        read.map_err(ReplayError::not_by_mail)
    }

    /// Returns `true` if a command of `between` is among them: one by the host that is no roll.
    pub(super) fn ends_round(&self, rules: &dyn AnyRules) -> Result<bool, ReplayError> {
        let commands = self.commands(rules)?;
        let mut own = self.0.iter().zip(&commands).filter(|(entry, _)| entry.seat == Seat::Host);
        Ok(own.any(|(_, (_, command))| !is_roll(command)))
    }
}
