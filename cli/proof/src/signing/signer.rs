//! Checkpoints of branches, signed by keys that never sign two histories; and proofs under them (TR-11 to TR-14).

use std::collections::BTreeMap;
use std::path::PathBuf;

use turnfold_core::trust::{
    Checkpoint, ConsistencyRequest, InclusionProof, KeyKind, PrivateKey, ProofBuilder, SignatureLine,
    SignedNote, Tree, TreeHash, TrustPolicy, VerifierKey, branch_origin,
};
use turnfold_history::{ReplayError, Revision, SourceName};
use turnfold_store::{BranchName, Seq, StoreReader};

use super::key_file::KeyFile;
use super::memory::{KeyMemory, KnownLog, all_checkpoints};
use crate::error::ProofError;

/// Keys of one name, each with its memory, which no other process holds at the same time.
#[derive(Debug)]
pub struct Signers {
    keys: Vec<(KeyFile, KeyMemory)>,
}

/// A branch that has been signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedBranch {
    /// The branch up to the last signed entry.
    pub revision: Revision,
    /// The signed checkpoint.
    pub checkpoint: Checkpoint,
    /// The note.
    pub note: SignedNote,
    /// The proof that it continues an older checkpoint, if requested.
    pub request: Option<ConsistencyRequest>,
}

impl Signers {
    /// Reads keys that sign together (TR-12).
    ///
    /// # Errors
    /// [`ProofError::Unusable`] for keys of different names, and what is wrong with one of them.
    pub fn open(paths: &[PathBuf]) -> Result<Self, ProofError> {
        // Each key once and in a fixed order, so that processes cannot wait for each other.
        let mut by_path = BTreeMap::new();
        for path in paths {
            let file = KeyFile::open(path)?.require(KeyKind::Signer)?;
            by_path.insert(file.real_path()?, file);
        }
        let files: Vec<_> = by_path.into_values().collect();
        let first = files.first().ok_or_else(no_key)?.key.name();
        for file in &files {
            let other = file.key.name();
            if other != first {
                let reason = format!("keys that sign together have one name, found `{first}` and `{other}`");
                return Err(ProofError::Unusable(reason));
            }
        }
        let mut keys = Vec::new();
        for file in files {
            let memory = KeyMemory::of(&file)?;
            keys.push((file, memory));
        }
        Ok(Self { keys })
    }

    /// Returns the origin of a branch.
    ///
    /// # Errors
    /// [`StoreError`](turnfold_store::StoreError) for an unknown match.
    pub fn origin(&self, store: &StoreReader, branch: &Revision) -> Result<String, ProofError> {
        self.origin_of(&store.genesis(&branch.match_name)?.match_id, &branch.branch)
    }

    pub(super) fn origin_of(&self, id: &[u8; 16], branch: &BranchName) -> Result<String, ProofError> {
        Ok(branch_origin(self.first()?.name(), id, branch.as_str()))
    }

    /// Returns the notes that are remembered of a log.
    ///
    /// # Errors
    /// Every error of reading memory.
    pub fn remembered(&self, origin: &str) -> Result<Vec<SignedNote>, ProofError> {
        let mut notes = Vec::new();
        for (_, memory) in &self.keys {
            notes.extend(memory.note_of(origin)?);
        }
        Ok(notes)
    }

    /// Requires a branch to continue everything that was signed of it, then signs it up to its head or an entry. The checkpoint
    /// is remembered before it is returned.
    ///
    /// # Errors
    /// [`ProofError::RolledBack`] and [`ProofError::AnotherHistory`]; nothing is signed then.
    pub fn sign(
        &self,
        store: &StoreReader,
        revision: &Revision,
        since: Option<u64>,
    ) -> Result<SignedBranch, ProofError> {
        let origin = self.origin(store, revision)?;
        let known = self.known(&origin)?;
        let stored = StoredBranch::of(store, revision)?;
        let mut builder = match since {
            Some(old) => Some(stored.consistency(old)?),
            None => None,
        };
        let root = stored.compare(&all_checkpoints(&known), builder.as_mut())?;
        let checkpoint = Checkpoint { origin, size: stored.size, root };
        let note = self.seal(&checkpoint, &known)?;
        let mut request = None;
        if let (Some(old), Some(builder)) = (since, builder) {
            request = Some(ConsistencyRequest { old, hashes: builder.hashes(), note: note.clone() });
        }
        Ok(SignedBranch { revision: revision.at(stored.size.saturating_sub(1)), checkpoint, note, request })
    }

