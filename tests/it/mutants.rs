//! Rules that are altered on purpose, and `check`, which must find the entry and the difference.
//!
//! For each ruleset, a build with one altered rule blesses a golden log: it folds the commands under the altered rules
//! and writes the resulting outcomes and hashes. The real program then checks that log.

use std::cell::Cell;
use std::fs;
use std::sync::Arc;

use serde_json::Value;
use turnfold_core::any::{AnyRules, erase};
use turnfold_core::outcome::Ruled as _;
use turnfold_core::registry::NoRules;
use turnfold_core::{Digest, Registry, Seat};
use turnfold_games::channel::Channel;
use turnfold_games::cycletap::{self, Cycletap};
use turnfold_games::hexcapture::Hexcapture;
use turnfold_games::initiative::{self, Initiative};
use turnfold_games::lifecycle::Lifecycle;
use turnfold_history::compare::DivergenceKind;
use turnfold_history::tfl::{self, ReplayLine};

use altered::{Alteration, Altered};
use turnfold_tests::sandbox::{Sandbox, workspace};

mod altered;

/// CT-6: the last slot of the pool is kept in reserve.
struct KeepsASlot;

impl Alteration for KeepsASlot {
    type Base = Cycletap;

    fn overrule(view: &Value, seat: Seat, command: &str) -> Option<cycletap::Reason> {
        let is_last = view["pools"][seat.name()]["available"] == 1;
        let is_order = command.starts_with("tap ") && view["tap"]["origin"] != Value::Null;
        let at: Vec<i64> = command.trim_start_matches("tap ").split(',').flat_map(str::parse).collect();
        let is_other_hex = view["tap"]["origin"] != serde_json::json!(at);
        (is_last && is_order && is_other_hex).then_some(cycletap::Reason::PoolExhausted)
    }
}

/// HC-14: after a failed capture the action cools down one tick longer.
struct CoolsDownLonger;

impl Alteration for CoolsDownLonger {
    type Base = Hexcapture;

    fn prepare(state: &mut Value) {
        add(&mut state["timing"]["fail_cooldown"], 1);
    }

    fn settle(_before: &Value, after: &mut Value) {
        add(&mut after["timing"]["fail_cooldown"], -1);
    }
}

/// IN-11: the cursor stays where it is when a unit moves.
struct LeavesTheCursor;

impl Alteration for LeavesTheCursor {
    type Base = Initiative;

    fn settle(before: &Value, after: &mut Value) {
        if before["units"] != after["units"] {
            after["cursor"] = before["cursor"].clone();
        }
    }

    fn is_shown(effects: &[String], effect: &str) -> bool {
        !(effect.starts_with("cursor ") && effects.iter().any(|earlier| earlier.starts_with("moved ")))
    }
}

/// IN-1: the first two dice belong to p2.
struct SwapsTheDice;

impl Alteration for SwapsTheDice {
    type Base = Initiative;

    fn read(command: &initiative::Command) -> initiative::Command {
        match command {
            initiative::Command::Roll(dice) => {
                let mut dice = dice.clone();
                dice.rotate_left(2);
                initiative::Command::Roll(dice)
            }
            other => other.clone(),
        }
    }
}

/// LC-11: every skill that wounds takes one more hit point.
struct WoundsDeeper;

fn for_each_damage(state: &mut Value, delta: i64) {
    let units = state["units"].as_array_mut().unwrap().iter_mut();
    for skill in units.flat_map(|unit| unit["skills"].as_array_mut().unwrap()) {
        let damage = &mut skill["skill"]["damage"];
        if *damage != 0 {
            add(damage, delta);
        }
    }
}

impl Alteration for WoundsDeeper {
    type Base = Lifecycle;

    fn prepare(state: &mut Value) {
        for_each_damage(state, 1);
    }

    fn settle(_before: &Value, after: &mut Value) {
        for_each_damage(after, -1);
    }
}

/// CH-13: half a yin-yang counts twice, though it is shown once.
struct CountsHalvesTwice;

