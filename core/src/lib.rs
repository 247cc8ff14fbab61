//! The rules core of turnfold: pure, total, deterministic.
//!
//! A *match* is a *setup* and a log of *entries*; an entry is a *command* given by a *seat*. A ruleset implements
//! [`Rules`]: `judge` decides what a command would do and `carry_out` does it. The fold of a log is the *state*, whose
//! [`Digest`] proves that two machines agree.
//!
//! [`tutorial`] writes a ruleset from scratch. Read on in [`rules`] (the trait), [`any`] (rulesets known only at run
//! time) and [`registry`] (the rulesets of a program). The games are in the crate `turnfold-games`; all work on logs
//! beyond a single fold (replay files, checking, searching) is in the crate `turnfold-history`. Nothing here reads a
//! clock, a file or a source of randomness: rolls are commands, and [`dice`] recomputes the rolls of seeded matches.
//!
//! A match of a ruleset chosen at run time, and one command:
//!
//! ```
//! use turnfold_core::{CommandSource, DicePolicy, Logged, Seat};
//!
//! let rules = turnfold_games::find("initiative").expect("it is registered");
//! let setup = rules.read_setup("radius = 2")?;
//! let mut state = rules.start(&setup)?;
//! let roll = Logged { seq: 1, seat: Seat::Host, command: CommandSource::Text("roll 1 2 3 4") };
//! let mut outcomes = Vec::new();
//! state.fold(&[roll], &DicePolicy::Recorded, &mut |step| outcomes.push(step.outcome().to_string()))?;
//! assert!(outcomes[0].starts_with("rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2"));
//! println!("{}", state.state_hash());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::float_arithmetic)]

extern crate alloc;

pub mod rules;

pub mod admission;
pub mod any;
pub mod declare;
pub mod decode;
pub mod dice;
pub mod digest;
mod effects;
pub mod ending;
pub mod fold;
pub mod hash;
pub mod hex;
mod json;
pub mod names;
pub mod outcome;
pub mod paper;
pub mod picture;
mod pointer;
pub mod prelude;
pub mod registry;
pub mod seat;
mod setup;
pub mod simulate;
pub mod square;
pub mod targets;
pub mod text;
pub mod ticks;
pub mod trust;
pub mod tutorial;

pub use any::{AnyRules, AnyState, AnyTrial, CommandSource, Fault, FaultKind, FoldError, Logged, Step};
pub use dice::{DicePolicy, DueRoll, Seed};
pub use digest::Digest;
pub use ending::{MatchResult, Score};
pub use hex::{Board, Direction, Hex};
pub use json::Json;
pub use names::BranchName;
pub use outcome::{Outcome, Rejected, Verdict};
pub use registry::Registry;
pub use rules::{Answer, Decision, NamedSetup, QueryError, Rules, Secrets, SetupError};
pub use seat::{Perspective, Seat};
pub use simulate::Simulation;
pub use square::{Square, SquareBoard};
pub use targets::{TargetPart, Targets};
pub use text::Malformed;
pub use ticks::Ticks;
