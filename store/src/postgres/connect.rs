//! Connections: opened when first needed, shared by readers (FL-13), and reopened when lost (FL-20).

use std::collections::BTreeMap;
use std::fmt::Display;
use std::future::poll_fn;
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use futures_util::TryStreamExt as _;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{timeout, timeout_at};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{FleetAddress, Tls};
use super::fault::StatementFault;
use super::spread;
use crate::error::StoreError;

/// How long an operation is retried while connections are lost (FL-20).
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// How long a statement may run and a transaction may be idle, in milliseconds (FL-21).
const STATEMENT_MS: u32 = 8_000;

const LEAVE: Duration = Duration::from_secs(1);

/// How often an operation is retried after conflicts with other transactions (FL-20).
const TRIES_MAX: u32 = 10;

pub(super) type Bound<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Sends and receives the bytes of a connection while it is polled.
type Wire = Pin<Box<dyn Future<Output = Result<(), tokio_postgres::Error>> + Send>>;

/// A connection and its prepared statements. It must be used and dropped outside of async code, because it blocks on a
/// runtime of its own.
pub(super) struct Connection {
    /// `None` only while it is dropped.
    client: Option<Client>,
    wire: Wire,
    /// Whether the wire has ended.
    is_over: bool,
    runtime: Runtime,
    /// When the caller stops waiting for an answer; `None` waits without limit.
    until: Option<Instant>,
    /// Whether an answer is outstanding because its caller stopped waiting.
    is_late: bool,
    schema: String,
    /// FL-35: whether the runs are spread over servers.
    is_spread: bool,
    statements: BTreeMap<&'static str, Statement>,
}

