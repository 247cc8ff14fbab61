//! Heaps of stones, in versions that differ in the number of stones that a move may take.
//!
//! A player sees the setup with its heaps in sorted order, whatever the original order. This is another spelling of the
//! same setup, and conceals nothing.

use serde::{Deserialize, Serialize};
use turnfold_core::admission::Issuer;
use turnfold_core::declare::{commands, effects, reasons};
use turnfold_core::outcome::{EffectSink, Ruling, Verdict};
use turnfold_core::picture::{Block, Picture, TextLine};
use turnfold_core::rules::Part;
use turnfold_core::{Perspective, Rules, Seat, Secrets, SetupError};

use crate::module::fail_at;

/// Version 1 allows up to 3 stones, version 2 ignores a 3, and version 3 rejects more than 1.
pub(crate) struct Heaps<const VERSION: u32>;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Setup {
    heaps: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// The heaps in sorted order.
    heaps: Vec<u8>,
    turn: Seat,
}

/// `take COUNT HEAP`, or `stand`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Command {
    Take { count: u8, heap: u8 },
    Stand,
}

commands! {
    Command, "`take COUNT HEAP` or `stand`";
    "take" => Command::Take { count, heap },
    "stand" => Command::Stand,
}

effects! {
    pub(crate) enum Effect {
        Taken { count: u8, heap: u8 },
        Stood { seat: Seat },
        MatchOver { winner: Seat },
    }
}

reasons! {
    pub(crate) enum Reason {
        BadCount = Ruling::of("bad_count", &[]).says("a move takes some stones of a heap"),
    }
}

reasons! {
    pub(crate) enum Rejection {
        NotYourTurn = Ruling::of("not_your_turn", &[]).says("the other player is to take"),
        TooMany = Ruling::of("too_many", &[]).says("a move takes one stone"),
    }
}

fn shows<const VERSION: u32>(
    _after: &State,
    _now: &State,
    _part: &Part<'_, Heaps<VERSION>>,
    _viewer: Perspective,
) -> bool {
    true
}

fn setup_seen(setup: &Setup, _now: &State, _viewer: Perspective) -> Setup {
    let mut heaps = setup.heaps.clone();
    heaps.sort_unstable();
    Setup { heaps }
}

impl<const VERSION: u32> Rules for Heaps<VERSION> {
    const NAME: &'static str = "heaps";
    const VERSION: u32 = VERSION;
    const SUMMARY: &'static str = "stones taken from heaps";
    const EXAMPLE: &'static str = "heaps = [5, 4]";
    const RULEBOOK: &'static str = "# Heaps\n\nTake stones.\n";
    const SECRETS: Secrets<Self> = Secrets::Kept { shows: shows::<VERSION>, setup_seen };

    type Setup = Setup;
    type State = State;
    type Command = Command;
    type Plan = Command;
    type Effect = Effect;
    type Reason = Reason;
    type Rejection = Rejection;
    type View = State;

    fn start(setup: &Setup) -> Result<State, SetupError> {
        SetupError::within("heaps", &setup.heaps.len(), 1..=9)?;
        let Setup { heaps } =
            setup_seen(setup, &State { heaps: Vec::new(), turn: Seat::P1 }, Perspective::HOST);
        Ok(State { heaps, turn: Seat::P1 })
    }

    fn decide(state: &State, seat: Seat, command: &Command) -> Result<Verdict<Command, Reason>, Rejection> {
        if seat != state.turn {
            return Err(Rejection::NotYourTurn);
        }
        let Command::Take { count, heap } = command else { return Ok(Verdict::Applied(command.clone())) };
        fail_at(*count);
        let most = if VERSION == 1 { 3 } else { 2 };
        if VERSION > 2 && *count > 1 {
            return Err(Rejection::TooMany);
        }
        let stones = usize::from(*heap).checked_sub(1).and_then(|index| state.heaps.get(index));
        Ok(match stones {
            Some(stones) if (1..=most.min(*stones)).contains(count) => Verdict::Applied(command.clone()),
            _ => Verdict::Ignored(Reason::BadCount),
        })
    }

    fn carry_out(state: &mut State, command: Command, effects: &mut impl EffectSink<Effect>) {
        let seat = state.turn;
        match command {
            Command::Take { count, heap } => {
                if let Some(stones) = state.heaps.get_mut(usize::from(heap).saturating_sub(1)) {
                    *stones = stones.saturating_sub(count);
                }
                effects.push(|| Effect::Taken { count, heap });
            }
            Command::Stand => effects.push(|| Effect::Stood { seat }),
        }
        if Self::over(state) {
            effects.push(|| Effect::MatchOver { winner: seat });
        }
        state.turn = if seat == Seat::P1 { Seat::P2 } else { Seat::P1 };
    }

    fn players(_state: &State) -> &[Seat] {
        Seat::players(2)
    }

    fn issuer(_command: &Command) -> Issuer {
        Issuer::Player
    }

    fn active_seat(state: &State) -> Option<Seat> {
        Some(state.turn)
    }

    fn over(state: &State) -> bool {
        state.heaps.iter().all(|stones| *stones == 0)
    }

    fn candidates(state: &State, _seat: Seat) -> Vec<Command> {
        let takes = |heap| (1..=3).map(move |count| Command::Take { count, heap });
        (1..).zip(&state.heaps).flat_map(|(heap, _)| takes(heap)).chain([Command::Stand]).collect()
    }

    fn view(state: &State, _viewer: Perspective) -> State {
        state.clone()
    }

    fn picture(state: &State, _viewer: Perspective) -> Picture {
        let heap = |(heap, stones): (u8, &u8)| TextLine::plain(format!("{heap}: {stones}"));
        Picture { blocks: vec![Block::Lines((1..).zip(&state.heaps).map(heap).collect())] }
    }
}
