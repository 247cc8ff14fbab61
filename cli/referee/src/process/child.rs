//! A referee that runs: a child process that is asked line by line over its standard input and output (RF-5, RF-16).

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::Deserialize;
use turnfold_core::text::in_one_line;

use crate::allowance::{self, Allowance};
use crate::carrier::NoAnswer;
use crate::json::JsonNode;
use crate::locked;

/// The most bytes of a line (RF-5).
const LINE_BYTES_MAX: usize = 64 << 20;

/// How many bytes of standard error are kept (RF-5).
const STDERR_BYTES: usize = 4 << 10;

/// The time for a request, and more time for each entry and for each MiB of its line (RF-16).
const TIME_OF_REQUEST: Duration = Duration::from_secs(10);
const TIME_OF_ENTRY: Duration = Duration::from_millis(20);
const TIME_OF_MIB: Duration = Duration::from_secs(1);

/// The time for the first request of each kind, because some engines compile for seconds, partly at their first fold
/// (RF-16).
const TIME_OF_FIRST: Duration = Duration::from_mins(1);

const HINT_AFTER: Duration = Duration::from_secs(2);

const LOOK_EVERY: Duration = Duration::from_millis(200);

/// How long to wait for an answer after standard input was closed. Such an answer came because of the closing (RF-16).
const TIME_OF_CLOSING: Duration = Duration::from_secs(1);

/// A request with at least this many bytes may be too long for some line readers.
const LINE_READER_BYTES: usize = 4 << 10;

const QUOTED_CHARS_MAX: usize = 80;

/// The process groups of all children, so that the end of the program can end them too.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Ends all referees and the processes that they started, for a program that ends without dropping them (RF-16).
pub fn end_all() {
    for group in std::mem::take(&mut *locked(&RUNNING)) {
        kill_group(group);
    }
}

