//! A game for any number: in each round everybody speaks once, in seat order or as they like; the host closes the round.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use turnfold_core::admission::Issuer;
use turnfold_core::outcome::{EffectSink, Ruled, Ruling, Verdict};
use turnfold_core::picture::Picture;
use turnfold_core::text::Malformed;
use turnfold_core::{Rules, Seat, SetupError};

pub(super) struct Council;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Setup {
    seats: u8,
    /// Whether nobody speaks before those in front have spoken.
    in_order: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    in_order: bool,
    spoken: Vec<bool>,
    round: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Command {
    Speak,
    Close,
}

impl fmt::Display for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if *self == Self::Speak { "speak" } else { "close" })
    }
}

impl FromStr for Command {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        match text {
            "speak" => Ok(Self::Speak),
            "close" => Ok(Self::Close),
            _ => Err(Malformed::expected("`speak` or `close`", text)),
        }
    }
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub(super) enum Effect {
    Heard,
}

impl fmt::Display for Effect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("heard")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Noise,
}

impl Ruled for Reason {
    const ALL: &'static [Self] = &[Self::Noise];

    fn ruling(self) -> Ruling {
        Ruling::of("noise", &[]).says("nobody hears it")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rejection {
    NotNow,
}

impl Ruled for Rejection {
    const ALL: &'static [Self] = &[Self::NotNow];

    fn ruling(self) -> Ruling {
        Ruling::of("not_now", &[]).says("this is not the time")
    }
}

#[derive(Serialize)]
pub(super) struct View {
    round: u8,
}

fn index(seat: Seat) -> Option<usize> {
    Seat::players(8).iter().position(|player| *player == seat)
}

impl Rules for Council {
    const NAME: &'static str = "council";
    const VERSION: u32 = 1;
    const SUMMARY: &'static str = "everybody speaks";
    const EXAMPLE: &'static str = "seats = 3\nin_order = false";
    const RULEBOOK: &'static str = "";

    type Setup = Setup;
    type State = State;
    type Command = Command;
    type Plan = (Option<usize>, Command);
    type Effect = Effect;
    type Reason = Reason;
    type Rejection = Rejection;
    type View = View;

    fn start(setup: &Setup) -> Result<State, SetupError> {
        Ok(State { in_order: setup.in_order, spoken: vec![false; setup.seats.into()], round: 1 })
    }

    fn decide(
        state: &State,
        seat: Seat,
        command: &Command,
    ) -> Result<Verdict<(Option<usize>, Command), Reason>, Rejection> {
        let (own, waiting) = (index(seat), state.spoken.iter().position(|spoken| !spoken));
        let is_now = match (command, own) {
            (Command::Close, _) => waiting.is_none(),
            (Command::Speak, Some(own)) if state.in_order => waiting == Some(own),
            (Command::Speak, Some(own)) => state.spoken.get(own) == Some(&false),
            (Command::Speak, None) => false,
        };
        if is_now { Ok(Verdict::Applied((own, *command))) } else { Err(Rejection::NotNow) }
    }

    fn carry_out(
        state: &mut State,
        (own, command): (Option<usize>, Command),
        effects: &mut impl EffectSink<Effect>,
    ) {
        match (command, own) {
            (Command::Speak, Some(own)) => state.spoken[own] = true,
            (Command::Speak, None) => {}
            (Command::Close, _) => {
                state.spoken.fill(false);
                state.round += 1;
            }
        }
        effects.push(|| Effect::Heard);
    }

    fn players(state: &State) -> &'static [Seat] {
        Seat::players(state.spoken.len())
    }

    fn issuer(command: &Command) -> Issuer {
        if *command == Command::Speak { Issuer::Player } else { Issuer::Host }
    }

    fn over(state: &State) -> bool {
        state.round > 4
    }

    fn candidates(_state: &State, seat: Seat) -> Vec<Command> {
        vec![if seat == Seat::Host { Command::Close } else { Command::Speak }]
    }

    fn view(state: &State, _viewer: Seat) -> View {
        View { round: state.round }
    }

    fn picture(_state: &State, _viewer: Seat) -> Picture {
        Picture { blocks: Vec::new() }
    }
}
