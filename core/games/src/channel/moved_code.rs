//! CH-17: writes the energies that a sequence has moved as one number, with two decimal digits each.

use alloc::vec::Vec;

/// The largest number up to which every JSON reader holds whole numbers exactly.
pub(super) const CODE_MAX: u64 = 1 << 53;

/// Returns ids as a number, the first one most significant; `None` if an id is above 99 or the number too large.
pub(super) fn encode(ids: impl IntoIterator<Item = u16>) -> Option<u64> {
    let mut code: u64 = 0;
    for id in ids {
        if id >= 100 {
            return None;
        }
        code = code.checked_mul(100)?.checked_add(u64::from(id))?;
    }
    if code <= CODE_MAX { Some(code) } else { None }
}

/// Returns the ids of a number, the last one first.
pub(super) fn decode(code: u64) -> Vec<u64> {
    let mut ids = Vec::new();
    let mut rest = code;
    while rest > 0 {
        ids.push(rest % 100);
        rest /= 100;
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ch_17_the_first_moved_is_most_significant_and_comes_back_last() {
        assert_eq!(encode([42, 17, 9]), Some(421_709));
        assert_eq!(decode(421_709), [9, 17, 42]);
        assert_eq!(encode([]), Some(0));
        assert_eq!(decode(0), [0; 0]);
    }

    #[test]
    fn ch_17_what_does_not_fit_has_no_code() {
        assert_eq!(encode([99, 100]), None);
        assert_eq!(encode([90, 7, 19, 92, 54, 74, 9, 92]), Some(CODE_MAX));
        assert_eq!(encode([90, 7, 19, 92, 54, 74, 9, 93]), None);
        assert_eq!(encode([99; 40]), None);
    }
}
