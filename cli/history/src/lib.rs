//! Folds, compares, explains, checks, blesses, searches and shrinks the histories of turnfold.
//!
//! A *history* is a setup and its entries, from a replay file or from the store. This crate works on histories of any
//! ruleset and returns values: nothing here prints, reads the environment or uses a terminal. The program `turnfold`
//! prints the results; the test suite of a game calls the functions.
//!
//! # Golden logs in a game's own tests
//!
//! ```
//! use turnfold_core::Registry;
//!
//! // For a game of one's own: `turnfold_games::standard().with(erase::<Nim>())`.
//! let registry = turnfold_games::standard();
//! let report = turnfold_history::check(&registry, "../../replays/initiative")?;
//! assert!(report.is_good(), "{report}");
//! # Ok::<(), turnfold_history::ReplayError>(())
//! ```
//!
//! A failed [`check()`] reports everything that `turnfold check` prints: the entry that differs, what the file records
//! and what the rules compute, the rules behind the difference, and how the states differ. [`CheckReport`] writes it as
//! text without color and serializes it as JSON. [`turnfold_core::tutorial`] shows how to write a game and has the
//! trait that it implements.
//!
//! # A tour
//!
//! ```
//! use turnfold_core::Registry;
//! use turnfold_history::search::bisect::bisect;
//! use turnfold_history::{Bisection, Viewer, History, Question, ReplayError, SeatHistory, golden::bless, tfl};
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
//! let replay = bless::bless(&tfl::read("duel.tfl", script, &turnfold_games::standard())?)?;
//! let entry = replay.entries().next().expect("there is one");
//! assert!(entry.to_string().starts_with("1 host roll 1 2 3 4 => rolled p1=3 p2=7; "));
//!
//! // View it as the host, and find the entry that makes something true.
//! let history = History::of_replay("duel.tfl".as_ref(), &replay)?;
//! let seat_history = SeatHistory::of(Viewer::HOST, history)?;
//! let condition = "/initiative/winner == p2".parse().expect("it is a condition");
//! let found = bisect::<ReplayError>(&seat_history, Question::Holds(&condition), false)?;
//! assert!(matches!(found, Bisection::Found(flip) if *flip.suspects.end() == 1));
//! # Ok::<(), ReplayError>(())
//! ```
//!
//! Start reading in [`history`]: [`entry`](mod@history::entry) has what a source records of a command, and
//! [`record`](history::record) what the rules compute. [`divergence`](compare::divergence) finds where the two differ.
//! A [`viewer`] is the only way to what a player may know, and a [`session`] plays on. Every failure is a
//! [`ReplayError`], which states what happened and where.

pub mod compare;
pub mod corpus;
pub mod error;
pub mod fault;
pub mod golden;
pub mod history;
pub mod rulebook;
pub mod search;
pub mod session;
pub mod text;
pub mod tfl;
pub mod viewer;

#[cfg(test)]
mod example;

pub use compare::diff::{Comparison, DiffStat, Side};
pub use compare::difference::Difference;
pub use compare::divergence::{Claim, Divergence, DivergenceKind, Subject};
pub use compare::impact::{FirstDifference, RecordedLog};
pub use compare::migration::MigratedMatch;
pub use error::ReplayError;
pub use error::input::InputError;
pub use error::limits::Limits;
pub use golden::amend::{Amending, Amendment, ChangedRoll};
pub use golden::bless::{Change, RulesChange};
pub use golden::check::{CheckLimits, CheckReport, FileCheck, check};
pub use golden::verify::{Finding, FindingKind, Verification, VerifiedBranch};
pub use history::entry::{CommandForm, LogEntry};
pub use history::import::Imported;
pub use history::links::QuotedLink;
pub use history::record::{Detail, LoggedRecord, Record};
pub use history::revision::{EntryName, FileName, RangeName, Revision, SourceName};
pub use history::snapshots::Passed;
pub use history::source::{HistorySource, Tail};
pub use history::{History, Sources};
pub use search::bisect::{Bisection, Flip, Judgment, Question};
pub use search::blame::FieldChange;
pub use search::condition::Condition;
pub use search::shrink::{Least, Shrinking};
pub use search::stepper::{SearchDirection, Stepper, StepperEntry};
pub use session::play::NotPlayed;
pub use session::script::{OtherSeat, ScriptCommand};
pub use session::{RejectedCommand, Roller, Session};
pub use text::{Line, TextSpan, Tone};
pub use tfl::in_page::PageError;
pub use tfl::{Closing, Replay, ReplayLine, TflError};
pub use viewer::Viewer;
pub use viewer::seat_history::{MatchStanding, SeatHistory};
pub use viewer::viewed_entry::ViewedEntry;
