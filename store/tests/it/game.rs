//! A match for the store, with real commands of a registered ruleset.

use turnfold_core::{CommandSource, DicePolicy, Logged, Seat};
use turnfold_store::{BranchName, Genesis, MatchName, NewEntry, Store};

pub(crate) const SETUP: &str = r#"
radius = 2
[[units]]
id = "a"
owner = "p1"
at = [0, 2]
[[units]]
id = "b"
owner = "p2"
at = [0, -2]
"#;

pub(crate) fn genesis() -> Genesis {
    let rules = turnfold_games::find("initiative").unwrap();
    Genesis {
        format: Genesis::FORMAT,
        ruleset: rules.name().to_owned(),
        ruleset_version: rules.version(),
        setup: rules.read_setup(SETUP).unwrap(),
        dice: DicePolicy::Recorded,
        match_id: [7; 16],
        title: "One against one".to_owned(),
        created_at_ms: 1_700_000_000_000,
        module: None,
        played_by: None,
        origins: Vec::new(),
    }
}

/// Returns `count` commands that the rules accept: a roll, then the cursor going in circles.
pub(crate) fn commands(count: usize) -> Vec<NewEntry> {
    let genesis = genesis();
    let rules = turnfold_games::find(&genesis.ruleset).unwrap();
    let mut state = rules.start(&genesis.setup).unwrap();
    let mut entries = Vec::new();
    for seq in 1..=count as u64 {
        let text = if seq == 1 { "roll 6 6 1 1" } else { "cycle" };
        let seat = state.default_seat(text).unwrap();
        let logged = Logged { seq, seat, command: CommandSource::Text(text) };
        let mut command = Vec::new();
        state.fold(&[logged], &genesis.dice, &mut |step| command = step.command_bytes()).unwrap();
        entries.push(NewEntry { seat, command, recorded_at_ms: 1_700_000_000_000 + seq.cast_signed() });
    }
    entries
}

/// Returns a command without meaning, for tests in which no rules read it.
pub(crate) fn opaque(label: u64) -> NewEntry {
    NewEntry { seat: Seat::P1, command: label.to_le_bytes().to_vec(), recorded_at_ms: 0 }
}

pub(crate) fn name(text: &str) -> MatchName {
    text.parse().unwrap()
}

pub(crate) fn branch(text: &str) -> BranchName {
    text.parse().unwrap()
}

/// Returns the labels of the opaque commands on a branch.
pub(crate) fn labels(store: &Store, match_name: &str, branch_name: &str) -> Vec<u64> {
    let log = store.read(&name(match_name), &branch(branch_name), None).unwrap();
    assert_eq!(log.head, log.entries.len() as u64);
    assert!(log.entries.iter().zip(1..).all(|(entry, seq)| entry.seq == seq));
    log.entries.iter().map(|entry| u64::from_le_bytes(entry.command.clone().try_into().unwrap())).collect()
}
