//! The service, run by the real binary, and the terminal as its client.
//!
//! The tests of `SV-35` to `SV-38` have a short form. `TURNFOLD_SERVE_LONG=1` runs the long form.

mod attacks;
mod cache_eviction;
#[cfg(unix)] // a shell
mod calendars;
#[cfg(unix)] // a shell
mod calls;

mod crowd;
#[cfg(unix)] // links
pub(crate) mod described;
mod durability;
mod end_of_match;
#[cfg(unix)]
mod fleet;
#[cfg(unix)]
mod fuzzer;
#[cfg(unix)] // limits of a shell
mod hardening;
mod http;
mod malformed_requests;
#[cfg(target_os = "linux")] // the memory of a process
mod memory;
mod papers;
mod problems;
#[cfg(unix)] // signals
mod process;
mod proxies;
mod readers;
mod response_headers;
mod secrets;
#[cfg(unix)] // signals
mod streams;
#[cfg(unix)]
mod takeback;
#[cfg(unix)]
pub(crate) mod terms;
mod together;
mod trial;
mod verbs_and_service_agree;
#[cfg(unix)] // a shell
mod week;

use std::env;

/// Returns the number of repetitions of the short or the long form.
fn times(short: usize, long: usize) -> usize {
    if env::var_os("TURNFOLD_SERVE_LONG").is_some() { long } else { short }
}

/// Pseudorandom numbers, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 20).unwrap() % most.max(1)
    }
}
