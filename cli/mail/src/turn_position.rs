//! The position of the next turn, and the steps of turns that the game's log already has (PM-2, PM-13, PM-14).

use turnfold_core::paper::DeskTime;
use turnfold_core::rules::desk::{AskedSeats, Command, Secret};
use turnfold_core::{AnyRules, AnyState, Digest, Seat};
use turnfold_history::History;
use turnfold_history::session::is_roll;
use turnfold_store::{BranchName, Entry, Seq};

use super::desk_turn::{DeskTurn, TurnPlan, TurnRecord};
use super::game_turn::{GameTurn, is_shown_to_all};
use super::host::MailHost;
use super::pairing::TurnKey;
use crate::error::MailError;

/// Requires the game to have the entry of the position from which a turn continues, with its link.
pub(super) fn require_known(host: &MailHost<'_>, plan: &TurnPlan) -> Result<(), MailError> {
    let position = position_of(host, plan).and_then(|index| host.desk.positions().nth(index));
    let Some(TurnRecord { branch, game_seq, link, .. }) = position else { return Ok(()) };
    let at = host.game.revision(branch).at(*game_seq);
    if link_at(host, branch, *game_seq)? == *link {
        return Ok(());
    }
    Err(MailError::Refused(format!(
        "the link after `{at}` differs from the position that `{}` records",
        host.game.desk
    )))
}

/// Returns the index of the position from which a turn continues: the first at that entry.
fn position_of(host: &MailHost<'_>, plan: &TurnPlan) -> Option<usize> {
    let (branch, seq) = &plan.from;
    host.desk.positions().position(|position| position.branch == *branch && position.game_seq == *seq)
}

fn link_at(host: &MailHost<'_>, branch: &BranchName, seq: Seq) -> Result<Digest, MailError> {
    let links = host.store.links(&host.game.name, branch, seq..=seq)?;
    links.last().copied().ok_or_else(|| MailError::not_by_mail("it has no links"))
}

/// Returns the commands that begin the next turn: the clock, if `at` is later than the desk's, and the position.
pub(super) fn next_position(
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
    let seats: AskedSeats = names(&seats).parse().map_err(MailError::not_by_mail)?;
    let last = link_at(host, branch, seq)?;
    let hash = if is_open(host, branch, seq)? { Some(state.state_hash()) } else { None };
    let mut commands = Vec::new();
    if host.desk.state().clock().is_none_or(|clock| at > clock) {
        commands.push(Command::Clock(at));
    }
    commands.push(Command::Stand { branch: branch.clone(), seq, link: last, state: hash, seats });
    Ok(commands)
}

fn names(seats: &[Seat]) -> String {
    let names: Vec<&str> = seats.iter().map(|seat| seat.name()).collect();
    if names.is_empty() { "none".into() } else { names.join(",") }
}

/// PM-13: returns `true` if the position has a STATE.
fn is_open(host: &MailHost<'_>, branch: &BranchName, seq: Seq) -> Result<bool, MailError> {
    if host.game.terms.secret == Secret::Match {
        return Ok(false);
    }
    let revision = host.game.revision(branch).at(seq);
    let history = History::of_branch(&revision, host.store, host.registry)?;
    let is_open = is_shown_to_all(history.start()?.as_ref(), &history.logged(), &history.dice);
    Ok(is_open.map_err(|cause| history.broken_entry(cause))?)
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
        let waiting = Round::waiting_after(round_before(host, &rounds, plan), plan, &end, together);
        rounds.push(Round { seats: position.seats.clone(), waiting });
    }
    Ok(Round::after(round_before(host, &rounds, plan), plan, end, together, game).seats)
}

/// Returns the round of the position from which a turn continues.
fn round_before<'a>(host: &MailHost<'_>, rounds: &'a [Round], plan: &TurnPlan) -> Option<&'a Round> {
    if plan.is_takeback { rounds.get(position_of(host, plan)?) } else { rounds.last() }
}

