//! The memory of turnfold: an append-only log of every match, in a journal with an index or in a database.
//!
//! A [`Store`] contains matches. A match begins with its [`Genesis`] and has branches. A branch is a sequence of
//! [`Entry`]s, numbered from 1, and a chain of digests links each entry to all before it. [`Store::append`] adds
//! entries in atomic, durable batches. Entries are checked against the chain whenever they are read
//! ([`StoreReader::read`]). [`StoreReader::audit`] checks everything stored of a match; [`StoreReader::audit_with`]
//! also passes its entries to a caller that knows their rules.
//!
//! ```
//! use turnfold_core::{DicePolicy, Registry, Seat};
//! use turnfold_store::{BranchName, Genesis, MatchName, NewEntry, Store};
//!
//! let registry = turnfold_games::standard();
//! let rules = registry.find("initiative").expect("it is registered");
//! let genesis = Genesis {
//!     format: Genesis::FORMAT,
//!     ruleset: rules.name().into(),
//!     ruleset_version: rules.version(),
//!     setup: rules.read_setup("radius = 2")?,
//!     dice: DicePolicy::Recorded,
//!     match_id: [0; 16],
//!     title: "An example".into(),
//!     created_at_ms: 0,
//!     module: None,
//!     played_by: None,
//!     origins: Vec::new(),
//! };
//! let (duel, main): (MatchName, _) = ("duel".parse()?, BranchName::main());
//! let store = Store::in_memory();
//! store.create_match(&duel, &genesis, Vec::new())?;
//! let roll = NewEntry { seat: Seat::Host, command: vec![0, 4, 2, 4, 6, 8], recorded_at_ms: 0 };
//! let appended = store.append(&duel, &main, 0, vec![roll], None)?;
//! assert_eq!((appended.first, appended.last), (1, 1));
//! assert!(store.audit(&duel)?.damage.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Besides its log, a match has [`Grant`]s, which are identified by the hashes of their tokens ([`Store::grant`],
//! [`StoreReader::find_grant`]). Grants are not part of the log or of backups. A match's [`Note`]s are not part of the
//! log either, but backups include them ([`Store::write_note`], [`StoreReader::notes_of`]).
//!
//! `FORMAT.md` in this crate's folder defines the bytes of every file. Damage is a [`StoreError`] that names the match,
//! branch and entry; reading never panics. Only `local/index/tree.rs` uses sled.

#![forbid(unsafe_code)] // ST-20

mod names;

mod entry;
mod genesis;
mod grant;
mod granting;
mod note;

mod error;

mod ancestry;
mod chain;
mod decode;
mod engine;

mod audit;
mod reader;
mod writer;

mod backup;
pub mod draft;
mod snapshots;

mod local;
#[cfg(feature = "postgres")]
mod postgres;

#[cfg(feature = "postgres")]
pub use self::postgres::address::{FleetAddress, NotAFleetAddress};
#[cfg(feature = "postgres")]
pub use self::postgres::migrate::Migration;
#[cfg(feature = "postgres")]
pub use self::postgres::spread::SpreadReport;
pub use ancestry::Ancestry;
pub use audit::{Audited, BegunFork, MatchAudit, SoundBranch};
pub use backup::error::RescueError;
pub use backup::part::Totals;
pub use chain::Linker;
pub use entry::{COMMAND_BYTES_MAX, Entry, NewEntries, NewEntry, PackedEntries, Seq};
pub use error::{ErrorKind, StoreError};
pub use genesis::{GENESIS_BYTES_MAX, Genesis, Origin, OriginCheck};
pub use grant::{Grant, GrantId, GrantKind, JoinedSeat, NewGrant, NotAGrantId};
#[cfg(feature = "testing")]
pub use local::backend;
pub use local::files::open_regular;
pub use local::lock::Holder;
pub use local::losses::LostEntries;
pub use local::new_store::Compacted;
pub use local::salvage::Salvage;
pub use names::{BranchName, GrantLabel, IdempotencyKey, MatchName, NoteText, PlayerName};
pub use note::{NotANoteId, Note, NoteId, NotedEntry};
pub use reader::branch::{BranchHead, BranchId, NamedBranch};
pub use reader::entries::Entries;
pub use reader::store_reader::{BranchInfo, Log, Matches, StoreReader};
pub use reader::store_report::{Appended, Damage, MatchInfo, MatchStats, StoreCheck, StoreStats};
pub use snapshots::{SNAPSHOT_INTERVAL, Snapshot};
pub use writer::append::Reservation;
pub use writer::copy::BranchCopy;
pub use writer::options::StoreOptions;
pub use writer::store::Store;
