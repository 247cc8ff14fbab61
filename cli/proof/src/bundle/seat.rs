//! The bundle of a seat: records it may not know are left out, and none of them can be guessed (TR-20).

use std::collections::BTreeSet;

use turnfold_core::{DicePolicy, Registry, Seat, Step};
use turnfold_history::{LogEntry, ReplayError, Revision, SourceName, Viewer, rules_of};
use turnfold_store::{BranchName, Entry, IdempotencyKey, MatchName, Seq};

use super::outline::{BundleOutline, BundledMatch};
use super::records::{BranchIndex, BundleRecords, BundledRecord, StoreRecords, TakeRecord};
use crate::error::ProofError;

/// How idempotency keys begin that no one can guess: those of orders, papers, and turns that a desk announced.
const UNGUESSABLE: [&str; 3] = ["order:", "paper:", "turn:"];

/// Separates an idempotency key from a nonce of 128 bits in hex, which only the host can compute. In play by mail the nonce
/// keeps others from guessing a roll that one seat alone learns (PM-5).
pub const NONCE: &str = ":nonce:";
/// How many hex digits a nonce has.
pub const NONCE_DIGITS: usize = 32;

/// Returns an idempotency key without its nonce; `None` if it has no nonce.
#[must_use]
pub fn without_nonce(key: &str) -> Option<&str> {
    let (key, nonce) = key.split_once(NONCE)?;
    let are_digits = nonce.chars().all(|digit| matches!(digit, '0'..='9' | 'a'..='f'));
    (are_digits && nonce.len() == NONCE_DIGITS).then_some(key)
}

/// Matches of a store as a seat may know them.
pub struct SeatRecords<'a> {
    records: StoreRecords<'a>,
    outline: BundleOutline,
    left_out: BTreeSet<(BranchIndex, Seq)>,
}

impl<'a> SeatRecords<'a> {
    /// Leaves out every record that the seat may not fully know at the end of a branch that has it, and every other record of
    /// the same append.
    ///
    /// # Errors
    /// [`ProofError::Guessable`] if a left-out record could be guessed from the others.
    pub fn of(records: StoreRecords<'a>, viewer: Viewer, registry: &Registry) -> Result<Self, ProofError> {
        let hidden = hidden_from(&records, viewer, registry)?;
        Ok(Self::without(records, &hidden))
    }

    /// Leaves out what any of these seats may not know. What each may know is taken from the matches as they are `now`, which
    /// continue these records.
    ///
    /// # Errors
    /// As for [`of`](Self::of).
    pub fn of_all(
        records: StoreRecords<'a>,
        now: &StoreRecords<'_>,
        viewers: &[Viewer],
        registry: &Registry,
    ) -> Result<Self, ProofError> {
        let mut hidden = HiddenRecords::new();
        for viewer in viewers {
            hidden.extend(hidden_from(now, *viewer, registry)?);
        }
        Ok(Self::without(records, &hidden))
    }

    fn without(records: StoreRecords<'a>, hidden: &HiddenRecords) -> Self {
        let mut outline = records.outline().clone();
        let mut left_out = BTreeSet::new();
        for (match_index, bundled) in outline.matches.iter_mut().enumerate() {
            for (branch_index, branch) in bundled.branches.iter_mut().enumerate() {
                let from = (bundled.name.clone(), branch.name.clone(), branch.first);
                let to = (bundled.name.clone(), branch.name.clone(), branch.size());
                for (_, _, seq) in hidden.range(from..to) {
                    branch.left_out += 1;
                    left_out.insert(((match_index, branch_index), *seq));
                }
            }
        }
        Self { records, outline, left_out }
    }
}

/// Records to leave out: the match, the branch that owns the record, and its number.
type HiddenRecords = BTreeSet<(MatchName, BranchName, Seq)>;

fn hidden_from(
    records: &StoreRecords<'_>,
    viewer: Viewer,
    registry: &Registry,
) -> Result<HiddenRecords, ProofError> {
    let mut found = HiddenRecords::new();
    if viewer.sees_all() {
        return Ok(found);
    }
    for bundled in &records.outline().matches {
        for (branch, seq) in hidden_in(records, bundled, viewer, registry)? {
            let Some(branch) = bundled.branches.get(branch) else { continue };
            found.insert((bundled.name.clone(), branch.name.clone(), seq));
        }
    }
    Ok(found)
}

