//! A game that is not written in Rust: tic-tac-toe in C.

use std::fs;
use std::path::PathBuf;

use turnfold_core::Registry;
use turnfold_laws::{Fixture, require_kept};
use turnfold_module::load;

/// MD-3, MD-4: it knows nothing of turnfold but `ABI.md`.
#[test]
fn md_4_a_game_in_another_language_keeps_every_law_and_its_golden_log() {
    let modules = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/modules");
    let rules = load(&fs::read(modules.join("tictactoe.wasm")).unwrap()).unwrap();
    let toml = fs::read_to_string(modules.join("tictactoe/setup.toml")).unwrap();
    require_kept(&*rules, &[Fixture::example(&*rules), Fixture { name: "second".into(), toml }]);
    let registry = Registry::default().with(rules);
    let report = turnfold_replay::check(&registry, modules.join("tictactoe")).unwrap();
    assert!(report.is_good(), "{report}");
    assert_eq!(report.entries(), 6);
}
