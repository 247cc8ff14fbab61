//! The model of offers, takebacks and substitutes (PM-20, PM-82, PM-83), and random offers.

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::Seat;
use turnfold_core::dice::DiceStream;
use turnfold_core::paper::{Ending, Offer, Player, SeatKey};

use super::announced::Announced;
use super::driver::time;
use super::relay::Relay;
use super::turns::Kind;
use super::turns::{Id, Model, Paper, Phase, Status};
use turnfold_tests::players::key;

/// What a seat offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Offered {
    Draw,
    Void,
    Extend(u64),
    /// To the position of this turn.
    Takeback(u32),
    /// PM-83: the seat goes to the substitute with this number, with a key or without one.
    Replace {
        seat: usize,
        player: u32,
        is_plain: bool,
    },
}

/// An offer that waits for answers.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    pub(crate) nth: u32,
    pub(crate) id: Id,
    pub(crate) offered: Offered,
    pub(crate) agreed: BTreeSet<usize>,
}

/// The open offers by seat, and the number of all offers so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offers {
    pub(crate) open: BTreeMap<usize, Open>,
    made: u32,
}

/// A turn position: branch and entry, the game there, the asked seats, and the seats that had not played in the round.
#[derive(Clone, Debug)]
pub(crate) struct Stand {
    pub(crate) line: usize,
    pub(crate) seq: u64,
    pub(crate) game: Relay,
    pub(crate) asked: Vec<usize>,
    pub(crate) unplayed: Vec<usize>,
}

impl Open {
    /// Returns `true` if a seat has a vote.
    fn asks(&self, seat: usize) -> bool {
        !matches!(self.offered, Offered::Replace { seat: replaced, .. } if replaced == seat)
    }
}

impl Model {
    /// Returns the turn position that a takeback names: the first at that entry.
    fn stand_of(&self, turn: u32) -> Option<usize> {
        let named = self.stands.get(usize::try_from(turn.checked_sub(1)?).unwrap())?;
        let is_same = |stand: &Stand| (stand.line, stand.seq) == (named.line, named.seq);
        self.stands.iter().position(is_same)
    }

    /// Returns the result of an offer or an answer, or `None` for another paper.
    pub(super) fn judge_offer(&self, paper: &Paper) -> Option<Result<(), &'static str>> {
        let offered = match &paper.kind {
            Kind::Offer(offered) => offered,
            Kind::Answer { to, .. } => {
                let is_open = self.offers.open.values().any(|open| open.id == *to && open.asks(paper.seat));
                return Some(if is_open { Ok(()) } else { Err("ignored no_such_offer") });
            }
            _ => return None,
        };
        if paper.turn > self.turn {
            return Some(Err("rejected not_yet"));
        }
        if paper.turn < self.turn {
            return Some(Err("ignored late"));
        }
        Some(match offered {
            Offered::Extend(until) if self.clock.is_some_and(|clock| *until <= clock) => {
                Err("ignored not_later")
            }
            Offered::Takeback(turn) => {
                let is_earlier = self.stand_of(*turn).is_some_and(|stand| stand + 1 < self.stands.len());
                if is_earlier { Ok(()) } else { Err("ignored no_such_stand") }
            }
            Offered::Replace { seat, is_plain: true, .. } if !self.terms.plain.contains(seat) => {
                Err("rejected not_in_terms")
            }
            Offered::Draw | Offered::Void | Offered::Extend(_) | Offered::Replace { .. } => Ok(()),
        })
    }

    pub(super) fn offer(&mut self, seat: usize, id: Id, offered: Offered) {
        self.offers.made += 1;
        let open = Open { nth: self.offers.made, id, offered, agreed: [seat].into() };
        self.offers.open.insert(seat, open);
        self.let_offers_take_effect();
    }

    pub(super) fn answer(&mut self, seat: usize, to: Id, agree: bool) {
        let by = self.offers.open.iter().find(|(_, open)| open.id == to).map(|(by, _)| *by).unwrap();
        if agree {
            self.offers.open.get_mut(&by).unwrap().agreed.insert(seat);
            self.let_offers_take_effect();
        } else {
            self.offers.open.remove(&by);
        }
    }

    /// PM-82: returns the offer that a player without a key means.
    pub(super) fn meant(&self, seat: usize, nth: Option<u32>) -> Option<Id> {
        let is_meant = |open: &&Open| match nth {
            Some(nth) => open.nth == nth,
            None => !open.agreed.contains(&seat),
        };
        let meant: Vec<_> =
            self.offers.open.values().filter(|open| open.asks(seat)).filter(is_meant).collect();
        if let [open] = meant[..] { Some(open.id) } else { None }
    }

    /// PM-20: carries out offers that all remaining seats with a vote agree to, in the order of the seats that made
    /// them.
    pub(super) fn let_offers_take_effect(&mut self) {
        while self.phase == Phase::Open {
            let living = self.living();
            let is_agreed =
                |open: &Open| living.iter().all(|seat| !open.asks(*seat) || open.agreed.contains(seat));
            let agreed = self.offers.open.iter().find(|(_, open)| is_agreed(open)).map(|(seat, _)| *seat);
            let Some(seat) = agreed else { return };
            match self.offers.open.remove(&seat).unwrap().offered {
                Offered::Draw => self.end("draw".into()),
                Offered::Void => self.end("void".into()),
                Offered::Extend(until) => {
                    if self.clock.is_none_or(|clock| until > clock) {
                        self.deadline = until;
                    }
                }
                Offered::Takeback(turn) => {
                    self.takeback = self.stand_of(turn);
                    for player in &mut self.players {
                        player.announced.ahead = None;
                        if !matches!(player.status, Status::NotAsked) {
                            player.status = Status::Settled;
                        }
                    }
                    self.phase = Phase::Ready;
                }
                Offered::Replace { seat, player, is_plain } => self.replace(seat, player, is_plain),
            }
        }
    }

    /// PM-83
    fn replace(&mut self, seat: usize, player: u32, is_plain: bool) {
        let must_seal = self.must_seal(seat);
        let own = &mut self.players[seat];
        (own.substitute, own.is_plain) = (player, is_plain);
        (own.misses, own.gone, own.number, own.order_number) = (0, false, 0, 0);
        own.announced = Announced::default();
        (own.sent, own.has_letter) = ([None; 2], false);
        match &mut own.status {
            Status::Ordered { waits, is_sealed, .. } => {
                *waits = true;
                *is_sealed &= must_seal;
            }
            Status::Defaulted | Status::Sealed(_) if !must_seal => own.status = Status::Nothing,
            _ => {}
        }
    }
}

