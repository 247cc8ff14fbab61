//! Rulesets as modules, compared with the same rulesets built in.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use turnfold_core::{AnyRules, CommandSource, DicePolicy, Logged, Seat, Step};

use crate::input::{Play, fixture, workspace};
use crate::measure::{Clock, take_turns, time};
use crate::report::{Rate, Table, Time, count};
use crate::{Scale, row};

/// The measured rulesets, each with a setup.
const GAMES: [(&str, &str); 5] = [
    ("channel", "dealt-for-four-with-yinyang"),
    ("cycletap", "ford"),
    ("hexcapture", "generated-world"),
    ("initiative", "lance-against-star"),
    ("lifecycle", "skirmish"),
];

/// The targets of a module: entries per second, bytes, and the time of its first use.
const RATE_MIN: f64 = 20e3;
const BYTES_MAX: u64 = 450_000;
const FIRST_USE_MAX: Duration = Duration::from_millis(60);

/// Packs a ruleset, or returns why it cannot be packed.
fn pack(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let packed = Command::new(workspace().join("core/guest/pack")).arg(folder).arg(name).output();
    match packed {
        Ok(output) if output.status.success() => Ok(folder.join(name).with_extension("wasm")),
        _ => Err("SKIPPED: rustup's target wasm32-unknown-unknown is missing".into()),
    }
}

fn load(file: &Path) -> Arc<dyn AnyRules> {
    turnfold_referee::load(&fs::read(file).expect("the module is there")).expect("the file is a module")
}

/// Folds like `verify`, with the outcome and the hash of every entry.
fn fold(play: &Play, rules: &Arc<dyn AnyRules>) {
    let (mut state, mut hash) = (rules.start(&play.setup).expect("the setup can be played"), None);
    let observe = &mut |step: &mut dyn Step| {
        black_box(step.outcome());
        hash = Some(step.state_hash());
    };
    state.fold(&play.logged(), &DicePolicy::Recorded, observe).expect("the play folds");
    assert_eq!(hash, Some(play.state_hash));
}

fn measured(file: &Path, play: &Play, scale: Scale) -> Vec<String> {
    let module = load(file);
    let [native, by_module] = take_turns(
        Clock::Thread,
        scale.rounds(),
        [&mut || fold(play, &play.rules), &mut || fold(play, &module)],
    )
    .map(|times| Rate::of(count(play.entries.len()), times.fastest()));
    let is_built_in = play.rules.module().is_none();
    let bytes = fs::metadata(file).expect("the module is there").len();
    let [wall, processor, idle, folding] = used_elsewhere(file, play);
    let first_use = Duration::from_micros(processor);
    row![
        format!("`{}`", play.rules.name()),
        bytes,
        if bytes <= BYTES_MAX { "≤ 450 kB: met" } else { "≤ 450 kB: **missed**" },
        format!("{}, {}", Time(first_use), Time(Duration::from_micros(wall))),
        Time(first_use).at_most(FIRST_USE_MAX),
        if is_built_in { native.to_string() } else { String::new() },
        by_module,
        by_module.at_least(RATE_MIN),
        if is_built_in { native.times(by_module) } else { String::new() },
        format!("{:.1} MiB", mebibytes(idle)),
        format!("{:.1} MiB", mebibytes(folding)),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "one digit of it is shown")]
fn mebibytes(kib: u64) -> f64 {
    kib as f64 / 1024.0
}

/// The first argument of a process that uses the module named by the second for the first time.
const USE: &str = "--use-module";

/// Starts a process that uses a module for the first time, and returns the output of [`used_here`].
fn used_elsewhere(file: &Path, play: &Play) -> [u64; 4] {
    let log: Vec<String> =
        play.entries.iter().map(|entry| format!("{} {}\n", entry.seat, entry.text)).collect();
    let (log_file, setup) = (file.with_extension("log"), file.with_extension("setup"));
    fs::write(log_file, log.concat()).expect("the log is written");
    fs::write(setup, &play.setup).expect("the setup is written");
    let program = std::env::current_exe().expect("the program has a path");
    let output = Command::new(program).arg(USE).arg(file).output().expect("the program starts again");
    let printed = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<u64> = printed.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    numbers.try_into().unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// Uses a module if the arguments of this process name one. Returns the microseconds until a match has started, in
/// wall-clock and processor time. It then returns the KiB that the module takes and the maximum that a fold adds.
pub(crate) fn used_here(args: &[String]) -> Option<String> {
    let [USE, file] = args.iter().map(String::as_str).collect::<Vec<_>>()[..] else { return None };
    let file = Path::new(file);
    let setup = fs::read(file.with_extension("setup")).expect("the setup is there");
    let log = fs::read_to_string(file.with_extension("log")).expect("the log is there");
    let log = log.lines().zip(1..).map(|(line, seq)| {
        let (seat, command) = line.split_once(' ').expect("a seat and a command");
        let seat = seat.parse::<Seat>().expect("the seat is one");
        Logged { seq, seat, command: CommandSource::Text(command) }
    });
    let log: Vec<Logged<'_>> = log.collect();
    let (before, mut state, mut wall) = (memory_kib("VmRSS:"), None, Duration::ZERO);
    let mut first_use =
        || wall = time(|| state = Some(load(file).start(&setup).expect("the setup can be played")));
    let [processor] = take_turns(Clock::Thread, 1, [&mut first_use]);
    let (idle, mut state) = (memory_kib("VmRSS:"), state.expect("the match has started"));
    state.fold(&log, &DicePolicy::Recorded, &mut |_| ()).expect("the play folds");
    let (wall, processor) = (wall.as_micros(), processor.fastest().as_micros());
    Some(format!("{wall} {processor} {} {}", idle - before, memory_kib("VmHWM:") - idle))
}

fn memory_kib(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = status.lines().find_map(|line| line.strip_prefix(field));
    value.and_then(|text| text.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

pub(crate) fn table(dir: &Path, scale: Scale) -> Table {
    let entries = scale.choose(500, 3_000);
    let mut rows = Vec::new();
    for (name, setup) in GAMES {
        let play = Play::simulate(name, &fixture(name, setup), 1, entries);
        rows.push(match pack(dir, name) {
            Ok(file) => measured(&file, &play, scale),
            Err(skipped) => row![format!("`{name}`"), skipped, "", "", "", "", "", "", "", "", ""],
        });
    }
    let chess = dir.join("chess.wasm");
    fs::copy(workspace().join("fixtures/modules/chess.wasm"), &chess).expect("the module is there");
    let rules = load(&chess);
    let example = rules.example().to_owned();
    rows.push(measured(&chess, &Play::simulate_by(rules, &example, 1, entries / 10), scale));
    Table {
        title: "Modules",
        about: format!(
            "Rulesets as WebAssembly modules, under the interpreter wasmi. A simulated match of at most {entries} entries, a \
             tenth of that for chess, is folded from stored bytes with the outcome and the hash of every entry, natively and \
             by the module in turns, in processor time. *First use* reads the file, loads it and starts a match in a process of \
             its own: processor time, then time by the clock. Memory is what the idle module adds to what is resident, and \
             what one fold of the match adds to that at most. A compiling engine would play chess faster: in a trial wasmtime \
             took 1.6 times the native time, and 446 ms to compile the module, and it brings 104 crates where wasmi brings 8."
        ),
        columns: &[
            "ruleset",
            "bytes",
            "target",
            "first use",
            "target",
            "native",
            "by module",
            "target",
            "native over module",
            "idle memory",
            "memory of a fold",
        ],
        rows,
    }
}
