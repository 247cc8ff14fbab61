//! Reservations (FL-33) keep the next entry of a branch for one process while it judges what to append there.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::connect::{Connection, ConnectionPool, PATIENCE};
use super::fault::StatementFault;
use super::insert::{fill, statement};
use super::read::number;
use super::run::Runs;
use super::schema::new_id;
use super::spread;
use crate::entry::Seq;
use crate::error::StoreError;

/// The longest time for which an entry is reserved: long enough to read and judge, but short because others wait.
const HELD_MAX: Duration = Duration::from_millis(500);

/// The time in milliseconds after which the server ends the reservation of a process that hangs.
const STANDS_STILL_MS: u32 = 1_000;

/// How long to wait for a reservation while others append.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// The branches whose next entry this process has reserved. Each reservation uses a thread and a connection of the
/// pool.
pub(super) struct Reservations {
    pool: Arc<ConnectionPool>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    by_branch: BTreeMap<u64, Reserved>,
    threads: usize,
    count: u64,
}

/// The reserved next entry of a branch; other writers wait for its end.
pub(super) struct Reserved {
    /// Distinguishes it from later reservations of the same branch.
    number: u64,
    first: Seq,
    /// Sends the append that fills the entry. Dropping this frees the entry.
    fill: SyncSender<Filling>,
}

struct Filling {
    runs: Runs,
    reply: SyncSender<bool>,
}

/// Ends a reservation when dropped, unless it was taken before.
struct Holder {
    state: Arc<Mutex<State>>,
    branch: u64,
    number: u64,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Holder {
    fn drop(&mut self) {
        let mut state = lock(&self.state);
        if state.by_branch.get(&self.branch).is_some_and(|reserved| reserved.number == self.number) {
            state.by_branch.remove(&self.branch);
        }
    }
}

impl Reservations {
    pub(super) fn new(pool: Arc<ConnectionPool>) -> Self {
        Self { pool, state: Arc::default() }
    }

    /// Waits for other appends to a branch and reserves its next entry. Returns `None` if the branch is gone, if it
    /// took too long, or if too many connections hold reservations. An append then competes with others.
    pub(super) fn reserve(&self, branch: u64) -> Option<Box<dyn Send + Sync>> {
        {
            let mut state = lock(&self.state);
            // Judging reads over another connection, so half of the connections stay free for it.
            if state.threads >= self.pool.address().readers / 2 {
                return None;
            }
            state.threads += 1;
        }
        let (ready, reserved) = sync_channel(1);
        let (fill, fillings) = sync_channel(1);
        let pool = Arc::clone(&self.pool);
        let state = Arc::clone(&self.state);
        let thread = thread::Builder::new().name("turnfold reservation".to_owned());
        let spawned = thread.spawn(move || {
            if let Err(fault) = hold(&pool, branch, &ready, &fillings) {
                tracing::debug!(?fault, "an entry could not be reserved");
            }
            lock(&state).threads -= 1;
        });
        if spawned.is_err() {
            lock(&self.state).threads -= 1;
            return None;
        }
        let first = reserved.recv().ok()?;
        let mut state = lock(&self.state);
        state.count += 1;
        let number = state.count;
        state.by_branch.insert(branch, Reserved { number, first, fill });
        Some(Box::new(Holder { state: Arc::clone(&self.state), branch, number }))
    }

