//! Setups with other seeds (SV-62).

use toml::Value;
use turnfold_core::{AnyRules, SetupError};

/// The widths of seeds to try, in bits: what TOML can write, what JSON reads exactly, and what smaller games may want.
const WIDTHS: [u32; 4] = [63, 53, 31, 15];

/// Returns a setup with every integer named `seed`, at any depth, replaced by one from `draw`.
///
/// A game that refuses large seeds gets smaller ones. A setup without a seed stays as it is.
///
/// # Errors
/// [`SetupError`] if the bytes are no setup of the game, or if it refuses all seeds that were tried.
pub fn with_seeds(
    rules: &dyn AnyRules,
    setup: &[u8],
    draw: &mut dyn FnMut() -> u64,
) -> Result<Vec<u8>, SetupError> {
    let written = rules.write_setup(setup)?;
    let mut refused = None;
    for width in WIDTHS {
        let table = written.parse().map_err(|error: toml::de::Error| SetupError::Bytes(error.to_string()))?;
        let mut drawn = Value::Table(table);
        if !replace(&mut drawn, &mut || draw() >> (64 - width)) {
            return Ok(setup.to_vec());
        }
        let drawn = toml::to_string(&drawn).map_err(|error| SetupError::Bytes(error.to_string()))?;
        match rules.read_setup(&drawn) {
            Ok(setup) => return Ok(setup),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.unwrap_or_else(|| SetupError::Bytes("no seed was tried".to_owned())))
}

fn replace(value: &mut Value, draw: &mut dyn FnMut() -> u64) -> bool {
    let mut is_any = false;
    if let Value::Table(table) = value {
        for (key, value) in table.iter_mut() {
            if key == "seed" && value.is_integer() {
                *value = Value::Integer(draw().cast_signed());
                is_any = true;
            } else {
                is_any |= replace(value, draw);
            }
        }
    } else if let Value::Array(values) = value {
        for value in values {
            is_any |= replace(value, draw);
        }
    }
    is_any
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORLD: &str = "generate = { seed = 7, percent = 30 }";

    #[test]
    fn sv_62_seeds_are_drawn_anew_at_every_depth_and_nothing_else_changes() {
        let registry = turnfold_games::standard();
        for (game, setup) in [("channel", "players = 2\nseed = 7"), ("hexcapture", WORLD)] {
            let rules = registry.find(game).unwrap();
            let setup = rules.read_setup(setup).unwrap();
            // A seed is the highest 63 bits of the drawn number.
            let drawn = with_seeds(&*rules, &setup, &mut || 1 << 60).unwrap();
            let before = rules.write_setup(&setup).unwrap();
            let after = rules.write_setup(&drawn).unwrap();
            assert_eq!(before.replace("seed = 7", "seed = 576460752303423488"), after);
            assert_ne!(before, after);
        }
    }

    #[test]
    fn sv_62_a_setup_without_a_seed_stays_as_it_is() {
        let registry = turnfold_games::standard();
        let rules = registry.find("initiative").unwrap();
        let setup = rules.read_setup(rules.example()).unwrap();
        assert_eq!(with_seeds(&*rules, &setup, &mut || unreachable!("there is no seed")).unwrap(), setup);
    }

    #[test]
    fn sv_62_seeds_in_lists_count_and_words_do_not() {
        let setup = |seeds: [u64; 2]| {
            let [one, other] = seeds;
            let text =
                format!("seed = \"word\"\n[[worlds]]\nseed = {one}\nmore = [[{{ seed = {other} }}]]\n");
            Value::Table(text.parse().unwrap())
        };
        let mut table = setup([1, 2]);
        assert!(replace(&mut table, &mut || 9));
        assert_eq!(table, setup([9, 9]));
    }
}
