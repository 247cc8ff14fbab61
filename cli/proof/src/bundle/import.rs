//! Importing a bundle into a store: a new match keeps its identity, a known one gets its new entries (TR-20a).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use turnfold_core::{AnyRules, Digest, Registry};
use turnfold_history::recorded_rules;
use turnfold_store::{BranchName, Entry, MatchName, NewEntries, NewEntry, Seq, Store, StoreReader};

use self::links::{BundledLinks, stored_link};

use crate::audit::{AuditRow, require_sound};
use crate::bundle::sizes::BranchFinder;
use crate::bundle::{
    BranchIndex, BundleOutline, BundleRecords, BundleRules, BundledBranch, BundledMatch, BundledModule,
    BundledRecord, StoreRecords,
};
use crate::error::ProofError;

mod links;

/// The most entries without a key that are appended at a time.
const RUN: usize = 4096;

/// Names to use in the store.
#[derive(Clone, Debug, Default)]
pub struct ImportNames {
    /// For a match, instead of its own.
    pub match_name: Option<MatchName>,
    /// For a branch that diverges from the stored one.
    pub branch: Option<BranchName>,
}

/// What the import does with a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchChange {
    /// Nothing: the store has all its entries.
    UpToDate,
    /// Extends the stored branch, which ends at this entry.
    Forward(Seq),
    /// Creates the branch, on this one after this entry; `main` of a new match begins on no other.
    New(Option<(BranchName, Seq)>),
}

/// Writes only its kind.
impl Serialize for BranchChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::UpToDate => "up_to_date",
            Self::Forward(_) => "forward",
            Self::New(_) => "new",
        })
    }
}

/// A branch of a bundle, and what the import does with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportedBranch {
    /// The match in the store.
    #[serde(rename = "match")]
    pub match_name: MatchName,
    /// The branch in the store.
    pub branch: BranchName,
    /// What the import does.
    pub change: BranchChange,
    /// How many entries are added.
    pub added: u64,
    #[serde(skip)]
    index: BranchIndex,
}

/// A plan for importing a bundle, made before anything is written.
pub struct ImportPlan<'a> {
    records: &'a dyn BundleRecords,
    /// The branches in the order of the bundle.
    pub branches: Vec<ImportedBranch>,
    /// The modules of the bundle that its matches need and that this program may lack (MD-10).
    pub bundled: Vec<(&'a BundledModule, Arc<dyn AnyRules>)>,
    /// The modules that judged the matches, in the order of the bundle (MD-9).
    modules: Vec<Option<Digest>>,
    /// Why the rules could not be checked, if this build does not have them.
    pub not_checked: Option<String>,
}

impl<'a> ImportPlan<'a> {
    /// Makes the plan. A bundle is refused if its chain does not recompute, its rules reject it, or records are left out.
    /// `rows` is the audit of these records, with [`AuditQuestion::of_import`].
    ///
    /// [`AuditQuestion::of_import`]: crate::audit::AuditQuestion::of_import
    ///
    /// # Errors
    /// [`ProofError`].
    pub fn of(
        records: &'a dyn BundleRecords,
        rows: &[AuditRow],
        store: Option<&StoreReader>,
        registry: &Registry,
        names: &ImportNames,
    ) -> Result<Self, ProofError> {
        let not_checked = require_sound(rows)?;
        let outline = records.outline();
        if names.match_name.is_some() && outline.matches.len() != 1 {
            let found = outline.matches.len();
            return Err(ProofError::Unusable(format!("`--name` is for one match, the bundle has {found}")));
        }
        let links = BundledLinks::read(records)?;
        let stored = stored_names(store, outline)?;
        let mut branches = Vec::new();
        for (index, bundled) in outline.matches.iter().enumerate() {
            let planning = Planning { bundled, index, links: &links, names };
            match store.zip(stored.get(&bundled.genesis.match_id)) {
                Some((store, name)) => branches.extend(planning.known(store, name)?),
                None => branches.extend(planning.unknown(store)?),
            }
        }
        if let Some(asked) = &names.branch
            && !branches.iter().any(|branch| branch.branch == *asked)
        {
            return Err(ProofError::Refused(
                "no branch diverges from a stored one, so `--branch` has none to name".into(),
            ));
        }
        let rules = BundleRules::of(outline, registry);
        let mut modules = Vec::new();
        for bundled in &outline.matches {
            let recorded = recorded_rules(&bundled.genesis, &rules.registry);
            modules.push(recorded.ok().and_then(|rules| rules.module()));
        }
        Ok(Self { records, branches, bundled: rules.used(outline), modules, not_checked })
    }

