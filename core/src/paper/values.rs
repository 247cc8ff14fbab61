//! The values of the fields of papers, each with one spelling.

use core::fmt;
use core::str::FromStr;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::text::is_keyword;
use crate::digest::Digest;
use crate::seat::{Perspective, Seat};
use crate::text::{Malformed, joined_by, number, stored_as_text};
use crate::trust::base64;
use crate::trust::{KeyKind, PrivateKey, TreeHash, VerifierKey};

/// The id of a match; written as 32 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MatchId([u8; 16]);

/// 16 bytes from the operating system, which no one can guess; written as 32 hex digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Nonce([u8; 16]);

impl MatchId {
    /// Returns the bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// 16 bytes as 32 lowercase hex digits.
macro_rules! sixteen_bytes {
    ($($name:ident: $what:literal),+) => {$(
        impl $name {
            /// Wraps the bytes.
            #[must_use]
            pub const fn new(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(out, "{:032x}", u128::from_be_bytes(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, out)
            }
        }

        impl FromStr for $name {
            type Err = Malformed;

            fn from_str(text: &str) -> Result<Self, Malformed> {
                let is_hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
                match u128::from_str_radix(text, 16) {
                    Ok(value) if is_hex && text.len() == 32 => Ok(Self(value.to_be_bytes())),
                    _ => Err(Malformed::expected($what, text)),
                }
            }
        }
    )+};
}

sixteen_bytes!(MatchId: "a match id of 32 lowercase hex digits", Nonce: "a nonce of 32 lowercase hex digits");
stored_as_text!(MatchId, PaperLine);

/// How much of the desk a player has seen: size and root of its tree, written `7 WmH8…` without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenRoot {
    /// The number of records.
    pub size: u64,
    /// The root over them.
    pub root: TreeHash,
}

impl fmt::Display for SeenRoot {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.size, base64::encode_bare(self.root.as_bytes()))
    }
}

impl FromStr for SeenRoot {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let expected = || Malformed::expected("size and root of the desk, such as `7 WmH8…`", text);
        let (size, root) = text.split_once(' ').ok_or_else(expected)?;
        let root = base64::decode_bare(root).and_then(|root| root.try_into().ok()).ok_or_else(expected)?;
        Ok(Self { size: number(size)?, root: TreeHash::new(root) })
    }
}

fn read_piece(mut rest: &[u8], bytes: &mut Vec<u8>) {
    while let Some((first, after)) = rest.split_first() {
        let escaped = match (first, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| high * 16 + low),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// Returns `true` if a character changes how the text around it is shown.
#[must_use]
pub fn is_control(sign: char) -> bool {
    sign.is_control() || matches!(u32::from(sign), 0x2028 | 0x2029 | 0x202a..=0x202e | 0x2066..=0x2069)
}

/// A line in the alphabet of papers: printable ASCII with single spaces between words, without `=` and `|`, and without
/// words that begin with `#`, so that it can be used in a replay file as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PaperLine(String);

impl PaperLine {
    /// The longest word that can be mailed (PM-7).
    const WORD_MAX: usize = 66;
    /// What joins a piece of a word to the next (PM-67).
    pub const JOIN: &str = "%-";

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the digest of the text, by which a desk remembers an order (PM-122).
    #[must_use]
    pub fn digest(&self) -> Digest {
        Self::digest_of(core::slice::from_ref(self))
    }

    /// Writes the commands of an order on one line, joined by `; `.
    #[must_use]
    pub fn joined(plays: &[Self]) -> String {
        joined_by("; ", plays)
    }

    /// Returns the digest of an order: of its commands on one line.
    #[must_use]
    pub fn digest_of(plays: &[Self]) -> Digest {
        Digest::new(blake3::derive_key("turnfold v1 commands", Self::joined(plays).as_bytes()))
    }

    /// Decodes words of any language. A paper has other characters as the bytes of their UTF-8, each as `%` and two hex
    /// digits, and `%-` at the end of a word joins the next one (PM-67). A control character, which only a forged paper
    /// has, becomes `U+FFFD`.
    #[must_use]
    pub fn words(&self) -> String {
        let mut bytes = Vec::new();
        let mut is_joined = true;
        for word in self.0.split(' ') {
            if !is_joined {
                bytes.push(b' ');
            }
            let piece = word.strip_suffix(Self::JOIN);
            is_joined = piece.is_some();
            read_piece(piece.unwrap_or(word).as_bytes(), &mut bytes);
        }
        let text = String::from_utf8_lossy(&bytes);
        text.chars().map(|sign| if is_control(sign) { '\u{fffd}' } else { sign }).collect()
    }

    /// Decodes the name of a player (PM-94). A name that could be mistaken for other parts of a record stays encoded.
    #[must_use]
    pub fn name(&self) -> String {
        let name = self.words();
        let is_plain =
            |sign: char| sign.is_alphanumeric() || !sign.is_ascii() || " .,'()_&+/-".contains(sign);
        if name.chars().all(is_plain) { name } else { self.0.clone() }
    }

    /// Requires that the line survives whatever mailers do to a mail (PM-7). Only those who write papers require it.
    ///
    /// # Errors
    /// [`Malformed`] naming the word: one that is a keyword with its colon, begins with `>`, or is too long.
    pub fn require_mailable(&self) -> Result<(), Malformed> {
        for word in self.0.split(' ') {
            let fault = if word.len() > Self::WORD_MAX {
                format!("is longer than {} characters", Self::WORD_MAX)
            } else if word.starts_with('>') {
                "begins with `>`".into()
            } else if word.strip_suffix(':').is_some_and(is_keyword) {
                "is a keyword of papers".into()
            } else {
                continue;
            };
            return Err(Malformed(format!("`{}` cannot be mailed: the word `{word}` {fault}", self.0)));
        }
        Ok(())
    }
}

impl fmt::Display for PaperLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.0)
    }
}

