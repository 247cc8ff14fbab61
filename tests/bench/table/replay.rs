//! Replay files: reading, folding and comparing them, and folding many of them on all cores.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::input::{Play, fixture, workspace};
use crate::measure::{Clock, fastest_of, take_turns};
use crate::process::Turnfold;
use crate::report::{Rate, Table, Time, count, growth, ratio};
use crate::{Scale, row};

/// Plays a random match, and writes a replay file with every outcome and hash. Returns the number of entries.
pub(crate) fn write_replay(
    turnfold: &Turnfold<'_>,
    ruleset: &str,
    fixture_name: &str,
    file: &str,
    entries: u64,
) -> u32 {
    let play = Play::simulate(ruleset, &fixture(ruleset, fixture_name), 1, entries);
    let lines = play.entries.iter().map(|entry| format!("{}: {}", entry.seat, entry.text));
    let script = lines.collect::<Vec<_>>().join("\n");
    fs::write(turnfold.dir.join("script"), script).expect("the script is written");
    let setup = workspace().join("fixtures").join(ruleset).join(fixture_name).with_extension("toml");
    let setup = setup.to_str().expect("the workspace has a plain name");
    let store = format!("store-{file}");
    turnfold.ok(&["--store", &store, "new", "m", "--rules", ruleset, "--setup", setup]);
    turnfold.ok(&["--store", &store, "play", "m", "--script", "script"]);
    turnfold.ok(&["--store", &store, "export", "m", "-o", file]);
    fs::remove_dir_all(turnfold.dir.join(store)).expect("the store is removed");
    count(play.entries.len())
}

/// Checks a file or folder, and requires this number of entries to pass.
fn check(turnfold: &Turnfold<'_>, path: &str, threads: &str, entries: u32) {
    let output = turnfold.command(&["check", path]).env("RAYON_NUM_THREADS", threads).output();
    let output = output.expect("the binary starts");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && shown.contains(&format!(" 0 failed ({entries} entries)")), "{shown}");
}

pub(crate) fn table(dir: &Path, scale: Scale) -> Table {
    let turnfold = Turnfold { dir };
    let start = fastest_of(Clock::Wall, 20, || drop(turnfold.ok(&["--version"])));
    let mut rows = Vec::new();
    for (ruleset, name) in [("hexcapture", "generated-world"), ("initiative", "small-board")] {
        let sizes = scale.choose([100, 1_000, 10_000], [3_000, 30_000, 300_000]).map(|entries| {
            let file = format!("{ruleset}-{entries}.tfl");
            (write_replay(&turnfold, ruleset, name, &file, entries), file)
        });
        let times = sizes.map(|(entries, file)| {
            let took = fastest_of(Clock::Wall, scale.rounds(), || check(&turnfold, &file, "1", entries));
            (entries, took.saturating_sub(start))
        });
        let [small, medium, large] = times;
        let rate = Rate::of(large.0, large.1);
        rows.push(row![
            format!("`{ruleset}`, one file"),
            large.0,
            Time(large.1),
            rate,
            rate.at_least(400e3),
            format!("{} {}", growth(small, medium), growth(small, large)),
        ]);
    }
    rows.push(many_files(&turnfold, scale));
    Table {
        title: "Replay files",
        about: format!(
            "`turnfold check`: parse, fold and compare every outcome, hash and the closing line, on one thread; the start \
             of a process, {}, is taken off. The last row checks 200 files on one thread and on two, and compares.",
            Time(start)
        ),
        columns: &["input", "entries", "time", "rate", "target", "growth at 10× and 100×"],
        rows,
    }
}

fn many_files(turnfold: &Turnfold<'_>, scale: Scale) -> Vec<String> {
    const FILES: u32 = 200;
    let each = write_replay(turnfold, "hexcapture", "generated-world", "one.tfl", scale.choose(100, 3_000));
    fs::create_dir(turnfold.dir.join("many")).expect("a new folder");
    for number in 0..FILES {
        let copy = turnfold.dir.join("many").join(format!("{number:03}.tfl"));
        fs::copy(turnfold.dir.join("one.tfl"), copy).expect("the file is copied");
    }
    let entries = each * FILES;
    let run = |threads| check(turnfold, "many", threads, entries);
    let [one, two] = take_turns(Clock::Wall, scale.rounds(), [&mut || run("1"), &mut || run("2")])
        .map(|times| times.fastest());
    row!["200 files, two threads", entries, Time(two), Rate::of(entries, two), speed_up(one, two, 1.7), "",]
}

fn speed_up(one: Duration, two: Duration, target: f64) -> String {
    let (one, two) = (one.as_secs_f64(), two.as_secs_f64());
    let verdict = if one / two >= target { "met" } else { "**missed**" };
    format!("{} as fast as one, ≥ {target}×: {verdict}", ratio(one, two))
}
