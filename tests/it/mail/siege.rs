//! A game for two with dice that players make due: a player who attacks a gate may enter once a roll opens it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use turnfold_core::admission::Issuer;
use turnfold_core::declare::{commands, effects, reasons};
use turnfold_core::dice::DueRoll;
use turnfold_core::outcome::{EffectSink, Ruling, Verdict};
use turnfold_core::picture::Picture;
use turnfold_core::{Perspective, Rules, Seat, Secrets, SetupError};

const DIE: DueRoll = DueRoll { purpose: Cow::Borrowed("gate"), count: 1, low: 1, high: 6, owner: None };

pub(super) struct Siege;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Setup {
    /// Whether a roll is due before any player moves.
    begins_with_roll: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    due: bool,
    open: bool,
    /// The players who have ended the day.
    ended: [bool; 2],
    entered: [u8; 2],
    day: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Command {
    Attack,
    Enter,
    Stay,
    Next,
    Roll(i32),
}

commands! {
    Command, "`attack`, `enter`, `stay`, `next` or `roll N`";
    "attack" => Command::Attack,
    "enter" => Command::Enter,
    "stay" => Command::Stay,
    "next" => Command::Next,
    "roll" => Command::Roll(value),
}

effects! {
    pub(super) enum Effect {
        Done,
    }
}

reasons! {
    pub(super) enum Reason {
        OpenAlready = Ruling::of("open_already", &[]).says("the gate is open"),
    }
}

reasons! {
    pub(super) enum Rejection {
        GateShut = Ruling::of("gate_shut", &[]).says("the gate is shut"),
        DayEnded = Ruling::of("day_ended", &[]).says("you have ended the day"),
        DayNotEnded = Ruling::of("day_not_ended", &[]).says("a seat has not ended the day"),
    }
}

#[derive(Serialize)]
pub(super) struct View {
    open: bool,
    entered: [u8; 2],
    day: u8,
}

fn index(seat: Seat) -> usize {
    usize::from(seat == Seat::P2)
}

impl Rules for Siege {
    const NAME: &'static str = "siege";
    const VERSION: u32 = 1;
    const SUMMARY: &'static str = "a gate that a roll opens";
    const EXAMPLE: &'static str = "begins_with_roll = false";
    const RULEBOOK: &'static str = "";
    const SECRETS: Secrets<Self> = Secrets::None;

    type Setup = Setup;
    type State = State;
    type Command = Command;
    type Plan = (usize, Command);
    type Effect = Effect;
    type Reason = Reason;
    type Rejection = Rejection;
    type View = View;

    fn start(setup: &Setup) -> Result<State, SetupError> {
        Ok(State { due: setup.begins_with_roll, open: false, ended: [false; 2], entered: [0; 2], day: 1 })
    }

    fn decide(
        state: &State,
        seat: Seat,
        command: &Command,
    ) -> Result<Verdict<(usize, Command), Reason>, Rejection> {
        let by_player = matches!(command, Command::Attack | Command::Enter | Command::Stay);
        match command {
            _ if by_player && state.ended[index(seat)] => Err(Rejection::DayEnded),
            Command::Enter if !state.open => Err(Rejection::GateShut),
            Command::Attack if state.open => Ok(Verdict::Ignored(Reason::OpenAlready)),
            Command::Next if state.ended != [true; 2] => Err(Rejection::DayNotEnded),
            command => Ok(Verdict::Applied((index(seat), *command))),
        }
    }

    fn carry_out(
        state: &mut State,
        (player, command): (usize, Command),
        effects: &mut impl EffectSink<Effect>,
    ) {
        match command {
            Command::Attack => state.due = true,
            Command::Enter => {
                state.entered[player] += 1;
                state.open = false;
            }
            Command::Stay => state.ended[player] = true,
            Command::Next => {
                state.ended = [false; 2];
                state.day += 1;
            }
            // A 1 makes another roll due.
            Command::Roll(value) => {
                state.due = value == 1;
                state.open = value > 3;
            }
        }
        effects.push(|| Effect::Done);
    }

    fn players(_state: &State) -> &[Seat] {
        Seat::players(2)
    }

    fn issuer(command: &Command) -> Issuer {
        match command {
            Command::Next | Command::Roll(_) => Issuer::Host,
            _ => Issuer::Player,
        }
    }

    fn active_seat(_state: &State) -> Option<Seat> {
        None
    }

    fn over(state: &State) -> bool {
        state.day > 3
    }

    fn due_roll(state: &State) -> Option<DueRoll> {
        state.due.then_some(DIE)
    }

    fn roll(values: Vec<i32>) -> Option<Command> {
        values.first().copied().map(Command::Roll)
    }

    fn rolled(command: &Command) -> Option<&[i32]> {
        if let Command::Roll(value) = command { Some(std::slice::from_ref(value)) } else { None }
    }

    fn candidates(_state: &State, seat: Seat) -> Vec<Command> {
        if seat == Seat::Host {
            return vec![Command::Next, Command::Roll(1), Command::Roll(6)];
        }
        vec![Command::Attack, Command::Enter, Command::Stay]
    }

    fn view(state: &State, _viewer: Perspective) -> View {
        View { open: state.open, entered: state.entered, day: state.day }
    }

    fn picture(_state: &State, _viewer: Perspective) -> Picture {
        Picture { blocks: Vec::new() }
    }
}