/// Returns a random offer of a seat. `next` is the number of the next substitute.
pub(super) fn random(chance: &mut DiceStream, model: &Model, now: u64, next: u32) -> Offered {
    let mut draw = |many: i32| chance.draw(1, many).unsigned_abs();
    let last = u32::try_from(model.players.len()).unwrap() - 1;
    match draw(12) {
        1 => Offered::Draw,
        2 => Offered::Void,
        3..=5 => Offered::Extend(now + u64::from(draw(60)) - 1),
        6..=9 => Offered::Takeback(model.turn + 1 - draw(5).min(model.turn + 1)),
        _ => {
            let seat = usize::try_from(draw(i32::try_from(last + 1).unwrap()) - 1).unwrap();
            Offered::Replace { seat, player: next, is_plain: draw(3) == 1 }
        }
    }
}

/// Returns the label of a player's key.
pub(super) fn label(seat: usize, player: u32) -> String {
    if player == 0 { Seat::players(8)[seat].name().into() } else { format!("substitute{player}") }
}

/// Returns the name of a branch of the game.
fn line(number: usize) -> String {
    if number == 0 { "main".into() } else { format!("takeback-{number}") }
}

/// Returns the offer as the content of a paper.
pub(super) fn content(model: &Model, offered: &Offered) -> Offer {
    match offered {
        Offered::Draw => Offer::End(Ending::Draw),
        Offered::Void => Offer::End(Ending::Void),
        Offered::Extend(until) => Offer::Extend(time(*until)),
        Offered::Takeback(turn) => {
            let stand =
                turn.checked_sub(1).and_then(|index| model.stands.get(usize::try_from(index).unwrap()));
            let (number, seq) = stand.map_or((99, 0), |stand| (stand.line, stand.seq));
            Offer::Takeback { branch: line(number).parse().unwrap(), seq }
        }
        Offered::Replace { seat, player, is_plain } => {
            let (name, seat) = (label(*seat, *player), Seat::players(8)[*seat]);
            let player = if *is_plain {
                Player::plain(format!("plain-{name}").parse().unwrap())
            } else {
                Player::Signing(SeatKey::of(&key(&name)).unwrap())
            };
            Offer::Replace { seat, player }
        }
    }
}
