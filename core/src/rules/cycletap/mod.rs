//! `cycletap`: two players give orders in secret by tapping hexes, then all orders are carried out at once.
//!
//! A turn is planning by p1, planning by p2 and execution (CT-2). The planning seat taps its units and their
//! surroundings to place orders (CT-3 to CT-13), each for a slot of its pool (CT-1). `resolve` carries out deploys,
//! movement and combat of both sides together (CT-14 to CT-18). What a side plans, the other does not know before
//! (CT-19): see `secrecy.rs`.

mod carry_out;
mod combat;
mod command;
mod effect;
mod execution;
mod judge;
mod legal;
mod movement;
mod order;
mod picture;
mod query;
mod reason;
mod secrecy;
mod setup;
mod state;
mod view;

use alloc::vec::Vec;

use crate::dice::DueRoll;
use crate::outcome::{EffectSink, Verdict};
use crate::picture::Picture;
use crate::rules::{Answer, Part, QueryError, Rules, SetupError};
use crate::seat::Seat;

pub use command::Command;
pub use effect::Effect;
pub use judge::Plan;
pub use order::PathKind;
pub use reason::{Reason, Rejection};
pub use setup::{Setup, UnitSetup};
pub use state::{State, UnitKind, UnitName};
pub use view::View;

/// The ruleset `cycletap`.
#[derive(Debug)]
pub struct Cycletap;

impl Rules for Cycletap {
    const NAME: &'static str = "cycletap";
    const VERSION: u32 = 1;
    const SUMMARY: &'static str = "orders placed in secret by cycling taps, carried out at once";
    const EXAMPLE: &'static str = include_str!("../../../../fixtures/cycletap/close-quarters.toml");
    const RULEBOOK: &'static str = include_str!("RULES.md");

    type Setup = Setup;
    type State = State;
    type Command = Command;
    type Plan = Plan;
    type Effect = Effect;
    type Reason = Reason;
    type Rejection = Rejection;
    type View = View;

    fn start(setup: &Setup) -> Result<State, SetupError> {
        setup::start(setup)
    }

    fn judge(state: &State, seat: Seat, command: &Command) -> Result<Verdict<Plan, Reason>, Rejection> {
        judge::judge(state, seat, command)
    }

    fn carry_out(state: &mut State, plan: Plan, effects: &mut impl EffectSink<Effect>) {
        carry_out::carry_out(state, plan, effects);
    }

    fn players(_state: &State) -> &'static [Seat] {
        &state::PLAYERS
    }

    fn over(state: &State) -> bool {
        state.is_over()
    }

    fn due_roll(_state: &State) -> Option<DueRoll> {
        None
    }

    fn roll(_values: Vec<i32>) -> Option<Command> {
        None
    }

    fn rolled(_command: &Command) -> Option<&[i32]> {
        None
    }

    fn default_seat(state: &State, command: &Command) -> Seat {
        command.default_seat(state)
    }

    fn candidates(state: &State, seat: Seat) -> Vec<Command> {
        legal::candidates(state, seat)
    }

    fn view(state: &State, viewer: Seat) -> View {
        View::of(state, viewer)
    }

    fn query(state: &State, seat: Seat, question: &str) -> Result<Answer, QueryError> {
        query::query(state, seat, question)
    }

    fn picture(state: &State, viewer: Seat) -> Picture {
        picture::picture(state, viewer)
    }

    fn shows(after: &State, now: &State, part: &Part<'_, Self>, viewer: Seat) -> bool {
        secrecy::shows(after, now, part, viewer)
    }
}
