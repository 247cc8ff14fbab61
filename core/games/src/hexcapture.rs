//! `hexcapture`: a turtle follows a cursor over a world of colored hexes, captures, carries and eats them, tick by tick.
//!
//! The player moves the cursor (HC-2, HC-3, HC-6), holds the action and lets it go (HC-4, HC-5), eats (HC-7) and
//! changes to the inventory and back (HC-8). The host's ticks do the rest in a fixed order: the turtle approaches
//! (HC-9), a charge begins and ends (HC-10, HC-12), a carried hex is brought to the cursor (HC-11), a roll decides a
//! capture (HC-13, HC-14). The branches that implement a rule name its id.

mod carry_out;
mod charge;
mod command;
mod effect;
mod grid;
mod judge;
mod palette;
mod picture;
mod reason;
mod release;
mod sentence;
mod setup;
mod state;
mod tick;
mod view;
mod walk;

use core::convert::Infallible;

use alloc::string::String;
use alloc::vec::Vec;

use turnfold_core::prelude::*;
use turnfold_core::rules::NamedSetup;

pub use command::Command;
pub use effect::{Effect, FailureCause};
pub use judge::Plan;
pub use palette::{ColorIndex, Rgb};
pub use reason::Reason;
pub use setup::{CellSetup, Generate, Setup};
pub use state::{Field, Flash, FlashKind, State};
pub use view::{CarriedView, CellView, View};

/// The ruleset `hexcapture`.
#[derive(Debug)]
pub struct Hexcapture;

impl Rules for Hexcapture {
    const NAME: &'static str = "hexcapture";
    const VERSION: u32 = 1;
    const SUMMARY: &'static str = "one turtle captures, carries and eats colored hexes, tick by tick";
    const EXAMPLE: &'static str = include_str!("hexcapture/example.toml");
    const SETUPS: &'static [NamedSetup<'static>] = &[
        NamedSetup::new(
            "a-color-at-each-distance",
            include_str!("hexcapture/setups/a-color-at-each-distance.toml"),
        ),
        NamedSetup::new("full-inventory", include_str!("hexcapture/setups/full-inventory.toml")),
        NamedSetup::new("generated-world", include_str!("hexcapture/setups/generated-world.toml")),
        NamedSetup::new("small-world", include_str!("hexcapture/setups/small-world.toml")),
        NamedSetup::new("thirty-two-colors", include_str!("hexcapture/setups/thirty-two-colors.toml")),
        NamedSetup::new("walled-corridor", include_str!("hexcapture/setups/walled-corridor.toml")),
    ];
    const MAIL_TERMS: &'static str = "default = []\nbetween = [\"tick 12\"]\n";
    const RULEBOOK: &'static str = include_str!("hexcapture/RULES.md");
    const SECRETS: Secrets<Self> = Secrets::None;
    const QUERIES: &'static str = "`chance Q,R`";

    type Setup = Setup;
    type State = State;
    type Command = Command;
    type Plan = Plan;
    type Effect = Effect;
    type Reason = Reason;
    type Rejection = Infallible;
    type View = View;

    fn start(setup: &Setup) -> Result<State, SetupError> {
        setup::start(setup)
    }

    fn decide(state: &State, _seat: Seat, command: &Command) -> Result<Verdict<Plan, Reason>, Infallible> {
        Ok(judge::decide(state, command))
    }

    fn carry_out(state: &mut State, plan: Plan, effects: &mut impl EffectSink<Effect>) {
        carry_out::carry_out(state, &plan, effects);
    }

    fn players(_state: &State) -> &[Seat] {
        state::players()
    }

    fn issuer(command: &Command) -> Issuer {
        command.issuer()
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

    fn candidates(state: &State, seat: Seat) -> Vec<Command> {
        judge::candidates(state, seat)
    }

    fn targets(command: &Command) -> Targets {
        match command {
            Command::Move(way) | Command::Stick(way) => Targets::pieces([picture::way_target(*way)]),
            _ => Targets::default(),
        }
    }

    fn view(state: &State, _viewer: Perspective) -> View {
        View::of(state)
    }

    fn query(state: &State, _viewer: Perspective, question: &str) -> Result<Option<Answer>, Malformed> {
        view::query(state, question)
    }

    fn sentence(
        _state: &State,
        _seat: Seat,
        command: &Command,
        happened: Happened<'_, Self>,
        _reader: Perspective,
    ) -> String {
        sentence::sentence(command, happened)
    }

    fn picture(state: &State, _viewer: Perspective) -> Picture {
        picture::picture(state)
    }
}
