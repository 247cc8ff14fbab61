//! What an error means to its caller.

use super::store::StoreError;

/// What an error means to its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A negative answer to a proper request, such as a conflict.
    Negative,
    /// The request names something that is not there or cannot be.
    Unusable,
    /// The store or the disk is in trouble.
    Trouble,
}

impl StoreError {
    /// Returns `true` if something stored is damaged or gone. What to do about that depends on where the store is.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::Corrupt { .. })
    }

    /// Sorts the error by what it means to its caller.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Conflict { .. }
            | Self::IdempotencyKeyReused { .. }
            | Self::InvitationSpent { .. }
            | Self::LastHost { .. }
            | Self::NameTaken { .. }
            | Self::SeatTaken { .. }
            | Self::TooManyNotes { .. }
            | Self::TooManyGrants { .. } => ErrorKind::Negative,
            Self::NoSuchMatch { .. }
            | Self::NoSuchBranch { .. }
            | Self::NoSuchSeq { .. }
            | Self::AlreadyExists { .. }
            | Self::BranchExists { .. }
            | Self::BranchInUse { .. }
            | Self::OtherModule { .. }
            | Self::MainBranch { .. }
            | Self::NoSuchGrant { .. }
            | Self::NoSuchNote { .. }
            | Self::GrantExists { .. }
            | Self::NotAPlayer { .. }
            | Self::NothingToAppend { .. }
            | Self::TooLarge { .. } => ErrorKind::Unusable,
            Self::Locked { .. }
            | Self::Missing { .. }
            | Self::NotAStore { .. }
            | Self::Unreadable { .. }
            | Self::Unwritable { .. }
            | Self::UnknownFormat { .. }
            | Self::Corrupt { .. }
            | Self::Io { .. }
            | Self::Unopened { .. }
            | Self::Full { .. }
            | Self::Unsettled { .. }
            | Self::Clock
            | Self::Unavailable { .. }
            | Self::Database { .. }
            | Self::Receded { .. }
            | Self::Failed { .. } => ErrorKind::Trouble,
        }
    }
}
