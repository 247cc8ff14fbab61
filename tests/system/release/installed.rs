//! The packages for pip and npm that `.ci/packages` builds: installed without a network, they play the tour and run a
//! referee.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use super::is_installed;
use turnfold_tests::document::Document;
use turnfold_tests::parts::{python, skipped};
use turnfold_tests::sandbox::{Sandbox, copy_folder, workspace};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the folder of the packages: those of the tested release, or packages built from the program under test.
fn packages() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        if let Some(folder) = env::var_os("TURNFOLD_RELEASE") {
            return folder.into();
        }
        let program = Sandbox::installed().program().to_owned();
        let folder = program.with_file_name("packages");
        let target = format!("{}-unknown-linux-gnu={}", env::consts::ARCH, program.display());
        succeed(Command::new(workspace().join(".ci/packages")).arg(&folder).arg(target));
        folder
    });
    &FOLDER
}

/// Runs a command, requires it to succeed, and returns its output.
#[track_caller]
fn succeed(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{stdout}{stderr}", output.status);
    stdout.into_owned()
}

/// Plays the tour, a game from a module and a game with a referee, with the program of an environment.
fn try_out(sandbox: &Sandbox, program: &Path, referee: &str) {
    let turnfold = |line: &[&str]| {
        let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
        let mut command = Command::new(program);
        command.args(line).current_dir(sandbox.path("")).env_clear().env("PATH", path);
        succeed(command.env("TMPDIR", sandbox.path("")))
    };
    assert_eq!(turnfold(&["--version"]), format!("turnfold {VERSION}\n"));
    assert!(turnfold(&["tour"]).contains("The files of the tour are removed."));
    assert!(turnfold(&["new", "duel", "--rules", "chess"]).contains("chess version 1"));
    turnfold(&["new", "count", "--rules", "count", "--referee", referee]);
    let played = turnfold(&["play", "count", "add", "--referee", referee]);
    assert!(played.contains("1 p1 add => counted"), "{played}");
}

#[test]
fn pip_installs_the_program_and_what_serves_a_game_in_python() {
    let test = "the wheel";
    if !is_installed(test, "python3") {
        return;
    }
    let sandbox = Sandbox::installed();
    let venv = sandbox.path("venv");
    let made = Command::new("python3").args(["-m", "venv"]).arg(&venv).output().unwrap();
    if !made.status.success() {
        return skipped(test, "python3 makes no environments; install the package python3-venv");
    }
    let mut pip = Command::new(venv.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--no-index", "--find-links"]);
    succeed(pip.arg(packages()).arg(format!("turnfold=={VERSION}")));
    sandbox.write(
        "count.py",
        "import turnfold\n\n\nclass Count:\n    name, version, secrets, example = 'count', 1, 'none', {}\n\n    \
         def start(self, setup):\n        return {'count': 0}\n\n    \
         def apply(self, state, command, seat):\n        state['count'] += 1\n        \
         return turnfold.Applied([{'effect': 'counted'}])\n\n    \
         def status(self, state):\n        return {'players': 1, 'active': ['p1']}\n\n\nturnfold.serve(Count())\n",
    );
    let referee = format!("{} count.py", venv.join("bin/python3").display());
    try_out(&sandbox, &venv.join("bin/turnfold"), &referee);
}

#[test]
fn npm_installs_the_program_and_what_serves_a_game_in_javascript() {
    let test = "the packages of npm";
    if !is_installed(test, "npm") {
        return;
    }
    let sandbox = Sandbox::installed();
    let cpu = if env::consts::ARCH == "aarch64" { "arm64" } else { "x64" };
    let mut npm = Command::new("npm");
    npm.args(["install", "--offline", "--no-audit", "--no-fund"]).current_dir(sandbox.path(""));
    for name in ["turnfold".to_owned(), format!("turnfold-linux-{cpu}")] {
        npm.arg(packages().join(format!("{name}-{VERSION}.tgz")));
    }
    succeed(&mut npm);
    sandbox.write(
        "count.mjs",
        "import { applied, serve } from 'turnfold/referee';\n\
         serve({\n  name: 'count', version: 1, secrets: 'none', example: {},\n  start: () => ({ count: 0 }),\n  \
         apply: ({ count }) => applied([{ effect: 'counted' }], { count: count + 1 }),\n  \
         status: () => ({ players: 1, active: ['p1'] }),\n});\n",
    );
    try_out(&sandbox, &sandbox.path("node_modules/.bin/turnfold"), "node count.mjs");
    // The wrapper returns the exit code of the program.
    let mut failing = Command::new(sandbox.path("node_modules/.bin/turnfold"));
    let output = failing.args(["show", "nothing"]).current_dir(sandbox.path("")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// The guide's test for pytest passes on golden logs that fold the same, and fails on others.
#[test]
fn pytest_runs_the_example_of_the_guide() {
    let sandbox = Sandbox::installed();
    let bin = match python("pytest==9.0.2", "TURNFOLD_PYTEST") {
        Ok(bin) => bin,
        Err(why) => return skipped("the guide's example for pytest", &why),
    };
    let document = Document::read("docs/guide/referees.md");
    sandbox.write("test_goldens.py", document.blocks("python")[0]);
    copy_folder(&workspace().join("replays/initiative"), &sandbox.path("goldens"));
    let program = sandbox.program().parent().unwrap().to_owned();
    let pytest = || {
        let mut pytest = Command::new(bin.join("pytest"));
        pytest.current_dir(sandbox.path("")).env("PATH", format!("{}:/usr/bin:/bin", program.display()));
        pytest.arg("--quiet").output().unwrap()
    };
    let passed = pytest();
    assert!(passed.status.success(), "{}", String::from_utf8_lossy(&passed.stdout));
    let golden = "goldens/lance-against-star.tfl";
    sandbox.write(golden, sandbox.read(golden).replacen("mp=", "mp=1", 1).replacen("moved ", "went ", 1));
    assert_eq!(pytest().status.code(), Some(1));
}

/// A release has a package for every system with a program, and all packages have this version.
#[test]
fn every_package_has_the_version_of_the_program() {
    let mut count = 0;
    for file in fs::read_dir(packages()).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.extension().is_some_and(|ending| ending == "whl" || ending == "tgz") {
            assert!(name.contains(&format!("-{VERSION}")), "{name} is not of version {VERSION}");
            count += 1;
        }
    }
    assert!(count >= 3, "{count}");
    let main = packages().join(format!("turnfold-{VERSION}.tgz"));
    let package = succeed(Command::new("tar").arg("-xzOf").arg(main).arg("package/package.json"));
    let package: serde_json::Value = serde_json::from_str(&package).unwrap();
    assert_eq!(package["version"], VERSION);
    for (name, version) in package["optionalDependencies"].as_object().unwrap() {
        assert_eq!(version, VERSION, "{name}");
    }
}