    /// Returns the key with this verifier key, if it is among them.
    #[must_use]
    pub fn key_of(&self, verifier: &VerifierKey) -> Option<&PrivateKey> {
        let (file, _) = self.keys.iter().find(|(file, _)| file.key.verifier() == *verifier)?;
        Some(&file.key)
    }

    /// Returns the first of the keys.
    ///
    /// # Errors
    /// [`ProofError::Unusable`] if there is none.
    pub fn first(&self) -> Result<&PrivateKey, ProofError> {
        let (file, _) = self.keys.first().ok_or_else(no_key)?;
        Ok(&file.key)
    }

    /// Requires a branch to continue everything that was signed of it; signs nothing (TR-11).
    ///
    /// # Errors
    /// [`ProofError::RolledBack`], [`ProofError::AnotherHistory`], and what cannot be read.
    pub fn require_unforked(&self, store: &StoreReader, branch: &Revision) -> Result<(), ProofError> {
        let known = self.known(&self.origin(store, branch)?)?;
        StoredBranch::of(store, branch)?.compare(&all_checkpoints(&known), None)?;
        Ok(())
    }

    pub(super) fn known(&self, origin: &str) -> Result<Vec<KnownLog>, ProofError> {
        self.keys.iter().map(|(_, memory)| memory.known(origin)).collect()
    }

    pub(super) fn seal(&self, checkpoint: &Checkpoint, known: &[KnownLog]) -> Result<SignedNote, ProofError> {
        let text = checkpoint.to_string();
        let mut lines = self.signatures(&checkpoint.origin, &text);
        for known in known {
            if let Some(own) = &known.own
                && own.checkpoint == *checkpoint
            {
                lines.extend(own.note.signatures().iter().cloned());
            }
        }
        let note = unsigned(text, lines)?;
        for ((_, memory), known) in self.keys.iter().zip(known) {
            // A shorter checkpoint is signed for viewers who may not see the rest, and must not replace a longer one.
            if let Some(own) = &known.own
                && (own.checkpoint.size > checkpoint.size || own.note == note)
            {
                continue;
            }
            memory.remember(&checkpoint.origin, &note)?;
        }
        Ok(note)
    }

    fn signatures(&self, origin: &str, text: &str) -> Vec<SignatureLine> {
        self.keys.iter().map(|(file, _)| SignatureLine::sign(&file.key, origin, text)).collect()
    }

