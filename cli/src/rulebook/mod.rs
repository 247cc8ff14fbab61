//! The rulebook of a game: `RULES.md` in the folder of its ruleset.

mod book;
mod prose;
mod read;

pub(crate) use book::Rulebook;
pub(crate) use prose::wrapped;
