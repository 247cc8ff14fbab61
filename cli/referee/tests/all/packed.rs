//! The committed modules: a game that is not written in Rust, an old version, and a large game.

use std::fs;
use std::path::PathBuf;

use turnfold_core::Registry;
use turnfold_laws::{Fixture, broken_laws_while, require_kept};
use turnfold_referee::load;

/// MD-3, MD-4: it knows nothing of turnfold but `PROTOCOL.md`.
#[test]
fn md_4_a_game_in_another_language_keeps_every_law_and_its_golden_log() {
    let modules = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/modules");
    let rules = load(&fs::read(modules.join("tictactoe.wasm")).unwrap()).unwrap();
    let toml = fs::read_to_string(modules.join("tictactoe/setup.toml")).unwrap();
    require_kept(&*rules, &[Fixture::example(&*rules), Fixture { name: "second".into(), toml }]);
    let registry = Registry::default().with(rules);
    let report = turnfold_history::check(&registry, modules.join("tictactoe")).unwrap();
    assert!(report.is_good(), "{report}");
    assert_eq!(report.entries(), 6);
}

/// RF-9: a module whose states are JSON knows its commands by their text alone, and may refuse any with a code of its own.
#[test]
fn rf_22_a_module_with_json_states_may_refuse_any_text() {
    let tour = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tour/flank.wasm");
    let rules = load(&fs::read(tour).unwrap()).unwrap();
    let mut places = 0;
    let tried = broken_laws_while(&*rules, &[Fixture::example(&*rules)], &mut |_| {
        places += 1;
        places < 400
    });
    assert_eq!(tried.broken, [""; 0]);
}

/// MD-5: version 1 of Nim, whose program plays version 2 by now, and chess reproduce their golden logs.
#[test]
fn md_5_packed_games_reproduce_their_golden_logs() {
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (module, replays, entries) in
        [("nim-1", "examples/nim/replays/mirror.tfl", 3), ("chess", "examples/chess/replays", 160)]
    {
        let rules =
            load(&fs::read(repository.join(format!("fixtures/modules/{module}.wasm"))).unwrap()).unwrap();
        let report =
            turnfold_history::check(&Registry::default().with(rules), repository.join(replays)).unwrap();
        assert!(report.is_good(), "{report}");
        assert_eq!(report.entries(), entries, "{module}");
    }
}
