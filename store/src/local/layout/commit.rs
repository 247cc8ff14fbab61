//! Commits: what each adds to the watermark.

use super::watermark::{EntryRef, Watermark};
use crate::local::backend::RecordChange;

impl Watermark {
    /// Counts a commit of `changes`, which append so many entries; afterwards `last` is the end of the branch written
    /// to last.
    pub(crate) fn after(&self, changes: &[RecordChange], entries: u64, last: Option<EntryRef>) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 commit");
        hasher.update(self.digest.as_bytes());
        let length = |bytes: &[u8]| (bytes.len() as u64).to_le_bytes();
        for change in changes {
            hasher.update(&length(&change.key)).update(&change.key);
            match &change.value {
                Some(value) => hasher.update(&length(value)).update(value),
                None => hasher.update(&u64::MAX.to_le_bytes()),
            };
        }
        Self {
            commits: self.commits.saturating_add(1),
            entries: self.entries.saturating_add(entries),
            digest: hasher.finalize().into(),
            last,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_tells_apart_what_and_in_which_order() {
        let put = |key: &[u8], value: Option<&[u8]>| RecordChange {
            key: key.to_vec(),
            value: value.map(<[u8]>::to_vec),
        };
        let [a, b] = [put(b"a", Some(b"1")), put(b"b", None)];
        let digest = |changes: &[RecordChange]| Watermark::NOTHING.after(changes, 1, None).digest;
        let all = [
            digest(&[]),
            digest(&[a.clone(), b.clone()]),
            digest(&[b, a]),
            digest(&[put(b"a1", Some(b"")), put(b"b", None)]),
            digest(&[put(b"a", Some(b"1")), put(b"b", Some(b""))]),
        ];
        for (place, digest) in all.iter().enumerate() {
            assert!(!all[place + 1..].contains(digest));
        }
    }
}
