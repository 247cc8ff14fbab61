//! What goes wrong, in one line, and the exit code it becomes.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use turnfold_replay::{
    InputError, OtherSeat, PageError, ReplayError, SourceName, TflError, revision::is_page, text::shortened,
};
use turnfold_store::{ErrorKind, NEXT_STEP, NEXT_STEP_IN_DATABASE, StoreError};

/// The longest message of a failure in JSON, next to its hint and kind.
const MESSAGE_CHARACTERS_MAX: usize = 400;

/// What a command answers when nothing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// Done, equal, all good.
    Yes,
    /// A negative answer that has been printed: a mismatch, a difference, a rejected command.
    No,
}

/// The kinds of failure; each has one exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FailureKind {
    /// A negative answer: a conflict, a rejected command.
    Negative,
    /// Unusable arguments or input.
    Usage,
    /// Store or I/O trouble.
    Trouble,
    /// A mistake of this program.
    Internal,
    /// The reader of our output has gone; not worth a word.
    ClosedPipe,
}

/// A failure: what, where and what to do, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    message: String,
    hint: Option<String>,
}

impl Failure {
    fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
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

    /// A mistake of this program, such as a panic.
    pub(crate) fn internal(what: impl fmt::Display) -> Self {
        Self::new(
            FailureKind::Internal,
            format!("internal error, please report it: {what}").replace('\n', " "),
        )
    }

    /// What the store says, sorted as it sorts it.
    pub(crate) fn of_kind(kind: ErrorKind, message: impl Into<String>) -> Self {
        let kind = match kind {
            ErrorKind::Negative => FailureKind::Negative,
            ErrorKind::Unusable => FailureKind::Usage,
            ErrorKind::Trouble => FailureKind::Trouble,
        };
        Self::new(kind, message)
    }

    /// Says something else of the same kind.
    pub(crate) fn with_message(self, message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, ..self }
    }

    /// Adds what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What the library says, with what did not happen because of it.
    pub(crate) fn undone(error: ReplayError, undone: &str) -> Self {
        let is_untrue = matches!(
            error,
            ReplayError::UntrueHeader { .. }
                | ReplayError::UntrueEntry { .. }
                | ReplayError::UntrueClosing { .. }
        );
        let failure = Self::from(error);
        if !is_untrue {
            return failure;
        }
        Self { message: format!("{}, {undone}", failure.message), ..failure }
    }

    /// A file that cannot be read or written: unusable input when it is not there, trouble otherwise.
    pub(crate) fn file(doing: &str, path: &Path, error: &io::Error) -> Self {
        Self::new(FailureKind::of_io(error), format!("cannot {doing} `{}`: {error}", path.display()))
    }

    /// Output that is worth nothing unless whole: a reader that has gone is trouble here.
    pub(crate) fn cut_short(what: &str, error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::trouble(format!("the {what} is incomplete: the reader closed the pipe"))
                .hint("do not use what was written");
        }
        error.into()
    }

    /// Says of damage what helps where the store is in a database.
    pub(crate) fn in_database(self) -> Self {
        let replaced = |text: String| text.replace(NEXT_STEP, NEXT_STEP_IN_DATABASE);
        Self { message: replaced(self.message), hint: self.hint.map(replaced), ..self }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self.kind {
            FailureKind::ClosedPipe => 0,
            FailureKind::Negative => 1,
            FailureKind::Usage => 2,
            FailureKind::Trouble | FailureKind::Internal => 3,
        }
    }
}

/// A failure as a JSON document.
#[derive(Serialize)]
pub(crate) struct FailureJson<'a> {
    error: ErrorJson<'a>,
}

#[derive(Serialize)]
struct ErrorJson<'a> {
    kind: FailureKind,
    message: Cow<'a, str>,
    hint: Option<&'a str>,
    exit_code: u8,
}

impl Failure {
    pub(crate) fn to_json(&self) -> FailureJson<'_> {
        let Self { kind, message, hint } = self;
        let (message, hint) = (shortened(message, MESSAGE_CHARACTERS_MAX), hint.as_deref());
        FailureJson { error: ErrorJson { kind: *kind, message, hint, exit_code: self.exit_code() } }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(out, "; {hint}"))
    }
}

