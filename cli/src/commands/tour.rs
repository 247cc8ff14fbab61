//! `turnfold tour`: hunts down a bug with the real verbs, in a temporary folder.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::{env, fs, io};

use serde_json::json;

use crate::context::{Context, left_out};
use crate::failure::{ExitStatus, Failure, Result};
use crate::output::{Line, dim, plain, strong};
use crate::{files, program, signals};

/// Hunt down a bug in a minute, step by step
///
/// A game of 300 entries comes out wrong. The tour finds the entry and the field, reduces the game to three entries, checks the
/// mended rules and writes a page. The verbs are real, and so is what they print. All of it lies in a temporary
/// folder, which is removed at the end.
///
/// On a terminal, the tour waits after each step: Enter goes on, `q` ends, `o` opens the page in a browser.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold tour\n  turnfold tour --no-pause")]
pub(crate) struct Args {
    /// Do not wait after each step
    #[arg(long)]
    no_pause: bool,
}

struct Step {
    title: &'static str,
    /// The text, in lines of at most 80 columns.
    say: &'static str,
    /// The commands, each as the exit code that it must have and its arguments.
    commands: &'static [(i32, &'static str)],
}

const STEPS: [Step; 7] = [
    Step {
        title: "A log fails",
        say: "In the game of Flank, a stone between two stones of the opponent is taken.
report.tfl is a match of 300 entries, recorded with the right outcomes. The
rules are a module, and the folder `today` has today's build of it. With this
build `check` fails, and names the first entry whose outcome differs.",
        commands: &[(1, "check report.tfl --modules today")],
    },
    Step {
        title: "Which entry?",
        say: "Most reports say less, such as \"my stone e disappeared\". A condition is enough
for `bisect`, which needs no outcomes. It halves the match until it finds the
entry that makes the condition true.",
        commands: &[(0, "bisect report.tfl --when \"/stones/e == null\" --modules today")],
    },
    Step {
        title: "What does the board show?",
        say: "p1 moved D to d2, and e disappeared from e2. No stone of p1 can be on the other
side of it, because e2 is at the edge of the board.",
        commands: &[(0, "show report.tfl:281 --changed --modules today")],
    },
    Step {
        title: "Which field?",
        say: "`blame` starts from a field, and shows the entry that last changed it. The
effect `took` names the second stone: it is on a3, at the other end of the next
row. The rules number the squares row by row, and a3 is the one after e2.",
        commands: &[(0, "blame report.tfl /stones/e --modules today")],
    },
    Step {
        title: "How few entries show it?",
        say: "`shrink` removes every entry that the bug does not need. Three of 300 are left.",
        commands: &[(0, "shrink report.tfl -o bug.tfl --modules today"), (0, "log bug.tfl --modules today")],
    },
    Step {
        title: "The rule is mended",
        say: "Today's rules check that the square of the second stone is on the board, but
not that it is in the same row or column. The folder `mended` has a build that
checks both. `bless` adds the hash that the small log lacks, and `check` passes
both logs with this build. Keep them, and run `check` with your tests.",
        commands: &[
            (0, "bless --accept bug.tfl --modules mended"),
            (0, "check report.tfl bug.tfl --modules mended"),
        ],
    },
    Step {
        title: "Show it to others",
        say: "A page is one HTML file that shows the match in a browser, without a network.
It contains the replay file, so anyone can check it.",
        commands: &[
            (0, "export bug.tfl --html -o bug.html --modules mended"),
            (0, "check bug.html --modules mended"),
        ],
    },
];

/// Ways to begin with one's own game: what the reader has, and the arguments of the command.
const OWN_GAME: [(&str, &str); 3] = [
    ("a recording of your engine", "import --recording game.jsonl"),
    ("your engine as a referee", "new bug --referee \"node referee.mjs\""),
    ("rules that you write", "help your-own-game"),
];

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    if cfg!(not(feature = "modules")) {
        return Err(Failure::usage(left_out("modules")));
    }
    let dir = files::temporary_dir().map_err(|error| trouble(&error))?;
    lay_out(dir.path()).map_err(|error| trouble(&error))?;
    let is_paused = !args.no_pause && context.output.is_attended();
    for (index, step) in STEPS.iter().enumerate() {
        let title = strong(format_args!("{}/{} {}", index + 1, STEPS.len(), step.title));
        context.output.note([title.into(), Line::default()])?;
        context.output.note(step.say.lines().map(Line::from))?;
        for (exit_code, typed) in step.commands {
            show_command(step, typed, *exit_code, dir.path(), context)?;
        }
        context.output.note([Line::default()])?;
        if is_paused && !goes_on(index + 1 == STEPS.len(), dir.path(), context)? {
            return Ok(ExitStatus::Yes);
        }
    }
    drop(dir);
    context.output.note([strong("Your own game").into(), Line::default()])?;
    for (what, typed) in OWN_GAME {
        let command = strong(format_args!("{} {typed}", program::name()));
        context.output.note([Line::from([plain(format_args!("{what:29}")), command])])?;
    }
    let more = format!("`{} help referees` explains the first two.", program::name());
    let end = "The files of the tour are removed.";
    context.output.note([Line::default(), dim(more).into(), dim(end).into()])?;
    Ok(ExitStatus::Yes)
}

