//! The tables of `BENCHMARKS.md`: all measurements, in one run on one machine.
//!
//! `cargo bench -p turnfold-bench --bench table > BENCHMARKS.md` writes the file again. After `--`, `--quick` does at
//! most a tenth of the work. `--npm` and `--pypi` fetch boardgame.io and `DuckDB` for comparison, and words select
//! sections by title. Every measurement checks its results.

mod command_line;
mod corpus;
mod fleet;
mod fold;
mod input;
mod look_ahead;
mod machine;
mod measure;
mod modules;
mod other_engines;
mod pages;
mod peers;
#[path = "../../../store/tests/it/pooler.rs"]
#[expect(
    dead_code,
    clippy::unwrap_used,
    reason = "the tests of the store use all of it, and fail by panicking"
)]
mod pooler;
#[path = "../../../store/tests/it/postgres.rs"]
#[expect(
    dead_code,
    clippy::unwrap_used,
    reason = "the tests of the store use all of it, and fail by panicking"
)]
mod postgres;
mod process;
mod replay;
mod report;
mod rivals;
mod search;
mod service;
mod setups;
mod store;
mod stores;
mod trust;

use std::fmt::Display;
use std::io::{Write, stderr, stdout};
use std::sync::OnceLock;
use std::time::Duration;

use crate::report::Table;

/// The amount of work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    quick: bool,
}

impl Scale {
    /// Returns the amount of work for a section: `quick` or `full`.
    pub(crate) fn choose<T>(self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }

    pub(crate) fn rounds(self) -> usize {
        self.choose(2, 5)
    }

    pub(crate) fn disk_rounds(self) -> usize {
        self.choose(1, 5)
    }

    /// Returns how often a process is run.
    pub(crate) fn runs(self) -> usize {
        self.choose(5, 15)
    }

    pub(crate) fn fold_entries(self) -> u64 {
        self.choose(1_000, 10_000)
    }

    pub(crate) fn long_match(self) -> u64 {
        self.choose(30_000, 1_000_000)
    }

    pub(crate) fn cold_matches(self) -> u64 {
        self.choose(200, 10_000)
    }

    /// Returns how many seconds a client sends requests to the service in a row.
    pub(crate) fn service_seconds(self) -> u64 {
        self.choose(2, 10)
    }

    /// Returns the appends of each thread in the comparison with the service.
    pub(crate) fn service_appends(self) -> u32 {
        self.choose(200, 1_000)
    }
}

/// Returns the yardstick of the machine: the time to hash 64 bytes.
pub(crate) fn yardstick() -> Duration {
    static YARD: OnceLock<Duration> = OnceLock::new();
    *YARD.get_or_init(|| {
        let mut hash = blake3::hash(&[0; 64]);
        let repeats = 100_000;
        let took = measure::fastest_of(measure::Clock::Thread, 5, || {
            for _ in 0..repeats {
                let both = [*hash.as_bytes(), *hash.as_bytes()].concat();
                hash = blake3::hash(&both);
            }
        });
        assert_ne!(hash, blake3::hash(&[0; 64]));
        took / repeats
    })
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(printed) = store::opened_here(&args).or_else(|| modules::used_here(&args)) {
        return print(printed);
    }
    let scale = Scale { quick: args.iter().any(|arg| arg == "--quick") };
    // cargo itself adds `--bench`.
    let chosen: Vec<String> =
        args.iter().filter(|arg| !arg.starts_with("--")).map(|arg| arg.to_lowercase()).collect();
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder for stores");
    let dir = dir.path();
    print(format_args!("{HEAD}\n{}", machine::description(dir)));
    let may_fetch = |option: &str| args.iter().any(|arg| arg == option);
    let sections: [(&str, &dyn Fn() -> Table); 15] = [
        ("fold", &|| fold::table(scale)),
        ("modules", &|| modules::table(dir, scale)),
        ("other engines", &|| other_engines::table(dir, scale, may_fetch("--npm"))),
        ("look-ahead", &|| look_ahead::table(scale)),
        ("replay files", &|| replay::table(dir, scale)),
        ("corpus of many matches", &|| corpus::table(dir, scale, may_fetch("--pypi"))),
        ("pages", &|| pages::table(dir, scale)),
        ("searches", &|| search::table(dir, scale)),
        ("durable appends", &|| store::appends(dir, scale)),
        ("reading the log", &|| store::scans(dir, scale)),
        ("stores of many matches", &|| store::sizes(dir, scale)),
        ("signing and auditing", &|| trust::table(dir, scale)),
        ("the command line", &|| command_line::table(dir, scale)),
        ("service", &|| service::service(dir, scale)),
        ("fleet", &|| fleet::table(dir, scale)),
    ];
    for (name, section) in sections {
        if chosen.is_empty() || chosen.iter().any(|word| name.contains(word.as_str())) {
            let mut table = None;
            let took = measure::time(|| table = Some(section()));
            let _ = writeln!(stderr(), "{name}: {took:.1?}");
            print(table.expect("the section was run"));
        }
    }
}

/// The text above the tables.
const HEAD: &str = "\
# Benchmarks

Made by

```sh
cargo bench -p turnfold-bench --bench table > BENCHMARKS.md
```

on a machine that does nothing else; it takes some minutes (`-- --quick` takes one, on a tenth of the work, and \
`-- fold` one section; `-- --npm` and `-- --pypi` also fetch boardgame.io and DuckDB, to run them in comparison). Absolute numbers belong to this machine and this run; compared programs ran in turns. Work of \
one thread shows the processor time of its fastest round; work that waits for a disk shows its median. Every \
measurement checks its results: state hashes, counts of entries, answers.
";

fn print(text: impl Display) {
    writeln!(stdout(), "{text}").expect("stdout takes the table");
}
