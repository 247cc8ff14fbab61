//! Durable logs: the store and its alternatives.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, params};
use turnfold_store::{BranchName, NewEntry, Store};

use crate::input::Play;
use crate::report::count;
use crate::stores::match_name;

/// A log for several clients, each of which appends to a separate sequence of entries.
pub(crate) trait Log: Sync {
    /// Appends all or none of the entries, which are durable when the call returns.
    fn append(&self, client: usize, entries: &[NewEntry]);

    /// Reads all entries, and counts them.
    fn entries(&self) -> u32;

    /// Writes everything to disk, and returns the bytes on disk.
    fn close(self: Box<Self>) -> u64;
}

/// The maximum number of concurrent clients.
pub(crate) const CLIENTS: usize = 8;

/// Returns the bytes of an entry that the alternatives store.
pub(crate) fn body(seq: u64, entry: &NewEntry) -> Vec<u8> {
    let numbers = [seq.to_le_bytes(), entry.recorded_at_ms.to_le_bytes()].concat();
    [&numbers, entry.seat.name().as_bytes(), &entry.command].concat()
}

/// The last seq of each client.
#[derive(Default)]
pub(crate) struct Heads([AtomicU64; CLIENTS]);

impl Heads {
    fn of(&self, client: usize) -> &AtomicU64 {
        self.0.get(client).expect("no other client")
    }

    /// Returns the keys and values of a client's next entries.
    pub(crate) fn records(
        &self,
        client: usize,
        entries: &[NewEntry],
    ) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
        let head = self.of(client);
        entries.iter().map(move |entry| {
            let seq = head.fetch_add(1, Ordering::Relaxed);
            ([(client as u64).to_be_bytes(), seq.to_be_bytes()].concat(), body(seq, entry))
        })
    }
}

pub(crate) struct Turnfold {
    store: Store,
    dir: PathBuf,
    heads: Heads,
}

impl Turnfold {
    pub(crate) fn new(dir: &Path, play: &Play) -> Self {
        let store = Store::open_or_create(dir).expect("a new store");
        for client in 0..CLIENTS as u64 {
            store.create_match(&match_name(client), &play.genesis(client), Vec::new()).expect("a new match");
        }
        Self { store, dir: dir.to_owned(), heads: Heads::default() }
    }
}

impl Log for Turnfold {
    fn append(&self, client: usize, entries: &[NewEntry]) {
        let head = self.heads.of(client);
        let (name, expected) = (match_name(client as u64), head.load(Ordering::Relaxed));
        let appended = self.store.append(&name, &BranchName::main(), expected, entries.to_vec(), None);
        head.store(appended.expect("appended").last, Ordering::Relaxed);
    }

    fn entries(&self) -> u32 {
        let read = |client| {
            let log = self.store.read(&match_name(client), &BranchName::main(), None);
            count(log.expect("the log reads").entries.len())
        };
        (0..CLIENTS as u64).map(read).sum()
    }

    fn close(self: Box<Self>) -> u64 {
        self.store.close().expect("the store closes");
        bytes_in(&self.dir)
    }
}

/// sled with default settings and a record for each entry. Its flushes are as durable as those of the store, because
/// both run in the same process.
pub(crate) struct Sled {
    db: sled::Db,
    dir: PathBuf,
    heads: Heads,
}

impl Sled {
    pub(crate) fn new(dir: &Path) -> Self {
        let db = sled::Config::new().path(dir).open().expect("a new database");
        Self { db, dir: dir.to_owned(), heads: Heads::default() }
    }
}

impl Log for Sled {
    fn append(&self, client: usize, entries: &[NewEntry]) {
        let mut batch = sled::Batch::default();
        self.heads.records(client, entries).for_each(|(key, value)| batch.insert(key, value));
        self.db.apply_batch(batch).expect("written");
        self.db.flush().expect("flushed");
    }

    fn entries(&self) -> u32 {
        count(self.db.iter().inspect(|record| assert!(record.is_ok())).count())
    }

    fn close(self: Box<Self>) -> u64 {
        drop(self.db);
        bytes_in(&self.dir)
    }
}

