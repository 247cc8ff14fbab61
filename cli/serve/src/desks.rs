//! The desks of matches by mail that the service hosts: its key, and which games have news (PM-31a).

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use turnfold_replay::mail::MailError;
use turnfold_replay::signing::{Signers, SigningError};
use turnfold_store::MatchName;

use crate::problem::{Code, Problem};

/// What the service hosts matches by mail with.
#[derive(Clone, Debug)]
pub struct HostedMail {
    /// The host's key.
    pub signers: Arc<Signers>,
    /// The folder in which letters wait to be sent; without it none are written.
    pub letters: Option<PathBuf>,
}

/// The matches by mail that are hosted.
pub(crate) struct Desks {
    pub(crate) mail: HostedMail,
    /// The games with news.
    news: Mutex<BTreeSet<MatchName>>,
    wake: Notify,
}

impl Desks {
    pub(crate) fn new(mail: HostedMail) -> Self {
        Self { mail, news: Mutex::default(), wake: Notify::new() }
    }

    /// Takes the games with news.
    pub(crate) fn take_news(&self) -> BTreeSet<MatchName> {
        std::mem::take(&mut *self.lock())
    }

    /// Waits until there is news.
    pub(crate) async fn notified(&self) {
        self.wake.notified().await;
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<MatchName>> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a game looked at soon, as a paper came.
    pub(crate) fn tell(&self, game: MatchName) {
        self.lock().insert(game);
        self.wake.notify_one();
    }
}

impl From<MailError> for Problem {
    fn from(error: MailError) -> Self {
        match error {
            // The desk was found, so it is the key that does not fit.
            MailError::Unusable(_) => {
                Self::forbidden("the key of this service does not fit the desk of the match")
            }
            MailError::Replay(error) => (*error).into(),
            MailError::Signing(error) => (*error).into(),
            error @ (MailError::Input(_) | MailError::Addresses { .. } | MailError::Outbox(_)) => {
                tracing::error!(%error, "a letter cannot be written");
                Self::internal()
            }
            error => Self::new(Code::Internal, error.to_string()),
        }
    }
}

impl From<SigningError> for Problem {
    fn from(error: SigningError) -> Self {
        match error {
            SigningError::Replay(error) => error.into(),
            error => {
                tracing::error!(%error, "cannot sign the desk");
                Self::internal()
            }
        }
    }
}
