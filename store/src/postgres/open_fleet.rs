//! Opening, creating, migrating, restoring and sweeping a store on PostgreSQL.

use std::io::Read;

use super::address::FleetAddress;
use super::engine::{Fleet, open_reader};
use super::migrate::Migration;
use super::spread::SpreadReport;
use crate::backup::error::RescueError;
use crate::backup::frame::FrameReader;
use crate::backup::part::Totals;
use crate::backup::restore::fill;
use crate::error::StoreError;
use crate::reader::store_reader::StoreReader;
use crate::writer::store::Store;

impl StoreReader {
    /// Opens an existing store on PostgreSQL for reading only.
    ///
    /// # Errors
    /// As for [`Store::open_fleet`].
    pub fn open_fleet(address: &FleetAddress) -> Result<Self, StoreError> {
        Ok(Self { engine: open_reader(address)? })
    }
}

impl Store {
    /// Opens an existing store on PostgreSQL.
    ///
    /// # Errors
    /// [`StoreError::Database`] if there is no store, or if it cannot be used.
    pub fn open_fleet(address: &FleetAddress) -> Result<Self, StoreError> {
        Fleet::open(address).map(Self::of)
    }

    /// Opens a store on PostgreSQL, creating its tables first if there are none.
    ///
    /// # Errors
    /// [`StoreError::Database`] if it cannot be used.
    pub fn open_or_create_fleet(address: &FleetAddress) -> Result<Self, StoreError> {
        Fleet::open_or_create(address).map(Self::of)
    }

    /// Removes what deletions left behind in a store on PostgreSQL. No reader sees it, but it takes up space.
    ///
    /// # Errors
    /// As for [`open_fleet`](Store::open_fleet).
    pub fn sweep_fleet(address: &FleetAddress) -> Result<(), StoreError> {
        Fleet::open(address)?.sweep_strays()
    }

    /// Migrates a store on PostgreSQL from format 1, which older builds use, to the format of this build, completely or
    /// not at all. Other processes wait until it is done. Older builds cannot use the store afterwards.
    ///
    /// # Errors
    /// [`StoreError::Database`] if there is no store, if it has neither of these formats, or if the migration broke
    /// off.
    pub fn migrate_fleet(address: &FleetAddress) -> Result<Migration, StoreError> {
        Fleet::migrate(address)
    }

    /// Spreads the runs of a store over the servers of a Citus cluster (FL-35); the address names its coordinator.
    /// Other processes wait until it is done. Safe to repeat.
    ///
    /// # Errors
    /// [`StoreError::Database`] if there is no store or no cluster, [`StoreError::Unavailable`] if the connection was
    /// lost. The runs are spread completely or not at all.
    pub fn spread_fleet(address: &FleetAddress) -> Result<SpreadReport, StoreError> {
        Fleet::spread(address)
    }

    /// Restores a backup into an empty schema of a database, as [`restore`](Store::restore) does into a directory.
    ///
    /// The store cannot be opened until the restore is complete. A restore that broke off can be started again.
    ///
    /// # Errors
    /// As for [`restore`](Store::restore), and [`StoreError::Database`](crate::StoreError::Database) if the schema
    /// holds matches.
    pub fn restore_fleet(
        reader: impl Read,
        address: &FleetAddress,
        observe: &mut dyn FnMut(Totals),
    ) -> Result<Totals, RescueError> {
        let frames = FrameReader::new(reader)?;
        let store = Fleet::begin_restore(address)?;
        let totals = fill(&store, frames, observe)?;
        store.end_restore()?;
        Ok(totals)
    }
}
