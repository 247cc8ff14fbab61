//! The tables of `tests/perft/` guard which commands the rules offer: they count the command sequences from small
//! setups.
//!
//! Each number is counted in two ways. The first is `turnfold game perft`, which uses `legal` and merges equal states
//! by their hash. The second is brute force: it tries every text of a table's grammar at every state, by every player,
//! one other seat and the host, and distinguishes states by their bytes. A commit that changes the numbers must name
//! the commands that were added or removed.
//!
//! A table is read line by line; `#` begins a comment:
//!
//! - `any <NAME> hexes R`: the name stands for every hex within R of the center
//! - `any <NAME> LOW..HIGH`: for every integer of the range, including both ends
//! - `any <NAME> WORD…`: for each of the words
//! - `try WORD…`: a form of a command; names in it are replaced in every way
//! - `setup PATH`: the setup of the following counts; `seed HEX` is the seed of its dice, which are recorded otherwise
//! - `DEPTH SEQUENCES STATES`

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use serde_json::Value;
use turnfold_core::{AnyRules, AnyState, Board, CommandSource, DicePolicy, Logged, Seat, Verdict};
use turnfold_games::rulesets;

use turnfold_tests::sandbox::{Sandbox, workspace};

/// A parsed table.
#[derive(Default)]
struct Table {
    /// The values of each name, which includes its brackets.
    names: Vec<(String, Vec<String>)>,
    /// Every text to try.
    texts: Vec<String>,
    sections: Vec<Section>,
}

/// The counts from one setup.
struct Section {
    setup: String,
    seed: Option<String>,
    /// The line of each depth, from 1.
    counts: Vec<String>,
}

fn read_table(ruleset: &str) -> Table {
    let path = workspace().join("tests/perft").join(ruleset).with_extension("perft");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut table = Table::default();
    let lines = text.lines().map(|line| line.split('#').next().unwrap().trim());
    for line in lines.filter(|line| !line.is_empty()) {
        let (word, rest) = line.split_once(' ').unwrap_or_else(|| panic!("`{line}` has only one word"));
        match word {
            "any" => {
                let (name, values) = rest.split_once(' ').unwrap();
                table.names.push((name.into(), values_of(values)));
            }
            "try" => table.texts.extend(expand(rest, &table.names)),
            "setup" => {
                table.sections.push(Section { setup: rest.into(), seed: None, counts: Vec::new() });
            }
            "seed" => table.sections.last_mut().unwrap().seed = Some(rest.into()),
            _ => table.sections.last_mut().unwrap().counts.push(line.into()),
        }
    }
    table
}

fn values_of(values: &str) -> Vec<String> {
    if let Some(radius) = values.strip_prefix("hexes ") {
        return Board::new(radius.parse().unwrap()).hexes().map(|hex| hex.to_string()).collect();
    }
    if let Some((low, high)) = values.split_once("..") {
        let range = low.parse::<i32>().unwrap()..=high.parse().unwrap();
        return range.map(|number| number.to_string()).collect();
    }
    values.split(' ').map(String::from).collect()
}

/// Replaces the names in a form in every way, beginning with the first name.
fn expand(form: &str, names: &[(String, Vec<String>)]) -> Vec<String> {
    let found = names.iter().filter_map(|(name, values)| Some((form.find(name)?, name, values)));
    let Some((_, name, values)) = found.min_by_key(|(place, ..)| *place) else { return vec![form.into()] };
    values.iter().flat_map(|value| expand(&form.replacen(name.as_str(), value, 1), names)).collect()
}

/// Counts with the program. Returns lines as in a table.
fn count_by_legal(ruleset: &str, section: &Section) -> Vec<String> {
    let depth = section.counts.len().to_string();
    let setup = workspace().join(&section.setup);
    let mut words =
        vec!["--format", "json", "game", "perft", "--rules", ruleset, "--depth", &depth, "--setup"];
    words.push(setup.to_str().unwrap());
    if let Some(seed) = &section.seed {
        words.extend(["--dice", "seeded", "--seed", seed]);
    }
    let output = Sandbox::new().command(words).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let line = |level: &Value| format!("{} {} {}", level["depth"], level["sequences"], level["states"]);
    report["depths"].as_array().unwrap().iter().map(line).collect()
}

