//! Tests the rulings, golden logs and laws of the rulesets in this crate. `tests/rulings/README.md` describes the
//! rulings.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::path::PathBuf;

use turnfold_core::{AnyState, CommandSource, DicePolicy, FoldError, Logged, Seat, Verdict};

mod goldens;
mod laws;
mod rulings;

/// Returns a path of the repository.
fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Folds a command and returns its outcome. If an ignored command has a message, it follows the reason in quotes.
///
/// # Panics
/// If the command is ignored or rejected and the state changes.
fn outcome_of(state: &mut dyn AnyState, seat: Seat, command: &str) -> String {
    let before = state.state_bytes();
    let entry = Logged { seq: 1, seat, command: CommandSource::Text(command) };
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
    if is_refused(&outcome) {
        assert_eq!(state.state_bytes(), before, "`{command}` is {outcome} and changed the state");
    }
    outcome
}

fn is_refused(outcome: &str) -> bool {
    outcome.starts_with("ignored ") || outcome.starts_with("rejected ")
}
