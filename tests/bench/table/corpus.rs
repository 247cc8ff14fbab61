//! Many matches: created, searched, written as a table and counted. `DuckDB` answers the same questions from the table.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::measure::{Clock, fastest_of, time};
use crate::process::Turnfold;
use crate::report::{Table, Time};
use crate::{Scale, row};

/// The measured package. `pip` installs it into a temporary environment, and only on request.
const PACKAGE: &str = "duckdb==2.0.1";

/// Prints the only value that a query returns, without a progress bar.
const QUERY: &str = "import duckdb, sys
duckdb.sql('SET enable_progress_bar = false')
print(duckdb.sql(sys.argv[1]).fetchall()[0][0])";

/// The maximum memory of a verb.
const MEMORY_MIB: u64 = 150;

/// Matches of a ruleset, and a condition that many of them meet.
struct Matches {
    ruleset: &'static str,
    /// The view field of the condition, and the condition in the notation of turnfold and of SQL.
    field: &'static str,
    when: &'static str,
    sql: &'static str,
    /// A pattern of commands.
    command: &'static str,
}

const MATCHES: [Matches; 2] = [
    Matches {
        ruleset: "channel",
        field: "/bag/total",
        when: "/bag/total < 10",
        sql: "\"/bag/total\" < 10",
        command: "move * 4",
    },
    Matches {
        ruleset: "initiative",
        field: "/turn",
        when: "/turn >= 3",
        sql: "\"/turn\" >= 3",
        command: "move *,-2",
    },
];

/// A question, the time limit of its answer in seconds, and the query for `DuckDB`.
struct Question<'a> {
    args: &'a [&'a str],
    seconds: u64,
    sql: Option<String>,
}

/// The time, memory and output of a run.
struct Run {
    took: Duration,
    /// The maximum resident memory over all samples.
    memory_kib: u64,
    printed: String,
}

