//! Restores a store from a backup.

use std::io::Read;
use std::path::Path;

use super::error::RescueError;
use super::frame::FrameReader;
use super::part::{BackupPart, Totals};
use super::rebuild::Rebuild;
use crate::decode::decode_exactly;
use crate::engine::Engine;
use crate::local::new_store::{self, NewStore};
#[cfg(feature = "testing")]
use crate::local::open::in_memory;
use crate::writer::store::Store;

impl Store {
    /// Makes a store in `dir` from a backup, all or nothing, and returns its totals.
    ///
    /// It verifies every check and every link. The store is built next to `dir` and renamed at the end. `observe`
    /// receives the progress.
    ///
    /// # Errors
    /// Returns [`RescueError::NotEmpty`] if `dir` is not empty, [`RescueError::NotABackup`],
    /// [`RescueError::UnknownFormat`], [`RescueError::DamagedBackup`] with the position, or any error of reading and
    /// writing.
    pub fn restore(
        reader: impl Read,
        dir: &Path,
        observe: &mut dyn FnMut(Totals),
    ) -> Result<Totals, RescueError> {
        let new = NewStore::at(dir)?;
        let frames = FrameReader::new(reader)?;
        let store = new_store::create(&new.draft())?;
        let totals = fill(&store, frames, observe)?;
        store.close()?;
        new.publish()?;
        Ok(totals)
    }

    /// Makes a store in memory from a backup.
    ///
    /// # Errors
    /// Returns the errors of [`restore`](Store::restore).
    #[cfg(feature = "testing")]
    pub fn restore_in_memory(reader: impl Read) -> Result<Self, RescueError> {
        let frames = FrameReader::new(reader)?;
        let store = in_memory();
        fill(&store, frames, &mut |_| {})?;
        Ok(Self::of(store))
    }
}

pub(crate) fn fill(
    store: &dyn Engine,
    mut frames: FrameReader<impl Read>,
    observe: &mut dyn FnMut(Totals),
) -> Result<Totals, RescueError> {
    let mut rebuild = Rebuild::new(store);
    loop {
        match step(&mut frames, &mut rebuild) {
            Ok(Some(totals)) => {
                frames.finish()?;
                return Ok(totals);
            }
            Ok(None) => observe(rebuild.totals()),
            Err(error) => return Err(rebuild.locate(error)),
        }
    }
}

fn step(
    frames: &mut FrameReader<impl Read>,
    rebuild: &mut Rebuild<'_>,
) -> Result<Option<Totals>, RescueError> {
    let body = frames.read()?;
    let part: BackupPart<'_> =
        decode_exactly(&body).map_err(|error| RescueError::damaged(format!("a part: {error}")))?;
    rebuild.take(&part)
}
