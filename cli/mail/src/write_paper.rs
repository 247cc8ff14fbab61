//! `mail write`: writes papers from a received bundle and from what the key remembers (PM-28).
//!
//! A bundle is audited first, and no paper is written on any FAIL. What was accepted and written is remembered next to
//! the key before a paper is returned. So a bundle that takes a record back is refused next time, no number is used
//! twice, and a sealed order is kept until it is sent.

use std::path::Path;

use turnfold_core::dice::fair::{Chain, Owner};
use turnfold_core::paper::{
    DeskTime, Join, MatchId, Nonce, Order, Paper, PaperContent, PaperHead, PaperLine, SeatKey, SignedPaper,
};
use turnfold_core::trust::VerifierKey;
use turnfold_core::{Registry, Seat};
use turnfold_proof::signing::{KeyFile, KeyMemory};

use super::desk_history::TurnRecord;
use super::paper_form::MailedPaper;
use super::received_bundle::{PlayerMemory, ReceivedBundle, keep_order, kept_order};
use crate::error::MailError;

const TURNS_AHEAD_MAX: u32 = 20;

/// The content of a paper to write.
#[derive(Clone, Debug)]
pub enum PaperWords {
    /// Takes a seat.
    Join(Seat),
    /// Orders commands; without any, sends the order that was sealed.
    Order {
        /// The commands.
        plays: Vec<PaperLine>,
        /// Whether the turn should wait for its deadline.
        wait: bool,
    },
    /// Answers what the other player may order, in lines such as `e5 then Nf3, if Nc6 then Bb5` (PM-123).
    Lines {
        /// The order that was written before for this turn, after which the lines begin.
        plays: Vec<PaperLine>,
        /// The lines, without the first `if`.
        lines: Vec<String>,
    },
    /// Seals an order of these commands, which is kept next to the key.
    Seal {
        /// The commands.
        plays: Vec<PaperLine>,
    },
    /// Answers an open offer.
    Answer {
        /// The first digits of its digest, eight at least.
        to: String,
        /// Whether to agree.
        agree: bool,
    },
    /// Signs with this key from now on.
    Rekey(KeyFile),
    /// A content that needs nothing from the bundle, such as an offer, an absence or a message to players.
    Announced(PaperContent),
}

/// A request to write a paper.
#[derive(Clone)]
pub struct PaperRequest<'a> {
    /// The bundle that came with the last letter.
    pub bundle: &'a Path,
    /// The player's key.
    pub key: &'a KeyFile,
    /// Its content.
    pub words: PaperWords,
    /// The turn, if the player confirmed it.
    pub turn: Option<u32>,
    /// Whether to write commands that the game would refuse now.
    pub is_untried: bool,
    /// Random bytes for the paper, and for an order that it seals.
    pub nonces: [Nonce; 2],
    /// The known rulesets.
    pub registry: &'a Registry,
}

/// A written paper, and what the player should know about it.
#[derive(Clone, Debug)]
pub struct WrittenPaper {
    /// The paper.
    pub paper: MailedPaper,
    /// The paper in its mail form.
    pub mail: String,
    /// The name of the game.
    pub game: String,
    /// The host's key.
    pub host: VerifierKey,
    /// Whether the key joins or writes in this match for the first time, so that the player should compare the host's
    /// key.
    pub is_first: bool,
    /// The host's clock (PM-12).
    pub clock: Option<DeskTime>,
    /// The commands of an order that would change nothing at the position, and why.
    pub without_effect: Vec<String>,
}

/// Writes a paper. What was accepted and written is remembered next to the key before this returns.
///
/// # Errors
/// [`MailError::Refused`] if the bundle fails its audit or contradicts what the key remembers, or if the paper could
/// not count; nothing is written then. [`MailError::Unusable`] for a content that no paper can have.
pub fn write_paper(request: &PaperRequest<'_>) -> Result<WrittenPaper, MailError> {
    let memory = KeyMemory::of(request.key)?;
    let (received, known) = ReceivedBundle::open(request.bundle, &memory, request.registry)?;
    // A `join` whose file was not written is written again, and the player should still compare the host's key.
    let is_first = known.is_none() || matches!(request.words, PaperWords::Join(_));
    let mut writer = PaperWriter::of(request, &memory, &received, known)?;
    let paper = writer.write()?;
    let mail = paper.write()?;
    writer.remember(&paper)?;
    Ok(WrittenPaper {
        paper,
        mail,
        game: received.game.name.to_string(),
        host: received.host.clone(),
        is_first,
        clock: received.clock,
        without_effect: writer.without_effect,
    })
}

