//! Another process: it runs this test binary, which does one task on a store.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use turnfold_store::{BranchName, Store, StoreError};

#[cfg(unix)]
use crate::game::{labels, name, opaque};

/// The number of threads that append in the task `append`.
pub(crate) const WRITERS: usize = 8;

/// The match to which all threads of the task `append` append in turn.
pub(crate) const SHARED: &str = "shared";

/// Returns the command for a task. A shell first runs `shell`, for example to set a limit.
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

/// Does the tasks that other tests want done in another process. Without a task it does nothing.
#[test]
#[expect(clippy::print_stdout, reason = "the other process reports by it")]
fn child() {
    let Ok(task) = std::env::var("TURNFOLD_STORE_TASK") else { return };
    let dir = PathBuf::from(std::env::var("TURNFOLD_STORE_DIR").unwrap());
    match task.as_str() {
        "read" => println!("read {:?}", labels(&Store::open(&dir).unwrap(), "m", "main")),
        "locked" => println!("locked {}", Store::open(&dir).unwrap_err()),
        "append" => append(&Store::open(&dir).unwrap(), &|line| println!("{line}")),
        #[cfg(all(unix, feature = "postgres"))]
        "reserve" => crate::fleet::reservations::stand_still(&dir),
        #[cfg(all(unix, feature = "postgres"))]
        task if task.starts_with("write ") => {
            // The pipe is read only after this process has ended, so it must not fill up.
            let lines = std::sync::Mutex::default();
            crate::fleet::many::write(&dir, &task[6..], &|line| Vec::push(&mut lines.lock().unwrap(), line));
            for line in lines.into_inner().unwrap() {
                println!("{line}");
            }
        }
        other => panic!("unknown task {other}"),
    }
}

/// Receives a writer's reports.
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

/// Appends to the writer's own match and to the shared match, and reports what was acknowledged.
fn append_twice(store: &Store, writer: usize, report: Report<'_>) -> Result<(), StoreError> {
    let main = BranchName::main();
    let own = format!("w{writer}");
    let head = store.head(&name(&own), &main)?;
    // Occasionally enough entries for pages.
    let count = if head % 10 == 0 { 70 } else { 1 + head % 3 };
    let entries = (head + 1..=head + count).map(opaque).collect::<Vec<_>>();
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
