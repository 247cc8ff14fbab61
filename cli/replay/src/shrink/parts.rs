//! The parts of a log that may be left out, for any ruleset: rounds, turns, entries.

use std::rc::Rc;

use turnfold_core::Seat;

use super::given::Given;

/// Finds where the parts of a log start; the first part starts with the log.
pub(super) type Starts = fn(&[Rc<Given>]) -> Vec<usize>;

/// A round starts where play comes back to whoever leads it: to the host, who ends turns and lets time pass, or in games
/// without a host to the seat of the first entry.
pub(super) fn rounds(log: &[Rc<Given>]) -> Vec<usize> {
    let host = log.iter().map(|given| given.seat).find(|seat| *seat == Seat::Host);
    let leader = host.or_else(|| log.first().map(|given| given.seat));
    changes(log, |before, seat| Some(seat) == leader && before != seat)
}

/// A turn is all that a seat does before another does anything.
pub(super) fn turns(log: &[Rc<Given>]) -> Vec<usize> {
    changes(log, |before, seat| before != seat)
}

pub(super) fn entries(log: &[Rc<Given>]) -> Vec<usize> {
    (0..log.len()).collect()
}

/// Returns the start of the log and where one seat follows another so.
fn changes(log: &[Rc<Given>], starts: impl Fn(Seat, Seat) -> bool) -> Vec<usize> {
    let seats = log.iter().map(|given| given.seat);
    let pairs = seats.clone().zip(seats.skip(1)).enumerate();
    let changes = pairs.filter(|(_, (before, seat))| starts(*before, *seat)).map(|(index, _)| index + 1);
    log.first().map(|_| 0).into_iter().chain(changes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seats: &[Seat], expected: [&[usize]; 3]) {
        let given = |seat: &Seat| Rc::new(Given { seat: *seat, command: String::new() });
        let log: Vec<_> = seats.iter().map(given).collect();
        assert_eq!([rounds(&log), turns(&log), entries(&log)].each_ref().map(Vec::as_slice), expected);
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
    fn without_a_host_a_round_starts_with_whoever_began() {
        use Seat::{P1, P2, P3};
        check(&[P2, P2, P3, P1, P2, P3], [&[0, 4], &[0, 2, 3, 4, 5], &[0, 1, 2, 3, 4, 5]]);
        check(&[], [&[], &[], &[]]);
    }
}
