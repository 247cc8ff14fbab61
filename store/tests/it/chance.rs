//! Seeded choices: the seed of a failed test reproduces the failure.

use turnfold_core::dice::DiceStream;

pub(crate) struct Chance(DiceStream);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(DiceStream::new(&[73; 32], seed))
    }

    /// Draws one of `0..count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let last = i32::try_from(count).unwrap() - 1;
        usize::try_from(self.0.draw(0, last.max(0))).unwrap()
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}
