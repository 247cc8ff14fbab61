//! `turnfold check --watch`: checks again whenever something changes that the result depends on.
//!
//! Each check is a process of its own: this program with the same arguments, and a variable that lets it check once. It
//! loads every module and referee afresh, and its own new rules if the program was built again. A check that crashes does
//! not end the watch.
//!
//! The watch polls the files several times a second and uses no notices of the system. There are few files, and network
//! drives, shared folders of containers and editors that replace a file send no notices. A crate for notices would
//! bring ten others, and the files would still have to be compared to find what changed.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use serde_json::json;
use turnfold_history::golden::FoundFiles;
use turnfold_history::input::is_standard;
use walkdir::{DirEntry, WalkDir};

use super::Args;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::output::{counted, warn};
use crate::{clock, files, signals, stderr};

/// The environment variable that a watch sets for its checks, so that each checks once.
pub(super) const ONCE: &str = "TURNFOLD_CHECK_ONCE";

/// The least time between two looks, and the time without changes before a check begins. A build writes a program in
/// several steps.
const LOOK: Duration = Duration::from_millis(200);

/// The pause between two looks, in multiples of the time that a look takes, so that many files cause no steady load.
const SHARE: u32 = 10;

/// The longest delay between Ctrl-C and the end of a wait.
const STEP: Duration = Duration::from_millis(25);

const FILES_MAX: usize = 10_000;

/// Folders of generated or third-party files. Hidden folders are skipped as well.
const PASSED_OVER: [&str; 3] = ["node_modules", "target", "__pycache__"];

/// The exit code of a program that Ctrl-C ended before it had a result.
const INTERRUPTED: i32 = 130;

/// The watched files at one time: when each was written and its length in bytes; `None` if it does not exist.
type Looked = BTreeMap<PathBuf, Option<(SystemTime, u64)>>;

struct Watch<'a> {
    args: &'a Args,
    context: &'a Context,
    program: PathBuf,
    is_over: &'a AtomicBool,
}

/// Checks until a signal ends the watch; returns the result of the last check that finished.
pub(super) fn run(args: &Args, context: &Context) -> Result<ExitStatus> {
    if args.paths.iter().any(|path| is_standard(path)) {
        return Err(Failure::usage("standard input cannot be watched").hint("name a file instead"));
    }
    let failed = |cause: io::Error| Failure::trouble(format!("cannot watch: {cause}"));
    let is_over = signals::notice_end().map_err(failed)?;
    // Read once at the start, because after a build the system may name the removed file.
    let program = env::current_exe().map_err(failed)?;
    let watch = Watch { args, context, program, is_over: &is_over };
    let mut last = None;
    let mut changed = None;
    for number in 1_u64.. {
        let looked = watch.look();
        let code = watch.check();
        if watch.is_over() {
            // If the signal ended the check, the code is not its result.
            last = code.filter(|code| (0..=3).contains(code)).or(last);
            break;
        }
        last = code;
        Watch::report(number, changed.as_deref(), code, looked.len());
        changed = watch.next_change(&looked);
        if changed.is_none() {
            break;
        }
    }
    match last.unwrap_or(INTERRUPTED) {
        0 => Ok(ExitStatus::Yes),
        1 => Ok(ExitStatus::No),
        // The check has printed the reason.
        code => std::process::exit(code),
    }
}

