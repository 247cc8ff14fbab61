//! CT-19: what a seat is told does not depend on what the other side plans.

use std::fmt::Debug;

use turnfold_core::any::AnyState;
use turnfold_core::{CommandSource, DicePolicy, Logged, Seat};

use super::random::{Chooser, armies};
use super::{play, setup, start, told};

/// All that a seat can learn: view, commands, picture, answers, and what is said of each command.
fn sight(state: &dyn AnyState, viewer: Seat) -> Vec<String> {
    fn write(sight: &mut Vec<String>, what: &impl Debug) {
        sight.push(format!("{what:?}"));
    }
    let mut sight = vec![state.view(viewer).to_string()];
    let candidates = state.candidates(viewer);
    write(&mut sight, &state.legal(viewer));
    write(&mut sight, &state.picture(viewer));
    for question in ["suggest 0,0", "suggest 1,0", "suggest 2,-1", "suggest 9,9", "suggest x", "orders"] {
        write(&mut sight, &state.query(viewer, question));
    }
    for command in candidates.iter().map(String::as_str).chain(["tap 9,9", "resolve", "tap x"]) {
        write(&mut sight, &state.judge(viewer, command));
    }
    write(&mut sight, &candidates);
    sight
}

fn assert_same_sight(one: &dyn AnyState, other: &dyn AnyState, viewer: Seat) {
    for (one, other) in sight(one, viewer).iter().zip(&sight(other, viewer)) {
        assert_eq!(one, other, "to {viewer}");
    }
}

/// Plans for `seat` at random, without `switch`, and gives the commands.
fn plan(state: &mut dyn AnyState, chooser: &mut Chooser, seat: Seat, count: usize) -> Vec<String> {
    let mut commands = Vec::new();
    while commands.len() < count {
        let (_, command) = chooser.choose(state, 1_000_000).unwrap();
        if command != "switch" {
            told(state, seat, &command);
            commands.push(command);
        }
    }
    commands
}

#[test]
fn ct_19_what_p1_plans_changes_nothing_for_anybody_else() {
    for seed in 1..=6 {
        let mut chooser = Chooser::new(seed);
        let begin = start(&armies(3, 4));
        let mut one = begin.fork();
        // While p1 plans,
        for _ in 0..10 {
            plan(&mut *one, &mut chooser, Seat::P1, 3);
            for viewer in [Seat::P2, Seat::P3] {
                assert_same_sight(&*begin, &*one, viewer);
            }
        }
        let mut other = begin.fork();
        plan(&mut *other, &mut chooser, Seat::P1, 25);
        assert_ne!(one.view(Seat::Host), other.view(Seat::Host));
        play(&mut *one, Seat::P1, "switch");
        play(&mut *other, Seat::P1, "switch");
        // and while p2 does.
        for _ in 0..30 {
            for viewer in [Seat::P2, Seat::P3] {
                assert_same_sight(&*one, &*other, viewer);
            }
            let command = plan(&mut *one, &mut chooser, Seat::P2, 1).remove(0);
            told(&mut *other, Seat::P2, &command);
        }
    }
}

#[test]
fn ct_19_what_p2_plans_changes_nothing_for_anybody_else() {
    for seed in 11..=16 {
        let mut chooser = Chooser::new(seed);
        let mut begin = start(&armies(3, 4));
        plan(&mut *begin, &mut chooser, Seat::P1, 20);
        play(&mut *begin, Seat::P1, "switch");
        let mut state = begin.fork();
        for _ in 0..20 {
            plan(&mut *state, &mut chooser, Seat::P2, 2);
            for viewer in [Seat::P1, Seat::P3, Seat::P8] {
                assert_same_sight(&*begin, &*state, viewer);
            }
        }
    }
}

/// The entries that `viewer` is shown of a log, without their numbers.
fn shown(toml: &str, log: &[(Seat, String)], viewer: Seat) -> Vec<String> {
    let entry = |(place, (seat, command)): (usize, &(Seat, String))| {
        let seq = u64::try_from(place).unwrap() + 1;
        (seq, *seat, command.clone())
    };
    let entries: Vec<(u64, Seat, String)> = log.iter().enumerate().map(entry).collect();
    let logged: Vec<Logged<'_>> = entries
        .iter()
        .map(|(seq, seat, command)| Logged { seq: *seq, seat: *seat, command: CommandSource::Text(command) })
        .collect();
    let mut shown = Vec::new();
    let observe = &mut |step: &mut dyn turnfold_core::Step| {
        if step.concealed() {
            assert_eq!(&*step.effects_json(), "[]", "{} {}", step.seat(), step.command());
        } else {
            let (text, json) = (step.outcome().to_string(), step.effects_json());
            shown.push(format!("{} {} => {text} {json}", step.seat(), step.command()));
        }
    };
    start(toml).fold_as(viewer, &logged, &DicePolicy::Recorded, observe).unwrap();
    shown
}

fn log(lines: &[(Seat, &str)]) -> Vec<(Seat, String)> {
    let command = |word: &str| if word.contains(',') { format!("tap {word}") } else { word.to_owned() };
    let line = |(seat, words): &(Seat, &str)| {
        let seat = *seat;
        words.split(' ').map(move |word| (seat, command(word))).collect::<Vec<_>>()
    };
    lines.iter().flat_map(line).collect()
}

#[test]
fn ct_19_a_log_shows_the_other_side_only_that_planning_has_ended() {
    let toml = setup("radius = 3", "p1 captain 0,1; p2 captain 0,-1");
    // Each ends in another way: an attack, a pending defence that `switch` settles, a path that it drops.
    for plan in ["0,1 1,0", "0,1 0,1", "0,1 0,2 0,2", "9,9 back"] {
        let log = log(&[(Seat::P1, plan), (Seat::P1, "switch"), (Seat::P2, "0,-1 0,-2 back")]);
        let switch = "p1 switch => planning_ended seat=p1 [{\"effect\":\"planning_ended\",\"seat\":\"p1\"}]";
        assert_eq!(shown(&toml, &log, Seat::P3), [switch]);
        let p2 = shown(&toml, &log, Seat::P2);
        assert_eq!(p2[0], switch);
        assert_eq!(p2.len(), 4, "p2's own entries, also the ignored one: {p2:?}");
        let p1 = shown(&toml, &log, Seat::P1);
        assert_eq!(p1.len(), plan.split(' ').count() + 1, "{p1:?}");
        assert_eq!(shown(&toml, &log, Seat::Host).len(), log.len());
    }
}

#[test]
fn ct_19_from_execution_on_the_plans_of_a_turn_are_in_the_open() {
    let toml = setup("radius = 3", "p1 captain 0,1; p2 captain 0,-1");
    let mut log =
        log(&[(Seat::P1, "0,1 1,0 switch"), (Seat::P2, "0,-1 0,-2 switch"), (Seat::Host, "resolve")]);
    for length in [6, 7] {
        for viewer in Seat::ALL {
            assert_eq!(shown(&toml, &log[..length], viewer).len(), length, "to {viewer}");
        }
    }
    // The next turn is secret again; the last one stays known.
    log.extend([(Seat::P1, "tap 1,0".into()), (Seat::P1, "tap 0,1".into())]);
    assert_eq!(shown(&toml, &log, Seat::P1).len(), 9);
    assert_eq!(shown(&toml, &log, Seat::P2).len(), 7);
}
