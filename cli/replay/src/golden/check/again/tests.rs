//! Rulesets that do not fold alike every time, and how they are found out.

use std::cell::Cell;

use serde::{Deserialize, Serialize};
use turnfold_core::admission::Issuer;
use turnfold_core::any::erase;
use turnfold_core::outcome::{EffectSink, Verdict};
use turnfold_core::picture::Picture;
use turnfold_core::rules::initiative::{Initiative, Reason};
use turnfold_core::{Answer, DueRoll, Malformed, Rules, Seat, SetupError};

use crate::compare::divergence::{DivergenceKind, Subject};
use crate::example::replay;
use crate::golden::bless::bless;
use crate::golden::check::replay::check_under;
use crate::history::entry::LogEntry;
use crate::tfl::ReplayLine;

/// What is wrong with the altered ruleset.
const NOTHING: u8 = 0;
/// It counts entries outside the state and ignores the fourth.
const FORGETFUL: u8 = 1;
/// Only in the first fold does it ignore `click`.
const FICKLE: u8 = 2;
/// Only in the first fold does it give another reason.
const FICKLE_IN_WORDS: u8 = 3;

thread_local! {
    static STARTS: Cell<u32> = const { Cell::new(0) };
}

/// The ruleset `initiative` with a flaw.
struct Flawed<const FLAW: u8>;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct State {
    inner: <Initiative as Rules>::State,
    #[serde(skip)]
    entries: u32,
    #[serde(skip)]
    is_first_fold: bool,
}

impl<const FLAW: u8> Rules for Flawed<FLAW> {
    const NAME: &'static str = Initiative::NAME;
    const VERSION: u32 = Initiative::VERSION;
    const SUMMARY: &'static str = Initiative::SUMMARY;
    const EXAMPLE: &'static str = Initiative::EXAMPLE;
    const RULEBOOK: &'static str = Initiative::RULEBOOK;
    const QUERIES: &'static str = Initiative::QUERIES;

    type Setup = <Initiative as Rules>::Setup;
    type State = State;
    type Command = <Initiative as Rules>::Command;
    type Plan = <Initiative as Rules>::Plan;
    type Effect = <Initiative as Rules>::Effect;
    type Reason = <Initiative as Rules>::Reason;
    type Rejection = <Initiative as Rules>::Rejection;
    type View = <Initiative as Rules>::View;

    fn start(setup: &Self::Setup) -> Result<State, SetupError> {
        let starts = STARTS.get();
        STARTS.set(starts + 1);
        // The setup is tried once when it is read, before any fold.
        Ok(State { inner: Initiative::start(setup)?, entries: 0, is_first_fold: starts == 1 })
    }

    fn decide(
        state: &State,
        seat: Seat,
        command: &Self::Command,
    ) -> Result<Verdict<Self::Plan, Reason>, Self::Rejection> {
        let verdict = Initiative::decide(&state.inner, seat, command)?;
        let is_click = command.to_string().starts_with("click ");
        Ok(match (FLAW, verdict) {
            (FORGETFUL, _) if state.entries == 3 => Verdict::Ignored(Reason::OutOfReach),
            (FICKLE, _) if state.is_first_fold && is_click => Verdict::Ignored(Reason::NoUnit),
            (FICKLE_IN_WORDS, Verdict::Ignored(_)) if state.is_first_fold => {
                Verdict::Ignored(Reason::SameHex)
            }
            (_, verdict) => verdict,
        })
    }

    fn carry_out(state: &mut State, plan: Self::Plan, effects: &mut impl EffectSink<Self::Effect>) {
        state.entries += 1;
        Initiative::carry_out(&mut state.inner, plan, effects);
    }

    fn players(state: &State) -> &'static [Seat] {
        Initiative::players(&state.inner)
    }

    fn due_roll(state: &State) -> Option<DueRoll> {
        Initiative::due_roll(&state.inner)
    }

    fn roll(values: Vec<i32>) -> Option<Self::Command> {
        Initiative::roll(values)
    }

    fn rolled(command: &Self::Command) -> Option<&[i32]> {
        Initiative::rolled(command)
    }

    fn issuer(command: &Self::Command) -> Issuer {
        Initiative::issuer(command)
    }

    fn active_seat(state: &State) -> Option<Seat> {
        Initiative::active_seat(&state.inner)
    }

    fn candidates(state: &State, seat: Seat) -> Vec<Self::Command> {
        Initiative::candidates(&state.inner, seat)
    }

    fn view(state: &State, viewer: Seat) -> Self::View {
        Initiative::view(&state.inner, viewer)
    }

    fn query(state: &State, seat: Seat, question: &str) -> Result<Option<Answer>, Malformed> {
        Initiative::query(&state.inner, seat, question)
    }

    fn picture(state: &State, viewer: Seat) -> Picture {
        Initiative::picture(&state.inner, viewer)
    }
}

const SCRIPT: &str = "1 host roll 6 6 1 1\n2 p2 click 0,-3\n3 p2 move 0,-2\n4 p1 click 0,3\n5 p1 click 2,2\n";

/// Checks a good replay under the flawed ruleset, started for the first time; returns kind and entry of the mismatch.
fn check_flaw<const FLAW: u8>(script: &str, expected: Option<(DivergenceKind, u64)>) {
    let blessed = bless(&replay(script)).unwrap();
    STARTS.set(0);
    let checked = check_under(erase::<Flawed<FLAW>>(), &blessed).unwrap();
    let found = checked.difference.map(|mismatch| match mismatch.divergence.subject {
        Subject::Entry { seq, .. } => (mismatch.kind(), seq),
        _ => (mismatch.kind(), 0),
    });
    assert_eq!(found, expected);
}

#[test]
fn rules_without_a_flaw_pass() {
    check_flaw::<NOTHING>(SCRIPT, None);
    check_flaw::<NOTHING>("", None);
    check_flaw::<NOTHING>("1 host roll 6 6 1 1\n", None);
}

#[test]
fn a_state_that_forgets_something_in_its_bytes_is_found() {
    // What a fold that stores nothing makes of it, so that the flaw shows in the resumed fold only.
    let blessed = bless(&replay("1 host roll 6 6 1 1\n2 p2 click 0,-3\n3 p2 move 0,-2\n")).unwrap();
    let hash = blessed.entries().last().and_then(|entry| entry.hash).unwrap();
    let mut forgetful = blessed.clone();
    let outcome = "ignored out_of_reach".parse().ok();
    let entry = LogEntry { outcome, hash: Some(hash), ..LogEntry::new(4, Seat::P1, "click 0,3") };
    forgetful.lines.push(ReplayLine::Entry(entry));
    forgetful.close(blessed.closing.unwrap().state);
    let checked = check_under(erase::<Flawed<FORGETFUL>>(), &forgetful).unwrap();
    let mismatch = checked.difference.unwrap();
    assert_eq!(mismatch.kind(), DivergenceKind::NotStorable);
    assert_eq!(
        mismatch.headline(),
        "x.tfl:21: entry 4 (p1 click 0,3): the state does not survive storage, a fold resumed from it differs"
    );
    assert_eq!(mismatch.lines().last().unwrap().to_string(), "to reproduce: turnfold selftest x.tfl");
}

#[test]
fn a_fold_that_differs_from_the_one_before_is_found() {
    check_flaw::<FICKLE>(SCRIPT, Some((DivergenceKind::NotDeterministic, 2)));
}

#[test]
fn an_outcome_that_differs_from_the_one_before_is_found_though_the_state_is_the_same() {
    check_flaw::<FICKLE_IN_WORDS>(SCRIPT, Some((DivergenceKind::NotDeterministic, 5)));
}
