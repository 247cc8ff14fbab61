//! The fold: commands in, state and outcomes out. It is generic, so that each ruleset has its own loop.

use core::fmt::{Display, Write};

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::admission::Denied;
use crate::any::{CommandSource, FoldError, Logged, Step};
use crate::dice::{DicePolicy, DueRoll};
use crate::digest::Digest;
use crate::ending::MatchResult;
use crate::hash::StateHasher;
use crate::json::Json;
use crate::outcome::{Effects, Outcome, Ruled, Verdict};
use crate::picture::Picture;
use crate::pointer::field_at;
use crate::rules::{Part, Rules};
use crate::seat::{Perspective, Seat};
use crate::text::split_verb;

/// Folds commands into a state without observing them; the fastest way to a state.
///
/// # Errors
/// The rejection of the first command that is not accepted, with its index in `commands` from 0. The state is
/// then as it was before that command.
pub fn fold<'a, R: Rules>(
    state: &mut R::State,
    commands: impl IntoIterator<Item = (Seat, &'a R::Command)>,
) -> Result<(), (usize, Denied<R::Rejection>)> {
    for (index, (seat, command)) in commands.into_iter().enumerate() {
        R::apply(state, seat, command, &mut ()).map_err(|rejection| (index, rejection))?;
    }
    Ok(())
}

/// Most commands are shorter, so that the string of their text need not grow.
const MOST_BYTES: usize = 32;

/// A state being folded, with buffers that are reused from entry to entry.
pub(crate) struct Folder<R: Rules> {
    pub(crate) state: R::State,
    /// How many rolls led to the state.
    pub(crate) rolls: u64,
    pub(crate) hasher: StateHasher,
    effects: Vec<R::Effect>,
}

/// The viewer to whom entries are shown, and the state of the match at that time.
pub type Audience<'a, R> = Option<(Perspective, &'a <R as Rules>::State)>;

impl<R: Rules> Folder<R> {
    pub(crate) fn new(state: R::State, rolls: u64) -> Self {
        Self { state, rolls, hasher: StateHasher::default(), effects: Vec::new() }
    }

    pub(crate) fn perspective(&self, viewer: Perspective) -> Perspective {
        perspective::<R>(&self.state, viewer)
    }

