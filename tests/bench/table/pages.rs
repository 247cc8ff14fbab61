//! Pages: the time to create them, and their sizes.

use std::fs;
use std::path::Path;

use crate::measure::{Clock, fastest_of};
use crate::process::Turnfold;
use crate::replay::write_replay;
use crate::report::{Rate, Table, Time};
use crate::{Scale, row};

/// Fixtures whose random play lasts long.
const PLAYED: [(&str, &str); 5] = [
    ("channel", "dealt-for-four-with-yinyang"),
    ("cycletap", "ford"),
    ("hexcapture", "generated-world"),
    ("initiative", "lance-against-star"),
    ("lifecycle", "skirmish"),
];

pub(crate) fn table(dir: &Path, scale: Scale) -> Table {
    let turnfold = Turnfold { dir };
    let start = fastest_of(Clock::Wall, 20, || drop(turnfold.ok(&["--version"])));
    let length = |file: &str| fs::metadata(dir.join(file)).expect("the file was written").len();
    let rows = PLAYED.map(|(ruleset, name)| {
        let entries = write_replay(&turnfold, ruleset, name, "played.tfl", scale.fold_entries());
        let make = || drop(turnfold.ok(&["export", "played.tfl", "--html", "-o", "played.html", "--force"]));
        let took = fastest_of(Clock::Wall, scale.rounds(), make).saturating_sub(start);
        turnfold.ok(&["check", "played.html"]);
        let (replay, page) = (length("played.tfl"), length("played.html"));
        for file in ["played.tfl", "played.html"] {
            fs::remove_file(dir.join(file)).expect("the file is removed");
        }
        row![
            format!("`{ruleset}` {name}"),
            entries,
            format!("{} kB", replay / 1000),
            format!("{} kB", page / 1000),
            Time(took),
            Rate::of(entries, took),
        ]
    });
    Table {
        title: "Pages",
        about: format!(
            "`turnfold export FILE --html` as the host; the start of a process, {}, is taken off. The time to open a page \
             and to jump in it is printed by `cargo test -p turnfold-tests --test it -- page::large --nocapture`.",
            Time(start)
        ),
        columns: &["input", "entries", "replay file", "page", "time", "entries a second"],
        rows: rows.into(),
    }
}