struct PaperWriter<'a> {
    request: &'a PaperRequest<'a>,
    memory: &'a KeyMemory,
    received: &'a ReceivedBundle<'a>,
    key: SeatKey,
    seat: Seat,
    has_chain: bool,
    folder: String,
    known: PlayerMemory,
    without_effect: Vec<String>,
}

impl<'a> PaperWriter<'a> {
    fn of(
        request: &'a PaperRequest<'a>,
        memory: &'a KeyMemory,
        received: &'a ReceivedBundle<'a>,
        known: Option<PlayerMemory>,
    ) -> Result<Self, MailError> {
        let key = SeatKey::of(&request.key.key)?;
        let (seat, is_of_join) = match (&request.words, received.seat_of(&key)) {
            (PaperWords::Join(_), Some((seat, _))) => {
                return Err(refused(format!("`{}` has {seat} already", key.name())));
            }
            (PaperWords::Join(seat), None) => (*seat, true),
            (_, Some(found)) => found,
            (_, None) => return Err(refused(no_seat(received, &key))),
        };
        let known = known.unwrap_or_else(|| received.new_memory());
        let has_chain = is_of_join && received.terms.head.is_some();
        let folder = received.folder();
        let without_effect = Vec::new();
        Ok(Self { request, memory, received, key, seat, has_chain, folder, known, without_effect })
    }

    fn write(&mut self) -> Result<MailedPaper, MailError> {
        let content = match &self.request.words {
            PaperWords::Join(_) => self.join()?,
            PaperWords::Order { plays, wait } => return self.order(&self.read(plays)?, *wait),
            PaperWords::Lines { plays, lines } => {
                let position = self.position()?;
                let plays = self.read(plays)?;
                PaperContent::Ahead(self.received.read_lines(position, (self.seat, &plays), lines)?)
            }
            PaperWords::Seal { plays } => self.seal(&self.read(plays)?)?,
            PaperWords::Answer { to, agree } => self.answer(to, *agree)?,
            PaperWords::Announced(content) => content.clone(),
            PaperWords::Rekey(new) => PaperContent::Rekey(SeatKey::of(&new.key)?),
        };
        self.signed(content, self.request.nonces[0])
    }

    fn join(&self) -> Result<PaperContent, MailError> {
        let players = Seat::players(self.received.terms.seats.into());
        if !players.contains(&self.seat) {
            return Err(refused(format!("the match has no seat `{}`", self.seat)));
        }
        let dice = if self.has_chain { Some(self.chain().head()) } else { None };
        Ok(PaperContent::Join(Join { key: self.key.clone(), dice }))
    }

    fn read(&self, plays: &[PaperLine]) -> Result<Vec<PaperLine>, MailError> {
        match self.position() {
            Ok(position) if !self.request.is_untried => self.received.read_plays(position, self.seat, plays),
            _ => Ok(plays.to_vec()),
        }
    }

    fn order(&mut self, plays: &[PaperLine], wait: bool) -> Result<MailedPaper, MailError> {
        let owing = self.received.owing_seals(self.seat);
        let kept = kept_order(self.memory, &self.folder, self.received.turn)?;
        let must_seal = self.received.must_seal(self.seat);
        if owing.contains(&self.seat) || must_seal && kept.is_none() && !owing.is_empty() {
            return Err(refused("the order must be sealed first: write a `seal`"));
        }
        // PM-16: a seat that orders later could read an order that is not sealed.
        if let Some(other) = owing.first() {
            return Err(refused(format!(
                "{other} has not sealed its order; wait for the letter that reports the seal"
            )));
        }
        if must_seal && kept.is_none() {
            self.require_unsealed()?;
        }
        if let Some(kept) = kept
            && must_seal
        {
            if !plays.is_empty() && plays != sealed_plays(&kept) {
                return Err(refused(
                    "another order was sealed for this turn; to send it, leave out the commands",
                ));
            }
            return Ok(kept);
        }
        let content = self.order_of(plays, wait)?;
        self.signed(content, self.request.nonces[0])
    }

