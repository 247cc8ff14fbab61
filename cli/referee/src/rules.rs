//! A module as a ruleset.

use std::sync::Arc;

use turnfold_core::any::{AnyRules, AnyState};
use turnfold_core::decode::DecodeError;
use turnfold_core::{Digest, Malformed, SetupError};
use turnfold_guest::message::{
    Bytes, Canonical, CommandText, GivenState, ReadSetup, ReadSetupOf, Resume, RuledCode, Secrecy, Start,
    Started, WriteSetup,
};

use crate::instance::Budget;
use crate::laws;
use crate::module::Module;
use crate::state::ModuleState;

/// A ruleset that comes as a module.
pub(crate) struct ModuleRules {
    pub(crate) module: Arc<Module>,
    /// Whether states fold twice.
    pub(crate) distrusts: bool,
}

impl ModuleRules {
    fn state(&self, started: Started) -> Box<dyn AnyState> {
        Box::new(ModuleState::new(self.module.clone(), self.distrusts, started))
    }

    fn command(&self, text: String) -> String {
        let is_command = laws::command(&text);
        self.module.require(is_command.is_ok(), "a command of more than one line");
        text
    }
}

impl AnyRules for ModuleRules {
    fn name(&self) -> &str {
        &self.module.description().name
    }

    fn version(&self) -> u32 {
        self.module.description().version
    }

    fn module(&self) -> Option<Digest> {
        Some(self.module.digest())
    }

    fn distrusting(&self) -> Option<Arc<dyn AnyRules>> {
        Some(Arc::new(Self { module: self.module.clone(), distrusts: true }))
    }

    fn summary(&self) -> &str {
        &self.module.description().summary
    }

    fn example(&self) -> &str {
        &self.module.description().example
    }

    fn rulebook(&self) -> &str {
        &self.module.description().rulebook
    }

    fn mail_terms(&self) -> &str {
        &self.module.description().mail_terms
    }

    fn has_secrets(&self) -> bool {
        self.module.description().secrets == Secrecy::Kept
    }

    fn ignored_codes(&self) -> Vec<&str> {
        self.module.description().ignored.iter().map(|ruled| ruled.code.as_str()).collect()
    }

    fn rejected_codes(&self) -> Vec<&str> {
        self.module.description().rejected.iter().map(|ruled| ruled.code.as_str()).collect()
    }

    fn read_setup(&self, toml: &str) -> Result<Vec<u8>, SetupError> {
        self.module.ask(ReadSetup { toml: toml.into() }, Budget::CALL).map(|setup| setup.0)
    }

    fn read_setup_of(&self, document: &str) -> Result<Vec<u8>, SetupError> {
        self.module.ask(ReadSetupOf { document: document.into() }, Budget::CALL).map(|setup| setup.0)
    }

    fn write_setup(&self, setup: &[u8]) -> Result<String, SetupError> {
        self.module.ask(WriteSetup { setup: Bytes(setup.into()) }, Budget::CALL.wider())
    }

    fn canonical(&self, command: &str) -> Result<String, Malformed> {
        let text = self.module.ask(Canonical { command: command.into() }, Budget::of_entries(1).wider())?;
        Ok(self.command(text))
    }

    fn rule_ids(&self, code: &str) -> Vec<&str> {
        let description = self.module.description();
        let mut known = description.ignored.iter().chain(&description.rejected);
        let found = known.find(|ruled: &&RuledCode| ruled.code == code);
        found.map(|ruled| ruled.rules.iter().map(String::as_str).collect()).unwrap_or_default()
    }

    fn command_text(&self, command: &[u8]) -> Result<String, DecodeError> {
        let command = CommandText { command: Bytes(command.into()) };
        Ok(self.command(self.module.ask(command, Budget::of_entries(1).wider())?))
    }

    fn start(&self, setup: &[u8]) -> Result<Box<dyn AnyState>, SetupError> {
        let started = self.module.ask(Start { setup: Bytes(setup.into()) }, Budget::CALL.wider())?;
        self.module.require(started.status.rolls == 0, "a match that starts has rolls behind it");
        let again = self.resume(&started.state.0, 0);
        self.module.require(again.is_ok(), "it cannot resume the state that it starts with");
        Ok(self.state(started))
    }

    /// MD-7: what is resumed has the same bytes.
    fn resume(&self, state: &[u8], rolls: u64) -> Result<Box<dyn AnyState>, DecodeError> {
        let at = GivenState { state: Bytes(state.into()), rolls };
        let resumed = self.module.ask(Resume { at }, Budget::CALL.wider())?;
        let is_same = resumed.state.0 == state && resumed.status.rolls == rolls;
        self.module.require(is_same, "the state that it resumes is another one");
        Ok(self.state(resumed))
    }
}
