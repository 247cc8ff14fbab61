//! How matches end: results, and helpers for resigning, draws by agreement and clocks that count ticks.
//!
//! A game keeps these helpers in its state and lists what they need among its commands; none of them is required.

use core::fmt::{self, Display};

use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::seat::Seat;
use crate::text::in_one_line;
use crate::ticks::Ticks;

/// How a match ended. Its JSON form is stable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchResult {
    /// The seats that won, including all of a team that won together; none for a draw, and if no seat wins.
    pub winners: Vec<Seat>,
    /// Whether it is a draw.
    pub draw: bool,
    /// The final scores, in games that have scores.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scores: BTreeMap<Seat, Score>,
    /// Why the match ended, such as `checkmate`, if the winner alone does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl MatchResult {
    /// Returns the result of a match that these seats won; without seats, no one won.
    #[must_use]
    pub fn won_by(winners: impl IntoIterator<Item = Seat>) -> Self {
        Self { winners: winners.into_iter().collect(), ..Self::default() }
    }

    /// Returns a draw.
    #[must_use]
    pub fn drawn() -> Self {
        Self { draw: true, ..Self::default() }
    }

    /// Returns the result with the reason of the end.
    #[must_use]
    pub fn because(self, reason: &str) -> Self {
        Self { reason: Some(in_one_line(reason)), ..self }
    }

    /// Returns the result with the final scores.
    #[must_use]
    pub fn scored(self, scores: impl IntoIterator<Item = (Seat, i64)>) -> Self {
        let mut read = BTreeMap::new();
        for (seat, score) in scores {
            read.insert(seat, score.into());
        }
        Self { scores: read, ..self }
    }
}

/// A score: the text of any JSON number, which is whole in all built-in games. The program never computes with scores,
/// so they stay exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Score(String);

impl Score {
    /// Reads a JSON number; a number that is not whole keeps its spelling.
    #[must_use]
    pub fn read(json: &str) -> Option<Self> {
        let is_number = json.starts_with(|first: char| first == '-' || first.is_ascii_digit())
            && serde_json::from_str::<&RawValue>(json).is_ok_and(|read| read.get() == json);
        if !is_number {
            return None;
        }
        Some(match json.parse::<i64>() {
            Ok(whole) => Self::from(whole),
            Err(_) => Self(json.to_owned()),
        })
    }
}

impl From<i64> for Score {
    fn from(whole: i64) -> Self {
        Self(whole.to_string())
    }
}

impl Display for Score {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Ok(whole) = self.0.parse::<i64>() {
            return whole.serialize(serializer);
        }
        RawValue::from_string(self.0.clone()).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Score {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = Box::<RawValue>::deserialize(deserializer)?;
        Self::read(number.get()).ok_or_else(|| D::Error::custom("expected a number as a score"))
    }
}

/// Writes a phrase such as `p1 won: p1 12, p2 9 (time)`, `draw (agreed)` or `no winner`.
impl Display for MatchResult {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.winners.as_slice() {
            [] => out.write_str(if self.draw { "draw" } else { "no winner" })?,
            [first, rest @ ..] => {
                write!(out, "{first}")?;
                for seat in rest {
                    write!(out, ", {seat}")?;
                }
                out.write_str(" won")?;
            }
        }
        for (index, (seat, score)) in self.scores.iter().enumerate() {
            write!(out, "{} {seat} {score}", if index == 0 { ":" } else { "," })?;
        }
        match &self.reason {
            Some(reason) => write!(out, " ({reason})"),
            None => Ok(()),
        }
    }
}

/// The ways to end a match that many games share: players resign, and a draw that one offers and every other accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    resigned: Vec<Seat>,
    for_draw: Vec<Seat>,
}

impl Agreement {
    /// Records that a seat resigns; its consent to a draw no longer counts.
    pub fn resign(&mut self, seat: Seat) {
        self.for_draw.retain(|other| *other != seat);
        insert(&mut self.resigned, seat);
    }

    /// Records that a seat offers a draw, or accepts one.
    pub fn offer_draw(&mut self, seat: Seat) {
        insert(&mut self.for_draw, seat);
    }

    /// Closes an offer, as when a player declines it.
    pub fn close_offer(&mut self) {
        self.for_draw.clear();
    }

    /// Closes the offers of all but the seat that moved: in many games a move declines them.
    pub fn moved(&mut self, seat: Seat) {
        self.for_draw.retain(|other| *other == seat);
    }

    /// Returns the first seat that has offered a draw, or accepted one.
    #[must_use]
    pub fn offered_by(&self) -> Option<Seat> {
        self.for_draw.first().copied()
    }

    /// Returns `true` if the seat has offered a draw, or accepted one.
    #[must_use]
    pub fn offers_draw(&self, seat: Seat) -> bool {
        self.for_draw.contains(&seat)
    }

    /// Returns `true` if the seat has resigned.
    #[must_use]
    pub fn has_resigned(&self, seat: Seat) -> bool {
        self.resigned.contains(&seat)
    }

