//! The form of bytes and texts in messages.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use turnfold_core::decode::encode_into;

/// Bytes, written in base64 with padding.
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        STANDARD.decode(&*text).map(Self).map_err(|_| D::Error::custom("expected base64"))
    }
}

pub(crate) fn push_bytes(out: &mut String, bytes: &[u8]) {
    out.push('"');
    STANDARD.encode_string(bytes, out);
    out.push('"');
}

/// Writes the postcard form of a value as a string of JSON.
pub(crate) fn push_encoded(out: &mut String, value: &impl Serialize) {
    let mut bytes = Vec::new();
    encode_into(value, &mut bytes);
    push_bytes(out, &bytes);
}

pub(crate) fn push_json(out: &mut String, value: &(impl Serialize + ?Sized)) {
    out.push_str(&serde_json::to_string(value).expect("plain data encodes"));
}

/// Writes the `Display` form of a value as a string of JSON.
pub(crate) fn push_text(out: &mut String, text: &impl Display) {
    out.push('"');
    write!(Escaped(out), "{text}").expect("writing to a string cannot fail");
    out.push('"');
}

/// Writes a comma, unless this is the first element of a list or the first member of an object.
pub(crate) fn push_comma(out: &mut String) {
    if !out.ends_with(['[', '{']) {
        out.push(',');
    }
}

/// Begins the next member of an object. Names of members need no escapes.
pub(crate) fn push_name(out: &mut String, name: &str) {
    push_comma(out);
    out.push('"');
    out.push_str(name);
    out.push_str("\":");
}

/// A string of JSON that is being written.
struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        if text.bytes().all(is_plain) {
            self.0.push_str(text);
            return Ok(());
        }
        for character in text.chars() {
            match character {
                '"' | '\\' => self.0.extend(['\\', character]),
                '\0'..='\x1f' => write!(self.0, "\\u{:04x}", u32::from(character))?,
                _ => self.0.push(character),
            }
        }
        Ok(())
    }
}
