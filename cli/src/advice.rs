//! Turns errors of the libraries into failures, each with its exit code and the next step. No other place knows next
//! steps for these errors.

use std::io::{self, Read};
use std::path::Path;

use turnfold_core::Malformed;
use turnfold_core::registry::NoRules;
use turnfold_history::input::{InputError, is_page};
use turnfold_history::search::name_like;
use turnfold_history::session::NotPlayed;
use turnfold_history::tfl::{PageError, TflError};
use turnfold_history::{ReplayError, SourceName, Sources, Viewer};
use turnfold_mail::MailError;
use turnfold_proof::ProofError;
use turnfold_proof::bundle::is_bundle;
use turnfold_show::ShowError;
use turnfold_store::{MatchName, RescueError, StoreError, open_regular};

use crate::context::Workspace;
use crate::failure::{Failure, FailureKind};
use crate::program;

/// Returns the next step for a match whose rules this build lacks. `newest` is the version that it has instead.
pub(crate) fn without_rules(match_name: &MatchName, recorded: u32, newest: Option<u32>) -> String {
    let migrate = match newest {
        Some(newer) if newer > recorded => {
            format!(", or `turnfold migrate {match_name} NEW` for version {newer}")
        }
        _ => String::new(),
    };
    format!(
        "use the build that recorded it{migrate}; `bundle`, `log --raw` and `verify --chain` need no rules"
    )
}

pub(crate) fn about_bundle(name: &str) -> String {
    format!(
        "`turnfold log {name}` shows a bundle, `turnfold audit {name}` checks it, `turnfold import {name}` takes it in"
    )
}

/// How many bytes of a file show its kind. Replay files and backups begin with equally many.
const FIRST_WORDS: usize = "turnfold backup ".len();

/// Returns what a file or folder is that was named in place of a match, and the next step. `None` if it is nothing that
/// turnfold knows.
fn about_file(name: &str) -> Option<(String, String)> {
    let path = Path::new(name);
    let (what, hint) = if path.join("journal").is_dir() {
        ("a store", format!("`turnfold --store {name} matches` lists what is in it"))
    } else if path.is_dir() {
        ("a folder", format!("name a replay file in it, or check all with `turnfold check {name}`"))
    } else if is_bundle(path) {
        ("a bundle", format!("name a match in it, as in `{name}/MATCH`; {}", about_bundle(name)))
    } else {
        let mut first = Vec::new();
        open_regular(path).ok()?.take(FIRST_WORDS as u64).read_to_end(&mut first).ok()?;
        match first.as_slice() {
            b"turnfold replay " => ("a replay file", format!("name it `./{name}`")),
            b"turnfold backup " => (
                "the backup of a store",
                format!("`turnfold store restore {name} NEWDIR` makes a store of it"),
            ),
            _ => return None,
        }
    };
    Some((format!("`{name}` is {what}"), hint))
}

/// The most matches to compare with, because an error should not be delayed by a guess.
const NAMES_MAX: usize = 1000;

/// Adds what only the workspace shows: where a damaged store is, and what was probably meant by the name of a match that
/// does not exist.
pub(crate) fn in_workspace(failure: Failure, workspace: &Workspace) -> Failure {
    let failure = failure.in_store(workspace.damaged_store());
    if failure.is_store_missing
        && let Some((what, hint)) = workspace.named.iter().find_map(|name| about_file(name))
    {
        return Failure::usage(format!("{what}, not a match, and there is no store here")).hint(hint);
    }
    let Some(name) = failure.missing_match.clone() else { return failure };
    let name = name.as_str();
    if let Some((what, hint)) = about_file(name) {
        return failure.hint(format!("{what}: {hint}"));
    }
    if let Some((_, "bundle" | "tfb")) = name.rsplit_once('.') {
        return failure.hint(about_bundle(name));
    }
    let Ok(store) = workspace.read_store() else { return failure };
    let Ok(matches) = store.matches_after(None) else { return failure };
    let mut names = Vec::new();
    for found in matches.take(NAMES_MAX) {
        let Ok(found) = found else { break };
        names.push(found.name);
    }
    let Some(like) = name_like(names.iter().map(MatchName::as_str), name) else { return failure };
    failure.hint(format!("did you mean `{like}`? `turnfold matches` lists those there are"))
}

