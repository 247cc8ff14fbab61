//! Notes, checkpoints and proofs of `turnfold_core::trust` against Cloudflare's `signed_note` and `tlog_tiles`, both ways:
//! what is written here is accepted there, byte for byte as it is written there, and what one refuses the other refuses.

use std::sync::LazyLock;

use signed_note::{Note, Signer as _, StandardSigner, StandardVerifier, VerifierList};
use tlog_tiles::tlog::{
    Error, Hash, HashReader, check_record, check_tree, prove_record, prove_tree, record_hash, stored_hashes,
    tree_hash,
};
use turnfold_core::trust::tree::{included_root, is_consistent};
use turnfold_core::trust::{
    Checkpoint, ConsistencyRequest, InclusionProof, KeyKind, PrivateKey, ProofBuilder, SignatureLine,
    SignedNote, Tree, TreeHash, VerifierKey, line_origin,
};

const SIZE_MAX: u64 = 70;

/// Where hashes of their tree are stored.
struct Stored(Vec<Hash>);

impl HashReader for Stored {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<Hash>, Error> {
        let hash = |index: &u64| usize::try_from(*index).ok().and_then(|index| self.0.get(index)).copied();
        indexes.iter().map(|index| hash(index).ok_or(Error::IndexesNotInTree)).collect()
    }
}

fn record(index: u64) -> Vec<u8> {
    // Of no length, of one byte, of more than a block of the hash.
    format!("leaf {index};").repeat(usize::try_from(index % 12).unwrap()).into_bytes()
}

/// Their tree of all sizes up to the greatest.
fn theirs() -> Stored {
    let mut stored = Stored(Vec::new());
    for index in 0..SIZE_MAX {
        let added = stored_hashes(index, &record(index), &stored).unwrap();
        stored.0.extend(added);
    }
    stored
}

/// Our leaves, and the roots of our trees of 0 and more records.
static OURS: LazyLock<(Vec<TreeHash>, Vec<TreeHash>)> = LazyLock::new(|| {
    let leaves: Vec<_> = (0..=SIZE_MAX).map(|index| TreeHash::of_record(&record(index))).collect();
    let mut tree = Tree::default();
    let grown = leaves.iter().map(|leaf| {
        tree.push(*leaf);
        tree.root()
    });
    let roots = [Tree::default().root()].into_iter().chain(grown).collect();
    (leaves, roots)
});

fn root(size: u64) -> TreeHash {
    OURS.1[usize::try_from(size).unwrap()]
}

fn built(mut builder: ProofBuilder, size: u64) -> Vec<TreeHash> {
    OURS.0.iter().take(usize::try_from(size).unwrap()).for_each(|leaf| builder.push(*leaf));
    builder.hashes()
}

fn hash(ours: TreeHash) -> Hash {
    Hash(*ours.as_bytes())
}

fn hashes(ours: &[TreeHash]) -> Vec<Hash> {
    ours.iter().copied().map(hash).collect()
}

/// A proof with one bit of each hash flipped, with one hash more, and with each hash left out.
fn spoilt(proof: &[TreeHash]) -> Vec<Vec<TreeHash>> {
    let mut all = vec![[proof, &[root(3)]].concat()];
    for (index, hash) in proof.iter().enumerate() {
        let mut bytes = *hash.as_bytes();
        bytes[index % 32] ^= 1 << (index % 8);
        let mut flipped = proof.to_vec();
        flipped[index] = TreeHash::new(bytes);
        let mut shorter = proof.to_vec();
        shorter.remove(index);
        all.extend([flipped, shorter]);
    }
    all
}

fn key() -> PrivateKey {
    let seed = std::array::from_fn(|index| u8::try_from(index).unwrap());
    PrivateKey::of_seed("games.example/ann".parse().unwrap(), KeyKind::Signer, &seed)
}

fn origin() -> String {
    line_origin(key().name(), &[0x5f; 16], "main")
}

fn our_vkey() -> VerifierKey {
    key().verifier().for_origin(&origin())
}

/// Our key as theirs, under the name of the log.
fn their_signer() -> StandardSigner {
    let file = key().to_file();
    let seed = file.trim_end().splitn(5, '+').last().unwrap();
    StandardSigner::new(&format!("PRIVATE+KEY+{}+{}+{seed}", origin(), our_vkey().id())).unwrap()
}

fn signed(size: u64) -> SignedNote {
    let text = Checkpoint { origin: origin(), size, root: root(size) }.to_string();
    let line = SignatureLine::sign(&key(), &origin(), &text);
    SignedNote::new(text, vec![line]).unwrap()
}

/// The checkpoint of a note, if ours read it and it is signed.
fn opened_by_us(note: &[u8]) -> Option<Checkpoint> {
    let note = SignedNote::read(note).ok()?;
    (note.is_signed_by(&our_vkey()) == Ok(true)).then(|| note.text().parse().ok())?
}

/// The same by theirs.
fn opened_by_them(note: &[u8]) -> Option<tlog_tiles::Checkpoint> {
    let known = VerifierList::new(vec![Box::new(StandardVerifier::new(&our_vkey().to_string()).unwrap())]);
    let note = Note::from_bytes(note).ok()?;
    let (verified, unknown) = note.verify(&known).ok()?;
    assert_eq!((verified.len(), unknown.len()), (1, 0));
    tlog_tiles::Checkpoint::from_bytes(note.text()).ok()
}

