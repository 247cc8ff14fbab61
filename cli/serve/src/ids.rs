//! The ids of requests, by which logs and problems name them (SV-6).

use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::HeaderMap;

/// The header that carries an id.
pub(crate) const REQUEST_ID: &str = "x-request-id";

/// Makes ids of requests that bring none.
pub(crate) struct Ids {
    beginning: String,
    next: AtomicU64,
}

impl Ids {
    pub(crate) fn new(random: u64) -> Self {
        Self { beginning: format!("{random:016x}"), next: AtomicU64::new(1) }
    }

    /// Takes over the id that a request brings, or makes one.
    pub(crate) fn of(&self, headers: &HeaderMap) -> String {
        let given = headers.get(REQUEST_ID).and_then(|value| value.to_str().ok());
        let is_id =
            |id: &&str| (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
        given.filter(is_id).map_or_else(
            || format!("{}-{}", self.beginning, self.next.fetch_add(1, Ordering::Relaxed)),
            Into::into,
        )
    }
}
