//! A model of the rules of turns, PM-9 to PM-21 without dice, PM-39 to PM-42 and PM-80 to PM-84, and of what `mail run`
//! does with them (PM-14, PM-27). It is written from the page, independently of the program.

use super::announced::{AheadOrders, Announced};
use super::offers::{Offered, Offers, Stand};
use super::relay::{Move, Relay};

/// The terms of play. Times are in hours.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) hours: u64,
    pub(crate) together: bool,
    pub(crate) hurry: bool,
    pub(crate) sealed: bool,
    pub(crate) hosted: Vec<usize>,
    pub(crate) missed: Missed,
    pub(crate) default: Vec<Move>,
    pub(crate) between: Vec<Move>,
    pub(crate) patience: u32,
    /// PM-39: in days.
    pub(crate) absences: u64,
    /// PM-38: the seats whose players need no key.
    pub(crate) plain: Vec<usize>,
}

/// PM-17, PM-84: the consequence for a seat that missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missed {
    Default,
    Wait,
    Second,
}

/// A number that stands for the digest of a paper.
pub(crate) type Id = u32;

#[derive(Clone, Debug)]
pub(crate) struct Paper {
    pub(crate) id: Id,
    pub(crate) seat: usize,
    pub(crate) number: u32,
    pub(crate) turn: u32,
    /// The turn whose position its player had seen.
    pub(crate) seen_turn: u32,
    /// Whether it names the link of the current turn position when it is handed in.
    pub(crate) has_link: bool,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Order {
        waits: bool,
        plays: Vec<Move>,
    },
    Seal {
        order: Id,
    },
    Resign,
    /// PM-39
    Absent {
        until: u64,
    },
    /// PM-41: to a seat of the match, or to a seat that does not exist.
    Press {
        is_known: bool,
    },
    /// PM-42, PM-122
    Ahead(AheadOrders),
    /// PM-20
    Offer(Offered),
    Answer {
        to: Id,
        agree: bool,
    },
    /// PM-82: an answer by a player without a key, with the number of an offer or without one.
    AnswerTo {
        nth: Option<u32>,
        agree: bool,
    },
}

impl Kind {
    /// PM-81: orders for this turn or later ones are numbered separately.
    pub(crate) const fn is_order(&self) -> bool {
        matches!(self, Self::Order { .. } | Self::Ahead(_))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Open,
    Ready,
    Over,
}

/// The answer of a seat.
#[derive(Clone, Debug)]
pub(crate) enum Status {
    NotAsked,
    Nothing,
    Sealed(Id),
    Ordered {
        id: Id,
        is_sealed: bool,
        waits: bool,
        plays: Vec<Move>,
    },
    Defaulted,
    /// Its order was dropped because of a takeback.
    Settled,
}

impl Status {
    /// Returns the word in the view.
    pub(crate) const fn word(&self) -> Option<&'static str> {
        match self {
            Self::NotAsked => None,
            Self::Nothing => Some("none"),
            Self::Sealed(_) => Some("sealed"),
            Self::Ordered { .. } => Some("ordered"),
            Self::Defaulted => Some("defaulted"),
            Self::Settled => Some("settled"),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Player {
    pub(crate) status: Status,
    /// PM-10: the number of the last paper that counted, except orders and words.
    pub(crate) number: u32,
    /// The number of the last order that counted, for this turn or later ones.
    pub(crate) order_number: u32,
    pub(crate) misses: u32,
    pub(crate) gone: bool,
    pub(crate) announced: Announced,
    /// PM-38: the player took the seat without a key.
    pub(crate) is_plain: bool,
    /// The player: 0 for the first player, otherwise the number of the substitute (PM-83).
    pub(crate) substitute: u32,
    /// PM-92: the time in seconds at which its counting plain order of this turn was sent, and its number; the same for
    /// orders ahead.
    pub(super) sent: [Option<(u64, u32)>; 2],
    /// The order of the newest paper of this turn that counts.
    pub(super) ordered: Option<Vec<Move>>,
    /// PM-101: whether a letter of this turn was sent to the seat.
    pub(crate) has_letter: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) terms: Terms,
    pub(crate) game: Relay,
    pub(crate) players: Vec<Player>,
    pub(crate) phase: Phase,
    pub(crate) turn: u32,
    pub(crate) clock: Option<u64>,
    pub(crate) deadline: u64,
    pub(crate) result: Option<String>,
    /// PM-14: the seats of the round that have not played in it.
    pub(crate) unplayed: Vec<usize>,
    pub(crate) offers: Offers,
    /// Where each turn began.
    pub(crate) stands: Vec<Stand>,
    /// PM-20: the turn position to which all agreed to go back.
    pub(super) takeback: Option<usize>,
    /// The branch of the game, 0 for `main`, and the number of its entries.
    pub(super) line: usize,
    pub(super) head: u64,
    /// PM-122: the number of orders that came from lines of answers.
    pub(crate) answers: u64,
}

impl Model {
    /// Returns a model in which all seats are taken.
    pub(crate) fn new(terms: Terms, game: Relay) -> Self {
        let player = Player {
            status: Status::NotAsked,
            number: 0,
            order_number: 0,
            misses: 0,
            gone: false,
            announced: Announced::default(),
            is_plain: false,
            substitute: 0,
            sent: [None; 2],
            ordered: None,
            has_letter: false,
        };
        Self {
            players: vec![player; game.setup.seats.into()],
            terms,
            game,
            phase: Phase::Ready,
            turn: 0,
            clock: None,
            deadline: 0,
            result: None,
            unplayed: Vec::new(),
            offers: Offers::default(),
            stands: Vec::new(),
            takeback: None,
            line: 0,
            head: 0,
            answers: 0,
        }
    }