#[test]
fn tr_6_each_opens_the_notes_of_the_other_and_both_write_the_same() {
    let stored = theirs();
    for size in 0..=SIZE_MAX {
        let ours = signed(size).to_string();
        let opened = opened_by_them(ours.as_bytes()).unwrap();
        assert_eq!((opened.origin(), opened.size(), opened.extension()), (origin().as_str(), size, ""));
        assert_eq!(*opened.hash(), hash(root(size)), "the root at size {size}");

        let root = tree_hash(size, &stored).unwrap();
        let checkpoint = tlog_tiles::Checkpoint::new(&origin(), size, root, "").unwrap();
        let mut theirs = Note::new(&checkpoint.to_bytes(), &[]).unwrap();
        theirs.add_sigs(&[&their_signer()]).unwrap();
        assert_eq!(String::from_utf8(theirs.to_bytes()).unwrap(), ours, "size {size}");
        assert_eq!(opened_by_us(&theirs.to_bytes()).unwrap().size, size);
    }
}

#[test]
fn tr_8_neither_opens_a_note_with_any_byte_changed() {
    let note = signed(7).to_string();
    for index in 0..note.len() {
        for bit in 0..8 {
            let mut spoilt = note.clone().into_bytes();
            spoilt[index] ^= 1 << bit;
            assert!(opened_by_them(&spoilt).is_none(), "byte {index}, bit {bit}");
            assert!(opened_by_us(&spoilt).is_none(), "byte {index}, bit {bit}");
        }
        assert!(opened_by_them(&note.as_bytes()[..index]).is_none());
        assert!(opened_by_us(&note.as_bytes()[..index]).is_none());
    }
    // Lines of others are kept by both and count for neither.
    let stranger = PrivateKey::of_seed(key().name().clone(), KeyKind::Signer, &[9; 32]);
    let text = signed(7).text().to_owned();
    let theirs = SignatureLine::sign(&stranger, &origin(), &text);
    let alone = SignedNote::new(text, vec![theirs.clone()]).unwrap().to_string();
    assert!(opened_by_them(alone.as_bytes()).is_none() && opened_by_us(alone.as_bytes()).is_none());
    let both = signed(7).with([theirs]).unwrap().to_string();
    assert_eq!(Note::from_bytes(both.as_bytes()).unwrap().to_bytes(), both.as_bytes());
}

#[test]
fn tr_9_each_reads_the_keys_of_the_other() {
    let signer = StandardSigner::new(key().to_file().trim_end()).unwrap();
    assert_eq!(format!("{:08x}", signer.key_id()), key().verifier().id().to_string());
    for wrong in ["games.example/bob", "games.example/ann "] {
        let vkey = key().verifier().to_string().replace("games.example/ann", wrong);
        assert!(StandardVerifier::new(&vkey).is_err(), "{vkey}");
        assert!(vkey.parse::<VerifierKey>().is_err(), "{vkey}");
    }
}

#[test]
fn tr_13_each_accepts_the_inclusion_proofs_of_the_other_and_refuses_what_is_spoilt() {
    let stored = theirs();
    for size in 1..=SIZE_MAX {
        let (note, tree) = (signed(size), hash(root(size)));
        for index in 0..size {
            let proof = built(ProofBuilder::inclusion(index, size).unwrap(), size);
            assert_eq!(hashes(&proof), prove_record(size, index, &stored).unwrap(), "{index} in {size}");
            let leaf = record_hash(&record(index));
            let theirs =
                |proof: &[TreeHash], index| check_record(&hashes(proof), size, tree, index, leaf).is_ok();
            let own = TreeHash::of_record(&record(index));
            let ours = |proof: &[TreeHash], index| included_root(proof, index, size, own) == Some(root(size));
            assert!(theirs(&proof, index) && ours(&proof, index), "{index} in {size}");
            for spoilt in spoilt(&proof) {
                assert!(!theirs(&spoilt, index) && !ours(&spoilt, index), "{index} in {size}");
            }
            for other in (0..size).filter(|other| *other != index) {
                assert!(!theirs(&proof, other) && !ours(&proof, other), "{index} as {other} in {size}");
            }
            // As a file.
            let proof = InclusionProof { record: record(index), index, hashes: proof, note: note.clone() };
            let read = InclusionProof::read(proof.to_string().as_bytes()).unwrap();
            assert_eq!(read.checkpoint().unwrap().size, size);
        }
        assert!(prove_record(size, size, &stored).is_err() && ProofBuilder::inclusion(size, size).is_none());
    }
}

#[test]
fn tr_14_each_accepts_the_consistency_proofs_of_the_other_and_refuses_what_is_spoilt() {
    let stored = theirs();
    for size in 1..=SIZE_MAX {
        for old in 1..=size {
            let proof = built(ProofBuilder::consistency(old, size).unwrap(), size);
            assert_eq!(hashes(&proof), prove_tree(size, old, &stored).unwrap(), "{old} to {size}");
            let agreed = |proof: &[TreeHash], old: u64, before: TreeHash| {
                let theirs = check_tree(&hashes(proof), size, hash(root(size)), old, hash(before)).is_ok();
                let ours = is_consistent(proof, (old, before), (size, root(size)));
                assert_eq!(theirs, ours, "{old} to {size}");
                ours
            };
            assert!(agreed(&proof, old, root(old)));
            for spoilt in spoilt(&proof) {
                assert!(!agreed(&spoilt, old, root(old)), "{old} to {size}");
            }
            assert!(!agreed(&proof, old, root(SIZE_MAX + 1)), "another old root");
            assert!(old == 1 || !agreed(&proof, old - 1, root(old - 1)), "{old} as {}", old - 1);
            // As a file.
            let request = ConsistencyRequest { old, hashes: proof, note: signed(size) };
            assert_eq!(ConsistencyRequest::read(request.to_string().as_bytes()), Ok(request));
        }
        assert!(prove_tree(size, size + 1, &stored).is_err());
        assert!(ProofBuilder::consistency(size + 1, size).is_none());
    }
}
