//! Building an index from the journal.

use std::path::Path;

use super::database::create;
use super::tree::Tree;
use crate::local::backend::BackendError;
use crate::local::journal::commit::Point;
use crate::local::journal::image::Image;
use crate::local::layout::record::StoreRecord;
use crate::local::replay::replay_strictly;
use crate::local::staging::Staging;

/// What is called while an index is built, with how many commits are in it, and how many will be.
pub(crate) type OnBuilding<'a> = &'a mut dyn FnMut(u64, u64);

/// How many bytes of changes are collected before they are written.
const CHUNK_BYTES: usize = 4 * 1024 * 1024;

/// Builds an index of all that lies in the segments, durably (ST-7, ST-17).
pub(super) fn build(
    sled: &Path,
    number: u32,
    image: &Image,
    observe: OnBuilding<'_>,
) -> Result<Tree, BackendError> {
    let tree = create(sled, number)?;
    let start = Point::start(&image.salt);
    let store = StoreRecord { journal: image.salt, digest: start.digest, ..StoreRecord::EMPTY };
    let mut staging = Staging::over(&tree, store);
    image.each_commit(0, true, &mut |point, _, body| {
        if point.number > image.packed.number {
            return Ok(());
        }
        replay_strictly(&mut staging, point, body)?;
        if staging.bytes() >= CHUNK_BYTES {
            tree.absorb(staging.take_changes().0)?;
            observe(point.number, image.packed.number);
        }
        Ok(())
    })?;
    let (changes, _) = staging.take_changes();
    tree.absorb(changes)?;
    tree.settle()?;
    Ok(tree)
}
