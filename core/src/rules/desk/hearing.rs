//! What a paper would do now (PM-10, PM-11, PM-15, PM-16, PM-20, PM-22).

use super::element::Element;
use super::reason::{Reason, Rejection};
use super::state::{Asked, OrderHeld, Phase, State};
use super::step::{Act, Fault, Step, require_winner};
use crate::digest::Digest;
use crate::paper::{Join, Offer, Order, Paper, PaperContent, SeatKey, SignedPaper};
use crate::seat::Seat;

/// PM-10: what holds for every paper, in this order. That it comes from the seat it names was checked before.
pub(super) fn plan(state: &State, seat: Seat, signed: &SignedPaper) -> Result<Step, Fault> {
    let paper = signed.paper();
    let (head, content) = (paper.head(), paper.content());
    if head.match_id != state.match_id {
        return Err(Rejection::OtherMatch.into());
    }
    // Who joins signs with the key that the paper itself brings.
    let key = match content {
        PaperContent::Join(join) => Some(&join.key),
        _ => state.seat(seat).and_then(|seat| seat.key.as_ref()),
    };
    if !key.is_some_and(|key| signed.is_by(key)) {
        return Err(Rejection::BadSignature.into());
    }
    let phase = if matches!(content, PaperContent::Join(_)) { Phase::Joining } else { Phase::Open };
    if state.phase != phase {
        return Err(Rejection::NotYet.into());
    }
    let own = state.seat(seat).ok_or(Rejection::NotAsked)?;
    if own.gone {
        return Err(Reason::Gone.into());
    }
    if let PaperContent::Join(join) = content {
        return plan_join(state, seat, join);
    }
    // An order that was sealed is older than its seal.
    let is_sealed_order =
        matches!(content, PaperContent::Order(_)) && own.asked.sealed() == Some(paper.digest());
    if head.number <= own.number && !is_sealed_order {
        return Err(Reason::Outdated.into());
    }
    Ok(Step::Paper { seat, number: head.number, act: plan_act(state, seat, paper)? })
}

fn plan_act(state: &State, seat: Seat, paper: &Paper) -> Result<Act, Fault> {
    match paper.content() {
        PaperContent::Join(_) => Err(Rejection::NotYet.into()),
        PaperContent::Order(order) => plan_order(state, seat, paper, order).map(Act::Order),
        PaperContent::Seal { link, digest } => {
            plan_seal(state, seat, paper, link).map(|()| Act::Seal(*digest))
        }
        PaperContent::Offer(offer) => {
            check_offer(state, paper, offer)?;
            Ok(Act::Offer { digest: paper.digest(), offer: offer.clone() })
        }
        PaperContent::Answer { to, agree } => {
            // PM-20: who is to be replaced has no voice.
            let open = state.offers.iter().find(|(_, open)| open.digest == *to && open.asks(seat));
            let (by, _) = open.ok_or(Reason::NoSuchOffer)?;
            Ok(Act::Answer { by: *by, digest: *to, agree: *agree })
        }
        // PM-21
        PaperContent::Resign => Ok(Act::Resign),
        // PM-22
        PaperContent::Rekey(key) => require_fresh(state, key).map(|()| Act::Rekey(key.clone())),
    }
}

/// PM-11
fn plan_join(state: &State, seat: Seat, join: &Join) -> Result<Step, Fault> {
    let own = state.seat(seat).filter(|own| own.key.is_none()).ok_or(Rejection::NotAsked)?;
    if state.is_used(&join.key) {
        return Err(Rejection::KeyInUse.into());
    }
    if !own.hosted && state.seats.iter().any(|other| other.hosted && other.key.is_none()) {
        return Err(Rejection::HostedFirst.into());
    }
    // FD-6 of `dice.md`: a head with fair dice, and only with them.
    if join.dice.is_some() != state.host_element.is_some() {
        return Err(Reason::WrongDice.into());
    }
    Ok(Step::Join { seat, key: join.key.clone(), dice: join.dice })
}

/// PM-15, PM-20: a paper of the turn.
fn require_this_turn(state: &State, paper: &Paper) -> Result<(), Fault> {
    let (turn, now) = (paper.head().turn, state.turn());
    if turn > now {
        return Err(Rejection::NotYet.into());
    }
    if turn < now { Err(Reason::Late.into()) } else { Ok(()) }
}

