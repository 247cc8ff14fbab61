//! The model of absences, words to players and orders ahead (PM-39, PM-41, PM-42), and random papers of these kinds.

use turnfold_core::dice::DiceStream;
use turnfold_core::paper::{OrdersAhead, PaperContent, Press, Reply};

use super::driver::time;
use super::relay::Move;
use super::turns::{Id, Kind, Model, Paper, Status};

/// The commands for each later turn.
pub(super) type TurnOrders = Vec<(u32, Vec<Move>)>;

/// The orders ahead in a paper: orders for later turns, and lines of answers. A line of answers has possible orders of
/// the other seat, each with an answer. It may begin after an order of the seat itself (PM-122).
#[derive(Clone, Debug, Default)]
pub(crate) struct AheadOrders {
    pub(super) turns: TurnOrders,
    pub(super) after: Option<Vec<Move>>,
    pub(super) lines: Vec<Vec<(Move, Move)>>,
}

impl AheadOrders {
    /// Returns `true` if two lines of answers differ in the answer to the same command.
    fn has_two_answers(&self) -> bool {
        let differs = |one: &Vec<(Move, Move)>, other: &Vec<(Move, Move)>| {
            let differ = one.iter().zip(other).find(|(one, other)| one != other);
            differ.is_some_and(|(one, other)| one.0 == other.0)
        };
        let lines = self.lines.iter().enumerate();
        { lines }.any(|(index, line)| self.lines[index + 1..].iter().any(|other| differs(line, other)))
    }
}

/// What a player announced.
#[derive(Clone, Debug, Default)]
pub(crate) struct Announced {
    /// The end of the player's absence.
    pub(super) absent: Option<u64>,
    /// The hours of all absences.
    absent_hours: u64,
    /// The orders ahead that count.
    pub(super) ahead: Option<(Id, AheadOrders)>,
}

impl Announced {
    pub(super) fn end_lines(&mut self) {
        if let Some((_, ahead)) = &mut self.ahead {
            ahead.lines.clear();
        }
    }

    pub(super) fn end_lines_unless_they_wait(&mut self) {
        if self.ahead.as_ref().is_some_and(|(_, ahead)| ahead.after.is_none()) {
            self.end_lines();
        }
    }

    /// PM-122: returns the answer to the executed order of the other seat, if a line of answers foresees exactly that
    /// order.
    fn answer(&mut self, seat: usize, carried: &[(usize, Option<Vec<Move>>)]) -> Option<Move> {
        let (_, ahead) = self.ahead.as_mut()?;
        if let Some((_, own)) = carried.iter().find(|(by, _)| *by == seat)
            && let Some(after) = ahead.after.take()
            && own.as_ref() != Some(&after)
        {
            ahead.lines.clear();
        }
        let (_, other) = carried.iter().find(|(by, _)| *by != seat)?;
        let on = if let Some([on]) = other.as_deref() { Some(*on) } else { None };
        let is_begun = ahead.after.is_none();
        ahead.lines.retain(|line| is_begun && Some(line[0].0) == on);
        let answer = ahead.lines.first().map(|line| line[0].1);
        for line in &mut ahead.lines {
            line.remove(0);
        }
        ahead.lines.retain(|line| !line.is_empty());
        answer
    }
}

