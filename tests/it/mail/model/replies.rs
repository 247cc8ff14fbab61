//! The model of replies by players without a key (PM-38, PM-43), and random replies. It computes reply codes as the
//! page describes, independently of the program.

use turnfold_core::dice::fair::{Chain, Owner};
use turnfold_core::paper::DeskTime;
use turnfold_core::{Digest, Seat};
use turnfold_mail::TakenReply;

use super::announced::{self, AheadOrders, joined};
use super::club::Envelope;
use super::driver::{Correspondence, MATCHES, time};
use super::offers::Offered;
use super::relay::Move;
use super::turns::{Id, Kind, Model, Paper, Phase, Player};
use turnfold_tests::players::key;

/// A mail with a code.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    seat: usize,
    /// The turn of the code; `None` for a code of no seat.
    turn: Option<u32>,
    /// The contents of the papers, in the order in which they are taken. No mail asks for help.
    kinds: Vec<Kind>,
    mail: String,
    /// The time it was sent, in seconds, or `None` if the mail does not state it.
    sent: Option<u64>,
    /// The index of its match, if the store has that match.
    place: Option<usize>,
    /// The number of the first paper.
    first: Id,
}

/// The result of a mail with a code.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    UnknownCode,
    NotTaken,
    Answered,
    Taken(Vec<String>),
}

/// Returns the code for a seat and turn of a match, at the turn position with this link.
fn code(match_id: [u8; 16], seat: usize, turn: u32, link: Option<Digest>) -> String {
    let secret = key("host").dice_chain(Owner { match_id, party: Seat::Host }).element(Chain::LAST);
    let mut hasher = blake3::Hasher::new_derive_key("turnfold v3 reply code of a turn");
    hasher.update(secret.as_bytes()).update(format!("p{} {turn}", seat + 1).as_bytes());
    hasher.update(link.as_ref().map_or(&[], |link| link.as_bytes().as_slice()));
    let signs = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
    let hash = hasher.finalize();
    let signs: String =
        hash.as_bytes()[..12].iter().map(|byte| char::from(signs[usize::from(byte % 32)])).collect();
    format!("{}-{}-{}", &signs[..4], &signs[4..8], &signs[8..])
}

/// Returns the lines of a paper in a mail.
fn lines(kind: &Kind) -> Vec<String> {
    match kind {
        Kind::Order { waits, plays } => {
            let plays = plays.iter().map(ToString::to_string);
            plays.chain(waits.then(|| "wait".into())).collect()
        }
        Kind::Resign => vec!["resign".into()],
        Kind::Absent { until } => vec![format!("absent until {}", time(*until))],
        Kind::Press { is_known } => vec![format!("press p1,{}: hello", if *is_known { "p2" } else { "p8" })],
        Kind::Ahead(ahead) if ahead.turns.is_empty() && ahead.lines.is_empty() => vec!["if none".into()],
        Kind::Ahead(AheadOrders { turns, lines, .. }) => {
            let turns = turns.iter().map(|(turn, plays)| format!("if turn {turn}: {}", joined(plays)));
            turns.chain(lines.iter().map(|line| line_of_answers(line))).collect()
        }
        Kind::Offer(Offered::Draw) => vec!["draw".into()],
        Kind::Offer(Offered::Takeback(turn)) => vec![format!("takeback {turn}")],
        Kind::Offer(Offered::Extend(until)) => vec![format!("offer extend {}", time(*until))],
        Kind::Offer(_) => vec!["offer end void".into()],
        Kind::AnswerTo { nth, agree } => {
            let word = if *agree { "agree" } else { "decline" };
            vec![nth.map_or_else(|| word.to_owned(), |nth| format!("{word} {nth}"))]
        }
        Kind::Seal { .. } | Kind::Answer { .. } => unreachable!("no plain player writes digests"),
    }
}

fn line_of_answers(line: &[(Move, Move)]) -> String {
    let replies: Vec<_> = line.iter().map(|(on, answer)| format!("if {on} then {answer}")).collect();
    replies.join(", ")
}

fn mail_of(number: Id, head: &str, code: &str, lines: &[String]) -> String {
    format!(
        "Message-ID: <{number}@example.org>\n{head}\ncode {code}\n{}\n(end)\nGreetings\n",
        lines.join("\n")
    )
}

/// Returns the line `Date` of a mail.
pub(super) fn date(seconds: u64) -> String {
    let at = DeskTime::of_unix_seconds(seconds).unwrap().to_string();
    let (day, clock) = at.trim_end_matches('Z').split_once('T').unwrap();
    let day: Vec<usize> = day.split('-').map(|number| number.parse().unwrap()).collect();
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    format!("Date: {} {} {} {clock} +0000\n", day[2], months[day[1] - 1], day[0])
}

