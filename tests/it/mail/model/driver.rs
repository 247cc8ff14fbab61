//! Random correspondences, compared with the model after each paper and each run.

use std::cell::{RefCell, RefMut};
use std::collections::BTreeMap;
use std::rc::Rc;

use turnfold_core::any::erase;
use turnfold_core::dice::DiceStream;
use turnfold_core::paper::{
    DeskTime, Join, MatchId, Nonce, Order, Paper as SignedText, PaperContent, PaperHead, SeatKey, SeenRoot,
    SignedPaper,
};
use turnfold_core::rules::desk::Desk;
use turnfold_core::{Digest, DueRoll, Registry, Rules, Seat};
use turnfold_mail::audit::audit;
use turnfold_mail::{MailHost, NewMailMatch, TableDice};
use turnfold_proof::audit::{AuditQuestion, RowName, RowResult};
use turnfold_proof::bundle::StoreRecords;
use turnfold_proof::signing::{KeyFile, Signers};
use turnfold_store::{MatchName, Store};

use super::cases::{Tally, terms, toml};
use super::club::{Club, Mailer, folder};
use super::relay::{Move, Relay};
use super::replies::Reply;
use super::rules::RelayRules;
use super::turns::{Id, Kind, Model, Paper, Phase, Status};
use super::{announced, offers};
use turnfold_tests::players::key;

/// The matches: their names, and the ids of their games.
pub(super) const MATCHES: [(&str, [u8; 16]); 2] = [("relay", [0x77; 16]), ("second", [0x78; 16])];

/// The maximum number of events in a match before all players play to the end.
const EVENTS: i32 = 40;

/// The maximum number of turns in which all players play to the end.
const LAST_TURNS: u32 = 40;

/// What all matches of a store share.
#[derive(Clone, Copy)]
pub(super) struct House<'a> {
    pub(super) store: &'a Store,
    pub(super) registry: &'a Registry,
    pub(super) signers: &'a Signers,
}

pub(super) struct Correspondence<'a> {
    pub(super) chance: DiceStream,
    pub(super) house: House<'a>,
    /// All matches, and the index of this match.
    pub(super) club: Rc<RefCell<Club<'a>>>,
    pub(super) place: usize,
    /// The mailer. Without one no letters are written, because writing them takes most of the time.
    pub(super) mailer: Option<Mailer>,
    /// Whether each run is done by a new process, which reads the desk and the clock.
    is_reopened: bool,
    /// The host's time in seconds when mails arrive.
    pub(super) received: u64,
    pub(super) model: Model,
    /// The mails of players without a key, and the outcome of each recorded paper in them.
    pub(super) replies: Vec<(Reply, Vec<Option<String>>)>,
    /// The written papers: as in the model, signed, and the player of the seat who wrote them.
    written: Vec<(Paper, SignedPaper, u32)>,
    /// The number of substitutes who were offered a seat.
    pub(super) substitutes: u32,
    /// The outcomes of the recorded papers.
    recorded: BTreeMap<Id, String>,
    /// The highest paper number of each player of a seat.
    numbers: BTreeMap<(usize, u32), u32>,
    pub(super) now: u64,
    pub(super) tally: Tally,
    pub(super) case: u64,
}

pub(super) fn time(hours: u64) -> DeskTime {
    let base: DeskTime = "2026-01-01T00:00:00Z".parse().unwrap();
    base.after_hours(hours.try_into().unwrap())
}

fn no_dice(_: &DueRoll) -> std::io::Result<Vec<i32>> {
    unreachable!("nothing is rolled")
}

