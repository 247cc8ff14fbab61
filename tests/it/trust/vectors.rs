//! The vectors of the specification. Go's `x/mod`, OpenSSL, and Rust's `signed_note` and `ct-merkle` accept them.

use turnfold_core::Digest;
use turnfold_core::trust::tree::{included_root, is_consistent};
use turnfold_core::trust::{
    Checkpoint, KeyKind, PrivateKey, SignatureLine, SignedNote, Tree, TreeHash, VerifierKey, branch_origin,
};

pub(crate) const VKEY: &str = "games.example/ann+f74b7821+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4";
pub(crate) const KEY_FILE: &str =
    "PRIVATE+KEY+games.example/ann+f74b7821+AQABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n";
pub(crate) const ORIGIN: &str = "games.example/ann/5f0c9d3e1a2b4c6d8e9f0a1b2c3d4e5f/main";
const ROOTS: [(u64, &str); 3] = [
    (1, "1bb97dcc21635d47e2663efdfd0a174686d98dd701352dd2cd06e8b43fd3d305"),
    (4, "4f631084a157c54f54fcfb23ff5eb8650c4ba160c295bb13a9832b109d52677e"),
    (7, "5a61fc2b54f9cfa71774f2432143dd40c6cb2b11947faf65a7d3da5cb65199c8"),
];
const SIGNATURE: &str =
    "9WUYTyc+mZBircwPxervfh7q8CFHztMjXp+XpRanXoCZfvrto8drdrPf5GQIg8i+zFysFsQS+qW/gba7BoO80kgL3Qk=";
const COSIGNATURE: &str = "\u{2014} witness.example/w \
    GChPGAAAAABpJIEA8uyLKey85Pc5DrGsRGRVXeI0KB6sBj556b9F7JWkJ4jE6Z+xLohnnQp7GL82wMYKjKAC7OLD/YPO/Xi+P3vLCQ==";

/// Returns bytes that count up from `first`.
pub(crate) fn seed(first: u8) -> [u8; 32] {
    std::array::from_fn(|index| first + u8::try_from(index).unwrap())
}

pub(crate) fn signer() -> PrivateKey {
    PrivateKey::of_seed("games.example/ann".parse().unwrap(), KeyKind::Signer, &seed(0))
}

pub(crate) fn witness() -> PrivateKey {
    PrivateKey::of_seed("witness.example/w".parse().unwrap(), KeyKind::Witness, &seed(0x20))
}

/// Returns the leaves of the records `leaf 0`, `leaf 1`, ….
pub(crate) fn leaves(count: u64) -> impl Iterator<Item = TreeHash> {
    (0..count).map(|index| TreeHash::of_record(format!("leaf {index}").as_bytes()))
}

pub(crate) fn root(size: u64) -> TreeHash {
    let mut tree = Tree::default();
    leaves(size).for_each(|leaf| tree.push(leaf));
    tree.root()
}

fn checkpoint(size: u64) -> Checkpoint {
    Checkpoint { origin: ORIGIN.into(), size, root: root(size) }
}

/// Returns the signed checkpoint of a size.
pub(crate) fn signed(size: u64) -> SignedNote {
    let text = checkpoint(size).to_string();
    let line = SignatureLine::sign(&signer(), ORIGIN, &text);
    SignedNote::new(text, vec![line]).unwrap()
}

#[test]
fn tr_6_keys_have_the_ids_and_forms_of_the_vectors() {
    assert_eq!(signer().verifier().to_string(), VKEY);
    assert_eq!(signer().to_file(), KEY_FILE);
    assert_eq!(PrivateKey::read(KEY_FILE).unwrap().verifier(), VKEY.parse::<VerifierKey>().unwrap());
    assert_eq!(signer().verifier().for_origin(ORIGIN).id().to_string(), "f565184f");
    let match_id = 0x5f0c_9d3e_1a2b_4c6d_8e9f_0a1b_2c3d_4e5f_u128.to_be_bytes();
    assert_eq!(branch_origin(signer().name(), &match_id, "main"), ORIGIN);
}

#[test]
fn tr_2_trees_have_the_roots_and_proofs_of_the_vectors() {
    for (size, expected) in ROOTS {
        assert_eq!(Digest::new(*root(size).as_bytes()).to_string(), expected, "the root at size {size}");
    }
    let read = |hashes: &[&str]| hashes.iter().map(|hash| hash.parse().unwrap()).collect::<Vec<TreeHash>>();
    let inclusion = read(&[
        "gxFfiUeVX6/cKifn9MCFS72Nonuxs+NAXbVxya+Nvho=",
        "+3+GnOi3tR/fcZ/IwhpHNsmMwWCoJWBqgfeKf00iYdk=",
        "T2MQhKFXxU9U/Psj/164ZQxLoWDClbsTqYMrEJ1SZ34=",
    ]);
    assert_eq!(included_root(&inclusion, 5, 7, TreeHash::of_record(b"leaf 5")), Some(root(7)));
    let consistency = read(&["AVcbVXvHBnJlDUZ8e62DN+CafzVKcgUfI7Q6eCwPSOY="]);
    assert!(is_consistent(&consistency, (4, root(4)), (7, root(7))));
}

#[test]
fn tr_6_and_tr_16_notes_are_signed_and_cosigned_as_in_the_vectors() {
    let note = signed(7);
    assert_eq!(note.to_string(), format!("{}\n\u{2014} {ORIGIN} {SIGNATURE}\n", checkpoint(7)));
    assert_eq!(note.is_signed_by(&signer().verifier().for_origin(ORIGIN)), Ok(true));
    let cosignature = SignatureLine::cosign(&witness(), note.text(), 1_764_000_000);
    assert_eq!(cosignature.to_string(), COSIGNATURE);
    let note = note.with([cosignature]).unwrap();
    assert_eq!(note.cosigned_by(&witness().verifier()), Ok(Some(1_764_000_000)));
    assert_eq!(SignedNote::read(note.to_string().as_bytes()), Ok(note));
}
