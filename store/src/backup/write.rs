//! Writes everything in a store as one stream.

use std::io::{self, Write};

use super::error::RescueError;
use super::frame::FrameWriter;
use super::part::Totals;
use super::walk::walk_without_grants;
use crate::entry::encode;
use crate::reader::store_reader::StoreReader;

impl StoreReader {
    /// Writes everything in the store as one stream for [`restore`](crate::Store::restore), and returns its totals.
    ///
    /// The store may be used while the backup runs. The backup has each match as of one moment, when that match is
    /// read. Appends and reads do not wait for `writer`. Deleting or renaming a branch waits until the current match is
    /// written; deleting or renaming a match waits until the backup ends. Damaged matches are not written: the backup
    /// ends with the error and is incomplete. It needs memory for about 64 KiB of entries and for the branches of one
    /// match.
    ///
    /// `observe` receives the progress.
    ///
    /// # Errors
    /// Returns [`RescueError::Write`], or the errors of [`entries`](StoreReader::entries).
    pub fn backup(
        &self,
        writer: impl Write,
        compress: bool,
        observe: &mut dyn FnMut(Totals),
    ) -> Result<Totals, RescueError> {
        let mut frames = written(FrameWriter::new(writer, compress))?;
        let mut totals = Totals::default();
        walk_without_grants(self.engine.as_ref(), &mut |part| {
            written(frames.write(&encode(part)))?;
            totals.count(part);
            observe(totals);
            Ok(())
        })?;
        written(frames.finish())?;
        Ok(totals)
    }
}

fn written<T>(done: io::Result<T>) -> Result<T, RescueError> {
    done.map_err(|source| RescueError::Write { source })
}
