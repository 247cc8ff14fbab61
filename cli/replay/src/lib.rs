//! Histories of turnfold: folded, compared, explained, checked, blessed, searched and shrunk.
//!
//! A *history* is a setup and its entries, from a file or from a store. Everything here works on histories of
//! any ruleset, and says what it finds as values: nothing prints, reads the environment or knows a terminal. The program
//! `turnfold` prints it; a game's own test suite asks it.
//!
//! # Golden logs in a game's own tests
//!
//! ```
//! use turnfold_core::Registry;
//!
//! // For a game of one's own: `Registry::standard().with(erase::<Nim>())`.
//! let registry = Registry::standard();
//! let report = turnfold_replay::check(&registry, "../../replays/initiative")?;
//! assert!(report.is_good(), "{report}");
//! # Ok::<(), turnfold_replay::ReplayError>(())
//! ```
//!
//! A failed [`check()`] says everything that `turnfold check` says: which entry differs, what the file records and the
//! rules compute, the rules behind it, how the states differ. [`CheckReport`] writes it as text, without color, and
//! serializes it as JSON. The trait that such a game implements, and how to write one, stands in
//! [`turnfold_core::tutorial`].
//!
//! # A tour
//!
//! ```
//! use turnfold_core::Registry;
//! use turnfold_replay::bisect::bisect;
//! use turnfold_replay::{Bisection, Viewer, History, Question, ReplayError, SeatHistory, bless, tfl};
//!
//! let script = b"turnfold replay 2
//! +++
//! ruleset = \"initiative\"
//! version = 1
//! dice = \"recorded\"
//! [setup]
//! radius = 2
//! +++
//! 1 host roll 1 2 3 4
//! ";
//! // Read a replay file, strictly, and fill in what the rules compute.
//! let replay = bless::bless(&tfl::read("duel.tfl", script, &Registry::standard())?)?;
//! let entry = replay.entries().next().expect("there is one");
//! assert!(entry.to_string().starts_with("1 host roll 1 2 3 4 => rolled p1=3 p2=7; "));
//!
//! // Look at it with the viewer of a seat, and find the entry that makes something true.
//! let line = History::of_replay("duel.tfl".as_ref(), &replay)?;
//! let sight = SeatHistory::of(Viewer::HOST, line)?;
//! let condition = "/initiative/winner == p2".parse().expect("it is a condition");
//! let found = bisect::<ReplayError>(&sight, Question::Holds(&condition), false)?;
//! assert!(matches!(found, Bisection::Found(flip) if *flip.suspects.end() == 1));
//! # Ok::<(), ReplayError>(())
//! ```
//!
//! Start reading in [`history`] (the entries of a match), [`entry`](mod@entry) (what is recorded of a command),
//! [`record`] (what the rules compute of it) and [`divergence`] (where the two differ). [`viewer`] and [`seat_history`] are the
//! only way to what a player may know. [`session`] plays on, and [`render`] is what verbs print, for programs that
//! print or send it. What can go wrong is a [`ReplayError`], which says what
//! happened and where.

pub mod divergence;
pub mod entry;
pub mod history;
pub mod position;
pub mod record;
pub mod revision;
pub mod script;
pub mod session;
pub mod sources;

pub mod play;
pub mod render;

pub mod seat_history;
pub mod viewed_entry;
pub mod viewer;

pub mod tfl;

pub mod frames;
pub mod page;

pub mod audit;
pub mod bundle;
pub mod bundle_import;
pub mod mail;
pub mod signing;

pub mod amend;
pub mod bisect;
pub mod blame;
pub mod bless;
pub mod check;
pub mod condition;
pub mod diff;
pub mod difference;
pub mod drawing;
pub mod impact;
pub mod import;
pub mod links;
pub mod outcomes;
pub mod path;
pub mod question;
pub mod selftest;
pub mod shrink;
pub mod stepper;
pub mod verify;

pub mod error;
pub mod input;
pub mod limits;
pub mod text;

#[cfg(test)]
mod example;

pub use amend::{Amending, Amendment, ChangedRoll};
pub use bisect::{Bisection, Flip};
pub use blame::FieldChange;
pub use bless::{Change, RulesChange};
pub use check::{
    AllDifferences, CheckLimits, CheckReport, Checked, FileCheck, Mismatch, MismatchReport, check,
};
pub use condition::{Condition, ConditionError};
pub use diff::{Comparison, DiffStat, Side};
pub use difference::Difference;
pub use divergence::{Claim, Divergence, DivergenceKind, Hashes, Subject};
pub use entry::{Attempt, CommandForm, LogEntry, ShortHash};
pub use error::ReplayError;
pub use frames::{Frame, FrameDocument, FrameLimits, FramePicture, PictureChange, Shown};
pub use history::History;
pub use impact::{FirstDifference, RecordedLog};
pub use import::Imported;
pub use input::InputError;
pub use limits::Limits;
pub use links::QuotedLink;
pub use page::{Page, PageError};
pub use play::NotPlayed;
pub use position::{Passed, Position, Tail};
pub use question::{Judgment, Question};
pub use record::{Detail, LoggedRecord, Record};
pub use revision::{EntryName, FileName, RangeName, Revision, SourceName};
pub use script::{OtherSeat, ScriptLine};
pub use seat_history::SeatHistory;
pub use session::{RejectedLine, Roller, Session};
pub use shrink::{Least, Shrinking};
pub use sources::Sources;
pub use stepper::{Hit, SearchDirection, ShownEntry, Stepper};
pub use text::{Line, TextSpan, Tone};
pub use tfl::{Closing, Header, Replay, ReplayLine, SeenBy, TflError};
pub use verify::{Finding, FindingKind, LeftToCheck, Verification, VerifiedBranch};
pub use viewed_entry::{ViewedEntry, fold_as_viewer};
pub use viewer::{Concealed, NotOfSeat, Viewer};
