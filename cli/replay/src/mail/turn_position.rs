//! What a stand says of the game: where it stands, and who is asked (PM-13, PM-14).

use turnfold_core::paper::{DeskTime, LineName};
use turnfold_core::rules::desk::{AskedSeats, Command, Secret};
use turnfold_core::{AnyState, Digest, Seat};
use turnfold_store::{BranchName, Seq};

use super::desk_history::{EndedTurn, TurnRecord};
use super::due_seats::{Round, TurnEnd, conceals_something};
use super::error::MailError;
use super::host::MailHost;
use super::keys::TurnKey;
use super::steps::TurnPlan;
use super::turn::GameTurn;
use super::turn_entries::step_of;
use crate::history::History;

/// Requires that the game has the entry on which the desk stands, with its link.
pub(super) fn require_known(host: &MailHost<'_>, plan: &TurnPlan) -> Result<(), MailError> {
    let Some(TurnRecord { line, game_seq, link, .. }) = stand_of(host.desk.turns(), plan) else {
        return Ok(());
    };
    let branch: BranchName = line.as_str().parse().map_err(MailError::broken)?;
    let at = host.of.line(&branch).at(*game_seq);
    if link_at(host, &branch, *game_seq)? == *link {
        return Ok(());
    }
    Err(MailError::Refused(format!("`{at}` is not the entry on which `{}` stands", host.of.desk)))
}

/// Returns the stand from which a turn goes on: the first at that entry, where more than one stands there.
fn stand_of<'a>(turns: &'a [EndedTurn], plan: &TurnPlan) -> Option<&'a TurnRecord> {
    let (line, seq) = &plan.from;
    turns.iter().map(|turn| &turn.stand).find(|stand| stand.line == *line && stand.game_seq == *seq)
}

fn link_at(host: &MailHost<'_>, branch: &BranchName, seq: Seq) -> Result<Digest, MailError> {
    let links = host.store.links(&host.of.name, branch, seq..=seq)?;
    links.last().copied().ok_or_else(|| MailError::broken("it has no links"))
}

/// Returns what begins the next turn: the clock, if it goes on, and the stand.
pub(super) fn stand(
    host: &MailHost<'_>,
    plan: &TurnPlan,
    (line, game): (&LineName, GameTurn<'_>),
    (played, ends_round): (&[Seat], bool),
    at: DeskTime,
) -> Result<Vec<Command>, MailError> {
    let branch: BranchName = line.as_str().parse().map_err(MailError::broken)?;
    let (seq, state) = (game.head(), game.state());
    let seats = asked(host, plan, (played, ends_round), state)?;
    let seats: AskedSeats = names(&seats).parse().map_err(MailError::broken)?;
    let last = link_at(host, &branch, seq)?;
    let hash = if is_told(host, &branch, seq)? { Some(state.state_hash()) } else { None };
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

/// PM-13: whether the stand has a STATE.
fn is_told(host: &MailHost<'_>, branch: &BranchName, seq: Seq) -> Result<bool, MailError> {
    if host.of.terms.secret == Secret::Match {
        return Ok(false);
    }
    let revision = host.of.line(branch).at(seq);
    let log = host.store.read(&host.of.name, branch, Some(seq))?;
    Ok(!conceals_something(&History::of_log(&revision, log, host.registry)?)?)
}

/// PM-14
fn asked(
    host: &MailHost<'_>,
    plan: &TurnPlan,
    (played, ends_round): (&[Seat], bool),
    game: &dyn AnyState,
) -> Result<Vec<Seat>, MailError> {
    let (turns, together) = (host.desk.turns(), host.of.terms.together);
    let mut rounds: Vec<Round> = Vec::new();
    for (index, turn) in turns.iter().enumerate() {
        let earlier = turns.get(..index).unwrap_or_default();
        let (played, ends_round) = if together { facts(host, turn)? } else { (Vec::new(), false) };
        let from = from(earlier, &rounds, &turn.plan);
        let end = TurnEnd { from, is_takeback: turn.plan.is_takeback, ends_round, played: &played };
        let waiting = Round::waiting_after(end, together, &turn.plan.living);
        rounds.push(Round { seats: turn.stand.seats.clone(), waiting });
    }
    let from = from(turns, &rounds, plan);
    let end = TurnEnd { from, is_takeback: plan.is_takeback, ends_round, played };
    Ok(Round::after(end, together, &plan.living, game).seats)
}

/// Returns who was asked at the stand from which a turn goes on.
fn from<'a>(turns: &[EndedTurn], rounds: &'a [Round], plan: &TurnPlan) -> Option<&'a Round> {
    if !plan.is_takeback {
        return rounds.last();
    }
    let stand = stand_of(turns, plan)?;
    let index = turns.iter().position(|turn| turn.stand.seq == stand.seq)?;
    rounds.get(index)
}

/// Returns the seats that played in a turn that was carried out, and whether it ended its round.
fn facts(host: &MailHost<'_>, turn: &EndedTurn) -> Result<(Vec<Seat>, bool), MailError> {
    let branch: BranchName = turn.stand.line.as_str().parse().map_err(MailError::broken)?;
    let of = |key: TurnKey| step_of(host.store, &host.of.name, &branch, &key);
    let mut played = turn.carried.clone();
    for step in turn.plan.steps.iter().filter(|step| step.order.is_none()) {
        if of(turn.plan.key_of(step))?.is_some() {
            played.push(step.seat);
        }
    }
    let ends_round = match of(turn.plan.host_key())? {
        Some(step) => step.ends_round(host.of.rules)?,
        None => false,
    };
    Ok((played, ends_round))
}
