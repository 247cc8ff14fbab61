//! Properties of the race and of the whole game, on setups drawn at random over the whole of their ranges.

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use serde_json::Value;
use turnfold_core::dice::DiceStream;
use turnfold_core::{AnyState, Seat, StepOutcome};

use super::{start, told};
use crate::script;

/// A unit as far as the race is concerned.
#[derive(Clone, Debug)]
struct Racer {
    id: String,
    team: &'static str,
    speed: u64,
    charge: u64,
}

fn config(cases: u32) -> ProptestConfig {
    let failure_persistence = Some(Box::new(FileFailurePersistence::Off) as Box<_>);
    ProptestConfig { cases, failure_persistence, ..ProptestConfig::default() }
}

/// Races of up to 12 units, slow and fast, with and without a head start; nobody has more than two tied on purpose.
fn racers() -> impl Strategy<Value = Vec<Racer>> {
    let speed = prop_oneof![Just(0), 1..=5_u64, 1..=120_u64, 9_990..=10_000_u64];
    let charge = prop_oneof![Just(0), 0..=99_u64, 90..=110_u64, 0..=1000_u64, 999_990..=1_000_000_u64];
    let unit = (any::<bool>(), speed, charge);
    prop::collection::vec(unit, 1..=12).prop_map(|units| {
        let racer = |(number, (player, speed, charge)): (usize, (bool, u64, u64))| Racer {
            id: format!("u{number}"),
            team: if player { "player" } else { "enemy" },
            speed,
            charge,
        };
        units.into_iter().enumerate().map(racer).collect()
    })
}

fn toml(racers: &[Racer]) -> String {
    let unit = |Racer { id, team, speed, charge }: &Racer| {
        format!("[[units]]\nid = \"{id}\"\nteam = \"{team}\"\nhp = 1\nspeed = {speed}\ncharge = {charge}\n")
    };
    racers.iter().map(unit).collect()
}

/// Runs a race as the words of the rules say, tick by tick; `None` in a stalemate.
fn run_naively(racers: &mut [Racer], ticks_max: u64) -> Option<(u64, Option<usize>)> {
    if racers.iter().all(|racer| racer.speed == 0 && racer.charge < 100) {
        return None;
    }
    let mut ticks = 0;
    while ticks < ticks_max && racers.iter().all(|racer| racer.charge < 100) {
        racers.iter_mut().for_each(|racer| racer.charge += racer.speed);
        ticks += 1;
    }
    let highest = racers.iter().map(|racer| racer.charge).max()?;
    let tied = |racer: &Racer| racer.charge == highest && highest >= 100;
    let player = racers.iter().position(|racer| tied(racer) && racer.team == "player");
    Some((ticks, player.or_else(|| racers.iter().position(tied))))
}

fn charges(state: &dyn AnyState) -> Vec<u64> {
    let view: Value = serde_json::from_str(&state.view(Seat::Host)).unwrap();
    let units = view["units"].as_array().unwrap();
    units.iter().map(|unit| unit["charge"].as_u64().unwrap()).collect()
}

fn seat(racer: &Racer) -> Seat {
    if racer.team == "player" { Seat::P1 } else { Seat::P2 }
}

fn predicted(state: &dyn AnyState, count: usize) -> Vec<String> {
    let answer = state.query(Seat::P1, &format!("predict {count}")).unwrap();
    serde_json::from_str(&answer.json).unwrap()
}

