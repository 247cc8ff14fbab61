//! `channel`: up to four players bring energies into harmony along the channels of their boards.
//!
//! In a turn a player takes energies from the maya (CH-4), opens a channel (CH-5, CH-7 to CH-12) or meditates (CH-6). A
//! move is offered only if the rest of the channel can be made, so no player gets stuck in one: `sequence.rs` looks
//! ahead. The end of a turn unites yin and yang (CH-13) and may end the match (CH-14, CH-15).

mod board;
mod carry_out;
mod command;
mod deal;
mod effect;
mod end_of_turn;
mod energy;
mod judge;
mod moved_code;
mod picture;
mod ranged;
mod reason;
mod score;
mod secrecy;
mod sentence;
mod sequence;
mod setup;
mod state;
mod tokens;
mod view;

use core::convert::Infallible;

use alloc::string::String;
use alloc::vec::Vec;

use turnfold_core::prelude::*;
use turnfold_core::rules::NamedSetup;

pub use command::{Command, Ids};
pub use effect::Effect;
pub use energy::{Chakra, Color};
pub use judge::Plan;
pub use ranged::{ChannelNumber, EnergyId, Ranged, Row};
pub use reason::Rejection;
pub use setup::{At, BoardSetup, EnergySetup, PlenitudeSetup, Setup};
pub use state::State;
pub use tokens::{Token, TokenNumber};
pub use view::{BagView, PlayerView, View};

/// The ruleset `channel`.
#[derive(Debug)]
pub struct Channel;

impl Rules for Channel {
    const NAME: &'static str = "channel";
    const VERSION: u32 = 1;
    const SUMMARY: &'static str = "energies moved along channels into harmony, for up to four players";
    const EXAMPLE: &'static str = include_str!("channel/example.toml");
    const SETUPS: &'static [NamedSetup<'static>] = &[
        NamedSetup::new(
            "dealt-for-four-with-yinyang",
            include_str!("channel/setups/dealt-for-four-with-yinyang.toml"),
        ),
        NamedSetup::new("dealt-for-two", include_str!("channel/setups/dealt-for-two.toml")),
        NamedSetup::new("full-earth", include_str!("channel/setups/full-earth.toml")),
        NamedSetup::new("small-table", include_str!("channel/setups/small-table.toml")),
    ];
    const RULEBOOK: &'static str = include_str!("channel/RULES.md");
    /// Entries conceal nothing; CH-18 conceals parts of the setup.
    const SECRETS: Secrets<Self> =
        Secrets::Kept { shows: |_, _, _, _| true, setup_seen: secrecy::setup_seen };
    const QUERIES: &'static str = "`options`, `possible N` and `decode CODE`";

    type Setup = Setup;
    type State = State;
    type Command = Command;
    type Plan = Plan;
    type Effect = Effect;
    type Reason = Infallible;
    type Rejection = Rejection;
    type View = View;

    fn start(setup: &Setup) -> Result<State, SetupError> {
        setup::start(setup)
    }

    fn decide(state: &State, seat: Seat, command: &Command) -> Result<Verdict<Plan, Infallible>, Rejection> {
        judge::decide(state, seat, command).map(Verdict::Applied)
    }

    fn carry_out(state: &mut State, plan: Plan, effects: &mut impl EffectSink<Effect>) {
        carry_out::carry_out(state, plan, effects);
    }

    fn players(state: &State) -> &[Seat] {
        state.seats()
    }

    fn issuer(_command: &Command) -> Issuer {
        Issuer::Player
    }

    fn active_seat(state: &State) -> Option<Seat> {
        Some(state.active)
    }

    fn over(state: &State) -> bool {
        state.is_over()
    }

    fn result(state: &State) -> Option<MatchResult> {
        if !state.is_over() {
            return None;
        }
        // CH-15: everyone sees the scores at the end, so the result has them.
        let mut scores = Vec::new();
        for (seat, player) in state.seats().iter().zip(&state.players) {
            scores.push((*seat, score::score(state, player).into()));
        }
        Some(MatchResult::won_by(score::winners(state)).scored(scores))
    }

    fn candidates(state: &State, seat: Seat) -> Vec<Command> {
        judge::candidates(state, seat)
    }

    fn targets(command: &Command) -> Targets {
        match command {
            Command::Take { row, ids } => {
                let energies = ids.as_slice().iter().map(|id| picture::energy_target(*id));
                Targets::pieces(energies).then_piece(picture::row_target(row))
            }
            Command::Move { id, row } => {
                Targets::pieces([picture::energy_target(*id), picture::row_target(row)])
            }
            _ => Targets::default(),
        }
    }

    fn view(state: &State, viewer: Perspective) -> View {
        View::of(state, viewer, |_| true)
    }

    fn view_with(state: &State, viewer: Perspective, field: &str) -> View {
        View::of(state, viewer, |name| name == field)
    }

    fn query(state: &State, _viewer: Perspective, question: &str) -> Result<Option<Answer>, Malformed> {
        view::query(state, question)
    }

    fn sentence(
        state: &State,
        seat: Seat,
        _command: &Command,
        happened: Happened<'_, Self>,
        reader: Perspective,
    ) -> String {
        let Ok(effect) = happened;
        sentence::sentence(state, seat, effect, reader)
    }

    fn picture(state: &State, viewer: Perspective) -> Picture {
        picture::picture(state, viewer)
    }
}
