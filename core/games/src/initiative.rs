//! `initiative`: two players roll for initiative and move their units in alternating impulses.
//!
//! A turn is a roll (IN-1 to IN-3), a movement phase in impulses (IN-4, IN-5) and an end. In movement the active player
//! selects units (IN-6 to IN-10) and moves them or lets them stand (IN-11, IN-12). Each branch that implements a rule
//! names the id of the rule.

mod carry_out;
mod command;
mod effect;
mod judge;
mod movement;
mod picture;
mod reach;
mod reason;
mod sentence;
mod setup;
mod state;
mod view;

use alloc::string::String;
use alloc::vec::Vec;

use turnfold_core::prelude::*;
use turnfold_core::rules::NamedSetup;

pub use command::Command;
pub use effect::Effect;
pub use judge::Plan;
pub use movement::Impulse;
pub use reason::{Reason, Rejection};
pub use setup::{Setup, UnitSetup};
pub use state::{State, Unit};
pub use view::{InitiativeView, Rolls, View};

/// The ruleset `initiative`.
#[derive(Debug)]
pub struct Initiative;

impl Rules for Initiative {
    const NAME: &'static str = "initiative";
    const VERSION: u32 = 1;
    const SUMMARY: &'static str = "two-player initiative rolls and movement in alternating impulses";
    const EXAMPLE: &'static str = include_str!("initiative/example.toml");
    const SETUPS: &'static [NamedSetup<'static>] = &[
        NamedSetup::new("a-side-without-units", include_str!("initiative/setups/a-side-without-units.toml")),
        NamedSetup::new("equal-counts", include_str!("initiative/setups/equal-counts.toml")),
        NamedSetup::new("lance-against-star", include_str!("initiative/setups/lance-against-star.toml")),
        NamedSetup::new("no-units", include_str!("initiative/setups/no-units.toml")),
        NamedSetup::new("one-against-many", include_str!("initiative/setups/one-against-many.toml")),
        NamedSetup::new("small-board", include_str!("initiative/setups/small-board.toml")),
        NamedSetup::new("three-against-five", include_str!("initiative/setups/three-against-five.toml")),
    ];
    const MAIL_TERMS: &'static str =
        "default = [\"cycle\", \"confirm\", \"stand\"]\nbetween = [\"next-turn\"]\n";
    const RULEBOOK: &'static str = include_str!("initiative/RULES.md");
    const SECRETS: Secrets<Self> = Secrets::None;
    const QUERIES: &'static str = "`order LOSER_COUNT WINNER_COUNT` and `reach UNIT`";

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

    fn decide(state: &State, seat: Seat, command: &Command) -> Result<Verdict<Plan, Reason>, Rejection> {
        judge::decide(state, seat, command)
    }

    fn carry_out(state: &mut State, plan: Plan, effects: &mut impl EffectSink<Effect>) {
        carry_out::carry_out(state, &plan, effects);
    }

    fn players(_state: &State) -> &[Seat] {
        &state::PLAYERS
    }

    fn issuer(command: &Command) -> Issuer {
        command.issuer()
    }

    fn active_seat(state: &State) -> Option<Seat> {
        state.active_player()
    }

    fn due_roll(state: &State) -> Option<DueRoll> {
        state.due_roll()
    }

    fn roll(values: Vec<i32>) -> Option<Command> {
        Some(Command::Roll(values))
    }

    fn rolled(command: &Command) -> Option<&[i32]> {
        match command {
            Command::Roll(values) => Some(values),
            _ => None,
        }
    }

    fn turn(state: &State) -> Option<u64> {
        Some(state.turn)
    }

    fn candidates(state: &State, seat: Seat) -> Vec<Command> {
        judge::candidates(state, seat)
    }

    fn targets(command: &Command) -> Targets {
        Targets::hexes_in(command)
    }

    fn view(state: &State, _viewer: Perspective) -> View {
        View::of(state)
    }

    fn query(state: &State, _viewer: Perspective, question: &str) -> Result<Option<Answer>, Malformed> {
        view::query(state, question)
    }

    fn sentence(
        state: &State,
        seat: Seat,
        command: &Command,
        happened: Happened<'_, Self>,
        reader: Perspective,
    ) -> String {
        sentence::sentence(state, seat, command, happened, reader)
    }

    fn picture(state: &State, _viewer: Perspective) -> Picture {
        picture::picture(state)
    }
}
