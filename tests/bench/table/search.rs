//! Searches in long logs: the smallest log that meets a condition, and the entries that changed a field.

use std::path::Path;

use crate::measure::{Clock, fastest_of};
use crate::process::Turnfold;
use crate::replay::write_replay;
use crate::report::{Table, Time};
use crate::{Scale, row};

/// A search: a ruleset, a fixture, and the arguments of the verb after its file.
struct Search {
    ruleset: &'static str,
    fixture: &'static str,
    verb: &'static str,
    args: &'static [&'static str],
}

/// Conditions that need long logs, and fields of the largest views.
const SEARCHES: [Search; 6] = [
    shrink("initiative", "small-board", &["--when", "/turn >= 20"]),
    shrink("hexcapture", "generated-world", &["--when", "/eaten/0 >= 2"]),
    shrink("channel", "dealt-for-two", &["--when", "/bag/total < 20"]),
    blame("channel", "dealt-for-four-with-yinyang", &["/bag/total", "--all"]),
    blame("channel", "dealt-for-four-with-yinyang", &["/players/0/rows", "--as", "p2"]),
    blame("hexcapture", "generated-world", &["/eaten/0"]),
];

const fn shrink(ruleset: &'static str, fixture: &'static str, args: &'static [&'static str]) -> Search {
    Search { ruleset, fixture, verb: "shrink", args }
}

const fn blame(ruleset: &'static str, fixture: &'static str, args: &'static [&'static str]) -> Search {
    Search { ruleset, fixture, verb: "blame", args }
}

impl Search {
    fn row(&self, turnfold: &Turnfold<'_>, scale: Scale) -> Vec<String> {
        let Self { ruleset, fixture, verb, args } = self;
        let file = format!("{verb}-{ruleset}-{fixture}.tfl");
        // An earlier search may have used the same play.
        let _ = std::fs::remove_file(turnfold.dir.join(&file));
        let entries = write_replay(turnfold, ruleset, fixture, &file, scale.choose(5_000, 30_000));
        let words = [&[*verb, file.as_str()], *args].concat();
        let shown = turnfold.ok(&["show", &file]);
        assert!(!shown.is_empty(), "the match is shown");
        let load =
            fastest_of(Clock::Wall, scale.rounds(), || assert_eq!(turnfold.ok(&["show", &file]), shown));
        let answer = turnfold.ok(&words);
        let took = fastest_of(Clock::Wall, scale.rounds(), || assert_eq!(turnfold.ok(&words), answer));
        let found = match *verb {
            "shrink" => {
                let json = turnfold.ok(&[&["--format", "json"], words.as_slice()].concat());
                let json: serde_json::Value = serde_json::from_str(&json).expect("the answer is JSON");
                let number =
                    |name: &str| json.get(name).and_then(serde_json::Value::as_u64).expect("a number");
                format!("{} entries after {} tries", number("entries"), number("tries"))
            }
            _ => format!("{} changes", answer.lines().filter(|line| line.contains(" → ")).count()),
        };
        let asked = format!("`{verb}` {}", args.join(" ").replace('|', "\\|"));
        row![
            asked,
            format!("`{ruleset}` {fixture}, {entries} entries"),
            found,
            Time(took.saturating_sub(load))
        ]
    }
}

pub(crate) fn table(dir: &Path, scale: Scale) -> Table {
    let turnfold = Turnfold { dir };
    Table {
        title: "Searches",
        about: "Random play in one replay file each, in a process of its own; what `show` of the same file takes, which \
                reads and folds it, is taken off."
            .to_owned(),
        columns: &["search", "input", "found", "time"],
        rows: SEARCHES.iter().map(|search| search.row(&turnfold, scale)).collect(),
    }
}
