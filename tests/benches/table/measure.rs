//! Time: what is compared takes turns, so that a busy machine slows all of it alike.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// The times of one contender, round by round.
#[derive(Debug)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// Gives the fastest round: for work that waits for nothing, what disturbs it least.
    pub(crate) fn fastest(&self) -> Duration {
        self.0.iter().copied().min().expect("there is a round at least")
    }

    /// Gives the round in the middle: for work that waits for a disk, what usually happens.
    pub(crate) fn median(&self) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().expect("there is a round at least")
    }
}

/// Times work once.
#[expect(clippy::disallowed_methods, reason = "this is where time is measured")]
pub(crate) fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

/// Times several pieces of work, one after the other in every round.
pub(crate) fn take_turns<const N: usize>(rounds: usize, mut contenders: [&mut dyn FnMut(); N]) -> [Times; N] {
    let mut times = [(); N].map(|()| Times(Vec::new()));
    for _ in 0..rounds {
        for (contender, Times(times)) in contenders.iter_mut().zip(&mut times) {
            times.push(time(contender));
        }
    }
    times
}

/// Times one piece of work so many times and gives the fastest.
pub(crate) fn fastest_of(rounds: usize, mut work: impl FnMut()) -> Duration {
    let [times] = take_turns(rounds, [&mut work]);
    times.fastest()
}
