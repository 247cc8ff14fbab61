//! The main job on real input: a whole match between two named forces is played, branched, diffed, blessed and checked.

use std::fs;

use turnfold_tests::sandbox::{Sandbox, workspace};

const GOLDEN: &str = "replays/initiative/lance-against-star.tfl";

/// The last entry before p1 must reveal its plan, because it lost the initiative of turn 3.
const TURNING_POINT: u64 = 52;

fn golden() -> String {
    fs::read_to_string(workspace().join(GOLDEN)).unwrap()
}

fn entries(replay: &str) -> Vec<&str> {
    replay.lines().filter(|line| line.starts_with(|digit: char| digit.is_ascii_digit())).collect()
}

/// Returns the commands of the golden log as a script, without the rolls, because the seed determines them.
fn script(golden: &str) -> String {
    let commands = entries(golden).into_iter().map(|entry| entry.split(" => ").next().unwrap());
    let lines = commands.map(|command| {
        let mut words = command.splitn(3, ' ').skip(1);
        format!("{}: {}\n", words.next().unwrap(), words.next().unwrap())
    });
    lines.filter(|line| !line.starts_with("host: roll")).collect()
}

#[test]
fn a_lance_and_a_star_play_four_turns_and_their_log_becomes_golden() {
    let sandbox = Sandbox::new();
    let golden = golden();
    let seed = golden.lines().find_map(|line| line.strip_prefix("seed = ")).unwrap();
    sandbox.ok(&format!(
        "new duel --rules initiative --setup fixtures/initiative/lance-against-star.toml --dice seeded --seed {seed}"
    ));
    sandbox.write("moves.txt", script(&golden));
    let played = sandbox.ok("play duel --script moves.txt");
    assert_eq!(played.lines().collect::<Vec<_>>(), entries(&golden), "the match goes as it went");

    sandbox.ok(&format!("branch duel:{TURNING_POINT} bold"));
    sandbox.ok("play duel@bold confirm stand");
    let diff = sandbox.run("diff duel duel@bold");
    assert_eq!(diff.status.code(), Some(1));
    let diff = String::from_utf8(diff.stdout).unwrap();
    assert!(diff.starts_with(&format!("the histories part at entry {}\n", TURNING_POINT + 1)), "{diff}");
    assert!(diff.contains("\n  /turn 4 → 3\n"), "{diff}");

    sandbox.ok("export duel -o duel.tfl");
    sandbox.ok("export duel@bold -o bold.tfl");
    assert_eq!(entries(&sandbox.read("duel.tfl")), entries(&golden));
    assert_eq!(sandbox.ok("bless duel.tfl bold.tfl"), "2 files unchanged\n");
    sandbox.ok("check duel.tfl bold.tfl");
    sandbox.ok("verify");
}