proptest! {
    #![proptest_config(config(96))]

    /// LC-2 to LC-5, LC-12: ticks in closed form, the choice of a unit and what is left are those of the naive loop.
    #[test]
    fn lc_3_the_closed_form_equals_the_naive_loop(mut racers in racers(), limits in prop::collection::vec(1..=120_u64, 20)) {
        let mut state = start(&toml(&racers));
        let mut seq = 0;
        let mut fold = |state: &mut dyn AnyState, seat, command: &str| {
            seq += 1;
            told(state, seq, seat, command)
        };
        for limit in limits {
            // Every third command is `advance`, the others are ticks of some length.
            let (command, ticks_max) = if limit % 3 == 0 { ("advance".into(), u64::MAX) } else { (format!("tick {limit}"), limit) };
            let before = racers.clone();
            let Some((ticks, next)) = run_naively(&mut racers, ticks_max) else {
                prop_assert_eq!(fold(&mut *state, Seat::Host, &command), "rejected stalemate");
                break;
            };
            let happened = fold(&mut *state, Seat::Host, &command);
            prop_assert!(happened == format!("ticked ticks={ticks}") || happened.starts_with(&format!("ticked ticks={ticks}; ")), "{}", happened);
            // Charge is conserved: each gains its speed for each tick, and nothing else.
            let gained: Vec<u64> = before.iter().map(|racer| racer.charge + racer.speed * ticks).collect();
            prop_assert_eq!(&charges(&*state), &gained);
            prop_assert_eq!(next.is_some(), happened.contains("turn_change"));
            if let Some(next) = next {
                prop_assert!(happened.contains(&format!(" next={} ", racers[next].id)), "{}", happened);
                racers[next].charge -= 100;
                let ended = fold(&mut *state, seat(&racers[next]), "end");
                prop_assert_eq!(ended, format!("turn_ended unit={} charge={}", racers[next].id, racers[next].charge));
            }
        }
    }

    /// LC-15: from anywhere, whoever is active, `predict N` is what happens when everybody just ends.
    #[test]
    fn lc_15_the_prediction_comes_true(racers in racers(), skipped in 0..20_usize) {
        let mut state = start(&toml(&racers));
        let mut seq = 0;
        let mut play = |state: &mut dyn AnyState, command: &str| {
            seq += 1;
            let seat = state.default_seat(command).unwrap();
            told(state, seq, seat, command)
        };
        for number in 0..skipped {
            play(&mut *state, if number % 2 == 0 { "advance" } else { "end" });
        }
        let foreseen = predicted(&*state, 30);
        let mut happened = Vec::new();
        play(&mut *state, "end");
        while happened.len() < 30 {
            let Some((_, rest)) = play(&mut *state, "advance").split_once(" next=").map(|(_, rest)| ((), rest.to_owned())) else { break };
            happened.push(rest.split(' ').next().unwrap().to_owned());
            play(&mut *state, "end");
        }
        prop_assert_eq!(foreseen, happened);
    }
}

/// CoA 2: the prediction before the golden log's first entry is the order of turns it holds.
#[test]
fn lc_15_the_golden_log_of_the_prediction_is_predicted() {
    let turns = golden_turns("coa-2-the-prediction-comes-true");
    assert!(turns.1.len() >= 16);
    assert_eq!(predicted(&*start(&turns.0), turns.1.len()), turns.1);
}

/// CoA 1: of 30 turns the unit of speed 20 has 20 and that of speed 10 has 10.
#[test]
fn lc_2_the_golden_log_of_frequency_has_20_and_10_turns() {
    let (_, turns) = golden_turns("coa-1-speed-determines-frequency");
    let of = |id: &str| turns.iter().filter(|turn| *turn == id).count();
    assert_eq!((turns.len(), of("hare"), of("tortoise")), (30, 20, 10));
}