    /// PM-16: a seat must seal when two or more are asked and all seal, or the host plays it.
    pub(crate) fn must_seal(&self, seat: usize) -> bool {
        let is_asked = |player: &Player| !matches!(player.status, Status::NotAsked);
        let asked = self.players.iter().filter(|player| is_asked(player)).count();
        is_asked(&self.players[seat])
            && asked >= 2
            && (self.terms.sealed || self.terms.hosted.contains(&seat))
    }

    /// PM-101: returns the seats that the match waits for and whose letter of this turn is unsent. Seats of the host
    /// need no letter. Until they have sealed, no letters to others exist (PM-16).
    pub(super) fn unsent(&self) -> Vec<usize> {
        if self.phase != Phase::Open || self.holds_letters_back() {
            return Vec::new();
        }
        let waits_for_seals = self.is_waiting_for_seals();
        let is_awaited = |seat: &usize| match self.players[*seat].status {
            Status::Nothing => !waits_for_seals || self.must_seal(*seat),
            Status::Sealed(_) => !waits_for_seals,
            _ => false,
        };
        let has_none = |seat: &usize| !self.terms.hosted.contains(seat) && !self.players[*seat].has_letter;
        (0..self.players.len()).filter(is_awaited).filter(has_none).collect()
    }

    fn holds_letters_back(&self) -> bool {
        let owes =
            |seat: &&usize| self.must_seal(**seat) && matches!(self.players[**seat].status, Status::Nothing);
        self.terms.hosted.iter().any(|seat| owes(&seat))
    }

    /// PM-101: applies the effect of letters that the mailer accepts, which are those to seats it does not refuse.
    pub(super) fn send(&mut self, at: u64, is_taken: impl Fn(usize) -> bool) {
        let is_short = self.deadline.saturating_sub(at) * 2 < self.terms.hours;
        if is_short && self.unsent().into_iter().any(&is_taken) {
            self.deadline = at + self.terms.hours;
        }
        let is_held_back = self.phase == Phase::Open && self.holds_letters_back();
        for seat in (0..self.players.len()).filter(|seat| is_taken(*seat)) {
            self.players[seat].has_letter |= !is_held_back || self.terms.hosted.contains(&seat);
        }
    }

    fn is_waiting_for_seals(&self) -> bool {
        (0..self.players.len())
            .any(|seat| self.must_seal(seat) && matches!(self.players[seat].status, Status::Nothing))
    }

    /// Hands in a paper, and returns its outcome.
    pub(crate) fn take(&mut self, paper: &Paper) -> String {
        match self.judge(paper) {
            // PM-33
            Ok(()) if paper.turn > paper.seen_turn => "rejected unseen_stand".into(),
            Ok(()) => {
                let waited = self.is_waiting_for_seals();
                self.apply(paper);
                self.go_on(waited);
                "applied".into()
            }
            Err(outcome) => outcome.into(),
        }
    }

