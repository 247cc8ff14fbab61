//! Another process: this test binary again, which then does one task on a store.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use turnfold_store::{BranchName, Store, StoreError};

#[cfg(unix)]
use crate::game::{labels, name, opaque};

/// How many threads append at once in the task `append`.
pub(crate) const WRITERS: usize = 8;

/// The match to which all threads of the task `append` append, each in its turn.
pub(crate) const SHARED: &str = "shared";

/// Returns the command that does a task; `shell` is what a shell does before, such as limiting it.
pub(crate) fn command(task: &str, dir: &Path, shell: &str) -> Command {
    let this = std::env::current_exe().unwrap();
    let mut command = Command::new(if shell.is_empty() { this.as_os_str() } else { "sh".as_ref() });
    if !shell.is_empty() {
        command.args(["-c", &format!("{shell} exec \"$0\" \"$@\"")]).arg(&this);
    }
    command.args(["--exact", "child::child", "--nocapture", "--quiet"]);
    command.env("TURNFOLD_STORE_TASK", task).env("TURNFOLD_STORE_DIR", dir);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(crate) fn spawn(task: &str, dir: &Path) -> Child {
    command(task, dir, "").spawn().unwrap()
}

pub(crate) fn run(task: &str, dir: &Path) -> String {
    let output = spawn(task, dir).wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Does what other tests want done in a process of its own; by itself it does nothing.
#[test]
#[expect(clippy::print_stdout, reason = "the other process reports by it")]
fn child() {
    let Ok(task) = std::env::var("TURNFOLD_STORE_TASK") else { return };
    let dir = PathBuf::from(std::env::var("TURNFOLD_STORE_DIR").unwrap());
    match task.as_str() {
        "read" => println!("read {:?}", labels(&Store::open(&dir).unwrap(), "m", "main")),
        "locked" => println!("locked {}", Store::open(&dir).unwrap_err()),
        "append" => append(&Store::open(&dir).unwrap(), &|line| println!("{line}")),
        #[cfg(unix)]
        "reserve" => crate::fleet::reservations::stand_still(&dir),
        #[cfg(unix)]
        task if task.starts_with("write ") => {
            // The pipe is read when this process has ended, so it must not fill.
            let lines = std::sync::Mutex::default();
            crate::fleet::many::write(&dir, &task[6..], &|line| Vec::push(&mut lines.lock().unwrap(), line));
            for line in lines.into_inner().unwrap() {
                println!("{line}");
            }
        }
        other => panic!("unknown task {other}"),
    }
}

/// Takes what a writer reports.
pub(crate) type Report<'a> = &'a (dyn Fn(String) + Sync);

/// Appends from many threads until the process ends or the store fails.
pub(crate) fn append(store: &Store, report: Report<'_>) {
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let failure = loop {
                    if let Err(error) = append_twice(store, writer, report) {
                        break error;
                    }
                };
                report(format!("failed {failure}"));
            });
        }
    });
}

/// Appends to the writer's own match and to the shared one, and reports what was acknowledged.
fn append_twice(store: &Store, writer: usize, report: Report<'_>) -> Result<(), StoreError> {
    let main = BranchName::main();
    let own = format!("w{writer}");
    let head = store.head(&name(&own), &main)?;
    // Now and then enough for pages.
    let count = if head % 10 == 0 { 70 } else { 1 + head % 3 };
    let entries = (head + 1..=head + count).map(opaque).collect();
    let appended = store.append(&name(&own), &main, head, entries, None)?;
    report(format!("acknowledged {own} {}", appended.last));
    loop {
        let head = store.head(&name(SHARED), &main)?;
        match store.append(&name(SHARED), &main, head, vec![opaque(head + 1)], None) {
            Err(StoreError::Conflict { .. }) => {}
            answer => return answer.map(|done| report(format!("acknowledged {SHARED} {}", done.last))),
        }
    }
}
