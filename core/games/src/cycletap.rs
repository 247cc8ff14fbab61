//! `cycletap`: two players give orders in secret by tapping hexes, then all orders are carried out at once.
//!
//! A turn is planning by p1, planning by p2 and execution (CT-2). The planning seat taps its units and the hexes around
//! them to place orders (CT-3 to CT-13); an attack or a path takes a slot of its pool (CT-1). `resolve` carries out
//! deploys, movement and combat of both sides together (CT-14 to CT-18). Neither side knows the other's plans before
//! that (CT-19): see `secrecy.rs`.

mod carry_out;
mod combat;
mod command;
mod effect;
mod execution;
mod judge;
mod movement;
mod order;
mod picture;
mod reason;
mod secrecy;
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
pub use order::PathKind;
pub use reason::{Reason, Rejection};
pub use setup::{Setup, UnitSetup};
pub use state::{Pool, State, UnitId, UnitKind};
pub use view::{OrderView, Pools, TapView, UnitView, View};

/// The ruleset `cycletap`.
#[derive(Debug)]
pub struct Cycletap;

impl Rules for Cycletap {
    const NAME: &'static str = "cycletap";
    const VERSION: u32 = 1;
    const SUMMARY: &'static str = "orders placed in secret by cycling taps, carried out at once";
    const EXAMPLE: &'static str = include_str!("cycletap/example.toml");
    const SETUPS: &'static [NamedSetup<'static>] = &[
        NamedSetup::new("close-quarters", include_str!("cycletap/setups/close-quarters.toml")),
        NamedSetup::new("ford", include_str!("cycletap/setups/ford.toml")),
        NamedSetup::new("small-board", include_str!("cycletap/setups/small-board.toml")),
        NamedSetup::new("without-officers", include_str!("cycletap/setups/without-officers.toml")),
    ];
    const MAIL_TERMS: &'static str = "together = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n";
    const RULEBOOK: &'static str = include_str!("cycletap/RULES.md");
    const SECRETS: Secrets<Self> =
        Secrets::Kept { shows: secrecy::shows, setup_seen: |setup, _, _| setup.clone() };
    const QUERIES: &'static str = "`suggest Q,R`";

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
        carry_out::carry_out(state, plan, effects);
    }

    fn players(_state: &State) -> &[Seat] {
        &state::PLAYERS
    }

    fn issuer(command: &Command) -> Issuer {
        command.issuer()
    }

    fn active_seat(state: &State) -> Option<Seat> {
        state.planning().map(|planning| planning.seat)
    }

    fn over(state: &State) -> bool {
        state.is_over()
    }

    fn result(state: &State) -> Option<MatchResult> {
        // CT-18: there is no winner if both sides lost their last unit at once.
        let state::Phase::Over { winner } = state.phase else { return None };
        Some(winner.map_or_else(MatchResult::drawn, |winner| MatchResult::won_by([winner])))
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

    fn view(state: &State, viewer: Perspective) -> View {
        View::of(state, viewer)
    }

    fn query(state: &State, viewer: Perspective, question: &str) -> Result<Option<Answer>, Malformed> {
        view::query(state, viewer, question)
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

    fn picture(state: &State, viewer: Perspective) -> Picture {
        picture::picture(state, viewer)
    }
}
