//! Properties that hold after every command of random play: HC-16, and that `tick N` equals N single ticks.

use serde_json::Value;
use turnfold_core::dice::DiceStream;
use turnfold_core::{AnyState, Board, Hex, Seat};

use super::start;
use crate::script::outcome_of;

/// The number of commands in a run, unless `TURNFOLD_RANDOM_COMMANDS` sets another.
const COMMANDS: u32 = 12_000;
/// The number of commands in a match; then another match begins, on another disc.
const COMMANDS_OF_A_MATCH: u32 = 400;

/// Random choices that make progress more often than random legal commands would.
struct Player(DiceStream);

impl Player {
    fn below(&mut self, count: i32) -> i32 {
        self.0.draw(0, count - 1)
    }

    fn setup(&mut self) -> String {
        let (radius, percent) = (1 + self.below(4), [25, 60, 98][usize::try_from(self.below(3)).unwrap()]);
        let (seed, hold) = (self.below(i32::MAX), self.below(7));
        // The inventory is often full from the start.
        let full = radius < 3 && self.below(2) == 0;
        let hexes = Board::new(u8::try_from(radius).unwrap()).hexes().filter(|_| full);
        let inventory: Vec<String> = hexes.map(|at| format!("{{ at = [{at}], color = 1 }}")).collect();
        format!(
            "radius = {radius}\nmin_chance = 60\nhold = {hold}\nfail_cooldown = {hold}\ngenerate = {{ seed = {seed}, percent = {percent} }}\n\
             inventory = [{}]",
            inventory.join(", ")
        )
    }

    fn command(&mut self, state: &dyn AnyState) -> String {
        if let Some(due) = state.due_roll() {
            return format!("roll {}", self.0.draw(due.low, due.high));
        }
        match self.below(100) {
            ..22 => format!("move {}", self.below(6)),
            22..26 => format!("stick {}", self.below(6)),
            26..43 => "act".into(),
            43..48 => "release".into(),
            48..51 => "eat".into(),
            51..55 => "toggle".into(),
            55..70 => "tick".into(),
            _ => format!("tick {}", 2 + self.below(20)),
        }
    }
}

fn view(state: &dyn AnyState) -> Value {
    serde_json::from_str(&state.view(Seat::P1.into())).unwrap()
}

fn hex(value: &Value) -> Hex {
    serde_json::from_value(value.clone()).unwrap()
}

/// Returns the number of colored hexes in both fields.
fn hexes(view: &Value) -> usize {
    view["world"].as_array().unwrap().len() + view["inventory"].as_array().unwrap().len()
}

/// Checks HC-16; there must be `expected` hexes.
fn check_invariants(view: &Value, board: Board, expected: usize) {
    let turtle = hex(&view["turtle"]);
    assert!(board.contains(turtle) && board.contains(hex(&view["cursor"])), "off the disc: {view}");
    if view["carried"]["field"] == "world" {
        let at = hex(&view["carried"]["at"]);
        assert_eq!(turtle.distance(at), 1, "the turtle is not next to what it carries: {view}");
    }
    if let Some(at) = view["carried"].get("at") {
        let field = view[view["carried"]["field"].as_str().unwrap()].as_array().unwrap();
        assert!(field.iter().any(|cell| cell["at"] == *at), "nothing is carried: {view}");
    }
    assert_eq!(hexes(view), expected, "a hex was made or lost: {view}");
}

/// Plays matches. Returns how often it saw a capture, a capture in the inventory, a hex put down, a hex lost, and a
/// blocked way.
fn play(commands: u32) -> [u32; 5] {
    let words = [
        "captured field=world",
        "captured field=inventory",
        "dropped field=world",
        "stored=none",
        "release_blocked",
    ];
    let mut seen = [0; 5];
    let mut player = Player(DiceStream::for_setup(5));
    for _ in 0..commands / COMMANDS_OF_A_MATCH {
        let setup = player.setup();
        let mut state = start(&setup);
        let radius = setup["radius = ".len()..].split('\n').next().unwrap().parse().unwrap();
        let mut expected = hexes(&view(&*state));
        for _ in 0..COMMANDS_OF_A_MATCH {
            let command = player.command(&*state);
            let seat = state.default_seat(&command).unwrap();
            let outcome = outcome_of(&mut *state, 1, seat, &command);
            assert!(!outcome.starts_with("rejected"), "{command} is {outcome}");
            expected -= usize::from(outcome.contains("stored=none"));
            check_invariants(&view(&*state), Board::new(radius), expected);
            for (count, word) in seen.iter_mut().zip(words) {
                *count += u32::from(outcome.contains(word));
            }
        }
    }
    seen
}

/// Returns the number of commands to play. `TURNFOLD_RANDOM_COMMANDS` sets another, such as a million after a change to
/// the rules.
fn commands() -> u32 {
    let asked = std::env::var("TURNFOLD_RANDOM_COMMANDS").ok();
    asked.map_or(COMMANDS, |count| count.parse().expect("TURNFOLD_RANDOM_COMMANDS is a number"))
}

#[test]
fn hc_16_holds_after_every_command() {
    let [captured, from_inventory, dropped, lost, _] = play(commands());
    assert!(captured > 50 && from_inventory > 5 && dropped > 20 && lost > 2, "not much happened");
}

#[test]
fn a_count_of_ticks_is_as_many_single_ticks() {
    let mut player = Player(DiceStream::for_setup(17));
    let (mut whole, mut stopped) = (0, 0);
    for _ in 0..30 {
        let mut state = start(&player.setup());
        for _ in 0..100 {
            let command = player.command(&*state);
            let seat = state.default_seat(&command).unwrap();
            outcome_of(&mut *state, 1, seat, &command);
            if state.due_roll().is_some() {
                continue;
            }
            let count = 1 + player.below(40);
            let (mut at_once, mut one_by_one) = (state.fork(), state.fork());
            let outcome = outcome_of(&mut *at_once, 1, Seat::Host, &format!("tick {count}"));
            let mut ran = 0;
            while ran < count && one_by_one.due_roll().is_none() {
                outcome_of(&mut *one_by_one, 1, Seat::Host, "tick");
                ran += 1;
            }
            assert!(
                outcome.ends_with(&format!("ticked ticks={ran}")),
                "{outcome} where {ran} ticks ran one by one"
            );
            assert_eq!(at_once.state_bytes(), one_by_one.state_bytes(), "{outcome}");
            *if ran == count { &mut whole } else { &mut stopped } += 1;
        }
    }
    assert!(whole > 1000 && stopped > 100, "{whole} ran to their end, {stopped} stopped at a roll");
}
