//! `turnfold tour`: the verbs at work, on a real match in a temporary store.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};

use serde_json::json;
use turnfold_replay::program;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files;
use crate::output::{Line, dim, strong};
use crate::signals;

/// See it all at work in a minute, in a temporary store
///
/// Plays a match between a lance of four and a star of five, branches it, compares the branches, exports a golden log,
/// breaks that log and checks it, searches for causes and amends the history. The commands are real, and so is what they
/// print. Only a page of the match is kept, in the directory for temporary files; the last line shows its path. With
/// `--format json` nothing is kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold tour")]
pub(crate) struct Args {}

const PAGE_FILE: &str = "duel.html";

/// The tour up to the golden log, which it then breaks by itself: what is printed, and the words that are typed after it, `!`
/// before those whose exit code is 1.
const PLAYED: &str = r#"
# A match is a ruleset, a setup and a source of dice. These dice follow from a seed.
$ new duel --rules initiative --setup lance-against-star --dice seeded --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
# Due dice are rolled at once and recorded like any other command.
$ play duel
# The star lost, so it moves first. Each command is printed with its outcome and the hash of the state after it.
$ play duel confirm "move 0,-2" "p2: click -2,-3" "move -4,1"
# Now the lance. A click on the wrong unit is ignored: recorded, but without effect.
$ play duel --seat p1 "click 1,-6" "click 4,2" "move 4,-2"
# This is the board.
$ show duel
# A command out of turn is rejected: nothing of the call is recorded, and the exit code is 1.
! play duel "p1: cycle"
# Rulesets answer questions.
$ ask duel reach kit-fox
# What if the Phoenix Hawk had held back? A branch begins after any entry…
$ branch duel:7 caution
# …and goes its own way.
$ play duel@caution stand
# Where do the two part, and how do their states differ?
! diff duel duel@caution
# Which entry brought the Stormcrow to -4,1? The log is halved until it is found.
$ bisect duel --when "/units/6/at == [-4,1]"
# And if it had gone elsewhere? One entry is changed and the rest played again, on a branch of its own.
$ amend duel:5 "move -3,1" --branch elsewhere
# A match becomes a file that reads well in `git diff`…
$ export duel -o duel.tfl
# …to which `bless` would add whatever outcomes and hashes it lacked…
$ bless --check duel.tfl
# …and which `check` folds again, in every test run to come.
$ check duel.tfl
# The smallest log that still shows something is the best bug report.
$ shrink duel.tfl --when "/units/6/at == [-4,1]" -o least.tfl
"#;

/// After one word of the golden log was changed.
const BROKEN: &str = "
# Had the rules changed, `check` would say where first and why. Here one word of the file was changed.
! check broken.tfl
# A file becomes a match again, in any other store, with the same hashes.
$ --store elsewhere import duel.tfl --name copy
# An auditor recomputes every link, every command and every roll.
$ verify
# One HTML file shows the match in any browser, without a network…
$ export duel --html -o duel.html
# …and anyone who doubts it can check the replay in it.
$ check duel.html
";

pub(crate) fn run(_args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let dir = files::temporary_dir().map_err(|error| trouble(&error))?;
    visit_all(PLAYED, dir.path(), context)?;
    let golden = fs::read_to_string(dir.path().join("duel.tfl")).map_err(|error| trouble(&error))?;
    fs::write(dir.path().join("broken.tfl"), golden.replace("to=-4,1;", "to=-4,2;"))
        .map_err(|error| trouble(&error))?;
    visit_all(BROKEN, dir.path(), context)?;
    if context.output.is_json() {
        return Ok(ExitStatus::Yes);
    }
    let page = keep_page(dir.path())?;
    context.output.note([
        Line::default(),
        dim(format_args!(
            "All of this was in a temporary store, which is gone now. Begin your own match with `{} new --help`.",
            program::name()
        ))
        .into(),
        format!("The page of the match is kept: open `{}` in a browser.", page.display()).into(),
    ])?;
    Ok(ExitStatus::Yes)
}

/// Copies the page to where the machine keeps what is temporary, and returns its path there.
fn keep_page(dir: &Path) -> Result<PathBuf, Failure> {
    let from = dir.join(PAGE_FILE);
    let page = fs::read(&from).map_err(|error| Failure::file("read", &from, &error))?;
    let kept = env::temp_dir().join(format!("turnfold-tour-{}.html", process::id()));
    files::check_new(&kept, false)?;
    files::write_whole(&kept, &page)?;
    Ok(kept)
}

fn visit_all(stops: &str, dir: &Path, context: &mut Context) -> Result<(), Failure> {
    let mut say = "";
    for line in stops.lines() {
        match line.split_once(' ') {
            Some(("#", text)) => say = text,
            Some((sign, typed)) => visit(say, typed, i32::from(sign == "!"), dir, context)?,
            None => {}
        }
    }
    Ok(())
}

/// Prints what comes, runs what is typed in a process of its own and requires its exit code.
fn visit(say: &str, typed: &str, exit_code: i32, dir: &Path, context: &mut Context) -> Result<(), Failure> {
    let heading = [
        Line::default(),
        dim(format_args!("# {say}")).into(),
        strong(format_args!("$ {} {typed}", program::name())).into(),
    ];
    context.output.note(heading)?;
    context.output.flush()?;
    let words = shlex::split(typed).unwrap_or_default();
    let mut command = Command::new(env::current_exe().map_err(|error| trouble(&error))?);
    command.args(&words).current_dir(dir).env_remove("TURNFOLD_STORE").stdin(Stdio::null());
    // `check` would keep the path of the broken log among the user's failed checks.
    command.env(if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_CACHE_HOME" }, dir);
    if cfg!(target_os = "macos") {
        command.env("HOME", dir);
    }
    let json = context.output.is_json();
    if json {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    let result =
        command.spawn().and_then(std::process::Child::wait_with_output).map_err(|error| trouble(&error))?;
    signals::wait_with(result.status);
    if result.status.code() != Some(exit_code) {
        let program = program::name();
        let expected = format!("the tour expected exit code {exit_code} of `{program} {typed}`");
        return Err(Failure::trouble(format!("{expected}, found {}", result.status)));
    }
    if json {
        let [output, errors] = [&result.stdout, &result.stderr].map(|text| String::from_utf8_lossy(text));
        context.output.json(&json!({
            "say": say, "command": words, "exit_code": exit_code, "output": output, "errors": errors,
        }))?;
    }
    Ok(())
}

fn trouble(error: &io::Error) -> Failure {
    Failure::trouble(format!("the tour cannot go on: {error}"))
}
