//! The model of absences, words to players and orders ahead (PM-39, PM-41, PM-42), and random papers of these kinds.

use turnfold_core::dice::DiceStream;
use turnfold_core::paper::{OrdersAhead, PaperContent, Press};

use super::driver::time;
use super::relay::Move;
use super::turns::{Id, Kind, Model, Paper, Status};

/// The commands for each later turn.
pub(super) type TurnOrders = Vec<(u32, Vec<Move>)>;

/// What a player announced.
#[derive(Clone, Debug, Default)]
pub(crate) struct Announced {
    /// Until when the player is absent.
    pub(super) absent: Option<u64>,
    /// The hours of all absences.
    absent_hours: u64,
    /// The orders ahead that count.
    pub(super) ahead: Option<(Id, TurnOrders)>,
}

impl Model {
    /// What becomes of papers that are not of this turn alone; `None` for an order or a seal.
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
            Kind::Ahead { .. } if self.terms.sealed || !self.terms.hosted.is_empty() => {
                Err("rejected not_in_terms")
            }
            Kind::Ahead { turns } if turns.iter().any(|(turn, _)| *turn <= self.turn) => Err("ignored late"),
            Kind::Resign | Kind::Press { .. } | Kind::Ahead { .. } => Ok(()),
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
            Kind::Ahead { turns } => {
                own.ahead = Some((id, turns.clone())).filter(|(_, turns)| !turns.is_empty());
            }
            _ => {}
        }
    }

    /// PM-39: a seat that a deadline waits for has the hours of a turn after its absence.
    pub(super) fn after_absences(&self, deadline: u64) -> u64 {
        let awaited = |status: &Status| matches!(status, Status::Nothing | Status::Sealed(_));
        let absent = self.players.iter().filter(|player| awaited(&player.status));
        let back =
            absent.filter_map(|player| player.announced.absent.filter(|back| Some(*back) > self.clock));
        back.max().map_or(deadline, |back| deadline.max(back + self.terms.hours))
    }

    /// PM-42
    pub(super) fn order_ahead(&mut self) {
        let turn = self.turn;
        for player in self.players.iter_mut().filter(|player| matches!(player.status, Status::Nothing)) {
            let Some((id, turns)) = &player.announced.ahead else { continue };
            let Some((_, plays)) = turns.iter().find(|(of, _)| *of == turn) else { continue };
            player.status = Status::Ordered { id: *id, is_sealed: false, waits: false, plays: plays.clone() };
            player.misses = 0;
        }
    }
}

/// A paper of one of these kinds, at a time and turn.
pub(super) fn random(chance: &mut DiceStream, now: u64, turn: u32) -> Kind {
    let mut draw = |many: i32| chance.draw(1, many).unsigned_abs();
    match draw(3) {
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
            Kind::Ahead { turns }
        }
    }
}

/// The content of a paper of one of these kinds.
pub(super) fn content(kind: &Kind) -> PaperContent {
    match kind {
        Kind::Absent { until } => PaperContent::Absent(time(*until)),
        Kind::Press { is_known } => {
            let to = if *is_known { "p1,p2" } else { "p1,p8" };
            PaperContent::Press(Press::new(to.parse().unwrap(), vec!["hello".parse().unwrap()]).unwrap())
        }
        Kind::Ahead { turns } => {
            let plays =
                |plays: &Vec<Move>| plays.iter().map(|play| play.to_string().parse().unwrap()).collect();
            let turns = turns.iter().map(|(turn, list)| (*turn, plays(list))).collect();
            PaperContent::Ahead(OrdersAhead::new(turns).unwrap())
        }
        _ => PaperContent::Resign,
    }
}

/// PM-39: each absence counts as whole days.
fn whole_days(hours: u64) -> u64 {
    hours.div_ceil(24) * 24
}