/// PM-15
fn require_link(state: &State, link: &Digest) -> Result<(), Reason> {
    let is_link = state.stand.is_some_and(|stand| stand.link == *link);
    if is_link { Ok(()) } else { Err(Reason::StaleLink) }
}

/// PM-15, PM-16
fn plan_order(state: &State, seat: Seat, paper: &Paper, order: &Order) -> Result<OrderHeld, Fault> {
    require_this_turn(state, paper)?;
    require_link(state, &order.link())?;
    let element = plan_element(state, seat, order)?;
    let own = state.seat(seat).ok_or(Reason::NotDue)?;
    let asked = due(&own.asked)?;
    let digest = paper.digest();
    if *asked == Asked::Yes && state.must_seal(own) {
        return Err(Reason::SealFirst.into());
    }
    if asked.sealed().is_some_and(|sealed| sealed != digest) {
        return Err(Reason::NotAsSealed.into());
    }
    if state.awaits_seals() {
        return Err(Rejection::WaitForSeals.into());
    }
    let plays = u16::try_from(order.plays().len()).unwrap_or(u16::MAX);
    let as_sealed = asked.sealed().is_some();
    Ok(OrderHeld { digest, waits: order.waits(), plays, element, as_sealed })
}

/// FD-8, FD-17 of `dice.md`: the element of this turn, exactly where the seat has a chain.
fn plan_element(state: &State, seat: Seat, order: &Order) -> Result<Option<Element>, Fault> {
    let element = order.dice();
    match u16::try_from(state.turn()) {
        Err(_) if state.host_element.is_some() => Err(Rejection::DiceExhausted.into()),
        // Without fair dice there is no last turn.
        Err(_) => {
            if element.is_none() {
                Ok(None)
            } else {
                Err(Reason::WrongDice.into())
            }
        }
        Ok(turn) if state.is_right_element(seat, turn, element.as_ref()) => {
            Ok(element.map(|element| Element { index: turn, element }))
        }
        Ok(_) => Err(Reason::WrongDice.into()),
    }
}

/// PM-16
fn plan_seal(state: &State, seat: Seat, paper: &Paper, link: &Digest) -> Result<(), Fault> {
    require_this_turn(state, paper)?;
    require_link(state, link)?;
    let is_free = state.seat(seat).is_some_and(|own| own.asked == Asked::Yes);
    if is_free { Ok(()) } else { Err(Reason::NotDue.into()) }
}

/// PM-20
fn check_offer(state: &State, paper: &Paper, offer: &Offer) -> Result<(), Fault> {
    require_this_turn(state, paper)?;
    match offer {
        Offer::Takeback { line, seq } => {
            let earlier = state.stands.split_last().map(|(_, earlier)| earlier).unwrap_or_default();
            let is_stand = earlier.iter().any(|stand| stand.line == *line && stand.seq == *seq);
            if is_stand { Ok(()) } else { Err(Reason::NoSuchStand.into()) }
        }
        Offer::End(ending) => require_winner(state, *ending),
        Offer::Extend(time) if state.clock.is_some_and(|clock| *time <= clock) => {
            Err(Reason::NotLater.into())
        }
        Offer::Extend(_) => Ok(()),
        Offer::Replace { seat, .. } if state.seat(*seat).is_none() => Err(Reason::NoSuchSeat.into()),
        Offer::Replace { key, .. } => require_fresh(state, key),
    }
}

/// PM-11, PM-20, PM-22: a name and a key that no seat has or had.
fn require_fresh(state: &State, key: &SeatKey) -> Result<(), Fault> {
    if state.is_used(key) { Err(Reason::KeyInUse.into()) } else { Ok(()) }
}

/// PM-15, PM-16: what the seat is asked, if an order or seal of it is due.
fn due(asked: &Asked) -> Result<&Asked, Reason> {
    match asked {
        Asked::Yes | Asked::Sealed(_) | Asked::Ordered(_) => Ok(asked),
        Asked::Not | Asked::Defaulted | Asked::Settled => Err(Reason::NotDue),
    }
}