/// Reads from the game what an executed turn did, which ended with this position.
fn read_end(
    host: &MailHost<'_>,
    turn: &DeskTurn,
    plan: &TurnPlan,
    position: &TurnRecord,
) -> Result<TurnEnd, MailError> {
    let branch = &position.branch;
    let mut played = turn.executed.clone();
    for step in plan.steps.iter().filter(|step| plan.has_default(step)) {
        if TurnEntries::find(host, branch, &plan.default_key(step.seat))?.is_some() {
            played.push(step.seat);
        }
    }
    let own = TurnEntries::find(host, branch, &plan.host_key())?;
    let ends_round = own.map_or(Ok(false), |own| own.ends_round(&*host.game.rules))?;
    Ok(TurnEnd { played, ends_round })
}

/// The entries of one append to the game, found by their idempotency key (PM-2).
pub(super) struct TurnEntries(pub(super) Vec<Entry>);

impl TurnEntries {
    /// Finds the entries of a branch of the game with this idempotency key.
    pub(super) fn find(
        host: &MailHost<'_>,
        branch: &BranchName,
        key: &TurnKey,
    ) -> Result<Option<Self>, MailError> {
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

    /// Returns the key of an append to a branch of the game with a roll that only one seat learns.
    pub(super) fn key_with_nonce(host: &MailHost<'_>, branch: &BranchName, key: &TurnKey) -> String {
        key.with_nonce(host.key, host.game.genesis.match_id, branch.as_str())
    }

    pub(super) fn commands(&self, rules: &dyn AnyRules) -> Result<Vec<String>, MailError> {
        let commands = self.0.iter().map(|entry| rules.command_text(&entry.command));
        commands.collect::<Result<_, _>>().map_err(MailError::not_by_mail)
    }

    /// Returns `true` if a command of `between` is among the entries: one by the host that is not a roll.
    pub(super) fn ends_round(&self, rules: &dyn AnyRules) -> Result<bool, MailError> {
        let commands = self.commands(rules)?;
        let mut own = self.0.iter().zip(&commands).filter(|(entry, _)| entry.seat == Seat::Host);
        Ok(own.any(|(_, command)| !is_roll(command)))
    }
}

/// The seats that are asked at a position, and the seats of its round that have not played yet (PM-14).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// The seats that are asked, in seat order.
    pub seats: Vec<Seat>,
    /// The seats of the round for which neither an order was carried out nor `default` played. Empty if players are not
    /// asked together.
    pub waiting: Vec<Seat>,
}

/// The results of an executed turn that decide which seats are asked next.
#[derive(Clone, Debug, Default)]
pub struct TurnEnd {
    /// The seats for which an order was carried out or a command of `default` was applied.
    pub played: Vec<Seat>,
    /// Whether a command of `between` was applied, so that a round has ended.
    pub ends_round: bool,
}

impl Round {
    /// Returns the seats that are asked after a turn, given the state of the game. `from` is the round of the position
    /// from which the turn continued; `None` before the first. A gone seat is never asked, and no seat is asked while
    /// the game waits for no living seat.
    pub(crate) fn after(
        from: Option<&Self>,
        plan: &TurnPlan,
        end: &TurnEnd,
        together: bool,
        game: &dyn AnyState,
    ) -> Self {
        let living = plan.living.as_slice();
        let due: Vec<Seat> = living.iter().copied().filter(|seat| game.waits_for(*seat)).collect();
        let waiting = Self::waiting_after(from, plan, end, together);
        let again = from.filter(|_| plan.is_takeback && !end.ends_round);
        let again = again.map(|from| common(living, &from.seats)).unwrap_or_default();
        let seats = if due.is_empty() {
            due
        } else if again.is_empty() {
            common(living, &[due, waiting.clone()].concat())
        } else {
            again
        };
        Self { seats, waiting }
    }

    /// Returns the seats of the round that have not played when the next turn begins.
    pub(crate) fn waiting_after(
        from: Option<&Self>,
        plan: &TurnPlan,
        end: &TurnEnd,
        together: bool,
    ) -> Vec<Seat> {
        match from {
            _ if !together => Vec::new(),
            Some(from) if !end.ends_round => {
                let is_waiting = |seat: &Seat| plan.is_takeback || !end.played.contains(seat);
                common(&plan.living, &from.waiting).into_iter().filter(is_waiting).collect()
            }
            _ => plan.living.clone(),
        }
    }
}

/// Returns the living seats among these, in seat order.
fn common(living: &[Seat], seats: &[Seat]) -> Vec<Seat> {
    living.iter().copied().filter(|seat| seats.contains(seat)).collect()
}