impl BundleRecords for SeatRecords<'_> {
    fn outline(&self) -> &BundleOutline {
        &self.outline
    }

    fn each(&self, take: &mut TakeRecord<'_>) -> Result<(), ProofError> {
        let mut next: (Option<BranchIndex>, Seq) = (None, 0);
        self.records.each(&mut |index, record| {
            if next.0 != Some(index) {
                next = (Some(index), self.outline.branch(index).map_or(0, |branch| branch.first));
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

fn hidden_in(
    records: &StoreRecords<'_>,
    bundled: &BundledMatch,
    viewer: Viewer,
    registry: &Registry,
) -> Result<BTreeSet<(usize, Seq)>, ProofError> {
    let guessable = |what: &str| Err(ProofError::Guessable { what: what.into(), viewer });
    if matches!(bundled.genesis.dice, DicePolicy::Seeded(_)) {
        return guessable(&format!("`{}` has the seed of its dice in its setup", bundled.name));
    }
    let mut hidden = BTreeSet::new();
    let mut keys: BTreeSet<IdempotencyKey> = BTreeSet::new();
    let mut all: Vec<(usize, Entry)> = Vec::new();
    let ancestry = bundled.ancestry();
    for (branch, found) in bundled.branches.iter().enumerate() {
        let revision = Revision { match_name: bundled.name.clone(), branch: found.name.clone(), seq: None };
        let name = SourceName::Revision(revision.clone());
        let rules = rules_of(&bundled.genesis, &revision, registry)?;
        let mut state = rules.start(&bundled.genesis.setup)?;
        if !viewer.may_have_setup(&*rules, &bundled.genesis.setup, &*state)? {
            return guessable(&format!("the setup of `{}` reveals what is dealt", bundled.name));
        }
        // The link of an origin covers every entry of that match, also those that this bundle does not reach.
        if state.has_secrets() && !bundled.genesis.origins.is_empty() {
            return guessable(&format!(
                "`{}` was migrated and has a link over its concealed entries",
                bundled.name
            ));
        }
        let mut of_key = Vec::new();
        let mut log = Vec::new();
        let last = found.size().saturating_sub(1);
        for entry in records.store().read(&bundled.name, &found.name, Some(last))?.entries {
            if entry.seq >= found.first {
                all.push((branch, entry.clone()));
            }
            of_key.push(entry.idempotency_key.clone());
            log.push(LogEntry::from(entry));
        }
        let mut index = 0;
        let observe = &mut |step: &mut dyn Step| {
            if !step.wholly_shown() {
                hidden.insert((ancestry.holder(branch, step.seq()), step.seq()));
                keys.extend(of_key.get(index).cloned().flatten());
            }
            index += 1;
        };
        viewer
            .fold(state.as_mut(), &LogEntry::all_logged(&log), &bundled.genesis.dice, None, observe)
            .map_err(|cause| ReplayError::Entry(name, cause))?;
    }
    let concealed = hidden.clone();
    for (branch, Entry { seq, seat, idempotency_key, .. }) in all {
        let mut has_nonce = false;
        let mut is_safe = false;
        if let Some(key) = idempotency_key {
            has_nonce = without_nonce(key.as_str()).is_some();
            is_safe = UNGUESSABLE.iter().any(|begin| key.as_str().starts_with(begin));
            if keys.contains(&key) {
                hidden.insert((branch, seq));
            }
        }
        if seat == Seat::Host && concealed.contains(&(branch, seq)) && !has_nonce {
            return guessable(&format!("entry {seq} of `{}` is a roll, which has few values", bundled.name));
        }
        // Commands of the host are shown to all in most games and at a desk, so they reveal no secret of a player.
        let is_open = viewer == Viewer::of(seat) || seat == Seat::Host && !hidden.contains(&(branch, seq));
        // This holds for all commands of other players, left out or not. Otherwise the refusal would reveal that one is hidden.
        if !is_open && !is_safe {
            return guessable(&format!(
                "entry {seq} of `{}` has no key that begins with `order:`",
                bundled.name
            ));
        }
    }
    Ok(hidden)
}