#[cfg(unix)]
fn kill_group(group: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(pid) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        // It may have ended already.
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

/// Windows has no process groups. Its `taskkill` ends the child and all processes below it whose parents still run.
#[cfg(windows)]
fn kill_group(group: u32) {
    let Some(root) = std::env::var_os("SystemRoot") else { return };
    let program = Path::new(&root).join("System32").join("taskkill.exe");
    let mut command = Command::new(program);
    command.args(["/T", "/F", "/PID", &group.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // It may have ended already.
    let _ = command.status();
}

#[cfg(not(any(unix, windows)))]
fn kill_group(_: u32) {}

fn in_path(program: &str) -> Option<PathBuf> {
    let endings: &[&str] = if cfg!(windows) { &["", ".exe", ".cmd", ".bat"] } else { &[""] };
    for folder in std::env::split_paths(&std::env::var_os("PATH")?) {
        for ending in endings {
            let path = folder.join(format!("{program}{ending}"));
            if path.is_file() {
                return Some(path);
            }
        }
    }
    None
}

/// How to start a referee; also a section of a file of referees.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Additional environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The folder it runs in; the caller's if `None`.
    pub folder: Option<PathBuf>,
    /// The least time limit of a request, in seconds.
    pub seconds: Option<u64>,
}

impl Launch {
    /// Returns the command as one line, for messages.
    #[must_use]
    pub fn line(&self) -> String {
        in_one_line(&shlex::try_join(self.command.iter().map(String::as_str)).unwrap_or_default())
    }

    /// Returns the program, found in the same way as by the system, and the other words of the command that are files
    /// or folders.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let folder = self.folder.as_deref().unwrap_or(Path::new(""));
        let mut paths = Vec::new();
        for (place, word) in self.command.iter().enumerate() {
            if place == 0
                && Path::new(word).components().count() == 1
                && let Some(program) = in_path(word)
            {
                paths.push(program);
                continue;
            }
            let path = folder.join(word);
            if path.exists() {
                paths.push(path);
            }
        }
        paths
    }

    fn not_started(&self, why: &str, is_second: bool) -> NoAnswer {
        let names: Vec<String> = self.variables(is_second).into_keys().collect();
        NoAnswer::NotStarted(format!(
            "`{}` cannot be started: {why} (it has {})",
            self.line(),
            names.join(", ")
        ))
    }

    /// Returns the environment variables of the child (RF-3). The second child of a check gets another zone and locale
    /// (RF-15).
    fn variables(&self, is_second: bool) -> BTreeMap<String, String> {
        let mut variables = BTreeMap::new();
        let kept: &[&str] = if cfg!(windows) {
            &["PATH", "HOME", "SystemRoot", "USERPROFILE", "TEMP"]
        } else {
            &["PATH", "HOME"]
        };
        for &name in kept {
            if let Ok(value) = std::env::var(name) {
                variables.insert(name.into(), value);
            }
        }
        if is_second {
            variables.insert("PYTHONHASHSEED".into(), "1".into());
        }
        for (name, value) in [
            ("LANG", if is_second { "tr_TR.UTF-8" } else { "C.UTF-8" }),
            ("TZ", if is_second { "Pacific/Kiritimati" } else { "UTC" }),
            ("PYTHONUNBUFFERED", "1"),
            ("PYTHONUTF8", "1"),
            ("PYTHONIOENCODING", "utf-8"),
        ] {
            variables.insert(name.into(), value.into());
        }
        variables.extend(self.env.clone());
        variables.retain(|name, _| !name.starts_with("TURNFOLD_"));
        variables
    }
}

enum Received {
    Whole(Vec<u8>),
    TooLong,
}

pub(crate) struct Running {
    child: Child,
    /// Lines for its standard input, which is closed when this sender is dropped.
    requests: Option<Sender<Vec<u8>>>,
    lines: Receiver<Received>,
    stderr: Arc<Mutex<Vec<u8>>>,
    stderr_reader: JoinHandle<()>,
    launch: Arc<Launch>,
    is_second: bool,
    id: u64,
    /// The operations that it has answered: the first request of each kind may take longer.
    known: BTreeSet<&'static str>,
}

impl Running {
    pub(crate) fn start(launch: &Arc<Launch>, is_second: bool) -> Result<Self, NoAnswer> {
        let Some((program, arguments)) = launch.command.split_first() else {
            return Err(NoAnswer::NotStarted("its command is empty".into()));
        };
        let lowercase = program.to_ascii_lowercase();
        if cfg!(windows) && [".cmd", ".bat"].iter().any(|ending| lowercase.ends_with(ending)) {
            let why = "a batch file runs a shell; name the program itself, such as `node`";
            return Err(launch.not_started(why, is_second));
        }
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(launch.variables(is_second));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(folder) = &launch.folder {
            command.current_dir(folder);
        }

        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return Err(launch.not_started(&error.to_string(), is_second)),
        };
        locked(&RUNNING).insert(child.id());
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(launch.not_started("it has no pipes", is_second));
        };
        let (requests, to_write) = mpsc::channel::<Vec<u8>>();
        thread::spawn(move || {
            for line in to_write {
                // The wait for the answer notices a failed write.
                if stdin.write_all(&line).is_err() || stdin.flush().is_err() {
                    break;
                }
            }
        });
        let (to_read, lines) = mpsc::channel();
        thread::spawn(move || read_lines(stdout, &to_read));
        let kept = Arc::new(Mutex::new(Vec::new()));
        let keep = kept.clone();
        let stderr_reader = thread::spawn(move || keep_last(stderr, &keep));
        Ok(Self {
            child,
            requests: Some(requests),
            lines,
            stderr: kept,
            stderr_reader,
            launch: launch.clone(),
            is_second,
            id: 0,
            known: BTreeSet::new(),
        })
    }

    pub(crate) fn ask(&mut self, op: &'static str, args: &str, entries: usize) -> Result<JsonNode, NoAnswer> {
        self.id += 1;
        let line = format!("{{\"id\":{},\"op\":\"{op}\",\"args\":{args}}}\n", self.id);
        if line.len() > LINE_BYTES_MAX {
            return Err(NoAnswer::Broke(format!("a request of {} bytes is larger than 64 MiB", line.len())));
        }
        let bytes = line.len();
        let limit = self.limit(op, bytes, entries);
        let allowance = allowance::current();
        let allowed = allowance.map_or(limit, |allowance| allowance.left.min(limit));
        if let Some(requests) = &self.requests {
            // The thread that writes ends only with the child, which is noticed below.
            let _ = requests.send(line.into_bytes());
        }
        let timer = Timer::start(allowed, true);
        loop {
            let answered = match self.next_line(&timer, op) {
                Ok(line) => line,
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended(bytes, op)),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(match allowance {
                        Some(Allowance { all, left }) if left < limit => {
                            let all = all.as_secs();
                            NoAnswer::Overrun(format!("the referees have used up their {all} s"))
                        }
                        _ => self.late(limit),
                    });
                }
            };
            let line = match answered {
                Received::Whole(line) => line,
                Received::TooLong => {
                    return Err(NoAnswer::broke("a line of its answer is longer than 64 MiB"));
                }
            };
            let Some(text) = text_of(&line, op)? else { continue };
            if !text.trim_start().starts_with('{') {
                // Banners and notes of compilers come before the first answer (RF-5).
                if op == "hello" {
                    keep(&mut locked(&self.stderr), format!("{text}\n").as_bytes());
                    continue;
                }
                let text = quoted(text);
                return Err(NoAnswer::Broke(format!(
                    "it printed {text} on standard output, which is for answers; print to standard error"
                )));
            }
            let answer = match JsonNode::read(text) {
                Ok(answer) => answer,
                Err(_) if text.trim() == "{" => {
                    return Err(NoAnswer::broke("print the answer on one line: it began with `{` alone"));
                }
                Err(why) => {
                    let why = in_one_line(&why);
                    return Err(NoAnswer::Broke(format!("its answer to `{op}` cannot be read: {why}")));
                }
            };
            check_id(&answer, text, self.id)?;
            self.known.insert(op);
            return Ok(answer);
        }
    }

    /// Waits for the next line, and reports the wait after a while. A child that has ended gives no more answers, even
    /// if a process that it started keeps its standard output open.
    fn next_line(&mut self, timer: &Timer, op: &str) -> Result<Received, RecvTimeoutError> {
        let hint = Timer::start(HINT_AFTER, false);
        let mut has_hinted = false;
        loop {
            let left = timer.left();
            match self.lines.recv_timeout(left.min(LOOK_EVERY)) {
                Err(RecvTimeoutError::Timeout) if left > LOOK_EVERY => {
                    if let Ok(Some(_)) = self.child.try_wait() {
                        // What it wrote before it ended may still be on its way.
                        let last = self.lines.recv_timeout(LOOK_EVERY);
                        return last.map_err(|_| RecvTimeoutError::Disconnected);
                    }
                    if !has_hinted && hint.left().is_zero() {
                        has_hinted = true;
                        tracing::warn!("waiting for `{}` to answer `{op}`", self.launch.line());
                    }
                }
                received => return received,
            }
        }
    }

    fn limit(&self, op: &'static str, bytes: usize, entries: usize) -> Duration {
        let entries = u32::try_from(entries).unwrap_or(u32::MAX);
        let mibs = u32::try_from(bytes >> 20).unwrap_or(u32::MAX);
        let mut limit = TIME_OF_REQUEST;
        limit = limit.saturating_add(TIME_OF_ENTRY.saturating_mul(entries));
        limit = limit.saturating_add(TIME_OF_MIB.saturating_mul(mibs));
        if !self.known.contains(op) {
            limit = limit.max(TIME_OF_FIRST);
        }
        limit.max(Duration::from_secs(self.launch.seconds.unwrap_or(0)))
    }

    fn ended(&mut self, bytes: usize, op: &str) -> NoAnswer {
        self.requests = None;
        let status = self.wait();
        // Its last output has the reason, and may not have been read yet. A process that it started may keep the pipe
        // open.
        let timer = Timer::start(TIME_OF_CLOSING, false);
        while status.is_some() && !self.stderr_reader.is_finished() && !timer.left().is_zero() {
            thread::sleep(Duration::from_millis(1));
        }
        let what = match status {
            Some(status) if status.success() && bytes >= LINE_READER_BYTES => format!(
                "it ended with status 0 in the middle of a request of {bytes} bytes; does its line reader have a limit \
                 (Go's Scanner: 64 KiB)?"
            ),
            Some(status) if status.success() => format!("it ended with status 0 before it answered `{op}`"),
            Some(status) => format!("it ended with {}", described(status)),
            None => "it closed its standard output".into(),
        };
        let mut what = what + &self.stderr_shown();
        if op == "hello" {
            let names: Vec<String> = self.launch.variables(self.is_second).into_keys().collect();
            what = format!("{what} (it has the variables {})", names.join(", "));
        }
        NoAnswer::Ended(what)
    }

    /// Finds out why no answer came. Some programs write only when they end (RF-16).
    fn late(&mut self, limit: Duration) -> NoAnswer {
        self.requests = None;
        let what = match self.lines.recv_timeout(TIME_OF_CLOSING) {
            Ok(_) => format!(
                "your answer came only when its input was closed: flush after each line{}",
                flush_call(&self.launch.command)
            ),
            Err(_) => format!("no answer within {} s", limit.as_secs()),
        };
        NoAnswer::Late(what + &self.stderr_shown())
    }

    fn wait(&mut self) -> Option<ExitStatus> {
        let timer = Timer::start(TIME_OF_CLOSING, false);
        while !timer.left().is_zero() {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            thread::sleep(Duration::from_millis(5));
        }
        None
    }

    /// Returns the last line of standard error that names an error, or else the last line, for a message.
    fn stderr_shown(&self) -> String {
        let kept = locked(&self.stderr);
        let text = String::from_utf8_lossy(&kept);
        let mut shown = "";
        for line in text.lines().rev() {
            let line = line.trim();
            // A thrown error comes before its stack, and engines of JavaScript print their version last.
            if line.contains("Error") || line.contains("error") {
                shown = line;
                break;
            }
            if shown.is_empty() {
                shown = line;
            }
        }
        if shown.is_empty() { String::new() } else { format!("; it printed {}", quoted(shown)) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.requests = None;
        let group = self.child.id();
        if locked(&RUNNING).remove(&group) {
            kill_group(group);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Timer {
    since: Instant,
    most: Duration,
    /// Whether its time is taken off the operation's allowance.
    is_counted: bool,
}

impl Timer {
    #[expect(clippy::disallowed_methods, reason = "a limit, which no answer depends on")]
    fn start(most: Duration, is_counted: bool) -> Self {
        Self { since: Instant::now(), most, is_counted }
    }

    fn left(&self) -> Duration {
        self.most.saturating_sub(self.since.elapsed())
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if self.is_counted {
            allowance::take(self.since.elapsed());
        }
    }
}

fn read_lines(stdout: impl Read, lines: &Sender<Received>) {
    let mut stdout = BufReader::with_capacity(1 << 16, stdout);
    loop {
        let mut line = Vec::new();
        match stdout.by_ref().take(LINE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if line.len() > LINE_BYTES_MAX => {
                let _ = lines.send(Received::TooLong);
                return;
            }
            Ok(_) => {
                if lines.send(Received::Whole(line)).is_err() {
                    return;
                }
            }
        }
    }
}

fn keep_last(mut stderr: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut part = [0; 1 << 10];
    while let Ok(count) = stderr.read(&mut part) {
        if count == 0 {
            return;
        }
        keep(&mut locked(kept), part.get(..count).unwrap_or_default());
    }
}

fn keep(kept: &mut Vec<u8>, bytes: &[u8]) {
    kept.extend_from_slice(bytes);
    let surplus = kept.len().saturating_sub(STDERR_BYTES);
    kept.drain(..surplus);
}

fn text_of<'a>(line: &'a [u8], op: &str) -> Result<Option<&'a str>, NoAnswer> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    let Ok(text) = std::str::from_utf8(line) else {
        return Err(NoAnswer::Broke(format!("its answer to `{op}` is not UTF-8")));
    };
    let text = text.trim();
    Ok(if text.is_empty() { None } else { Some(text) })
}