    fn judge(&self, paper: &Paper) -> Result<(), &'static str> {
        let player = &self.players[paper.seat];
        // PM-10
        match self.phase {
            Phase::Over => return Err("rejected match_over"),
            Phase::Ready => return Err("rejected not_yet"),
            Phase::Open => {}
        }
        if player.gone {
            return Err("ignored gone");
        }
        let sealed = match player.status {
            Status::Sealed(id) | Status::Ordered { id, is_sealed: true, .. } => Some(id),
            _ => None,
        };
        let is_order = matches!(paper.kind, Kind::Order { .. });
        // PM-62
        let is_press = matches!(paper.kind, Kind::Press { .. });
        // PM-81
        let last = if paper.kind.is_order() { player.order_number } else { player.number };
        if paper.number <= last && !(is_order && sealed == Some(paper.id)) && !is_press {
            return Err("ignored outdated");
        }
        if let Some(verdict) = self.judge_announced(paper).or_else(|| self.judge_offer(paper)) {
            return verdict;
        }
        // PM-15
        if paper.turn > self.turn {
            return Err("rejected not_yet");
        }
        if paper.turn < self.turn {
            return Err("ignored late");
        }
        if !paper.has_link {
            return Err("ignored stale_link");
        }
        if matches!(player.status, Status::NotAsked | Status::Defaulted | Status::Settled) {
            return Err("ignored not_due");
        }
        // PM-16
        if !is_order {
            let is_free = matches!(player.status, Status::Nothing);
            return if is_free { Ok(()) } else { Err("ignored not_due") };
        }
        if self.must_seal(paper.seat) && matches!(player.status, Status::Nothing) {
            return Err("ignored seal_first");
        }
        if sealed.is_some_and(|sealed| sealed != paper.id) {
            return Err("ignored not_as_sealed");
        }
        if self.is_waiting_for_seals() { Err("rejected wait_for_seals") } else { Ok(()) }
    }

    fn apply(&mut self, paper: &Paper) {
        let player = &mut self.players[paper.seat];
        match paper.kind {
            // PM-62
            Kind::Press { .. } => {}
            Kind::Order { .. } | Kind::Ahead(_) => {
                player.order_number = player.order_number.max(paper.number);
            }
            _ => player.number = player.number.max(paper.number),
        }
        match &paper.kind {
            Kind::Order { waits, plays } => {
                let is_sealed =
                    !matches!(player.status, Status::Nothing | Status::Ordered { is_sealed: false, .. });
                player.status =
                    Status::Ordered { id: paper.id, is_sealed, waits: *waits, plays: plays.clone() };
                player.misses = 0;
                player.ordered = Some(plays.clone());
                // PM-122: lines of answers that begin after an order wait for that order.
                player.announced.end_lines_unless_they_wait();
            }
            Kind::Seal { order } => player.status = Status::Sealed(*order),
            Kind::Resign => {
                self.leave(&[paper.seat]);
                self.let_offers_take_effect();
            }
            Kind::Offer(offered) => self.offer(paper.seat, paper.id, offered.clone()),
            Kind::Answer { to, agree } => self.answer(paper.seat, *to, *agree),
            kind => self.announce(paper.seat, paper.id, &kind.clone()),
        }
    }

    /// PM-21
    fn leave(&mut self, seats: &[usize]) {
        for seat in seats {
            let player = &mut self.players[*seat];
            player.gone = true;
            player.announced.ahead = None;
            if !matches!(player.status, Status::NotAsked) {
                player.status = Status::Defaulted;
            }
        }
        match self.living().as_slice() {
            [] => self.end("void".into()),
            [last] => self.end(format!("p{}", last + 1)),
            _ => {}
        }
    }

    pub(super) fn end(&mut self, result: String) {
        self.phase = Phase::Over;
        self.result = Some(result);
    }

    pub(crate) fn living(&self) -> Vec<usize> {
        (0..self.players.len()).filter(|seat| !self.players[*seat].gone).collect()
    }

    /// PM-16, PM-18: the consequences of a paper.
    fn go_on(&mut self, waited_for_seals: bool) {
        if self.phase != Phase::Open {
            return;
        }
        if waited_for_seals && !self.is_waiting_for_seals() {
            self.deadline += self.terms.hours;
        }
        let statuses = || self.players.iter().map(|player| &player.status);
        let is_missing = statuses().any(|status| matches!(status, Status::Nothing | Status::Sealed(_)));
        let waits = statuses().any(|status| matches!(status, Status::Ordered { waits: true, .. }));
        let is_late = self.clock.is_some_and(|clock| clock >= self.deadline);
        if !is_missing && (self.terms.hurry && !waits || is_late) {
            self.phase = Phase::Ready;
        }
    }

    /// PM-17
    fn tick(&mut self, at: u64) {
        self.clock = Some(at);
        let waited = self.is_waiting_for_seals();
        let misses = |seat: &usize| match self.players[*seat].status {
            Status::Nothing => !waited || self.must_seal(*seat),
            Status::Sealed(_) => !waited,
            _ => false,
        };
        let missing: Vec<usize> = (0..self.players.len()).filter(misses).collect();
        let mut going = Vec::new();
        for seat in &missing {
            let player = &mut self.players[*seat];
            player.misses += 1;
            let is_defaulted = match self.terms.missed {
                Missed::Default => true,
                Missed::Wait => false,
                // PM-84
                Missed::Second => player.misses >= 2,
            };
            if is_defaulted {
                player.status = Status::Defaulted;
            }
            if self.terms.patience > 0 && player.misses >= self.terms.patience {
                going.push(*seat);
            }
        }
        if !going.is_empty() {
            self.leave(&going);
            self.let_offers_take_effect();
        }
        let is_asked = |seat: &usize| !matches!(self.players[*seat].status, Status::Defaulted);
        if self.phase == Phase::Open && missing.iter().any(is_asked) {
            self.deadline = self.after_absences(at + self.terms.hours);
        }
        self.go_on(waited);
    }