impl Model {
    /// Returns the result of a paper that is not only for this turn, or `None` for an order or a seal.
    pub(super) fn judge_announced(&self, paper: &Paper) -> Option<Result<(), &'static str>> {
        let own = &self.players[paper.seat].announced;
        let verdict = match &paper.kind {
            Kind::Order { .. }
            | Kind::Seal { .. }
            | Kind::Offer(_)
            | Kind::Answer { .. }
            | Kind::AnswerTo { .. } => return None,
            Kind::Absent { .. } if self.terms.absences == 0 => Err("rejected not_in_terms"),
            Kind::Absent { until } => {
                let from = own.absent.max(self.clock).unwrap();
                if *until <= from {
                    Err("ignored not_later")
                } else if own.absent_hours + whole_days(until - from) > self.terms.absences * 24 {
                    Err("ignored too_long")
                } else {
                    Ok(())
                }
            }
            Kind::Press { is_known: false } => Err("ignored no_such_seat"),
            Kind::Ahead(_) if self.terms.sealed || !self.terms.hosted.is_empty() => {
                Err("rejected not_in_terms")
            }
            Kind::Ahead(ahead) if ahead.turns.iter().any(|(turn, _)| *turn <= self.turn) => {
                Err("ignored late")
            }
            Kind::Ahead(ahead) if !ahead.lines.is_empty() && self.players.len() > 2 => {
                Err("rejected not_in_terms")
            }
            Kind::Resign | Kind::Press { .. } | Kind::Ahead(_) => Ok(()),
        };
        Some(verdict)
    }

    pub(super) fn announce(&mut self, seat: usize, id: Id, kind: &Kind) {
        let clock = self.clock;
        let own = &mut self.players[seat].announced;
        match kind {
            Kind::Absent { until } => {
                own.absent_hours += whole_days(until - own.absent.max(clock).unwrap());
                own.absent = Some(*until);
                self.deadline = self.after_absences(self.deadline);
            }
            Kind::Ahead(ahead) => {
                let has_any = !ahead.turns.is_empty() || !ahead.lines.is_empty();
                own.ahead = has_any.then(|| (id, ahead.clone()));
            }
            _ => {}
        }
    }

    /// PM-39: a seat that the deadline waits for has the hours of a turn after its absence.
    pub(super) fn after_absences(&self, deadline: u64) -> u64 {
        let awaited = |status: &Status| matches!(status, Status::Nothing | Status::Sealed(_));
        let absent = self.players.iter().filter(|player| awaited(&player.status));
        let back =
            absent.filter_map(|player| player.announced.absent.filter(|back| Some(*back) > self.clock));
        back.max().map_or(deadline, |back| deadline.max(back + self.terms.hours))
    }

    /// PM-42, PM-122: an answer from a line of answers takes precedence over an order for the turn.
    pub(super) fn order_ahead(&mut self, carried: &[(usize, Option<Vec<Move>>)]) {
        let turn = self.turn;
        for (seat, player) in self.players.iter_mut().enumerate() {
            let answer = player.announced.answer(seat, carried);
            let is_asked = matches!(player.status, Status::Nothing);
            if answer.is_some() != is_asked {
                player.announced.end_lines();
            }
            let Some((id, ahead)) = &player.announced.ahead else { continue };
            let of_turn = ahead.turns.iter().find(|(of, _)| *of == turn).map(|(_, plays)| plays.clone());
            if let Some(plays) = answer.map(|play| vec![play]).or(of_turn).filter(|_| is_asked) {
                player.status = Status::Ordered { id: *id, is_sealed: false, waits: false, plays };
                player.misses = 0;
                self.answers += u64::from(answer.is_some());
            }
        }
    }

    /// PM-123: returns `true` if all commands in the lines of answers can be played, after the seat's order if the game
    /// waits for the seat.
    pub(super) fn can_play_lines(&self, seat: usize, plays: &[Move], ahead: &AheadOrders) -> bool {
        let can_play = |line: &Vec<(Move, Move)>| {
            let mut game = self.game.clone();
            if game.has_legal(seat) {
                let count = plays.iter().take_while(|play| game.give(Some(seat), **play)).count();
                // PM-121
                if count == 0 || count < plays.len() && !game.is_over() {
                    return false;
                }
            }
            line.iter().all(|(on, answer)| {
                let others = (0..self.players.len()).filter(|other| *other != seat && game.has_legal(*other));
                let others: Vec<usize> = others.collect();
                others.len() == 1 && game.give(Some(others[0]), *on) && game.give(Some(seat), *answer)
            })
        };
        ahead.lines.iter().all(can_play) && !ahead.has_two_answers()
    }
}

/// Returns a random paper of one of these kinds, at a time and turn.
pub(super) fn random(chance: &mut DiceStream, now: u64, turn: u32) -> Kind {
    let mut draw = |many: i32| chance.draw(1, many).unsigned_abs();
    match draw(4) {
        1 => Kind::Absent { until: now + u64::from(draw(90)) - 1 },
        2 => Kind::Press { is_known: draw(4) > 1 },
        _ => {
            let mut turns: Vec<(u32, Vec<Move>)> = Vec::new();
            let first = turn + draw(2) - u32::from(draw(8) == 1);
            for later in 0..draw(3) - 1 {
                let play = if draw(6) == 1 { Move::Add(9) } else { Move::Add(1) };
                let plays = if draw(2) == 1 { vec![play, Move::Done] } else { vec![Move::Done] };
                turns.push((first + later, plays));
            }
            let mut lines: Vec<Vec<(Move, Move)>> = Vec::new();
            for _ in 0..draw(4).saturating_sub(2) {
                let line = (0..draw(3)).map(|_| {
                    let on = if draw(4) == 1 { Move::Add(1) } else { Move::Done };
                    (on, if draw(8) == 1 { Move::Add(9) } else { Move::Done })
                });
                lines.push(line.collect());
            }
            let order = if draw(4) == 1 { vec![Move::Add(1), Move::Done] } else { vec![Move::Done] };
            let after = (draw(2) == 1 && !lines.is_empty()).then_some(order);
            let mut ahead = AheadOrders { turns, after, lines };
            if ahead.has_two_answers() {
                ahead.lines.truncate(1);
            }
            Kind::Ahead(ahead)
        }
    }
}

/// Returns the content of a paper of one of these kinds.
pub(super) fn content(kind: &Kind) -> PaperContent {
    match kind {
        Kind::Absent { until } => PaperContent::Absent(time(*until)),
        Kind::Press { is_known } => {
            let to = if *is_known { "p1,p2" } else { "p1,p8" };
            PaperContent::Press(Press::new(to.parse().unwrap(), vec!["hello".parse().unwrap()]).unwrap())
        }
        Kind::Ahead(AheadOrders { turns, after, lines }) => {
            let plays =
                |plays: &Vec<Move>| plays.iter().map(|play| play.to_string().parse().unwrap()).collect();
            let turns = turns.iter().map(|(turn, list)| (*turn, plays(list))).collect();
            let after = after.as_ref().map(|plays| joined(plays).parse().unwrap());
            let reply = |(on, play): &(Move, Move)| Reply {
                on: on.to_string().parse().unwrap(),
                play: play.to_string().parse().unwrap(),
            };
            let lines = lines.iter().map(|line| line.iter().map(reply).collect()).collect();
            PaperContent::Ahead(OrdersAhead::new(turns).unwrap().with_lines(after, lines).unwrap())
        }
        _ => PaperContent::Resign,
    }
}

/// Returns the commands of an order on one line, as in papers and mails.
pub(super) fn joined(plays: &[Move]) -> String {
    plays.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// PM-39: each absence counts as whole days.
fn whole_days(hours: u64) -> u64 {
    hours.div_ceil(24) * 24
}
