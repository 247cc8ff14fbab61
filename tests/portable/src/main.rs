//! Folds golden logs with only the core, for targets on which the command line cannot be built.
//!
//! Prints the closing line of each file, computed from the setup and commands. The log digest in this line covers every
//! outcome and state hash. So a line equal to the file's closing line proves that the whole fold is equal.
//! `turnfold check` reads golden files strictly. This program assumes that they are valid.

use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;

use turnfold_core::{AnyState, CommandSource, DicePolicy, Logged, Seat, Verdict};

fn main() -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for file in std::env::args().skip(1) {
        let text = fs::read_to_string(&file).map_err(|error| error.to_string());
        let printed = match text.and_then(|text| closing_line(&text)) {
            Ok(closing) => writeln!(io::stdout(), "{file} {closing}"),
            Err(message) => {
                code = ExitCode::FAILURE;
                writeln!(io::stderr(), "{file}: {message}")
            }
        };
        if printed.is_err() {
            return ExitCode::FAILURE;
        }
    }
    code
}

/// Folds a golden log, and returns the expected closing line.
fn closing_line(text: &str) -> Result<String, String> {
    let (_, rest) = text.split_once("\n+++\n").ok_or("expected `+++` before the header, found none")?;
    let (header, body) = rest.split_once("\n+++\n").ok_or("expected `+++` after the header, found none")?;
    let header: toml::Table = header.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let (mut state, dice) = start(&header)?;
    let (canonical, mark) = canonical_header(&header);
    let mut log = blake3::Hasher::new();
    log.update(canonical.as_bytes());
    let mut count: u64 = 0;
    for line in body.lines() {
        let words = line.split(" => ").next().unwrap_or_default();
        if let Some(attempt) = words.strip_prefix("! ") {
            check_attempt(&*state, line, attempt)?;
        } else if line.starts_with(|first: char| first.is_ascii_digit()) {
            count += 1;
            let (_, command) = words.split_once(' ').ok_or_else(|| format!("no command in `{line}`"))?;
            log.update(fold(&mut *state, &dice, count, command)?.as_bytes());
        }
    }
    Ok(format!("= {count} state {} log {} header {mark}", state.state_hash(), log.finalize().to_hex()))
}

/// Returns the canonical header, and the mark by which the closing line names it.
fn canonical_header(header: &toml::Table) -> (String, String) {
    let mut values = Vec::new();
    for (key, value) in header.iter().filter(|(key, _)| *key != "seed") {
        match header.get("seed").filter(|_| key == "dice") {
            Some(seed) => values.push((key.clone(), format!("[{},{}]", json(value), json(seed)))),
            None => flatten(key.clone(), value, &mut values),
        }
    }
    if !header.contains_key("title") {
        values.push(("title".into(), "\"\"".into()));
    }
    values.sort();
    let (mut text, mut sum, mut weighted) = (String::new(), 0_u64, 0_u64);
    for (path, value) in values {
        let line = format!("{path} {value}\n");
        sum = sum.wrapping_add(number(&line));
        weighted = weighted.wrapping_add(number(&path).wrapping_mul(number(&line)));
        text += &line;
    }
    (text, format!("{sum:016x}{weighted:016x}"))
}

fn flatten(path: String, value: &toml::Value, values: &mut Vec<(String, String)>) {
    match value {
        toml::Value::Table(table) if !table.is_empty() => {
            table.iter().for_each(|(key, value)| flatten(format!("{path}.{key}"), value, values));
        }
        toml::Value::Array(items) if items.iter().any(toml::Value::is_table) => {
            let items = items.iter().enumerate();
            items.for_each(|(place, item)| flatten(format!("{path}[{place}]"), item, values));
        }
        _ => values.push((path, json(value))),
    }
}

/// Returns a header value as JSON. Golden logs use booleans, integers, texts without control characters, and lists of
/// these.
fn json(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
        toml::Value::Array(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(",")),
        toml::Value::Table(_) => "{}".into(),
        other => other.to_string(),
    }
}

fn number(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    hash.as_bytes().iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Starts the match of a header.
fn start(header: &toml::Table) -> Result<(Box<dyn AnyState>, DicePolicy), String> {
    let word = |key: &str| header.get(key).and_then(toml::Value::as_str);
    let name = word("ruleset").ok_or("expected a ruleset, found none")?;
    let version = header.get("version").and_then(toml::Value::as_integer).unwrap_or_default();
    let version = version.try_into().map_err(|_| format!("no version: {version}"))?;
    let rules = turnfold_games::standard().resolve(name, version, None).map_err(|error| error.to_string())?;
    let dice = match word("seed") {
        Some(seed) => DicePolicy::Seeded(seed.parse().map_err(|_| format!("no seed: `{seed}`"))?),
        None => DicePolicy::Recorded,
    };
    let setup = header.get("setup").ok_or("expected the table `[setup]`, found none")?;
    let setup = toml::to_string(setup).map_err(|error| error.to_string())?;
    let setup = rules.read_setup(&setup).map_err(|error| error.to_string())?;
    let state = rules.start(&setup).map_err(|error| error.to_string())?;
    Ok((state, dice))
}

/// Reads `SEAT COMMAND`.
fn seat_and_command(words: &str) -> Result<(Seat, &str), String> {
    let (seat, command) = words.split_once(' ').ok_or_else(|| format!("no command in `{words}`"))?;
    Ok((seat.parse().map_err(|_| format!("no seat: `{seat}`"))?, command))
}

/// Folds an entry, and returns its line as in a blessed log.
fn fold(state: &mut dyn AnyState, dice: &DicePolicy, seq: u64, words: &str) -> Result<String, String> {
    let (seat, command) = seat_and_command(words)?;
    let entry = Logged { seq, seat, command: CommandSource::Text(command) };
    let mut line = String::new();
    let folded = state.fold(&[entry], dice, &mut |step| {
        let (command, outcome) = (step.command(), step.outcome().to_string());
        line = format!("{seq} {seat} {command} => {outcome} #{:.16}\n", step.state_hash());
    });
    folded.map(|()| line).map_err(|error| error.to_string())
}

/// Requires an attempt to be rejected as recorded in its line.
fn check_attempt(state: &dyn AnyState, line: &str, words: &str) -> Result<(), String> {
    let (seat, command) = seat_and_command(words)?;
    let found = match state.judge(seat, command) {
        Ok(Verdict::Applied(())) => "applied".to_owned(),
        Ok(Verdict::Ignored(why)) => why.code.to_string(),
        Err(rejected) if line.ends_with(&format!(" => rejected {}", rejected.code)) => return Ok(()),
        Err(rejected) => rejected.code.to_string(),
    };
    Err(format!("`{line}` found {found}"))
}
