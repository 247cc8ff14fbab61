//! Who rolls when a roll falls due.

use std::io;

use turnfold_core::DicePolicy;
use turnfold_replay::Roller;

use crate::failure::Failure;
use crate::random;

/// Chooses the roller for a match: seeded matches roll by themselves unless `no_auto_roll` is set.
pub(crate) fn choose(dice: &DicePolicy, no_auto_roll: bool, system: bool) -> Result<Roller, Failure> {
    match (dice, no_auto_roll, system) {
        (_, true, false) => Ok(Roller::Nobody),
        (_, false, false) => Ok(Roller::of(dice)),
        (DicePolicy::Recorded, false, true) => Ok(Roller::Outside(|due| {
            random::roll(due).map_err(|failure| io::Error::other(failure.to_string()))
        })),
        (DicePolicy::Seeded(_), _, true) => {
            Err(Failure::usage("`--dice system` is for recorded matches; this one rolls from its seed"))
        }
        (DicePolicy::Fair(_), _, true) => {
            Err(Failure::usage("`--dice system` is for recorded matches; this one has fair dice"))
        }
        (DicePolicy::Recorded, true, true) => {
            Err(Failure::usage("`--dice system` and `--no-auto-roll` exclude each other"))
        }
    }
}