    /// Folds one entry after another and passes each to `observe`, as `audience` may see it.
    pub(crate) fn fold(
        &mut self,
        log: &[Logged<'_>],
        dice: &DicePolicy,
        audience: Audience<'_, R>,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError> {
        for logged in log {
            let command = read_command::<R>(logged)?;
            self.check_dice(logged, &command, dice)?;
            let mut owned = None;
            if R::rolled(&command).is_some() {
                owned = R::due_roll(&self.state).filter(|due| due.owner.is_some());
            }
            self.effects.clear();
            let verdict = R::apply(&mut self.state, logged.seat, &command, &mut self.effects)
                .map_err(|rejection| FoldError::rejected(logged.seq, rejection))?;
            self.count(Some(&verdict), &command);
            let Self { state, hasher, effects, .. } = self;
            let shown = ShownEntry { seat: logged.seat, command: &command, owned, effects, state, audience };
            observe(&mut Folded::<R> { seq: logged.seq, shown, verdict, hasher });
        }
        Ok(())
    }

    /// Counts a command if it is a roll that was applied.
    pub(crate) fn count(&mut self, verdict: Option<&Verdict<(), R::Reason>>, command: &R::Command) {
        if verdict == Some(&Verdict::Applied(())) && R::rolled(command).is_some() {
            self.rolls = self.rolls.saturating_add(1);
        }
    }

    /// Requires a roll of a seeded match to be the one its seed gives, and one of fair dice to have no owner. If `judge`
    /// rejects the roll, the rejection is the error, because a module need not say what a rejected command is (RF-8).
    fn check_dice(
        &self,
        logged: &Logged<'_>,
        command: &R::Command,
        dice: &DicePolicy,
    ) -> Result<(), FoldError> {
        let Some(found) = R::rolled(command) else { return Ok(()) };
        let Some(due) = R::due_roll(&self.state) else { return Ok(()) };
        let seq = logged.seq;
        let wrong = match (dice, due.owner) {
            // An opened secret shows all secrets that were opened before it, so no roll can stay one seat's own.
            (DicePolicy::Fair(_), Some(owner)) => FoldError::OwnedFairRoll { seq, owner },
            _ => match dice.values(self.rolls.saturating_add(1), &due) {
                Some(expected) if expected != found => {
                    FoldError::WrongRoll { seq, expected, found: found.to_vec() }
                }
                _ => return Ok(()),
            },
        };
        if R::judge(&self.state, logged.seat, command).is_ok() { Err(wrong) } else { Ok(()) }
    }
}

/// Returns the effective viewer: a seat that the match does not have is a spectator, so that no game shows it more.
pub fn perspective<R: Rules>(state: &R::State, viewer: Perspective) -> Perspective {
    match viewer.seat() {
        Some(seat) if seat == Seat::Host || R::players(state).contains(&seat) => Perspective::Seat(seat),
        _ => Perspective::Spectator,
    }
}

/// A view with the name of its ruleset before it.
#[derive(Serialize)]
struct Named<V> {
    ruleset: &'static str,
    #[serde(flatten)]
    view: V,
}

impl<V> Named<V> {
    fn of<R: Rules<View = V>>(state: &R::State, viewer: Perspective) -> Self {
        Self { ruleset: R::NAME, view: R::view(state, viewer) }
    }
}

/// Returns a view as JSON, with the name of its ruleset before its fields.
pub(crate) fn view_json<R: Rules>(state: &R::State, viewer: Perspective) -> Json {
    Json::of(&Named::of::<R>(state, viewer))
}

/// Returns what a JSON pointer leads to in a view with the name of its ruleset before it.
pub(crate) fn view_at<R: Rules>(
    state: &R::State,
    viewer: Perspective,
    path: &str,
) -> Option<serde_json::Value> {
    match path {
        "" | "/ruleset" => field_at(&Named::of::<R>(state, viewer), path),
        _ => {
            let field = path.split('/').nth(1).unwrap_or_default();
            field_at(&R::view_with(state, viewer, field), path)
        }
    }
}

fn read_command<R: Rules>(logged: &Logged<'_>) -> Result<R::Command, FoldError> {
    let seq = logged.seq;
    match logged.command {
        CommandSource::Text(text) => {
            text.parse::<R::Command>().map_err(|malformed| FoldError::Malformed { seq, message: malformed.0 })
        }
        CommandSource::Bytes(bytes) => {
            crate::decode::decode_strictly(bytes).map_err(|cause| FoldError::Undecodable { seq, cause })
        }
    }
}

impl FoldError {
    fn rejected(seq: u64, rejection: Denied<impl Ruled>) -> Self {
        Self::Rejected { seq, rejected: Box::new(rejection.into()) }
    }
}

fn text_of(command: &impl Display) -> String {
    let mut text = String::with_capacity(MOST_BYTES);
    write!(text, "{command}").expect("writing to a string cannot fail");
    text
}

/// An entry that was folded, as its audience may know it.
pub struct ShownEntry<'a, R: Rules> {
    /// Who gave the command.
    pub seat: Seat,
    /// The command.
    pub command: &'a R::Command,
    /// The roll that the command answers, if it has an owner.
    pub owned: Option<DueRoll>,
    /// What the command did.
    pub effects: &'a [R::Effect],
    /// The state after the entry.
    pub state: &'a R::State,
    /// The viewer; `None` shows everything.
    pub audience: Audience<'a, R>,
}

