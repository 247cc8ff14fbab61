//! What a command or paper would do now: a plan, or why there is none (PM-9). First the host's commands, then papers (PM-10).

use core::cmp::Ordering;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::command::{AskedSeats, Command};
use super::reason::{Reason, Rejection};
use super::state::{
    AheadHeld, Asked, DAY_SECONDS, Element, OrderHeld, Phase, ReplyHeld, SeatState, Secret, Standing, State,
};
use crate::digest::Digest;
use crate::names::BranchName;
use crate::outcome::Verdict;
use crate::paper::{
    DeskTime, Ending, Join, Offer, Order, OrdersAhead, Paper, PaperContent, PaperLine, Player, Press,
    SignedPaper,
};
use crate::seat::Seat;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan(pub(super) Step);

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Join {
        seat: Seat,
        player: Player,
        dice: Option<Digest>,
    },
    /// What a paper of a seat does, with the number of the paper.
    Paper {
        seat: Seat,
        number: u32,
        act: Act,
    },
    Clock(DeskTime),
    Stand {
        standing: Standing,
        link: Digest,
        state: Option<Digest>,
        seats: Vec<Seat>,
        clock: DeskTime,
    },
    Carried {
        seat: Seat,
        digest: Digest,
        count: u16,
    },
    Refused {
        seat: Seat,
        digest: Digest,
        code: String,
    },
    Rolled {
        number: u16,
        element: Digest,
        branch: BranchName,
        seq: u64,
    },
    Extend(DeskTime),
    Close(Ending),
    Remind(u16),
    /// The host gives a seat to another player (PM-60).
    Replace {
        seat: Seat,
        player: Player,
    },
}

/// What a paper does, besides taking a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Order(OrderHeld),
    Seal(Digest),
    Offer { digest: Digest, offer: Offer },
    Answer { by: Seat, nth: u32, digest: Digest, agree: bool },
    Resign,
    Rekey(Player),
    Absent { until: DeskTime, seconds: u64 },
    Press,
    Ahead(AheadHeld),
}

/// PM-9: why something is not applied.
enum Fault {
    Ignored(Reason),
    Rejected(Rejection),
}

impl From<Reason> for Fault {
    fn from(reason: Reason) -> Self {
        Self::Ignored(reason)
    }
}

