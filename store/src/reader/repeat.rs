//! Appends that are repeated with their idempotency key.

use std::ops::RangeInclusive;

use super::appended::Appended;
use super::line::Line;
use crate::engine::EngineReader;
use crate::entry::{NewEntry, Seq};
use crate::error::StoreError;

impl Line {
    /// Returns the result of an earlier append with the same idempotency key, if it appended the same.
    pub(crate) fn repeated(
        &self,
        engine: &dyn EngineReader,
        keyed: RangeInclusive<Seq>,
        entries: &[NewEntry],
    ) -> Result<Appended, StoreError> {
        let (first, last) = (*keyed.start(), *keyed.end());
        let mut stored = self.entries(engine, keyed)?;
        let mut asked = entries.iter();
        let same = loop {
            match (stored.next().transpose()?, asked.next()) {
                (Some(stored), Some(asked))
                    if (stored.seat, &stored.command) == (asked.seat, &asked.command) => {}
                (stored, asked) => break stored.is_none() && asked.is_none(),
            }
        };
        if same {
            return Ok(Appended { first, last, repeated: true });
        }
        let (match_name, branch) = self.names();
        Err(StoreError::IdempotencyKeyReused { match_name, branch, first, last })
    }
}
