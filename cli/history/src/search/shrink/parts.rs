//! The parts of a log that may be left out, in any ruleset: rounds, turns, entries.

use turnfold_core::Seat;

/// Returns the start of each part of a log, given the seats of its entries. The first part starts with the log.
pub(super) type Starts = fn(&[Seat]) -> Vec<usize>;

/// Returns the starts of rounds. A round starts where play returns to the seat that leads it. That is the host, who
/// ends turns and lets time pass, or in games without a host the seat of the first entry.
pub(super) fn rounds(seats: &[Seat]) -> Vec<usize> {
    let leader = if seats.contains(&Seat::Host) { Some(Seat::Host) } else { seats.first().copied() };
    changes(seats, |before, seat| Some(seat) == leader && before != seat)
}

/// Returns the starts of turns. A turn is everything that a seat does before another seat acts.
pub(super) fn turns(seats: &[Seat]) -> Vec<usize> {
    changes(seats, |before, seat| before != seat)
}

pub(super) fn entries(seats: &[Seat]) -> Vec<usize> {
    (0..seats.len()).collect()
}

/// Returns the start of the log and every place where `starts` holds for the seats before and after it.
fn changes(seats: &[Seat], starts: impl Fn(Seat, Seat) -> bool) -> Vec<usize> {
    let mut found = Vec::new();
    let mut before = None;
    for (index, seat) in seats.iter().enumerate() {
        if before.is_none_or(|before| starts(before, *seat)) {
            found.push(index);
        }
        before = Some(*seat);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seats: &[Seat], expected: [&[usize]; 3]) {
        assert_eq!([rounds(seats), turns(seats), entries(seats)].each_ref().map(Vec::as_slice), expected);
    }

    #[test]
    fn a_round_starts_with_the_host() {
        use Seat::{Host, P1, P2};
        check(
            &[Host, P1, P1, P2, Host, Host, P2, P1],
            [&[0, 4], &[0, 1, 3, 4, 6, 7], &[0, 1, 2, 3, 4, 5, 6, 7]],
        );
        check(&[P1, P2, Host, P1], [&[0, 2], &[0, 1, 2, 3], &[0, 1, 2, 3]]);
    }

    #[test]
    fn without_a_host_a_round_starts_with_the_seat_that_began() {
        use Seat::{P1, P2, P3};
        check(&[P2, P2, P3, P1, P2, P3], [&[0, 4], &[0, 2, 3, 4, 5], &[0, 1, 2, 3, 4, 5]]);
        check(&[], [&[], &[], &[]]);
    }
}
