//! The requests to a guest (`PROTOCOL.md`). Unknown fields are ignored.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use turnfold_core::{Perspective, Seat};

use crate::encoding::Bytes;

#[derive(Deserialize)]
pub(crate) struct Request<'a> {
    pub(crate) id: u64,
    #[serde(borrow)]
    pub(crate) op: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) args: Args<'a>,
}

/// The arguments of all operations. Each operation uses some of them; one reader for all keeps modules small.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Args<'a> {
    pub(crate) state: Option<Bytes>,
    /// The state of the match at the time of showing.
    pub(crate) now: Option<Bytes>,
    pub(crate) setup: Option<Bytes>,
    /// A setup as JSON.
    #[serde(borrow)]
    pub(crate) json: Option<&'a RawValue>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) seats: Vec<Seat>,
    pub(crate) viewer: Option<Viewer>,
    pub(crate) viewers: Vec<Viewer>,
    pub(crate) what: Vec<String>,
    pub(crate) text: String,
    pub(crate) question: String,
    /// Texts of commands.
    pub(crate) commands: Vec<String>,
    /// Bytes of commands.
    pub(crate) bytes: Vec<Bytes>,
    /// The values of a roll whose command is asked for.
    pub(crate) roll: Option<Vec<i32>>,
}

/// An entry to fold, with its command as text or bytes.
#[derive(Deserialize)]
pub(crate) struct Entry {
    pub(crate) seat: Seat,
    #[serde(default)]
    pub(crate) command: Option<String>,
    #[serde(default)]
    pub(crate) bytes: Option<Bytes>,
}

/// The viewer of a request.
#[derive(Clone, Copy)]
pub(crate) struct Viewer(pub(crate) Perspective);

impl<'de> Deserialize<'de> for Viewer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map(Self).map_err(serde::de::Error::custom)
    }
}