impl Alteration for CountsHalvesTwice {
    type Base = Channel;

    fn settle(before: &Value, after: &mut Value) {
        let halves = |player: &Value| player["yinyang_halves"].as_i64().unwrap();
        let players = after["players"].as_array_mut().unwrap().iter_mut();
        for (before, after) in before["players"].as_array().unwrap().iter().zip(players) {
            let gained = halves(after) - halves(before);
            add(&mut after["yinyang_halves"], gained);
        }
    }
}

fn add(number: &mut Value, delta: i64) {
    *number = (number.as_i64().unwrap() + delta).into();
}

thread_local! {
    /// The number of started matches, and of commands carried out since the last start.
    static STARTS: Cell<u32> = const { Cell::new(0) };
    static CARRIED_OUT: Cell<u32> = const { Cell::new(0) };
}

/// Counts entries outside the state, and ignores the fourth.
struct Forgets;

impl Alteration for Forgets {
    type Base = Initiative;

    fn begin() {
        CARRIED_OUT.set(0);
    }

    fn overrule(_: &Value, _: Seat, command: &str) -> Option<initiative::Reason> {
        (CARRIED_OUT.get() == 3 && command == "click 0,3").then_some(initiative::Reason::OutOfReach)
    }

    fn settle(_: &Value, _: &mut Value) {
        CARRIED_OUT.set(CARRIED_OUT.get() + 1);
    }
}

/// Ignores some commands in the first fold only, which is the second start, because the first start only reads the
/// match.
struct IgnoresAtFirst<const WHAT: char>;

impl<const WHAT: char> Alteration for IgnoresAtFirst<WHAT> {
    type Base = Initiative;

    fn begin() {
        STARTS.set(STARTS.get() + 1);
    }

    fn overrule(_: &Value, _: Seat, command: &str) -> Option<initiative::Reason> {
        let is_meant = command.starts_with("click ") && command.ends_with(WHAT);
        (is_meant && STARTS.get() == 2).then_some(initiative::Reason::SameHex)
    }
}

/// Returns the golden log as a build with these rules would have blessed it, without attempts, up to the first entry
/// that it would refuse.
fn blessed_by(rules: &Arc<dyn AnyRules>, golden: &str) -> String {
    let registry = turnfold_games::standard().replacing(rules.clone());
    let mut replay = tfl::read("golden", golden.as_bytes(), &registry).unwrap();
    replay.lines.retain(|line| !matches!(line, ReplayLine::Attempt(_)));
    loop {
        match replay.bless() {
            Ok(blessed) => return blessed.to_string(),
            Err(_) => drop(replay.lines.pop().unwrap()),
        }
    }
}

/// What `check` must print about the first entry that differs in the altered build's log.
struct Finding {
    golden: &'static str,
    seq: u64,
    command: &'static str,
    kind: &'static str,
    /// The ids of the rules that the outcomes name.
    rules: &'static [&'static str],
    dice: Option<&'static str>,
    /// The meaning of the old and the new value below.
    sides: &'static str,
    /// A field of the state difference, as in the text report.
    field: &'static str,
}

fn check(rules: &Arc<dyn AnyRules>, expected: &Finding) {
    let sandbox = Sandbox::new();
    let golden = fs::read_to_string(workspace().join("replays").join(expected.golden)).unwrap();
    let altered = blessed_by(rules, &golden);
    sandbox.write("altered.tfl", &altered);
    let output = sandbox.run("--format json check altered.tfl");
    assert_eq!(output.status.code(), Some(1), "{} passes under altered rules", expected.golden);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mismatch = &report["mismatch"];
    let line = 1 + altered.lines().position(|line| line.starts_with(&format!("{} ", expected.seq))).unwrap();
    assert_eq!(mismatch["line"], line, "{report:#}");
    assert_eq!(mismatch["seq"], expected.seq, "{report:#}");
    assert_eq!(mismatch["command"], expected.command, "{report:#}");
    assert_eq!(mismatch["kind"], expected.kind, "{report:#}");
    assert_eq!(mismatch["rules"], serde_json::json!(expected.rules), "{report:#}");
    assert_eq!(mismatch["dice"], serde_json::json!(expected.dice), "{report:#}");
    assert_eq!(mismatch["state_sides"], expected.sides, "{report:#}");
    let printed = String::from_utf8(sandbox.run("check altered.tfl").stdout).unwrap();
    assert!(printed.lines().any(|line| line == format!("  {}", expected.field)), "{printed}");
}

