//! `lifecycle`: units race to fill a charge meter, and the first to fill it takes a turn.
//!
//! The host lets time pass (LC-2 to LC-5, LC-14) until a turn starts with its upkeep (LC-6 to LC-10). Then the player
//! of the active unit acts (LC-1, LC-11) and ends the turn (LC-12), until a team is dead (LC-13). A query predicts the
//! order of turns (LC-15). Each branch that implements a rule names the id of the rule.

mod carry_out;
mod command;
mod effect;
mod judge;
mod picture;
mod race;
mod reason;
mod sentence;
mod setup;
mod skill;
mod state;
mod status;
mod upkeep;
mod view;

use alloc::string::String;
use alloc::vec::Vec;

use turnfold_core::prelude::*;
use turnfold_core::rules::NamedSetup;

pub use command::Command;
pub use effect::Effect;
pub use judge::Plan;
pub use reason::{Reason, Rejection};
pub use setup::{Setup, UnitSetup};
pub use skill::{Skill, Target};
pub use state::{State, Team};
pub use status::{Duration, Status, StatusKind};
pub use view::{SkillView, StatusView, UnitView, View};

/// The ruleset `lifecycle`.
#[derive(Debug)]
pub struct Lifecycle;

impl Rules for Lifecycle {
    const NAME: &'static str = "lifecycle";
    const VERSION: u32 = 1;
    const SUMMARY: &'static str =
        "charge-meter race with upkeep, status effects and a predicted queue of turns";
    const EXAMPLE: &'static str = include_str!("lifecycle/example.toml");
    const SETUPS: &'static [NamedSetup<'static>] = &[
        NamedSetup::new("duel", include_str!("lifecycle/setups/duel.toml")),
        NamedSetup::new("limits", include_str!("lifecycle/setups/limits.toml")),
        NamedSetup::new("one-team", include_str!("lifecycle/setups/one-team.toml")),
        NamedSetup::new("skirmish", include_str!("lifecycle/setups/skirmish.toml")),
    ];
    const MAIL_TERMS: &'static str = "default = [\"end\"]\nbetween = [\"advance\"]\n";
    const RULEBOOK: &'static str = include_str!("lifecycle/RULES.md");
    const SECRETS: Secrets<Self> = Secrets::None;
    const QUERIES: &'static str = "`predict N`";

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
        state::players()
    }

    fn issuer(command: &Command) -> Issuer {
        command.issuer()
    }

    fn active_seat(state: &State) -> Option<Seat> {
        state.active().map(|active| active.unit.team.seat())
    }

    fn over(state: &State) -> bool {
        // LC-13: a match with one team only has no winner and goes on.
        state.winner().is_some()
    }

    fn result(state: &State) -> Option<MatchResult> {
        // LC-13: the player of the remaining team has won.
        state.winner().map(|team| MatchResult::won_by([team.seat()]))
    }

    fn turn(state: &State) -> Option<u64> {
        Some(state.round)
    }

    fn candidates(state: &State, seat: Seat) -> Vec<Command> {
        judge::candidates(state, seat)
    }

    fn targets(command: &Command) -> Targets {
        match command {
            Command::Attack(unit) => Targets::pieces([picture::unit_target(unit)]),
            Command::Skill { skill, target } => {
                let skill = Targets::pieces([picture::skill_target(skill)]);
                match target {
                    Some(unit) => skill.then_piece(picture::unit_target(unit)),
                    None => skill,
                }
            }
            _ => Targets::default(),
        }
    }

    fn view(state: &State, _viewer: Perspective) -> View {
        View::of(state, true)
    }

    fn view_with(state: &State, _viewer: Perspective, field: &str) -> View {
        View::of(state, field == "projected_queue")
    }

    fn query(state: &State, _viewer: Perspective, question: &str) -> Result<Option<Answer>, Malformed> {
        view::query(state, question)
    }

    fn sentence(
        state: &State,
        _seat: Seat,
        command: &Command,
        happened: Happened<'_, Self>,
        reader: Perspective,
    ) -> String {
        sentence::sentence(state, command, happened, reader)
    }

    fn picture(state: &State, _viewer: Perspective) -> Picture {
        picture::picture(state)
    }
}
