//! The bytes of states, commands and setups: each value has one encoding, and no other bytes decode.

use turnfold_core::{AnyRules, AnyState, CommandSource, DicePolicy, FoldError, Logged, Seat};

use super::{check_message, choose};
use turnfold_laws::logged;

use crate::fixtures;

pub(super) const STATE: u8 = 0;
pub(super) const COMMAND: u8 = 1;
pub(super) const SETUP: u8 = 2;
pub(super) const KINDS: u8 = 3;

/// Decodes the bytes after the first, which selects their kind.
pub fn encoding(bytes: &[u8]) {
    match choose(bytes, KINDS) {
        Some((rules, STATE, rest)) => state(&*rules, rest),
        Some((rules, COMMAND, rest)) => command(&*rules, rest),
        Some((rules, _, rest)) => setup(&*rules, rest),
        None => {}
    }
}

fn state(rules: &dyn AnyRules, bytes: &[u8]) {
    match rules.resume(bytes, 0) {
        Err(error) => check_message(&error.to_string()),
        Ok(state) => {
            assert_eq!(state.state_bytes(), bytes, "a state is encoded as it was decoded");
            assert_eq!(state.fork().state_hash(), state.state_hash());
            play_on(state);
        }
    }
}

/// Reads a state that no match may reach, and plays on from it. The results may be nonsense, but must not panic.
fn play_on(mut state: Box<dyn AnyState>) {
    for seat in [Seat::P1, Seat::P3, Seat::Host] {
        state.view(seat.into());
        state.picture(seat.into());
        let legal = state.legal(seat);
        for command in legal.iter().step_by(legal.len() / 4 + 1) {
            let folded = state.fold(&[logged(1, seat, command)], &DicePolicy::Recorded, &mut |step| {
                step.effects_json();
            });
            if let Err(error) = folded {
                check_message(&error.to_string());
            }
        }
    }
}

fn command(rules: &dyn AnyRules, bytes: &[u8]) {
    let text = match rules.command_text(bytes) {
        Err(error) => return check_message(&error.to_string()),
        Ok(text) => text,
    };
    assert_eq!(rules.canonical(&text).as_ref(), Ok(&text), "a command that decodes can be written and read");
    let fixture = fixtures(rules.name()).swap_remove(0);
    let start = rules.start(&rules.read_setup(&fixture.toml).unwrap()).unwrap();
    for seat in [Seat::P1, Seat::Host] {
        let decoded = Logged { seq: 1, seat, command: CommandSource::Bytes(bytes) };
        let fold = |entry: Logged<'_>| {
            let mut written = None;
            let observe = &mut |step: &mut dyn turnfold_core::Step| {
                written = Some((step.command(), step.command_bytes(), step.state_hash()));
            };
            start.fork().fold(&[entry], &DicePolicy::Recorded, observe).map(|()| written)
        };
        let (from_bytes, from_text) = (fold(decoded), fold(logged(1, seat, &text)));
        assert!(!matches!(from_bytes, Err(FoldError::Undecodable { .. })));
        assert_eq!(from_bytes, from_text, "`{text}` means the same as its bytes");
        if let Ok(Some((_, again, _))) = from_bytes {
            assert_eq!(again, bytes, "a command is encoded as it was decoded");
        }
    }
}

fn setup(rules: &dyn AnyRules, bytes: &[u8]) {
    let (started, written) = (rules.start(bytes), rules.write_setup(bytes));
    for error in [started.as_ref().err(), written.as_ref().err()].into_iter().flatten() {
        check_message(&error.to_string());
    }
    if started.is_ok() {
        let toml = written.unwrap();
        assert_eq!(
            rules.read_setup(&toml).as_deref(),
            Ok(bytes),
            "a setup that starts can be written: {toml}"
        );
    }
}
