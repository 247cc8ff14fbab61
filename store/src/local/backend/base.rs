//! The records below the commits in the heads: an index, or a view of the journal once the index proves damaged.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Backend, BackendError, RecordChange};
use crate::local::dir::files::Places;
use crate::local::index::open_index::distrust;
use crate::local::index::tree::IndexTree;
use crate::local::journal::image::read_next_to_writer;
use crate::local::view::MemoryRecords;

/// How many changes are passed to the index at a time.
const CHANGES_MAX: usize = 1024;

/// An index, and the view that replaces it after damage.
pub(super) struct Base {
    pub(super) tree: IndexTree,
    places: Places,
    /// The last commit in the index when it was opened.
    up_to: u64,
    has_absorbed: AtomicBool,
    /// Replaces the index once it is known to be damaged.
    view: OnceLock<MemoryRecords>,
}

impl Base {
    pub(super) fn of(tree: IndexTree, places: Places, up_to: u64) -> Self {
        Self { tree, places, up_to, has_absorbed: AtomicBool::new(false), view: OnceLock::new() }
    }

    /// Writes changes into the index, durably. They must be sorted by key, so that the record about the store comes
    /// last.
    pub(super) fn absorb(&self, changes: &mut dyn Iterator<Item = RecordChange>) -> Result<(), BackendError> {
        if self.view.get().is_some() {
            return Err(broken("it was damaged"));
        }
        self.has_absorbed.store(true, Ordering::SeqCst);
        self.write(changes).map_err(|error| match error {
            BackendError::Damaged(reason) => {
                self.distrust();
                broken(&reason)
            }
            error => error,
        })
    }

    fn write(&self, changes: &mut dyn Iterator<Item = RecordChange>) -> Result<(), BackendError> {
        loop {
            let some: Vec<_> = changes.take(CHANGES_MAX).collect();
            if some.is_empty() {
                return self.tree.settle();
            }
            self.tree.absorb(some)?;
        }
    }

    /// Marks the index as damaged, so that the next opening builds a new one (ST-8).
    fn distrust(&self) {
        if let Err(error) = distrust(&self.places.sled) {
            tracing::debug!(%error, "the index cannot be marked as damaged");
        }
    }

    /// Calls `ask` with the index, or with the view if the index is damaged.
    pub(super) fn read<T>(
        &self,
        ask: impl Fn(&dyn Backend) -> Result<T, BackendError>,
    ) -> Result<T, BackendError> {
        if let Some(view) = self.view.get() {
            return ask(view);
        }
        let reason = match ask(&self.tree) {
            Err(BackendError::Damaged(reason)) => reason,
            answer => return answer,
        };
        self.distrust();
        if self.has_absorbed.load(Ordering::SeqCst) {
            return Err(broken(&reason));
        }
        tracing::warn!(reason, "the index is damaged; the journal is read instead");
        let view = read_next_to_writer(&self.places.journal)
            .and_then(|image| MemoryRecords::read(&image, self.up_to, false))?;
        ask(self.view.get_or_init(|| view))
    }
}

/// Returns the error of an index that failed under an open handle.
fn broken(reason: &str) -> BackendError {
    let source = io::Error::other(format!("{reason}; it is built again when the store is opened again"));
    BackendError::Io { action: "use the index".to_owned(), source }
}