impl From<Rejection> for Fault {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

/// PM-20, PM-21: requires the winner to have a seat.
fn require_winner(state: &State, ending: Ending) -> Result<(), Fault> {
    match ending {
        Ending::Won(seat) if state.seat(seat).is_none() => Err(Reason::NoSuchSeat.into()),
        _ => Ok(()),
    }
}

pub(super) fn decide(
    state: &State,
    seat: Seat,
    command: &Command,
) -> Result<Verdict<Plan, Reason>, Rejection> {
    match plan(state, seat, command) {
        Ok(step) => Ok(Verdict::Applied(Plan(step))),
        Err(Fault::Ignored(reason)) => Ok(Verdict::Ignored(reason)),
        Err(Fault::Rejected(rejection)) => Err(rejection),
    }
}

fn plan(state: &State, seat: Seat, command: &Command) -> Result<Step, Fault> {
    match command {
        Command::Paper(paper) => plan_signed(state, seat, paper),
        // PM-12: otherwise late papers would be in time again.
        Command::Clock(time) if state.clock.is_some_and(|clock| *time <= clock) => {
            Err(Rejection::ClockBack.into())
        }
        Command::Clock(time) => Ok(Step::Clock(*time)),
        Command::Stand { branch, seq, link, state: hash, seats } => {
            let clock = check_stand(state, branch, *seq, seats)?;
            let standing = Standing { branch: branch.clone(), seq: *seq };
            let seats = seats.as_slice().to_vec();
            Ok(Step::Stand { standing, link: *link, state: *hash, seats, clock })
        }
        Command::Carried { digest, count } => {
            let (seat, order) = order_to_settle(state, digest)?;
            let count = u16::from(*count);
            if count > order.plays {
                return Err(Rejection::UnknownOrder.into());
            }
            Ok(Step::Carried { seat, digest: *digest, count })
        }
        Command::Refused { digest, code } => {
            let (seat, _) = order_to_settle(state, digest)?;
            Ok(Step::Refused { seat, digest: *digest, code: code.clone().into() })
        }
        Command::Rolled { number, element, branch, seq } => {
            let number = check_roll(state, *number, element)?;
            Ok(Step::Rolled { number, element: *element, branch: branch.clone(), seq: *seq })
        }
        // PM-8: only a turn that waits has a deadline to move.
        Command::Extend { .. } if state.phase != Phase::Open => Err(Rejection::WrongPhase.into()),
        // PM-21: no player loses time.
        Command::Extend { until, .. } => {
            let is_later = state.stand.is_some_and(|stand| *until > stand.deadline);
            if is_later { Ok(Step::Extend(*until)) } else { Err(Reason::NotLater.into()) }
        }
        Command::Plain(plain) => plan_plain(state, seat, plain.paper()),
        // PM-40: once for each of the hours in the terms.
        Command::Remind(hours) => {
            let is_due = state.clock.is_some_and(|clock| state.reminders_due(clock).any(|due| due == *hours));
            if is_due { Ok(Step::Remind(*hours)) } else { Err(Rejection::NoReminder.into()) }
        }
        Command::Replace { seat, player, .. } => plan_replacement(state, *seat, player),
        // PM-21: at any time.
        Command::Close { result, .. } => {
            require_winner(state, *result)?;
            Ok(Step::Close(*result))
        }
    }
}

/// PM-13: checks when and where a turn may begin, and returns the clock. The desk cannot see whether link and hash
/// belong to the game, nor which seats must be asked (PM-14).
fn check_stand(
    state: &State,
    branch: &BranchName,
    seq: u64,
    seats: &AskedSeats,
) -> Result<DeskTime, Rejection> {
    if state.phase != Phase::Ready || state.next_order().is_some() {
        return Err(Rejection::Unsettled);
    }
    let clock = state.clock.ok_or(Rejection::NoClock)?;
    if !seats.as_slice().iter().all(|seat| state.seat(*seat).is_some_and(|seat| !seat.gone)) {
        return Err(Rejection::NotAsked);
    }
    let goes_on = match (&state.takeback, state.stands.last()) {
        (Some(from), _) => state.stands.iter().all(|stand| stand.branch != *branch) && seq >= from.seq,
        (None, Some(from)) => from.branch == *branch && seq >= from.seq,
        // A game begins on its branch `main`.
        (None, None) => branch.as_str() == "main",
    };
    if goes_on { Ok(clock) } else { Err(Rejection::LineChange) }
}

/// PM-8, PM-19: returns the order with this digest, which must be the next one to settle.
fn order_to_settle<'a>(state: &'a State, digest: &Digest) -> Result<(Seat, &'a OrderHeld), Rejection> {
    if state.phase != Phase::Ready {
        return Err(Rejection::WrongPhase);
    }
    match state.next_order() {
        Some((seat, order)) if order.digest == *digest => Ok((seat, order)),
        _ => Err(Rejection::UnknownOrder),
    }
}

/// PM-60: plans that the host alone gives a seat to another player, if the terms allow that.
fn plan_replacement(state: &State, seat: Seat, player: &Player) -> Result<Step, Fault> {
    if !state.terms.host_replaces {
        return Err(Rejection::NotInTerms.into());
    }
    if state.phase != Phase::Open {
        return Err(Rejection::WrongPhase.into());
    }
    require_new_player(state, seat, player)?;
    Ok(Step::Replace { seat, player: player.clone() })
}

/// FD-7, FD-10, FD-17 of `dice.md`: checks the next roll and the element that the host opens for it.
fn check_roll(state: &State, number: u32, element: &Digest) -> Result<u16, Rejection> {
    if state.phase != Phase::Ready {
        return Err(Rejection::WrongPhase);
    }
    if state.host_element.is_none() {
        return Err(Rejection::WrongRoll);
    }
    let number = u16::try_from(number).map_err(|_| Rejection::DiceExhausted)?;
    if state.is_next_roll(number, element) { Ok(number) } else { Err(Rejection::WrongRoll) }
}

