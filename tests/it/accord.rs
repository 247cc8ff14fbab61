//! The accord of a match: takebacks, and the current branch of the match (SV-63 to SV-65).

use turnfold_core::rules::accord::{Accord, Command, State, Terms};
use turnfold_core::{BranchName, Rules as _, Seat, Verdict};

fn start() -> State {
    Accord::start(&toml::from_str(Accord::EXAMPLE).unwrap()).unwrap()
}

#[track_caller]
fn apply(state: &mut State, seat: Seat, text: &str) -> bool {
    let command: Command = text.parse().unwrap();
    assert_eq!(format!("{command}"), text);
    Accord::apply(state, seat, &command, &mut ()).is_ok_and(|verdict| matches!(verdict, Verdict::Applied(())))
}

#[test]
fn sv_63_one_question_is_open_until_the_next_entry() {
    let mut state = start();
    assert!(!apply(&mut state, Seat::P1, "takeback main 4 4"), "the last entry is nothing to take back");
    assert!(!apply(&mut state, Seat::P1, "takeback other 4 3"));
    assert!(apply(&mut state, Seat::P1, "takeback main 4 2"));
    assert!(!apply(&mut state, Seat::P2, "takeback main 4 3"));
    assert_eq!(state.takeback(4).map(|asked| asked.number), Some(1));
    assert_eq!(state.takeback(5), None);
    assert!(!apply(&mut state, Seat::Host, "agree 1"), "the host takes back without asking");
    // A takeback to another entry is another question.
    assert!(apply(&mut state, Seat::P2, "takeback main 5 4"));
    assert_eq!(state.takeback(5).map(|asked| asked.number), Some(2));
}

#[test]
fn sv_64_what_was_declined_is_asked_again_after_another_entry() {
    let mut state = start();
    apply(&mut state, Seat::P1, "takeback main 4 2");
    for (seat, refused) in [(Seat::P1, "agree 1"), (Seat::P2, "agree 2"), (Seat::P2, "decline 2")] {
        assert!(!apply(&mut state, seat, refused), "{refused}");
    }
    assert!(apply(&mut state, Seat::P2, "agree 1"));
    assert!(!apply(&mut state, Seat::P2, "agree 1"), "once is enough");
    assert!(apply(&mut state, Seat::P2, "decline 1"), "minds change before all have agreed");
    assert!(!apply(&mut state, Seat::P1, "takeback main 4 3"));
    assert!(apply(&mut state, Seat::P2, "takeback main 4 3"), "another may ask");
    assert!(apply(&mut state, Seat::P2, "decline 2"));
    assert!(apply(&mut state, Seat::P1, "takeback main 5 3"));
}

#[test]
fn sv_65_the_match_goes_on_on_one_branch() {
    let mut state = start();
    let main = BranchName::main();
    assert_eq!((state.branch(), state.has_left(&main)), (&main, false));
    apply(&mut state, Seat::P1, "takeback main 4 2");
    assert!(!apply(&mut state, Seat::P1, "stand takeback-1"), "only the host moves a match");
    assert!(!apply(&mut state, Seat::Host, "stand main"));
    assert!(apply(&mut state, Seat::Host, "stand takeback-1"));
    assert_eq!((state.branch().as_str(), state.has_left(&main)), ("takeback-1", true));
    assert_eq!(state.takeback(4), None, "that answers what was asked");
    assert!(apply(&mut state, Seat::Host, "stand main"));
    assert!(!state.has_left(&main) && state.has_left(&"takeback-1".parse().unwrap()));
}

#[test]
fn sv_45_terms_that_name_nothing_are_none() {
    let mut state = start();
    assert!(state.has_terms());
    apply(&mut state, Seat::Host, &format!("terms {}", Terms::none()));
    assert!(!state.has_terms());
}
