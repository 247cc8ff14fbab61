//! Setups as TOML: an accepted setup starts a match that can be viewed and played, and reads back as it is written.

use turnfold_core::{AnyRules, AnyState, Seat, SetupError};

use super::{check_message, choose};

/// The number of commands that are played from a setup.
const ENTRIES_MAX: usize = 4;

/// Reads the bytes after the first as a setup.
pub fn setup(bytes: &[u8]) {
    let Some((rules, _, rest)) = choose(bytes, 1) else { return };
    let Ok(toml) = str::from_utf8(rest) else { return };
    match rules.read_setup(toml) {
        Err(error) => check_error(toml, &error),
        Ok(setup) => {
            turnfold_laws::check_setup(&*rules, &setup);
            look_around(&*rules, &setup);
        }
    }
}

fn check_error(toml: &str, error: &SetupError) {
    check_message(&error.to_string());
    if let SetupError::Text { line, column, .. } = error {
        let place = usize::try_from(*line).unwrap().checked_sub(1).unwrap();
        let text = toml.split('\n').nth(place).unwrap_or_else(|| panic!("there is no line {line}: {error}"));
        let columns = text.chars().count() + 1;
        assert!((1..=columns).contains(&usize::try_from(*column).unwrap()), "no such column: {error}");
    }
}

/// Views the match as every viewer, and plays on as any seat that has a command.
fn look_around(rules: &dyn AnyRules, setup: &[u8]) {
    let mut state = rules.start(setup).unwrap();
    for seq in 1..=ENTRIES_MAX {
        for seat in [Seat::P1, Seat::P2, Seat::Host] {
            state.view(seat.into());
            state.picture(seat.into());
        }
        for question in turnfold_laws::questions(&*state).iter().take(8) {
            if let Err(error) = state.query(Seat::P1.into(), question) {
                check_message(&error.to_string());
            }
        }
        let Some((seat, command)) = next(&*state, seq) else { break };
        let entry = turnfold_laws::logged(seq as u64, seat, &command);
        state.fold(&[entry], &turnfold_core::DicePolicy::Recorded, &mut |_| {}).unwrap();
    }
}

/// Chooses the lowest values of a due roll, or one of the legal commands.
fn next(state: &dyn AnyState, seq: usize) -> Option<(Seat, String)> {
    if let Some(due) = state.due_roll() {
        let values = vec![due.low; usize::try_from(due.count).unwrap()];
        return state.roll_command(values).map(|roll| (Seat::Host, roll));
    }
    Seat::ALL.into_iter().find_map(|seat| {
        let mut legal = state.legal(seat);
        let place = legal.len().checked_sub(1)?.min(seq * 3);
        Some((seat, legal.swap_remove(place)))
    })
}