#[test]
fn a_log_blessed_by_the_same_rules_passes() {
    for (rules, golden) in [
        (turnfold_games::find("cycletap").unwrap(), "cycletap/the-pool-runs-out.tfl"),
        (turnfold_games::find("initiative").unwrap(), "initiative/lance-against-star.tfl"),
    ] {
        let sandbox = Sandbox::new();
        let golden = fs::read_to_string(workspace().join("replays").join(golden)).unwrap();
        sandbox.write("same.tfl", blessed_by(&rules, &golden));
        sandbox.ok("check same.tfl");
    }
}

#[test]
fn altered_rules_of_every_game_are_found_where_they_first_differ() {
    check(
        &erase::<Altered<KeepsASlot>>(),
        &Finding {
            golden: "cycletap/the-pool-runs-out.tfl",
            seq: 3,
            command: "tap 0,1",
            kind: "outcome",
            rules: cycletap::Reason::PoolExhausted.ruling().rules,
            dice: None,
            sides: "expected_and_actual",
            field: "/pools/p1/available 1 → 0",
        },
    );
    check(
        &erase::<Altered<CoolsDownLonger>>(),
        &Finding {
            golden: "hexcapture/cooldown-blocks-a-press.tfl",
            seq: 4,
            command: "roll 99",
            kind: "outcome",
            rules: &[],
            dice: Some("recorded_values"),
            sides: "before_and_after",
            field: "/cooldown 0 → 12",
        },
    );
    check(
        &erase::<Altered<LeavesTheCursor>>(),
        &Finding {
            golden: "initiative/moves.tfl",
            seq: 11,
            command: "move 1,1",
            kind: "outcome",
            rules: &[],
            dice: None,
            sides: "before_and_after",
            field: "/cursor [0,2] → [1,1]",
        },
    );
    check(
        &erase::<Altered<SwapsTheDice>>(),
        &Finding {
            golden: "initiative/lance-against-star.tfl",
            seq: 1,
            command: "roll 3 5 4 2",
            kind: "outcome",
            rules: &[],
            dice: Some("other_rules"),
            sides: "before_and_after",
            field: r#"/initiative null → {"rolls":{"p1":8,"p2":6},"loser":"p2","winner":"p1"}"#,
        },
    );
    check(
        &erase::<Altered<WoundsDeeper>>(),
        &Finding {
            golden: "lifecycle/damage-heal-status.tfl",
            seq: 2,
            command: "skill operate surgeon",
            kind: "outcome",
            rules: &[],
            dice: None,
            sides: "before_and_after",
            field: "/units/0/hp 20 → 17",
        },
    );
    check(
        &erase::<Altered<CountsHalvesTwice>>(),
        &Finding {
            golden: "channel/yin-yang.tfl",
            seq: 1,
            command: "meditate red",
            kind: "state_hash",
            rules: &[],
            dice: None,
            sides: "before_and_after",
            field: "/players/0/yinyang_halves 0 → 2",
        },
    );
}