    fn seal(&mut self, plays: &[PaperLine]) -> Result<PaperContent, MailError> {
        if !self.received.must_seal(self.seat) {
            return Err(refused("no seal is asked of you; write an `order`"));
        }
        let link = self.position()?.link;
        let order = if let Some(kept) = kept_order(self.memory, &self.folder, self.received.turn)? {
            if sealed_plays(&kept) != plays {
                return Err(refused("another order was sealed for this turn"));
            }
            kept
        } else {
            if !self.received.owing_seals(self.seat).contains(&self.seat) {
                self.require_unsealed()?;
            }
            let content = self.order_of(plays, false)?;
            let order = self.signed(content, self.request.nonces[1])?;
            self.known.turn = self.known.turn.max(self.received.turn);
            keep_order(self.memory, &self.folder, self.received.turn, &order.write()?)?;
            order
        };
        Ok(PaperContent::Seal { link, digest: order.signed.paper().digest() })
    }

    /// PM-35: requires that the seat has not sealed an order in this turn. A seal also commits to the order's nonce, so
    /// a new order with the same commands cannot replace a lost one.
    fn require_unsealed(&self) -> Result<(), MailError> {
        let turn = self.received.turn;
        for (_, signed) in self.received.papers() {
            let head = signed.paper().head();
            let is_seal = matches!(signed.paper().content(), PaperContent::Seal { .. });
            if is_seal && head.seat == self.seat && head.turn == turn {
                return Err(refused(format!(
                    "the order that you sealed in turn {turn} is not in `{}`, the folder next to your key; restore that \
                     folder from a backup: no other order counts in this turn",
                    self.memory.folder().display()
                )));
            }
        }
        Ok(())
    }

    fn order_of(&mut self, plays: &[PaperLine], wait: bool) -> Result<PaperContent, MailError> {
        let turn = self.received.turn;
        let position = self.position()?;
        let link = position.link;
        if !position.seats.contains(&self.seat) {
            return Err(refused(format!("{} is not asked in turn {turn}", self.seat)));
        }
        for play in plays {
            play.require_mailable()?;
        }
        // PM-28: a forged desk with many turns would obtain elements of the dice chain.
        if turn > self.known.turn.saturating_add(TURNS_AHEAD_MAX) && self.request.turn != Some(turn) {
            return Err(refused(too_long_after(turn, self.known.turn, self.memory)));
        }
        if !self.request.is_untried {
            self.without_effect = self.received.try_plays(position, self.seat, plays)?;
        }
        let mut dice = None;
        if self.has_chain {
            // FD-8: the element of a turn.
            let index =
                u16::try_from(turn).map_err(|_| refused("dice_exhausted: the dice chain is used up"))?;
            dice = Some(self.chain().element(index));
        }
        Ok(PaperContent::Order(Order::new(link, wait, dice, plays.to_vec())?))
    }

    fn answer(&self, to: &str, agree: bool) -> Result<PaperContent, MailError> {
        // PM-82: a player may name an offer by its number.
        if let Some(to) = self.received.history.state().offer_to_answer(self.seat, to) {
            return Ok(PaperContent::Answer { to, agree });
        }
        if to.len() < 8 {
            return Err(refused(format!("there is no open offer {to} that {} may answer", self.seat)));
        }
        match self.received.offers(to).as_slice() {
            [digest] => Ok(PaperContent::Answer { to: *digest, agree }),
            [] => Err(refused(format!("no offer of turn {} begins with `{to}`", self.received.turn))),
            _ => Err(refused(format!("several offers begin with `{to}`"))),
        }
    }

