//! Matches for tests that do their own folding. Tests that can be written as scripts are in `tests/rulings/`.

use std::path::PathBuf;

use turnfold_core::any::AnyState;
use turnfold_core::{CommandSource, DicePolicy, FoldError, Logged, Seat, Verdict};

/// Starts a match from the text of a setup.
pub(crate) fn start(ruleset: &str, toml: &str) -> Box<dyn AnyState> {
    let rules = turnfold_games::find(ruleset).unwrap();
    rules.start(&rules.read_setup(toml).unwrap()).unwrap()
}

/// Reads a fixture by name.
pub(crate) fn fixture(ruleset: &str, name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(ruleset);
    std::fs::read_to_string(folder.join(name).with_extension("toml")).unwrap()
}

/// Folds a command and returns its outcome. Requires that an ignored or rejected command changes nothing.
pub(crate) fn outcome_of(state: &mut dyn AnyState, seq: u64, seat: Seat, command: &str) -> String {
    let before = state.state_bytes();
    let entry = Logged { seq, seat, command: CommandSource::Text(command) };
    let mut outcome = String::new();
    let folded = state.fold(&[entry], &DicePolicy::Recorded, &mut |step| {
        outcome = step.outcome().to_string();
        if let Verdict::Ignored(ruling) = step.verdict() {
            outcome.extend(ruling.text.map(|text| format!(" {text:?}")));
        }
    });
    match folded {
        Ok(()) => {}
        Err(FoldError::Rejected { rejected, .. }) => outcome = format!("rejected {}", rejected.code),
        Err(FoldError::Malformed { .. }) => outcome = "rejected malformed".into(),
        Err(error) => panic!("{error}"),
    }
    if outcome.starts_with("ignored ") || outcome.starts_with("rejected ") {
        assert_eq!(state.state_bytes(), before, "`{command}` is {outcome} and changed the state");
    }
    outcome
}