/// PM-10: makes the checks of every paper, in this order. That the named seat gave it was checked before.
fn plan_signed(state: &State, seat: Seat, signed: &SignedPaper) -> Result<Step, Fault> {
    let paper = signed.paper();
    require_match(state, paper)?;
    // A player who joins signs with the key that the paper itself brings.
    let key = match paper.content() {
        PaperContent::Join(join) => Some(&join.key),
        _ => state.seat(seat).and_then(SeatState::key),
    };
    if !key.is_some_and(|key| signed.is_by(key)) {
        return Err(Rejection::BadSignature.into());
    }
    plan_paper(state, seat, paper)
}

/// PM-38: plans a paper without a signature, of a seat whose player has no key.
fn plan_plain(state: &State, seat: Seat, paper: &Paper) -> Result<Step, Fault> {
    require_match(state, paper)?;
    let may = match paper.content() {
        PaperContent::Enter(_) => state.terms.plain.contains(&seat),
        PaperContent::Join(_) | PaperContent::Seal { .. } | PaperContent::Rekey(_) => false,
        _ => state.plays_plainly(seat),
    };
    if may { plan_paper(state, seat, paper) } else { Err(Rejection::NotInTerms.into()) }
}

/// Requires that a paper is for this match (PM-10).
fn require_match(state: &State, paper: &Paper) -> Result<(), Rejection> {
    if paper.head().match_id == state.match_id { Ok(()) } else { Err(Rejection::OtherMatch) }
}

/// PM-10: makes the checks that come after the signature.
fn plan_paper(state: &State, seat: Seat, paper: &Paper) -> Result<Step, Fault> {
    let head = paper.head();
    let content = paper.content();
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
    // A sealed order has a lower number than its seal.
    let is_sealed_order =
        matches!(content, PaperContent::Order(_)) && own.asked.sealed() == Some(paper.digest());
    let last = match content {
        // PM-81: orders are numbered apart, so that a viewer who may not read them judges other papers alike.
        PaperContent::Order(_) | PaperContent::Ahead(_) => own.order_number,
        _ => own.number,
    };
    // PM-62: words depend on no other paper.
    let is_press = matches!(content, PaperContent::Press(_));
    if head.number <= last && !is_sealed_order && !is_press {
        return Err(Reason::Outdated.into());
    }
    Ok(Step::Paper { seat, number: head.number, act: plan_act(state, seat, paper)? })
}

fn plan_act(state: &State, seat: Seat, paper: &Paper) -> Result<Act, Fault> {
    match paper.content() {
        PaperContent::Join(_) | PaperContent::Enter(_) => Err(Rejection::NotYet.into()),
        PaperContent::Order(order) => Ok(Act::Order(plan_order(state, seat, paper, order)?)),
        PaperContent::Seal { link, digest } => {
            plan_seal(state, seat, paper, link)?;
            Ok(Act::Seal(*digest))
        }
        PaperContent::Offer(offer) => {
            check_offer(state, paper, offer)?;
            Ok(Act::Offer { digest: paper.digest(), offer: offer.clone() })
        }
        PaperContent::Answer { to, agree } => {
            // PM-20: a seat that is to be replaced has no voice.
            let open = state.offers.iter().find(|(_, open)| open.digest == *to && open.asks(seat));
            let (by, open) = open.ok_or(Reason::NoSuchOffer)?;
            Ok(Act::Answer { by: *by, nth: open.nth, digest: *to, agree: *agree })
        }
        // PM-21: any seat, even if it is not asked.
        PaperContent::Resign => Ok(Act::Resign),
        // PM-22: the old key has signed it (PM-10).
        PaperContent::Rekey(key) => {
            let player = Player::Signing(key.clone());
            require_fresh(state, &player)?;
            Ok(Act::Rekey(player))
        }
        PaperContent::Absent(until) => plan_absence(state, seat, *until),
        PaperContent::Press(press) => plan_press(state, press),
        PaperContent::Ahead(ahead) => plan_ahead(state, paper, ahead),
    }
}

