//! CT-19: what a log shows to whom. A law has it that what is concealed changes nothing that a seat can see.

use turnfold_core::{CommandSource, DicePolicy, Logged, Seat};

use super::{setup, start};

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
    start(toml).fold_as(viewer.into(), &logged, &DicePolicy::Recorded, observe).unwrap();
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