/// Runs turnfold, and samples its memory continually.
fn run(turnfold: &Turnfold<'_>, args: &[&str]) -> Run {
    let path = turnfold.dir.join("printed");
    let (mut memory_kib, mut printed) = (0, String::new());
    let took = time(|| {
        let file = File::create(&path).expect("a file for what is printed");
        let mut process = turnfold.command(args).stdout(file).spawn().expect("the binary starts");
        let status = Path::new("/proc").join(process.id().to_string()).join("status");
        loop {
            let status = fs::read_to_string(&status).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let now = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
            memory_kib = memory_kib.max(now.unwrap_or(0));
            if let Some(exit) = process.try_wait().expect("the process is watched") {
                assert!(exit.success(), "turnfold {args:?}");
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
    });
    let mut file = File::open(&path).expect("what was printed");
    file.read_to_string(&mut printed).expect("text");
    Run { took, memory_kib, printed }
}

/// `DuckDB` in Python, or the reason why it is missing.
struct DuckDb<'a> {
    dir: &'a Path,
    python: Result<PathBuf, String>,
    /// The time of its start.
    start: Duration,
}

impl<'a> DuckDb<'a> {
    fn of(dir: &'a Path, scale: Scale, may_fetch: bool) -> Self {
        let mut duckdb = Self { dir, python: installed(dir, may_fetch), start: Duration::ZERO };
        if duckdb.python.is_ok() {
            duckdb.start = fastest_of(Clock::Wall, scale.rounds(), || drop(duckdb.ask("SELECT 1")));
        }
        duckdb
    }

    fn ask(&self, sql: &str) -> String {
        let Ok(python) = &self.python else { return String::new() };
        let output = Command::new(python).args(["-c", QUERY, sql]).current_dir(self.dir).output();
        let output = output.expect("Python starts");
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Returns the time of a query, and requires this answer.
    fn time(&self, sql: Option<&str>, answer: &str, scale: Scale) -> String {
        match (&self.python, sql) {
            (_, None) => String::new(),
            (Err(skipped), _) => skipped.clone(),
            (Ok(_), Some(sql)) => {
                let ask = || assert_eq!(self.ask(sql), answer, "{sql}");
                Time(fastest_of(Clock::Wall, scale.rounds(), ask).saturating_sub(self.start)).to_string()
            }
        }
    }
}

/// Installs the package in a separate environment.
fn installed(dir: &Path, may_fetch: bool) -> Result<PathBuf, String> {
    if !may_fetch {
        return Err("SKIPPED: `--pypi` fetches it".into());
    }
    let venv = dir.join("venv");
    let made = Command::new("python3").args(["-m", "venv"]).arg(&venv).output();
    let python = venv.join("bin").join("python3");
    let pip = Command::new(&python).args(["-m", "pip", "install", "--quiet", PACKAGE]).output();
    let is_ok =
        |output: std::io::Result<std::process::Output>| output.is_ok_and(|output| output.status.success());
    if is_ok(made) && is_ok(pip) { Ok(python) } else { Err("SKIPPED: `pip` cannot fetch it".into()) }
}

impl Matches {
    fn rows(&self, turnfold: &Turnfold<'_>, scale: Scale, duckdb: &DuckDb<'_>) -> Vec<Vec<String>> {
        let Self { ruleset, field, when, sql, command } = self;
        let count = scale.choose(200, 10_000);
        let number = count.to_string();
        let words = ["simulate", "--rules", ruleset, "--seed", "1", "--steps", "50", "--count", &number];
        let play = Question { args: &[&words[..], &["-o", ruleset]].concat(), seconds: 20, sql: None };
        let mut rows = vec![play.row(ruleset, turnfold, Scale { quick: true }, duckdb, |_| String::new())];
        turnfold.ok(&["table", "fields", ruleset, "--field", field, "-o", "fields.csv", "--force"]);
        turnfold.ok(&["table", "entries", ruleset, "-o", "entries.csv", "--force"]);
        let lines = |printed: &str| printed.lines().count().to_string();
        let found = |table: &str, condition: &str| {
            format!("SELECT count(DISTINCT source) FROM '{table}.csv' WHERE {condition}")
        };
        let by_command = Question {
            args: &["find", ruleset, "--command", command],
            seconds: 2,
            sql: Some(found("entries", &format!("command GLOB '{command}'"))),
        };
        let by_condition = Question {
            args: &["find", ruleset, "--when", when],
            seconds: 2,
            sql: Some(found("fields", sql)),
        };
        let table = Question {
            args: &["table", "entries", ruleset],
            seconds: 4,
            sql: Some("COPY (FROM 'entries.csv') TO 'copied.csv'".to_owned()),
        };
        let counted = Question {
            args: &["table", "groups", ruleset, "--format", "json"],
            seconds: 2,
            sql: Some(
                "SELECT max(n) FROM (SELECT count(*) AS n FROM 'entries.csv' GROUP BY command_name)"
                    .to_owned(),
            ),
        };
        rows.push(by_command.row(ruleset, turnfold, scale, duckdb, lines));
        rows.push(by_condition.row(ruleset, turnfold, scale, duckdb, lines));
        let rows_of = |printed: &str| (printed.lines().count() - 1).to_string();
        rows.push(table.row(ruleset, turnfold, scale, duckdb, rows_of));
        rows.push(counted.row(ruleset, turnfold, scale, duckdb, |printed| {
            let statistics: serde_json::Value = serde_json::from_str(printed).expect("JSON");
            assert_eq!(statistics.pointer("/matches"), Some(&count.into()), "every match is counted");
            statistics.pointer("/commands/0/count").expect("a command was given").to_string()
        }));
        rows
    }
}

impl Question<'_> {
    /// Asks turnfold and `DuckDB`, and requires the same number from both.
    fn row(
        &self,
        ruleset: &str,
        turnfold: &Turnfold<'_>,
        scale: Scale,
        duckdb: &DuckDb<'_>,
        answer: impl Fn(&str) -> String,
    ) -> Vec<String> {
        let Self { args, seconds, sql } = self;
        let rounds = if sql.is_some() { scale.rounds() } else { 1 };
        let runs: Vec<_> = (0..rounds).map(|_| run(turnfold, args)).collect();
        let took = runs.iter().map(|run| run.took).min().unwrap_or_default();
        let mebibytes = runs.iter().map(|run| run.memory_kib).max().unwrap_or_default() / 1024;
        let answer = answer(&runs.first().expect("there is a round at least").printed);
        let fits = if mebibytes <= MEMORY_MIB { "met" } else { "**missed**" };
        let other = duckdb.time(sql.as_deref(), &answer, scale);
        let asked = format!("`{}`", args.join(" ").replace('|', "\\|"));
        let target = Time(took).at_most(Duration::from_secs(*seconds));
        row![ruleset, asked, answer, Time(took), target, format!("{mebibytes} MiB: {fits}"), other]
    }
}

pub(crate) fn table(dir: &Path, scale: Scale, may_fetch: bool) -> Table {
    let dir = dir.join("corpus");
    fs::create_dir(&dir).expect("a new folder");
    let turnfold = Turnfold { dir: &dir };
    let duckdb = DuckDb::of(&dir, scale, may_fetch);
    let rows = MATCHES.iter().flat_map(|matches| matches.rows(&turnfold, scale, &duckdb)).collect();
    Table {
        title: "Many matches",
        about: format!(
            "Random play of 50 entries a match in 10,000 replay files, on all cores; each verb reads and folds every file \
             again. Memory is the most that was resident, at most {MEMORY_MIB} MiB. `DuckDB` ({PACKAGE}, in Python, its start \
             taken off) asks the same of the CSV that `table` wrote before, and its answers are the same."
        ),
        columns: &["ruleset", "verb", "answer", "time", "target", "memory", "DuckDB over the CSV"],
        rows,
    }
}
