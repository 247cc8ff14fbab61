//! The hexes that commands name.

use std::collections::BTreeSet;

use turnfold_core::Hex;

/// Returns the hexes that stand in commands as words of their own, written `q,r` (VW-18, VW-35). Whether a command is
/// legal is for the rules to say.
#[must_use]
pub fn named_hexes<'a>(commands: impl IntoIterator<Item = &'a str>) -> BTreeSet<Hex> {
    commands.into_iter().flat_map(str::split_whitespace).filter_map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hex_is_a_word_of_its_own() {
        let commands = ["move -2,1", "click 0,0", "path 1,0 2,-1", "roll 3 4", "say 1,2,3 x4,5", "move +1,0"];
        let named = [(-2, 1), (0, 0), (1, 0), (2, -1)].map(|(q, r)| Hex::new(q, r));
        assert_eq!(named_hexes(commands), BTreeSet::from(named));
    }
}