impl Connection {
    /// Connects to the first host that accepts writes. Refuses a server that may lose acknowledged writes, unless the
    /// address permits it.
    pub(super) fn open(address: &FleetAddress, until: Option<Instant>) -> Result<Self, StatementFault> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|source| {
            StatementFault::Store(StoreError::Io { action: "make a connection".to_owned(), source })
        })?;
        let connect = async {
            let both: (Client, Wire) = match &address.tls {
                Tls::Disabled => {
                    let (client, wire) = address.config.connect(NoTls).await?;
                    (client, Box::pin(wire))
                }
                Tls::Verified(roots) => {
                    let tls = MakeRustlsConnect::new(tls(roots.as_deref())?);
                    let (client, wire) = address.config.connect(tls).await?;
                    (client, Box::pin(wire))
                }
            };
            Ok::<_, StatementFault>(both)
        };
        let connected = runtime.block_on(async {
            match until {
                None => connect.await,
                Some(until) => match timeout_at(until.into(), connect).await {
                    Ok(connected) => connected,
                    Err(_) => Err(StatementFault::Gone("no server answered".to_owned())),
                },
            }
        });
        let (client, wire) = connected?;
        let client = Some(client);
        let schema = address.schema.clone();
        let statements = BTreeMap::new();
        let mut made = Self {
            client,
            wire,
            is_over: false,
            runtime,
            until,
            is_late: false,
            schema,
            is_spread: false,
            statements,
        };
        made.bound_statements()?;
        if made.require_durable(address)? {
            made.is_spread = spread::is_spread(&mut made)?;
        }
        Ok(made)
    }

    pub(super) fn wait_until(&mut self, until: Option<Instant>) {
        self.until = until;
    }

    /// Returns `true` if the answer to an abandoned statement is outstanding. A new statement would have to wait behind
    /// it.
    pub(super) fn is_late(&self) -> bool {
        self.is_late
    }

    pub(super) fn catch_up(&mut self) -> Result<(), StatementFault> {
        self.until = None;
        self.run_as_is("")?;
        self.is_late = false;
        Ok(())
    }

    /// FL-21: limits the time of statements and transactions. Start-up parameters would not do, because pgbouncer
    /// refuses or ignores them.
    fn bound_statements(&mut self) -> Result<(), StatementFault> {
        self.run_as_is(&format!(
            "SET statement_timeout = {STATEMENT_MS}; SET idle_in_transaction_session_timeout = {STATEMENT_MS}"
        ))
    }

    pub(super) fn is_spread(&self) -> bool {
        self.is_spread
    }

    /// FL-16: refuses a server that is too old, or that may lose acknowledged writes if the address does not permit it.
    /// Returns `true` if the server has Citus.
    fn require_durable(&mut self, address: &FleetAddress) -> Result<bool, StatementFault> {
        const SETTINGS: &str = "SELECT current_setting('server_version_num', true), current_setting('fsync', true), \
             current_setting('full_page_writes', true), current_setting('synchronous_commit', true), \
             to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL";
        let row = self.ask(async |client: &Client| client.query_one(SETTINGS, &[]).await)?;
        let setting = |index| row.get::<_, Option<String>>(index);
        let refused = |reason: String| StatementFault::Store(StoreError::Database { reason });
        if setting(0).and_then(|number| number.parse::<u32>().ok()).is_some_and(|number| number < 130_000) {
            return Err(refused("its server is older than PostgreSQL 13: use a newer one".to_owned()));
        }
        for (index, name) in [(1, "fsync"), (2, "full_page_writes"), (3, "synchronous_commit")] {
            if setting(index).as_deref() == Some("off") && !address.may_lose {
                return Err(refused(format!(
                    "its server has `{name} = off` and may lose what it acknowledged: turn it on, or accept that with \
                     `durable=no` in the address"
                )));
            }
        }
        Ok(row.get(4))
    }

    /// Runs a statement and returns its rows. In its text, `@` stands for the schema before the name of a table.
    pub(super) fn query(&mut self, sql: &'static str, bound: Bound<'_>) -> Result<Vec<Row>, StatementFault> {
        let statement = self.statement(sql)?;
        self.ask(async |client: &Client| client.query(&statement, bound).await)
    }

    pub(super) fn execute(&mut self, sql: &'static str, bound: Bound<'_>) -> Result<u64, StatementFault> {
        let statement = self.statement(sql)?;
        self.ask(async |client: &Client| client.execute(&statement, bound).await)
    }

    pub(super) fn run(&mut self, sql: &str) -> Result<(), StatementFault> {
        self.run_as_is(&in_schema(sql, &self.schema))
    }

    pub(super) fn run_as_is(&mut self, sql: &str) -> Result<(), StatementFault> {
        self.ask(async |client: &Client| client.batch_execute(sql).await)
    }

    pub(super) fn make_schema(&mut self) -> Result<(), StatementFault> {
        self.run_as_is(&format!("CREATE SCHEMA IF NOT EXISTS \"{}\"", self.schema))
    }

    /// Passes the rows of a statement to `take`, one at a time, until `take` returns `false`.
    pub(super) fn each(
        &mut self,
        sql: &'static str,
        bound: Bound<'_>,
        take: &mut dyn FnMut(Row) -> Result<bool, StoreError>,
    ) -> Result<(), StatementFault> {
        let statement = self.statement(sql)?;
        let rows =
            self.ask(async |client: &Client| client.query_raw(&statement, bound.iter().copied()).await)?;
        let mut rows = pin!(rows);
        while let Some(row) = self.ask(async |_: &Client| rows.try_next().await)? {
            if !take(row)? {
                break;
            }
        }
        Ok(())
    }

    fn statement(&mut self, sql: &'static str) -> Result<Statement, StatementFault> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let text = in_schema(sql, &self.schema);
        let statement = self.ask(async |client: &Client| client.prepare(&text).await)?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }

    /// Sends a request, then sends and receives until the answer has arrived or time is up.
    fn ask<T>(
        &mut self,
        ask: impl AsyncFnOnce(&Client) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, StatementFault> {
        let closed = || StatementFault::Gone("the connection was closed".to_owned());
        let Self { client: Some(client), wire, is_over: is_over @ false, runtime, until, is_late, .. } = self
        else {
            return Err(closed());
        };
        let asked = ask(client);
        let mut asked = pin!(asked);
        let answered = poll_fn(|cx| {
            if let Poll::Ready(ended) = wire.as_mut().poll(cx) {
                *is_over = true;
                ended?;
                // The answer may have arrived before the connection ended.
                let Poll::Ready(answer) = asked.as_mut().poll(cx) else { return Poll::Ready(Err(closed())) };
                return Poll::Ready(answer.map_err(StatementFault::from));
            }
            asked.as_mut().poll(cx).map_err(StatementFault::from)
        });
        runtime.block_on(async {
            let Some(until) = *until else { return answered.await };
            if let Ok(answered) = timeout_at(until.into(), answered).await {
                answered
            } else {
                *is_late = true;
                Err(StatementFault::Late)
            }
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Once its client is dropped, the wire closes the connection.
        drop(self.client.take());
        if !self.is_over {
            let wire = &mut self.wire;
            let _ = self.runtime.block_on(async { timeout(LEAVE, wire).await });
        }
    }
}

fn in_schema(sql: &str, schema: &str) -> String {
    sql.replace('@', &format!("\"{schema}\"."))
}

fn tls(file: Option<&Path>) -> Result<ClientConfig, StatementFault> {
    let refused = |reason: String| StatementFault::Store(StoreError::Database { reason });
    let mut roots = RootCertStore::empty();
    if let Some(path) = file {
        let unreadable = |error: &dyn Display| refused(format!("cannot read `{}`: {error}", path.display()));
        for found in CertificateDer::pem_file_iter(path).map_err(|error| unreadable(&error))? {
            roots.add(found.map_err(|error| unreadable(&error))?).map_err(|error| unreadable(&error))?;
        }
    } else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    if roots.is_empty() {
        return Err(refused(
            "there are no root certificates: name a file with `sslrootcert=FILE`".to_owned(),
        ));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| refused(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// The connections for reading and for all changes except appends.
pub(super) struct ConnectionPool {
    address: FleetAddress,
    is_spread: AtomicBool,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    open: usize,
}

impl ConnectionPool {
    pub(super) fn new(address: FleetAddress) -> Arc<Self> {
        let state = Mutex::default();
        Arc::new(Self { address, is_spread: AtomicBool::new(false), state, freed: Condvar::new() })
    }

    pub(super) fn address(&self) -> &FleetAddress {
        &self.address
    }

    /// Returns `true` if the connection opened last found the runs spread over servers.
    pub(super) fn is_spread(&self) -> bool {
        self.is_spread.load(Ordering::Relaxed)
    }

    pub(super) fn once<T>(
        &self,
        act: impl FnOnce(&mut Connection) -> Result<T, StatementFault>,
    ) -> Result<T, StatementFault> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = loop {
            if let Some(idle) = state.idle.pop() {
                break Some(idle);
            }
            if state.open < self.address.readers {
                state.open += 1;
                break None;
            }
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        drop(state);
        let mut lent = Lent { pool: self, connection: idle };
        let connection = match &mut lent.connection {
            Some(connection) => connection,
            empty => {
                let opened = empty.insert(Connection::open(&self.address, None)?);
                self.is_spread.store(opened.is_spread, Ordering::Relaxed);
                opened
            }
        };
        let done = act(connection);
        // The connection may be lost or in the middle of a transaction, so it is closed.
        if done.is_err() {
            lent.connection = None;
        }
        done
    }

    /// Calls `act` with one of the connections until it succeeds, fails for good, or time is up.
    ///
    /// `act` must be safe to repeat. Its second argument is `true` if an earlier attempt may have succeeded.
    pub(super) fn until_answered<T>(
        &self,
        mut act: impl FnMut(&mut Connection, bool) -> Result<T, StatementFault>,
    ) -> Result<T, StoreError> {
        let mut patience = Retries::new();
        loop {
            let maybe = patience.maybe;
            match self.once(|connection| act(connection, maybe)) {
                Ok(done) => return Ok(done),
                Err(fault) => patience.wait(fault)?,
            }
        }
    }
}

struct Lent<'a> {
    pool: &'a ConnectionPool,
    connection: Option<Connection>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.state.lock().unwrap_or_else(PoisonError::into_inner);
        match self.connection.take() {
            Some(connection) => state.idle.push(connection),
            None => state.open -= 1,
        }
        drop(state);
        self.pool.freed.notify_one();
    }
}

pub(super) struct Retries {
    since: Instant,
    tries: u32,
    /// Whether an earlier try may have succeeded although no answer came.
    pub(super) maybe: bool,
}

impl Retries {
    #[expect(clippy::disallowed_methods, reason = "it measures a wait, on which no answer depends")]
    pub(super) fn new() -> Self {
        Self { since: Instant::now(), tries: 0, maybe: false }
    }

    /// Waits before the next try, or returns the error if there is none.
    pub(super) fn wait(&mut self, fault: StatementFault) -> Result<(), StoreError> {
        self.tries += 1;
        let goes_on = match &fault {
            StatementFault::Again(_) => self.tries <= TRIES_MAX,
            StatementFault::Gone(_) => {
                self.maybe = true;
                self.since.elapsed() < PATIENCE
            }
            StatementFault::Late => {
                self.maybe = true;
                false
            }
            StatementFault::Referred | StatementFault::Taken | StatementFault::Store(_) => false,
        };
        if !goes_on {
            return Err(fault.ended(self.maybe));
        }
        pause();
        Ok(())
    }
}

pub(super) fn pause() {
    thread::sleep(Duration::from_millis(1 + random_below(100)));
}

fn random_below(limit: u64) -> u64 {
    // The pauses differ, so that transactions that conflicted do not meet again.
    let mut bytes = [0; 8];
    // If the operating system has no randomness, all wait equally long.
    let _ = getrandom::fill(&mut bytes);
    u64::from_le_bytes(bytes) % limit
}