impl Watch<'_> {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    fn wait(&self, time: Duration) -> bool {
        let stopwatch = clock::stopwatch();
        while !self.is_over() && stopwatch.elapsed() < time {
            thread::sleep(STEP);
        }
        !self.is_over()
    }

    /// Runs one check and returns its exit code; `None` if it cannot start or was killed by a signal.
    fn check(&self) -> Option<i32> {
        let mut command = Command::new(&self.program);
        let mut child = match command.args(env::args_os().skip(1)).env(ONCE, "1").spawn() {
            Ok(child) => child,
            Err(cause) => {
                // The program may be in the middle of a build, which will change it once more.
                warn(&format!("cannot start `{}`: {cause}", files::shown(&self.program)));
                return None;
            }
        };
        while !self.is_over() {
            match child.try_wait() {
                Ok(Some(status)) => return status.code(),
                Ok(None) => thread::sleep(STEP),
                Err(cause) => {
                    warn(&format!("cannot wait for the check: {cause}"));
                    return None;
                }
            }
        }
        end(&mut child);
        child.wait().ok()?.code()
    }

    fn report(number: u64, changed: Option<&Path>, code: Option<i32>, files: usize) {
        let result = match code {
            Some(0) => "all good".into(),
            Some(1) => "something failed".into(),
            Some(code) => format!("not all was checked, exit code {code}"),
            None => "the check did not end by itself".into(),
        };
        let changed = changed.map(files::shown);
        let after = match &changed {
            Some(path) => format!(" after a change of {path}"),
            None => String::new(),
        };
        let files_shown = counted(files as u64, "file", "files");
        let text = format!("check {number}{after}: {result}; watching {files_shown}, Ctrl-C ends");
        let document = json!({
            "watch": { "check": number, "changed": changed, "exit_code": code, "files": files }
        });
        stderr::note(&text, &document);
    }

    /// Waits until something has changed and no longer changes, and returns the first changed path; `None` if the watch
    /// is to end.
    fn next_change(&self, before: &Looked) -> Option<PathBuf> {
        let mut pause = LOOK;
        let mut earlier = before.clone();
        while self.wait(pause) {
            let stopwatch = clock::stopwatch();
            let now = self.look();
            pause = LOOK.max(stopwatch.elapsed() * SHARE);
            if now != *before && now == earlier {
                let mut paths: Vec<_> = before.keys().chain(now.keys()).collect();
                paths.sort_unstable();
                return paths.into_iter().find(|path| before.get(*path) != now.get(*path)).cloned();
            }
            earlier = now;
        }
        None
    }

    fn look(&self) -> Looked {
        let mut paths = FoundFiles::replays(&self.args.paths).files;
        paths.push(self.program.clone());
        // A folder that cannot be listed counts as empty, because the check reports it.
        paths.extend(self.context.modules.paths().unwrap_or_default());
        for path in &self.args.paths {
            if !path.is_dir() {
                paths.push(path.clone());
            }
        }
        let mut looked = Looked::new();
        for path in paths {
            let state = state(&path);
            looked.insert(path, state);
        }
        for path in &self.context.referee_paths {
            add_of_referee(path, &mut looked);
        }
        for path in &self.args.watch_path {
            looked.insert(path.clone(), state(path).filter(|_| path.is_file()));
            add_folder(path, None, &mut looked);
        }
        looked
    }
}

/// Adds a file or folder named in a referee's command. For a script, also adds the files with the same ending in its
/// folder, because it may load them.
fn add_of_referee(path: &Path, looked: &mut Looked) {
    if path.is_dir() {
        return add_folder(path, None, looked);
    }
    looked.insert(path.into(), state(path));
    if let Some(ending) = path.extension().filter(|ending| *ending != "exe") {
        add_folder(files::dir_of(path), Some(ending), looked);
    }
}

fn add_folder(folder: &Path, ending: Option<&OsStr>, looked: &mut Looked) {
    let mut count = 0;
    // Links are not followed, because they may lead in a circle.
    for entry in WalkDir::new(folder).min_depth(1).into_iter().filter_entry(is_watched).flatten() {
        let path = entry.path();
        if entry.file_type().is_dir() || ending.is_some() && path.extension() != ending {
            continue;
        }
        // Without a leading `./`, so that a file named in a command is not listed twice.
        let path = path.strip_prefix(".").unwrap_or(path);
        looked.insert(path.into(), state(path));
        count += 1;
        if count == FILES_MAX {
            return;
        }
    }
}

fn is_watched(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    !entry.file_type().is_dir() || !name.starts_with('.') && !PASSED_OVER.contains(&&*name)
}

fn state(path: &Path) -> Option<(SystemTime, u64)> {
    let about = fs::metadata(path).ok()?;
    Some((about.modified().ok()?, about.len()))
}

/// Ends a check, also if the signal reached only the watch.
fn end(child: &mut Child) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process};
        // With SIGINT, the check ends its referees and removes its drafts.
        if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::INT);
        }
    }

    #[cfg(not(unix))]
    let _ = child.kill();
}