/// One unit each; the fifth entry is ignored.
const DUEL: &str = "+++
ruleset = \"initiative\"
version = 1
dice = \"recorded\"
[setup]
radius = 3
units = [{ id = \"a1\", owner = \"p1\", at = [0, 3] }, { id = \"b1\", owner = \"p2\", at = [0, -3] }]
+++
1 host roll 6 6 1 1
2 p2 click 0,-3
3 p2 move 0,-2
4 p1 click 0,3
5 p1 click 2,2
";

/// Checks a log blessed by some rules under other rules. Returns the kind and the entry of the difference, and its
/// report.
fn check_under(
    blessed: &Arc<dyn AnyRules>,
    rules: &Arc<dyn AnyRules>,
) -> Option<(DivergenceKind, Option<u64>, String)> {
    let text = blessed_by(blessed, &format!("turnfold replay 2\n{DUEL}"));
    let registry = turnfold_games::standard().replacing(rules.clone());
    let replay = tfl::read("x.tfl", text.as_bytes(), &registry).unwrap();
    STARTS.set(0);
    let mismatch = replay.check().unwrap().difference?;
    let lines: Vec<String> = mismatch.lines().iter().map(ToString::to_string).collect();
    Some((mismatch.kind(), mismatch.divergence.subject.seq(), lines.join("\n")))
}

/// A file must give the same result every time, also from a state stored half-way.
#[test]
fn rules_that_do_not_fold_alike_every_time_are_found() {
    let rules = turnfold_games::find("initiative").unwrap();
    assert_eq!(check_under(&rules, &rules), None);
    for (rules, seq) in [
        (erase::<Altered<IgnoresAtFirst<'3'>>>(), 2),
        // The state is the same; only the reason differs.
        (erase::<Altered<IgnoresAtFirst<'2'>>>(), 5),
    ] {
        let (kind, found, _) = check_under(&turnfold_games::find("initiative").unwrap(), &rules).unwrap();
        assert_eq!((kind, found), (DivergenceKind::NotDeterministic, Some(seq)));
    }
    let forgets = erase::<Altered<Forgets>>();
    let (kind, _, report) = check_under(&forgets, &forgets).unwrap();
    assert_eq!(kind, DivergenceKind::NotStorable);
    assert!(
        report.contains("the state does not survive storage, a fold resumed from it differs"),
        "{report}"
    );
    assert!(report.ends_with("to reproduce: turnfold verify x.tfl --reload"), "{report}");
}

#[test]
fn a_command_that_is_not_written_canonically_differs_before_its_outcome_does() {
    let golden =
        fs::read_to_string(workspace().join("replays/hexcapture/capture-at-each-distance.tfl")).unwrap();
    let text = golden.replacen(" move n => ", " move 0 => x", 1);
    let replay = tfl::read("x.tfl", text.as_bytes(), &turnfold_games::standard()).unwrap();
    let mismatch = replay.check().unwrap().difference.unwrap();
    let found = (mismatch.kind(), mismatch.divergence.expected(), mismatch.divergence.computed.to_string());
    assert_eq!(found, (DivergenceKind::NotCanonical, "move 0".into(), "move n".into()));
    assert!(mismatch.title().ends_with("command differs from its canonical form"));
}

/// `channel` unchanged, under another version.
struct NewVersion;

impl Alteration for NewVersion {
    type Base = Channel;
    const VERSION: u32 = 2;
}

/// MD-1: a match finds the version that it was recorded under, and a new one gets the newest.
#[test]
fn md_1_several_versions_of_a_game_are_found_by_name_and_version() {
    let registry = Registry::default().with(erase::<Altered<NewVersion>>()).with_version(erase::<Channel>());
    let found = |version| registry.resolve("channel", version, None);
    assert_eq!([1, 2].map(|version| found(version).unwrap().version()), [1, 2]);
    let other = NoRules::OtherVersion { name: "channel".into(), recorded: 3, known: 2 };
    assert_eq!(found(3).unwrap_err(), other);
    let pin = Digest::new([7; 32]);
    let missing = NoRules::NoModule { name: "channel".into(), version: 1, module: pin };
    assert_eq!(registry.resolve("channel", 1, Some(&pin)).unwrap_err(), missing);
    assert_eq!(registry.find("channel").map(|rules| rules.version()), Some(2));
    assert_eq!(registry.iter().count(), 1);
}
