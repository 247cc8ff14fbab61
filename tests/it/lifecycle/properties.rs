//! Properties of the race, on random setups over their whole ranges.

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use serde_json::Value;
use turnfold_core::{AnyState, Seat};

use super::{outcome_of, start, units};

/// The properties of a unit that matter for the race.
#[derive(Clone, Debug)]
struct Racer {
    id: String,
    team: &'static str,
    speed: u64,
    charge: u64,
}

fn config() -> ProptestConfig {
    let failure_persistence = Some(Box::new(FileFailurePersistence::Off) as Box<_>);
    ProptestConfig { cases: 96, failure_persistence, ..ProptestConfig::default() }
}

/// Generates races of up to 12 units, slow and fast, with and without a head start.
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

/// Runs a race tick by tick, as the rules state it, or returns `None` in a stalemate.
fn run_naively(racers: &mut [Racer], ticks_max: u64) -> Option<(u64, Option<usize>)> {
    if racers.iter().all(|racer| racer.speed == 0 && racer.charge < 100) {
        return None;
    }
    let mut ticks = 0;
    while ticks < ticks_max && racers.iter().all(|racer| racer.charge < 100) {
        for racer in racers.iter_mut() {
            racer.charge += racer.speed;
        }
        ticks += 1;
    }
    let highest = racers.iter().map(|racer| racer.charge).max()?;
    let tied = |racer: &Racer| racer.charge == highest && highest >= 100;
    let player = racers.iter().position(|racer| tied(racer) && racer.team == "player");
    Some((ticks, player.or_else(|| racers.iter().position(tied))))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn lc_3_the_closed_form_equals_the_naive_loop(
        racers in racers(),
        limits in prop::collection::vec(1..=120_u64, 20),
    ) {
        check_against_the_naive_loop(racers, &limits);
    }

    #[test]
    fn lc_15_the_prediction_comes_true(racers in racers(), skipped in 0..20_usize) {
        check_prediction(&racers, skipped);
    }
}

/// LC-2 to LC-5, LC-12: the closed form of ticks, the chosen unit and the remaining charge agree with the naive loop.
fn check_against_the_naive_loop(mut racers: Vec<Racer>, limits: &[u64]) {
    let mut game = Game::of(&racers);
    for &limit in limits {
        // Every third command is `advance`; the others are ticks of some length.
        let (command, ticks_max) =
            if limit % 3 == 0 { ("advance".into(), u64::MAX) } else { (format!("tick {limit}"), limit) };
        let before = racers.clone();
        let Some((ticks, next)) = run_naively(&mut racers, ticks_max) else {
            assert_eq!(game.play(&command), "rejected stalemate");
            break;
        };
        let happened = game.play(&command);
        assert_eq!(happened.split("; ").next(), Some(&*format!("ticked ticks={ticks}")));
        // Charge is conserved: each unit gains its speed for each tick, and a unit that had a turn spent 100.
        let gained: Vec<u64> = before.iter().map(|racer| racer.charge + racer.speed * ticks).collect();
        assert_eq!(game.charges(), gained);
        assert_eq!(started(&happened), next.map(|next| racers[next].id.clone()));
        if let Some(next) = next {
            let racer = &mut racers[next];
            racer.charge -= 100;
            assert_eq!(game.play("end"), format!("turn_ended unit={} charge={}", racer.id, racer.charge));
        }
    }
}

/// LC-15: from any state, with any unit active, `predict N` is what happens if every unit only ends its turn.
fn check_prediction(racers: &[Racer], skipped: usize) {
    let mut game = Game::of(racers);
    for command in ["advance", "end"].into_iter().cycle().take(skipped) {
        game.play(command);
    }
    let foreseen = predicted(&*game.state, 30);
    if skipped % 2 == 1 {
        game.play("end");
    }
    let mut happened = Vec::new();
    while happened.len() < 30 {
        let Some(next) = started(&game.play("advance")) else { break };
        happened.push(next);
        game.play("end");
    }
    assert_eq!(foreseen, happened);
}

/// A match in progress, in which each command comes from its default seat.
struct Game {
    state: Box<dyn AnyState>,
    seq: u64,
}

impl Game {
    fn of(racers: &[Racer]) -> Self {
        let unit =
            |Racer { id, team, speed, charge }: &Racer| format!("{id} {team} 1 {speed}\ncharge = {charge}\n");
        let setup: String = racers.iter().map(unit).collect();
        Self { state: start(&units(&setup)), seq: 0 }
    }

    fn play(&mut self, command: &str) -> String {
        self.seq += 1;
        let seat = self.state.default_seat(command).unwrap();
        outcome_of(&mut *self.state, self.seq, seat, command)
    }

    fn charges(&self) -> Vec<u64> {
        let view: Value = serde_json::from_str(&self.state.view(Seat::Host.into())).unwrap();
        let units = view["units"].as_array().unwrap();
        units.iter().map(|unit| unit["charge"].as_u64().unwrap()).collect()
    }
}

/// Returns the unit whose turn an outcome starts.
fn started(outcome: &str) -> Option<String> {
    let (_, rest) = outcome.split_once(" next=")?;
    rest.split(' ').next().map(str::to_owned)
}

fn predicted(state: &dyn AnyState, count: usize) -> Vec<String> {
    let answer = state.query(Seat::P1.into(), &format!("predict {count}")).unwrap();
    serde_json::from_str(&answer.json).unwrap()
}

/// `CoA 2`: the prediction before the golden log's first entry is the order of turns in the log.
#[test]
fn lc_15_the_golden_log_of_the_prediction_is_predicted() {
    let (setup, turns) = golden_turns("coa-2-the-prediction-comes-true");
    assert_eq!(turns.len(), 16);
    assert_eq!(predicted(&*start(&setup), turns.len()), turns);
}

/// `CoA 1`: of 30 turns, the unit with speed 20 has 20 and the unit with speed 10 has 10.
#[test]
fn lc_2_the_golden_log_of_frequency_has_20_and_10_turns() {
    let (_, turns) = golden_turns("coa-1-speed-determines-frequency");
    let of = |id: &str| turns.iter().filter(|turn| *turn == id).count();
    assert_eq!((turns.len(), of("hare"), of("tortoise")), (30, 20, 10));
}

/// Returns the setup of a golden log, and the units whose turns start in it.
fn golden_turns(name: &str) -> (String, Vec<String>) {
    let path =
        turnfold_tests::sandbox::workspace().join("replays/lifecycle").join(name).with_extension("tfl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut parts = text.split("+++\n");
    let header: toml::Table = parts.nth(1).unwrap().parse().unwrap();
    let entries = parts.next().unwrap();
    (toml::to_string(&header["setup"]).unwrap(), entries.lines().filter_map(started).collect())
}