/// Plans an absence, if the seat has enough days left (PM-39).
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
    // Whole days, because each absence adds the hours of a turn: many short ones would gain much time.
    let seconds = seconds.div_ceil(DAY_SECONDS).saturating_mul(DAY_SECONDS);
    let seconds = own.map_or(0, |own| own.absent_seconds).saturating_add(seconds);
    let is_too_long = seconds > u64::from(state.terms.absences) * DAY_SECONDS;
    if is_too_long { Err(Reason::TooLong.into()) } else { Ok(Act::Absent { until, seconds }) }
}

/// Plans a message to seats of the match (PM-41).
fn plan_press(state: &State, press: &Press) -> Result<Act, Fault> {
    if !state.terms.press {
        return Err(Rejection::NotInTerms.into());
    }
    let is_known = press.to().seats().iter().all(|seat| state.seat(*seat).is_some());
    if is_known { Ok(Act::Press) } else { Err(Reason::NoSuchSeat.into()) }
}

/// Plans orders for later turns (PM-42).
fn plan_ahead(state: &State, paper: &Paper, ahead: &OrdersAhead) -> Result<Act, Fault> {
    if !state.terms.ahead {
        return Err(Rejection::NotInTerms.into());
    }
    if ahead.turns().keys().any(|turn| *turn <= state.turn()) {
        return Err(Reason::Late.into());
    }
    let mut plays = BTreeMap::new();
    for (turn, commands) in ahead.turns() {
        let count = u16::try_from(commands.len()).unwrap_or(u16::MAX);
        plays.insert(*turn, (count, PaperLine::digest_of(commands)));
    }
    // PM-122: the order of another seat must be known to all once it was carried out.
    if !ahead.lines().is_empty() && (state.players().len() > 2 || state.terms.secret == Secret::No) {
        return Err(Rejection::NotInTerms.into());
    }
    let mut lines = Vec::new();
    for line in ahead.lines() {
        lines.push(line.iter().map(ReplyHeld::from).collect());
    }
    let after = ahead.after().map(PaperLine::digest);
    Ok(Act::Ahead(AheadHeld { digest: paper.digest(), plays, after, lines }))
}

/// Plans that a player without a key takes a seat (PM-11, PM-38).
fn plan_enter(state: &State, seat: Seat, name: &PaperLine) -> Result<Step, Fault> {
    require_free(state, seat)?;
    let player = Player::plain(name.clone());
    if state.is_used(&player) {
        return Err(Rejection::KeyInUse.into());
    }
    Ok(Step::Join { seat, player, dice: None })
}

/// PM-11: requires that no one has the seat, and that hosted seats are taken first.
fn require_free(state: &State, seat: Seat) -> Result<(), Rejection> {
    let own = state.seat(seat).ok_or(Rejection::NotAsked)?;
    if !state.is_free(seat) {
        return Err(Rejection::NotAsked);
    }
    let is_hosted_free = state.seats.iter().any(|other| other.hosted && other.player.is_none());
    if !own.hosted && is_hosted_free { Err(Rejection::HostedFirst) } else { Ok(()) }
}

/// Plans that a player with a key takes a seat (PM-11).
fn plan_join(state: &State, seat: Seat, join: &Join) -> Result<Step, Fault> {
    if !state.is_free(seat) {
        return Err(Rejection::NotAsked.into());
    }
    let player = Player::Signing(join.key.clone());
    if state.is_used(&player) {
        return Err(Rejection::KeyInUse.into());
    }
    require_free(state, seat)?;
    // FD-6 of `dice.md`: a head with fair dice, and only with them.
    if join.dice.is_some() != state.host_element.is_some() {
        return Err(Reason::WrongDice.into());
    }
    Ok(Step::Join { seat, player, dice: join.dice })
}

