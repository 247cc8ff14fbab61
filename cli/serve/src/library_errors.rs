//! What the errors of the libraries are to clients: a kind, what happened and where, and what helps.

use turnfold_replay::ReplayError;
use turnfold_store::{BranchName, MatchName, RescueError, StoreError};

use crate::problem::{Code, Problem, Remedy};

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        use StoreError as E;
        let code = match &error {
            E::NoSuchMatch { .. } | E::NoSuchBranch { .. } | E::NoSuchGrant { .. } => Code::NotFound,
            E::NoSuchSeq { .. } | E::NothingToAppend { .. } | E::NotAPlayer { .. } => Code::BadRequest,
            E::TooManyGrants { .. } => Code::SlowDown,
            E::AlreadyExists { .. } | E::BranchExists { .. } | E::GrantExists { .. } => Code::Exists,
            E::BranchInUse { .. } | E::MainBranch { .. } => Code::BranchInUse,
            E::TooLarge { .. } => Code::TooLarge,
            E::IdempotencyKeyReused { .. } => Code::KeyReused,
            E::InvitationSpent { .. } => Code::Spent,
            E::Receded { .. } => Code::Corrupt,
            E::Conflict { .. } | E::Io { .. } => Code::Store,
            E::Corrupt { .. }
            | E::Full { .. }
            | E::Unsettled { .. }
            | E::Failed { .. }
            | E::Unavailable { .. }
            | E::Database { .. } => return of_trouble(error),
            _ => Code::Internal,
        };
        Self::new(code, error.to_string())
    }
}

/// Says what happened and where; what to do next depends on where the store is.
fn of_trouble(error: StoreError) -> Problem {
    use StoreError as E;
    let (code, detail, remedy) = match error {
        E::Corrupt { match_name, branch, seq, reason } => {
            let place = place(match_name.as_ref(), branch.as_ref(), seq);
            (Code::Corrupt, format!("corrupt store: {place}{reason}"), Some(Remedy::Salvage))
        }
        E::Full { source } => {
            let detail = format!("the store's disk is full ({source}); nothing of this request was recorded");
            (Code::Full, detail, Some(Remedy::FreeSpace))
        }
        E::Failed { reason } => {
            let detail = format!("the store stopped accepting writes: {reason}");
            (Code::Store, detail, Some(Remedy::Restart))
        }
        error => (Code::Store, error.to_string(), None),
    };
    Problem::of_store(code, detail, remedy)
}

/// Writes where damage is, with a colon behind it, or nothing if that is unknown.
fn place(match_name: Option<&MatchName>, branch: Option<&BranchName>, seq: Option<u64>) -> String {
    let parts = [
        match_name.map(|name| format!("match `{name}`")),
        branch.map(|name| format!("branch `{name}`")),
        seq.map(|seq| format!("entry {seq}")),
    ];
    let mut place = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if !place.is_empty() {
        place.push_str(": ");
    }
    place
}

impl From<RescueError> for Problem {
    fn from(error: RescueError) -> Self {
        match error {
            RescueError::Store(error) => error.into(),
            error => Self::new(Code::Store, error.to_string()),
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
            E::NoEntry { .. } | E::Concealed(_) => Code::BadRequest,
            E::UnknownRuleset { .. } | E::OtherVersion { .. } => Code::NoRules,
            E::OtherSeat(_) => Code::Forbidden,
            E::File(_)
            | E::Input(_)
            | E::BadSetup(_)
            | E::BadEntry(_)
            | E::UntrueEntry { .. }
            | E::UntrueHeader { .. }
            | E::UntrueClosing { .. } => Code::Setup,
            E::TooLong { .. } | E::Page(_) => Code::TooLarge,
            E::Setup { .. } | E::Entry { .. } | E::ConcealedEntry { .. } => Code::Corrupt,
            _ => Code::Internal,
        };
        Self::new(code, error.to_string())
    }
}
