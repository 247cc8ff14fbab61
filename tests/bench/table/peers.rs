//! Other embedded databases with their default settings, except that a commit is on disk when it returns.

use std::path::{Path, PathBuf};

use fjall::{KeyspaceCreateOptions, PersistMode};
use redb::{ReadableDatabase, ReadableTable, TableDefinition};
use turnfold_store::NewEntry;

use crate::report::count;
use crate::rivals::{Heads, Log, bytes_in};

/// A copy-on-write B-tree, with one transaction for each append.
pub(crate) struct Redb {
    db: redb::Database,
    dir: PathBuf,
    heads: Heads,
}

impl Redb {
    const ENTRIES: TableDefinition<'static, &'static [u8], &'static [u8]> = TableDefinition::new("entry");

    pub(crate) fn new(dir: &Path) -> Self {
        std::fs::create_dir(dir).expect("a new folder");
        let db = redb::Database::create(dir.join("db")).expect("a new database");
        Self { db, dir: dir.to_owned(), heads: Heads::default() }
    }
}

impl Log for Redb {
    fn append(&self, client: usize, entries: &[NewEntry]) {
        // Commits are durable by default.
        let transaction = self.db.begin_write().expect("a transaction");
        {
            let mut table = transaction.open_table(Self::ENTRIES).expect("a table");
            for (key, value) in self.heads.records(client, entries) {
                table.insert(key.as_slice(), value.as_slice()).expect("inserted");
            }
        }
        transaction.commit().expect("committed");
    }

    fn entries(&self) -> u32 {
        let transaction = self.db.begin_read().expect("a transaction");
        let table = transaction.open_table(Self::ENTRIES).expect("a table");
        let records = table.iter().expect("the table reads");
        count(records.inspect(|record| assert!(record.is_ok())).count())
    }

    fn close(self: Box<Self>) -> u64 {
        drop(self.db);
        bytes_in(&self.dir)
    }
}

/// A log-structured merge tree, whose journal is synced with each batch.
pub(crate) struct Fjall {
    db: fjall::Database,
    entries: fjall::Keyspace,
    dir: PathBuf,
    heads: Heads,
}

impl Fjall {
    pub(crate) fn new(dir: &Path) -> Self {
        let db = fjall::Database::builder(dir).open().expect("a new database");
        let entries = db.keyspace("entry", KeyspaceCreateOptions::default).expect("a new keyspace");
        Self { db, entries, dir: dir.to_owned(), heads: Heads::default() }
    }
}

impl Log for Fjall {
    fn append(&self, client: usize, entries: &[NewEntry]) {
        let mut batch = self.db.batch().durability(Some(PersistMode::SyncData));
        for (key, value) in self.heads.records(client, entries) {
            batch.insert(&self.entries, key, value);
        }
        batch.commit().expect("committed");
    }

    fn entries(&self) -> u32 {
        self.entries.iter().fold(0, |count, record| {
            record.into_inner().expect("the record reads");
            count + 1
        })
    }

    fn close(self: Box<Self>) -> u64 {
        let Self { db, entries, dir, .. } = *self;
        drop((entries, db));
        bytes_in(&dir)
    }
}