    /// Applies the plan. Safe to repeat after an interruption.
    ///
    /// # Errors
    /// What cannot be read or written.
    pub fn carry_out(&self, store: &Store) -> Result<(), ProofError> {
        let outline = self.records.outline();
        let mut writer = EntryWriter { store, modules: &self.modules, waiting: Vec::new(), target: None };
        let mut current = None;
        let mut branches = self.branches.iter().peekable();
        self.records.each(&mut |index, record| {
            if current != Some(index) {
                writer.flush()?;
                while let Some(branch) = branches.next_if(|branch| branch.index <= index) {
                    writer.begin(branch, outline)?;
                }
                current = Some(index);
            }
            if let BundledRecord::Shown(bytes, _) = record {
                writer.take(index, bytes)?;
            }
            Ok(())
        })?;
        writer.flush()?;
        for branch in branches {
            writer.begin(branch, outline)?;
        }
        Ok(())
    }
}

/// Finds the names that the matches of a bundle have in the store, by their ids.
fn stored_names(
    store: Option<&StoreReader>,
    outline: &BundleOutline,
) -> Result<BTreeMap<[u8; 16], MatchName>, ProofError> {
    let mut names = BTreeMap::new();
    let Some(store) = store else { return Ok(names) };
    let bundled: BTreeMap<_, _> =
        outline.matches.iter().map(|bundled| (bundled.genesis.match_id, &bundled.genesis)).collect();
    for info in store.matches_after(None)? {
        let info = info?;
        let Some(genesis) = bundled.get(&info.genesis.match_id) else { continue };
        if info.genesis.link() != genesis.link() {
            let name = info.name;
            return Err(ProofError::Refused(format!("match `{name}` has the same id and another setup")));
        }
        names.insert(info.genesis.match_id, info.name);
    }
    Ok(names)
}

struct Planning<'a> {
    bundled: &'a BundledMatch,
    index: usize,
    links: &'a BundledLinks<'a>,
    names: &'a ImportNames,
}

impl Planning<'_> {
    fn unknown(&self, store: Option<&StoreReader>) -> Result<Vec<ImportedBranch>, ProofError> {
        let name = self.names.match_name.as_ref().unwrap_or(&self.bundled.name).clone();
        if store.is_some_and(|store| store.genesis(&name).is_ok()) {
            return Err(ProofError::Refused(format!(
                "another match has the name `{name}`; give this one another with `--name`"
            )));
        }
        let branches = self.bundled.branches.iter().enumerate();
        Ok(branches.map(|(index, found)| self.new_branch(&name, index, found)).collect())
    }

    fn new_branch(&self, name: &MatchName, index: usize, found: &BundledBranch) -> ImportedBranch {
        let mut from = None;
        // The Genesis is a record, but no entry.
        let mut added = found.count.saturating_sub(1);
        if let Some(parent) = self.bundled.parent_of(found) {
            from = Some((parent.name.clone(), found.first.saturating_sub(1)));
            added = found.count;
        }
        let match_name = name.clone();
        let change = BranchChange::New(from);
        ImportedBranch { match_name, branch: found.name.clone(), change, added, index: (self.index, index) }
    }

    fn known(&self, store: &StoreReader, name: &MatchName) -> Result<Vec<ImportedBranch>, ProofError> {
        if let Some(asked) = self.names.match_name.as_ref().filter(|asked| *asked != name) {
            return Err(ProofError::Unusable(format!("the store has this match as `{name}`, not `{asked}`")));
        }
        let stored = StoreRecords::of(store, std::slice::from_ref(name))?;
        let stored = BranchFinder::of(stored.outline());
        let mut branches = Vec::new();
        for (index, found) in self.bundled.branches.iter().enumerate() {
            let Some(other) = stored.branch(0, found.name.as_str()) else {
                branches.push(self.new_branch(name, index, found));
                continue;
            };
            let last = found.size().saturating_sub(1);
            let head = stored.size((0, other)).saturating_sub(1);
            let same =
                self.last_shared(index, last.min(head), |seq| stored_link(store, &stored, other, seq))?;
            let match_name = name.clone();
            let mut branch = found.name.clone();
            let change = if same == last {
                BranchChange::UpToDate
            } else if same == head {
                BranchChange::Forward(head)
            } else {
                branch = self.name_of_parted(store, name, &found.name, same)?;
                BranchChange::New(Some((found.name.clone(), same)))
            };
            if change != BranchChange::UpToDate && same.saturating_add(1) < found.first {
                return Err(ProofError::Refused(format!(
                    "`{name}@{}` begins after entry {} in the bundle and elsewhere in the store, so it cannot be extended",
                    found.name,
                    found.first.saturating_sub(1)
                )));
            }
            let added = if change == BranchChange::UpToDate { 0 } else { last.saturating_sub(same) };
            branches.push(ImportedBranch { match_name, branch, change, added, index: (self.index, index) });
        }
        Ok(branches)
    }

    /// Returns the last entry that a branch shares with a stored branch of these links. A link covers all entries before it,
    /// so a binary search finds it.
    fn last_shared(
        &self,
        branch: usize,
        to: Seq,
        stored: impl Fn(Seq) -> Result<Option<Digest>, ProofError>,
    ) -> Result<Seq, ProofError> {
        let mut same = 0;
        let mut differs = to.saturating_add(1);
        // Most branches only got longer, so the last entry is compared first.
        let mut middle = to;
        while differs - same > 1 {
            let own = self.links.at((self.index, branch), middle);
            if own.is_some() && own == stored(middle)? {
                same = middle;
            } else {
                differs = middle;
            }
            middle = same.midpoint(differs);
        }
        Ok(same)
    }

    /// Returns the name for a branch that diverges from the stored one, if the caller gave one.
    fn name_of_parted(
        &self,
        store: &StoreReader,
        name: &MatchName,
        branch: &BranchName,
        same: Seq,
    ) -> Result<BranchName, ProofError> {
        let first = same.saturating_add(1);
        let Some(asked) = &self.names.branch else {
            return Err(ProofError::Refused(format!(
                "`{name}@{branch}` diverges from the stored branch at entry {first}; `--branch NAME` imports it under that name"
            )));
        };
        let is_bundled = self.bundled.branches.iter().any(|branch| branch.name == *asked);
        if is_bundled || store.head(name, asked).is_ok() {
            return Err(ProofError::Refused(format!(
                "match `{name}` has a branch `{asked}`; choose another name"
            )));
        }
        Ok(asked.clone())
    }
}

