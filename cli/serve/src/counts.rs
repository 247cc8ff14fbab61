//! How many entries a viewer sees at heads of the log, to find the head of a client that reconnects (SV-19).

/// The most heads that are kept for a viewer.
const NOTED_MAX: usize = 4096;

/// Heads, in their order, each with the number of entries that the viewer sees there. Entries that are shown stay
/// shown, so the number only grows.
pub(crate) struct Counts(Vec<(u64, u64)>);

impl Default for Counts {
    /// At head 0 a viewer sees no entries.
    fn default() -> Self {
        Self(vec![(0, 0)])
    }
}

/// The first head at which a viewer sees a given number of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstHead {
    /// The head is known. Later entries may have to be sent.
    Known(u64),
    /// The viewer does not see that many entries yet.
    NotYet,
    /// The entries have to be counted at this head first.
    Count(u64),
}

impl Counts {
    /// Returns the bytes in memory.
    pub(crate) fn bytes(&self) -> u64 {
        (self.0.capacity() * size_of::<(u64, u64)>()) as u64
    }

    pub(crate) fn note(&mut self, head: u64, count: u64) {
        let Err(index) = self.0.binary_search_by_key(&head, |noted| noted.0) else { return };
        self.0.insert(index, (head, count));
        if self.0.len() > NOTED_MAX {
            // The older half goes, because a client that reconnects was connected lately.
            self.0.drain(1..=NOTED_MAX / 2);
        }
    }

    /// Looks for the first head, at most `head`, at which the viewer sees `seen` entries.
    pub(crate) fn first_head(&self, seen: u64, head: u64) -> FirstHead {
        if seen > head {
            // A viewer cannot see more entries than there are.
            return FirstHead::NotYet;
        }
        let upto = self.0.partition_point(|noted| noted.0 <= head);
        let noted = self.0.get(..upto).unwrap_or(&self.0);
        let fewer = noted.partition_point(|noted| noted.1 < seen);
        let Some(below) = fewer.checked_sub(1).and_then(|last| noted.get(last)) else {
            return FirstHead::Known(0);
        };
        let Some(&(first, count)) = noted.get(fewer) else {
            return if below.0 == head { FirstHead::NotYet } else { FirstHead::Count(head) };
        };
        let low = below.0.max(seen - 1);
        if low + 1 == first {
            // One entry may reveal several at once. A client that states only some of them is sent all of them.
            return FirstHead::Known(if count == seen { first } else { first - 1 });
        }
        // Most histories conceal nothing, so try the head that equals the number first.
        FirstHead::Count(if low > below.0 { seen } else { low.midpoint(first) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches as a caller that counts does, and returns how often it counted.
    fn search(counts: &mut Counts, all: &[u64], seen: u64) -> (Option<u64>, usize) {
        let head = all.len() as u64 - 1;
        for counted in 0.. {
            match counts.first_head(seen, head) {
                FirstHead::Known(head) => return (Some(head), counted),
                FirstHead::NotYet => return (None, counted),
                FirstHead::Count(at) => counts.note(at, all[usize::try_from(at).unwrap()]),
            }
        }
        unreachable!("a search ends")
    }

    /// SV-19: what was counted at each head, from 0, and where each number of entries was first counted.
    #[test]
    fn the_first_head_is_found_by_few_counts_and_the_next_time_by_none() {
        let concealing = [0, 1, 1, 1, 2, 2, 5, 6, 6, 6, 6, 7, 7, 9];
        let expected = [0, 1, 4, 5, 5, 6, 7, 11, 12, 13];
        let mut counts = Counts::default();
        for (seen, first) in (0..).zip(expected) {
            assert_eq!(search(&mut counts, &concealing, seen).0, Some(first), "{seen}");
            assert_eq!(search(&mut counts, &concealing, seen), (Some(first), 0), "{seen}");
            let (alone, counted) = search(&mut Counts::default(), &concealing, seen);
            assert!(alone == Some(first) && counted <= 6, "{seen}: {alone:?} by {counted}");
        }
        assert_eq!(search(&mut counts, &concealing, 10), (None, 0));
        // Where nothing is concealed, it takes two.
        let shown: Vec<u64> = (0..100_000).collect();
        assert_eq!(search(&mut Counts::default(), &shown, 77_777), (Some(77_777), 2));
    }

    #[test]
    fn of_the_heads_that_were_noted_the_latest_stay() {
        let mut counts = Counts::default();
        (1..=10_000).for_each(|head| counts.note(head, head));
        assert!(counts.0.len() <= NOTED_MAX + 1);
        assert_eq!(counts.first_head(9_999, 10_000), FirstHead::Known(9_999));
        assert_eq!(counts.first_head(0, 10_000), FirstHead::Known(0));
        assert!(matches!(counts.first_head(1_000, 10_000), FirstHead::Count(_)));
    }
}
