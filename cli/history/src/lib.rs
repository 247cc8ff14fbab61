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
//! and what the rules compute, the rules behind the difference, and how the states differ.
//! [`CheckReport`](golden::CheckReport) writes it as text without color and serializes it as JSON.
//! [`turnfold_core::tutorial`] shows how to write a game and has the trait that it implements.
//!
//! # A tour
//!
//! ```
//! use turnfold_core::Registry;
//! use turnfold_history::search::{Bisection, Question, bisect};
//! use turnfold_history::{History, ReplayError, SeatHistory, Viewer, tfl};
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
//! let replay = tfl::read("duel.tfl", script, &turnfold_games::standard())?.bless()?;
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
//! Start with [`History`]: a [`LogEntry`] is what a source records of a command, and a [`Record`] what the rules
//! compute. A [`Divergence`](compare::Divergence) is where the two differ. A [`Viewer`] is the only way to what a player
//! may know, and a [`session`] plays on. Every failure is a [`ReplayError`], which states what happened and where.
//!
//! The root has what everything else is about: histories, their names, and viewers. Each other subject has a module.
//! Every item has one path.

pub mod compare;
pub mod corpus;
mod error;
pub mod golden;
mod history;
pub mod input;
mod play;
pub mod rulebook;
pub mod search;
pub mod session;
pub mod text;
pub mod tfl;
mod viewer;

#[cfg(test)]
mod example;

pub use error::{ReplayError, catch};
pub use golden::check::check;
pub use history::entry::{Attempt, CommandForm, Detail, LogEntry, LoggedRecord, Record, ShortHash};
pub use history::links::{Parting, QuotedFinding, QuotedLink};
pub use history::new_match::{Imported, with_seeds};
pub use history::revision::{EntryName, FileName, RangeName, Revision, SourceName};
pub use history::source::{HistorySource, Passed};
pub use history::{
    History, Sources, distrusted, find_rules, in_order, recorded_rules, require_rules, rules_of,
};
pub use viewer::own_match::MatchStanding;
pub use viewer::seat_history::SeatHistory;
pub use viewer::{ViewedEntry, Viewer};