    /// Takes the reservation of a branch if it fits these runs. Otherwise the reservation ends, so that the runs do not
    /// wait for it.
    pub(super) fn take(&self, runs: &Runs) -> Option<Reserved> {
        let reserved = lock(&self.state).by_branch.remove(&runs.branch)?;
        // Recording a module locks the match. A writer that waits for this entry may already have locked the match.
        let fits = runs.module.is_none() && runs.all.first().is_some_and(|run| run.first == reserved.first);
        fits.then_some(reserved)
    }
}

impl Reserved {
    /// Appends runs in place of the reserved entry. Returns `true` once they are durable. After `false` they may or may
    /// not be there, because the reservation may have ended or the answer may have been lost. The caller checks, and
    /// can insert them without a reservation.
    pub(super) fn fill(self, runs: Runs) -> Result<bool, StoreError> {
        let (reply, answer) = sync_channel(1);
        if self.fill.send(Filling { runs, reply }).is_err() {
            return Ok(false);
        }
        match answer.recv_timeout(PATIENCE) {
            Ok(is_filled) => Ok(is_filled),
            Err(RecvTimeoutError::Disconnected) => Ok(false),
            Err(RecvTimeoutError::Timeout) => {
                let reason = format!("it took longer than {} s", PATIENCE.as_secs());
                Err(StoreError::Unavailable { reason, maybe: true })
            }
        }
    }
}

fn hold(
    pool: &ConnectionPool,
    branch: u64,
    ready: &SyncSender<Seq>,
    fillings: &Receiver<Filling>,
) -> Result<(), StatementFault> {
    let attempt = new_id()?;
    pool.once(|connection| {
        let Some(first) = reserve(connection, branch, attempt)? else {
            return connection.run("ROLLBACK");
        };
        // The caller may have gone away.
        let _ = ready.send(first);
        let Ok(Filling { runs, reply }) = fillings.recv_timeout(HELD_MAX) else {
            return connection.run("ROLLBACK");
        };
        let is_filled = fill_all(connection, attempt, &runs)?;
        connection.run(if is_filled { "COMMIT" } else { "ROLLBACK" })?;
        let _ = reply.send(is_filled);
        Ok(())
    })
}

/// Begins a transaction and inserts a row at the end of the branch. Other transactions do not see the row, but wait for
/// this transaction if they append to the branch.
fn reserve(connection: &mut Connection, branch: u64, attempt: Uuid) -> Result<Option<Seq>, StatementFault> {
    const RESERVE: &str = "INSERT INTO @run (branch, first, last, attempt, before, link, records) \
         SELECT b.no, coalesce(h.last, b.at) + 1, coalesce(h.last, b.at) + 1, $2, '', '', '' FROM @branch b \
         LEFT JOIN LATERAL (SELECT p.last FROM @run p WHERE p.branch = $1 ORDER BY p.first DESC LIMIT 1) h ON true \
         WHERE b.no = $1 ON CONFLICT DO NOTHING RETURNING first";
    const IS_THERE: &str = "SELECT FROM @branch WHERE no = $1";
    #[expect(clippy::disallowed_methods, reason = "it measures a wait, on which no answer depends")]
    let began = Instant::now();
    let branch = branch.cast_signed();
    // Each statement sees what was committed before it.
    connection.run(&format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = {STANDS_STILL_MS}"
    ))?;
    loop {
        let rows = if connection.is_spread() {
            spread::reserve(connection, branch, attempt)?
        } else {
            connection.query(RESERVE, &[&branch, &attempt])?
        };
        if let Some(row) = rows.first() {
            return Ok(Some(number(row, 0)?));
        }
        // Another process appended between the reading of the head and the insert.
        if began.elapsed() >= WAIT_MAX || connection.query(IS_THERE, &[&branch])?.is_empty() {
            return Ok(None);
        }
    }
}

/// Writes runs in place of a reserved row, within its transaction. Returns `false` if they do not continue the branch.
fn fill_all(connection: &mut Connection, attempt: Uuid, runs: &Runs) -> Result<bool, StatementFault> {
    let mut rest = runs.all.iter();
    let Some(first) = rest.next() else { return Ok(false) };
    match fill(connection, attempt, (runs, first)) {
        Ok(true) => {}
        // The run does not continue the branch, or its idempotency key is already used.
        Ok(false) | Err(StatementFault::Taken) => return Ok(false),
        Err(fault) => return Err(fault),
    }
    for run in rest {
        if statement(connection, &[(runs, run)])?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}
