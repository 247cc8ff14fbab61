//! Failures, each in one line and with an exit code.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::mem;
use std::path::Path;
use std::process::ExitCode;

use crate::program;
use serde::Serialize;
use serde_json::{Value, json};
use turnfold_history::text::shortened;
use turnfold_history::{ReplayError, catch};
use turnfold_store::{ErrorKind, MatchName};

const MESSAGE_CHARACTERS_MAX: usize = 400;

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// Done, equal, all good.
    Yes,
    /// A negative answer that has been printed: a mismatch, a difference, a rejected command.
    No,
}

impl ExitStatus {
    pub(crate) fn unless(self, failures: impl IntoIterator<Item = Failure>) -> Result<Self> {
        match Failure::worst_of(failures.into_iter().collect()) {
            Some(failure) => Err(failure),
            None => Ok(self),
        }
    }
}

impl From<bool> for ExitStatus {
    fn from(is_yes: bool) -> Self {
        if is_yes { Self::Yes } else { Self::No }
    }
}

/// Works on one of several logs. A fault of its module becomes a failure that names the log (MD-6).
pub(crate) fn unless_fault<T>(log: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch(work).unwrap_or_else(|fault| Err(ReplayError::unreadable(log, fault).into()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FailureKind {
    /// A negative answer: a conflict, a rejected command.
    Negative,
    /// Unusable arguments or input.
    Usage,
    Trouble,
    Internal,
    /// The reader of the output is gone; nothing is printed about it.
    ClosedPipe,
}

/// A failure in one line: what failed, where, and the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    message: String,
    damaged: Option<DamagedStore>,
    pub(crate) missing_match: Option<MatchName>,
    pub(crate) is_store_missing: bool,
    pub(crate) hint: Option<String>,
    /// Further failures, of other sources of the same call.
    pub(crate) others: Box<[Failure]>,
}

/// Where a damaged store is, because the next step depends on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DamagedStore {
    Dir,
    Database,
}

impl DamagedStore {
    pub(crate) fn next_step(self) -> String {
        let next_step = match self {
            Self::Dir => "save what is sound with `turnfold store salvage DIR NEWDIR`",
            Self::Database => "restore it from the database's archive or a backup",
        };
        program::in_hint(next_step.into())
    }
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            damaged: None,
            missing_match: None,
            is_store_missing: false,
            hint: None,
            others: Box::default(),
        }
    }

    pub(crate) fn negative(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Negative, message)
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    pub(crate) fn trouble(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Trouble, message)
    }

    pub(crate) fn internal(what: impl fmt::Display) -> Self {
        let message = format!("internal error, please report it: {what}");
        Self::new(FailureKind::Internal, message.replace('\n', " "))
    }

    /// Damage of a store, which is in a directory unless [`Self::in_store`] changes that.
    pub(crate) fn damage(message: impl Into<String>) -> Self {
        Self { damaged: Some(DamagedStore::Dir), ..Self::trouble(message) }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(program::in_hint(hint.into()));
        self
    }

    pub(crate) fn maybe_hint(self, hint: Option<impl Into<String>>) -> Self {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }

    /// Converts an error. For recorded outcomes that are wrong, the message also says what was not done, such as
    /// "nothing was imported".
    pub(crate) fn undone(error: ReplayError, undone: &str) -> Self {
        let is_untrue = matches!(error, ReplayError::Untrue { .. });
        let mut failure = Self::from(error);
        if is_untrue {
            failure.message = format!("{}, {undone}", failure.message);
        }
        failure
    }

    /// A file that cannot be read or written. A missing file is unusable input; other errors are trouble.
    pub(crate) fn file(doing: &str, path: &Path, error: &io::Error) -> Self {
        Self::new(FailureKind::of_io(error), format!("cannot {doing} `{}`: {error}", path.display()))
    }

    /// Output that is useless unless complete, so a closed pipe is trouble here.
    pub(crate) fn cut_short(what: &str, error: io::Error) -> Self {
        if is_closed_pipe(&error) {
            return Self::trouble(format!("the {what} is incomplete: the reader closed the pipe"))
                .hint("do not use what was written");
        }
        error.into()
    }

    /// Begins the message with its place in a script, if there is one.
    pub(crate) fn at(mut self, place: Option<String>) -> Self {
        if let Some(place) = place {
            self.message = format!("{place}: {}", self.message);
        }
        self
    }

    pub(crate) fn about(mut self, source: &str) -> Self {
        if !self.message.starts_with(source) && !self.message.contains(&format!("`{source}`")) {
            self.message = format!("{source}: {}", self.message);
        }
        self
    }

    /// Merges failures: returns the last with the highest exit code, with all others in `others`.
    pub(crate) fn worst_of(mut failures: Vec<Self>) -> Option<Self> {
        let (at, _) = failures.iter().enumerate().max_by_key(|(_, failure)| failure.exit_code())?;
        let failure = failures.remove(at);
        let mut others = Vec::new();
        for mut other in failures {
            others.extend(mem::take(&mut other.others));
            others.push(other);
        }
        others.extend(failure.others);
        Some(Self { others: others.into(), ..failure })
    }

    pub(crate) fn in_store(self, store: DamagedStore) -> Self {
        Self { damaged: self.damaged.map(|_| store), ..self }
    }

    pub(crate) fn in_searched_store(mut self, passed_over: Option<&Path>) -> Self {
        if self.is_store_missing {
            self.message.push_str(" in this directory or one above it");
            if let Some(store) = passed_over {
                self = self.hint(not_own(store));
            }
        }
        self.others = self.others.into_iter().map(|other| other.in_searched_store(passed_over)).collect();
        self
    }

    pub(crate) fn message(&self) -> Cow<'_, str> {
        match self.damaged {
            Some(store) => format!("{}; {}", self.message, store.next_step()).into(),
            None => self.message.as_str().into(),
        }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self.kind {
            FailureKind::ClosedPipe => 0,
            FailureKind::Negative => 1,
            FailureKind::Usage => 2,
            FailureKind::Trouble | FailureKind::Internal => 3,
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        let Self { kind, hint, .. } = self;
        let message = self.message();
        let exit_code = self.exit_code();
        let message = shortened(&message, MESSAGE_CHARACTERS_MAX);
        json!({ "error": { "kind": kind, "message": message, "hint": hint, "exit_code": exit_code } })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hint {
            Some(hint) => write!(out, "{}; {hint}", self.message()),
            None => out.write_str(&self.message()),
        }
    }
}