impl Model {
    /// PM-38, PM-43: returns the result of a mail with a code for a taken seat.
    fn reply(&mut self, reply: &Reply, received: u64, recorded: &mut [Option<String>]) -> Fate {
        let Some(turn) =
            reply.turn.filter(|turn| self.terms.plain.contains(&reply.seat) && *turn <= self.turn)
        else {
            return Fate::UnknownCode;
        };
        if turn == 0 || turn < self.turn || !self.players[reply.seat].is_plain {
            return Fate::NotTaken;
        }
        if reply.kinds.is_empty() {
            return Fate::Answered;
        }
        // PM-123: lines of answers begin after the order in the mail or, without one, after the current order.
        let order = reply.kinds.iter().find_map(|kind| match kind {
            Kind::Order { plays, .. } => Some(plays.clone()),
            _ => None,
        });
        let plays = order.or_else(|| self.players[reply.seat].ordered.clone()).unwrap_or_default();
        let after = Some(plays.clone()).filter(|_| self.game.has_legal(reply.seat));
        let is_refused = reply.kinds.iter().any(|kind| match kind {
            Kind::Order { plays, .. } => {
                let mut game = self.game.clone();
                game.has_legal(reply.seat) && !plays.iter().all(|play| game.give(Some(reply.seat), *play))
            }
            Kind::AnswerTo { nth, .. } => self.meant(reply.seat, *nth).is_none(),
            Kind::Offer(Offered::Takeback(turn)) => *turn == 0 || *turn >= self.turn,
            Kind::Ahead(ahead) => !self.can_play_lines(reply.seat, &plays, ahead),
            _ => false,
        });
        if is_refused {
            return Fate::NotTaken;
        }
        // All papers are read before the first is taken.
        let meant = reply.kinds.iter().map(|kind| match kind {
            Kind::AnswerTo { nth, agree } => {
                Kind::Answer { to: self.meant(reply.seat, *nth).unwrap(), agree: *agree }
            }
            Kind::Ahead(ahead) => {
                let after = after.clone().filter(|_| !ahead.lines.is_empty());
                Kind::Ahead(AheadOrders { after, ..ahead.clone() })
            }
            kind => kind.clone(),
        });
        let meant: Vec<_> = meant.collect();
        let papers = meant.iter().zip(recorded).zip(reply.first..);
        // PM-92: no mail was sent after it arrived. A mail without a date counts as sent when it arrived.
        let sent = reply.sent.map_or(received, |sent| sent.min(received));
        let outcomes = papers.map(|((kind, recorded), id)| {
            let player = &self.players[reply.seat];
            let newer = match kind {
                Kind::Order { .. } => player.sent[0],
                Kind::Ahead(_) => player.sent[1],
                _ => None,
            };
            let outdated_by = newer.filter(|(other, _)| sent < *other).map(|(_, number)| number);
            let paper = Paper {
                id,
                seat: reply.seat,
                number: outdated_by.unwrap_or(player.number.max(player.order_number) + 1),
                turn: self.turn,
                seen_turn: self.turn,
                has_link: true,
                kind: kind.clone(),
            };
            let turn = self.turn;
            let outcome = recorded.clone().unwrap_or_else(|| self.take(&paper));
            if recorded.is_none() && outcome == "applied" && self.turn == turn {
                let sent = Some((sent, paper.number));
                match kind {
                    Kind::Order { .. } => self.players[reply.seat].sent[0] = sent,
                    Kind::Ahead(_) => self.players[reply.seat].sent[1] = sent,
                    _ => {}
                }
            }
            *recorded = Some(outcome.clone()).filter(|outcome| !outcome.starts_with("rejected"));
            outcome
        });
        Fate::Taken(outcomes.collect())
    }
}

fn fate(taken: Option<TakenReply>) -> Fate {
    let taken = taken.expect("the mail has a code");
    match taken {
        TakenReply { seat: None, .. } => Fate::UnknownCode,
        TakenReply { faults, .. } if !faults.is_empty() => Fate::NotTaken,
        TakenReply { papers, .. } if papers.is_empty() => Fate::Answered,
        TakenReply { papers, .. } => {
            Fate::Taken(papers.iter().map(|paper| paper.outcome.to_string()).collect())
        }
    }
}

