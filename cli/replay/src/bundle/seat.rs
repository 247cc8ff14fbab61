//! A seat's bundle: what it may not know is left out, and nothing of that can be guessed (TR-20).

use std::collections::BTreeSet;

use turnfold_core::{DicePolicy, Registry, Step};
use turnfold_store::{Entry, IdempotencyKey, Seq};

use super::error::BundleError;
use super::outline::{BundleOutline, BundledMatch};
use super::records::{BundledRecord, LineIndex, LineRecords, StoreRecords, TakeRecord};
use crate::entry::{LogEntry, logged};
use crate::eyes::Eyes;
use crate::line::{broken_entry, rules_of};
use crate::revision::{Revision, SourceName};

/// What a key begins with that nobody can guess: those of orders, of papers, and of turns that a desk announced.
const UNGUESSABLE: [&str; 3] = ["order:", "paper:", "turn:"];

/// Matches of a store as a seat may know them.
pub struct SeatRecords<'a> {
    records: StoreRecords<'a>,
    outline: BundleOutline,
    left_out: BTreeSet<(LineIndex, Seq)>,
}

impl<'a> SeatRecords<'a> {
    /// Finds what is to be left out: every record of which the seat may not know all at the end of some line that has it,
    /// and every other of the same append.
    ///
    /// # Errors
    /// [`BundleError::Guessable`] where what is left out could be guessed from what is there.
    pub fn of(records: StoreRecords<'a>, eyes: Eyes, registry: &Registry) -> Result<Self, BundleError> {
        let mut left_out = BTreeSet::new();
        let mut outline = records.outline().clone();
        if !eyes.see_all() {
            for (index, of) in records.outline().matches.iter().enumerate() {
                let hidden = Hidden::of(&records, of, eyes, registry)?;
                left_out.extend(hidden.records.into_iter().map(|(line, seq)| ((index, line), seq)));
            }
        }
        for ((of, line), _) in &left_out {
            if let Some(line) = outline.matches.get_mut(*of).and_then(|of| of.lines.get_mut(*line)) {
                line.left_out += 1;
            }
        }
        Ok(Self { records, outline, left_out })
    }
}

impl LineRecords for SeatRecords<'_> {
    fn outline(&self) -> &BundleOutline {
        &self.outline
    }

    fn each(&self, take: &mut TakeRecord<'_>) -> Result<(), BundleError> {
        let mut next: (Option<LineIndex>, Seq) = (None, 0);
        self.records.each(&mut |index, record| {
            if next.0 != Some(index) {
                let line = self.outline.matches.get(index.0).and_then(|of| of.lines.get(index.1));
                next = (Some(index), line.map_or(0, |line| line.first));
            }
            let seq = next.1;
            next.1 += 1;
            if self.left_out.contains(&(index, seq)) {
                return take(index, BundledRecord::LeftOut(record.leaf()));
            }
            take(index, record)
        })
    }
}

/// What a seat may not know of a match, by the lines whose own records they are.
struct Hidden {
    records: BTreeSet<(usize, Seq)>,
}

impl Hidden {
    fn of(
        store: &StoreRecords<'_>,
        of: &BundledMatch,
        eyes: Eyes,
        registry: &Registry,
    ) -> Result<Self, BundleError> {
        let guessable = |what: &str| Err(BundleError::Guessable { what: what.into(), eyes });
        if matches!(of.genesis.dice, DicePolicy::Seeded(_)) {
            return guessable(&format!("`{}` has the seed of its dice in its setup", of.name));
        }
        let mut hidden = BTreeSet::new();
        let mut keys: BTreeSet<IdempotencyKey> = BTreeSet::new();
        let mut all: Vec<(usize, Entry)> = Vec::new();
        for (line, found) in of.lines.iter().enumerate() {
            let revision = Revision { match_name: of.name.clone(), branch: found.branch.clone(), seq: None };
            let name = SourceName::Revision(revision.clone());
            let rules = rules_of(&of.genesis, &revision, registry)?;
            let mut state = rules.start(&of.genesis.setup).map_err(crate::error::ReplayError::from)?;
            let seen = state.setup_seen(&of.genesis.setup, eyes.seat());
            if seen.map_err(crate::error::ReplayError::from)? != of.genesis.setup {
                return guessable(&format!("the setup of `{}` tells what is dealt", of.name));
            }
            let entries = store.entries_of(&revision)?;
            all.extend(
                entries.iter().filter(|entry| entry.seq >= found.first).map(|entry| (line, entry.clone())),
            );
            let of_key: Vec<_> = entries.iter().map(|entry| entry.idempotency_key.clone()).collect();
            let log: Vec<_> = entries.into_iter().map(LogEntry::from).collect();
            let mut index = 0;
            let observe = &mut |step: &mut dyn Step| {
                if !step.wholly_shown() {
                    hidden.insert((of.owner(line, step.seq().saturating_add(1)), step.seq()));
                    keys.extend(of_key.get(index).cloned().flatten());
                }
                index += 1;
            };
            eyes.fold(state.as_mut(), &logged(&log), &of.genesis.dice, observe)
                .map_err(|cause| broken_entry(&name, cause))?;
        }
        for (line, Entry { seq, seat, idempotency_key: key, .. }) in all {
            if key.as_ref().is_some_and(|key| keys.contains(key)) {
                hidden.insert((line, seq));
            }
            let is_safe =
                key.is_some_and(|key| UNGUESSABLE.iter().any(|begin| key.as_str().starts_with(begin)));
            // Of all that others gave, left out or not: else the refusal would tell that they hide something.
            if seat != eyes.seat() && !is_safe {
                return guessable(&format!(
                    "entry {seq} of `{}` has no key that begins with `order:`",
                    of.name
                ));
            }
        }
        Ok(Self { records: hidden })
    }
}

impl StoreRecords<'_> {
    /// Reads all entries of a line.
    fn entries_of(&self, revision: &Revision) -> Result<Vec<Entry>, BundleError> {
        Ok(self.store().read(&revision.match_name, &revision.branch, None)?.entries)
    }
}
