//! Properties that hold along random legal play of every fixture and of fresh deals.

use turnfold_core::dice::DiceStream;
use turnfold_core::{AnyState, Seat};

use super::{outcome_of, play, start, view};
use crate::script::fixture;

const STEPS_MAX: usize = 220;

/// Plays legal commands drawn from a seed. Before each, calls `observe` with the state, the seat and the legal
/// commands.
///
/// The verb is drawn first, because otherwise takes would crowd out the rest. Returns the number of commands played.
fn wander(toml: &str, seed: u8, mut observe: impl FnMut(&dyn AnyState, Seat, &[String])) -> usize {
    let mut state = start(toml);
    let mut stream = DiceStream::new(&[seed; 32], 0);
    let mut draw = |count: usize| usize::try_from(stream.draw(0, i32::try_from(count).unwrap() - 1)).unwrap();
    for step in 0..STEPS_MAX {
        let active = state.players().iter().copied().find(|seat| !state.legal(*seat).is_empty());
        let Some(seat) = active else {
            // CH-16: there is always a legal command until the match ends.
            assert_eq!(
                view(&*state, Seat::P1)["state"],
                "over",
                "seed {seed} sticks at step {step} of\n{toml}"
            );
            return step;
        };
        let legal = state.legal(seat);
        observe(&*state, seat, &legal);
        let verb = |command: &String| command.split(' ').next().unwrap().to_owned();
        let mut verbs: Vec<String> = legal.iter().map(verb).collect();
        verbs.dedup();
        // Meditation and going back lead nowhere, so they are drawn less often.
        let onward: Vec<&String> =
            verbs.iter().filter(|verb| !["meditate", "undo", "cancel"].contains(&verb.as_str())).collect();
        let verb = if onward.is_empty() || draw(6) == 0 {
            &verbs[draw(verbs.len())]
        } else {
            onward[draw(onward.len())]
        };
        let choices: Vec<&String> =
            legal.iter().filter(|command| command.split(' ').next() == Some(verb.as_str())).collect();
        play(&mut *state, seat, choices[draw(choices.len())]);
    }
    STEPS_MAX
}

fn deals() -> Vec<String> {
    let seeded = [(1, false, 1), (2, false, 2), (3, true, 3), (4, true, 4), (2, true, 5)];
    let seeded = seeded
        .map(|(players, yinyang, seed)| format!("players = {players}\nyinyang = {yinyang}\nseed = {seed}"));
    seeded.into_iter().chain([fixture("channel", "small-table"), fixture("channel", "full-earth")]).collect()
}

fn on_boards(view: &serde_json::Value) -> Vec<u64> {
    let rows =
        view["players"].as_array().unwrap().iter().flat_map(|player| player["rows"].as_array().unwrap());
    let maya = view["maya"].as_array().unwrap().iter();
    let ids = rows.chain(maya).flat_map(|row| row.as_array().unwrap()).map(|id| id.as_u64().unwrap());
    ids.filter(|id| *id > 0).collect()
}

#[test]
fn ch_1_ch_12_ch_13_energies_are_conserved_and_rows_never_overflow() {
    let mut observed = 0;
    for (seed, toml) in (1..).zip(deals()) {
        let mut total = None;
        wander(&toml, seed, |state, _, _| {
            let view = view(state, Seat::Host);
            let mut ids = on_boards(&view);
            ids.extend(view["out"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap()));
            let found = ids.len() + usize::try_from(view["bag"]["total"].as_u64().unwrap()).unwrap();
            assert_eq!(*total.get_or_insert(found), found);
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(
                ids.len() + usize::try_from(view["bag"]["total"].as_u64().unwrap()).unwrap(),
                found,
                "twice"
            );
            for player in view["players"].as_array().unwrap() {
                let lengths =
                    player["rows"].as_array().unwrap().iter().map(|row| row.as_array().unwrap().len());
                assert!(lengths.zip(1..).all(|(length, row)| length <= if row == 9 { 8 } else { 3 }));
            }
            observed += 1;
        });
    }
    assert!(observed > 700, "only {observed} tables were looked at");
}

/// Tries every offered move to the end of its sequence, with every continuation, and `undo` at each point.
fn complete(state: &dyn AnyState, seat: Seat, before: &[u8], sequences: &mut usize) {
    let legal = state.legal(seat);
    if legal.iter().any(|command| command == "confirm") {
        let mut undone = state.fork();
        play(&mut *undone, seat, "undo");
        assert_eq!(undone.state_bytes(), before, "undo restores the start of the turn");
        *sequences += 1;
        return;
    }
    let moves: Vec<&String> = legal.iter().filter(|command| command.starts_with("move ")).collect();
    assert!(!moves.is_empty(), "a sequence sticks");
    for command in moves {
        let mut after = state.fork();
        play(&mut *after, seat, command);
        complete(&*after, seat, before, sequences);
    }
}

#[test]
fn ch_9_ch_11_every_offered_move_leads_to_the_end_and_undo_restores_the_bytes() {
    let mut sequences = 0;
    for (seed, toml) in (1..).zip(deals()) {
        let mut turns = 0;
        wander(&toml, seed, |state, seat, legal| {
            let channels: Vec<&String> =
                legal.iter().filter(|command| command.starts_with("channel ")).collect();
            turns += 1;
            // Only occasionally all continuations of one channel, because there are hundreds.
            let Some(command) = channels.get(turns % channels.len().max(1)).filter(|_| turns % 11 == 0)
            else {
                return;
            };
            let before = state.state_bytes();
            let mut opened = state.fork();
            play(&mut *opened, seat, command);
            if *command == "channel 8" {
                play(&mut *opened, seat, "cancel");
                assert_eq!(opened.state_bytes(), before);
            } else {
                complete(&*opened, seat, &before, &mut sequences);
            }
        });
    }
    assert!(sequences > 500, "only {sequences} sequences were completed");
}

#[test]
fn ch_9_what_is_not_offered_is_rejected() {
    let mut tried = 0;
    for (seed, toml) in (20..).zip(deals()) {
        wander(&toml, seed, |state, seat, legal| {
            if !legal.iter().any(|command| command.starts_with("move ")) {
                return;
            }
            let mut scratch = state.fork();
            for id in on_boards(&view(state, seat)) {
                for row in 0..=10 {
                    let command = format!("move {id} {row}");
                    if !legal.contains(&command) {
                        assert_eq!(
                            outcome_of(&mut *scratch, seat, &command),
                            "rejected not_offered",
                            "{command}"
                        );
                        tried += 1;
                    }
                }
            }
        });
    }
    assert!(tried > 10_000, "only {tried} moves were tried");
}
