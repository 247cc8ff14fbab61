//! Writers (FL-13): a few threads, each with a connection of its own, that send what waits together in one statement.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use uuid::Uuid;

use super::address::FleetAddress;
use super::connect::{Connection, PATIENCE, Patience};
use super::fault::Fault;
use super::insert::{record_module, statement};
use super::run::Runs;
use crate::error::StoreError;

/// The most appends of a statement, and from how many bytes on no more are added.
const GROUP_MAX: usize = 64;
const GROUP_BYTES: usize = 1 << 20;

/// The most appends that wait for one writer.
const QUEUE_MAX: usize = 256;

/// An append on its way.
struct Job {
    runs: Runs,
    since: Instant,
    state: Arc<AtomicU8>,
    reply: SyncSender<Result<bool, StoreError>>,
}

/// What has become of a job.
const WAITING: u8 = 0;
const SENT: u8 = 1;
const GIVEN_UP: u8 = 2;

/// The threads that write, begun when they are first needed.
pub(super) struct Writers {
    address: FleetAddress,
    threads: Vec<Mutex<Option<Writer>>>,
}

struct Writer {
    sender: SyncSender<Job>,
    thread: JoinHandle<()>,
}

impl Writers {
    pub(super) fn new(address: FleetAddress) -> Self {
        let threads = (0..address.writers).map(|_| Mutex::default()).collect();
        Self { address, threads }
    }

    /// Inserts runs where the branch ends; returns `true` if it did, once that is durable. What a branch is given always
    /// goes the same way.
    pub(super) fn write(&self, runs: Runs) -> Result<bool, StoreError> {
        let ended = || StoreError::Failed { reason: "its writer ended".to_owned() };
        let (reply, answer) = sync_channel(1);
        let state = Arc::new(AtomicU8::new(WAITING));
        #[expect(clippy::disallowed_methods, reason = "it measures a wait, on which no answer depends")]
        let since = Instant::now();
        let job = Job { runs, since, state: Arc::clone(&state), reply };
        self.sender(&job.runs)?.send(job).map_err(|_| ended())?;
        match answer.recv_timeout(PATIENCE) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Disconnected) => Err(ended()),
            Err(RecvTimeoutError::Timeout) => {
                let waited =
                    state.compare_exchange(WAITING, GIVEN_UP, Ordering::SeqCst, Ordering::SeqCst).is_ok();
                let reason = format!("it took longer than {} s", PATIENCE.as_secs());
                Err(StoreError::Unavailable { reason, maybe: !waited })
            }
        }
    }

    /// Returns the way to the writer of a branch.
    fn sender(&self, runs: &Runs) -> Result<SyncSender<Job>, StoreError> {
        let index = usize::try_from(runs.branch % self.threads.len().max(1) as u64).unwrap_or_default();
        let slot = self
            .threads
            .get(index)
            .ok_or_else(|| StoreError::Failed { reason: "it is closed".to_owned() })?;
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = slot.as_ref() {
            return Ok(writer.sender.clone());
        }
        let (sender, jobs) = sync_channel(QUEUE_MAX);
        let address = self.address.clone();
        let thread = std::thread::Builder::new().name("turnfold writer".to_owned());
        let thread = thread.spawn(move || run(&address, &jobs));
        let thread =
            thread.map_err(|source| StoreError::Io { action: "start a writer".to_owned(), source })?;
        Ok(slot.insert(Writer { sender, thread }).sender.clone())
    }
}

impl Drop for Writers {
    fn drop(&mut self) {
        for slot in &self.threads {
            let writer = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(Writer { sender, thread }) = writer {
                drop(sender);
                // What it was asked for has been answered.
                let _ = thread.join();
            }
        }
    }
}

fn run(address: &FleetAddress, jobs: &Receiver<Job>) {
    let mut waiting = VecDeque::new();
    let mut connection = None;
    let mut served = 0;
    loop {
        if waiting.is_empty() {
            let Ok(job) = jobs.recv() else { return };
            waiting.push_back(job);
        }
        let_in(&mut waiting, jobs, served);
        let is_spread = connection.as_ref().is_some_and(Connection::is_spread);
        let group = gather(&mut waiting, if is_spread { 1 } else { GROUP_MAX });
        served = group.len();
        serve(address, &mut connection, group);
    }
}

