//! Keys: names, key ids, verifier keys, and the private keys that sign and cosign (TR-6, TR-7, TR-9).

use core::fmt;
use core::str::FromStr;

use alloc::format;
use alloc::string::String;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use sha2::{Digest as _, Sha256};

use super::base64;
use super::origin::BranchOrigin;
use crate::dice::fair::{Chain, Owner};
use crate::text::Malformed;

/// The beginning of the file of a private key.
const PRIVATE: &str = "PRIVATE+KEY+";

/// The name of a key of ours: parts `[a-z0-9][a-z0-9._-]*` joined by `/`, at most 100 characters (TR-7).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyName(String);

impl KeyName {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.0)
    }
}

impl FromStr for KeyName {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_part = |part: &str| {
            part.bytes().next().is_some_and(plain)
                && part.bytes().all(|byte| plain(byte) || b"._-".contains(&byte))
        };
        if text.len() <= 100 && text.split('/').all(is_part) {
            return Ok(Self(text.into()));
        }
        let expected = "a key name of at most 100 characters such as `games.example/ann`: parts of a-z, 0-9, `.`, `_` and `-` \
                        that begin with a letter or digit, joined by `/`";
        Err(Malformed::expected(expected, text))
    }
}

/// Returns `true` if a text may be a name in a signature line.
pub(super) fn is_note_name(text: &str) -> bool {
    let is_bad = |character: char| character.is_whitespace() || character.is_control() || character == '+';
    !text.is_empty() && !text.contains(is_bad)
}

/// The use of a key; a key never has both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyKind {
    /// Signs notes by Ed25519: signature type 0x01.
    Signer,
    /// Cosigns checkpoints as a witness, with a time: signature type 0x04.
    Witness,
}

impl KeyKind {
    const fn byte(self) -> u8 {
        match self {
            Self::Signer => 1,
            Self::Witness => 4,
        }
    }

    fn of_byte(byte: u8) -> Result<Self, Malformed> {
        match byte {
            1 => Ok(Self::Signer),
            4 => Ok(Self::Witness),
            _ => Err(Malformed(format!("expected a key of type 0x01 or 0x04, found type 0x{byte:02x}"))),
        }
    }
}

/// The first bytes of a key's hash, which identify the key in a signature line; shown as 8 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyId([u8; 4]);

impl KeyId {
    /// Wraps the bytes of a key id.
    #[must_use]
    pub const fn new(bytes: [u8; 4]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 4] {
        &self.0
    }

    fn of(name: &str, kind: KeyKind, public: &[u8; 32]) -> Self {
        let hash = Sha256::new().chain_update(name).chain_update([b'\n', kind.byte()]).chain_update(public);
        let [first, second, third, fourth, ..] = <[u8; 32]>::from(hash.finalize());
        Self([first, second, third, fourth])
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:08x}", u32::from_be_bytes(self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// A signature that names a known key, but is not by that key on this text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the signature of `{0}` is wrong")]
pub struct BadSignature(pub String);

/// A public key under a name (a vkey); written `NAME+ID+KEY`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    kind: KeyKind,
    public: VerifyingKey,
}

impl VerifierKey {
    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its use.
    #[must_use]
    pub const fn kind(&self) -> KeyKind {
        self.kind
    }

    /// Returns its id under its name.
    #[must_use]
    pub fn id(&self) -> KeyId {
        KeyId::of(&self.name, self.kind, self.public.as_bytes())
    }

    /// Reads a signer's key without its name: the base64 of its type and its 32 bytes, as in a vkey.
    ///
    /// # Errors
    /// [`Malformed`] if it is anything else.
    pub fn of_name(name: &KeyName, key: &str) -> Result<Self, Malformed> {
        let bytes = base64::decode(key).and_then(|bytes| <[u8; 33]>::try_from(bytes).ok());
        if let Some([kind, bytes @ ..]) = bytes
            && kind == KeyKind::Signer.byte()
            && let Some(public) = public_key(&bytes)
        {
            return Ok(Self { name: name.as_str().into(), kind: KeyKind::Signer, public });
        }
        Err(Malformed::expected("a public key in base64, after 0x01", key))
    }

    /// Returns the base64 of its type and its 32 bytes.
    #[must_use]
    pub fn to_base64(&self) -> String {
        base64::encode(&[&[self.kind.byte()], self.public.as_bytes().as_slice()].concat())
    }

    /// Returns the same key under the name of a log, as in the log's checkpoints (TR-6).
    #[must_use]
    pub fn for_origin(&self, origin: &str) -> Self {
        Self { name: origin.into(), ..self.clone() }
    }

