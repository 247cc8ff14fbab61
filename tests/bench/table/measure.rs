//! Time measurement: contenders take turns, so that a busy machine slows all of them alike.
//!
//! Work of one thread that never waits is measured in the processor time of that thread, so that other processes
//! disturb it little. Everything else is measured in wall-clock time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// The times of one contender, round by round.
#[derive(Debug)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// Returns the fastest round. For work that never waits, this is the least disturbed round.
    pub(crate) fn fastest(&self) -> Duration {
        self.0.iter().copied().min().expect("there is a round at least")
    }

    /// Returns the median round. For work that waits for a disk, this is the usual case.
    pub(crate) fn median(&self) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().expect("there is a round at least")
    }
}

/// The kind of time that is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    /// Wall-clock time.
    Wall,
    /// The processor time of this thread.
    Thread,
}

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "this is where time is measured")]
    fn time(self, work: impl FnOnce()) -> Duration {
        let start = Instant::now();
        let busy_before = thread_time();
        work();
        match self {
            Self::Wall => start.elapsed(),
            Self::Thread => thread_time().saturating_sub(busy_before),
        }
    }
}

fn thread_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("a thread's time is not negative")
}

/// Returns the wall-clock time of work.
pub(crate) fn time<T>(work: impl FnOnce() -> T) -> Duration {
    Clock::Wall.time(|| drop(black_box(work())))
}

/// Times several pieces of work, one after the other in every round.
pub(crate) fn take_turns<const N: usize>(
    clock: Clock,
    rounds: usize,
    mut contenders: [&mut dyn FnMut(); N],
) -> [Times; N] {
    let mut times = [(); N].map(|()| Times(Vec::new()));
    for _ in 0..rounds {
        for (contender, Times(times)) in contenders.iter_mut().zip(&mut times) {
            times.push(clock.time(contender));
        }
    }
    times
}

/// Does this number of rounds of work, and returns the time of the fastest.
pub(crate) fn fastest_of(clock: Clock, rounds: usize, mut work: impl FnMut()) -> Duration {
    let [times] = take_turns(clock, rounds, [&mut work]);
    times.fastest()
}