/// What the library says, with its exit code and what to do next.
impl From<ReplayError> for Failure {
    fn from(error: ReplayError) -> Self {
        use ReplayError as E;
        let kind = match &error {
            E::Store(error) => {
                return Self { hint: hint_of_store(error), ..Self::of_kind(error.kind(), error.to_string()) };
            }
            E::Unreadable { log, cause } => {
                let hint = hint(cause).map(|hint| format!("; {hint}")).unwrap_or_default();
                return Self::usage(format!("{log}: {cause}{hint}"));
            }
            E::Input(error) => FailureKind::of_input(error),
            E::Entry { .. }
            | E::ConcealedEntry { .. }
            | E::UntrueHeader { .. }
            | E::UntrueEntry { .. }
            | E::UntrueClosing { .. }
            | E::NotReloadable { .. }
            | E::DiceExhausted(_)
            | E::Passes(_)
            | E::FaultOfRules(_)
            | E::NoEntryFails { .. } => FailureKind::Negative,
            E::Threads(_)
            | E::Setup { .. }
            | E::EndlessRolls(_)
            | E::OwnDice(_)
            | E::Chance(_)
            | E::NotRepeatable => FailureKind::Trouble,
            _ => FailureKind::Usage,
        };
        let message = match &error {
            E::OtherSeat(OtherSeat { seat, command, own }) => format!(
                "`{seat}: {command}` is a command of {seat}, but `--as {own}` gives all commands as {own}"
            ),
            error => error.to_string(),
        };
        Self { kind, message, hint: hint(&error) }
    }
}

/// Returns what to type next.
fn hint(error: &ReplayError) -> Option<String> {
    use ReplayError as E;
    Some(match error {
        E::Folder { .. } => "name replay files or a folder with `*.tfl` in it".into(),
        E::NoReplays(_) => "nothing was checked".into(),
        E::Entry { line: SourceName::File(_), .. } => "correct the entry or cut the log before it".into(),
        E::Entry { line: SourceName::Revision(revision), .. } => {
            format!("the log disagrees with its rules, see `turnfold verify {}`", revision.match_name)
        }
        E::Page(PageError::NoReplay { .. }) => "ask for one made without `--as`".into(),
        E::Page(PageError::TooLong { line, fits, .. }) => {
            format!("`turnfold export {} --html` takes these", line.up_to(Some(*fits)))
        }
        E::ConcealedEntry { .. } => "the host can see which".into(),
        E::TooLong { .. } => "name an earlier entry, as in `MATCH:SEQ`".into(),
        E::UntrueHeader { file } | E::UntrueEntry { file, .. } | E::UntrueClosing { file }
            if file != "<stdin>" =>
        {
            format!("`turnfold check {file}` explains it")
        }
        E::Concealed(_) => "leave out `--as`".into(),
        E::OtherSeat(_) => "leave out `--as` or the command".into(),
        E::Passes(_) => "add `--when` or `--still` to look for something else".into(),
        E::FaultOfRules(_) => "`--still 'turnfold check'` finds the smallest log that shows it".into(),
        E::NoEntryFails { file, .. } if is_page(Path::new(file)) => {
            "make the page again from its match, with `turnfold export MATCH --html`".into()
        }
        E::NoEntryFails { file, .. } => format!("`turnfold bless {file}` rewrites it"),
        other => return other.advice(),
    })
}

fn hint_of_store(error: &StoreError) -> Option<String> {
    match error {
        StoreError::NoSuchMatch { .. } => Some("`turnfold matches` lists those there are".into()),
        StoreError::NoSuchBranch { match_name, .. } => {
            Some(format!("`turnfold branches {match_name}` lists those there are"))
        }
        _ => None,
    }
}

impl FailureKind {
    /// A file that cannot be read: unusable input when it is not there, trouble otherwise.
    fn of_input(error: &InputError) -> Self {
        match error {
            InputError::Unreadable { cause, .. } => Self::of_io(cause),
            _ => Self::Usage,
        }
    }

    fn of_io(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::IsADirectory | io::ErrorKind::InvalidData => Self::Usage,
            _ => Self::Trouble,
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self { hint: hint_of_store(&error), ..Self::of_kind(error.kind(), error.to_string()) }
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        ReplayError::from(error).into()
    }
}

/// A replay file that is unusable.
impl From<TflError> for Failure {
    fn from(error: TflError) -> Self {
        Self::usage(error.to_string())
    }
}

/// Output that cannot be written.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
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
