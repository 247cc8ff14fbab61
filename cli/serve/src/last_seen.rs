//! When tokens were last used (SV-42). It is known while the service runs and written nowhere: a record for each request
//! would cost more than the answer.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use turnfold_core::Digest;

/// The most tokens of which it is known.
const TOKENS_MAX: usize = 100_000;

/// When each token was last used, in milliseconds since 1970.
#[derive(Default)]
pub(crate) struct LastSeen(Mutex<BTreeMap<Digest, i64>>);

impl LastSeen {
    pub(crate) fn note(&self, token: Digest, now_ms: i64) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // It is better to know nothing of those who were here than to grow with everyone who ever was.
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