    /// Returns the result, if there is one: a draw to which all players agree who are left, or a win of the last player
    /// who has not resigned.
    #[must_use]
    pub fn result(&self, players: &[Seat]) -> Option<MatchResult> {
        let mut left = players.to_vec();
        left.retain(|seat| !self.has_resigned(*seat));
        if left.len() > 1 {
            let agreed = left.iter().all(|seat| self.offers_draw(*seat));
            return if agreed { Some(MatchResult::drawn().because("agreed")) } else { None };
        }
        if self.resigned.is_empty() {
            return None;
        }
        Some(MatchResult::won_by(left).because("resignation"))
    }
}

/// Keeps seats in order and once, so that equal agreements have equal bytes.
fn insert(seats: &mut Vec<Seat>, seat: Seat) {
    if let Err(index) = seats.binary_search(&seat) {
        seats.insert(index, seat);
    }
}

/// The time that each player has left, in ticks: a game has no other clock, and `host` gives the ticks as commands. By
/// default no player has a clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    left: BTreeMap<Seat, u64>,
    /// What a player gains by a move.
    increment: u64,
}

impl Clock {
    /// Returns a clock that gives every player the same time.
    #[must_use]
    pub fn new(players: &[Seat], time: Ticks, increment: u64) -> Self {
        let mut left = BTreeMap::new();
        for seat in players {
            left.insert(*seat, time.get().into());
        }
        Self { left, increment }
    }

    /// Returns the ticks that a player has left; `None` for a seat without a clock.
    #[must_use]
    pub fn left(&self, seat: Seat) -> Option<u64> {
        self.left.get(&seat).copied()
    }

    /// Lets time pass for the player whose turn it is; returns `true` once none is left.
    pub fn tick(&mut self, seat: Seat, ticks: Ticks) -> bool {
        let Some(left) = self.left.get_mut(&seat) else { return false };
        *left = left.saturating_sub(u64::from(ticks.get()));
        *left == 0
    }

    /// Gives a player who moved the increment.
    pub fn moved(&mut self, seat: Seat) {
        if let Some(left) = self.left.get_mut(&seat) {
            *left = left.saturating_add(self.increment);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    const PLAYERS: [Seat; 3] = [Seat::P1, Seat::P2, Seat::P3];

    fn text(agreement: &Agreement) -> Option<String> {
        agreement.result(&PLAYERS).map(|result| result.to_string())
    }

    #[test]
    fn results_are_phrases() {
        let won = MatchResult::won_by([Seat::P2]);
        assert_eq!(won.to_string(), "p2 won");
        let points = [(Seat::P1, 9), (Seat::P2, -12)];
        let scored = MatchResult::won_by([Seat::P1, Seat::P3]).scored(points).because("time\nout");
        assert_eq!(scored.to_string(), "p1, p3 won: p1 9, p2 -12 (time, out)");
        assert_eq!(MatchResult::drawn().because("agreed").to_string(), "draw (agreed)");
        assert_eq!(MatchResult::default().to_string(), "no winner");
        let json = serde_json::to_string(&won.because("checkmate")).unwrap();
        assert_eq!(json, r#"{"winners":["p2"],"draw":false,"reason":"checkmate"}"#);
    }

    #[test]
    fn rf_11_scores_are_numbers_and_stay_exact() {
        let json = r#"{"winners":[],"draw":false,"scores":{"p1":-3,"p2":0.30000000000000004,"p3":1e+21}}"#;
        let read: MatchResult = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), json);
        assert_eq!(read.to_string(), "no winner: p1 -3, p2 0.30000000000000004, p3 1e+21");
        assert_eq!(read.scores.get(&Seat::P1), Some(&Score::from(-3)));
        for wrong in ["", "-", "one", "\"1\"", "null", "1,2", "1 ", "0x1", "01", "[1]"] {
            assert_eq!(Score::read(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn the_last_who_has_not_resigned_wins() {
        let mut agreement = Agreement::default();
        agreement.offer_draw(Seat::P2);
        agreement.resign(Seat::P2);
        assert!(!agreement.offers_draw(Seat::P2) && text(&agreement).is_none());
        agreement.resign(Seat::P1);
        assert_eq!(text(&agreement).as_deref(), Some("p3 won (resignation)"));
    }

    #[test]
    fn a_draw_takes_all_who_are_left() {
        let mut agreement = Agreement::default();
        agreement.resign(Seat::P3);
        agreement.offer_draw(Seat::P1);
        agreement.close_offer();
        assert_eq!(agreement.offered_by(), None);
        agreement.offer_draw(Seat::P2);
        assert_eq!(text(&agreement), None);
        agreement.moved(Seat::P2);
        assert_eq!(agreement.offered_by(), Some(Seat::P2));
        agreement.moved(Seat::P1);
        assert_eq!(agreement.offered_by(), None);
        agreement.offer_draw(Seat::P2);
        agreement.offer_draw(Seat::P1);
        assert_eq!(text(&agreement).as_deref(), Some("draw (agreed)"));
    }

    #[test]
    fn a_clock_runs_for_one_player_and_stops_at_none() {
        let ticks = Ticks::FEW;
        let mut clock = Clock::new(&PLAYERS[..2], ticks, 2);
        clock.moved(Seat::P1);
        assert!(!clock.tick(Seat::P1, ticks) && clock.tick(Seat::P2, ticks));
        assert_eq!(PLAYERS.map(|seat| clock.left(seat)), [Some(2), Some(0), None]);
        assert!(!clock.tick(Seat::P3, ticks));
        assert_eq!(Clock::default().left(Seat::P1), None);
    }
}
