//! The golden logs fold to the same hashes in wasm32, on a big-endian machine and, in the long form, in a release build
//! and on a 32-bit machine.
//!
//! `it/goldens.rs` checks the logs in the debug build under test. If a platform's requirements are missing, its test
//! reports that on stderr, even if output is captured, and passes. The tests build only the core, or the library's
//! example `check`. They do not build the command line, whose TLS and PostgreSQL need a C compiler for every platform.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use walkdir::WalkDir;

use turnfold_tests::is_long;
use turnfold_tests::parts::skipped;
use turnfold_tests::sandbox::{binary, cargo, workspace};

/// A platform whose builds can run on this machine.
struct Platform {
    triple: &'static str,
    linker: &'static str,
    /// The words before the program's own command, such as an emulator.
    runner: &'static [&'static str],
    /// The required programs and their sources.
    needs: &'static [(&'static str, &'static str)],
}

const BITS_32: Platform =
    Platform { triple: "i686-unknown-linux-musl", linker: "rust-lld", runner: &[], needs: &[] };

const BIG_ENDIAN: Platform = Platform {
    triple: "s390x-unknown-linux-gnu",
    linker: "s390x-linux-gnu-gcc",
    runner: &["qemu-s390x", "-L", "/usr/s390x-linux-gnu"],
    needs: &[
        ("qemu-s390x", "Debian's package qemu-user"),
        ("s390x-linux-gnu-gcc", "Debian's packages gcc-s390x-linux-gnu and libc6-dev-s390x-cross"),
    ],
};

const WASM: &str = "wasm32-wasip1";

/// Reports that a platform is skipped.
pub(crate) fn skip(platform: &str, lacks: &str) {
    skipped(format_args!("the golden logs on {platform}"), lacks);
}

/// Returns what is missing to build for a target, if anything is.
pub(crate) fn lacks_target(triple: &str) -> Option<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let libraries =
        Command::new(rustc).args(["--print", "target-libdir", "--target", triple]).output().unwrap();
    let folder = String::from_utf8(libraries.stdout).unwrap();
    let installed = libraries.status.success() && Path::new(folder.trim()).is_dir();
    (!installed).then(|| format!("the target is not installed (rustup target add {triple})"))
}

/// Returns the first missing program and its source.
pub(crate) fn lacks_program(needs: &[(&str, &str)]) -> Option<String> {
    let runs =
        |program: &str| Command::new(program).arg("--version").output().is_ok_and(|it| it.status.success());
    let missing = needs.iter().find(|(program, _)| !runs(program));
    missing.map(|(program, origin)| format!("`{program}` is not installed ({origin})"))
}

/// Builds a package, and returns the folder of its programs.
pub(crate) fn build(package: &str, triple: Option<&str>, options: &[&str]) -> PathBuf {
    let target_dir = binary().ancestors().nth(2).unwrap();
    let mut cargo = cargo();
    cargo.current_dir(workspace()).args(["build", "--quiet", "--locked", "--package", package]).args(options);
    cargo.arg("--target-dir").arg(target_dir);
    if let Some(triple) = triple {
        cargo.args(["--target", triple]);
    }
    succeed(&mut cargo);
    let profile = if options.contains(&"--release") { "release" } else { "debug" };
    triple.map_or_else(|| target_dir.to_path_buf(), |triple| target_dir.join(triple)).join(profile)
}

pub(crate) fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The example of the library that checks golden logs.
const CHECK: [&str; 2] = ["--example", "check"];

/// Checks every golden log with a build of the library, and requires the same output as the program under test.
fn check_goldens(runner: &[&str], programs: &Path) {
    let check = |words: &[&OsStr]| {
        let (first, rest) = words.split_first().unwrap();
        let mut command = Command::new(first);
        succeed(command.args(rest).arg("replays").current_dir(workspace())).stdout
    };
    let program = programs.join("examples/check");
    let words: Vec<&OsStr> = runner.iter().map(OsStr::new).chain([program.as_os_str()]).collect();
    let (expected, found) = (check(&[binary().as_os_str(), OsStr::new("check")]), check(&words));
    assert!(String::from_utf8_lossy(&found).contains(" passed, 0 failed"));
    assert_eq!(String::from_utf8(found).unwrap(), String::from_utf8(expected).unwrap());
}

fn check_platform(platform: &Platform) {
    let Platform { triple, linker, runner, needs } = platform;
    if let Some(lacks) = lacks_target(triple).or_else(|| lacks_program(needs)) {
        return skip(triple, &lacks);
    }
    let linker = format!("target.{triple}.linker=\"{linker}\"");
    let options: Vec<&str> = CHECK.into_iter().chain(["--config", &linker]).collect();
    check_goldens(runner, &build("turnfold-history", Some(triple), &options));
}

/// Lists the paths of the golden logs, and the line that a folding program prints for each.
fn expected_lines(root: &str) -> (Vec<String>, String) {
    let replays = workspace().join("replays");
    let files = WalkDir::new(&replays).sort_by_file_name().into_iter().map(|file| file.unwrap().into_path());
    let files = files.filter(|file| file.extension().is_some_and(|extension| extension == "tfl"));
    let (mut names, mut expected) = (Vec::new(), String::new());
    for file in files {
        let name = format!("{root}{}", file.strip_prefix(&replays).unwrap().to_str().unwrap());
        let text = fs::read_to_string(&file).unwrap();
        expected.extend([name.as_str(), " ", text.lines().last().unwrap(), "\n"]);
        names.push(name);
    }
    assert!(!names.is_empty());
    (names, expected)
}

#[test]
fn a_release_build_folds_every_golden_log_to_the_same_hashes() {
    if !is_long() {
        return skip(
            "a release build",
            "it takes minutes; set TURNFOLD_LONG=1 (the build under test optimizes the rules, too)",
        );
    }
    let (names, expected) = expected_lines("replays/");
    let program = build("turnfold-portable", None, &["--release"]).join("turnfold-portable");
    let output = succeed(Command::new(program).args(&names).current_dir(workspace()));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[test]
fn a_32_bit_machine_folds_every_golden_log_to_the_same_hashes() {
    if cfg!(not(all(target_os = "linux", target_arch = "x86_64"))) {
        return skip(BITS_32.triple, "its programs run on x86-64 Linux only");
    }
    if !is_long() {
        return skip(BITS_32.triple, "it takes minutes; set TURNFOLD_LONG=1 (wasm32 has 32 bits, too)");
    }
    check_platform(&BITS_32);
}

#[test]
fn a_big_endian_machine_folds_every_golden_log_to_the_same_hashes() {
    check_platform(&BIG_ENDIAN);
}

#[test]
fn wasm32_folds_every_golden_log_to_the_same_hashes() {
    let node = [("node", "Node.js 20 or later, https://nodejs.org")];
    if let Some(lacks) = lacks_target(WASM).or_else(|| lacks_program(&node)) {
        return skip(WASM, &lacks);
    }
    let (names, expected) = expected_lines("/");
    // Folding a few logs takes less time than optimizing the rules.
    let plain = ["--config", "profile.dev.package.turnfold-core.opt-level=0"];
    let programs = build("turnfold-portable", Some(WASM), &plain);
    let mut node = Command::new("node");
    node.arg("--no-warnings").arg(workspace().join("tests/portable/run.mjs"));
    node.arg(programs.join("turnfold-portable.wasm")).arg(workspace().join("replays")).args(&names);
    assert_eq!(String::from_utf8(succeed(&mut node).stdout).unwrap(), expected);
}