/// Appends entries to the store: all entries of one idempotency key at once, those without a key in runs.
struct EntryWriter<'a> {
    store: &'a Store,
    modules: &'a [Option<Digest>],
    waiting: Vec<Entry>,
    /// The branch being written, and its last entry.
    target: Option<(&'a ImportedBranch, Seq)>,
}

impl<'a> EntryWriter<'a> {
    fn begin(&mut self, branch: &'a ImportedBranch, outline: &BundleOutline) -> Result<(), ProofError> {
        let head = match &branch.change {
            BranchChange::UpToDate => {
                self.target = None;
                return Ok(());
            }
            BranchChange::Forward(head) => *head,
            BranchChange::New(Some((parent, at))) => {
                self.store.create_branch(&branch.match_name, &branch.branch, parent, *at, Vec::new())?;
                *at
            }
            BranchChange::New(None) => {
                if let Some(bundled) = outline.matches.get(branch.index.0) {
                    self.store.create_match(&branch.match_name, &bundled.genesis, Vec::new())?;
                }
                0
            }
        };
        self.target = Some((branch, head));
        Ok(())
    }

    fn take(&mut self, index: BranchIndex, record: &[u8]) -> Result<(), ProofError> {
        let Some((_, head)) = self.target.filter(|(branch, _)| branch.index == index) else { return Ok(()) };
        // The Genesis is no entry; the match was created from it.
        let Ok(entry) = Entry::decode(record) else { return Ok(()) };
        if entry.seq <= head {
            return Ok(());
        }
        if let Some(last) = self.waiting.last() {
            let is_full = self.waiting.len() >= RUN && entry.idempotency_key.is_none();
            if is_full || last.idempotency_key != entry.idempotency_key {
                self.flush()?;
            }
        }
        self.waiting.push(entry);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ProofError> {
        let waiting = std::mem::take(&mut self.waiting);
        let Some((branch, head)) = &mut self.target else { return Ok(()) };
        let Some(Entry { seq: last, idempotency_key, .. }) = waiting.last() else { return Ok(()) };
        let last = *last;
        let key = idempotency_key.clone();
        let entries = waiting.into_iter().map(|entry| {
            let Entry { seat, command, recorded_at_ms, .. } = entry;
            NewEntry { seat, command, recorded_at_ms }
        });
        let module = self.modules.get(branch.index.0).copied().flatten();
        let entries = NewEntries { entries: entries.collect(), module };
        self.store.append(&branch.match_name, &branch.branch, *head, entries, key.as_ref())?;
        *head = last;
        Ok(())
    }
}