    /// Adds cosignatures to the checkpoints of a branch that they sign. Each is verified by the key of its witness in the policy,
    /// and replaces an older one of that witness.
    ///
    /// The last checkpoint of the branch is remembered with its cosignatures. An earlier one is signed again and returned,
    /// because the memory has only the last one.
    ///
    /// # Errors
    /// [`ProofError::NotSigned`] if nothing of the branch is remembered, and [`ProofError::Refused`] for a cosignature of another
    /// checkpoint or of a witness that the policy does not name; the memory is then unchanged.
    pub fn add(
        &self,
        store: &StoreReader,
        revision: &Revision,
        lines: &[SignatureLine],
        policy: &TrustPolicy,
    ) -> Result<Vec<SignedBranch>, ProofError> {
        let origin = self.origin(store, revision)?;
        let mut newest: Option<Checkpoint> = None;
        for (file, memory) in &self.keys {
            let known = memory.of_log(&origin)?.ok_or_else(|| unsigned_yet(revision, file))?.checkpoint;
            if newest.as_ref().is_none_or(|newest| newest.size < known.size) {
                newest = Some(known);
            }
        }
        let newest = newest.ok_or_else(no_key)?;
        let mut earlier: Option<Vec<Checkpoint>> = None;
        let mut by_size: BTreeMap<u64, (Checkpoint, Vec<SignatureLine>)> = BTreeMap::new();
        for line in lines {
            let name = line.name();
            let Some(witness) = policy.witness_of(line) else {
                let reason = format!("`{name}` is no witness of the policy; nothing was added");
                return Err(ProofError::Refused(reason));
            };
            let found = if line.is_cosignature_of(&newest.to_string(), witness) {
                Some(&newest)
            } else {
                if earlier.is_none() {
                    let stored = StoredBranch::of(store, &whole(revision))?;
                    earlier = Some(stored.checkpoints_before(&newest)?);
                }
                let mut latest_first = earlier.iter().flatten().rev();
                latest_first.find(|earlier| line.is_cosignature_of(&earlier.to_string(), witness))
            };
            let Some(found) = found else {
                let last = newest.size.saturating_sub(1);
                let whole = whole(revision);
                return Err(ProofError::Refused(format!(
                    "the line of `{name}` cosigns no checkpoint of `{whole}` up to entry {last}; nothing was added"
                )));
            };
            by_size.entry(found.size).or_insert_with(|| (found.clone(), Vec::new())).1.push(line.clone());
        }
        let mut signed = Vec::new();
        for (checkpoint, lines) in by_size.into_values() {
            let text = checkpoint.to_string();
            let own = self.signatures(&origin, &text);
            let mut note = unsigned(text, own)?;
            for (_, memory) in &self.keys {
                if let Some(known) = memory.of_log(&origin)?
                    && known.checkpoint == checkpoint
                {
                    let added = known.note.replacing(lines.clone()).ok_or_else(too_many)?;
                    memory.remember(&origin, &added)?;
                    note = note.replacing(added.signatures().iter().cloned()).ok_or_else(too_many)?;
                }
            }
            note = note.replacing(lines).ok_or_else(too_many)?;
            let revision = revision.at(checkpoint.size.saturating_sub(1));
            signed.push(SignedBranch { revision, checkpoint, note, request: None });
        }
        Ok(signed)
    }
}

fn whole(revision: &Revision) -> Revision {
    Revision { seq: None, ..revision.clone() }
}

fn no_key() -> ProofError {
    ProofError::Unusable("no key is named".into())
}

fn too_many() -> ProofError {
    ProofError::Refused("a note has at most 64 signatures".into())
}

fn unsigned(text: String, lines: Vec<SignatureLine>) -> Result<SignedNote, ProofError> {
    let mut kept = Vec::new();
    for line in lines {
        if !kept.contains(&line) {
            kept.push(line);
        }
    }
    SignedNote::new(text, kept).ok_or_else(too_many)
}

fn unsigned_yet(revision: &Revision, file: &KeyFile) -> ProofError {
    ProofError::NotSigned(format!("nothing of `{}` is signed by `{}`", whole(revision), file.path.display()))
}

/// Proves that a branch has an entry, under the checkpoint that the key remembers of it (TR-13).
///
/// # Errors
/// [`ProofError::NotSigned`] if the branch was not signed up to that entry, and every error of [`Signers::sign`].
pub fn prove(
    store: &StoreReader,
    revision: &Revision,
    seq: Seq,
    file: &KeyFile,
) -> Result<InclusionProof, ProofError> {
    let origin = branch_origin(
        file.key.name(),
        &store.genesis(&revision.match_name)?.match_id,
        revision.branch.as_str(),
    );
    let known = KeyMemory::of(file)?.of_log(&origin)?.ok_or_else(|| unsigned_yet(revision, file))?;
    let size = known.checkpoint.size;
    let whole = whole(revision);
    let stored = StoredBranch { revision: revision.clone(), size, ..StoredBranch::of(store, &whole)? };
    let Some(mut builder) = ProofBuilder::inclusion(seq, size) else {
        if seq >= stored.full {
            return Err(no_entry(revision, seq, stored.full));
        }
        let last = size.saturating_sub(1);
        return Err(ProofError::NotSigned(format!("`{whole}` is signed up to entry {last}, not {seq}")));
    };
    stored.compare(&[&known.checkpoint], Some(&mut builder))?;
    let record = match seq {
        0 => store.genesis(&revision.match_name)?.encode(),
        seq => {
            let entry = store.entries(&revision.match_name, &revision.branch, seq..=seq)?.next();
            entry.ok_or_else(|| no_entry(revision, seq, stored.full))??.encode()
        }
    };
    Ok(InclusionProof { record, index: seq, hashes: builder.hashes(), note: known.note })
}

