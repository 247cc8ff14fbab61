//! Long matches: a verb that starts from a snapshot prints the same as when it folds from the start.

use std::fs;

use turnfold_tests::sandbox::Sandbox;

/// Returns a sandbox with a match of 9,000 entries, long enough for two snapshots.
fn long_match() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok("new long --rules hexcapture --setup fixtures/hexcapture/generated-world.toml");
    sandbox.write(
        "script",
        "tick\nmove ne\nmove s\ntick\nmove n\nmove ne\ntoggle\nmove sw\ntick 3\n".repeat(1_000),
    );
    sandbox.ok("play long --script script");
    sandbox
}

/// Returns what the verbs that seek print about a history at several entries.
fn answers(sandbox: &Sandbox) -> Vec<String> {
    let mut answers = vec![sandbox.ok("legal long"), sandbox.ok("ask long chance 0,1")];
    for seq in ["", ":4095", ":4096", ":8191"] {
        answers.push(sandbox.ok(&format!("show long{seq} --format json")));
        answers.push(sandbox.ok(&format!("log long{seq} -n 3")));
    }
    answers
}

#[test]
fn seeking_prints_what_folding_prints() {
    let sandbox = long_match();
    let snapshots = sandbox.path(".turnfold/snapshots");
    assert_eq!(fs::read_dir(&snapshots).unwrap().count(), 2);
    let sought = answers(&sandbox);
    for file in fs::read_dir(&snapshots).unwrap() {
        fs::write(file.unwrap().path(), "mangled").unwrap();
    }
    assert_eq!(answers(&sandbox), sought);
    sandbox.ok("verify");
    fs::remove_dir_all(&snapshots).unwrap();
    assert_eq!(answers(&sandbox), sought);
    assert!(!snapshots.exists(), "verbs that read write nothing");
}

#[test]
fn adding_many_entries_keeps_the_snapshots_due_among_them() {
    let sandbox = long_match();
    sandbox.ok("export long -o long.tfl");
    let simulate =
        "simulate --rules hexcapture --setup fixtures/hexcapture/generated-world.toml --seed 1 --steps 9000";
    let snapshots = sandbox.path(".turnfold/snapshots");
    let adding = [
        ("import long.tfl --name again", 2, "again"),
        (&format!("{simulate} --into random"), 2, "random"),
        ("amend long:5000 --drop --branch shorter --keep-going", 2, "long@shorter"),
    ];
    for (line, kept, made) in adding {
        let _ = fs::remove_dir_all(&snapshots);
        sandbox.ok(line);
        assert_eq!(fs::read_dir(&snapshots).unwrap().count(), kept, "{line}");
        let sought = sandbox.ok(&format!("show {made} --format json"));
        fs::remove_dir_all(&snapshots).unwrap();
        assert_eq!(sandbox.ok(&format!("show {made} --format json")), sought, "{line}");
        // A verb that only appends keeps the snapshots it folds past, because they are still right.
        sandbox.ok(&format!("play {made} tick"));
        assert!(fs::read_dir(&snapshots).unwrap().count() >= kept, "{line}");
    }
    sandbox.ok("verify");
}

#[test]
fn playing_goes_on_from_a_snapshot() {
    let (seeking, folding) = (long_match(), long_match());
    for round in 0..3 {
        let _ = fs::remove_dir_all(folding.path(".turnfold/snapshots"));
        let line = format!("play long tick \"move n\" --once k{round}");
        let played = format!("{:?}", seeking.run(&line));
        assert_eq!(played, format!("{:?}", folding.run(&line)));
        assert_eq!(played, format!("{:?}", seeking.run(&line)), "repeating prints the same");
    }
    let verified = |sandbox: &Sandbox| {
        let printed = sandbox.ok("verify");
        printed.split(" link ").next().map(str::to_owned)
    };
    assert_eq!(verified(&seeking), verified(&folding));
}