    fn position(&self) -> Result<&TurnRecord, MailError> {
        let turn = self.received.turn;
        let position = self.received.position.as_ref().ok_or_else(|| refused("no turn has begun"))?;
        if let Some(asked) = self.request.turn
            && asked != turn
        {
            return Err(refused(format!("the bundle is of turn {turn}, not {asked}")));
        }
        let end = position.game_seq.saturating_add(1);
        for branch in &self.received.game.branches {
            if branch.name == position.branch
                && (branch.size() > end || branch.size() == end && branch.link == position.link)
            {
                return Ok(position);
            }
        }
        Err(refused("the game in the bundle does not reach the position of the turn"))
    }

    fn chain(&self) -> Chain {
        let match_id = self.received.game.genesis.match_id;
        self.request.key.key.dice_chain(Owner { match_id, party: self.seat })
    }

    fn signed(&mut self, content: PaperContent, nonce: Nonce) -> Result<MailedPaper, MailError> {
        let is_join = matches!(content, PaperContent::Join(_));
        let number = if is_join { 0 } else { self.next_number()? };
        let turn = if is_join { 0 } else { self.received.turn };
        let match_id = MatchId::new(self.received.game.genesis.match_id);
        let head = PaperHead { match_id, seat: self.seat, number, turn, seen: self.received.seen()?, nonce };
        let signed = SignedPaper::sign(Paper::new(head, content)?, &self.request.key.key);
        Ok(MailedPaper { signed, name: self.request.key.key.name().clone() })
    }

    fn next_number(&mut self) -> Result<u32, MailError> {
        let mut last = self.known.number;
        for (_, signed) in self.received.papers() {
            let head = signed.paper().head();
            if head.seat == self.seat {
                last = last.max(head.number);
            }
        }
        self.known.number = last.checked_add(1).ok_or_else(|| refused("the seat has no more numbers"))?;
        Ok(self.known.number)
    }

    fn remember(&mut self, paper: &MailedPaper) -> Result<(), MailError> {
        for origin in self.received.accept(self.memory)? {
            if !self.known.origins.contains(&origin) {
                self.known.origins.push(origin);
            }
        }
        if matches!(paper.signed.paper().content(), PaperContent::Order(_)) {
            self.known.turn = self.known.turn.max(self.received.turn);
        }
        self.known.write(self.memory, &self.folder)?;
        if let PaperWords::Rekey(new) = &self.request.words {
            let memory = KeyMemory::of(new)?;
            self.received.accept(&memory)?;
            self.known.write(&memory, &self.folder)?;
        }
        Ok(())
    }
}

fn refused(reason: impl Into<String>) -> MailError {
    MailError::Refused(reason.into())
}

fn sealed_plays(kept: &MailedPaper) -> &[PaperLine] {
    if let PaperContent::Order(order) = kept.signed.paper().content() { order.plays() } else { &[] }
}

/// Returns why no order is written for a turn that is long after the last order (PM-28). Another device may have the
/// memory of that order.
fn too_long_after(turn: u32, last: u32, memory: &KeyMemory) -> String {
    let mut why = format!("your last order was of turn {last}, long before turn {turn}");
    if last == 0 {
        let folder = memory.folder().display();
        why = format!("`{folder}`, the folder next to your key, has no order of this match");
    }
    format!(
        "{why}; copy that folder from the device on which you played before, or add `--turn {turn}` if the host confirms \
         that turn"
    )
}

fn no_seat(received: &ReceivedBundle<'_>, key: &SeatKey) -> String {
    let name = key.name();
    if received.turn == 0 {
        return format!("`{name}` has no seat in the bundle; write a `join`");
    }
    let taken = received.taken_seats();
    let taken: Vec<_> = taken.iter().map(|(seat, name)| format!("{seat} is of {name}")).collect();
    // PM-60: the terms decide whom to ask.
    let ask = if received.terms.host_replaces {
        "ask the host for `mail replace` with the line that `key show` prints"
    } else {
        "ask another player to write `offer replace SEAT NAME KEY` with the name and key that `key show` prints"
    };
    format!(
        "`{name}` has no seat in this match ({}). If you lost the key of a seat, {ask} for the new one",
        taken.join(", ")
    )
}