impl From<ReplayError> for Failure {
    fn from(error: ReplayError) -> Self {
        use ReplayError as E;
        let error = match error {
            E::Store(error) => return error.into(),
            E::Fetch(error) => match error.downcast::<Self>() {
                Ok(failure) => return *failure,
                Err(error) => E::Fetch(error),
            },
            error => error,
        };
        let kind = match &error {
            E::Unreadable { log, cause } => {
                let hint = hint(cause).map(|hint| format!("; {hint}")).unwrap_or_default();
                return Self::usage(format!("{log}: {cause}{hint}"));
            }
            E::Input(InputError::Unreadable { cause, .. }) => FailureKind::of_io(cause),
            E::Entry(..)
            | E::ConcealedEntry(_)
            | E::Untrue { .. }
            | E::NotReloadable(..)
            | E::DiceExhausted(_)
            | E::Passes(_)
            | E::FaultOfRules(_)
            | E::NoEntryFails { .. }
            | E::NotTheSame(_)
            | E::Refused(_) => FailureKind::Negative,
            E::Threads(_)
            | E::Setup(..)
            | E::EndlessRolls(_)
            | E::OwnDice(_)
            | E::Chance(_)
            | E::NotRepeatable
            | E::Changed(_) => FailureKind::Trouble,
            _ => FailureKind::Usage,
        };
        let message = match &error {
            E::OtherSeat { seat, command, own } => format!(
                "`{seat}: {command}` is a command of {seat}, but `--seat {own}` gives all commands as {own}"
            ),
            error => error.to_string(),
        };
        Self::new(kind, message).maybe_hint(hint(&error))
    }
}

impl From<ProofError> for Failure {
    fn from(error: ProofError) -> Self {
        use FailureKind::{Negative, Trouble, Usage};
        use ProofError as E;
        let message = error.to_string();
        let (kind, hint) = match error {
            E::Replay(error) => return error.into(),
            E::Write(error) => return error.into(),
            E::Refused(_) => (Negative, None),
            E::NotSigned(_) => (Negative, Some("`turnfold checkpoint sign` signs it")),
            E::RolledBack { .. } | E::AnotherHistory { .. } => {
                (Negative, Some("import a newer bundle, or use a new key"))
            }
            E::Guessable { .. } => (Negative, Some("leave out `--as`, and do not give that bundle away")),
            E::Changed(_) => (Trouble, Some("try again")),
            E::Key { .. } | E::DamagedMemory { .. } => (Trouble, None),
            E::NoKeyFile(_) => (Usage, Some("`turnfold key new` makes one")),
            _ => (Usage, None),
        };
        Self::new(kind, message).maybe_hint(hint)
    }
}

impl From<ShowError> for Failure {
    fn from(error: ShowError) -> Self {
        let failure = Self::usage(error.to_string());
        match error {
            ShowError::Replay(error) => error.into(),
            ShowError::TooLong { history, fits, .. } => {
                failure.hint(format!("`turnfold export {} --html` takes these", history.up_to(Some(fits))))
            }
            _ => failure,
        }
    }
}

impl From<MailError> for Failure {
    fn from(error: MailError) -> Self {
        let kind = match error {
            MailError::Replay(error) => return error.into(),
            MailError::Proof(error) => return (*error).into(),
            MailError::Outbox(_) => FailureKind::Trouble,
            MailError::Refused(_) => FailureKind::Negative,
            _ => FailureKind::Usage,
        };
        Self::new(kind, error.to_string())
    }
}

pub(crate) fn after_not_played(reason: &NotPlayed, asked: Option<Viewer>) -> Option<String> {
    Some(match reason {
        NotPlayed::OtherHead { revision, .. } => format!(
            "look at `turnfold log {revision}{}` and try again, or branch off with `turnfold branch`",
            asked.map(|viewer| format!(" --as {viewer}")).unwrap_or_default()
        ),
        NotPlayed::KeyUsed { .. } => "choose a new key".into(),
        NotPlayed::ByMail { revision, .. } => format!(
            "record orders with `turnfold mail take`; to try something out, branch off with \
             `turnfold branch {revision} NAME`"
        ),
        NotPlayed::Rejected { commands, ruleset, code, by_referee } => {
            let code = code.as_ref()?;
            let mut hint = explains(ruleset, code);
            // A call of many commands is most likely the log of a game that the engine accepted.
            if *by_referee && *commands > 1 {
                hint.push_str("; if your engine took it, see `turnfold help referees`");
            }
            hint
        }
    })
}

/// Returns the command that explains why the rules rejected a command.
pub(crate) fn explains(ruleset: &str, reason: &str) -> String {
    format!("`turnfold rules {ruleset} {reason}` explains it")
}