impl<R: Rules> ShownEntry<'_, R> {
    fn shows(&self, part: &Part<'_, R>) -> bool {
        match self.audience {
            Some((viewer, now)) => R::SECRETS.shows(self.state, now, part, viewer),
            None => true,
        }
    }

    /// Returns the roll that the command answers, if its values are concealed.
    fn unknown_roll(&self) -> Option<&DueRoll> {
        let (viewer, now) = self.audience?;
        let due = self.owned.as_ref()?;
        if viewer.may_know_as(due.owner?) || R::reveals(self.state, now) {
            return None;
        }
        Some(due)
    }

    fn shows_effect(&self, effect: &R::Effect) -> bool {
        self.unknown_roll().is_none() && self.shows(&Part::Effect(self.seat, effect))
    }

    /// Returns the effects that are shown.
    pub fn visible_effects(&self) -> impl Iterator<Item = &R::Effect> {
        self.effects.iter().filter(|effect| self.shows_effect(effect))
    }

    /// Returns the command's text, with `?` in place of the values of a roll that are concealed.
    #[must_use]
    pub fn command(&self) -> String {
        let Some(due) = self.unknown_roll() else { return text_of(self.command) };
        let stand_in = self.stand_in();
        let mut text = String::from(split_verb(&stand_in).0);
        for _ in 0..due.count {
            text.push_str(" ?");
        }
        text
    }

    /// Returns the command's text with meaningless values in place of concealed ones.
    #[must_use]
    pub fn stand_in(&self) -> String {
        let command = self.unknown_roll().and_then(|due| R::roll(due.stand_in()));
        text_of(command.as_ref().unwrap_or(self.command))
    }

    /// Returns `true` if the command is concealed.
    #[must_use]
    pub fn is_concealed(&self) -> bool {
        !self.shows(&Part::Command(self.seat, self.command))
    }

    /// Returns `true` if all of the command and every effect is shown.
    #[must_use]
    pub fn is_wholly_shown(&self) -> bool {
        let effects_are_shown = self.effects.iter().all(|effect| self.shows_effect(effect));
        !self.is_concealed() && self.unknown_roll().is_none() && effects_are_shown
    }
}

/// An entry just folded, as its observer sees it.
struct Folded<'a, R: Rules> {
    seq: u64,
    shown: ShownEntry<'a, R>,
    verdict: Verdict<(), R::Reason>,
    hasher: &'a mut StateHasher,
}

impl<R: Rules> Step for Folded<'_, R> {
    fn seq(&self) -> u64 {
        self.seq
    }

    fn seat(&self) -> Seat {
        self.shown.seat
    }

    fn command(&self) -> String {
        self.shown.command()
    }

    fn stand_in(&self) -> String {
        self.shown.stand_in()
    }

    fn command_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self.shown.command).expect("plain data encodes")
    }

    fn concealed(&self) -> bool {
        self.shown.is_concealed()
    }

    fn wholly_shown(&self) -> bool {
        self.shown.is_wholly_shown()
    }

    fn verdict(&self) -> Verdict {
        self.verdict.erase()
    }

    fn outcome(&self) -> Outcome {
        Outcome::of(self.verdict(), || Effects::of(self.shown.visible_effects()))
    }

    fn effects_json(&self) -> Json {
        Json::of(&self.shown.visible_effects().collect::<Vec<_>>())
    }

    fn sentences(&self, reader: Perspective) -> Vec<String> {
        let sentence =
            |happened| R::sentence(self.shown.state, self.shown.seat, self.shown.command, happened, reader);
        match self.verdict {
            Verdict::Applied(()) => self.shown.visible_effects().map(|effect| sentence(Ok(effect))).collect(),
            Verdict::Ignored(reason) => [sentence(Err(reason))].into(),
        }
    }

    fn is_worded(&self) -> bool {
        true
    }

    fn players(&self) -> &[Seat] {
        R::players(self.shown.state)
    }

    fn result(&self) -> Option<MatchResult> {
        R::result(self.shown.state)
    }

    fn turn(&self) -> Option<u64> {
        R::turn(self.shown.state)
    }

    fn state_hash(&mut self) -> Digest {
        self.hasher.hash::<R>(self.shown.state)
    }

    fn state_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self.shown.state).expect("plain data encodes")
    }

    fn view(&self, viewer: Perspective) -> Json {
        view_json::<R>(self.shown.state, perspective::<R>(self.shown.state, viewer))
    }

    fn view_at(&self, viewer: Perspective, path: &str) -> Option<serde_json::Value> {
        view_at::<R>(self.shown.state, perspective::<R>(self.shown.state, viewer), path)
    }

    fn picture(&self, viewer: Perspective) -> Picture {
        R::picture(self.shown.state, perspective::<R>(self.shown.state, viewer))
    }
}
