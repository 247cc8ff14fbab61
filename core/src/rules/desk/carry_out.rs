//! Carries out what `judge` planned, and what follows from it: how turns continue and end.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::effect::Effect;
use super::judge::{Act, Plan, Step};
use super::state::{
    Asked, Element, MatchEnd, Missed, OpenOffer, OrderHeld, Phase, SeatDice, SeatState, Standing, State,
    TurnPosition,
};
use crate::digest::Digest;
use crate::outcome::EffectSink;
use crate::paper::{DeskTime, Ending, Offer, Player, SeatKey};
use crate::seat::Seat;

pub(super) fn carry_out(state: &mut State, plan: Plan, effects: &mut impl EffectSink<Effect>) {
    match plan.0 {
        // PM-11: the last seat that is taken lets the match begin.
        Step::Join { seat, player, dice } => {
            effects.push(|| Effect::Joined { seat, name: player.name().into() });
            take_seat(state, seat, player);
            if let (Some(own), Some(head)) = (state.seat_mut(seat), dice) {
                own.dice = Some(SeatDice::begun(head));
            }
            complete(state, effects);
        }
        Step::Paper { seat, number, act } => {
            if let Some(own) = state.seat_mut(seat) {
                match act {
                    Act::Order(_) | Act::Ahead(_) => own.order_number = own.order_number.max(number),
                    // PM-62: a viewer who may not read a message leaves it out and computes the same state.
                    Act::Press => {}
                    _ => own.number = own.number.max(number),
                }
            }
            carry_out_act(state, seat, number, act, effects);
        }
        // PM-12: what comes after a clock past the deadline is late.
        Step::Clock(at) => {
            state.clock = Some(at);
            effects.push(|| Effect::Clocked { at });
            pass_deadline(state, at, effects);
        }
        Step::Stand { .. } => stand(state, plan.0, effects),
        // PM-19: the host settles one order after another.
        Step::Carried { seat, digest, count } => {
            let plays_digest = state.ordered(seat);
            settle(state, seat, digest);
            state.played.push((seat, plays_digest));
            effects.push(|| Effect::Carried { seat, digest, count });
        }
        Step::Refused { seat, digest, code } => {
            settle(state, seat, digest);
            end_lines(state, seat);
            effects.push(|| Effect::Refused { seat, digest, code });
        }
        Step::Rolled { number, element, branch, seq } => {
            state.host_element = Some(Element { index: number, element });
            effects.push(|| Effect::Rolled { number, branch, seq });
        }
        // PM-40: no reminder of as many hours or more follows.
        Step::Remind(hours) => {
            state.reminded = Some(hours);
            if let Some(until) = state.deadline() {
                let seats = state.awaited();
                effects.push(|| Effect::Reminded { seats, until });
            }
        }
        // PM-60: by the host alone, without an offer.
        Step::Replace { seat, player } => replace(state, seat, player, effects),
        // PM-21: the host may move the deadline, and end the match.
        Step::Extend(until) => extend(state, until, effects),
        Step::Close(result) => end(state, MatchEnd::Ended(result), effects),
    }
}

/// PM-11: ends the joining once the last seat is taken.
fn complete(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    if state.players().iter().all(|seat| !state.is_free(*seat)) {
        state.phase = Phase::Ready;
        effects.push(|| Effect::Complete);
    }
}

