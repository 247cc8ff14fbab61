//! Backup: everything in a store as one stream.

use std::io::Write;

use super::error::RescueError;
use super::frame::FrameWriter;
use super::part::Totals;
use super::walk::walk_without_grants;
use crate::entry::encode;
use crate::reader::store_reader::StoreReader;

impl StoreReader {
    /// Writes everything in the store as one stream, which [`restore`](crate::Store::restore) reads, and returns what it holds.
    ///
    /// The store may be used at the same time: the backup has every match as it was at one moment, when its turn came. Appending
    /// and reading wait for nothing that `writer` does. Deleting or renaming a branch waits for the match that is being
    /// written, doing so with a match for the end. What is damaged is not written: the backup ends with the error and
    /// is no backup. Memory is needed for some 64 KiB of entries and for the branches of one match.
    ///
    /// `observe` receives the progress.
    ///
    /// # Errors
    /// [`RescueError::Write`], and what [`entries`](StoreReader::entries) reports of damage.
    pub fn backup(
        &self,
        writer: impl Write,
        compress: bool,
        observe: &mut dyn FnMut(Totals),
    ) -> Result<Totals, RescueError> {
        let failed = |source| RescueError::Write { source };
        let mut frames = FrameWriter::new(writer, compress).map_err(failed)?;
        let mut totals = Totals::default();
        walk_without_grants(self.engine.as_ref(), &mut |part| {
            frames.write(&encode(part)).map_err(failed)?;
            totals.count(part);
            observe(totals);
            Ok(())
        })?;
        frames.finish().map_err(failed)?;
        Ok(totals)
    }
}