fn no_entry(revision: &Revision, seq: Seq, full: u64) -> ProofError {
    let history = SourceName::Revision(whole(revision));
    ReplayError::NoEntry { history, seq, head: full.saturating_sub(1) }.into()
}

struct StoredBranch<'a> {
    store: &'a StoreReader,
    revision: Revision,
    /// The number of its records.
    full: u64,
    /// How many of them to sign.
    size: u64,
}

impl<'a> StoredBranch<'a> {
    fn of(store: &'a StoreReader, revision: &Revision) -> Result<Self, ProofError> {
        let head = store.head(&revision.match_name, &revision.branch)?;
        let seq = revision.seq.unwrap_or(head);
        let full = head.saturating_add(1);
        if seq > head {
            return Err(no_entry(revision, seq, full));
        }
        Ok(Self { store, revision: revision.clone(), full, size: seq.saturating_add(1) })
    }

    fn consistency(&self, old: u64) -> Result<ProofBuilder, ProofError> {
        ProofBuilder::consistency(old, self.size).ok_or_else(|| {
            let size = self.size;
            ProofError::Unusable(format!("expected a size of at most {size} after `--since`, found {old}"))
        })
    }

    /// Reads the branch once and requires it to continue what is remembered. Returns the root at the size to sign; the builder
    /// gets the leaves up to there.
    fn compare(
        &self,
        known: &[&Checkpoint],
        mut builder: Option<&mut ProofBuilder>,
    ) -> Result<TreeHash, ProofError> {
        let mut tree = Tree::default();
        let mut root = tree.root();
        let mut roots = BTreeMap::new();
        let mut to = self.size;
        for known in known {
            if known.size > self.full {
                let branch = whole(&self.revision).to_string();
                return Err(ProofError::RolledBack { branch, signed: known.size, found: self.full });
            }
            roots.insert(known.size, root);
            to = to.max(known.size);
        }
        self.each_leaf(to, |leaf| {
            tree.push(leaf);
            if let Some(builder) = &mut builder
                && tree.size() <= self.size
            {
                builder.push(leaf);
            }
            if tree.size() == self.size {
                root = tree.root();
            }
            if let Some(root) = roots.get_mut(&tree.size()) {
                *root = tree.root();
            }
        })?;
        for known in known {
            if roots.get(&known.size) != Some(&known.root) {
                let branch = whole(&self.revision).to_string();
                return Err(ProofError::AnotherHistory { branch, signed: known.size, found: self.full });
            }
        }
        Ok(root)
    }

    /// Returns the checkpoints of all sizes before a remembered one, smallest first.
    fn checkpoints_before(&self, last: &Checkpoint) -> Result<Vec<Checkpoint>, ProofError> {
        if last.size > self.full {
            let branch = self.revision.to_string();
            return Err(ProofError::RolledBack { branch, signed: last.size, found: self.full });
        }
        let mut tree = Tree::default();
        let mut checkpoints = Vec::new();
        self.each_leaf(last.size, |leaf| {
            tree.push(leaf);
            checkpoints.push(Checkpoint { size: tree.size(), root: tree.root(), ..last.clone() });
        })?;
        if checkpoints.pop().as_ref() != Some(last) {
            let branch = self.revision.to_string();
            return Err(ProofError::AnotherHistory { branch, signed: last.size, found: self.full });
        }
        Ok(checkpoints)
    }

    /// Passes the leaves of the first records to `take`; of the Genesis always.
    fn each_leaf(&self, size: u64, mut take: impl FnMut(TreeHash)) -> Result<(), ProofError> {
        let Revision { match_name, branch, .. } = &self.revision;
        take(TreeHash::of_record(&self.store.genesis(match_name)?.encode()));
        for entry in self.store.entries(match_name, branch, 1..=size.saturating_sub(1))? {
            take(TreeHash::of_record(&entry?.encode()));
        }
        Ok(())
    }
}
