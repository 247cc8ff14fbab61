//! Errors of histories, and faults of modules as errors. An error states what happened and where. The next step is apart,
//! in `advice`, if it does not depend on the program.

use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;

use turnfold_core::decode::DecodeError;
use turnfold_core::registry::NoRules;
use turnfold_core::{DueRoll, Fault, FoldError, Malformed, Rejected, Seat, SetupError};
use turnfold_store::{MatchName, StoreError};

use crate::input::{InputError, Limits};
use crate::search::ConditionError;
use crate::text::quoted_list;
use crate::tfl::{PageError, TflError};
use crate::{SourceName, Viewer};

/// An error of a history.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// An error of the store, or of a match or branch in it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A history that could not be fetched from a service. The error is the client's.
    #[error(transparent)]
    Fetch(Box<dyn std::error::Error + Send + Sync>),
    /// A replay file that cannot be parsed or folded, with file, line and column.
    #[error(transparent)]
    File(#[from] TflError),
    /// A page without a replay.
    #[error(transparent)]
    Page(#[from] PageError),
    /// A file that cannot be read at all.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A folder, or something in it, that cannot be searched for replay files.
    #[error("cannot read `{}`: {}", _0.display(), _1)]
    Folder(PathBuf, String),
    /// A folder without any replay file.
    #[error("no replay files (`*.tfl`) under `{}`", _0.display())]
    NoReplays(PathBuf),
    /// The threads for checking files cannot be started.
    #[error("cannot start threads: {0}")]
    Threads(String),
    /// A match or ruleset without its rules, with the match if the rules were for one (MD-1). The cause is boxed to keep
    /// results small.
    #[error("{}", without_rules(_0.as_ref(), _1))]
    NoRules(Option<MatchName>, Box<NoRules>),
    /// A module that failed or broke a law (MD-6).
    #[error(transparent)]
    Fault(#[from] Box<Fault>),
    /// A match that another version of its ruleset folds differently.
    #[error("{0}")]
    NotTheSame(String),
    /// An entry that the history does not have.
    #[error("`{history}` has no entry {seq}; its last is {head}")]
    NoEntry {
        /// The history.
        history: SourceName,
        /// The entry's number.
        seq: u64,
        /// The number of the last entry.
        head: u64,
    },
    /// A setup that the rules of its history refuse.
    #[error("`{0}`: {1}")]
    Setup(SourceName, SetupError),
    /// An entry that the rules of its history refuse.
    #[error("`{0}`: {1}")]
    Entry(SourceName, FoldError),
    /// An entry that the rules of its history refuse, reported to a player, who learns nothing else.
    #[error("`{0}`: its rules do not accept an entry")]
    ConcealedEntry(SourceName),
    /// A log that this build cannot read to its end.
    #[error("{log}: {cause}")]
    Unreadable {
        /// The file or branch.
        log: String,
        /// What is wrong.
        cause: Box<ReplayError>,
    },
    /// A setup that this build cannot start.
    #[error(transparent)]
    BadSetup(#[from] SetupError),
    /// An entry that this build cannot fold.
    #[error(transparent)]
    BadEntry(#[from] FoldError),
    /// A history too long for a replay file.
    #[error("`{}` has more than {} entries, too many for a replay file", _0, Limits::REPLAY_ENTRIES_MAX)]
    TooLong(SourceName),
    /// A replay file that records something else than the rules compute.
    #[error("{file}{}: {what}", line.map(|line| format!(":{line}")).unwrap_or_default())]
    Untrue {
        /// The file.
        file: String,
        /// The line that is wrong, if it is a single one.
        line: Option<usize>,
        /// What is wrong.
        what: String,
    },
    /// Something that only the host may see.
    #[error("{what}, which {viewer} may not see")]
    Concealed {
        /// What was asked for.
        what: &'static str,
        /// Who asked.
        viewer: Viewer,
    },
    /// A game that does not define what a viewer may see.
    #[error("the game does not define what {0} may see")]
    NoView(Viewer),
    /// A replay file for one seat, but another viewer asks for it.
    #[error("expected what `{viewer}` may know, found what `{reader}` may know")]
    NotOfSeat {
        /// The viewer for whom the file was written.
        reader: Viewer,
        /// Who asks.
        viewer: Viewer,
    },
    /// A match that cannot be written for one seat, because without the concealed entries its rules show that seat
    /// something else.
    #[error("{0}")]
    NotSeparable(String),
    /// A command of another seat than the one that plays.
    #[error("`{seat}: {command}` is a command of {seat}, not of {own}")]
    OtherSeat {
        /// The seat that the command names.
        seat: Seat,
        /// The command.
        command: String,
        /// The seat that plays.
        own: Viewer,
    },
    /// A condition that makes no sense in the views that were examined.
    #[error(transparent)]
    Condition(#[from] ConditionError),
    /// A state that cannot be read back from its bytes.
    #[error("the state after entry {0} does not reload: {1}")]
    NotReloadable(usize, DecodeError),
    /// Rolls that fall due again and again.
    #[error("a roll is still due after {0} rolls in a row")]
    EndlessRolls(u32),
    /// Rules that reject a roll that is due.
    #[error("the rules reject their own dice: {0}")]
    OwnDice(Rejected),
    /// Fair dice with no roll left (FD-17).
    #[error("`dice_exhausted`: fair dice have {0} rolls, and all are made")]
    DiceExhausted(u16),
    /// Values that do not fit a roll.
    #[error("expected {0}, found {1:?}")]
    WrongValues(DueRoll, Vec<i32>),
    /// An error of an outside source of rolls.
    #[error("{0}")]
    Chance(#[source] io::Error),
    /// A file that passes the check, so there is no failure to shrink.
    #[error("`{0}` passes the check, so there is no failure to shrink")]
    Passes(String),
    /// A failed check that shows a fault of the rules, whatever the file records.
    #[error("{0}, which is a fault of the rules")]
    FaultOfRules(String),
    /// A failed check that is not caused by an entry.
    #[error("{headline}; no entry causes it")]
    NoEntryFails {
        /// The file.
        file: String,
        /// The failure.
        headline: String,
        /// Whether the end of the file may be lost.
        is_cut_short: bool,
    },
    /// A match, key, file or option that cannot be used for this.
    #[error("{0}")]
    Unusable(String),
    /// A request that contradicts what exists; nothing has changed.
    #[error("{0}")]
    Refused(String),
    /// A file or store that another process changed between two readings.
    #[error("`{0}` changed while it was read")]
    Changed(String),
    /// A log whose copy gets other outcomes from the rules.
    #[error("the rules give one answer in the log and another in a copy of it")]
    NotRepeatable,
}

fn without_rules(match_name: Option<&MatchName>, cause: &NoRules) -> String {
    match (match_name, cause) {
        (Some(match_name), NoRules::OtherVersion { name, recorded, known }) => format!(
            "match `{match_name}` was recorded under `{name}` version {recorded}, this build has version {known}"
        ),
        (None, _) | (_, NoRules::Unknown { .. }) => cause.to_string(),
        (Some(match_name), _) => format!("match `{match_name}`: {cause}"),
    }
}

impl From<NoRules> for ReplayError {
    fn from(cause: NoRules) -> Self {
        Self::NoRules(None, Box::new(cause))
    }
}

impl From<Fault> for ReplayError {
    fn from(fault: Fault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

impl From<Malformed> for ReplayError {
    fn from(error: Malformed) -> Self {
        Self::Unusable(error.0)
    }
}

impl ReplayError {
    /// The advice for a module that is missing.
    pub const PUT_MODULE: &str =
        "put its file into `modules/` of the store, or name its folder with `--modules`";

    /// Returns the error for a log that this build cannot read to its end, such as one whose module failed.
    #[must_use]
    pub fn unreadable(log: &str, cause: impl Into<Self>) -> Self {
        Self::Unreadable { log: log.into(), cause: Box::new(cause.into()) }
    }

    /// Returns what to do about the error, if that does not depend on the program that shows it.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        match self {
            Self::Input(InputError::NotRegular { .. }) => Some("name a regular file".into()),
            Self::Condition(error) => error.advice(),
            Self::NoRules(_, cause) => Some(match &**cause {
                NoRules::Unknown { known, .. } => format!("known: {}", quoted_list(known)),
                NoRules::OtherVersion { .. } => "use the build that recorded it".into(),
                NoRules::NoModule { .. } => Self::PUT_MODULE.into(),
                NoRules::NotPassed { .. } => "a check of the module runs them".into(),
                NoRules::NoReferee { .. } => "name the program that knows the rules".into(),
                NoRules::ModuleAndReferee { .. } => "name one of the two only".into(),
                _ => "keep one of them, or name one by its digest with `--module`".into(),
            }),
            _ => None,
        }
    }
}

/// Calls `work` and returns its result, or the fault of a module that failed in it (MD-6).
///
/// What `work` borrows may be half changed after a fault, so the caller discards it.
///
/// # Errors
/// The [`Fault`] of the module.
///
/// # Panics
/// If `work` panics for another reason than a fault.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Fault> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|cause| match cause.downcast::<Fault>() {
        Ok(fault) => *fault,
        Err(panic) => panic::resume_unwind(panic),
    })
}

#[cfg(test)]
mod tests {
    use turnfold_core::Digest;
    use turnfold_core::any::{FaultKind, FaultOf};

    use super::*;

    #[test]
    fn a_fault_is_caught_and_a_panic_goes_on() {
        let module = Digest::new([0xa5; 32]);
        let fault = Fault {
            ruleset: "nim".into(),
            version: 1,
            of: FaultOf::Module(module),
            what: "out of fuel".into(),
            kind: FaultKind::Exhausted,
        };
        let thrown = fault.clone();
        assert_eq!(catch(|| 1), Ok(1));
        let caught = catch(|| panic::resume_unwind(Box::new(thrown)));
        assert_eq!(caught, Err::<(), _>(fault.clone()));
        assert_eq!(fault.to_string(), "ruleset nim 1 (module a5a5a5a5a5a5a5a5): out of fuel");
        let panic = panic::catch_unwind(|| catch(|| panic::resume_unwind(Box::new("panic"))));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"panic"));
    }
}
