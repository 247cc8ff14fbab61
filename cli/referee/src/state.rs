//! A state under a module: its bytes, and what the module answers about them.

use std::sync::Arc;

use turnfold_core::{Json, Perspective};
use turnfold_guest::message::{Bytes, GivenState, Op, Started, StateStatus, View};

use crate::instance::Budget;
use crate::laws::{self, Lawful};
use crate::module::Module;

/// A state. It is a value: the module itself keeps nothing between two requests.
#[derive(Clone)]
pub(crate) struct ModuleState {
    pub(crate) module: Arc<Module>,
    /// Whether it folds twice.
    pub(crate) distrusts: bool,
    /// Whether the entries that it folds are new.
    pub(crate) is_recording: bool,
    pub(crate) bytes: Vec<u8>,
    pub(crate) status: StateStatus,
}

impl ModuleState {
    pub(crate) fn new(module: Arc<Module>, distrusts: bool, started: Started) -> Self {
        let Started { state: Bytes(bytes), status } = started;
        Self { module, distrusts, is_recording: false, bytes, status }
    }

    pub(crate) fn at(&self) -> GivenState {
        GivenState { state: Bytes(self.bytes.clone()), rolls: self.status.rolls }
    }

    /// Returns what a call about this state may take that folds nothing.
    pub(crate) fn budget(&self) -> Budget {
        if self.is_recording { Budget::CALL } else { Budget::CALL.wider() }
    }

    pub(crate) fn ask<O: Op<Answer: Lawful, Error: Lawful>>(&self, op: O) -> Result<O::Answer, O::Error> {
        self.module.ask(op, self.budget())
    }

    pub(crate) fn commands(&self, commands: Vec<String>) -> Vec<String> {
        let are_commands = commands.iter().all(|command| laws::command(command).is_ok());
        self.module.require(are_commands, "a command of more than one line");
        commands
    }

    /// Returns the view of `viewer` of a state of the match.
    pub(crate) fn view_of(module: &Module, at: GivenState, viewer: Perspective, budget: Budget) -> Json {
        let Ok(view) = module.ask(View { at, viewer }, budget);
        let prefix = format!(r#"{{"ruleset":"{}""#, module.description().name);
        module.require(view.starts_with(&prefix), "a view does not begin with the name of the ruleset");
        view
    }
}

/// Returns what a JSON pointer leads to in a view.
pub(crate) fn field_of(view: &Json, path: &str) -> Option<serde_json::Value> {
    let view: serde_json::Value = serde_json::from_str(view).ok()?;
    view.pointer(path).cloned()
}
