//! How a store on PostgreSQL is opened, made, filled and swept.

use std::io::Read;

use super::address::FleetAddress;
use super::engine::{Fleet, open_reader};
use super::migrate::Migration;
use super::spread::Spread;
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
    /// [`StoreError::Database`] when it cannot be used, or there is none.
    pub fn open_fleet(address: &FleetAddress) -> Result<Self, StoreError> {
        Fleet::open(address).map(Self::of)
    }

    /// Opens a store on PostgreSQL, making its tables first where there are none.
    ///
    /// # Errors
    /// [`StoreError::Database`] when it cannot be used.
    pub fn open_or_create_fleet(address: &FleetAddress) -> Result<Self, StoreError> {
        Fleet::open_or_create(address).map(Self::of)
    }

    /// Removes from a store on PostgreSQL what deletions left behind: no reader sees it, but it takes room.
    ///
    /// # Errors
    /// As for [`open_fleet`](Store::open_fleet).
    pub fn sweep_fleet(address: &FleetAddress) -> Result<(), StoreError> {
        Fleet::open(address)?.sweep_strays()
    }

    /// Takes a store on PostgreSQL from format 1, which older builds use, to the format of this build: all of it or nothing.
    /// Others wait until it is done; older builds are refused afterwards.
    ///
    /// # Errors
    /// [`StoreError::Database`] when there is no store, or one of a format that is neither, or when it broke off.
    pub fn migrate_fleet(address: &FleetAddress) -> Result<Migration, StoreError> {
        Fleet::migrate(address)
    }

    /// Spreads the runs of a store over the servers of a cluster of Citus (FL-35), whose coordinator the address names. Others
    /// wait until it is done. It does no harm to repeat it.
    ///
    /// # Errors
    /// [`StoreError::Database`] when there is no store or no cluster, or when it broke off; then nothing has changed.
    pub fn spread_fleet(address: &FleetAddress) -> Result<Spread, StoreError> {
        Fleet::spread(address)
    }

    /// Fills an empty schema of a database from a backup as [`restore`](Store::restore) fills a directory.
    ///
    /// The store cannot be opened before it is whole. A restore that broke off can be begun again.
    ///
    /// # Errors
    /// As for [`restore`](Store::restore), and [`StoreError::Database`](crate::StoreError::Database) when the schema
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