pub(crate) fn not_own(store: &Path) -> String {
    let store = store.display();
    format!("`{store}` belongs to another user, so it is used only if `--store {store}` names it")
}

impl std::error::Error for Failure {}

impl FailureKind {
    pub(crate) fn of_io(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::IsADirectory | io::ErrorKind::InvalidData => Self::Usage,
            _ => Self::Trouble,
        }
    }
}

/// Keeps the store's classification.
impl From<ErrorKind> for FailureKind {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Negative => Self::Negative,
            ErrorKind::Unusable => Self::Usage,
            ErrorKind::Trouble => Self::Trouble,
        }
    }
}

pub(crate) fn is_closed_pipe(error: &io::Error) -> bool {
    const ERROR_PIPE_NOT_CONNECTED: i32 = 233;
    error.kind() == io::ErrorKind::BrokenPipe
        || cfg!(windows) && error.raw_os_error() == Some(ERROR_PIPE_NOT_CONNECTED)
}

/// A failed write to the output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if is_closed_pipe(&error) {
            return Self::new(FailureKind::ClosedPipe, "");
        }
        Self::trouble(format!("cannot write the output: {error}"))
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(answer: ExitStatus) -> Self {
        match answer {
            ExitStatus::Yes => Self::SUCCESS,
            ExitStatus::No => Self::from(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_exit_code() {
        assert_eq!(Failure::negative("").exit_code(), 1);
        assert_eq!(Failure::usage("").exit_code(), 2);
        assert_eq!(Failure::trouble("").exit_code(), 3);
        assert_eq!(Failure::internal("").exit_code(), 3);
        assert_eq!(Failure::from(io::Error::from(io::ErrorKind::BrokenPipe)).exit_code(), 0);
        assert_eq!(Failure::from(io::Error::from(io::ErrorKind::StorageFull)).exit_code(), 3);
    }

    #[test]
    fn an_internal_error_is_one_line_of_json_too() {
        let json = serde_json::to_string(&Failure::internal("panicked at x.rs:1:\nwhy").to_json()).unwrap();
        let message = "internal error, please report it: panicked at x.rs:1: why";
        let expected =
            format!(r#"{{"error":{{"kind":"internal","message":"{message}","hint":null,"exit_code":3}}}}"#);
        assert_eq!(json, expected);
    }
}
