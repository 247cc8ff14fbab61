//! `desk`: the papers, the clock and the decisions of a match by mail, next to the game's own log.
//!
//! A desk is a separate match (PM-1). Players' signed papers (PM-4, PM-4a, PM-5; see [`crate::paper`]) come in and are
//! judged (PM-8 to PM-11, PM-15, PM-16, PM-20, PM-22). The host's clock decides what is late (PM-12, PM-17, PM-18).
//! Positions and settled orders (PM-13, PM-19) tie the desk to the game, whose entries name their orders (PM-2). The
//! desk never looks at the game: the audit checks who should have been asked (PM-14). A program that folds a desk, to
//! run or audit it, finds what it needs in the methods of [`State`]:
//!
//! ```
//! use turnfold_core::rules::desk::Desk;
//! use turnfold_core::{Rules, Seat};
//!
//! let mut state = Desk::start(&toml::from_str(Desk::EXAMPLE)?)?;
//! let clock = "clock 2026-12-01T18:00:00Z".parse()?;
//! assert!(Desk::apply(&mut state, Seat::Host, &clock, &mut ()).is_ok());
//! assert!(!state.is_open() && state.orders_due().is_empty());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

mod carry_out;
mod command;
mod effect;
mod judge;
mod legal;
mod reason;
mod secrecy;
mod setup;
mod state;
mod view;

use alloc::format;
use alloc::vec::Vec;

use crate::admission::Issuer;
use crate::decode::{DecodeError, decode_strictly};
use crate::outcome::{EffectSink, Verdict};
use crate::picture::Picture;
use crate::rules::{Answer, Rules, Secrets, SetupError};
use crate::seat::{Perspective, Seat};
use crate::text::Malformed;

pub use command::{AskedSeats, Command, Grounds, PlayCount, RefusalCode};
pub use effect::Effect;
pub use judge::Plan;
pub use reason::{Reason, Rejection};
pub use setup::{Setup, offset_minutes};
pub(crate) use setup::{commands as check_commands, default_absences, default_hours, default_patience};
pub use state::{Missed, Secret, State};
pub use view::{OfferView, SeatView, StandView, View};

/// The ruleset `desk`.
#[derive(Debug)]
pub struct Desk;

impl Rules for Desk {
    const NAME: &'static str = "desk";
    const VERSION: u32 = 1;
    const SUMMARY: &'static str = "the desk of a match by mail: signed papers, deadlines, takebacks";
    const EXAMPLE: &'static str = include_str!("desk/example.toml");
    const RULEBOOK: &'static str = include_str!("desk/RULES.md");
    const SECRETS: Secrets<Self> =
        Secrets::Kept { shows: secrecy::shows, setup_seen: |setup, _, _| setup.clone() };
    const QUERIES: &'static str = "`who`";

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

    fn players(state: &State) -> &[Seat] {
        state.players()
    }

    fn issuer(command: &Command) -> Issuer {
        command.issuer()
    }

    fn over(state: &State) -> bool {
        matches!(state.phase, state::Phase::Over(_))
    }

    fn candidates(_state: &State, seat: Seat) -> Vec<Command> {
        legal::candidates(seat)
    }

    fn view(state: &State, _viewer: Perspective) -> View {
        View::of(state)
    }

    fn query(state: &State, _viewer: Perspective, question: &str) -> Result<Option<Answer>, Malformed> {
        Ok(view::query(state, question))
    }

    fn picture(state: &State, _viewer: Perspective) -> Picture {
        view::picture(state)
    }
}

impl Setup {
    /// Decodes the setup of a desk.
    ///
    /// # Errors
    /// [`DecodeError`], also for a version that this build does not know.
    pub fn decode(version: u32, bytes: &[u8]) -> Result<Self, DecodeError> {
        if version == Desk::VERSION {
            return decode_strictly(bytes);
        }
        Err(DecodeError::Unreadable(format!("a desk of version {version} is unknown")))
    }
}
