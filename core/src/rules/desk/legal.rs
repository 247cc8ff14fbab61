//! The commands worth trying; `judge` decides which of them apply.

use alloc::string::String;
use alloc::vec::Vec;

use super::command::{Command, Grounds};
use crate::paper::{DeskTime, Ending};
use crate::seat::Seat;

/// 2026-12-01T00:00:00Z
const FIRST: u64 = 1_796_083_200;

/// Exactly 200 characters, the most that are allowed: a shorter sentence would not test the limit.
const GROUNDS: &str = "this match is closed to try what closing a match does, which whoever looks for legal commands \
                       may want to know; a host that closes a match of people says in its own words why it does so: \
                       be kind, then";

/// PM-8: one fixed list, the same in every state: the clock at 40 times, and the end. Papers cannot be listed.
pub(super) fn candidates(seat: Seat) -> Vec<Command> {
    if seat != Seat::Host {
        return Vec::new();
    }
    let mut commands = Vec::new();
    for half_days in 0..40 {
        commands.extend(DeskTime::of_unix_seconds(FIRST + half_days * 43_200).map(Command::Clock));
    }
    if let Ok(grounds) = Grounds::try_from(String::from(GROUNDS)) {
        commands.push(Command::Close { result: Ending::Void, grounds });
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pm_8_there_are_40_times_and_an_end_of_the_longest_grounds() {
        assert_eq!(GROUNDS.len(), 200);
        assert_eq!(candidates(Seat::Host).len(), 41);
        assert!(candidates(Seat::P1).is_empty());
    }
}