/// Gives a golden log's setup, and whose turns start in it.
fn golden_turns(name: &str) -> (String, Vec<String>) {
    let path = crate::sandbox::workspace().join("replays/lifecycle").join(name).with_extension("tfl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut parts = text.split("+++\n");
    let header: toml::Table = parts.nth(1).unwrap().parse().unwrap();
    let entries = parts.next().unwrap();
    let next = |line: &str| Some(line.split_once(" next=")?.1.split(' ').next()?.to_owned());
    (toml::to_string(&header["setup"]).unwrap(), entries.lines().filter_map(next).collect())
}

/// 200 units with every number at an end of its range, every skill twice deadly or healing, every status.
fn at_the_limits() -> String {
    let skill =
        |id: &str, more: &str| format!("{{ id = \"{id}\", ap = 0, cooldown = 0, target = \"any\", {more} }}");
    let status = |id: &str, kind: &str, duration: &str| {
        format!("{{ id = \"{id}\", kind = \"{kind}\", value = 1000000, duration = {duration} }}")
    };
    let skills = [
        skill("kill", "damage = 1000000"),
        skill("cure", "damage = 999999, heal = 1000000"),
        skill("burn", &format!("status = {}", status("burn", "dot", "1000000"))),
        skill("bless", &format!("status = {}", status("bless", "hot", "\"permanent\""))),
        "{ id = \"dear\", ap = 1000, cooldown = 1000, target = \"self\" }".to_owned(),
    ];
    let ends = |low: u64, high: u64, number: usize| if number.is_multiple_of(2) { low } else { high };
    let unit = |number: usize| {
        format!(
            "[[units]]\nid = \"u{number}\"\nteam = \"{}\"\nhp = {}\nspeed = {}\nattack = {}\ncharge = {}\nskills = [{}]\n",
            if number.is_multiple_of(3) { "player" } else { "enemy" },
            ends(1, 1_000_000, number),
            ends(0, 10_000, number / 2),
            ends(0, 1_000_000, number / 4),
            ends(0, 1_000_000, number / 8),
            skills.join(", ")
        )
    };
    (0..200).map(unit).collect()
}

/// LC-2, LC-8, LC-11: no command panics or loops where every number is at an end of its range.
#[test]
fn at_the_limits_of_every_range_everything_ends_well() {
    let mut state = start(&at_the_limits());
    let mut dice = DiceStream::new(&[4; 32], 0);
    let mut pick = |count: usize| usize::try_from(dice.draw(0, i32::try_from(count).unwrap() - 1)).unwrap();
    let verbs = [
        "tick 100000",
        "advance",
        "move",
        "attack",
        "skill kill",
        "skill cure",
        "skill burn",
        "skill bless",
        "skill dear",
        "end",
    ];
    let mut applied = 0;
    for seq in 1..=1500 {
        let verb = verbs[pick(verbs.len())];
        let with_unit = verb == "attack" || verb.starts_with("skill") && verb != "skill dear";
        let command = if with_unit { format!("{verb} u{}", pick(200)) } else { verb.to_owned() };
        let seat = state.default_seat(&command).unwrap();
        let outcome = state.judge(seat, &command);
        let told = told(&mut *state, seq, seat, &command);
        applied += u32::from(outcome == Ok(StepOutcome::Applied));
        assert_eq!(told.starts_with("rejected"), outcome.is_err(), "{command}: {told}");
        if told == "rejected match_over" {
            break;
        }
    }
    assert!(applied > 200, "only {applied} commands were applied");
    assert_eq!(predicted(&*state, 1000).len(), 1000);
    assert!(!state.view(Seat::P1).is_empty() && !state.picture(Seat::P1).blocks.is_empty());
}

/// LC-11: seeded play of the fixtures never leaves hp, charge and flags out of their bounds.
#[test]
fn lc_11_in_seeded_play_hp_stays_within_bounds_and_the_dead_stay_dead() {
    for fixture in ["duel", "skirmish", "one-team", "limits"] {
        let mut state = start(&script::fixture("lifecycle", fixture));
        let mut dice = DiceStream::new(&[7; 32], 1);
        let mut dead = 0;
        for seq in 1..=300 {
            let legal: Vec<(Seat, String)> = [Seat::P1, Seat::P2, Seat::Host]
                .into_iter()
                .flat_map(|seat| state.legal(seat).into_iter().map(move |command| (seat, command)))
                .collect();
            if legal.is_empty() {
                break;
            }
            let place = dice.draw(0, i32::try_from(legal.len()).unwrap() - 1);
            let (seat, command) = &legal[usize::try_from(place).unwrap()];
            told(&mut *state, seq, *seat, command);
            let view: Value = serde_json::from_str(&state.view(Seat::Host)).unwrap();
            let units = view["units"].as_array().unwrap();
            for unit in units {
                assert!(unit["hp"].as_u64() <= unit["max_hp"].as_u64(), "{fixture}: {unit}");
                assert_eq!(unit["alive"], unit["hp"] != 0, "{fixture}: {unit}");
                assert!(
                    unit["alive"] == true || unit["statuses"] == Value::Array(Vec::new()),
                    "{fixture}: {unit}"
                );
                let acts = view["active"] == unit["id"];
                assert!(
                    acts || unit["has_moved"] == false && unit["has_attacked"] == false,
                    "{fixture}: {unit}"
                );
            }
            let now_dead = units.iter().filter(|unit| unit["alive"] == false).count();
            assert!(now_dead >= dead, "{fixture}: somebody rose from the dead");
            dead = now_dead;
        }
        assert!(dead > 0, "{fixture}: nobody died in 300 entries");
    }
}
