//! The messages between a host and a module (MD-4): every operation, what it is asked with, and what answers it.
//!
//! `ABI.md` describes them as JSON. Requests and replies are read strictly: no field is unknown, none is missing.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use turnfold_core::any::Choice;
use turnfold_core::decode::DecodeError;
use turnfold_core::outcome::Effects;
use turnfold_core::text::as_text;
use turnfold_core::{
    Answer, DicePolicy, DueRoll, FoldError, Json, Malformed, MatchResult, Perspective, QueryError, Rejected,
    Seat, SetupError, Verdict,
};

/// The version of the messages and exports, which `turnfold_abi` answers.
pub const ABI: i32 = 1;

/// The most entries of one request to fold.
pub const ENTRIES_MAX: usize = 1_000;

/// An operation of a module.
pub trait Op: Into<Request> {
    /// What answers it.
    type Answer: Serialize + DeserializeOwned;
    /// What is answered where it has no answer.
    type Error: Serialize + DeserializeOwned;
}

/// Declares the operations: of each the fields of the request, the answer and the error.
macro_rules! ops {
    ($($(#[$doc:meta])* $op:literal $name:ident { $($(#[$attribute:meta])* $field:ident: $kind:ty),* } => $answer:ty, $error:ty;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
            #[serde(deny_unknown_fields)]
            #[allow(missing_docs, reason = "the fields are the arguments of the method of `turnfold_core::any`")]
            pub struct $name { $($(#[$attribute])* pub $field: $kind),* }

            impl Op for $name {
                type Answer = $answer;
                type Error = $error;
            }

            impl From<$name> for Request {
                fn from(op: $name) -> Self {
                    Self::$name(op)
                }
            }
        )*

        /// A request: `{"op": NAME, "with": {…}}`.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
        #[serde(tag = "op", content = "with")]
        pub enum Request {
            $($(#[$doc])* #[serde(rename = $op)] $name($name),)*
        }

        impl Request {
            /// The names of all operations.
            pub const NAMES: &[&str] = &[$($op),*];

            /// Reads a request. A derived reader would be in every module twice, once for each order of the two fields.
            ///
            /// # Errors
            /// What is wrong with the document, in one line.
            pub fn read(document: &[u8]) -> Result<Self, String> {
                let Envelope { op, with } = read(document)?;
                match &*op {
                    $($op => read(with.get().as_bytes()).map(Self::$name),)*
                    _ => Err(format!("unknown operation `{}`", op.escape_debug())),
                }
            }
        }
    };
}

ops! {
    /// What the ruleset is.
    "describe" Describe {} => Description, Never;
    /// Reads a setup.
    "read_setup" ReadSetup { toml: String } => Bytes, SetupError;
    /// Reads the table `setup` of a document.
    "read_setup_of" ReadSetupOf { document: String } => Bytes, SetupError;
    /// Writes a setup as TOML.
    "write_setup" WriteSetup { setup: Bytes } => String, SetupError;
    /// Reads a command as logs are read.
    "canonical" Canonical { command: String } => String, Malformed;
    /// Writes a command of the log.
    "command_text" CommandText { command: Bytes } => String, DecodeError;
    /// Starts a match.
    "start" Start { setup: Bytes } => Started, SetupError;
    /// Resumes a match.
    "resume" Resume { at: GivenState } => Started, DecodeError;
    /// Reads a command as someone types it.
    "read" Read { at: GivenState, command: String } => String, Malformed;
    /// Judges a command.
    "judge" Judge { at: GivenState, seat: Seat, command: String } => Verdict, Rejected;
    /// Lists what `judge` would apply.
    "legal" Legal { at: GivenState, seat: Seat } => Vec<String>, Never;
    /// Lists what random play chooses from.
    "choices" Choices { at: GivenState, seat: Seat } => Vec<Choice>, Never;
    /// Lists what `legal` chooses from.
    "candidates" Candidates { at: GivenState, seat: Seat } => Vec<String>, Never;
    /// Returns what of a command is clicked.
    "targets" Targets { at: GivenState, command: String } => turnfold_core::Targets, Never;
    /// Writes a roll.
    "roll_command" RollCommand { at: GivenState, values: Vec<i32> } => Option<String>, Never;
    /// Returns the seat that issues a command when none is named.
    "default_seat" DefaultSeat { at: GivenState, command: String } => Option<Seat>, Never;
    /// Returns as much of a setup as a viewer may know.
    "setup_seen" SetupSeen { at: GivenState, setup: Bytes, #[serde(with = "as_text")] viewer: Perspective } => Bytes, SetupError;
    /// Returns what a viewer sees.
    "view" View { at: GivenState, #[serde(with = "as_text")] viewer: Perspective } => Json, Never;
    /// Answers a question.
    "query" Query { at: GivenState, #[serde(with = "as_text")] viewer: Perspective, question: String } => Answer, QueryError;
    /// Returns a drawing.
    "picture" Picture { at: GivenState, #[serde(with = "as_text")] viewer: Perspective } => turnfold_core::picture::Picture, Never;
    /// Folds entries.
    "fold" Fold {
        at: GivenState,
        #[serde(with = "as_text")] dice: DicePolicy,
        entries: Vec<FoldEntry>,
        #[serde(rename = "as")] viewed: Option<ViewedAt>
    } => Folded, Never;
}

/// A request whose arguments have not been read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<'a> {
    #[serde(borrow)]
    op: Cow<'a, str>,
    #[serde(borrow)]
    with: &'a RawValue,
}

fn read<'a, T: Deserialize<'a>>(document: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(document).map_err(|error| error.to_string())
}

/// What a module replies: `{"answer": …}`, `{"error": …}` or `{"refused": "…"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpReply<T, E> {
    /// The operation's answer.
    Answer(T),
    /// The operation's error.
    Error(E),
    /// Why the request is none: bytes that are no document, an unknown operation, a state that is none.
    Refused(String),
}

/// The error of an operation that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Never {}

/// Bytes, written in base64 with padding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        STANDARD.decode(&*text).map(Self).map_err(|_| D::Error::custom("expected base64"))
    }
}

/// The state at which an operation is done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GivenState {
    /// Its bytes.
    pub state: Bytes,
    /// How many rolls led to it.
    pub rolls: u64,
}

/// What a ruleset is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// What the game is, in one line.
    pub summary: String,
    /// A small setup to try the game on, as TOML.
    pub example: String,
    /// The rules for players, as Markdown.
    pub rulebook: String,
    /// Terms for a match by mail, as TOML; may be empty.
    pub mail_terms: String,
    /// Whether a part of a match may be concealed from a seat.
    pub secrets: Secrecy,
    /// The reasons for ignoring a command.
    pub ignored: Vec<RuledCode>,
    /// The ruleset's own rejections.
    pub rejected: Vec<RuledCode>,
}

/// Whether a ruleset conceals anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Secrecy {
    /// All viewers have the same view.
    None,
    /// A part of a match may be concealed from a seat.
    Kept,
}

/// The name of a reason or rejection, and the rules behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuledCode {
    /// The name.
    pub code: String,
    /// The ids of the rules.
    pub rules: Vec<String>,
}

/// A state that an operation made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Started {
    /// Its bytes.
    pub state: Bytes,
    /// What all may know of it.
    pub status: StateStatus,
}

/// What all may know of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateStatus {
    /// The seats of the match's players.
    pub players: Vec<Seat>,
    /// Whether the match is over.
    pub over: bool,
    /// How it ended.
    pub result: Option<MatchResult>,
    /// The number of the turn.
    pub turn: Option<u64>,
    /// The roll that is due.
    pub due: Option<DueRoll>,
    /// How many rolls led to the state.
    pub rolls: u64,
}

