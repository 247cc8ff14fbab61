//! Gets random bytes from the operating system; no other place does. They are for match ids, seeds, keys and dice.

use std::io;

use turnfold_core::dice::DiceStream;
use turnfold_core::{DicePolicy, DueRoll};
use turnfold_history::session::Roller;

use crate::failure::{Failure, Result};

pub(crate) fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes)
        .map_err(|error| Failure::trouble(format!("the operating system gives no random bytes: {error}")))
}

pub(crate) fn bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn key() -> Result<String> {
    Ok(format!("{:032x}", u128::from_be_bytes(bytes()?)))
}

pub(crate) fn roll(due: &DueRoll) -> io::Result<Vec<i32>> {
    let seed = bytes().map_err(|failure| io::Error::other(failure.to_string()))?;
    let mut stream = DiceStream::new(&seed, 0);
    Ok((0..due.count).map(|_| stream.draw(due.low, due.high)).collect())
}

pub(crate) fn roller(dice: &DicePolicy, no_auto_roll: bool, system: bool) -> Result<Roller> {
    if !system {
        return Ok(if no_auto_roll { Roller::Absent } else { Roller::Seeded });
    }
    Err(Failure::usage(match dice {
        DicePolicy::Recorded if no_auto_roll => "`--dice system` and `--no-auto-roll` exclude each other",
        DicePolicy::Recorded => return Ok(Roller::Outside(roll)),
        DicePolicy::Seeded(_) => "`--dice system` is for recorded matches; this one rolls from its seed",
        DicePolicy::Fair(_) => "`--dice system` is for recorded matches; this one has fair dice",
    }))
}
