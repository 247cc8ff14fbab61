//! The machine of the measurements.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use crate::input::workspace;

/// Describes the machine, the file system of `dir` and the versions of the measured software.
pub(crate) fn description(dir: &Path) -> String {
    let cpu = field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let memory = field("/proc/meminfo", "MemTotal").and_then(|text| kib(&text)).unwrap_or_default();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let commit = output("git", &["describe", "--always", "--dirty"]);
    format!(
        "- Machine: {cpu}, {cores} cores, {} GiB, {} {}, {}\n- Versions: turnfold {commit}, {}, sled {}, redb {}, fjall {}, \
         blake3 {}, SQLite {}\n",
        memory / (1024 * 1024),
        std::env::consts::OS,
        kernel.trim(),
        file_system(dir),
        output("rustc", &["--version"]),
        locked("sled"),
        locked("redb"),
        locked("fjall"),
        locked("blake3"),
        rusqlite::version(),
    )
}

/// Returns the value of a field in a file like `/proc/cpuinfo`.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim().to_owned())
}

fn kib(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

/// Returns the type of the file system of a folder.
fn file_system(dir: &Path) -> String {
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        Some((words.next()?, words.next()?))
    });
    let holding = mounts.filter(|(mount, _)| dir.starts_with(mount)).max_by_key(|(mount, _)| mount.len());
    holding.map_or_else(|| "an unknown file system".to_owned(), |(_, kind)| kind.to_owned())
}

/// Returns the output of a program, or a text that it is unknown.
fn output(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).current_dir(workspace()).output().ok();
    let done = output.filter(|output| output.status.success());
    done.map_or_else(|| "unknown".to_owned(), |done| String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

/// Returns the version of a dependency.
fn locked(name: &str) -> String {
    let lock = fs::read_to_string(workspace().join("Cargo.lock")).unwrap_or_default();
    let mut lines = lock.lines().skip_while(|line| *line != format!("name = \"{name}\""));
    let version = lines.nth(1).and_then(|line| line.split('"').nth(1));
    version.unwrap_or("unknown").to_owned()
}
