//! Nim, a game of one's own: two players take stones from heaps.

use serde::{Deserialize, Serialize};
use turnfold_core::admission::Issuer;
use turnfold_core::declare::{commands, effects, reasons};
use turnfold_core::outcome::{EffectSink, Ruling, Verdict};
use turnfold_core::picture::{Block, Picture, TextLine};
use turnfold_core::{MatchResult, Perspective, Rules, Seat, Secrets, SetupError};

turnfold_guest::export!(Nim);

#[cfg(test)]
mod tests;

/// Two players in turn take stones from one of the heaps; the player who takes the last stone wins.
pub struct Nim;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The stones of each heap, at most 100 of at most 100 heaps.
    heaps: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    heaps: Vec<u8>,
    turn: Seat,
}

/// `take COUNT HEAP`: takes stones from a heap, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Take {
    count: u8,
    heap: u8,
}

commands! {
    Take, "`take COUNT HEAP`";
    "take" => Take { count, heap },
}

effects! {
    pub enum Effect {
        Taken { count: u8, heap: u8 },
        MatchOver { winner: Seat },
    }
}

reasons! {
    pub enum Reason {
        /// NI-2: none are taken, or more than the heap has.
        BadCount = Ruling::of("bad_count", &["NI-2"]).says("a move takes 1 to all stones of a heap"),
        /// NI-4: more than three are taken.
        TooMany = Ruling::of("too_many", &["NI-4"]).says("a move takes at most 3 stones"),
    }
}

reasons! {
    pub enum Rejection {
        /// NI-1: the other player is to take.
        NotYourTurn = Ruling::of("not_your_turn", &["NI-1"]).says("the other player is to take"),
    }
}

/// NI-4: the most stones of a move, since version 2.
const MOST: u8 = 3;

impl Rules for Nim {
    const NAME: &'static str = "nim";
    const VERSION: u32 = 2;
    const SUMMARY: &'static str = "stones taken from heaps; the last one wins";
    const EXAMPLE: &'static str = "heaps = [3, 4, 5]";
    const RULEBOOK: &'static str = include_str!("../RULES.md");
    const SECRETS: Secrets<Self> = Secrets::None;

    type Setup = Setup;
    type State = State;
    type Command = Take;
    type Plan = Take;
    type Effect = Effect;
    type Reason = Reason;
    type Rejection = Rejection;
    type View = State;

    fn start(setup: &Setup) -> Result<State, SetupError> {
        SetupError::within("heaps", &setup.heaps.len(), 1..=100)?;
        for (index, stones) in setup.heaps.iter().enumerate() {
            SetupError::within(&format!("heaps[{index}]"), stones, 1..=100)?;
        }
        Ok(State { heaps: setup.heaps.clone(), turn: Seat::P1 })
    }

    fn decide(state: &State, seat: Seat, take: &Take) -> Result<Verdict<Take, Reason>, Rejection> {
        let stones = usize::from(take.heap).checked_sub(1).and_then(|index| state.heaps.get(index));
        if seat != state.turn {
            return Err(Rejection::NotYourTurn);
        }
        Ok(match stones {
            _ if take.count > MOST => Verdict::Ignored(Reason::TooMany),
            Some(stones) if (1..=*stones).contains(&take.count) => Verdict::Applied(take.clone()),
            _ => Verdict::Ignored(Reason::BadCount),
        })
    }

    fn carry_out(state: &mut State, Take { count, heap }: Take, effects: &mut impl EffectSink<Effect>) {
        if let Some(stones) = state.heaps.get_mut(usize::from(heap).saturating_sub(1)) {
            *stones = stones.saturating_sub(count);
        }
        effects.push(|| Effect::Taken { count, heap });
        if Self::over(state) {
            effects.push(|| Effect::MatchOver { winner: state.turn });
        }
        state.turn = if state.turn == Seat::P1 { Seat::P2 } else { Seat::P1 };
    }

    fn players(_state: &State) -> &[Seat] {
        Seat::players(2)
    }

    fn issuer(_take: &Take) -> Issuer {
        Issuer::Player
    }

    fn active_seat(state: &State) -> Option<Seat> {
        Some(state.turn)
    }

    fn over(state: &State) -> bool {
        state.heaps.iter().all(|stones| *stones == 0)
    }

    fn result(state: &State) -> Option<MatchResult> {
        let winner = if state.turn == Seat::P1 { Seat::P2 } else { Seat::P1 };
        Self::over(state).then(|| MatchResult::won_by([winner]))
    }

    fn candidates(state: &State, _seat: Seat) -> Vec<Take> {
        let takes =
            |(heap, stones): (u8, &u8)| (1..=MOST.min(*stones)).map(move |count| Take { count, heap });
        (1..).zip(&state.heaps).flat_map(takes).collect()
    }

    fn view(state: &State, _viewer: Perspective) -> State {
        state.clone()
    }

    fn picture(state: &State, _viewer: Perspective) -> Picture {
        let heap = |(heap, stones): (u8, &u8)| TextLine::plain(format!("{heap}: {stones}"));
        Picture { blocks: vec![Block::Lines((1..).zip(&state.heaps).map(heap).collect())] }
    }
}
