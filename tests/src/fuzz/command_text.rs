//! The text of commands: a command that was read is written in one form, which reads back and fits into a replay file.

use turnfold_core::{AnyRules, AnyState, DicePolicy, FoldError, Seat};

use super::{check_message, choose};
use turnfold_laws::logged;

use crate::fixtures;

/// Reads the bytes after the first as a command's text.
pub fn command_text(bytes: &[u8]) {
    let Some((rules, _, rest)) = choose(bytes, 1) else { return };
    let Ok(text) = str::from_utf8(rest) else { return };
    match rules.canonical(text) {
        Err(malformed) => check_message(&malformed.to_string()),
        Ok(canonical) => {
            assert_eq!(rules.canonical(&canonical), Ok(canonical.clone()), "its canonical text reads back");
            let bare = canonical.trim() == canonical && !canonical.contains(char::is_control);
            let marked = canonical.contains("  ") || canonical.contains(" #") || canonical.contains(" =>");
            assert!(bare && !marked, "`{canonical}` cannot stand in a replay file");
        }
    }
    check_judged(&*rules, text);
}

/// Gives the command as each seat at the start of a match, and requires judging and folding to agree.
fn check_judged(rules: &dyn AnyRules, text: &str) {
    let setup = fixtures(rules.name()).swap_remove(0);
    let state = rules.start(&rules.read_setup(&setup.toml).unwrap()).unwrap();
    let malformed = rules.canonical(text).is_err();
    assert_eq!(state.default_seat(text).is_none(), malformed);
    for seat in [Seat::P1, Seat::P8, Seat::Host] {
        check_agreement(&*state, seat, text, malformed);
    }
}

fn check_agreement(state: &dyn AnyState, seat: Seat, text: &str, malformed: bool) {
    let judged = state.judge(seat, text);
    let mut verdict = None;
    let folded = state
        .fork()
        .fold(&[logged(1, seat, text)], &DicePolicy::Recorded, &mut |step| verdict = Some(step.verdict()));
    match (judged, folded) {
        (Ok(judged), Ok(())) => assert_eq!(Some(judged), verdict),
        (Err(rejected), Err(FoldError::Malformed { .. })) => {
            assert!(malformed && rejected.code == "malformed");
            check_message(&rejected.message);
        }
        (Err(judged), Err(FoldError::Rejected { rejected, .. })) => {
            assert!(!malformed && judged == *rejected);
            check_message(&rejected.message);
        }
        (judged, folded) => panic!("`{text}` is judged {judged:?} and folded {folded:?}"),
    }
}
