//! Writers (FL-13): a few connections. A caller that finds its connection free appends on its own thread. Otherwise the
//! connection's thread sends waiting appends together in one statement.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use uuid::Uuid;

use super::address::FleetAddress;
use super::connect::{Connection, PATIENCE, Retries};
use super::fault::StatementFault;
use super::insert::{record_module, statement};
use super::run::Runs;
use crate::error::StoreError;

/// The maximum number of appends in a statement, and the number of bytes after which no more are added.
const GROUP_MAX: usize = 64;
const GROUP_BYTES: usize = 1 << 20;

/// How many appends can wait in the queue of one writer; more callers block.
const QUEUE_MAX: usize = 256;

struct Job {
    runs: Runs,
    since: Instant,
    state: Arc<AtomicU8>,
    reply: SyncSender<Result<bool, StoreError>>,
}

/// The states of a job.
const WAITING: u8 = 0;
const SENT: u8 = 1;
const GIVEN_UP: u8 = 2;

/// The connections for appends.
pub(super) struct Writers {
    address: FleetAddress,
    writers: Vec<Arc<Writer>>,
}

/// A connection, opened when it is first needed, and the thread for appends that find it in use.
#[derive(Default)]
struct Writer {
    connection: Mutex<Option<Connection>>,
    /// How many appends wait for the thread.
    queued: AtomicUsize,
    thread: Mutex<Option<Thread>>,
}

struct Thread {
    sender: SyncSender<Job>,
    handle: JoinHandle<()>,
}

impl Writers {
    pub(super) fn new(address: FleetAddress) -> Self {
        let writers = (0..address.writers).map(|_| Arc::default()).collect();
        Self { address, writers }
    }

    /// Inserts runs at the head of their branch. Returns `true` once they are durable, or `false` if they were not
    /// inserted. All appends to a branch use the same connection.
    pub(super) fn write(&self, runs: Runs) -> Result<bool, StoreError> {
        #[expect(clippy::disallowed_methods, reason = "it measures a wait, on which no answer depends")]
        let since = Instant::now();
        let index = usize::try_from(runs.branch % self.writers.len().max(1) as u64).unwrap_or_default();
        let Some(writer) = self.writers.get(index) else {
            return Err(StoreError::Failed { reason: "it is closed".to_owned() });
        };
        // Earlier appends go first. A transaction always goes to the thread, because here time might run out in the
        // middle of it.
        if writer.queued.load(Ordering::SeqCst) == 0
            && !is_transaction(&runs)
            && let Ok(mut connection) = writer.connection.try_lock()
            && connection.as_ref().is_none_or(|open| !open.is_late())
        {
            let until = since.checked_add(PATIENCE);
            let inserted = insert(&self.address, &mut connection, &[&runs], until)?;
            return Ok(inserted.contains(&runs.attempt));
        }
        let (reply, answer) = sync_channel(1);
        let state = Arc::new(AtomicU8::new(WAITING));
        let job = Job { runs, since, state: Arc::clone(&state), reply };
        let sender = writer.sender(&self.address)?;
        writer.queued.fetch_add(1, Ordering::SeqCst);
        if sender.send(job).is_err() {
            return Err(ended());
        }
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
}

impl Writer {
    fn sender(self: &Arc<Self>, address: &FleetAddress) -> Result<SyncSender<Job>, StoreError> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.as_ref() {
            return Ok(thread.sender.clone());
        }
        let (sender, jobs) = sync_channel(QUEUE_MAX);
        let writer = Arc::clone(self);
        let address = address.clone();
        let handle = std::thread::Builder::new().name("turnfold writer".to_owned());
        let handle = handle.spawn(move || writer.run(&address, &jobs));
        let handle =
            handle.map_err(|source| StoreError::Io { action: "start a writer".to_owned(), source })?;
        Ok(thread.insert(Thread { sender, handle }).sender.clone())
    }

    fn run(&self, address: &FleetAddress, jobs: &Receiver<Job>) {
        let mut waiting = VecDeque::new();
        while let Ok(job) = jobs.recv() {
            waiting.push_back(job);
            let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
            // Wait for the outstanding answer before sending more. A caller that gives up then learns that its append
            // was not sent.
            if let Some(open) = connection.as_mut().filter(|open| open.is_late())
                && open.catch_up().is_err()
            {
                *connection = None;
            }
            let mut served = 0;
            loop {
                let_in(&mut waiting, jobs, served);
                if waiting.is_empty() {
                    break;
                }
                let is_spread = connection.as_ref().is_some_and(Connection::is_spread);
                let group = gather(&mut waiting, if is_spread { 1 } else { GROUP_MAX });
                served = group.len();
                self.queued.fetch_sub(served, Ordering::SeqCst);
                serve(address, &mut connection, group);
            }
        }
    }
}

impl Drop for Writers {
    fn drop(&mut self) {
        for writer in &self.writers {
            let thread = writer.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(Thread { sender, handle }) = thread {
                drop(sender);
                // No caller is waiting for an answer any more.
                let _ = handle.join();
            }
        }
    }
}

/// Moves arrived appends to `waiting`. Callers that were answered together often append again at once. So it yields
/// until as many appends wait as were served last, or until no more arrive.
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

/// Takes appends that can share a statement, at most one for each branch. An append of several runs, or one that
/// records a module, is taken alone.
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

fn is_transaction(runs: &Runs) -> bool {
    runs.all.len() > 1 || runs.module.is_some()
}

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
    let all: Vec<&Runs> = group.iter().map(|job| &job.runs).collect();
    match insert(address, connection, &all, None) {
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
        // The error belongs to one of the appends: to the only one, or else each is inserted by itself to find out.
        Err(error) if group.len() == 1 => {
            let _ = group.pop().map(|job| job.reply.send(Err(error)));
        }
        Err(_) => {
            for job in group {
                let inserted = insert(address, connection, &[&job.runs], None);
                let _ = job.reply.send(inserted.map(|inserted| inserted.contains(&job.runs.attempt)));
            }
        }
    }
}

fn ended() -> StoreError {
    StoreError::Failed { reason: "its writer ended".to_owned() }
}

fn again(error: &StoreError) -> StoreError {
    match error {
        StoreError::Unavailable { reason, maybe } => {
            StoreError::Unavailable { reason: reason.clone(), maybe: *maybe }
        }
        other => StoreError::Failed { reason: other.to_string() },
    }
}

/// Inserts a group, retrying while connections are lost, and returns the attempts that were inserted. When time is up,
/// the connection is kept, with its answer outstanding.
fn insert(
    address: &FleetAddress,
    connection: &mut Option<Connection>,
    group: &[&Runs],
    until: Option<Instant>,
) -> Result<BTreeSet<Uuid>, StoreError> {
    let mut patience = Retries::new();
    loop {
        let inserted = match connection.take().map_or_else(|| Connection::open(address, until), Ok) {
            Err(fault) => Err(fault),
            Ok(mut open) => {
                open.wait_until(until);
                let inserted = insert_once(&mut open, group);
                if matches!(inserted, Ok(_) | Err(StatementFault::Late)) {
                    *connection = Some(open);
                }
                inserted
            }
        };
        match inserted {
            Ok(inserted) => return Ok(inserted),
            Err(fault) => patience.wait(fault)?,
        }
    }
}

fn insert_once(connection: &mut Connection, group: &[&Runs]) -> Result<BTreeSet<Uuid>, StatementFault> {
    if let [runs] = group
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
    let rows: Vec<_> = group.iter().flat_map(|runs| runs.all.iter().map(|run| (*runs, run))).collect();
    statement(connection, &rows)
}
