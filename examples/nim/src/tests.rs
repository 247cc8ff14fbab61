//! Nim keeps the laws of every ruleset.

use turnfold_core::any::erase;
use turnfold_laws::{Fixture, require_kept};

use super::Nim;

#[test]
fn nim_keeps_every_law() {
    let rules = erase::<Nim>();
    let even = Fixture { name: "even".into(), toml: "heaps = [2, 2]".into() };
    require_kept(rules, &[Fixture::example(rules), even]);
}