fn check_id(answer: &JsonNode, text: &str, asked: u64) -> Result<(), NoAnswer> {
    let what = match answer.integer_in("id") {
        Some(id) if u64::try_from(id) == Ok(asked) => return Ok(()),
        Some(id) => format!("the id {id}"),
        None if answer.is_null_in("id") => {
            return Err(NoAnswer::broke("its answer has the id `null`: it did not read the request"));
        }
        None => format!("no id: {}", quoted(text)),
    };
    Err(NoAnswer::Broke(format!("its answer to request {asked} has {what}")))
}

fn quoted(text: &str) -> String {
    let shown: String = in_one_line(text.trim()).chars().take(QUOTED_CHARS_MAX).collect();
    format!("`{shown}`")
}

fn described(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("signal {signal}");
    }
    match status.code() {
        Some(code) => format!("status {code}"),
        None => status.to_string(),
    }
}

/// How languages flush: the beginning of an interpreter's name, the ending of a script's name, and the call.
const FLUSH_CALLS: [(&str, &str, &str); 5] = [
    ("python", ".py", "print(…, flush=True)"),
    ("ruby", ".rb", "$stdout.sync = true"),
    ("perl", ".pl", "$| = 1"),
    ("lua", ".lua", "io.stdout:setvbuf(\"line\")"),
    ("love", ".love", "io.stdout:setvbuf(\"line\")"),
];

/// Returns how a program flushes, in its language if the command shows that (RF-16).
fn flush_call(command: &[String]) -> String {
    for (interpreter, ending, call) in FLUSH_CALLS {
        for word in command {
            let file = word.rsplit(['/', '\\']).next().unwrap_or_default();
            if file.starts_with(interpreter) || file.ends_with(ending) {
                return format!(", by `{call}`");
            }
        }
    }
    ", such as by `fflush(stdout)`".into()
}
