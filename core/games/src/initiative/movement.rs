//! The movement order: who moves how many units, and when.

use core::fmt;

use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use turnfold_core::seat::Seat;

/// A part of a turn in which one player moves units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Impulse {
    /// Whose units move.
    pub player: Seat,
    /// How many of them.
    pub units: u32,
}

/// Writes an impulse as in effects, such as `p1:2`.
impl fmt::Display for Impulse {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.player, self.units)
    }
}

/// A side in a turn: the player and the number of units.
#[derive(Clone, Copy)]
pub(super) struct Side {
    pub(super) player: Seat,
    pub(super) units: u32,
}

/// IN-4: returns the impulse at an index, counted from 0; `None` after the last one.
///
/// The units of both sides are shared over as many rounds as the smaller side has units. Earlier rounds get the larger
/// shares, and in each round the loser moves first.
pub(super) fn impulse_at(loser: Side, winner: Side, index: u32) -> Option<Impulse> {
    let rounds = loser.units.min(winner.units);
    if rounds == 0 {
        let Side { player, units } = if loser.units > 0 { loser } else { winner };
        return if index == 0 && units > 0 { Some(Impulse { player, units }) } else { None };
    }
    let round = index / 2;
    if round >= rounds {
        return None;
    }
    let side = if index.is_multiple_of(2) { loser } else { winner };
    let units = side.units / rounds + u32::from(round < side.units % rounds);
    Some(Impulse { player: side.player, units })
}

/// IN-4: returns all impulses of a turn.
pub(super) fn movement_order(loser: Side, winner: Side) -> Vec<Impulse> {
    (0..).map_while(|index| impulse_at(loser, winner, index)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(loser: u32, winner: u32) -> Vec<(Seat, u32)> {
        let side = |player, units| Side { player, units };
        let impulses = movement_order(side(Seat::P1, loser), side(Seat::P2, winner));
        impulses.iter().map(|impulse| (impulse.player, impulse.units)).collect()
    }

    #[test]
    fn in_4_every_unit_moves_once_and_larger_shares_come_first() {
        for loser in 0..60 {
            for winner in 0..60 {
                let impulses = order(loser, winner);
                for (seat, count) in [(Seat::P1, loser), (Seat::P2, winner)] {
                    let shares: Vec<u32> = impulses
                        .iter()
                        .filter(|(player, _)| *player == seat)
                        .map(|(_, units)| *units)
                        .collect();
                    assert_eq!(shares.iter().sum::<u32>(), count);
                    assert!(shares.is_sorted_by(|earlier, later| earlier >= later));
                    assert!(shares.first().unwrap_or(&0) - shares.last().unwrap_or(&0) <= 1);
                    assert!(!shares.contains(&0));
                }
                assert!(
                    impulses.len() == 2 * usize::try_from(loser.min(winner)).unwrap()
                        || loser.min(winner) == 0
                );
            }
        }
    }

    #[test]
    fn in_4_the_worked_examples() {
        use Seat::{P1 as L, P2 as W};
        assert_eq!(order(3, 5), [(L, 1), (W, 2), (L, 1), (W, 2), (L, 1), (W, 1)]);
        assert_eq!(order(5, 3), [(L, 2), (W, 1), (L, 2), (W, 1), (L, 1), (W, 1)]);
        assert_eq!(order(1, 7), [(L, 1), (W, 7)]);
        assert_eq!(order(7, 1), [(L, 7), (W, 1)]);
        assert_eq!(order(0, 4), [(W, 4)]);
        assert_eq!(order(4, 0), [(L, 4)]);
        assert_eq!(order(0, 0), []);
    }
}
