//! Players of a match by mail, who write papers from what they know of the desk.

use std::collections::BTreeMap;

use turnfold_core::Seat;
use turnfold_core::dice::fair::{Chain, Owner};
use turnfold_core::paper::{
    Join, MatchId, Nonce, Order, Paper, PaperContent, PaperHead, SeatKey, SeenRoot, SignedPaper,
};
use turnfold_core::trust::{KeyKind, PrivateKey};
use turnfold_mail::DeskHistory;

/// What players know of a match.
pub struct DeskView {
    pub desk: DeskHistory,
    pub match_id: [u8; 16],
    pub is_fair: bool,
}

/// The keys of the players, and the numbers of their papers.
#[derive(Default)]
pub struct Players {
    keys: BTreeMap<Seat, PrivateKey>,
    numbers: BTreeMap<Seat, u32>,
    nonce: u8,
}

/// Values of a paper besides its content that deviate from what its player would state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unlike {
    pub turn: Option<u32>,
    pub number: Option<u32>,
    pub seen: Option<SeenRoot>,
}

pub fn key(label: &str) -> PrivateKey {
    let seed = blake3::derive_key("turnfold tests mail key", label.as_bytes());
    PrivateKey::of_seed(format!("{label}.example").parse().unwrap(), KeyKind::Signer, &seed)
}

impl Players {
    /// Gives a seat another key to sign with.
    pub fn use_key(&mut self, seat: Seat, key: PrivateKey) {
        self.keys.insert(seat, key);
    }

    pub fn key(&self, seat: Seat) -> PrivateKey {
        self.keys.get(&seat).cloned().unwrap_or_else(|| key(seat.name()))
    }

    pub fn chain(&self, known: &DeskView, seat: Seat) -> Chain {
        self.key(seat).dice_chain(Owner { match_id: known.match_id, party: seat })
    }

    /// Writes a paper.
    pub fn write(
        &mut self,
        known: &DeskView,
        seat: Seat,
        content: PaperContent,
        unlike: Unlike,
    ) -> SignedPaper {
        let desk = &known.desk;
        let number = self.numbers.entry(seat).or_default();
        let is_join = matches!(content, PaperContent::Join(_));
        *number += u32::from(!is_join);
        self.nonce += 1;
        let size = desk.head() + 1;
        let head = PaperHead {
            match_id: MatchId::new(known.match_id),
            seat,
            number: unlike.number.unwrap_or(*number),
            turn: unlike.turn.unwrap_or_else(|| desk.state().turn()),
            seen: unlike.seen.unwrap_or_else(|| SeenRoot { size, root: desk.root(size).unwrap() }),
            nonce: Nonce::new([self.nonce; 16]),
        };
        SignedPaper::sign(Paper::new(head, content).unwrap(), &self.key(seat))
    }

    pub fn order(&mut self, known: &DeskView, seat: Seat, plays: &[&str]) -> SignedPaper {
        let order = self.order_with(known, seat, plays, false);
        self.write(known, seat, PaperContent::Order(order), Unlike::default())
    }

    /// Returns the content of an order. If `waits`, the order waits for the deadline.
    pub fn order_with(&self, known: &DeskView, seat: Seat, plays: &[&str], waits: bool) -> Order {
        let turn = u16::try_from(known.desk.state().turn()).unwrap();
        let has_chain = known.is_fair && known.desk.state().has_chain(seat);
        let dice = has_chain.then(|| self.chain(known, seat).element(turn));
        let plays = plays.iter().map(|play| play.parse().unwrap()).collect();
        Order::new(known.desk.position().unwrap().link, waits, dice, plays).unwrap()
    }

    pub fn join(&mut self, known: &DeskView, seat: Seat) -> SignedPaper {
        let dice = known.is_fair.then(|| self.chain(known, seat).head());
        let join = Join { key: SeatKey::of(&self.key(seat)).unwrap(), dice };
        let unlike = Unlike { turn: Some(0), number: Some(0), ..Unlike::default() };
        self.write(known, seat, PaperContent::Join(join), unlike)
    }
}
