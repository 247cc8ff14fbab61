//! What a state under a module answers: each operation is a request about its bytes.

use turnfold_core::any::{AnyState, AnyTrial, Choice, Logged, Step};
use turnfold_core::dice::DiceStream;
use turnfold_core::hash::hash_as;
use turnfold_core::picture::Picture;
use turnfold_core::simulate::random_command;
use turnfold_core::text::{in_one_line, split_verb};
use turnfold_core::{
    Answer, DicePolicy, Digest, DueRoll, FoldError, Json, Malformed, MatchResult, Perspective, QueryError,
    Rejected, Seat, SetupError, Targets, Verdict,
};
use turnfold_guest::message::{
    Bytes, Candidates, Canonical, Choices, DefaultSeat, Judge, Legal, Picture as Draw, Query, Read,
    RollCommand, Secrecy, SetupSeen, Targets as Click, ViewedAt,
};

use crate::fold::Run;
use crate::instance::{Budget, Stop};
use crate::laws;
use crate::state::{ModuleState, field_of};
use crate::trial::{Trial, Tried};

impl AnyState for ModuleState {
    fn players(&self) -> &[Seat] {
        &self.status.players
    }

    fn over(&self) -> bool {
        self.status.over
    }

    fn result(&self) -> Option<MatchResult> {
        self.status.result.clone()
    }

    fn turn(&self) -> Option<u64> {
        self.status.turn
    }

    fn has_secrets(&self) -> bool {
        self.module.description().secrets == Secrecy::Kept
    }

    fn begin_recording(&mut self) {
        self.is_recording = true;
    }

    fn read(&self, command: &str) -> Result<String, Malformed> {
        let text = self.ask(Read { at: self.at(), command: command.into() })?;
        self.module.require(laws::command(&text).is_ok(), "a command of more than one line");
        Ok(text)
    }

    fn due_roll(&self) -> Option<DueRoll> {
        self.status.due.clone()
    }

    fn rolls(&self) -> u64 {
        self.status.rolls
    }

    fn seeded_roll(&self, dice: &DicePolicy) -> Option<Vec<i32>> {
        dice.values(self.status.rolls.saturating_add(1), self.status.due.as_ref()?)
    }

    fn roll_command(&self, values: Vec<i32>) -> Option<String> {
        let Ok(roll) = self.ask(RollCommand { at: self.at(), values });
        self.commands(roll.into_iter().collect()).pop()
    }

    fn default_seat(&self, command: &str) -> Option<Seat> {
        let Ok(seat) = self.ask(DefaultSeat { at: self.at(), command: command.into() });
        seat
    }

    fn judge(&self, seat: Seat, command: &str) -> Result<Verdict, Rejected> {
        let judge = Judge { at: self.at(), seat, command: command.into() };
        self.module.ask(judge, Run::of(self).budget(1))
    }

    fn fold(
        &mut self,
        log: &[Logged<'_>],
        dice: &DicePolicy,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError> {
        Run::of(self).fold(self, log, dice, None, observe)
    }

    fn fold_as(
        &mut self,
        viewer: Perspective,
        log: &[Logged<'_>],
        dice: &DicePolicy,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError> {
        let mut end = self.clone();
        end.fold(log, dice, &mut |_| {})?;
        self.fold_as_at(viewer, &end.bytes, log, dice, observe)
    }

    fn fold_as_at(
        &mut self,
        viewer: Perspective,
        now: &[u8],
        log: &[Logged<'_>],
        dice: &DicePolicy,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError> {
        let shown_to = ViewedAt { viewer, now: Bytes(now.into()) };
        Run::of(self).fold(self, log, dice, Some(&shown_to), observe)
    }

    fn state_hash(&self) -> Digest {
        self.state_hash_as(self.module.description().version)
    }

    fn state_hash_as(&self, version: u32) -> Digest {
        hash_as(&self.module.description().name, version, &self.bytes)
    }

    fn state_bytes(&self) -> Vec<u8> {
        self.bytes.clone()
    }

    fn legal(&self, seat: Seat) -> Vec<String> {
        let Ok(commands) = self.ask(Legal { at: self.at(), seat });
        self.commands(commands)
    }

    fn targets(&self, command: &str) -> Targets {
        let Ok(targets) = self.ask(Click { at: self.at(), command: command.into() });
        targets
    }

    fn legal_at_random(&self, seat: Seat) -> Vec<String> {
        let choices = self.choices(seat).into_iter();
        choices.filter(|choice| choice.legal).map(|choice| choice.command).collect()
    }

    fn choices(&self, seat: Seat) -> Vec<Choice> {
        let Ok(choices) = self.ask(Choices { at: self.at(), seat });
        choices
    }

    fn candidates(&self, seat: Seat) -> Vec<String> {
        let Ok(commands) = self.ask(Candidates { at: self.at(), seat });
        self.commands(commands)
    }

    fn random_command(&self, chance: &mut DiceStream) -> Option<(Seat, String)> {
        let choices = |seat| self.choices(seat);
        let is_legal = |_, choice: &Choice| choice.legal;
        let drawn = random_command(&self.status.players, chance, choices, |choice| choice.kind, is_legal);
        drawn.map(|(seat, choice)| (seat, choice.command))
    }

    fn setup_seen(&self, setup: &[u8], viewer: Perspective) -> Result<Vec<u8>, SetupError> {
        let setup = Bytes(setup.into());
        self.ask(SetupSeen { at: self.at(), setup, viewer }).map(|seen| seen.0)
    }

    fn view(&self, viewer: Perspective) -> Json {
        Self::view_of(&self.module, self.at(), viewer, self.budget())
    }

    fn view_at(&self, viewer: Perspective, path: &str) -> Option<serde_json::Value> {
        field_of(&self.view(viewer), path)
    }

    fn query(&self, viewer: Perspective, question: &str) -> Result<Answer, QueryError> {
        let ask = |question: &str| self.ask(Query { at: self.at(), viewer, question: question.into() });
        // Only questions are passed on that the module lists, because the laws have tried no others.
        let known = match ask("?") {
            Err(QueryError::Unknown { known, .. }) => known,
            Err(none) => return Err(none),
            Ok(_) => self.module.stop(&Stop::Broke("it answers the question `?`".into())),
        };
        let word = split_verb(question).0;
        let mut forms = known.split('`').skip(1).step_by(2);
        if forms.any(|form| split_verb(form).0 == word) {
            return ask(question);
        }
        let ruleset = self.module.description().name.clone();
        Err(QueryError::Unknown { ruleset, found: in_one_line(word), known })
    }

    fn picture(&self, viewer: Perspective) -> Picture {
        let Ok(picture) = self.ask(Draw { at: self.at(), viewer });
        picture
    }

    fn fork(&self) -> Box<dyn AnyState> {
        Box::new(Self { is_recording: false, ..self.clone() })
    }

    fn trial(&self) -> Box<dyn AnyTrial> {
        Box::new(Trial::new(self.clone()))
    }
}

impl Tried for ModuleState {
    fn read_command(&self, text: &str) -> Result<String, Malformed> {
        self.module.ask(Canonical { command: text.into() }, Budget::CALL.wider())
    }

    fn is_same(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}
