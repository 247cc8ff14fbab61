//! Checkpoints of branches, signed by keys that never sign two histories; and proofs under them (TR-11 to TR-14).

use std::collections::BTreeMap;
use std::path::PathBuf;

use turnfold_core::trust::{
    Checkpoint, ConsistencyRequest, InclusionProof, KeyKind, PrivateKey, ProofBuilder, SignatureLine,
    SignedNote, Tree, TreeHash, TrustPolicy, VerifierKey, branch_origin,
};
use turnfold_history::{ReplayError, Revision, SourceName, program};
use turnfold_store::{BranchName, Seq, StoreReader};

use super::key_file::KeyFile;
use super::memory::{KeyMemory, KnownLog, Remembered};
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
        let mut keys = BTreeMap::new();
        for path in paths {
            let file = KeyFile::open(path)?.require(KeyKind::Signer)?;
            keys.insert(file.real_path()?, file);
        }
        let keys: Vec<_> = keys.into_values().collect();
        let mut names = keys.iter().map(|file| file.key.name());
        let first = names.next().ok_or_else(|| ProofError::Unusable("no key is named".into()))?;
        if let Some(other) = names.find(|name| *name != first) {
            let reason = format!("keys that sign together have one name, found `{first}` and `{other}`");
            return Err(ProofError::Unusable(reason));
        }
        let keys = keys.into_iter().map(|file| {
            let memory = KeyMemory::of(&file)?;
            Ok((file, memory))
        });
        Ok(Self { keys: keys.collect::<Result<_, ProofError>>()? })
    }

    /// Returns the origin of a branch.
    ///
    /// # Errors
    /// [`StoreError`](turnfold_store::StoreError) for an unknown match.
    pub fn origin(&self, store: &StoreReader, branch: &Revision) -> Result<String, ProofError> {
        self.origin_of(&store.genesis(&branch.match_name)?.match_id, &branch.branch)
    }

    /// Returns the origin of a branch of the match with this id.
    pub(super) fn origin_of(&self, id: &[u8; 16], branch: &BranchName) -> Result<String, ProofError> {
        Ok(branch_origin(self.first()?.name(), id, branch.as_str()))
    }

    /// Returns the notes that are remembered of a log.
    ///
    /// # Errors
    /// Every error of reading memory.
    pub fn remembered(&self, origin: &str) -> Result<Vec<SignedNote>, ProofError> {
        let notes = self.keys.iter().map(|(_, memory)| memory.note_of(origin));
        Ok(notes.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
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
        let builder = since.map(|old| stored.consistency(old)).transpose()?;
        let (roots, hashes) = stored.compare(known.iter().flat_map(KnownLog::all), builder)?;
        let checkpoint = Checkpoint { origin, size: stored.size, root: stored.root(&roots)? };
        let note = self.seal(&checkpoint, &known)?;
        let request =
            since.zip(hashes).map(|(old, hashes)| ConsistencyRequest { old, hashes, note: note.clone() });
        Ok(SignedBranch { revision: revision.at(stored.size.saturating_sub(1)), checkpoint, note, request })
    }

    /// Returns the key with this verifier key, if it is among them.
    #[must_use]
    pub fn key_of(&self, verifier: &VerifierKey) -> Option<&PrivateKey> {
        let mut keys = self.keys.iter().map(|(file, _)| &file.key);
        keys.find(|key| key.verifier() == *verifier)
    }

    /// Returns the first of the keys.
    ///
    /// # Errors
    /// [`ProofError::Unusable`] if there is none.
    pub fn first(&self) -> Result<&PrivateKey, ProofError> {
        let first = self.keys.first().map(|(file, _)| &file.key);
        first.ok_or_else(|| ProofError::Unusable("no key is named".into()))
    }

    /// Requires a branch to continue everything that was signed of it; signs nothing (TR-11).
    ///
    /// # Errors
    /// [`ProofError::RolledBack`], [`ProofError::AnotherHistory`], and what cannot be read.
    pub fn require_unforked(&self, store: &StoreReader, branch: &Revision) -> Result<(), ProofError> {
        let known = self.known(&self.origin(store, branch)?)?;
        StoredBranch::of(store, branch)?.compare(known.iter().flat_map(KnownLog::all), None).map(|_| ())
    }

    /// Returns what each key remembers of a log, under any name.
    pub(super) fn known(&self, origin: &str) -> Result<Vec<KnownLog>, ProofError> {
        self.keys.iter().map(|(_, memory)| memory.known(origin)).collect()
    }

    /// Signs a checkpoint that continues the known ones, and remembers it.
    pub(super) fn seal(&self, checkpoint: &Checkpoint, known: &[KnownLog]) -> Result<SignedNote, ProofError> {
        let text = checkpoint.to_string();
        let signatures =
            self.keys.iter().map(|(file, _)| SignatureLine::sign(&file.key, &checkpoint.origin, &text));
        let earlier =
            known.iter().flat_map(|known| &known.own).filter(|known| known.checkpoint == *checkpoint);
        let lines: Vec<_> =
            signatures.chain(earlier.flat_map(|known| known.note.signatures().iter().cloned())).collect();
        let note = unsigned(text, lines)?;
        for ((_, memory), known) in self.keys.iter().zip(known) {
            // A shorter checkpoint is signed for viewers who may not see the rest, and must not replace a longer one.
            if known
                .own
                .as_ref()
                .is_none_or(|known| known.checkpoint.size <= checkpoint.size && known.note != note)
            {
                memory.remember(&checkpoint.origin, &note)?;
            }
        }
        Ok(note)
    }

    /// Adds cosignatures to the checkpoints of a branch that they sign. Each is verified by the key of its witness in the policy,
    /// and replaces an older one of that witness.
    ///
    /// The last checkpoint of the branch is remembered with its cosignatures. An earlier one is signed again and returned,
    /// because the memory has only the last one.
    ///
    /// # Errors
    /// [`ProofError::Refused`] if nothing of the branch is remembered, and for a cosignature of another checkpoint or of a
    /// witness that the policy does not name; the memory is then unchanged.
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
        let newest = newest.ok_or_else(|| ProofError::Unusable("no key is named".into()))?;
        let mut earlier = None;
        let mut by_size: BTreeMap<u64, (Checkpoint, Vec<SignatureLine>)> = BTreeMap::new();
        for line in lines {
            let name = line.name();
            let witness = policy.witness_of(line).ok_or_else(|| {
                ProofError::Refused(format!("`{name}` is no witness of the policy; nothing was added"))
            })?;
            let mut found = Some(&newest).filter(|last| line.is_cosignature_of(&last.to_string(), witness));
            if found.is_none() {
                let earlier = match &mut earlier {
                    Some(earlier) => earlier,
                    none => {
                        none.insert(StoredBranch::of(store, &whole(revision))?.checkpoints_before(&newest)?)
                    }
                };
                let is_of = |at: &&Checkpoint| line.is_cosignature_of(&at.to_string(), witness);
                found = earlier.iter().rev().find(is_of);
            }
            let found = found.ok_or_else(|| {
                let last = newest.size.saturating_sub(1);
                let whole = whole(revision);
                ProofError::Refused(format!(
                    "the line of `{name}` cosigns no checkpoint of `{whole}` up to entry {last}; nothing was added"
                ))
            })?;
            by_size.entry(found.size).or_insert_with(|| (found.clone(), Vec::new())).1.push(line.clone());
        }
        let too_many = || ProofError::Refused("a note has at most 64 signatures".into());
        let mut signed = Vec::new();
        for (checkpoint, lines) in by_size.into_values() {
            let text = checkpoint.to_string();
            let own =
                self.keys.iter().map(|(file, _)| SignatureLine::sign(&file.key, &origin, &text)).collect();
            let mut note = unsigned(text, own)?;
            for (_, memory) in &self.keys {
                if let Some(known) = memory.of_log(&origin)?.filter(|known| known.checkpoint == checkpoint) {
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

fn unsigned(text: String, mut lines: Vec<SignatureLine>) -> Result<SignedNote, ProofError> {
    let mut kept = Vec::new();
    lines.retain(|line| {
        let is_new = !kept.contains(line);
        kept.push(line.clone());
        is_new
    });
    SignedNote::new(text, lines).ok_or_else(|| ProofError::Refused("a note has at most 64 signatures".into()))
}

fn unsigned_yet(revision: &Revision, file: &KeyFile) -> ProofError {
    ProofError::Refused(format!(
        "nothing of `{}` is signed by `{}`; `{} checkpoint sign` signs it",
        Revision { seq: None, ..revision.clone() },
        file.path.display(),
        program::name()
    ))
}

/// Proves that a branch has an entry, under the checkpoint that the key remembers of it (TR-13).
///
/// # Errors
/// [`ProofError::Refused`] if the branch was not signed up to that entry, and every error of [`Signers::sign`].
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
    let known = KeyMemory::of(file)?.of_log(&origin)?;
    let known = known.ok_or_else(|| unsigned_yet(revision, file))?;
    let size = known.checkpoint.size;
    let whole = Revision { seq: None, ..revision.clone() };
    let stored = StoredBranch { revision: revision.clone(), size, ..StoredBranch::of(store, &whole)? };
    let builder = ProofBuilder::inclusion(seq, size).ok_or_else(|| {
        if seq >= stored.full {
            return no_entry(revision, seq, stored.full);
        }
        ProofError::Refused(format!(
            "`{whole}` is signed up to entry {}, not {seq}; `{} checkpoint sign` signs the rest",
            size.saturating_sub(1),
            program::name()
        ))
    })?;
    let (_, hashes) = stored.compare([&known].into_iter(), Some(builder))?;
    let record = match seq {
        0 => store.genesis(&revision.match_name)?.encode(),
        seq => {
            let entry = store.entries(&revision.match_name, &revision.branch, seq..=seq)?.next();
            entry.ok_or_else(|| no_entry(revision, seq, stored.full))??.encode()
        }
    };
    Ok(InclusionProof { record, index: seq, hashes: hashes.unwrap_or_default(), note: known.note })
}

fn no_entry(revision: &Revision, seq: Seq, full: u64) -> ProofError {
    let history = SourceName::Revision(Revision { seq: None, ..revision.clone() });
    ReplayError::NoEntry { history, seq, head: full.saturating_sub(1) }.into()
}

/// The roots of a branch by size.
type Roots = BTreeMap<u64, TreeHash>;

/// A branch of a store to be signed.
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

    /// Reads the branch once and requires it to continue what is remembered. Returns the roots at the remembered sizes and at
    /// the size to sign, and the proof.
    fn compare<'k>(
        &self,
        known: impl Iterator<Item = &'k Remembered>,
        mut builder: Option<ProofBuilder>,
    ) -> Result<(Roots, Option<Vec<TreeHash>>), ProofError> {
        let known: Vec<_> = known.map(|known| (known.checkpoint.size, known.checkpoint.root)).collect();
        let name = || Revision { seq: None, ..self.revision.clone() }.to_string();
        if let Some((signed, _)) = known.iter().find(|(size, _)| *size > self.full) {
            return Err(ProofError::RolledBack { branch: name(), signed: *signed, found: self.full });
        }
        let mut roots: Roots = known.iter().map(|(size, _)| (*size, Tree::default().root())).collect();
        roots.insert(self.size, Tree::default().root());
        let to = roots.keys().next_back().copied().unwrap_or_default();
        let mut tree = Tree::default();
        let mut take = |record: &[u8]| {
            let leaf = TreeHash::of_record(record);
            tree.push(leaf);
            if let Some(builder) = builder.as_mut().filter(|_| tree.size() <= self.size) {
                builder.push(leaf);
            }
            if let Some(root) = roots.get_mut(&tree.size()) {
                *root = tree.root();
            }
        };
        let Revision { match_name, branch, .. } = &self.revision;
        take(&self.store.genesis(match_name)?.encode());
        for entry in self.store.entries(match_name, branch, 1..=to.saturating_sub(1))? {
            take(&entry?.encode());
        }
        if let Some((signed, _)) = known.iter().find(|(size, root)| roots.get(size) != Some(root)) {
            return Err(ProofError::AnotherHistory { branch: name(), signed: *signed, found: self.full });
        }
        Ok((roots, builder.map(|builder| builder.hashes())))
    }

    /// Returns the checkpoints of all sizes before a remembered one, smallest first.
    fn checkpoints_before(&self, last: &Checkpoint) -> Result<Vec<Checkpoint>, ProofError> {
        let Revision { match_name, branch, .. } = &self.revision;
        if last.size > self.full {
            let branch = self.revision.to_string();
            return Err(ProofError::RolledBack { branch, signed: last.size, found: self.full });
        }
        let mut tree = Tree::default();
        let mut checkpoints = Vec::new();
        let mut take = |record: &[u8]| {
            tree.push(TreeHash::of_record(record));
            checkpoints.push(Checkpoint { size: tree.size(), root: tree.root(), ..last.clone() });
        };
        take(&self.store.genesis(match_name)?.encode());
        if last.size > 1 {
            for entry in self.store.entries(match_name, branch, 1..=last.size.saturating_sub(1))? {
                take(&entry?.encode());
            }
        }
        if checkpoints.pop().as_ref() != Some(last) {
            let branch = self.revision.to_string();
            return Err(ProofError::AnotherHistory { branch, signed: last.size, found: self.full });
        }
        Ok(checkpoints)
    }

    fn root(&self, roots: &Roots) -> Result<TreeHash, ProofError> {
        roots.get(&self.size).copied().ok_or_else(|| no_entry(&self.revision, self.size, self.full))
    }
}
