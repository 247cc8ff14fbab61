//! An entry that a referee just folded, as its viewer may know it (RF-13).

use turnfold_core::any::{AnyState as _, Step};
use turnfold_core::outcome::Effects;
use turnfold_core::picture::Picture;
use turnfold_core::{Digest, Json, Logged, MatchResult, Outcome, Perspective, Seat, Verdict};

use crate::answers::{Became, RefereeEffect, ShownTo, code_of};
use crate::command::LoggedCommand;
use crate::fold::{Batch, RefereeEntry};
use crate::hello::Secrecy;
use crate::json::JsonNode;
use crate::state::RefereeState;

/// The text of a concealed command, some of whose effects are shown.
const UNKNOWN: &str = "?";

pub(crate) struct RefereeStep<'a> {
    pub(crate) state: &'a RefereeState,
    pub(crate) logged: &'a Logged<'a>,
    /// The entries that were folded with it, and its place among them.
    pub(crate) batch: &'a Batch<'a>,
    pub(crate) index: usize,
    pub(crate) became: Became,
    /// Who the command is shown to.
    pub(crate) to: ShownTo,
}

impl RefereeStep<'_> {
    /// Returns the viewer from whom marks may conceal something (RF-13).
    fn viewer(&self) -> Option<Perspective> {
        let viewer = self.batch.audience?.viewer;
        if self.state.referee.hello.secrets != Secrecy::Closed || viewer == Perspective::HOST {
            return None;
        }
        Some(viewer)
    }

    fn shows(&self, to: &ShownTo) -> bool {
        match self.viewer() {
            Some(viewer) => to.shows(self.logged.seat, viewer),
            None => true,
        }
    }

    /// Returns what the referee shows to the audience, if the referee decides that.
    fn shown_by_referee(&self) -> Option<&RefereeEntry> {
        if self.batch.is_asked_what_is_shown() { Some(self.batch.shown(self.index)) } else { None }
    }

    fn all_effects(&self) -> &[RefereeEffect] {
        if let Became::Applied(effects) = &self.became { effects.as_slice() } else { &[] }
    }

    fn effects(&self) -> Vec<&RefereeEffect> {
        if let Some(shown) = self.shown_by_referee() {
            return shown.effects.iter().collect();
        }
        self.all_effects().iter().filter(|effect| self.shows(&effect.to)).collect()
    }

    fn given(&self) -> &LoggedCommand {
        match self.batch.entries.get(self.index) {
            Some((_, given)) => given,
            None => self.state.referee.broke("it folded another entry"),
        }
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
        if let Some(shown) = self.shown_by_referee() {
            return shown.command.clone();
        }
        if !self.shows(&self.to) {
            return UNKNOWN.into();
        }
        if self.state.referee.hello.is_bytes {
            return self.batch.command(self.index).text.clone();
        }
        // The record of a move contains the whole state, which a viewer who sees the move may not know.
        match &self.given().recorded {
            Some((shown, _)) if self.viewer().is_some() => shown.clone(),
            _ => self.given().text.clone(),
        }
    }

    fn shown(&self) -> String {
        match &self.given().recorded {
            Some((shown, _)) if self.shows(&self.to) => shown.clone(),
            _ => self.command(),
        }
    }

    fn stand_in(&self) -> String {
        match self.shown_by_referee() {
            Some(RefereeEntry { stand_in: Some(stand_in), .. }) => stand_in.clone(),
            _ => self.command(),
        }
    }

    fn command_bytes(&self) -> Vec<u8> {
        if self.state.referee.hello.is_bytes {
            return self.batch.command(self.index).bytes.clone();
        }
        self.given().bytes()
    }

    fn concealed(&self) -> bool {
        match self.shown_by_referee() {
            Some(shown) => shown.is_concealed,
            None => !self.shows(&self.to) && self.effects().is_empty(),
        }
    }

    fn wholly_shown(&self) -> bool {
        match self.shown_by_referee() {
            Some(shown) => !shown.is_partly_shown,
            None => self.shows(&self.to) && self.effects().len() == self.all_effects().len(),
        }
    }

    fn verdict(&self) -> Verdict {
        self.became.verdict()
    }

    fn outcome(&self) -> Outcome {
        match &self.became {
            Became::Applied(_) => {
                // Each text was checked to read back when it was received.
                let texts: Vec<&str> = self.effects().iter().map(|effect| effect.text.as_str()).collect();
                texts.join("; ").parse().unwrap_or(Outcome::Applied(Effects::default()))
            }
            Became::Ignored(code, _) => Outcome::Ignored(code_of(code)),
        }
    }

    fn effects_json(&self) -> Json {
        let mut effects = self.effects();
        if effects.iter().any(|effect| effect.node.is_none()) {
            // The fold returned only the texts, so ask for the JSON now.
            effects = self.batch.shown(self.index).effects.iter().collect();
            effects.retain(|effect| self.shows(&effect.to));
        }
        let nodes = effects.into_iter().filter_map(|effect| effect.node.clone()).collect();
        self.state.document(&JsonNode::List(nodes))
    }

    fn players(&self) -> &[Seat] {
        &self.state.status().players
    }

    fn result(&self) -> Option<MatchResult> {
        self.state.status().result.clone()
    }

    fn turn(&self) -> Option<u64> {
        self.state.status().turn
    }

    fn state_hash(&mut self) -> Digest {
        self.state.state_hash()
    }

    fn state_bytes(&self) -> Vec<u8> {
        self.state.state_bytes()
    }

    fn view(&self, viewer: Perspective) -> Json {
        self.state.view(viewer)
    }

    fn view_at(&self, viewer: Perspective, path: &str) -> Option<serde_json::Value> {
        self.state.view_at(viewer, path)
    }

    fn picture(&self, viewer: Perspective) -> Picture {
        self.state.picture(viewer)
    }
}
