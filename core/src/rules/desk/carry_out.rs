//! Carries out what `judge` planned.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::effect::Effect;
use super::element::{Element, SeatDice};
use super::judge::Plan;
use super::leaving::leave;
use super::offers;
use super::progress::{end, extend, go_on, take_seat};
use super::state::{Asked, MatchEnd, OpenOffer, OrderHeld, Phase, Player, State, TurnPosition};
use super::step::{Act, Step};
use super::turn::pass_deadline;
use crate::outcome::EffectSink;
use crate::seat::Seat;

pub(super) fn carry_out(state: &mut State, plan: Plan, effects: &mut impl EffectSink<Effect>) {
    match plan.0 {
        // PM-11
        Step::Join { seat, key, dice } => {
            effects.push(|| Effect::Joined { seat, name: key.name().into() });
            take_seat(state, seat, Player::Signing(key));
            if let (Some(own), Some(head)) = (state.seat_mut(seat), dice) {
                own.dice = Some(SeatDice::begun(head));
            }
            complete(state, effects);
        }
        // PM-38
        Step::Enter { seat, name } => {
            effects.push(|| Effect::Joined { seat, name: name.clone() });
            take_seat(state, seat, Player::Plain(name));
            complete(state, effects);
        }
        Step::Paper { seat, number, act } => {
            // PM-62: who may not read the words can leave them out and computes the same state.
            if act != Act::Press
                && let Some(own) = state.seat_mut(seat)
            {
                own.number = own.number.max(number);
            }
            carry_out_act(state, seat, number, act, effects);
        }
        // PM-12
        Step::Clock(at) => {
            state.clock = Some(at);
            effects.push(|| Effect::Clocked { at });
            pass_deadline(state, at, effects);
        }
        Step::Stand { .. } => stand(state, plan.0, effects),
        // PM-19
        Step::Carried { seat, digest, count } => {
            settle(state, seat);
            effects.push(|| Effect::Carried { seat, digest, count });
        }
        Step::Refused { seat, digest, code } => {
            settle(state, seat);
            effects.push(|| Effect::Refused { seat, digest, code });
        }
        Step::Rolled { number, element, line, seq } => {
            state.host_element = Some(Element { index: number, element });
            effects.push(|| Effect::Rolled { number, line, seq });
        }
        // PM-40
        Step::Remind(hours) => {
            state.reminded = Some(hours);
            if let Some(until) = state.deadline() {
                let seats = state.awaited();
                effects.push(|| Effect::Reminded { seats, until });
            }
        }
        // PM-60
        Step::Replace { seat, key } => offers::replace(state, seat, key, effects),
        // PM-21
        Step::Extend(until) => extend(state, until, effects),
        Step::Close(result) => end(state, MatchEnd::Ended(result), effects),
    }
}

/// PM-11: the last seat was taken.
fn complete(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    if state.players().iter().all(|seat| !state.is_free(*seat)) {
        state.phase = Phase::Ready;
        effects.push(|| Effect::Complete);
    }
}

/// PM-13
fn stand(state: &mut State, step: Step, effects: &mut impl EffectSink<Effect>) {
    let Step::Stand { standing, link, state: hash, seats, clock } = step else { return };
    let deadline = clock.after_hours(state.terms.hours);
    let (line, seq) = (standing.line.clone(), standing.seq);
    state.takeback = None;
    state.stands.push(standing);
    state.stand = Some(TurnPosition { link, state: hash, since: clock, deadline });
    let turn = state.turn();
    if hash.is_some() {
        state.told_turn = turn;
    }
    for (name, seat) in state.players().iter().zip(&mut state.seats) {
        seat.asked = if seats.contains(name) { Asked::Yes } else { Asked::Not };
    }
    state.phase = Phase::Open;
    state.reminded = None;
    let ordered = order_ahead(state);
    let deadline = state.after_absences(deadline);
    if let Some(stand) = &mut state.stand {
        stand.deadline = deadline;
    }
    let is_over = seats.is_empty();
    effects.push(|| Effect::Stood { turn, line, seq, seats, until: deadline });
    for (seat, open) in core::mem::take(&mut state.offers) {
        effects.push(|| Effect::Lapsed { seat, digest: open.digest });
    }
    for (seat, number) in ordered {
        effects.push(|| Effect::Ordered { seat, number });
    }
    if is_over {
        end(state, MatchEnd::Played, effects);
    }
    go_on(state, false, effects);
}