/// Plays the correspondence with this number, in some cases two whose mails arrive in one mailbox. Panics at any
/// difference from the model.
pub(crate) fn correspond(case: u64, audits: bool) -> Tally {
    // Each case needs a new key, because a key remembers what it signed and all cases have the same matches.
    let folder = folder();
    let path = folder.path().join("host.key");
    KeyFile::create(&path, key("host")).unwrap();
    let signers = &Signers::open(&[path]).unwrap();
    let mut chance = DiceStream::new(&blake3::derive_key("turnfold tests correspondences", b"1"), case);
    let registry = turnfold_games::standard().with(erase::<RelayRules>());
    let store = Store::in_memory();
    let house = House { store: &store, registry: &registry, signers };
    let count = if chance.draw(1, 4) == 1 { 2 } else { 1 };
    let opened: Vec<_> = MATCHES.iter().take(count).map(|of| open(of, house, &mut chance)).collect();
    let club = Rc::new(RefCell::new(Club::of(house, &opened)));
    let mut found: Vec<Correspondence<'_>> = Vec::new();
    for (place, model) in opened.into_iter().enumerate() {
        let seed = blake3::derive_key("turnfold tests correspondence of a box", &[place.try_into().unwrap()]);
        let mut chance = DiceStream::new(&seed, case);
        found.push(Correspondence {
            is_reopened: chance.draw(1, 4) == 1,
            mailer: (chance.draw(1, 40) == 1).then(Mailer::new),
            chance,
            house,
            club: Rc::clone(&club),
            place,
            received: 0,
            model,
            replies: Vec::new(),
            written: Vec::new(),
            substitutes: 0,
            recorded: BTreeMap::new(),
            numbers: BTreeMap::new(),
            now: 0,
            tally: Tally::default(),
            case,
        });
    }
    for one in &mut found {
        one.join_all();
        one.run();
    }
    let last = i32::try_from(count).unwrap();
    for _ in 0..chance.draw(1, EVENTS * last) {
        let place = usize::try_from(chance.draw(1, last) - 1).unwrap();
        found[place].happen();
    }
    let mut tally = Tally::default();
    let mut may_vouch = false;
    for mut one in found {
        one.play_on();
        may_vouch |= !one.model.terms.plain.is_empty();
        tally.add(one.tally);
    }
    if audits {
        let question =
            AuditQuestion { policy: None, held: &[], registry: &registry, accepts_brought_rules: false };
        let rows = audit(&StoreRecords::of_all(&store).unwrap(), question).unwrap();
        assert!(rows.iter().all(|row| row.result != RowResult::Fail), "case {case}: {rows:#?}");
        let authorship = rows.iter().find(|row| row.row == RowName::Authorship).unwrap();
        // PM-38
        let vouches = authorship.reason.contains("ordered by plain mail: the host vouches");
        let expected = if vouches { RowResult::NotChecked } else { RowResult::Pass };
        assert!(authorship.result == expected && (may_vouch || !vouches), "case {case}: {rows:#?}");
    }
    tally
}

/// Opens a match and creates its model.
fn open((name, match_id): &(&str, [u8; 16]), house: House<'_>, chance: &mut DiceStream) -> Model {
    let (terms, setup) = terms(chance);
    let name: MatchName = name.parse().unwrap();
    let rules = house.registry.find("relay").unwrap();
    let new = NewMailMatch {
        name: &name,
        rules: rules.clone(),
        setup: rules.read_setup(&toml::to_string(&setup).unwrap()).unwrap(),
        terms: &toml(&terms, &setup),
        is_fair: false,
        is_tried: false,
        match_id: *match_id,
        created_at_ms: 1,
    };
    new.open(house.store, &key("host")).unwrap();
    Model::new(terms, Relay::new(setup))
}

impl<'a> Correspondence<'a> {
    /// Returns the host of the match.
    pub(super) fn host(&self) -> RefMut<'_, MailHost<'a>> {
        RefMut::map(self.club.borrow_mut(), |club| &mut club.office.matches[self.place].host)
    }
}

