//! Finds the first of the last entries that match, and holds only their seqs.

use std::collections::VecDeque;

pub(super) struct Latest {
    most: usize,
    numbers: VecDeque<u64>,
}

impl Latest {
    pub(super) fn of(most: u64) -> Self {
        Self { most: usize::try_from(most).unwrap_or(usize::MAX), numbers: VecDeque::new() }
    }

    pub(super) fn add(&mut self, number: u64) {
        self.numbers.push_back(number);
        if self.numbers.len() > self.most {
            self.numbers.pop_front();
        }
    }

    pub(super) fn first(&self) -> Option<u64> {
        self.numbers.front().copied()
    }
}
