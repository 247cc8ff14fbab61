//! The desks of matches by mail that the service hosts: the host's key, and the games with news (PM-31a).

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use turnfold_history::ReplayError;
use turnfold_mail::MailError;
use turnfold_proof::signing::Signers;
use turnfold_store::MatchName;

use crate::app::lock;
use crate::problem::Problem;

/// How the service hosts matches by mail.
#[derive(Clone, Debug)]
pub struct HostedMail {
    /// The host's key.
    pub signers: Arc<Signers>,
    /// The folder in which letters wait to be sent; if `None`, no letters are written.
    pub letters: Option<PathBuf>,
    /// The public address of the pages that letters link to; if `None`, letters have no links (PM-70).
    pub pages: Option<String>,
    /// The Maildir whose mails the service takes (PM-104).
    pub maildir: Option<PathBuf>,
    /// The shell command that sends a letter (PM-104).
    pub send: Option<String>,
    /// The name of the program that players type, for the commands in letters.
    pub program: &'static str,
}

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

    pub(crate) fn take_news(&self) -> BTreeSet<MatchName> {
        std::mem::take(&mut *lock(&self.news))
    }

    pub(crate) async fn notified(&self) {
        self.wake.notified().await;
    }

    pub(crate) fn notify(&self, game: MatchName) {
        lock(&self.news).insert(game);
        self.wake.notify_one();
    }
}

pub(crate) fn desk_problem(error: impl Into<MailError>) -> Problem {
    match error.into() {
        // The desk was found, so the key does not fit it.
        MailError::Unusable(_) => {
            Problem::forbidden("the key of this service does not fit the desk of the match")
        }
        error @ (MailError::Addresses { .. }
        | MailError::Outbox(_)
        | MailError::Replay(ReplayError::Input(_))
        | MailError::Proof(_)) => {
            tracing::error!(%error, "the desk cannot be signed, or a letter not be written");
            Problem::internal()
        }
        error => error.into(),
    }
}
