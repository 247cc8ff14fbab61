//! What a paper would do now (PM-10, PM-11, PM-15, PM-16, PM-20, PM-22, PM-38 to PM-42).

use alloc::vec::Vec;

use super::element::Element;
use super::reason::{Reason, Rejection};
use super::state::{AheadHeld, Asked, OrderHeld, Phase, SeatState, State};
use super::step::{Act, Fault, Step, require_winner};
use crate::digest::Digest;
use crate::paper::{
    DeskTime, Join, Offer, Order, OrdersAhead, Paper, PaperContent, PaperLine, Press, SeatKey, SignedPaper,
};
use crate::seat::Seat;

/// PM-10: what holds for every paper, in this order. That it comes from the seat it names was checked before.
pub(super) fn plan(state: &State, seat: Seat, signed: &SignedPaper) -> Result<Step, Fault> {
    let (paper, content) = (signed.paper(), signed.paper().content());
    require_match(state, paper)?;
    // Who joins signs with the key that the paper itself brings.
    let key = match content {
        PaperContent::Join(join) => Some(&join.key),
        _ => state.seat(seat).and_then(SeatState::key),
    };
    if !key.is_some_and(|key| signed.is_by(key)) {
        return Err(Rejection::BadSignature.into());
    }
    plan_paper(state, seat, paper)
}

/// PM-38: a paper without a signature, of a seat whose player has no key.
pub(super) fn plan_plain(state: &State, seat: Seat, paper: &Paper) -> Result<Step, Fault> {
    require_match(state, paper)?;
    let may = match paper.content() {
        PaperContent::Enter(_) => state.terms.plain.contains(&seat),
        PaperContent::Join(_) | PaperContent::Seal { .. } | PaperContent::Rekey(_) => false,
        _ => state.plays_plainly(seat),
    };
    if may { plan_paper(state, seat, paper) } else { Err(Rejection::NotInTerms.into()) }
}

/// PM-10
fn require_match(state: &State, paper: &Paper) -> Result<(), Rejection> {
    if paper.head().match_id == state.match_id { Ok(()) } else { Err(Rejection::OtherMatch) }
}

/// PM-10: what comes after the signature.
fn plan_paper(state: &State, seat: Seat, paper: &Paper) -> Result<Step, Fault> {
    let (head, content) = (paper.head(), paper.content());
    let joins = matches!(content, PaperContent::Join(_) | PaperContent::Enter(_));
    let phase = if joins { Phase::Joining } else { Phase::Open };
    if state.phase != phase {
        return Err(Rejection::NotYet.into());
    }
    let own = state.seat(seat).ok_or(Rejection::NotAsked)?;
    if own.gone {
        return Err(Reason::Gone.into());
    }
    match content {
        PaperContent::Join(join) => return plan_join(state, seat, join),
        PaperContent::Enter(name) => return plan_enter(state, seat, name),
        _ => {}
    }
    // An order that was sealed is older than its seal.
    let is_sealed_order =
        matches!(content, PaperContent::Order(_)) && own.asked.sealed() == Some(paper.digest());
    // PM-62: words depend on no other paper.
    let is_press = matches!(content, PaperContent::Press(_));
    if head.number <= own.number && !is_sealed_order && !is_press {
        return Err(Reason::Outdated.into());
    }
    Ok(Step::Paper { seat, number: head.number, act: plan_act(state, seat, paper)? })
}

fn plan_act(state: &State, seat: Seat, paper: &Paper) -> Result<Act, Fault> {
    match paper.content() {
        PaperContent::Join(_) | PaperContent::Enter(_) => Err(Rejection::NotYet.into()),
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
        PaperContent::Absent(until) => plan_absence(state, seat, *until),
        PaperContent::Press(press) => plan_press(state, press),
        PaperContent::Ahead(ahead) => plan_ahead(state, paper, ahead),
    }
}

/// PM-39
fn plan_absence(state: &State, seat: Seat, until: DeskTime) -> Result<Act, Fault> {
    if state.terms.absences == 0 {
        return Err(Rejection::NotInTerms.into());
    }
    let own = state.seat(seat);
    let from = own.and_then(|own| own.absent).max(state.clock).ok_or(Rejection::NotYet)?;
    let seconds = until.unix_seconds().saturating_sub(from.unix_seconds());
    if seconds == 0 {
        return Err(Reason::NotLater.into());
    }
    let seconds = own.map_or(0, |own| own.absent_seconds).saturating_add(seconds);
    let is_too_long = seconds > u64::from(state.terms.absences) * 24 * 60 * 60;
    if is_too_long { Err(Reason::TooLong.into()) } else { Ok(Act::Absent { until, seconds }) }
}

/// PM-41
fn plan_press(state: &State, press: &Press) -> Result<Act, Fault> {
    if !state.terms.press {
        return Err(Rejection::NotInTerms.into());
    }
    let is_known = press.to().seats().iter().all(|seat| state.seat(*seat).is_some());
    if is_known { Ok(Act::Press) } else { Err(Reason::NoSuchSeat.into()) }
}

/// PM-42
fn plan_ahead(state: &State, paper: &Paper, ahead: &OrdersAhead) -> Result<Act, Fault> {
    if !state.terms.ahead {
        return Err(Rejection::NotInTerms.into());
    }
    if ahead.turns().keys().any(|turn| *turn <= state.turn()) {
        return Err(Reason::Late.into());
    }
    let count = |plays: &Vec<PaperLine>| u16::try_from(plays.len()).unwrap_or(u16::MAX);
    let plays = ahead.turns().iter().map(|(turn, plays)| (*turn, count(plays))).collect();
    Ok(Act::Ahead(AheadHeld { digest: paper.digest(), plays }))
}

/// PM-11, PM-38
fn plan_enter(state: &State, seat: Seat, name: &PaperLine) -> Result<Step, Fault> {
    require_free(state, seat)?;
    let name = name.name();
    if state.names_used.contains(&name) {
        return Err(Rejection::KeyInUse.into());
    }
    Ok(Step::Enter { seat, name })
}

/// PM-11: no one has the seat, and seats that the host plays are taken first.
fn require_free(state: &State, seat: Seat) -> Result<(), Rejection> {
    let own = state.seat(seat).filter(|_| state.is_free(seat)).ok_or(Rejection::NotAsked)?;
    let is_hosted_free = state.seats.iter().any(|other| other.hosted && other.player.is_none());
    if !own.hosted && is_hosted_free { Err(Rejection::HostedFirst) } else { Ok(()) }
}

/// PM-11
fn plan_join(state: &State, seat: Seat, join: &Join) -> Result<Step, Fault> {
    if !state.is_free(seat) {
        return Err(Rejection::NotAsked.into());
    }
    if state.is_used(&join.key) {
        return Err(Rejection::KeyInUse.into());
    }
    require_free(state, seat)?;
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