/// Counts by trying every text. Returns lines as in a table.
fn count_by_force(rules: &dyn AnyRules, section: &Section, texts: &[String]) -> Vec<String> {
    // A command counts once, even if it can be written in several ways.
    let texts: Vec<&String> = texts
        .iter()
        .filter(|text| rules.canonical(text).is_ok_and(|canonical| canonical == **text))
        .collect();
    let dice = match &section.seed {
        Some(seed) => DicePolicy::Seeded(seed.parse().unwrap()),
        None => DicePolicy::Recorded,
    };
    let setup = fs::read_to_string(workspace().join(&section.setup)).unwrap();
    let state = rules.start(&rules.read_setup(&setup).unwrap()).unwrap();
    let mut reached = BTreeMap::from([((state.state_bytes(), 0), 1_u64)]);
    let mut counts = Vec::new();
    for depth in 1..=section.counts.len() as u64 {
        let mut next = BTreeMap::new();
        for ((bytes, rolls), sequences) in reached {
            let state = rules.resume(&bytes, rolls).unwrap();
            // The players, one seat that does not play, and the host.
            for seat in state.players().iter().copied().chain([Seat::P8, Seat::Host]) {
                for text in texts.iter().filter(|text| applies(&*state, seat, text)) {
                    if let Some(after) = folded(&*state, depth, seat, text, &dice) {
                        *next.entry(after).or_default() += sequences;
                    }
                }
            }
        }
        reached = next;
        counts.push(format!("{depth} {} {}", reached.values().sum::<u64>(), reached.len()));
    }
    counts
}

fn applies(state: &dyn AnyState, seat: Seat, text: &str) -> bool {
    state.judge(seat, text) == Ok(Verdict::Applied(()))
}

/// What determines the following commands: the bytes of a state and, with seeded dice, the number of rolls.
type Key = (Vec<u8>, u64);

/// Returns the state after a command, or `None` for a roll that differs from the seed's.
fn folded(state: &dyn AnyState, seq: u64, seat: Seat, text: &str, dice: &DicePolicy) -> Option<Key> {
    let mut after = state.fork();
    let entry = Logged { seq, seat, command: CommandSource::Text(text) };
    after.fold(&[entry], dice, &mut |_| {}).ok()?;
    let rolls = if *dice == DicePolicy::Recorded { 0 } else { after.rolls() };
    Some((after.state_bytes(), rolls))
}

fn check(ruleset: &str) {
    let table = read_table(ruleset);
    assert!(table.sections.len() >= 2, "{ruleset} counts from too few setups");
    let mut wrong = String::new();
    for section in &table.sections {
        assert!(section.counts.len() >= 4, "{} is not counted deeply enough", section.setup);
        let by_legal = count_by_legal(ruleset, section);
        let by_force = count_by_force(&*turnfold_games::find(ruleset).unwrap(), section, &table.texts);
        for (route, counts) in [("through `legal`", by_legal), ("by brute force", by_force)] {
            if counts != section.counts {
                writeln!(wrong, "{} {route}:\n{}", section.setup, counts.join("\n")).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "the table states other counts\n{wrong}");
}

#[test]
fn channel_offers_as_many_commands_as_its_table_states() {
    check("channel");
}

#[test]
fn cycletap_offers_as_many_commands_as_its_table_states() {
    check("cycletap");
}

#[test]
fn hexcapture_offers_as_many_commands_as_its_table_states() {
    check("hexcapture");
}

#[test]
fn initiative_offers_as_many_commands_as_its_table_states() {
    check("initiative");
}

#[test]
fn lifecycle_offers_as_many_commands_as_its_table_states() {
    check("lifecycle");
}

#[test]
fn every_ruleset_has_a_table() {
    for rules in rulesets() {
        assert!(!read_table(rules.name()).texts.is_empty(), "{}", rules.name());
    }
}
