//! Notes and checkpoints of `turnfold_core::trust` compared with Cloudflare's `signed_note` and `tlog_tiles`. Both
//! write the same bytes, each accepts what the other writes, and both refuse the same input.

use std::sync::LazyLock;

use signed_note::{Note, Signer as _, StandardSigner, StandardVerifier, VerifierList};
use tlog_tiles::tlog::{Error, Hash, HashReader, stored_hashes, tree_hash};
use turnfold_core::trust::{
    Checkpoint, KeyKind, PrivateKey, SignatureLine, SignedNote, Tree, TreeHash, VerifierKey, branch_origin,
};

const SIZE_MAX: u64 = 70;

/// The stored hashes of their tree.
struct Stored(Vec<Hash>);

impl HashReader for Stored {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<Hash>, Error> {
        let hash = |index: &u64| usize::try_from(*index).ok().and_then(|index| self.0.get(index)).copied();
        indexes.iter().map(|index| hash(index).ok_or(Error::IndexesNotInTree)).collect()
    }
}

fn record(index: u64) -> Vec<u8> {
    // Records are empty, short, or longer than a block of the hash.
    format!("leaf {index};").repeat(usize::try_from(index % 12).unwrap()).into_bytes()
}

/// Returns their tree with all sizes up to the maximum.
fn theirs() -> Stored {
    let mut stored = Stored(Vec::new());
    for index in 0..SIZE_MAX {
        let added = stored_hashes(index, &record(index), &stored).unwrap();
        stored.0.extend(added);
    }
    stored
}

/// The roots of our trees, by number of records.
static ROOTS: LazyLock<Vec<TreeHash>> = LazyLock::new(|| {
    let mut tree = Tree::default();
    let mut roots = vec![tree.root()];
    for index in 0..=SIZE_MAX {
        tree.push(TreeHash::of_record(&record(index)));
        roots.push(tree.root());
    }
    roots
});

fn root(size: u64) -> TreeHash {
    ROOTS[usize::try_from(size).unwrap()]
}

fn hash(ours: TreeHash) -> Hash {
    Hash(*ours.as_bytes())
}

fn key() -> PrivateKey {
    let seed = std::array::from_fn(|index| u8::try_from(index).unwrap());
    PrivateKey::of_seed("games.example/ann".parse().unwrap(), KeyKind::Signer, &seed)
}

fn origin() -> String {
    branch_origin(key().name(), &[0x5f; 16], "main")
}

fn our_vkey() -> VerifierKey {
    key().verifier().for_origin(&origin())
}

/// Returns our key in their form, under the name of the log.
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

/// Returns the checkpoint of a signed note as our code reads it.
fn opened_by_us(note: &[u8]) -> Option<Checkpoint> {
    let note = SignedNote::read(note).ok()?;
    (note.is_signed_by(&our_vkey()) == Ok(true)).then(|| note.text().parse().ok())?
}

/// Returns the checkpoint of a signed note as their code reads it.
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
    // Both keep signatures of other keys, and neither counts them.
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
