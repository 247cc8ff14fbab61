//! The places for streams: so many in all, and of each token.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use turnfold_core::Digest;

use crate::problem::{ApiResult, Code, Problem};

/// The streams that there are.
pub(crate) struct Streams {
    most: usize,
    counts: Arc<Mutex<Counts>>,
}

#[derive(Default)]
struct Counts {
    all: usize,
    by_token: BTreeMap<Digest, usize>,
}

impl Streams {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, counts: Arc::default() }
    }

    pub(crate) fn count(&self) -> usize {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).all
    }

    /// Returns the hashes of the tokens that have streams.
    pub(crate) fn tokens(&self) -> Vec<Digest> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.by_token.keys().copied().collect()
    }

    /// Takes a place, of which a token has so many.
    pub(crate) fn take(&self, token: Digest, most_of_token: usize) -> ApiResult<Place> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.all >= self.most {
            return Err(Problem::overloaded("too many streams at once"));
        }
        let of_token = counts.by_token.entry(token).or_default();
        if *of_token >= most_of_token {
            return Err(Problem::new(Code::SlowDown, "too many streams with this token; end one first"));
        }
        *of_token += 1;
        counts.all += 1;
        Ok(Place { token, counts: Arc::clone(&self.counts) })
    }
}

/// The place of a stream, until it is dropped.
pub(crate) struct Place {
    token: Digest,
    counts: Arc<Mutex<Counts>>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.all -= 1;
        if let Some(count) = counts.by_token.get_mut(&self.token) {
            *count -= 1;
            if *count == 0 {
                counts.by_token.remove(&self.token);
            }
        }
    }
}