/// Lets in what has come. Those who were answered together often ask again at once, so as many are let in as were served
/// last, as long as any comes.
fn let_in(waiting: &mut VecDeque<Job>, jobs: &Receiver<Job>, served: usize) {
    let mut has_waited = false;
    loop {
        let before = waiting.len();
        waiting.extend(jobs.try_iter().take(QUEUE_MAX));
        if waiting.len() >= served || has_waited && waiting.len() == before {
            return;
        }
        std::thread::yield_now();
        has_waited = true;
    }
}

/// Takes what may share a statement: at most one append of a branch; several runs, and a module to be recorded, only by
/// themselves.
fn gather(waiting: &mut VecDeque<Job>, most: usize) -> Vec<Job> {
    let mut group = Vec::new();
    let mut left = VecDeque::new();
    let mut branches = BTreeSet::new();
    let mut bytes = 0;
    while let Some(job) = waiting.pop_front() {
        let is_alone = is_transaction(&job.runs);
        let is_full = group.len() >= most || bytes >= GROUP_BYTES || is_alone && !group.is_empty();
        if is_full || !branches.insert(job.runs.branch) {
            left.push_back(job);
            continue;
        }
        bytes += job.runs.all.iter().map(|run| run.records.len()).sum::<usize>();
        group.push(job);
        if is_alone {
            break;
        }
    }
    left.append(waiting);
    *waiting = left;
    group
}

/// Returns `true` for what takes more than one statement.
fn is_transaction(runs: &Runs) -> bool {
    runs.all.len() > 1 || runs.module.is_some()
}

/// Writes a group and answers all of it.
fn serve(address: &FleetAddress, connection: &mut Option<Connection>, mut group: Vec<Job>) {
    group.retain(|job| {
        let is_late = job.since.elapsed() >= PATIENCE;
        let sent =
            !is_late && job.state.compare_exchange(WAITING, SENT, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if !sent {
            let reason = format!("it waited for longer than {} s", PATIENCE.as_secs());
            let _ = job.reply.send(Err(StoreError::Unavailable { reason, maybe: false }));
        }
        sent
    });
    if group.is_empty() {
        return;
    }
    match insert(address, connection, &group) {
        Ok(inserted) => {
            for Job { runs, reply, .. } in group {
                // The caller may have gone away.
                let _ = reply.send(Ok(inserted.contains(&runs.attempt)));
            }
        }
        Err(error @ StoreError::Unavailable { .. }) => {
            for job in group {
                let _ = job.reply.send(Err(again(&error)));
            }
        }
        // It is the error of one of them.
        Err(error) if group.len() == 1 => {
            let _ = group.pop().map(|job| job.reply.send(Err(error)));
        }
        Err(_) => {
            for job in group {
                let inserted = insert(address, connection, std::slice::from_ref(&job));
                let _ = job.reply.send(inserted.map(|inserted| inserted.contains(&job.runs.attempt)));
            }
        }
    }
}

fn again(error: &StoreError) -> StoreError {
    match error {
        StoreError::Unavailable { reason, maybe } => {
            StoreError::Unavailable { reason: reason.clone(), maybe: *maybe }
        }
        other => StoreError::Failed { reason: other.to_string() },
    }
}

/// Inserts a group, over and over while connections are lost, and returns which attempts did it.
fn insert(
    address: &FleetAddress,
    connection: &mut Option<Connection>,
    group: &[Job],
) -> Result<BTreeSet<Uuid>, StoreError> {
    let mut patience = Patience::new();
    loop {
        let inserted = match connection.take().map_or_else(|| Connection::open(address), Ok) {
            Ok(mut open) => insert_once(&mut open, group).inspect(|_| *connection = Some(open)),
            Err(fault) => Err(fault),
        };
        match inserted {
            Ok(inserted) => return Ok(inserted),
            Err(fault) => patience.wait(fault)?,
        }
    }
}

fn insert_once(connection: &mut Connection, group: &[Job]) -> Result<BTreeSet<Uuid>, Fault> {
    if let [Job { runs, .. }] = group
        && is_transaction(runs)
    {
        connection.run("BEGIN")?;
        if let Some(module) = &runs.module
            && !record_module(connection, runs.branch, module)?
        {
            connection.run("ROLLBACK")?;
            return Ok(BTreeSet::new());
        }
        for run in &runs.all {
            if statement(connection, &[(runs, run)])?.is_empty() {
                connection.run("ROLLBACK")?;
                return Ok(BTreeSet::new());
            }
        }
        connection.run("COMMIT")?;
        return Ok(BTreeSet::from([runs.attempt]));
    }
    let rows: Vec<_> = group.iter().flat_map(|job| job.runs.all.iter().map(|run| (&job.runs, run))).collect();
    statement(connection, &rows)
}
