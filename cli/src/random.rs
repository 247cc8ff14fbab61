//! The only place that asks the operating system for chance: match ids, fresh seeds, keys, `--dice system`.

use turnfold_core::dice::DiceStream;
use turnfold_core::{DueRoll, Seed};

use crate::failure::Failure;

/// Fills bytes.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), Failure> {
    getrandom::fill(bytes)
        .map_err(|error| Failure::trouble(format!("the operating system gives no random bytes: {error}")))
}

fn bytes<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn match_id() -> Result<[u8; 16], Failure> {
    bytes()
}

/// Makes up the key of a call that is to happen once, however often it is sent.
pub(crate) fn key() -> Result<String, Failure> {
    let key: [u8; 16] = bytes()?;
    Ok(format!("{:032x}", u128::from_be_bytes(key)))
}

pub(crate) fn seed() -> Result<Seed, Failure> {
    bytes().map(Seed::new)
}

/// Rolls dice that no seed explains; the log records what fell.
pub(crate) fn roll(due: &DueRoll) -> Result<Vec<i32>, Failure> {
    let mut stream = DiceStream::new(&bytes()?, 0);
    Ok((0..due.count).map(|_| stream.draw(due.low, due.high)).collect())
}