    /// PM-27
    pub(crate) fn run(&mut self, at: u64, is_letter_unsent: bool) {
        let is_later = self.clock.is_none_or(|clock| at > clock);
        if !is_letter_unsent && self.phase == Phase::Open && at >= self.deadline && is_later {
            self.tick(at);
        }
        // PM-42: orders ahead can make the next turn ready as well.
        for _ in 0..50 {
            if self.phase == Phase::Ready {
                self.execute(at);
            }
        }
    }

    fn execute(&mut self, at: u64) {
        if let Some(back) = self.takeback {
            let Stand { game, seq, .. } = self.stands[back].clone();
            self.game = game;
            self.head = seq;
            self.line = 1 + self.stands.iter().map(|stand| stand.line).max().unwrap();
        }
        let (mut played, mut carried) = (Vec::new(), Vec::new());
        let is_asked = |player: &&Player| !matches!(player.status, Status::NotAsked);
        let asked = self.players.iter().filter(is_asked).count();
        for seat in 0..self.players.len() {
            let (mut has_played, status) = (false, self.players[seat].status.clone());
            if let Status::Ordered { plays, .. } = &status {
                has_played = self.game_takes(seat, plays);
                if has_played {
                    carried.push((seat, Some(plays.clone())));
                } else {
                    self.players[seat].announced.end_lines();
                }
            }
            if matches!(status, Status::Defaulted) {
                carried.push((seat, None));
                self.players[seat].announced.end_lines();
            }
            // PM-80: a turn that asks two or more seats ends for all of them.
            if matches!(status, Status::Defaulted) || matches!(status, Status::Ordered { .. }) && asked > 1 {
                has_played |= self.play_default(seat);
            }
            played.extend(has_played.then_some(seat));
        }
        let statuses = || self.players.iter().map(|player| &player.status);
        let had_orders =
            statuses().any(|status| matches!(status, Status::Ordered { .. } | Status::Defaulted));
        let ends_round = self.play_between(had_orders);
        if self.clock.is_none_or(|clock| at > clock) {
            self.clock = Some(at);
        }
        self.stand(&played, &carried, ends_round);
    }

    /// Plays an order completely or not at all.
    fn game_takes(&mut self, seat: usize, plays: &[Move]) -> bool {
        let mut game = self.game.clone();
        let takes = plays.iter().all(|play| game.give(Some(seat), *play));
        if takes {
            self.game = game;
            self.head += plays.len() as u64;
        }
        takes
    }

    /// PM-13, PM-14
    fn stand(&mut self, played: &[usize], carried: &[(usize, Option<Vec<Move>>)], ends_round: bool) {
        let living = self.living();
        let legal: Vec<usize> = living.iter().copied().filter(|seat| self.game.has_legal(*seat)).collect();
        let back = self.takeback.take().map(|back| self.stands[back].clone());
        if self.turn == 0 || ends_round {
            self.unplayed.clone_from(&living);
        } else if let Some(back) = &back {
            self.unplayed.clone_from(&back.unplayed);
            self.unplayed.retain(|seat| living.contains(seat));
        } else {
            self.unplayed.retain(|seat| !played.contains(seat) && living.contains(seat));
        }
        let again = back.filter(|_| !ends_round).map(|back| back.asked).unwrap_or_default();
        let again: Vec<usize> = living.iter().copied().filter(|seat| again.contains(seat)).collect();
        let is_asked =
            |seat: &usize| legal.contains(seat) || self.terms.together && self.unplayed.contains(seat);
        let asked: Vec<usize> = if legal.is_empty() {
            Vec::new()
        } else if again.is_empty() {
            living.into_iter().filter(is_asked).collect()
        } else {
            again
        };
        let (line, seq, game, unplayed) = (self.line, self.head, self.game.clone(), self.unplayed.clone());
        self.stands.push(Stand { line, seq, game, asked: asked.clone(), unplayed });
        self.offers.open.clear();
        self.turn += 1;
        self.deadline = self.clock.unwrap() + self.terms.hours;
        for (seat, player) in self.players.iter_mut().enumerate() {
            player.status = if asked.contains(&seat) { Status::Nothing } else { Status::NotAsked };
            (player.sent, player.ordered, player.has_letter) = ([None; 2], None, false);
        }
        self.phase = Phase::Open;
        self.order_ahead(carried);
        self.deadline = self.after_absences(self.deadline);
        if asked.is_empty() {
            self.end("played".into());
        }
        self.go_on(false);
    }
}
