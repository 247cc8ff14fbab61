//! When tokens were last used (SV-42). The times are kept in memory only, because a record for each request would cost
//! more than the response.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use turnfold_core::Digest;

/// The most tokens to remember.
const TOKENS_MAX: usize = 100_000;

/// When each token was last used, in milliseconds since 1970.
#[derive(Default)]
pub(crate) struct LastSeen(Mutex<BTreeMap<Digest, i64>>);

impl LastSeen {
    pub(crate) fn note(&self, token: Digest, now_ms: i64) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Forgetting every token is better than remembering more and more of them.
        if seen.len() >= TOKENS_MAX && !seen.contains_key(&token) {
            seen.clear();
        }
        seen.insert(token, now_ms);
    }

    /// Returns when a token was last used.
    pub(crate) fn of(&self, token: &Digest) -> Option<i64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(token).copied()
    }
}