/// PM-15, PM-20: requires a paper of this turn.
fn require_this_turn(state: &State, paper: &Paper) -> Result<(), Fault> {
    match paper.head().turn.cmp(&state.turn()) {
        Ordering::Greater => Err(Rejection::NotYet.into()),
        Ordering::Less => Err(Reason::Late.into()),
        Ordering::Equal => Ok(()),
    }
}

/// Requires that a paper was written for the current position (PM-15).
fn require_link(state: &State, link: &Digest) -> Result<(), Reason> {
    let is_link = state.stand.is_some_and(|stand| stand.link == *link);
    if is_link { Ok(()) } else { Err(Reason::StaleLink) }
}

/// Plans an order, which may require a seal first (PM-15, PM-16).
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
    let plays_digest = PaperLine::digest_of(order.plays());
    let as_sealed = asked.sealed().is_some();
    Ok(OrderHeld { digest, waits: order.waits(), plays, plays_digest, element, as_sealed })
}

/// FD-8, FD-17 of `dice.md`: returns the element of this turn, which is required exactly if the seat has a chain.
fn plan_element(state: &State, seat: Seat, order: &Order) -> Result<Option<Element>, Fault> {
    let element = order.dice();
    match u16::try_from(state.turn()) {
        Err(_) if state.host_element.is_some() => Err(Rejection::DiceExhausted.into()),
        // Without fair dice there is no last turn.
        Err(_) if element.is_none() => Ok(None),
        Ok(turn) if state.is_right_element(seat, turn, element.as_ref()) => {
            Ok(element.map(|element| Element { index: turn, element }))
        }
        _ => Err(Reason::WrongDice.into()),
    }
}

/// Requires that a seal can be taken: once a turn, and before the order (PM-16).
fn plan_seal(state: &State, seat: Seat, paper: &Paper, link: &Digest) -> Result<(), Fault> {
    require_this_turn(state, paper)?;
    require_link(state, link)?;
    let is_free = state.seat(seat).is_some_and(|own| own.asked == Asked::Yes);
    if is_free { Ok(()) } else { Err(Reason::NotDue.into()) }
}

/// Requires that an offer could take effect (PM-20).
fn check_offer(state: &State, paper: &Paper, offer: &Offer) -> Result<(), Fault> {
    require_this_turn(state, paper)?;
    match offer {
        Offer::Takeback { branch, seq } => {
            if let Some((_, earlier)) = state.stands.split_last()
                && earlier.iter().any(|stand| stand.branch == *branch && stand.seq == *seq)
            {
                return Ok(());
            }
            Err(Reason::NoSuchStand.into())
        }
        Offer::End(ending) => require_winner(state, *ending),
        Offer::Extend(time) if state.clock.is_some_and(|clock| *time <= clock) => {
            Err(Reason::NotLater.into())
        }
        Offer::Extend(_) => Ok(()),
        Offer::Replace { seat, player } => require_new_player(state, *seat, player),
    }
}

/// PM-11, PM-20, PM-22: requires a name and a key that no seat has or had.
fn require_fresh(state: &State, player: &Player) -> Result<(), Fault> {
    if state.is_used(player) { Err(Reason::KeyInUse.into()) } else { Ok(()) }
}

/// PM-20, PM-60, PM-83: checks who may get a seat; only a seat in `plain` may be without a key.
fn require_new_player(state: &State, seat: Seat, player: &Player) -> Result<(), Fault> {
    if state.seat(seat).is_none() {
        return Err(Reason::NoSuchSeat.into());
    }
    if player.key().is_none() && !state.terms.plain.contains(&seat) {
        return Err(Rejection::NotInTerms.into());
    }
    require_fresh(state, player)
}

/// PM-15, PM-16: returns what the seat is asked, if its order or seal is due.
fn due(asked: &Asked) -> Result<&Asked, Reason> {
    match asked {
        Asked::Yes | Asked::Sealed(_) | Asked::Ordered(_) => Ok(asked),
        Asked::Not | Asked::Defaulted | Asked::Settled => Err(Reason::NotDue),
    }
}
