//! The games of turnfold. Each game is a ruleset.
//!
//! A game's folder has its rules for players (`RULES.md`), a small setup (`example.toml`) and the ruleset, whose
//! `impl Rules` stands in the file next to it; [`initiative`] is the smallest. [`standard`] returns a registry of all
//! games. A new game is added with a line in [`rulesets`].
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

use alloc::sync::Arc;
use alloc::vec::Vec;

use turnfold_core::any::erase;
use turnfold_core::rules::desk::Desk;
use turnfold_core::{AnyRules, Registry, Rules};

use crate::channel::Channel;
use crate::cycletap::Cycletap;
use crate::hexcapture::Hexcapture;
use crate::initiative::Initiative;
use crate::lifecycle::Lifecycle;

pub mod channel;
pub mod cycletap;
pub mod hexcapture;
pub mod initiative;
pub mod lifecycle;

/// Returns the newest version of every ruleset that comes with turnfold, sorted by name. These are the games and the
/// desk of a match by mail.
#[must_use]
pub fn rulesets() -> Vec<Arc<dyn AnyRules>> {
    Vec::from([
        erase::<Channel>(),
        erase::<Cycletap>(),
        erase::<Desk>(),
        erase::<Hexcapture>(),
        erase::<Initiative>(),
        erase::<Lifecycle>(),
    ])
}

/// Finds a ruleset that comes with turnfold by name. A program that knows other rulesets uses its [`Registry`].
#[must_use]
pub fn find(name: &str) -> Option<Arc<dyn AnyRules>> {
    rulesets().into_iter().find(|rules| rules.name() == name)
}

/// Returns a registry of these games; [`Registry::default`] has no games.
#[must_use]
pub fn standard() -> Registry {
    let mut registry = Registry::default();
    for rules in rulesets() {
        if rules.name() != Desk::NAME {
            registry = registry.with(rules);
        }
    }
    registry
}