    /// Returns `true` if the key stands for a log: the log has the key's name, or is a branch of a match under exactly
    /// that name (TR-17). A longer name that begins with the key's is another log, even if its key has the same seed.
    #[must_use]
    pub fn stands_for(&self, origin: &str) -> bool {
        origin == self.name || BranchOrigin::read(origin).is_some_and(|line| line.name == self.name)
    }

    /// Returns `true` if both are the same key, regardless of their names and uses.
    #[must_use]
    pub fn is_same_key(&self, other: &Self) -> bool {
        self.public == other.public
    }

    /// Checks a signature, strictly: no small-order keys, no second form of the same signature (TR-6).
    pub(crate) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), BadSignature> {
        let signature = Signature::from_slice(signature);
        let verified = signature.and_then(|signature| self.public.verify_strict(message, &signature));
        verified.map_err(|_| BadSignature(self.name.clone()))
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}+{}+{}", self.name, self.id(), self.to_base64())
    }
}

impl FromStr for VerifierKey {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let expected = || Malformed::expected("a verifier key, written NAME+ID+KEY", text);
        let written = WrittenKey::read(text).ok_or_else(expected)?;
        let kind = KeyKind::of_byte(written.kind)?;
        let public = public_key(&written.key).ok_or_else(expected)?;
        let read = Self { name: written.name.into(), kind, public };
        require_id(read.id(), written.id)?;
        Ok(read)
    }
}

/// Reads a public key; `None` for a weak one, because signatures by it prove nothing.
fn public_key(bytes: &[u8; 32]) -> Option<VerifyingKey> {
    VerifyingKey::from_bytes(bytes).ok().filter(|public| !public.is_weak())
}

/// The text form of a public or private key: `NAME+ID+BASE64`.
struct WrittenKey<'a> {
    name: &'a str,
    id: &'a str,
    kind: u8,
    key: [u8; 32],
}

impl<'a> WrittenKey<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let (name, rest) = text.split_once('+')?;
        let (id, key) = rest.split_once('+')?;
        let [kind, key @ ..] = <[u8; 33]>::try_from(base64::decode(key)?).ok()?;
        if is_note_name(name) { Some(Self { name, id, kind, key }) } else { None }
    }
}

fn require_id(id: KeyId, found: &str) -> Result<(), Malformed> {
    if format!("{id}") == found { Ok(()) } else { Err(Malformed::expected(&format!("key id `{id}`"), found)) }
}

/// A key that signs or cosigns. `Debug` does not show its secret.
#[derive(Clone)]
pub struct PrivateKey {
    name: KeyName,
    kind: KeyKind,
    secret: SigningKey,
}

impl PrivateKey {
    /// Makes a key of 32 bytes that no one else knows.
    #[must_use]
    pub fn of_seed(name: KeyName, kind: KeyKind, seed: &[u8; 32]) -> Self {
        Self { name, kind, secret: SigningKey::from_bytes(seed) }
    }

    /// Reads the content of a key file: one line with its line feed (TR-9).
    ///
    /// # Errors
    /// What is wrong with it; the key itself is not quoted.
    pub fn read(file: &str) -> Result<Self, Malformed> {
        let expected = || Malformed("expected one line `PRIVATE+KEY+NAME+ID+KEY` with a line feed".into());
        let line = file.strip_suffix('\n').and_then(|line| line.strip_prefix(PRIVATE));
        let written = line.and_then(WrittenKey::read).ok_or_else(expected)?;
        let key = Self::of_seed(written.name.parse()?, KeyKind::of_byte(written.kind)?, &written.key);
        require_id(key.verifier().id(), written.id)?;
        Ok(key)
    }

    /// Returns the content of its file, which is a secret.
    #[must_use]
    pub fn to_file(&self) -> String {
        let key = [&[self.kind.byte()], self.secret.as_bytes().as_slice()].concat();
        format!("{PRIVATE}{}+{}+{}\n", self.name, self.verifier().id(), base64::encode(&key))
    }

    /// Returns its name.
    #[must_use]
    pub const fn name(&self) -> &KeyName {
        &self.name
    }

    /// Returns its use.
    #[must_use]
    pub const fn kind(&self) -> KeyKind {
        self.kind
    }

    /// Returns the key with which others check what it signs.
    #[must_use]
    pub fn verifier(&self) -> VerifierKey {
        VerifierKey { name: self.name.as_str().into(), kind: self.kind, public: self.secret.verifying_key() }
    }

    /// Returns the chain of fair dice that belongs to this key (FD-1 of `dice.md`). It is a secret like the key itself.
    #[must_use]
    pub fn dice_chain(&self, owner: Owner) -> Chain {
        owner.chain(self.secret.as_bytes())
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.secret.sign(message).to_bytes()
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("PrivateKey")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}
