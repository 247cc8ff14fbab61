//! Compares recorded play of another implementation: everything available, every offer, every position and every
//! refusal.
//!
//! Where the rules differ from the recording, the test names the rule's id and counts the cases. `--nocapture` shows
//! the counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use turnfold_core::{AnyState, Seat};

use super::view;

mod games;
mod positions;

/// A take: the row and the energies, in maya row order.
type Take = (u64, Vec<u64>);
/// The moves on offer: energy, variant, row.
type Moves = BTreeSet<(u64, u64, u64)>;

/// The number of comparisons of each kind.
#[derive(Default)]
struct Counts(BTreeMap<&'static str, usize>);

impl Counts {
    fn add(&mut self, what: &'static str, count: usize) {
        *self.0.entry(what).or_default() += count;
    }

    /// Prints the counts and requires these values, so that a change of the data or of a rule makes someone review the
    /// comparisons.
    #[expect(clippy::print_stderr, reason = "the counts are part of the proof; `--nocapture` shows them")]
    fn check(&self, expected: &[(&'static str, usize)]) {
        eprintln!("{:#?}", self.0);
        assert_eq!(self.0, expected.iter().copied().collect());
    }
}

fn lines(name: &str) -> Vec<Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors/channel").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the seat of a recorded player; players are numbered from 1.
fn seat(player: &Value) -> Seat {
    Seat::ALL[usize::try_from(player.as_u64().unwrap()).unwrap() - 1]
}

/// Reads takes that are grouped by equal rows.
fn takes(groups: &Value) -> BTreeSet<Take> {
    let group = |group: &Value| -> Vec<Take> {
        let choices = array(&group[1]).iter().map(numbers);
        let in_rows = |ids: Vec<u64>| numbers(&group[0]).into_iter().map(move |row| (row, ids.clone()));
        choices.flat_map(in_rows).collect()
    };
    array(groups).iter().flat_map(group).collect()
}

/// Reads moves in the form of the view.
fn moves(possibles: &Value) -> Moves {
    let number = |text: &String| text.parse().unwrap();
    let of_energy = |(id, rows): (&String, &Value)| -> Vec<_> {
        let rows = rows.as_object().unwrap().iter();
        rows.map(|(variant, row)| (number(id), number(variant), row.as_u64().unwrap())).collect()
    };
    possibles.as_object().into_iter().flatten().flat_map(of_energy).collect()
}

/// Removes the listed moves `[id, row]`.
fn without(mut moves: Moves, listed: &Value) -> Moves {
    for listed in array(listed).iter().map(numbers) {
        let before = moves.len();
        moves.retain(|(id, _, row)| [*id, *row] != listed[..]);
        assert!(moves.len() < before, "{listed:?} is listed but not among the moves");
    }
    moves
}

fn options(state: &dyn AnyState) -> Value {
    serde_json::from_str(&state.query(Seat::P1.into(), "options").unwrap().json).unwrap()
}

/// Returns the command of a take.
fn take_command((row, ids): &Take) -> String {
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    format!("take {row} {}", ids.join(" "))
}

/// Returns `true` if a channel could be carried out, regardless of tokens.
fn is_possible(state: &dyn AnyState, channel: u64) -> bool {
    *state.query(Seat::P1.into(), &format!("possible {channel}")).unwrap().json == *"true"
}

fn rejection(state: &dyn AnyState, seat: Seat, command: &str) -> Option<String> {
    state.judge(seat, command).err().map(|rejected| rejected.code.to_string())
}

/// Compares what a player may take and which channels it may choose.
fn compare_choices(counts: &mut Counts, state: &dyn AnyState, player: Seat, args: &Value, place: &str) {
    let options = options(state);
    let found: BTreeSet<Take> =
        array(&options["takes"]).iter().map(|take| (take[0].as_u64().unwrap(), numbers(&take[1]))).collect();
    let mut expected = takes(&args["takes"]);
    counts.add("takes", expected.len());
    // CH-4: the recording also lists takes that lock the last token.
    expected.retain(|take| {
        let lock = rejection(state, player, &take_command(take)).as_deref() == Some("last_token");
        assert!(!lock || args["notBlocked"] == json!(1), "{place}: {take:?} is not about the last token");
        counts.add("CH-4 takes of the last token", usize::from(lock));
        !lock
    });
    assert_eq!(found, expected, "{place}");
    // CH-4: the recording permits takes of both black and white, but never plays them.
    for take in takes(&args["takesBoth"]) {
        assert_eq!(
            rejection(state, player, &take_command(&take)).as_deref(),
            Some("black_and_white"),
            "{place} {take:?}"
        );
        counts.add("CH-4 takes of black and white", 1);
    }
    let chosen = (1..).zip(numbers(&args["channel"])).filter(|(_, flag)| *flag == 1);
    let mut chosen: Vec<u64> = chosen.map(|(channel, _)| channel).collect();
    let recorded = chosen.len();
    // CH-9: the recording also offers channels that only a move into a full earth would complete.
    chosen.retain(|channel| is_possible(state, *channel));
    counts.add("CH-9 channels not offered", recorded - chosen.len());
    assert_eq!(numbers(&options["channels"]), chosen, "{place}");
    assert_eq!(numbers(&view(state, player)["channels"]), chosen, "{place}");
    counts.add("lists of channels", 1);
}

/// Compares the moves on offer with the recorded moves, except those listed as `dead` or `fail`.
fn compare_moves(counts: &mut Counts, state: &dyn AnyState, args: &Value, place: &str) {
    let found = moves(&view(state, Seat::P1)["possibles"]);
    assert_eq!(moves(&options(state)["moves"]), found, "{place}");
    let recorded = moves(&args["possibles"]);
    counts.add("sets of moves", 1);
    counts.add("moves", found.len());
    counts.add("CH-9 dead moves", array(&args["dead"]).len());
    counts.add("CH-9 moves into a full earth", array(&args["fail"]).len());
    let expected = without(without(recorded, &args["dead"]), &args["fail"]);
    // CH-9: moves of channels that only a move into a full earth could complete are not offered either.
    let unfinished = expected.difference(&found).count();
    assert!(found.is_subset(&expected), "{place}: {found:?} but {expected:?}");
    assert!(
        unfinished == 0 || earth_is_full_after_any(state, &expected),
        "{place}: {found:?} but {expected:?}"
    );
    counts.add("CH-9 moves that only such a move completes", unfinished);
}

/// Returns `true` if the earth has eight energies already or after one of the moves.
fn earth_is_full_after_any(state: &dyn AnyState, moves: &Moves) -> bool {
    let view = view(state, Seat::P1);
    let player = array(&view["players"]).iter().find(|player| player["seat"] == view["active"]).unwrap();
    let earth = numbers(&player["rows"][8]).iter().filter(|id| **id > 0).count();
    earth + usize::from(moves.iter().any(|(_, _, row)| *row == 9)) >= 8
}
