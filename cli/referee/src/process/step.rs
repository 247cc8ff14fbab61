//! An entry that a referee just folded, as its viewer may know it (RF-13).

use turnfold_core::any::{AnyState as _, Step};
use turnfold_core::hash::hash_as;
use turnfold_core::outcome::{Effects, WhyIgnored};
use turnfold_core::picture::Picture;
use turnfold_core::{Digest, Json, Logged, MatchResult, Outcome, Perspective, Seat, Verdict};

use super::answers::{Became, Effect, ShownTo, code_of};
use super::command::LoggedCommand;
use super::hello::Secrecy;
use super::json::{Node, json_of};
use super::state::RefereeState;
use crate::state::field_of;

/// What a command reads that its viewer may not know, though something of its effects is shown.
const UNKNOWN: &str = "?";

pub(crate) struct RefereeStep<'a> {
    /// The state after the entry.
    pub(crate) state: &'a RefereeState,
    pub(crate) logged: &'a Logged<'a>,
    pub(crate) command: LoggedCommand,
    pub(crate) became: Became,
    /// Who the command is shown to.
    pub(crate) to: ShownTo,
    /// Who looks; everything is shown to none.
    pub(crate) viewer: Option<Perspective>,
}

impl RefereeStep<'_> {
    /// Returns `true` if all of the match is shown to whoever looks.
    fn is_open(&self) -> bool {
        let has_secrets = self.state.referee.hello.secrets == Secrecy::Closed;
        !has_secrets || self.viewer.is_none_or(|viewer| viewer == Perspective::HOST)
    }

    fn shows(&self, to: &ShownTo) -> bool {
        self.is_open() || self.viewer.is_none_or(|viewer| to.shows(self.logged.seat, viewer))
    }

    fn effects(&self) -> impl Iterator<Item = &Effect> {
        let effects = if let Became::Applied(effects) = &self.became { effects.as_slice() } else { &[] };
        effects.iter().filter(|effect| self.shows(&effect.to))
    }
}

impl Step for RefereeStep<'_> {
    fn seq(&self) -> u64 {
        self.logged.seq
    }

    fn seat(&self) -> Seat {
        self.logged.seat
    }

    fn command(&self) -> String {
        if !self.shows(&self.to) {
            return UNKNOWN.into();
        }
        // What was recorded with a move holds the whole state, which a viewer may not know though the move is shown.
        match &self.command.recorded {
            Some((shown, _)) if !self.is_open() => shown.clone(),
            _ => self.command.text.clone(),
        }
    }

    fn shown(&self) -> String {
        match &self.command.recorded {
            Some((shown, _)) if self.shows(&self.to) => shown.clone(),
            _ => self.command(),
        }
    }

    fn stand_in(&self) -> String {
        self.command()
    }

    fn command_bytes(&self) -> Vec<u8> {
        self.command.bytes()
    }

    fn concealed(&self) -> bool {
        !self.shows(&self.to) && self.effects().next().is_none()
    }

    fn wholly_shown(&self) -> bool {
        let all = if let Became::Applied(effects) = &self.became { effects.len() } else { 0 };
        self.shows(&self.to) && self.effects().count() == all
    }

    fn verdict(&self) -> Verdict {
        match &self.became {
            Became::Applied(_) => Verdict::Applied(()),
            Became::Ignored(code, text) => {
                Verdict::Ignored(WhyIgnored { code: code_of(code), text: text.clone().map(Into::into) })
            }
        }
    }

    fn outcome(&self) -> Outcome {
        match &self.became {
            Became::Applied(_) => {
                // Each text was found to read back when it was received.
                let texts: Vec<&str> = self.effects().map(|effect| effect.text.as_str()).collect();
                texts.join("; ").parse().unwrap_or(Outcome::Applied(Effects::default()))
            }
            Became::Ignored(code, _) => Outcome::Ignored(code_of(code)),
        }
    }

    fn effects_json(&self) -> Json {
        let effects = Node::List(self.effects().map(|effect| effect.node.clone()).collect());
        json_of(&effects.canonical())
    }

    fn players(&self) -> &[Seat] {
        &self.state.status.players
    }

    fn result(&self) -> Option<MatchResult> {
        self.state.status.result.clone()
    }

    fn turn(&self) -> Option<u64> {
        self.state.status.turn
    }

    fn state_hash(&mut self) -> Digest {
        let hello = &self.state.referee.hello;
        hash_as(&hello.name, hello.version, self.state.node.canonical().as_bytes())
    }

    fn state_bytes(&self) -> Vec<u8> {
        self.state.state_bytes()
    }

    fn view(&self, viewer: Perspective) -> Json {
        self.state.view_of(viewer)
    }

    fn view_at(&self, viewer: Perspective, path: &str) -> Option<serde_json::Value> {
        field_of(&self.state.view_of(viewer), path)
    }

    fn picture(&self, viewer: Perspective) -> Picture {
        self.state.picture_of(viewer)
    }
}