/// PM-42: the orders ahead for this turn count. Returns the seats with the numbers of their last papers.
fn order_ahead(state: &mut State) -> Vec<(Seat, u32)> {
    let mut ordered = Vec::new();
    let turn = state.turn();
    for (&seat, own) in state.players().iter().zip(&mut state.seats) {
        let Some((digest, plays)) = own.ahead.as_ref().and_then(|ahead| ahead.of(turn)) else { continue };
        if own.asked == Asked::Yes {
            own.asked =
                Asked::Ordered(OrderHeld { digest, waits: false, plays, element: None, as_sealed: false });
            own.misses = 0;
            ordered.push((seat, own.number));
        }
    }
    ordered
}

fn settle(state: &mut State, seat: Seat) {
    if let Some(own) = state.seat_mut(seat) {
        own.asked = Asked::Settled;
    }
}

fn carry_out_act(
    state: &mut State,
    seat: Seat,
    number: u32,
    act: Act,
    effects: &mut impl EffectSink<Effect>,
) {
    let awaited_seals = state.awaits_seals();
    match act {
        // PM-15
        Act::Order(order) => {
            if let Some(own) = state.seat_mut(seat) {
                own.misses = 0;
                if let (Some(dice), Some(element)) = (&mut own.dice, order.element) {
                    dice.known = element;
                }
                own.asked = Asked::Ordered(order);
            }
            effects.push(|| Effect::Ordered { seat, number });
        }
        // PM-16
        Act::Seal(digest) => {
            if let Some(own) = state.seat_mut(seat) {
                own.asked = Asked::Sealed(digest);
            }
            effects.push(|| Effect::Sealed { seat, number, digest });
        }
        // PM-20
        Act::Offer { digest, offer } => {
            effects.push(|| Effect::Offered { seat, number, digest, offer: offer.to_string() });
            let closed = state.offers.insert(seat, OpenOffer { digest, offer, agreed: [seat].into() });
            if let Some(closed) = closed {
                effects.push(|| Effect::Lapsed { seat, digest: closed.digest });
            }
            offers::take_effect(state, effects);
        }
        Act::Answer { by, digest, agree: true } => {
            if let Some(open) = state.offers.get_mut(&by) {
                open.agreed.insert(seat);
            }
            effects.push(|| Effect::Agreed { seat, number, digest });
            offers::take_effect(state, effects);
        }
        Act::Answer { by, digest, agree: false } => {
            state.offers.remove(&by);
            effects.push(|| Effect::Declined { seat, number, digest });
        }
        // PM-21
        Act::Resign => {
            leave(state, &[seat], Some(number), effects);
            offers::take_effect(state, effects);
        }
        // PM-22
        Act::Rekey(key) => {
            effects.push(|| Effect::Rekeyed { seat, number, name: key.name().into() });
            take_seat(state, seat, Player::Signing(key));
        }
        // PM-39
        Act::Absent { until, seconds } => {
            if let Some(own) = state.seat_mut(seat) {
                own.absent = Some(until);
                own.absent_seconds = seconds;
            }
            effects.push(|| Effect::Absent { seat, number, until });
            let deadline = state.deadline();
            if let Some(later) = deadline.map(|deadline| state.after_absences(deadline))
                && Some(later) != deadline
            {
                extend(state, later, effects);
            }
        }
        // PM-41: the words are in the paper alone.
        Act::Press => effects.push(|| Effect::Pressed { seat, number }),
        // PM-42: the newest paper counts.
        Act::Ahead(ahead) => {
            if let Some(own) = state.seat_mut(seat) {
                own.ahead = Some(ahead).filter(|ahead| !ahead.plays.is_empty());
            }
            effects.push(|| Effect::Ahead { seat, number });
        }
    }
    go_on(state, awaited_seals, effects);
}
