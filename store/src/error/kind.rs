//! Classifies errors by their meaning to the caller.

use super::store::StoreError;

/// The meaning of an error to the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request is valid, but the answer is no: for example a conflict.
    Negative,
    /// The request names something that does not exist or is not possible.
    Unusable,
    /// The store or the disk is in trouble.
    Trouble,
}

impl StoreError {
    /// Returns `true` if stored data is damaged or missing. The remedy depends on where the store is.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::Corrupt { .. })
    }

    /// Classifies the error by its meaning to the caller.
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
