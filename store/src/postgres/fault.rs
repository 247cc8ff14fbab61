//! What an error of the driver or the server means for the caller (FL-20).

use std::error::Error as _;
use std::io;

use tokio_postgres::error::SqlState;

use super::connect::PATIENCE;
use crate::error::StoreError;

#[derive(Debug)]
pub(super) enum StatementFault {
    /// Nothing was recorded; retry.
    Again(String),
    /// The connection is lost, or the server cannot write. The statement may have been recorded; retry over another
    /// connection.
    Gone(String),
    /// No answer came in time. The statement may have been recorded, or may be recorded later.
    Late,
    /// A foreign key is violated: a referenced row is missing, or a deleted row is still referenced.
    Referred,
    /// A row with the same unique key exists.
    Taken,
    /// Any other error; a retry does not help.
    Store(StoreError),
}

impl From<StoreError> for StatementFault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<tokio_postgres::Error> for StatementFault {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(code) = error.code() else {
            return match error.source().and_then(|source| source.downcast_ref::<io::Error>()) {
                Some(source) => Self::Gone(source.to_string()),
                None if error.is_closed() => Self::Gone("the connection was closed".to_owned()),
                None => Self::Store(StoreError::Database { reason: text(&error) }),
            };
        };
        match code.code() {
            "40001" | "40P01" | "57014" => Self::Again(text(&error)),
            "57P01" | "57P02" | "57P03" | "25006" | "53300" => Self::Gone(text(&error)),
            class if class.starts_with("08") => Self::Gone(text(&error)),
            _ if *code == SqlState::DISK_FULL => {
                let source = io::Error::new(io::ErrorKind::StorageFull, text(&error));
                Self::Store(StoreError::Full { source })
            }
            // A pooler in transaction mode gives each transaction another server connection, with other prepared
            // statements.
            _ if [SqlState::DUPLICATE_PSTATEMENT, SqlState::INVALID_SQL_STATEMENT_NAME].contains(code) => {
                let reason = format!("{}: a pooler in transaction mode? use session mode", text(&error));
                Self::Store(StoreError::Database { reason })
            }
            _ if *code == SqlState::UNIQUE_VIOLATION => Self::Taken,
            _ if *code == SqlState::FOREIGN_KEY_VIOLATION => Self::Referred,
            _ => Self::Store(StoreError::Database { reason: text(&error) }),
        }
    }
}

pub(super) fn text(error: &tokio_postgres::Error) -> String {
    // The driver's own text omits the cause.
    let source = error.source().map(ToString::to_string);
    let text = match error.as_db_error() {
        Some(db) => db.message().to_owned(),
        None => source.unwrap_or_else(|| error.to_string()),
    };
    text.lines().next().unwrap_or_default().to_owned()
}

impl StatementFault {
    /// Returns the error for the caller once there are no more tries. `maybe` states whether a change may have been
    /// recorded.
    pub(super) fn ended(self, maybe: bool) -> StoreError {
        match self {
            Self::Again(reason) => StoreError::Unavailable { reason, maybe: false },
            Self::Gone(reason) => StoreError::Unavailable { reason, maybe },
            Self::Late => {
                let reason = format!("it took longer than {} s", PATIENCE.as_secs());
                StoreError::Unavailable { reason, maybe }
            }
            Self::Referred => {
                StoreError::Database { reason: "a row that is referred to is missing".to_owned() }
            }
            Self::Taken => StoreError::Database { reason: "a row like it is there already".to_owned() },
            Self::Store(error) => error,
        }
    }
}