impl FromStr for PaperLine {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let is_word = |word: &str| !word.is_empty() && !word.starts_with('#');
        let is_plain = |byte: u8| byte == b' ' || byte.is_ascii_graphic() && !b"=|".contains(&byte);
        if text.bytes().all(is_plain) && text.split(' ').all(is_word) {
            return Ok(Self(text.into()));
        }
        let expected = "words of printable ASCII with single spaces between them, without `=` and `|`, and no word \
                        that begins with `#`";
        Err(Malformed::expected(expected, text))
    }
}

/// The readers of a player's message (PM-41): `all`, or seats in order such as `p1,p3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audience(Vec<Seat>);

impl Audience {
    /// Returns the seats; none if all may read.
    #[must_use]
    pub fn seats(&self) -> &[Seat] {
        &self.0
    }

    /// Returns `true` if a viewer may read the message.
    #[must_use]
    pub fn has(&self, viewer: Perspective) -> bool {
        self.0.is_empty() || self.0.iter().any(|seat| viewer.may_know_as(*seat))
    }
}

impl fmt::Display for Audience {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_seats(&self.0, "all", out)
    }
}

impl FromStr for Audience {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        match read_seats(text, "all") {
            Some(seats) => Ok(Self(seats)),
            None => Err(Malformed::expected("`all`, or seats in order such as `p1,p3`", text)),
        }
    }
}

/// Writes seats such as `p1,p3`, or a word for none.
pub(crate) fn write_seats(seats: &[Seat], none: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    if seats.is_empty() {
        return out.write_str(none);
    }
    out.write_str(&joined_by(",", seats))
}

/// Reads players' seats in order, or the word for none.
pub(crate) fn read_seats(text: &str, none: &str) -> Option<Vec<Seat>> {
    if text == none {
        return Some(Vec::new());
    }
    let mut seats: Vec<Seat> = Vec::new();
    for seat in text.split(',') {
        seats.push(seat.parse().ok()?);
    }
    if seats.contains(&Seat::Host) || !seats.is_sorted_by(|one, next| one < next) {
        return None;
    }
    Some(seats)
}

/// The name and public key with which a seat signs. In logs and states it is written as a vkey.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SeatKey(VerifierKey);

impl SeatKey {
    /// The most characters of a name (PM-4).
    const NAME_MAX: usize = 64;

    /// Returns the public half of a private key.
    ///
    /// # Errors
    /// [`Malformed`] when its name is too long, or it cosigns only.
    pub fn of(key: &PrivateKey) -> Result<Self, Malformed> {
        key.verifier().try_into()
    }

    /// Reads a name, and a key as the base64 of 0x01 and its 32 bytes.
    ///
    /// # Errors
    /// [`Malformed`] if either has another form.
    pub fn read(name: &str, key: &str) -> Result<Self, Malformed> {
        VerifierKey::of_name(&name.parse()?, key)?.try_into()
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns the key without its name, as papers write it.
    #[must_use]
    pub fn to_base64(&self) -> String {
        self.0.to_base64()
    }

    /// Returns the vkey.
    #[must_use]
    pub const fn verifier(&self) -> &VerifierKey {
        &self.0
    }
}

/// Who takes a seat: `NAME KEY`, or `NAME -` without a key (PM-38). The variant order is part of the log format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Player {
    /// A player who signs papers.
    Signing(SeatKey),
    /// A player without a key.
    Plain {
        /// The name as papers have it.
        written: PaperLine,
        /// The name in its own letters (PM-94).
        name: String,
    },
}

impl Player {
    /// Reads a name of one word, and a key or `-`.
    ///
    /// # Errors
    /// [`Malformed`] if either has another form.
    pub fn read(name: &str, key: &str) -> Result<Self, Malformed> {
        if key == "-" {
            return Ok(Self::plain(name.parse()?));
        }
        Ok(Self::Signing(SeatKey::read(name, key)?))
    }

    /// Returns a player without a key, by the name as papers have it.
    #[must_use]
    pub fn plain(written: PaperLine) -> Self {
        Self::Plain { name: written.name(), written }
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Signing(key) => key.name(),
            Self::Plain { name, .. } => name,
        }
    }

    /// Returns the key, if the player has one.
    #[must_use]
    pub const fn key(&self) -> Option<&SeatKey> {
        if let Self::Signing(key) = self { Some(key) } else { None }
    }
}

impl fmt::Display for Player {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signing(key) => write!(out, "{} {}", key.name(), key.to_base64()),
            Self::Plain { written, .. } => write!(out, "{} -", written.as_str()),
        }
    }
}

impl TryFrom<VerifierKey> for SeatKey {
    type Error = Malformed;

    fn try_from(key: VerifierKey) -> Result<Self, Malformed> {
        if key.kind() != KeyKind::Signer {
            return Err(Malformed("expected a key that signs, found one that cosigns".into()));
        }
        if key.name().len() > Self::NAME_MAX {
            let expected = format!("a key name of at most {} characters", Self::NAME_MAX);
            return Err(Malformed::expected(&expected, key.name()));
        }
        Ok(Self(key))
    }
}

impl TryFrom<String> for SeatKey {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        let vkey: VerifierKey = text.parse()?;
        vkey.name().parse::<crate::trust::KeyName>()?;
        vkey.try_into()
    }
}

impl From<SeatKey> for String {
    fn from(key: SeatKey) -> Self {
        key.0.to_string()
    }
}