/// A table in `SQLite` with a write-ahead log, synced at every commit.
pub(crate) struct Sqlite {
    clients: Vec<Mutex<Connection>>,
    dir: PathBuf,
}

impl Sqlite {
    pub(crate) fn new(dir: &Path) -> Self {
        fs::create_dir(dir).expect("a new folder");
        let connect = || {
            let connection = Connection::open(dir.join("db")).expect("a new database");
            connection.pragma_update(None, "journal_mode", "wal").expect("a pragma");
            connection.pragma_update(None, "synchronous", "full").expect("a pragma");
            connection.busy_timeout(std::time::Duration::from_mins(1)).expect("a timeout");
            let table = "create table if not exists entry (client integer, seq integer, body blob, \
                         primary key (client, seq)) without rowid";
            connection.execute(table, ()).expect("a new table");
            Mutex::new(connection)
        };
        Self { clients: (0..CLIENTS).map(|_| connect()).collect(), dir: dir.to_owned() }
    }
}

impl Log for Sqlite {
    fn append(&self, client: usize, entries: &[NewEntry]) {
        let connection = self.clients.get(client).expect("no other client");
        let client = count(client);
        let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
        let behavior = rusqlite::TransactionBehavior::Immediate;
        let transaction = connection.transaction_with_behavior(behavior).expect("a transaction");
        {
            let head = "select coalesce(max(seq), 0) from entry where client = ?";
            let mut head = transaction.prepare_cached(head).expect("a statement");
            let head: i64 = head.query_row([client], |row| row.get(0)).expect("a head");
            let mut insert =
                transaction.prepare_cached("insert into entry values (?, ?, ?)").expect("a statement");
            for (seq, entry) in (head + 1..).zip(entries) {
                insert.execute(params![client, seq, body(seq.unsigned_abs(), entry)]).expect("inserted");
            }
        }
        transaction.commit().expect("committed");
    }

    fn entries(&self) -> u32 {
        let connection = self.clients.first().expect("there are clients");
        let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bodies =
            connection.prepare("select body from entry order by client, seq").expect("a statement");
        let bodies = bodies.query_map((), |row| row.get::<_, Vec<u8>>(0)).expect("a query");
        count(bodies.inspect(|body| assert!(body.is_ok())).count())
    }

    fn close(self: Box<Self>) -> u64 {
        drop(self.clients);
        bytes_in(&self.dir)
    }
}

/// A file with appended and synced lines, the minimum for durability. It has no order, no index and no atomic batches.
pub(crate) struct PlainFile {
    file: Mutex<File>,
    dir: PathBuf,
}

impl PlainFile {
    pub(crate) fn new(dir: &Path) -> Self {
        fs::create_dir(dir).expect("a new folder");
        let file = File::options().append(true).create(true).open(dir.join("log")).expect("a new file");
        Self { file: Mutex::new(file), dir: dir.to_owned() }
    }
}

impl Log for PlainFile {
    fn append(&self, client: usize, entries: &[NewEntry]) {
        let mut bytes = Vec::new();
        for entry in entries {
            let body = body(client as u64, entry);
            bytes.extend(count(body.len()).to_le_bytes());
            bytes.extend(body);
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&bytes).expect("written");
        file.sync_data().expect("synced");
    }

    fn entries(&self) -> u32 {
        let bytes = fs::read(self.dir.join("log")).expect("the file reads");
        let (mut rest, mut entries) = (bytes.as_slice(), 0);
        while let Some((length, after)) = rest.split_first_chunk() {
            let length = usize::try_from(u32::from_le_bytes(*length)).expect("lengths fit");
            rest = after.get(length..).expect("the entry is whole");
            entries += 1;
        }
        entries
    }

    fn close(self: Box<Self>) -> u64 {
        bytes_in(&self.dir)
    }
}

/// Returns the size of all files in a folder.
pub(crate) fn bytes_in(dir: &Path) -> u64 {
    let files = fs::read_dir(dir).expect("the folder reads").map(|file| file.expect("the folder reads"));
    let size = |file: fs::DirEntry| {
        let metadata = file.metadata().expect("the file is there");
        if metadata.is_dir() { bytes_in(&file.path()) } else { metadata.len() }
    };
    files.map(size).sum()
}