impl Correspondence<'_> {
    /// A player takes a seat with the code of the invitation, if the seat is open to players without a key.
    pub(super) fn enter(&mut self, seat: usize) -> Vec<String> {
        let code = code(MATCHES[self.place].1, seat, 0, None);
        let number = 10_000 + u32::try_from(seat).unwrap();
        let mail = mail_of(number, "Subject: I play\n", &code, &[format!("join Player {seat}")]);
        let taken = self.deliver(&mail, &[self.place]).unwrap().reply.unwrap();
        let outcomes: Vec<_> = taken.papers.iter().map(|paper| paper.outcome.to_string()).collect();
        for outcome in &outcomes {
            *self.tally.outcomes.entry(format!("plain {outcome}")).or_default() += 1;
        }
        outcomes
    }

    /// A player without a key writes a mail, mostly with the code of this turn.
    pub(super) fn reply_at_random(&mut self, seat: usize) {
        let now = self.model.turn;
        let turn = match self.chance.draw(1, 16) {
            1 => Some(0),
            2 => Some(now.saturating_sub(1)),
            3 => Some(now + 1),
            4 => None,
            _ => Some(now),
        };
        let mut kinds = Vec::new();
        if !self.one_in(3) {
            let plays = self.random_plays();
            kinds.push(Kind::Order { waits: self.one_in(8), plays });
        }
        if self.one_in(3) {
            let kind = announced::random(&mut self.chance, self.now, now);
            // PM-123: papers that come with an order are taken before it, because the order can make the turn ready.
            let is_last = |kind: &Kind| matches!(kind, Kind::Order { .. });
            let order = kinds.iter().position(is_last).unwrap_or(kinds.len());
            let place = if matches!(kind, Kind::Ahead(_)) { order } else { 0 };
            kinds.insert(place, kind);
        }
        if self.one_in(4) {
            // Offers and answers are taken before orders, and takebacks after both.
            let kind = match self.offer_or_answer() {
                Kind::Answer { agree, .. } => {
                    let nth = self.model.offers.open.values().next().map(|open| open.nth);
                    Kind::AnswerTo { nth: nth.filter(|_| !self.one_in(3)), agree }
                }
                Kind::Offer(Offered::Replace { .. }) => Kind::Offer(Offered::Void),
                kind => kind,
            };
            let is_first = |kind: &Kind| matches!(kind, Kind::Absent { .. } | Kind::Press { .. });
            let place = kinds.iter().take_while(|kind| is_first(kind)).count();
            kinds.insert(place, kind);
        }
        if self.one_in(40) {
            kinds.insert(0, Kind::Resign);
        }
        let is_delayed = self.one_in(5);
        self.reply(seat, turn, kinds, is_delayed);
    }

    /// A player without a key orders with the code of this turn.
    pub(super) fn reply_done(&mut self, seat: usize) {
        let plays = vec![Move::Done];
        self.reply(seat, Some(self.model.turn), vec![Kind::Order { waits: false, plays }], false);
    }

    /// A player without a key sends orders ahead, with an order if the seat is asked.
    pub(super) fn reply_ahead(&mut self, seat: usize, ahead: AheadOrders) {
        let order = ahead.after.clone().map(|plays| Kind::Order { waits: false, plays });
        let kinds = [Kind::Ahead(ahead)].into_iter().chain(order).collect();
        self.reply(seat, Some(self.model.turn), kinds, false);
    }

    fn reply(&mut self, seat: usize, turn: Option<u32>, kinds: Vec<Kind>, is_delayed: bool) {
        // The code of a turn depends on its position, so it does not exist earlier.
        let turn = turn.filter(|turn| *turn <= self.model.turn);
        let number = u32::try_from(self.replies.len()).unwrap();
        let link = |turn: u32| {
            let index = usize::try_from(turn.checked_sub(1)?).unwrap();
            self.host().desk().positions().nth(index).map(|position| position.link)
        };
        let match_id = MATCHES[self.place].1;
        let code =
            turn.map_or_else(|| "2222-3333-4444".into(), |turn| code(match_id, seat, turn, link(turn)));
        let mut listed: Vec<String> = kinds.iter().flat_map(lines).collect();
        if listed.is_empty() {
            listed.push("help".into());
        }
        let is_known = turn.is_some() && self.model.terms.plain.contains(&seat);
        let Envelope { head, sent, place } = self.envelope(seat, is_known);
        let mail = mail_of(number, &head, &code, &listed);
        // No signed paper has such a number.
        let first = 1_000_000 + number * 10;
        let recorded = vec![None; kinds.len()];
        self.replies.push((Reply { seat, turn, kinds, mail, sent, place, first }, recorded));
        // PM-92: some mails take a long time to arrive.
        if !is_delayed {
            self.send(self.replies.len() - 1);
        }
        if self.one_in(6) {
            let last = i32::try_from(self.replies.len()).unwrap() - 1;
            let again = usize::try_from(self.chance.draw(0, last)).unwrap();
            self.send(again);
        }
    }

    fn send(&mut self, index: usize) {
        let (reply, mut recorded) = self.replies[index].clone();
        let expected = self.model.reply(&reply, self.received, &mut recorded);
        self.replies[index].1 = recorded;
        let places: Vec<usize> = reply.place.into_iter().collect();
        // A mail for another match, or for none, is not taken here.
        let found = self.deliver(&reply.mail, &places).map_or(Fate::UnknownCode, |taken| fate(taken.reply));
        assert_eq!(found, expected, "case {}: {reply:?}\n{:#?}", self.case, self.model);
        let words = match &expected {
            Fate::UnknownCode => vec!["unknown_code".into()],
            Fate::NotTaken => vec!["not_taken".into()],
            Fate::Answered => vec!["answered".into()],
            Fate::Taken(outcomes) => outcomes.clone(),
        };
        for word in words {
            *self.tally.outcomes.entry(format!("plain {word}")).or_default() += 1;
        }
        self.compare();
    }

    /// Returns `true` if a signed paper of a seat is refused because its player has no key, or because another player
    /// had the seat.
    pub(super) fn refuses_signature(&self, seat: usize, by: u32) -> bool {
        let Player { is_plain, substitute, .. } = self.model.players[seat];
        (is_plain || substitute != by) && self.model.phase != Phase::Over
    }
}