/// An entry to be folded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoldEntry {
    /// Its number.
    pub seq: u64,
    /// Who gave the command.
    pub seat: Seat,
    /// The command.
    pub command: EntryCommand,
}

/// A command as people write it or as the log stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryCommand {
    /// Text, canonical or not.
    Text(String),
    /// Canonical bytes.
    Bytes(Bytes),
}

/// Who is shown the entries, and the state of the match at that time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewedAt {
    /// Who looks.
    #[serde(with = "as_text")]
    pub viewer: Perspective,
    /// The bytes of the state.
    pub now: Bytes,
}

/// What became of entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Folded {
    /// The entries that were folded: all up to the error; without one perhaps fewer than all, but one at least.
    pub steps: Vec<FoldedStep>,
    /// What all may know of the state after them.
    pub status: StateStatus,
    /// Why the entry after them cannot be folded.
    pub error: Option<FoldError>,
}

/// What became of one entry, as its viewer may know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoldedStep {
    /// The command's canonical text.
    pub command: String,
    /// The text that stands in place of it, where that is another.
    pub stand_in: Option<String>,
    /// The command's canonical bytes.
    pub command_bytes: Bytes,
    /// Whether the viewer may not know of the command.
    pub concealed: bool,
    /// Whether the viewer may know all of it.
    pub wholly_shown: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// The effects that the viewer may know of.
    pub effects: Effects,
    /// The same as a JSON array.
    pub effects_json: Json,
    /// The bytes of the state after the entry.
    pub state: Bytes,
    /// The seats of the match's players after the entry.
    pub players: Vec<Seat>,
    /// How the match ended.
    pub result: Option<MatchResult>,
    /// The number of the turn.
    pub turn: Option<u64>,
}
