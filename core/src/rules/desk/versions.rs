//! Version 1 of the desk (PM-37): matches that began with it are played on by it.
//!
//! A desk of version 1 is a desk of version 2 whose terms allow nothing that is new. Its setup and state lack the new
//! fields, so their bytes and hashes are what they were. Everything else is shared.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::command::Command;
use super::effect::Effect;
use super::judge::Plan;
use super::reason::{Reason, Rejection};
use super::setup::SetupOne;
use super::state::{Phase, State, StateFields};
use super::view::View;
use super::{carry_out, judge, legal, picture, query, secrecy, setup};
use crate::admission::Issuer;
use crate::outcome::{EffectSink, Verdict};
use crate::picture::Picture;
use crate::rules::{Answer, Rules, Secrets, SetupError};
use crate::seat::{Perspective, Seat};
use crate::text::Malformed;

/// The state of a desk of version 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StateFields", into = "StateFields")]
pub struct StateOne(State);

impl From<StateFields> for StateOne {
    fn from(fields: StateFields) -> Self {
        Self(fields.into())
    }
}

impl From<StateOne> for StateFields {
    fn from(StateOne(state): StateOne) -> Self {
        state.into()
    }
}

/// The ruleset `desk` in version 1.
#[derive(Debug)]
pub struct DeskOne;

impl Rules for DeskOne {
    const NAME: &'static str = "desk";
    const VERSION: u32 = 1;
    const SUMMARY: &'static str = "the desk of a match by mail: signed papers, deadlines, takebacks";
    const EXAMPLE: &'static str = include_str!("example.toml");
    const RULEBOOK: &'static str = include_str!("RULES.md");
    const SECRETS: Secrets<Self> = Secrets::Kept {
        shows: |after, now, part, viewer| secrecy::shows(&after.0, &now.0, part, viewer),
        setup_seen: |setup, _, _| setup.clone(),
    };
    const QUERIES: &'static str = "`who`";

    type Setup = SetupOne;
    type State = StateOne;
    type Command = Command;
    type Plan = Plan;
    type Effect = Effect;
    type Reason = Reason;
    type Rejection = Rejection;
    type View = View;

    fn start(SetupOne(setup): &SetupOne) -> Result<StateOne, SetupError> {
        setup::start(setup).map(StateOne)
    }

    fn decide(
        StateOne(state): &StateOne,
        seat: Seat,
        command: &Command,
    ) -> Result<Verdict<Plan, Reason>, Rejection> {
        judge::decide(state, seat, command)
    }

    fn carry_out(StateOne(state): &mut StateOne, plan: Plan, effects: &mut impl EffectSink<Effect>) {
        carry_out::carry_out(state, plan, effects);
    }

    fn players(StateOne(state): &StateOne) -> &[Seat] {
        state.players()
    }

    fn issuer(command: &Command) -> Issuer {
        command.issuer()
    }

    fn over(StateOne(state): &StateOne) -> bool {
        matches!(state.phase, Phase::Over(_))
    }

    fn candidates(_state: &StateOne, seat: Seat) -> Vec<Command> {
        legal::candidates(seat)
    }

    fn view(StateOne(state): &StateOne, _viewer: Perspective) -> View {
        View::of(state)
    }

    fn query(
        StateOne(state): &StateOne,
        _viewer: Perspective,
        question: &str,
    ) -> Result<Option<Answer>, Malformed> {
        Ok(query::query(state, question))
    }

    fn picture(StateOne(state): &StateOne, _viewer: Perspective) -> Picture {
        picture::picture(state)
    }
}
