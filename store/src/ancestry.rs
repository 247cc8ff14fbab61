//! Ancestry: finds the branch that an entry belongs to, in few steps even if branches are nested deeply.

use crate::entry::Seq;

/// The parents of branches. Branches are numbered from 0 in the order of their addition; parents come first.
///
/// ```
/// let mut ancestry = turnfold_store::Ancestry::default();
/// let main = ancestry.add(None, 0);
/// let flank = ancestry.add(Some(main), 3);
/// assert_eq!([2, 3].map(|seq| ancestry.holder(flank, seq)), [main, flank]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ancestry(Vec<Ancestor>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ancestor {
    /// The branch's first own entry.
    first: Seq,
    /// The branch that has the entry before `first` as its own; for a branch without a parent, itself.
    below: usize,
    /// An ancestor at least as far up, chosen so that a search takes a logarithmic number of steps.
    jump: usize,
    depth: usize,
}

impl Ancestry {
    /// Adds a branch and returns its number. Its own entries begin with `first`; `parent` is `None` for `main`.
    ///
    /// # Panics
    /// If `parent` was not added.
    pub fn add(&mut self, parent: Option<usize>, first: Seq) -> usize {
        let index = self.0.len();
        let Some(parent) = parent else {
            self.0.push(Ancestor { first: 0, below: index, jump: index, depth: 0 });
            return index;
        };
        assert!(parent < index, "parents are added first");
        let below = self.holder(parent, first.saturating_sub(1));
        let [near, far] = [below, self.of(below).jump].map(|branch| self.of(branch));
        // Two jumps of equal length are joined to one, of twice the length plus one step.
        let is_double = near.depth - far.depth == far.depth - self.of(far.jump).depth;
        let jump = if is_double { far.jump } else { below };
        self.0.push(Ancestor { first, below, jump, depth: near.depth + 1 });
        index
    }

    /// Returns the branch that has entry `seq` of `branch` as its own. The branch must have that entry.
    ///
    /// # Panics
    /// If the branch was not added.
    #[must_use]
    pub fn holder(&self, branch: usize, seq: Seq) -> usize {
        let mut holder = branch;
        while self.of(holder).first > seq {
            let Ancestor { below, jump, .. } = self.of(holder);
            holder = if self.of(jump).first > seq { jump } else { below };
        }
        holder
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "numbers come from this table, or the docs state that it panics"
    )]
    fn of(&self, branch: usize) -> Ancestor {
        self.0[branch]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds the same branch as `holder`, one parent at a time.
    fn holder_by_steps(branches: &[(Option<usize>, Seq)], branch: usize, seq: Seq) -> usize {
        match branches[branch] {
            (Some(parent), first) if first > seq => holder_by_steps(branches, parent, seq),
            _ => branch,
        }
    }

    #[test]
    fn the_holder_is_the_one_that_single_steps_find() {
        let mut random = 1_u64;
        let mut below = |limit: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % limit
        };
        for _ in 0..50 {
            let (mut ancestry, mut branches, mut lengths) = (Ancestry::default(), Vec::new(), Vec::new());
            for index in 0..60_u64 {
                let parent = (index > 0).then(|| usize::try_from(index - 1 - below(index.min(3))).unwrap());
                let first = parent.map_or(0, |parent: usize| 1 + below(lengths[parent]));
                lengths.push(first + below(3) + u64::from(parent.is_none()));
                assert_eq!(ancestry.add(parent, first), branches.len());
                branches.push((parent, first));
            }
            for (branch, length) in lengths.iter().enumerate() {
                for seq in 0..*length {
                    assert_eq!(ancestry.holder(branch, seq), holder_by_steps(&branches, branch, seq));
                }
            }
        }
    }

    #[test]
    fn deep_ancestry_is_searched_in_few_steps() {
        let mut ancestry = Ancestry::default();
        let mut last = ancestry.add(None, 0);
        for first in 1..200_000 {
            last = ancestry.add(Some(last), first);
        }
        for seq in 0..200_000 {
            assert_eq!(ancestry.holder(last, seq) as u64, seq);
        }
    }
}