fn hint(error: &ReplayError) -> Option<String> {
    use ReplayError as E;
    Some(match error {
        E::Folder(..) => "name replay files or a folder with `*.tfl` in it".into(),
        E::NoReplays(_) => "nothing was checked".into(),
        E::Entry(SourceName::File(_), _) => "correct the entry or cut the log before it".into(),
        E::Entry(SourceName::Revision(revision), _) => {
            format!("the log disagrees with its rules, see `turnfold verify {}`", revision.match_name)
        }
        E::Page(PageError::NoReplay { .. }) => "ask for one made without `--as`".into(),
        E::ConcealedEntry(_) => "the host can see which".into(),
        E::TooLong(_) => "name an earlier entry, as in `MATCH:SEQ`".into(),
        E::Untrue { file, .. } if file != "<stdin>" => format!("`turnfold check {file}` explains it"),
        E::Concealed { .. } => "leave out `--as`".into(),
        E::NoView(_) => {
            "a referee that keeps secrets offers `see`, a recording says `\"secrets\":\"none\"`; see `turnfold help referees`".into()
        }
        E::OtherSeat { .. } => "leave out `--seat` or the command".into(),
        E::Passes(_) => "add `--when` or `--still` to look for something else".into(),
        E::FaultOfRules(_) => {
            format!("`--still '{} check'` finds the smallest log that shows it", program::name())
        }
        E::NoEntryFails { file, .. } if is_page(Path::new(file)) => {
            "make the page again from its match, with `turnfold export MATCH --html`".into()
        }
        E::NoEntryFails { is_cut_short: true, .. } => "get the whole file back".into(),
        E::NoEntryFails { file, .. } => format!("`turnfold bless {file}` rewrites it"),
        E::Changed(_) => "try again".into(),
        E::NoRules(match_name, cause) => match (&**cause, match_name) {
            (NoRules::OtherVersion { recorded, known, .. }, Some(match_name)) => {
                without_rules(match_name, *recorded, Some(*known))
            }
            (NoRules::Unknown { .. }, _) => {
                let known = error.advice().unwrap_or_default();
                format!(
                    "{known}; `turnfold game add FILE` adds a module, `--referee COMMAND` or `TURNFOLD_REFEREES` names a program that knows the rules"
                )
            }
            (NoRules::NotPassed { module, .. }, _) => format!("`turnfold game check {module}` runs them"),
            (NoRules::NoReferee { .. }, _) => "see `turnfold help referees`".into(),
            _ => return error.advice(),
        },
        E::File(error) if is_bundle(Path::new(&error.file)) => about_bundle(&error.file),
        E::NotTheSame(_) => "`turnfold game impact --matches` shows what else differs".into(),
        E::Store(error) => return store_hint(error),
        other => return other.advice(),
    })
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        if error.is_damage() {
            return Self::damage(error.to_string());
        }
        let mut failure = Self::new(error.kind().into(), error.to_string()).maybe_hint(store_hint(&error));
        failure.is_store_missing = matches!(error, StoreError::Missing { .. });
        if let StoreError::NoSuchMatch { match_name } = error {
            failure.missing_match = Some(match_name);
        }
        failure
    }
}

/// Returns the next step for an error of the store, except damage: for that, the next step depends on where the store
/// is.
fn store_hint(error: &StoreError) -> Option<String> {
    use StoreError as E;
    let hint = match error {
        E::NoSuchMatch { .. } => "`turnfold matches` lists those there are",
        E::NoSuchBranch { match_name, .. } => {
            return Some(format!("`turnfold branch {match_name}` lists those there are"));
        }
        E::BranchInUse { child, .. } => return Some(format!("delete branch `{child}` first")),
        E::Locked { .. } => {
            "wait for it to end, then try again; while `turnfold serve` has it, name the service with `--store URL`"
        }
        E::Missing { .. } => "create a match first, or name the right directory",
        E::NotAStore { .. } => "use another directory",
        E::Unreadable { .. } | E::Unwritable { .. } => "check its owner and permissions",
        E::UnknownFormat { .. } => {
            "back it up with the build that wrote it and restore the backup with this one"
        }
        E::Clock => "set it, then try again",
        E::Conflict { .. } => "look at what is new and try again",
        E::IdempotencyKeyReused { .. } => "choose a new key",
        E::OtherModule { .. } => "put back the file of the first one",
        E::AlreadyExists { .. } | E::BranchExists { .. } => "choose another name",
        E::NothingToAppend { .. } => "give at least one command",
        E::Unopened { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
            "check its owner and permissions"
        }
        E::Unopened { .. } => "try again, and check the disk if that fails too",
        E::Full { .. } => "free some space and try again",
        E::Unsettled { .. } => "look at the log before you repeat it",
        E::Unavailable { maybe: true, .. } => "repeat with the same key, or look before you repeat it",
        E::Unavailable { maybe: false, .. } | E::Failed { .. } => "try again",
        E::Receded { .. } => "restore what is missing, or begin a new one to go on from what is there",
        _ => return None,
    };
    Some(hint.into())
}

impl From<Malformed> for Failure {
    fn from(error: Malformed) -> Self {
        Self::usage(error.0)
    }
}

macro_rules! as_replay_errors {
    ($($error:ty),+ $(,)?) => { $(impl From<$error> for Failure {
        fn from(error: $error) -> Self {
            ReplayError::from(error).into()
        }
    })+ };
}

as_replay_errors!(InputError, NoRules, PageError, TflError);

impl From<RescueError> for Failure {
    fn from(error: RescueError) -> Self {
        match error {
            RescueError::Store(error) => error.into(),
            RescueError::Write { source } if source.kind() == io::ErrorKind::BrokenPipe => source.into(),
            error => {
                let hint = match error {
                    RescueError::NotABackup => Some("name a file that `store backup` wrote"),
                    RescueError::UnknownFormat { .. } => Some("use the build that wrote it"),
                    RescueError::DamagedBackup { .. } => Some("use another backup"),
                    RescueError::NotEmpty { .. } => Some("name a new directory"),
                    RescueError::NothingReadable { .. } => Some("restore a backup"),
                    _ => None,
                };
                Self::new(error.kind().into(), error.to_string()).maybe_hint(hint)
            }
        }
    }
}
