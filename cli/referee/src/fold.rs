//! Folding under a module: many entries in one request, each of them checked.

use turnfold_core::any::{Logged, Step};
use turnfold_core::hash::hash_as;
use turnfold_core::picture::Picture;
use turnfold_core::{
    CommandSource, DicePolicy, Digest, FoldError, Json, MatchResult, Outcome, Perspective, Seat, Verdict,
};
use turnfold_guest::message::{
    Bytes, ENTRIES_MAX, EntryCommand, Fold, FoldEntry, Folded, FoldedStep, GivenState, Picture as Draw,
    Resume, Started, ViewedAt,
};

use crate::instance::{Budget, Stop};
use crate::module::Module;
use crate::state::{ModuleState, field_of};

/// How many entries the first request of a fold has, and every request of one that distrusts (MD-7).
const ENTRIES_FIRST: usize = 64;

/// How entries are folded.
pub(crate) struct Run {
    distrusts: bool,
    is_recording: bool,
}

impl Run {
    pub(crate) fn of(state: &ModuleState) -> Self {
        Self { distrusts: state.distrusts, is_recording: state.is_recording }
    }

    /// Returns the budget of a call that judges or folds `entries` entries.
    pub(crate) fn budget(&self, entries: usize) -> Budget {
        let budget = Budget::of_entries(entries);
        if self.is_recording { budget } else { budget.wider() }
    }

    /// Folds entries into a state, request by request, and passes each to `observe`.
    ///
    /// Requests grow as long as the module answers within the limits: a request that passes them is made again with one
    /// entry, because each of them alone was within the limits when it was recorded.
    pub(crate) fn fold(
        &self,
        state: &mut ModuleState,
        log: &[Logged<'_>],
        dice: &DicePolicy,
        viewed: Option<&ViewedAt>,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError> {
        let module = state.module.clone();
        let (mut rest, mut size) = (log, ENTRIES_FIRST);
        let mut size_max = if self.distrusts { ENTRIES_FIRST } else { ENTRIES_MAX };
        while !rest.is_empty() {
            let part = rest.get(..size.min(rest.len())).unwrap_or_default();
            let request =
                Fold { at: state.at(), dice: *dice, entries: entries(part), viewed: viewed.cloned() };
            let folded = match module.try_ask(request.clone(), self.budget(part.len()).of_part(part.len())) {
                Ok(folded) => folded.unwrap_or_else(|never| match never {}),
                Err(stop) if part.len() > 1 && !matches!(stop, Stop::Broke(_)) => {
                    (size, size_max) = (1, (part.len() / 4).max(1));
                    continue;
                }
                Err(stop) => module.stop(&stop),
            };
            check(&module, state, part, &folded, viewed.is_some());
            if self.distrusts {
                fold_again(&module, request, &folded);
            }
            let Folded { steps, status, error } = folded;
            let (done, left) = rest.split_at(steps.len());
            for (logged, step) in done.iter().zip(&steps) {
                observe(&mut ModuleStep { module: &module, logged, step, rolls: status.rolls });
            }
            if let Some(last) = steps.into_iter().last() {
                state.bytes = last.state.0;
                state.status = status;
            }
            if let Some(error) = error {
                return Err(error);
            }
            (rest, size) = (left, (size * 4).min(size_max));
        }
        Ok(())
    }
}

fn entries(log: &[Logged<'_>]) -> Vec<FoldEntry> {
    let entry = |logged: &Logged<'_>| {
        let command = match logged.command {
            CommandSource::Text(text) => EntryCommand::Text(text.into()),
            CommandSource::Bytes(bytes) => EntryCommand::Bytes(Bytes(bytes.into())),
        };
        FoldEntry { seq: logged.seq, seat: logged.seat, command }
    };
    log.iter().map(entry).collect()
}

/// Checks what a fold answers against the entries and the state before them (MD-7).
fn check(module: &Module, before: &ModuleState, log: &[Logged<'_>], folded: &Folded, is_viewed: bool) {
    let Folded { steps, status, error } = folded;
    let next = log.get(steps.len()).map(|logged| logged.seq);
    let is_of_next = |error: &FoldError| {
        let is_of_now =
            is_viewed && steps.is_empty() && matches!(error, FoldError::Undecodable { seq: 0, .. });
        next == Some(error.seq()) || is_of_now
    };
    let is_whole = error.as_ref().map_or(!steps.is_empty() && steps.len() <= log.len(), is_of_next);
    module.require(is_whole, "it folded other entries than those that it was given");
    let mut bytes = &before.bytes;
    for (logged, step) in log.iter().zip(steps) {
        let is_applied = matches!(step.verdict, Verdict::Applied(()));
        module.require(is_applied || step.state.0 == *bytes, "an ignored command changed the state");
        module.require(is_applied || step.effects.is_empty(), "an ignored command had effects");
        let is_same = match logged.command {
            CommandSource::Bytes(bytes) => step.command_bytes.0 == bytes,
            CommandSource::Text(_) => true,
        };
        module.require(is_same, "a command has other bytes than it was given with");
        bytes = &step.state.0;
    }
    let is_same = match steps.last() {
        Some(last) => {
            (&last.players, &last.result, last.turn) == (&status.players, &status.result, status.turn)
        }
        None => *status == before.status,
    };
    module.require(is_same, "the state after all entries is not the state after the last one");
    let rolls = status.rolls.checked_sub(before.status.rolls).and_then(|rolls| usize::try_from(rolls).ok());
    module.require(rolls.is_some_and(|rolls| rolls <= steps.len()), "it counted rolls that were not made");
}

/// Folds entries again where nothing is remembered, from the bytes of the state before them, and resumes what they lead to.
///
/// Each of them is folded alone: a module that folds many entries otherwise than one would pass if the same were done twice.
fn fold_again(module: &Module, request: Fold, folded: &Folded) {
    let Fold { mut at, dice, entries, viewed } = request;
    let first = entries.first().map_or(0, |entry| entry.seq);
    let count = folded.steps.len() + usize::from(folded.error.is_some());
    let mut instance = module.fresh();
    let mut done = 0;
    let mut is_same = true;
    for entry in entries.into_iter().take(count) {
        let alone = Fold { at: at.clone(), dice, entries: vec![entry], viewed: viewed.clone() };
        let Ok(Folded { mut steps, status, error }) =
            module.ask_in(&mut instance, alone, Budget::of_entries(1).wider());
        let expected = folded.steps.get(done);
        is_same &= steps.len() == usize::from(expected.is_some()) && steps.first() == expected;
        let is_last = done + 1 >= count;
        is_same &=
            if is_last { (&status, &error) == (&folded.status, &folded.error) } else { error.is_none() };
        let Some(step) = steps.pop().filter(|_| is_same) else { break };
        at = GivenState { state: step.state, rolls: status.rolls };
        done += 1;
    }
    module.require(
        is_same && done == folded.steps.len(),
        &format!("folding again one by one from the bytes before entry {first} gives something else"),
    );
    let Some(last) = folded.steps.last() else { return };
    let at = GivenState { state: last.state.clone(), rolls: folded.status.rolls };
    let resumed = module.ask_in(&mut module.fresh(), Resume { at }, Budget::CALL.wider());
    let expected = Started { state: last.state.clone(), status: folded.status.clone() };
    module.require(resumed == Ok(expected), "the state that it resumes is another one");
}

/// An entry that was just folded.
struct ModuleStep<'a> {
    module: &'a Module,
    logged: &'a Logged<'a>,
    step: &'a FoldedStep,
    /// Rolls counted at the end of the request. No view and no picture depends on them.
    rolls: u64,
}

impl ModuleStep<'_> {
    fn at(&self) -> GivenState {
        GivenState { state: self.step.state.clone(), rolls: self.rolls }
    }
}

impl Step for ModuleStep<'_> {
    fn seq(&self) -> u64 {
        self.logged.seq
    }

