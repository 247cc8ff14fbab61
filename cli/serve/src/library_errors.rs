//! Turns the libraries' errors into problems for clients: a code, what failed and where, and the next step.

use turnfold_core::any::FaultOf;
use turnfold_core::registry::NoRules;
use turnfold_history::ReplayError;
use turnfold_mail::MailError;
use turnfold_proof::ProofError;
use turnfold_show::ShowError;
use turnfold_store::{RescueError, StoreError};

use crate::problem::{Problem, ProblemCode, Remedy};

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        use StoreError as E;
        let code = match &error {
            E::NoSuchMatch { .. } | E::NoSuchBranch { .. } | E::NoSuchGrant { .. } | E::NoSuchNote { .. } => {
                ProblemCode::NotFound
            }
            E::NoSuchSeq { .. } => ProblemCode::NoEntry,
            E::NothingToAppend { .. } | E::NotAPlayer { .. } => ProblemCode::Content,
            E::TooManyGrants { .. } | E::TooManyNotes { .. } => ProblemCode::SlowDown,
            E::AlreadyExists { .. } | E::BranchExists { .. } | E::GrantExists { .. } => ProblemCode::Exists,
            E::BranchInUse { .. } | E::MainBranch { .. } => ProblemCode::BranchInUse,
            E::LastHost { .. } => ProblemCode::LastHost,
            E::SeatTaken { .. } => ProblemCode::SeatTaken,
            E::NameTaken { .. } => ProblemCode::NameTaken,
            E::TooLarge { .. } => ProblemCode::TooLarge,
            E::OtherModule { .. } => ProblemCode::Module,
            E::IdempotencyKeyReused { .. } => ProblemCode::KeyReused,
            E::InvitationSpent { .. } => ProblemCode::Spent,
            E::Receded { .. } | E::Corrupt { .. } => ProblemCode::Corrupt,
            E::Full { .. } => ProblemCode::Full,
            E::Conflict { .. }
            | E::Io { .. }
            | E::Unsettled { .. }
            | E::Failed { .. }
            | E::Unavailable { .. }
            | E::Database { .. } => ProblemCode::Store,
            _ => ProblemCode::Internal,
        };
        let detail = match advice(&error) {
            Some(advice) => format!("{error}; {advice}"),
            None => error.to_string(),
        };
        match error {
            E::Corrupt { .. } => Self::of_store(code, detail, Some(Remedy::Salvage)),
            E::Full { .. } => Self::of_store(code, detail, Some(Remedy::FreeSpace)),
            E::Failed { .. } => Self::of_store(code, detail, Some(Remedy::Restart)),
            E::Unsettled { .. } | E::Unavailable { .. } | E::Database { .. } => {
                Self::of_store(code, detail, None)
            }
            _ => Self::new(code, detail),
        }
    }
}

fn advice(error: &StoreError) -> Option<&'static str> {
    use StoreError as E;
    Some(match error {
        E::NoSuchGrant { .. } | E::InvitationSpent { .. } => "ask the host for a new one",
        E::TooManyGrants { .. } => "revoke one first",
        E::TooManyNotes { .. } => "remove one first",
        E::LastHost { .. } => "make another host grant first",
        E::SeatTaken { .. } => "ask the host, who can take that access back",
        E::NotAPlayer { .. } => "name one of `p1` to `p16`",
        E::NothingToAppend { .. } => "give at least one command",
        E::AlreadyExists { .. } | E::BranchExists { .. } | E::NameTaken { .. } => "choose another name",
        E::GrantExists { .. } => "make a new token",
        E::BranchInUse { .. } => "delete that branch first",
        E::IdempotencyKeyReused { .. } => "choose a new key",
        E::Conflict { .. } => "look at what is new and try again",
        E::Unsettled { .. } => "look at the log before you repeat it",
        E::Unavailable { maybe: true, .. } => "repeat with the same key, or look before you repeat it",
        E::Unavailable { maybe: false, .. } => "try again",
        E::Receded { .. } => "restore what is missing, or begin a new one to go on from what is there",
        _ => return None,
    })
}

impl From<RescueError> for Problem {
    fn from(error: RescueError) -> Self {
        match error {
            RescueError::Store(error) => error.into(),
            error => Self::new(ProblemCode::Store, error.to_string()),
        }
    }
}

impl From<MailError> for Problem {
    fn from(error: MailError) -> Self {
        match error {
            MailError::Replay(error) => error.into(),
            MailError::Proof(error) => (*error).into(),
            error => Self::new(ProblemCode::Internal, error.to_string()),
        }
    }
}

impl From<ProofError> for Problem {
    fn from(error: ProofError) -> Self {
        match error {
            ProofError::Replay(error) => error.into(),
            error => Self::new(ProblemCode::Internal, error.to_string()),
        }
    }
}

impl From<ShowError> for Problem {
    fn from(error: ShowError) -> Self {
        match error {
            ShowError::Replay(error) => error.into(),
            error => Self::new(ProblemCode::TooLarge, error.to_string()),
        }
    }
}

impl From<ReplayError> for Problem {
    fn from(error: ReplayError) -> Self {
        use ReplayError as E;
        let error = match error {
            E::Store(error) => return error.into(),
            error => error,
        };
        let code = match &error {
            E::NoEntry { .. } => ProblemCode::NoEntry,
            E::UnknownRuleset { .. } | E::OtherVersion { .. } => ProblemCode::NoRules,
            E::NoModule { .. } | E::Fault(_) => ProblemCode::Module,
            E::OtherSeat(_) | E::Concealed { .. } | E::NoView { .. } => ProblemCode::Forbidden,
            E::File(_) | E::Input(_) | E::BadSetup(_) | E::BadEntry(_) | E::Untrue { .. } => {
                ProblemCode::Setup
            }
            E::TooLong { .. } | E::Page(_) => ProblemCode::TooLarge,
            E::Setup { .. } | E::Entry { .. } | E::ConcealedEntry { .. } => ProblemCode::Corrupt,
            _ => ProblemCode::Internal,
        };
        // A referee's output and command are only for the operator, who can read the service's log (RF-13).
        let failed = match &error {
            E::Fault(fault) if matches!(fault.of, FaultOf::Referee(_)) => Some(&fault.ruleset),
            E::NoModule { cause, .. } => match &**cause {
                NoRules::NoReferee { name, .. } => Some(name),
                _ => None,
            },
            _ => None,
        };
        match failed {
            Some(name) => {
                let name = name.escape_debug();
                Self::new(
                    code,
                    format!("the referee of `{name}` failed; the log of the service has the reason"),
                )
            }
            None => Self::new(code, error.to_string()),
        }
    }
}