fn lay_out(dir: &Path) -> io::Result<()> {
    let files: [(&str, &[u8]); 3] = [
        ("report.tfl", include_bytes!("../../tour/report.tfl")),
        ("today/flank.wasm", include_bytes!("../../tour/flank-wrong.wasm")),
        ("mended/flank.wasm", include_bytes!("../../tour/flank.wasm")),
    ];
    for folder in ["today", "mended"] {
        fs::create_dir(dir.join(folder))?;
    }
    for (name, content) in files {
        fs::write(dir.join(name), content)?;
    }
    Ok(())
}

fn show_command(step: &Step, typed: &str, exit_code: i32, dir: &Path, context: &mut Context) -> Result<()> {
    context.output.note([Line::default(), strong(format_args!("$ {} {typed}", program::name())).into()])?;
    context.output.flush()?;
    let words = shlex::split(typed).unwrap_or_default();
    let mut command = Command::new(env::current_exe().map_err(|error| trouble(&error))?);
    command.args(&words).current_dir(dir).stdin(Stdio::null());
    // No pager, because each answer fits on a screen.
    command.env("TURNFOLD_PAGER", "");
    // Without the store and referees of the user, and without `CI`, because `bless` writes nothing if it is set.
    for variable in ["TURNFOLD_STORE", "TURNFOLD_REFEREES", "CI"] {
        command.env_remove(variable);
    }
    // In folders of the tour, because `check` would keep the path of the failing log among the user's failed checks. A
    // referee of the user may also have the name of the game.
    for variable in ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "LOCALAPPDATA", "APPDATA"] {
        command.env(variable, dir);
    }
    if cfg!(target_os = "macos") {
        command.env("HOME", dir);
    }
    let is_json = context.output.is_json();
    if is_json {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    let result = command.spawn().and_then(Child::wait_with_output).map_err(|error| trouble(&error))?;
    signals::wait_with(result.status);
    if result.status.code() != Some(exit_code) {
        let program = program::name();
        let expected = format!("the tour expected exit code {exit_code} of `{program} {typed}`");
        return Err(Failure::trouble(format!("{expected}, found {}", result.status)));
    }
    if is_json {
        let [output, errors] = [&result.stdout, &result.stderr].map(|text| String::from_utf8_lossy(text));
        context.output.json(&json!({
            "step": step.title, "say": step.say.replace('\n', " "), "command": words,
            "exit_code": exit_code, "output": output, "errors": errors,
        }))?;
    }
    Ok(())
}

/// Waits until the user continues or ends the tour, and opens the page if the user asks for it. Returns `true` if the
/// tour goes on.
fn goes_on(has_page: bool, dir: &Path, context: &mut Context) -> Result<bool> {
    let (question, letters): (&str, &[&str]) = if has_page {
        ("Enter goes on, `o` opens the page, `q` ends:", &["", "o", "q"])
    } else {
        ("Enter goes on, `q` ends:", &["", "q"])
    };
    loop {
        match context.output.ask(question, letters, "")? {
            "o" => open_page(&dir.join("bug.html"), context)?,
            "q" => return Ok(false),
            _ => {
                context.output.note([Line::default()])?;
                return Ok(true);
            }
        }
    }
}

fn open_page(page: &Path, context: &mut Context) -> Result<()> {
    let (program, args): (&str, &[&str]) = match env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(args).arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let place = format!("`{}`", page.display());
    let line = match command.spawn() {
        Ok(_) => format!("{place} opens; it is there until the tour ends."),
        Err(_) => format!("No browser was found. Open {place} before the tour ends."),
    };
    context.output.note([dim(line).into()])?;
    Ok(())
}

fn trouble(error: &io::Error) -> Failure {
    Failure::trouble(format!("the tour cannot go on: {error}"))
}