/// Begins a turn at a position of the game, or ends the match if no seat is asked (PM-13).
fn stand(state: &mut State, step: Step, effects: &mut impl EffectSink<Effect>) {
    let Step::Stand { standing, link, state: hash, seats, clock } = step else { return };
    let deadline = clock.after_hours(state.terms.hours);
    let branch = standing.branch.clone();
    let seq = standing.seq;
    state.takeback = None;
    state.stands.push(standing);
    state.stand = Some(TurnPosition { link, state: hash, since: clock, deadline });
    let turn = state.turn();
    if hash.is_some() {
        state.told_turn = turn;
    }
    for (name, seat) in state.players().iter().zip(&mut state.seats) {
        // PM-122: what was played for a seat that missed is not its order.
        if seat.asked == Asked::Defaulted {
            state.played.push((*name, None));
            if let Some(ahead) = &mut seat.ahead {
                ahead.lines.clear();
            }
        }
        seat.ahead.take_if(|ahead| ahead.is_spent(turn));
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
    effects.push(|| Effect::Stood { turn, branch, seq, seats, until: deadline });
    for (seat, open) in core::mem::take(&mut state.offers) {
        effects.push(|| Effect::Lapsed { seat, nth: open.nth, digest: open.digest });
    }
    for (seat, number) in ordered {
        effects.push(|| Effect::Ordered { seat, number });
    }
    if is_over {
        end(state, MatchEnd::Played, effects);
    }
    go_on(state, false, effects);
}

/// PM-42: makes the orders ahead for this turn count. PM-122: the answer to what another seat just played counts as
/// well, and comes first. Returns the seats with the numbers of their last papers.
fn order_ahead(state: &mut State) -> Vec<(Seat, u32)> {
    let mut ordered = Vec::new();
    let turn = state.turn();
    let played = core::mem::take(&mut state.played);
    for (&seat, own) in state.players().iter().zip(&mut state.seats) {
        let Some(ahead) = &mut own.ahead else { continue };
        let digest = ahead.digest;
        let answer = ahead.answer(seat, &played);
        // The lines end if the seat is asked and they have no answer, or have one and it is not asked.
        if answer.is_some() != (own.asked == Asked::Yes) {
            ahead.lines.clear();
        }
        let order = answer.map(|plays_digest| (1, plays_digest)).or_else(|| ahead.of(turn));
        let Some((plays, plays_digest)) = order else { continue };
        if own.asked == Asked::Yes {
            // PM-81: the deadline does not wait for an absence of this seat.
            if own.absent.is_some() {
                state.counted.insert(digest);
            }
            own.asked = Asked::Ordered(OrderHeld {
                digest,
                waits: false,
                plays,
                plays_digest,
                element: None,
                as_sealed: false,
            });
            own.misses = 0;
            ordered.push((seat, own.order_number));
        }
    }
    ordered
}

fn settle(state: &mut State, seat: Seat, digest: Digest) {
    // PM-81: the desk depends on this order from now on, so it is shown later.
    state.counted.insert(digest);
    if let Some(own) = state.seat_mut(seat) {
        own.asked = Asked::Settled;
    }
}

/// PM-122: ends the lines of replies of a seat.
fn end_lines(state: &mut State, seat: Seat) {
    if let Some(SeatState { ahead: Some(ahead), .. }) = state.seat_mut(seat) {
        ahead.lines.clear();
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
        // PM-15: it replaces the earlier order. PM-122: and an answer; lines that follow an order wait for it.
        Act::Order(order) => {
            if let Some(own) = state.seat_mut(seat) {
                if let Some(ahead) = &mut own.ahead
                    && ahead.after.is_none()
                {
                    ahead.lines.clear();
                }
                own.misses = 0;
                if let (Some(dice), Some(element)) = (&mut own.dice, order.element) {
                    dice.known = element;
                }
                own.asked = Asked::Ordered(order);
            }
            effects.push(|| Effect::Ordered { seat, number });
        }
        // PM-16: from now on no other order counts in this turn.
        Act::Seal(digest) => {
            if let Some(own) = state.seat_mut(seat) {
                own.asked = Asked::Sealed(digest);
            }
            effects.push(|| Effect::Sealed { seat, number, digest });
        }
        // PM-20: it closes the seat's earlier offer, and has the next number of the match (PM-82).
        Act::Offer { digest, offer } => {
            let nth = state.offers_made.saturating_add(1);
            state.offers_made = nth;
            effects.push(|| Effect::Offered { seat, number, nth, digest, offer: offer.to_string() });
            let closed = state.offers.insert(seat, OpenOffer { nth, digest, offer, agreed: [seat].into() });
            if let Some(closed) = closed {
                effects.push(|| Effect::Lapsed { seat, nth: closed.nth, digest: closed.digest });
            }
            take_effect(state, effects);
        }
        Act::Answer { by, nth, digest, agree: true } => {
            if let Some(open) = state.offers.get_mut(&by) {
                open.agreed.insert(seat);
            }
            effects.push(|| Effect::Agreed { seat, number, nth, digest });
            take_effect(state, effects);
        }
        Act::Answer { by, nth, digest, agree: false } => {
            state.offers.remove(&by);
            effects.push(|| Effect::Declined { seat, number, nth, digest });
        }
        // PM-21: the order of a seat that leaves is dropped.
        Act::Resign => {
            leave(state, &[seat], Some(number), effects);
            take_effect(state, effects);
        }
        // PM-22: the new key signs from now on.
        Act::Rekey(player) => {
            effects.push(|| Effect::Rekeyed { seat, number, name: player.name().into() });
            take_seat(state, seat, player);
        }
        // PM-39: the days are used up, and the deadline may wait for the seat.
        Act::Absent { until, seconds } => {
            if let Some(own) = state.seat_mut(seat) {
                own.absent = Some(until);
                own.absent_seconds = seconds;
            }
            effects.push(|| Effect::Absent { seat, number, until });
            state.count_orders();
            if let Some(deadline) = state.deadline() {
                let later = state.after_absences(deadline);
                if later != deadline {
                    extend(state, later, effects);
                }
            }
        }
        // PM-41: only the paper has the words.
        Act::Press => effects.push(|| Effect::Pressed { seat, number }),
        // PM-42: the newest paper counts.
        Act::Ahead(ahead) => {
            if let Some(own) = state.seat_mut(seat) {
                let is_empty = ahead.plays.is_empty() && ahead.lines.is_empty();
                own.ahead = if is_empty { None } else { Some(ahead) };
            }
            effects.push(|| Effect::Ahead { seat, number });
        }
    }
    go_on(state, awaited_seals, effects);
}

/// Puts offers into effect to which all living seats with a voice agreed, in the order of the seats that made them.
fn take_effect(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    while state.phase == Phase::Open
        && let Some((seat, open)) = take_agreed(state)
    {
        let nth = open.nth;
        let digest = open.digest;
        match open.offer {
            Offer::End(ending) => end(state, MatchEnd::Ended(ending), effects),
            // The time may have passed, or the key been used, while the offer was open.
            Offer::Extend(until) if state.clock.is_none_or(|clock| until > clock) => {
                extend(state, until, effects);
            }
            Offer::Replace { seat: replaced, player } if !state.is_used(&player) => {
                replace(state, replaced, player, effects);
            }
            Offer::Extend(_) | Offer::Replace { .. } => effects.push(|| Effect::Lapsed { seat, nth, digest }),
            Offer::Takeback { branch, seq } => take_back(state, Standing { branch, seq }, effects),
        }
    }
}

fn take_agreed(state: &mut State) -> Option<(Seat, OpenOffer)> {
    let mut agreed = None;
    for (by, open) in &state.offers {
        if state.living().all(|seat| !open.asks(seat) || open.agreed.contains(&seat)) {
            agreed = Some(*by);
            break;
        }
    }
    state.offers.remove_entry(&agreed?)
}

/// PM-20, PM-60, PM-83: gives the seat to another player.
fn replace(state: &mut State, seat: Seat, player: Player, effects: &mut impl EffectSink<Effect>) {
    effects.push(|| Effect::Replaced { seat, name: player.name().into() });
    take_seat(state, seat, player);
    let must_seal = state.seat(seat).is_some_and(|own| state.must_seal(own));
    if let Some(own) = state.seat_mut(seat) {
        own.misses = 0;
        own.gone = false;
        own.replaced = own.replaced.saturating_add(1);
        // The numbers of the earlier player's papers do not bind the new one.
        own.number = 0;
        own.order_number = 0;
        match &mut own.asked {
            // The new player can change the order until the deadline, which the others' orders do not bring forward. A
            // seal that was not needed does not bind them, because without a key they cannot send what it names.
            Asked::Ordered(order) => {
                order.waits = true;
                order.as_sealed &= must_seal;
            }
            Asked::Defaulted | Asked::Sealed(_) if !must_seal => own.asked = Asked::Yes,
            _ => {}
        }
        // The new player has announced nothing.
        own.absent = None;
        own.absent_seconds = 0;
        own.ahead = None;
    }
}

/// Drops the turn: the game continues from an earlier position.
fn take_back(state: &mut State, to: Standing, effects: &mut impl EffectSink<Effect>) {
    state.played.clear();
    state.count_orders();
    for seat in &mut state.seats {
        // PM-42: they were for turns that will differ now.
        seat.ahead = None;
        if seat.asked != Asked::Not {
            seat.asked = Asked::Settled;
        }
    }
    state.takeback = Some(to);
    become_ready(state, effects);
}

/// PM-17: does what the clock does to an open turn.
fn pass_deadline(state: &mut State, at: DeskTime, effects: &mut impl EffectSink<Effect>) {
    if state.phase != Phase::Open || state.stand.is_none_or(|stand| at < stand.deadline) {
        return;
    }
    let awaited_seals = state.awaits_seals();
    let missing = state.seats_that(|own| state.is_awaited(own));
    let policy = state.terms.missed;
    let patience = state.terms.patience;
    let mut going = Vec::new();
    for &seat in &missing {
        let Some(own) = state.seat_mut(seat) else { continue };
        own.misses = own.misses.saturating_add(1);
        let misses = own.misses;
        // PM-84: with `second` the match waits for a seat once.
        if policy == Missed::Default || policy == Missed::Second && misses >= 2 {
            own.asked = Asked::Defaulted;
        }
        if patience > 0 && misses >= patience {
            going.push(seat);
        }
        effects.push(|| Effect::Missed { seat, misses });
    }
    if !going.is_empty() {
        leave(state, &going, None, effects);
        take_effect(state, effects);
    }
    let still_asked = state.seats_that(|own| matches!(own.asked, Asked::Yes | Asked::Sealed(_)));
    if state.phase == Phase::Open && missing.iter().any(|seat| still_asked.contains(seat)) {
        state.count_orders();
        extend(state, state.after_absences(at.after_hours(state.terms.hours)), effects);
    }
    go_on(state, awaited_seals, effects);
}

/// Lets seats leave together; `number` is that of the paper with which a seat resigned.
fn leave(state: &mut State, going: &[Seat], number: Option<u32>, effects: &mut impl EffectSink<Effect>) {
    for &seat in going {
        let Some(own) = state.seat_mut(seat) else { continue };
        own.gone = true;
        own.ahead = None;
        if own.asked != Asked::Not {
            own.asked = Asked::Defaulted;
        }
        effects.push(|| Effect::Gone { seat, number });
    }
    let living: Vec<Seat> = state.living().collect();
    match living.as_slice() {
        [] => end(state, MatchEnd::Ended(Ending::Void), effects),
        [last] => end(state, MatchEnd::Ended(Ending::Won(*last)), effects),
        _ => {}
    }
}

/// PM-11: gives a seat to a player. From now on no other player can use this name or key.
fn take_seat(state: &mut State, seat: Seat, player: Player) {
    state.names_used.insert(player.name().into());
    state.keys_used.extend(player.key().map(SeatKey::to_base64));
    if let Some(own) = state.seat_mut(seat) {
        own.player = Some(player);
        // FD-15 of `dice.md`: a new key ends the chain.
        if let Some(dice) = &mut own.dice {
            dice.ended = true;
        }
    }
}

fn extend(state: &mut State, until: DeskTime, effects: &mut impl EffectSink<Effect>) {
    if let Some(stand) = &mut state.stand {
        stand.deadline = until;
        state.reminded = None;
        effects.push(|| Effect::Extended { until });
    }
}

fn end(state: &mut State, result: MatchEnd, effects: &mut impl EffectSink<Effect>) {
    state.phase = Phase::Over(result);
    effects.push(|| Effect::Over { result: result.to_string() });
}

/// PM-18: makes the turn ready to be carried out.
fn become_ready(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    state.renew_contributions();
    state.phase = Phase::Ready;
    let turn = state.turn();
    effects.push(|| Effect::Ready { turn });
}

/// Does what follows from the last step in an open turn.
fn go_on(state: &mut State, awaited_seals: bool, effects: &mut impl EffectSink<Effect>) {
    if state.phase != Phase::Open {
        return;
    }
    // PM-16: the first deadline was only for the seals.
    if awaited_seals
        && !state.awaits_seals()
        && let Some(stand) = state.stand
    {
        extend(state, stand.deadline.after_hours(state.terms.hours), effects);
    }
    if is_ready(state) {
        become_ready(state, effects);
    }
}

/// Returns `true` once nothing is awaited and the turn may be carried out (PM-18).
fn is_ready(state: &State) -> bool {
    let mut waits = false;
    for seat in &state.seats {
        match &seat.asked {
            Asked::Yes | Asked::Sealed(_) => return false,
            Asked::Ordered(order) => waits |= order.waits,
            Asked::Not | Asked::Defaulted | Asked::Settled => {}
        }
    }
    let is_at_deadline = state.clock >= state.stand.map(|stand| stand.deadline);
    state.terms.hurry && !waits || is_at_deadline
}
