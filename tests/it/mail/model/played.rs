//! The model of the commands played without an order (PM-37).

use super::relay::Move;
use super::turns::{Model, Terms};

impl Model {
    /// PM-37: gives each command once, in order, while the seat has something to do and the limit is not reached.
    fn give_each(&mut self, seat: Option<usize>, commands: &[Move], left: usize) -> usize {
        let mut count = 0;
        for command in commands {
            let is_done = count > 0 && seat.is_some_and(|seat| !self.game.has_legal(seat));
            if count < left && !is_done && self.game.give(seat, *command) {
                count += 1;
                self.head += 1;
            }
        }
        count
    }

    pub(super) fn play_default(&mut self, seat: usize) -> bool {
        let default = self.terms.default.clone();
        let mut count = 0;
        while self.game.has_legal(seat) {
            match self.give_each(Some(seat), &default, 20 - count) {
                0 => break,
                more => count += more,
            }
        }
        count > 0
    }

    pub(super) fn play_between(&mut self, had_orders: bool) -> bool {
        let Terms { default, between, .. } = self.terms.clone();
        let living = self.living();
        let gone: Vec<usize> = (0..self.players.len()).filter(|seat| !living.contains(seat)).collect();
        let mut betweens = if had_orders { self.give_each(None, &between, 20) } else { 0 };
        let mut defaults = 0;
        while !living.iter().any(|seat| self.game.has_legal(*seat)) {
            let of_gone = gone.iter().find_map(|seat| {
                let waits = defaults < 20 && self.game.has_legal(*seat);
                let count = if waits { self.give_each(Some(*seat), &default, 20 - defaults) } else { 0 };
                (count > 0).then_some(count)
            });
            if let Some(count) = of_gone {
                defaults += count;
                continue;
            }
            match self.give_each(None, &between, 20 - betweens) {
                0 => break,
                more => betweens += more,
            }
        }
        betweens > 0
    }
}
