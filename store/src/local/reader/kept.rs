//! The other records of a branch, compared with its entries.

use super::records::Records;
use crate::engine::{Found, KeyedEntries};
use crate::entry::Seq;
use crate::error::StoreError;
use crate::local::layout::record::IdempotencyRecord;
use crate::local::layout::{key, record};
use crate::names::IdempotencyKey;
use crate::reader::line::Line;

impl Records {
    /// Requires the index of idempotency keys to say what the entries say.
    pub(super) fn audit_keys(&self, line: &Line, mut keyed: KeyedEntries) -> Result<Vec<Found>, StoreError> {
        let Line { branch, head, .. } = line;
        let mut damage = Vec::new();
        for (key, value) in self.scan_all(key::idempotency_of(branch.id))? {
            let text = key::text_after(&key, key::ID_PREFIX).and_then(|text| text.parse().ok());
            let text: IdempotencyKey =
                text.ok_or_else(|| StoreError::damaged("an idempotency key has no proper name"))?;
            let expected = keyed.remove(&text);
            let expected = expected.map(|(first, last)| IdempotencyRecord { first, last });
            let indexed = record::read::<IdempotencyRecord>("an idempotency key", &key, &value);
            let seq = expected.map(|expected| expected.first);
            let reason = match indexed {
                Ok(indexed) if Some(indexed) == expected => continue,
                // It may have been appended since we read the head.
                Ok(indexed) if expected.is_none() && indexed.first > head.seq => continue,
                Ok(_) => {
                    format!("the idempotency key `{text}` stands for other entries than those that carry it")
                }
                Err(error) => format!("the idempotency key `{text}`: {error}"),
            };
            damage.push((seq, reason));
        }
        for (text, (first, _)) in keyed {
            damage.push((Some(first), format!("the idempotency key `{text}` is missing")));
        }
        Ok(damage)
    }

    /// Looks for entries behind the head, which a head that was set back leaves.
    pub(super) fn audit_strays(&self, line: &Line) -> Result<Option<Found>, StoreError> {
        let Line { branch, head, .. } = line;
        let last_page = self.page_at(branch.id, 0, Seq::MAX - 1)?;
        let last = match &last_page {
            Some(stored) => Some(stored.next(&stored.read()?) - 1),
            None => None,
        };
        let last = last.filter(|last| *last > head.seq);
        // Someone may have appended since we read the head; what counts is the head as it is now.
        let last = last.filter(|_| self.head(branch).is_ok_and(|now| now == *head));
        Ok(last.map(|last| (Some(last), format!("it lies behind the head, which is {}", head.seq))))
    }
}
