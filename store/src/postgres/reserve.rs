//! Reservations (FL-33): the next entry of a branch, kept for one process while it judges what it appends there.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::connect::{Connection, PATIENCE, Pool};
use super::fault::Fault;
use super::insert::{fill, statement};
use super::read::number;
use super::run::Runs;
use super::schema::new_id;
use super::spread;
use crate::entry::Seq;
use crate::error::StoreError;

/// How long an entry is reserved at most: long enough to read and judge, and short, because others wait.
const HELD_MAX: Duration = Duration::from_millis(500);

/// The same for the server, which ends it if this process stands still.
const STANDS_STILL_MS: u32 = 1_000;

/// How long to wait for an entry while others get theirs.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// The branches whose next entry this process has reserved, each with a thread and a connection of those that read.
pub(super) struct Reservations {
    pool: Arc<Pool>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    by_branch: BTreeMap<u64, Reserved>,
    threads: usize,
    count: u64,
}

/// The next entry of a branch, which others wait for.
pub(super) struct Reserved {
    /// Distinguishes it from the next one of the branch.
    number: u64,
    first: Seq,
    /// What fills it; once this is dropped the entry is free again.
    fill: SyncSender<Filling>,
}

/// An append that fills a reserved entry.
struct Filling {
    runs: Runs,
    reply: SyncSender<bool>,
}

/// A reservation until it is filled or dropped.
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
    pub(super) fn new(pool: Arc<Pool>) -> Self {
        Self { pool, state: Arc::default() }
    }

    /// Waits for the others who append to a branch, and reserves its next entry. Returns `None` if the branch is gone, if it
    /// took too long, and when too many connections are in use for that; an append then takes its chance.
    pub(super) fn reserve(&self, branch: u64) -> Option<Box<dyn Send + Sync>> {
        {
            let mut state = lock(&self.state);
            // Who judges reads by another connection.
            if state.threads >= self.pool.address().readers / 2 {
                return None;
            }
            state.threads += 1;
        }
        let (ready, reserved) = sync_channel(1);
        let (fill, fillings) = sync_channel(1);
        let pool = Arc::clone(&self.pool);
        let state = Arc::clone(&self.state);
        let hold = move || {
            if let Err(fault) = hold(&pool, branch, &ready, &fillings) {
                tracing::debug!(?fault, "an entry could not be reserved");
            }
            lock(&state).threads -= 1;
        };
        if thread::Builder::new().name("turnfold reservation".to_owned()).spawn(hold).is_err() {
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

    /// Takes the reservation of a branch, if it is for these runs; otherwise it ends, so that they do not wait for it.
    pub(super) fn take(&self, runs: &Runs) -> Option<Reserved> {
        let reserved = lock(&self.state).by_branch.remove(&runs.branch)?;
        // To record a module locks the match, which who waits for this entry may have locked before.
        let fits = runs.module.is_none() && runs.all.first().is_some_and(|run| run.first == reserved.first);
        fits.then_some(reserved)
    }
}

impl Reserved {
    /// Appends runs in the place of the reserved entry, and returns `true` if it did, once that is durable. If the answer was
    /// lost or it took too long to judge them, they may be there or not, and can be inserted in another way.
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

/// Reserves an entry, and holds it until it is filled, dropped, or held for too long.
fn hold(
    pool: &Pool,
    branch: u64,
    ready: &SyncSender<Seq>,
    fillings: &Receiver<Filling>,
) -> Result<(), Fault> {
    let attempt = new_id()?;
    pool.once(|connection| {
        let Some(first) = reserve(connection, branch, attempt)? else {
            return connection.run("ROLLBACK");
        };
        // Who waits for it may have gone away.
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

/// Begins a transaction and inserts a row where the branch ends, which no one else sees. Who appends there waits for its end.
fn reserve(connection: &mut Connection, branch: u64, attempt: Uuid) -> Result<Option<Seq>, Fault> {
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
        // Another process appended between the sight of the head and the insert.
        if began.elapsed() >= WAIT_MAX || connection.query(IS_THERE, &[&branch])?.is_empty() {
            return Ok(None);
        }
    }
}

/// Puts runs in the place of a reserved row, within its transaction; returns `false` if they do not belong there.
fn fill_all(connection: &mut Connection, attempt: Uuid, runs: &Runs) -> Result<bool, Fault> {
    let mut rest = runs.all.iter();
    let Some(first) = rest.next() else { return Ok(false) };
    match fill(connection, attempt, (runs, first)) {
        Ok(true) => {}
        // Its key is used.
        Ok(false) | Err(Fault::Taken) => return Ok(false),
        Err(fault) => return Err(fault),
    }
    for run in rest {
        if statement(connection, &[(runs, run)])?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}
