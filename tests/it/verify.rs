//! What the library reports about stored matches and their rules. `cli::verify` tests what the command line prints.

use std::fs;

use turnfold_core::{AnyState, CommandSource, DicePolicy, Digest, Logged, Seed};
use turnfold_history::golden::{FindingKind, Verification, verify};
use turnfold_store::{
    BranchName, Genesis, MatchName, NewEntry, SNAPSHOT_INTERVAL, Snapshot, Store, StoreReader,
};

const SETUP: &str = r#"
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

fn name() -> MatchName {
    "m".parse().unwrap()
}

fn genesis() -> Genesis {
    let rules = turnfold_games::find("initiative").unwrap();
    Genesis {
        format: Genesis::FORMAT,
        ruleset: rules.name().to_owned(),
        ruleset_version: rules.version(),
        setup: rules.read_setup(SETUP).unwrap(),
        dice: DicePolicy::Recorded,
        match_id: [7; 16],
        title: String::new(),
        created_at_ms: 0,
        module: None,
        played_by: None,
        origins: Vec::new(),
    }
}

/// Returns the first state of a match.
fn start() -> Box<dyn AnyState> {
    turnfold_games::find("initiative").unwrap().start(&genesis().setup).unwrap()
}

/// Returns `count` commands that the rules accept, a roll and then the cursor going in circles, and the state after
/// them.
fn commands(count: u64) -> (Vec<NewEntry>, Box<dyn AnyState>) {
    let mut state = start();
    let mut entries = Vec::new();
    for seq in 1..=count {
        let text = if seq == 1 { "roll 6 6 1 1" } else { "cycle" };
        let seat = state.default_seat(text).unwrap();
        let logged = Logged { seq, seat, command: CommandSource::Text(text) };
        let mut command = Vec::new();
        state.fold(&[logged], &DicePolicy::Recorded, &mut |step| command = step.command_bytes()).unwrap();
        entries.push(NewEntry { seat, command, recorded_at_ms: 0 });
    }
    (entries, state)
}

fn verified(store: &StoreReader) -> Verification {
    verify(store, &name(), Some(&turnfold_games::standard())).unwrap()
}

/// Verifies a stored match that disagrees with its rules, and requires this finding.
fn check_disagreement(genesis: &Genesis, entries: Vec<NewEntry>, expected: (FindingKind, Option<u64>, &str)) {
    let store = Store::in_memory();
    store.create_match(&name(), genesis, entries).unwrap();
    let verification = verified(&store);
    assert_eq!(verification.branches, []);
    let [finding] = verification.findings.as_slice() else { panic!("{:?}", verification.findings) };
    let (kind, seq, text) = expected;
    assert_eq!((finding.kind, finding.seq), (kind, seq), "{finding:?}");
    assert!(finding.message.contains(text), "{finding:?}");
}

#[test]
fn a_log_that_its_rules_do_not_accept_disagrees() {
    let mut unknown = genesis();
    unknown.ruleset = "go".to_owned();
    check_disagreement(&unknown, commands(3).0, (FindingKind::UnknownRules, None, "unknown ruleset `go`"));

    let mut newer = genesis();
    newer.ruleset_version = 99;
    let text = "ruleset `initiative` has version 99, this build knows";
    check_disagreement(&newer, commands(3).0, (FindingKind::UnknownRules, None, text));

    let mut setup = genesis();
    setup.setup.push(0);
    check_disagreement(&setup, commands(3).0, (FindingKind::Disagrees, None, "stored setup"));

    let mut twice = commands(3).0;
    twice[1] = twice[0].clone();
    check_disagreement(&genesis(), twice, (FindingKind::Disagrees, Some(2), "no_roll_due"));

    let mut garbled = commands(3).0;
    garbled[2].command.push(0);
    check_disagreement(&genesis(), garbled, (FindingKind::Disagrees, Some(3), "surplus"));

    let mut seeded = genesis();
    seeded.dice = DicePolicy::Seeded(Seed::new([1; 32]));
    check_disagreement(&seeded, commands(3).0, (FindingKind::Disagrees, Some(1), "seeded dice"));
}

#[test]
fn branches_are_folded_to_their_own_ends() {
    let store = Store::in_memory();
    let (entries, end) = commands(20);
    store.create_match(&name(), &genesis(), entries).unwrap();
    store.create_branch(&name(), &"line".parse().unwrap(), &BranchName::main(), 0, Vec::new()).unwrap();
    let Verification { branches, findings, .. } = verified(&store);
    assert_eq!(findings, []);
    let found =
        branches.iter().map(|found| (found.branch.as_str(), found.entries, found.state_hash.unwrap()));
    assert!(found.eq([("main", 20, end.state_hash()), ("line", 0, start().state_hash())]), "{branches:?}");
    assert_ne!(end.state_hash(), start().state_hash());
}

#[test]
fn a_kept_state_that_its_entries_do_not_fold_to_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("store");
    let store = Store::open_or_create(&dir).unwrap();
    let (entries, state) = commands(SNAPSHOT_INTERVAL);
    store.create_match(&name(), &genesis(), entries).unwrap();
    let (main, build) = (BranchName::main(), Digest::new([1; 32]));
    let keep = |rolls, state| {
        let snapshot = Snapshot { seq: SNAPSHOT_INTERVAL, rolls, state };
        store.keep_snapshot(&name(), &main, &snapshot, &build).unwrap();
    };
    keep(state.rolls(), state.state_bytes());
    assert_eq!(verified(&store).findings, []);
    keep(state.rolls() + 1, state.state_bytes());
    assert_eq!(verified(&store).findings[0].kind, FindingKind::WrongSnapshot);
    // The state of another entry with a valid check, as rules that changed unnoticed would leave it.
    keep(state.rolls(), start().state_bytes());
    let Verification { branches, findings, .. } = verified(&store);
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!((finding.kind, finding.seq), (FindingKind::WrongSnapshot, Some(SNAPSHOT_INTERVAL)));
    assert_eq!(branches, []);
    let files: Vec<_> =
        fs::read_dir(dir.join("snapshots")).unwrap().map(|file| file.unwrap().path()).collect();
    let [file] = files.as_slice() else { panic!("{files:?}: it is named, and left alone") };
    assert!(finding.message.contains(&*file.to_string_lossy()), "{finding:?}");
    fs::remove_file(file).unwrap();
    assert_eq!(verified(&store).findings, []);
}