    fn seat(&self) -> Seat {
        self.logged.seat
    }

    fn command(&self) -> String {
        self.step.command.clone()
    }

    fn stand_in(&self) -> String {
        self.step.stand_in.as_ref().unwrap_or(&self.step.command).clone()
    }

    fn command_bytes(&self) -> Vec<u8> {
        self.step.command_bytes.0.clone()
    }

    fn concealed(&self) -> bool {
        self.step.concealed
    }

    fn wholly_shown(&self) -> bool {
        self.step.wholly_shown
    }

    fn verdict(&self) -> Verdict {
        self.step.verdict.clone()
    }

    fn outcome(&self) -> Outcome {
        match &self.step.verdict {
            Verdict::Applied(()) => Outcome::Applied(self.step.effects.clone()),
            Verdict::Ignored(why) => Outcome::Ignored(why.code.clone()),
        }
    }

    fn effects_json(&self) -> Json {
        self.step.effects_json.clone()
    }

    fn players(&self) -> &[Seat] {
        &self.step.players
    }

    fn result(&self) -> Option<MatchResult> {
        self.step.result.clone()
    }

    fn turn(&self) -> Option<u64> {
        self.step.turn
    }

    fn state_hash(&mut self) -> Digest {
        let description = self.module.description();
        hash_as(&description.name, description.version, &self.step.state.0)
    }

    fn state_bytes(&self) -> Vec<u8> {
        self.step.state.0.clone()
    }

    fn view(&self, viewer: Perspective) -> Json {
        ModuleState::view_of(self.module, self.at(), viewer, Budget::CALL.wider())
    }

    fn view_at(&self, viewer: Perspective, path: &str) -> Option<serde_json::Value> {
        field_of(&self.view(viewer), path)
    }

    fn picture(&self, viewer: Perspective) -> Picture {
        let Ok(picture) = self.module.ask(Draw { at: self.at(), viewer }, Budget::CALL.wider());
        picture
    }
}