impl Correspondence<'_> {
    fn seats(&self) -> usize {
        self.model.players.len()
    }

    /// Returns the highest number that the current player of a seat has used.
    fn number_of(&mut self, seat: usize) -> &mut u32 {
        self.numbers.entry((seat, self.model.players[seat].substitute)).or_default()
    }

    pub(super) fn one_in(&mut self, many: i32) -> bool {
        self.chance.draw(1, many) == 1
    }

    pub(super) fn any_seat(&mut self) -> usize {
        let last = i32::try_from(self.seats()).unwrap() - 1;
        usize::try_from(self.chance.draw(0, last)).unwrap()
    }

    fn join_all(&mut self) {
        let hosted = self.model.terms.hosted.clone();
        let (first, others): (Vec<_>, Vec<_>) = (0..self.seats()).partition(|seat| hosted.contains(seat));
        // PM-11
        if let Some(seat) = self.model.terms.plain.first().filter(|_| !hosted.is_empty()) {
            assert_eq!(self.enter(*seat), ["rejected hosted_first"]);
        }
        for seat in first.into_iter().chain(others) {
            let name = Seat::players(8)[seat];
            // PM-38: some players take such a seat with a key.
            if self.model.terms.plain.contains(&seat) && !self.one_in(4) {
                assert_eq!(self.enter(seat), ["applied"]);
                assert_eq!(self.enter(seat), [""; 0], "the code for joining is used");
                self.model.players[seat].is_plain = true;
                continue;
            }
            let join = Join { key: SeatKey::of(&key(name.name())).unwrap(), dice: None };
            let signed = self.sign(seat, 0, 0, PaperContent::Join(join));
            let taken = self.host().take_paper(signed, &[name]).unwrap();
            assert_eq!(taken.outcome.to_string(), "applied");
        }
    }

    fn sign(&self, seat: usize, number: u32, turn: u32, content: PaperContent) -> SignedPaper {
        let host = self.host();
        let size = host.desk().head() + 1;
        let mut nonce = [0; 16];
        nonce[..8].copy_from_slice(&(self.written.len() as u64).to_le_bytes());
        let head = PaperHead {
            match_id: MatchId::new(MATCHES[self.place].1),
            seat: Seat::players(8)[seat],
            number,
            turn,
            seen: SeenRoot { size, root: host.desk().root(size).unwrap() },
            nonce: Nonce::new(nonce),
        };
        let label = offers::label(seat, self.model.players[seat].substitute);
        SignedPaper::sign(SignedText::new(head, content).unwrap(), &key(&label))
    }

    /// Makes one random event happen: time passes, or a paper arrives.
    fn happen(&mut self) {
        let event = self.chance.draw(1, 28);
        let plain = (0..self.seats()).filter(|seat| self.model.players[*seat].is_plain);
        let plain: Vec<usize> = plain.collect();
        if event > 8 && !plain.is_empty() && self.one_in(2) {
            let last = i32::try_from(plain.len()).unwrap() - 1;
            let chosen = usize::try_from(self.chance.draw(0, last)).unwrap();
            return self.reply_at_random(plain[chosen]);
        }
        match event {
            1..=5 => {
                let far = i32::try_from(self.model.terms.hours).unwrap();
                self.now += u64::from(self.chance.draw(0, far).unsigned_abs());
                self.run();
            }
            6 => {
                self.now = self.now.max(self.model.deadline);
                self.run();
            }
            7 => self.hand_in_again(),
            8 if self.one_in(5) => {
                let seat = self.any_seat();
                let (number, turn) = self.number_and_turn(seat);
                self.write(seat, number, turn.min(self.model.turn), true, Kind::Resign);
                self.hand_in(self.written.len() - 1);
            }
            9..=12 => self.seal(),
            21..=24 => {
                let seat = self.any_seat();
                let (number, turn) = self.number_and_turn(seat);
                let kind = announced::random(&mut self.chance, self.now, self.model.turn);
                self.write(seat, number, turn.min(self.model.turn), true, kind);
                self.hand_in(self.written.len() - 1);
            }
            25..=28 => {
                let seat = self.any_seat();
                let (number, turn) = self.number_and_turn(seat);
                let kind = self.offer_or_answer();
                self.write(seat, number, turn.min(self.model.turn), true, kind);
                self.hand_in(self.written.len() - 1);
            }
            _ => {
                let seat = self.any_seat();
                self.order(seat);
                if !self.one_in(5) {
                    self.hand_in(self.written.len() - 1);
                }
            }
        }
    }

    /// Returns mostly an answer to an open offer, or else an offer.
    pub(super) fn offer_or_answer(&mut self) -> Kind {
        let open: Vec<_> = self.model.offers.open.values().map(|open| (open.nth, open.id)).collect();
        if let Some((_, to)) = open.first().filter(|_| !self.one_in(4)) {
            return Kind::Answer { to: *to, agree: !self.one_in(4) };
        }
        let next = self.substitutes + 1;
        let offered = offers::random(&mut self.chance, &self.model, self.now, next);
        self.substitutes += u32::from(matches!(offered, offers::Offered::Replace { .. }));
        Kind::Offer(offered)
    }

    /// Returns mostly the next number and this turn.
    fn number_and_turn(&mut self, seat: usize) -> (u32, u32) {
        let next = *self.number_of(seat) + 1;
        let number = match self.chance.draw(1, 12) {
            1 => next.saturating_sub(2),
            2 => next + 3,
            _ => next,
        };
        let highest = self.number_of(seat);
        *highest = number.max(*highest);
        let turn = match self.chance.draw(1, 16) {
            1 => self.model.turn + 1,
            2 => self.model.turn.saturating_sub(1),
            _ => self.model.turn,
        };
        (number, turn)
    }

    pub(super) fn random_plays(&mut self) -> Vec<Move> {
        let mut plays = Vec::new();
        for _ in 0..self.chance.draw(0, 2) {
            plays.push(if self.one_in(8) { Move::Add(9) } else { Move::Add(1) });
        }
        if plays.is_empty() || !self.one_in(4) {
            plays.push(Move::Done);
        }
        plays
    }

    fn order(&mut self, seat: usize) {
        let (number, turn) = self.number_and_turn(seat);
        let plays = self.random_plays();
        let (waits, has_link) = (self.one_in(8), !self.one_in(16));
        self.write(seat, number, turn, has_link, Kind::Order { waits, plays });
    }

    /// Seals an order that is written now, and hands it in later or never.
    fn seal(&mut self) {
        let seat = self.any_seat();
        self.order(seat);
        let order = self.written.len() - 1;
        let (number, turn) = self.number_and_turn(seat);
        let has_link = !self.one_in(16);
        let id = self.written[order].0.id;
        self.write(seat, number, turn, has_link, Kind::Seal { order: id });
        self.hand_in(self.written.len() - 1);
        if self.one_in(2) {
            self.hand_in(order);
        }
    }

    fn write(&mut self, seat: usize, number: u32, turn: u32, has_link: bool, kind: Kind) {
        let link = self.host().desk().position().map(|stand| stand.link).filter(|_| has_link);
        let link = link.unwrap_or_else(|| "0".repeat(64).parse().unwrap());
        let content = match &kind {
            Kind::Order { waits, plays } => {
                let plays = plays.iter().map(|play| play.to_string().parse().unwrap()).collect();
                PaperContent::Order(Order::new(link, *waits, None, plays).unwrap())
            }
            Kind::Seal { order } => {
                let sealed = self.written.iter().find(|(paper, ..)| paper.id == *order).unwrap();
                PaperContent::Seal { link, digest: sealed.1.paper().digest() }
            }
            Kind::Offer(offered) => PaperContent::Offer(offers::content(&self.model, offered)),
            Kind::Answer { to, agree } => match self.digest_of(*to) {
                Some(to) => PaperContent::Answer { to, agree: *agree },
                None => PaperContent::Answer { to: "1".repeat(64).parse().unwrap(), agree: *agree },
            },
            kind => announced::content(kind),
        };
        let signed = self.sign(seat, number, turn, content);
        let id = self.written.len().try_into().unwrap();
        let seen_turn = self.model.turn;
        let player = self.model.players[seat].substitute;
        self.written.push((Paper { id, seat, number, turn, seen_turn, has_link, kind }, signed, player));
    }

    /// Returns the digest of an offer, possibly one of a player without a key.
    fn digest_of(&self, id: Id) -> Option<Digest> {
        let nth = self.model.offers.open.values().find(|open| open.id == id)?.nth;
        let view = Desk::view(self.host().desk().state(), Seat::Host.into());
        view.offers.iter().find(|open| open.nth == nth).map(|open| open.digest)
    }

    fn hand_in_again(&mut self) {
        if let Some(last) = self.written.len().checked_sub(1) {
            let index = self.chance.draw(0, i32::try_from(last).unwrap());
            self.hand_in(usize::try_from(index).unwrap());
        }
    }

    /// Hands in a written paper, and requires the outcome of the model.
    fn hand_in(&mut self, index: usize) {
        let (mut paper, signed, player) = self.written[index].clone();
        // A turn position at the same entry as an earlier one also has the same link.
        let link = signed.paper().content().link();
        paper.has_link = link.is_none() || self.host().desk().position().map(|stand| stand.link) == link;
        let expected = match self.recorded.get(&paper.id) {
            Some(outcome) => outcome.clone(),
            None if self.refuses_signature(paper.seat, player) => "rejected bad_signature".into(),
            None => self.model.take(&paper),
        };
        let found = self.deliver_paper(&signed, &key(&offers::label(paper.seat, player)));
        assert_eq!(found, expected, "case {}: {paper:?}\n{:#?}", self.case, self.model);
        if !expected.starts_with("rejected") {
            self.recorded.insert(paper.id, expected.clone());
        }
        *self.tally.outcomes.entry(expected).or_default() += 1;
        self.compare();
    }

    fn run(&mut self) {
        if self.is_reopened {
            self.reopen();
        }
        self.write_letters();
        let is_unsent = self.mailer.is_some() && !self.model.unsent().is_empty();
        self.host().is_letter_unsent = is_unsent;
        self.model.run(self.now, is_unsent);
        let mut source = no_dice;
        self.host().run(time(self.now), &mut TableDice::new(Vec::new(), &mut source)).unwrap();
        self.send_letters();
        self.compare();
        // Without `hurry`, all asked seats may have missed or left before the deadline.
        let asks = self.model.players.iter().any(|player| !matches!(player.status, Status::NotAsked));
        let is_open = self.model.phase == Phase::Open && asks;
        assert!(is_open || self.model.phase == Phase::Over, "case {}: {:#?}", self.case, self.model);
    }

    /// Requires the desk to agree with the model.
    pub(super) fn compare(&self) {
        let view = Desk::view(self.host().desk().state(), Seat::Host.into());
        let Model { phase, turn, clock, deadline, players, result, .. } = &self.model;
        let context = || format!("case {}: {view:#?}\n{:#?}", self.case, self.model);
        let word = match phase {
            Phase::Open => "open",
            Phase::Ready => "ready",
            Phase::Over => "over",
        };
        assert_eq!((view.phase, view.turn), (word, *turn), "{}", context());
        assert_eq!(view.result, *result, "{}", context());
        assert_eq!(view.clock, clock.map(time), "{}", context());
        if *phase == Phase::Open {
            assert_eq!(view.deadline, Some(time(*deadline)), "{}", context());
        }
        // PM-82
        let found: Vec<_> = view.offers.iter().map(|open| (open.nth, open.agreed.len())).collect();
        let expected = self.model.offers.open.values().map(|open| (open.nth, open.agreed.len()));
        assert_eq!(found, expected.collect::<Vec<_>>(), "{}", context());
        for (seat, player) in view.seats.iter().zip(players) {
            assert_eq!((seat.misses, seat.gone), (player.misses, player.gone), "{}", context());
            if *phase != Phase::Over {
                assert_eq!(seat.status, player.status.word(), "{}", context());
            }
        }
    }

    /// Hands in what a seat sealed. A player who sealed an order that is refused can only resign.
    fn make_good(&mut self, seat: usize) {
        let sealed = |model: &Model| match model.players[seat].status {
            Status::Sealed(id) => Some(id),
            _ => None,
        };
        let Some(id) = sealed(&self.model) else { return };
        let order = self.written.iter().position(|(paper, ..)| paper.id == id).unwrap();
        self.hand_in(order);
        if self.model.phase == Phase::Open && sealed(&self.model).is_some() {
            let number = *self.number_of(seat) + 1;
            *self.number_of(seat) = number;
            self.write(seat, number, self.model.turn, true, Kind::Resign);
            self.hand_in(self.written.len() - 1);
        }
    }

    /// A seat foresees what all seats do at the end (PM-122).
    fn foresee(&mut self) {
        let seat = self.any_seat();
        let line = vec![(Move::Done, Move::Done); usize::try_from(self.chance.draw(1, 3)).unwrap()];
        let is_asked = matches!(self.model.players[seat].status, Status::Nothing);
        let after = is_asked.then(|| vec![Move::Done]);
        let ahead = announced::AheadOrders { turns: Vec::new(), after, lines: vec![line] };
        if self.model.players[seat].is_plain {
            self.reply_ahead(seat, ahead);
            return;
        }
        let number = *self.number_of(seat) + 1;
        *self.number_of(seat) = number;
        self.write(seat, number, self.model.turn, true, Kind::Ahead(ahead));
        self.hand_in(self.written.len() - 1);
    }

    /// All asked seats play on until the match ends.
    fn play_on(&mut self) {
        if let Some(mailer) = &mut self.mailer {
            mailer.works();
        }
        for _ in 0..LAST_TURNS {
            if self.model.phase == Phase::Over {
                break;
            }
            let seats = 0..self.seats();
            let is_free = |seat: &usize| matches!(self.model.players[*seat].status, Status::Nothing);
            let asked: Vec<usize> = seats.filter(is_free).collect();
            if !asked.is_empty() && self.one_in(2) {
                self.foresee();
            }
            let (mut orders, mut plain) = (Vec::new(), Vec::new());
            for seat in asked {
                if self.model.players[seat].is_plain {
                    plain.push(seat);
                    continue;
                }
                let number = *self.number_of(seat) + 2;
                *self.number_of(seat) = number;
                let (turn, plays) = (self.model.turn, vec![Move::Done]);
                self.write(seat, number - 1, turn, true, Kind::Order { waits: false, plays });
                let order = self.written.len() - 1;
                orders.push(order);
                if self.model.must_seal(seat) {
                    let id = self.written[order].0.id;
                    self.write(seat, number, turn, true, Kind::Seal { order: id });
                    self.hand_in(self.written.len() - 1);
                }
            }
            for order in orders {
                self.hand_in(order);
            }
            // PM-16: after all seals have arrived.
            for seat in plain {
                self.reply_done(seat);
            }
            for seat in 0..self.seats() {
                self.make_good(seat);
            }
            self.now = self.now.max(self.model.deadline);
            self.run();
        }
        assert_eq!(self.model.phase, Phase::Over, "case {}: it does not end: {:#?}", self.case, self.model);
        self.tally.turns += u64::from(self.model.turn);
        if self.model.answers > 0 {
            *self.tally.outcomes.entry("ahead: answers of lines".into()).or_default() += self.model.answers;
        }
        *self.tally.results.entry(self.model.result.clone().unwrap()).or_default() += 1;
    }
}
