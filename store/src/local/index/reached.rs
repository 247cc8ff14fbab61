//! The commit that an index reaches, in a file next to the database. A reader compares it with the journal without
//! sled, whose start takes longer than to read a small journal (ST-23).

use std::path::Path;

use crate::local::backend::BackendError;
use crate::local::dir::files::{self, read_at_most, write_at};
use crate::local::journal::commit::{Checker, Fields, Point, Salt};

const NAME: &str = "reached";

const CHECK_BYTES: usize = 16;
const BYTES: usize = CHECK_BYTES + 8 + 32;

fn encode(salt: &Salt, point: Point) -> Vec<u8> {
    let body = [&point.number.to_le_bytes()[..], point.digest.as_bytes()].concat();
    let check: [u8; CHECK_BYTES] = Checker::new("turnfold v2 reached", salt).check(&[&body]);
    [&check[..], &body].concat()
}

/// Returns the last commit that the index in this folder may have; `None` if its file is missing or unsound.
pub(crate) fn read(index: &Path, salt: &Salt) -> Option<Point> {
    let bytes = read_at_most(&index.join(NAME), BYTES as u64 + 1).ok()?;
    let mut fields = Fields(bytes.get(CHECK_BYTES..)?);
    let point = Point { number: fields.u64()?, digest: fields.digest()? };
    (bytes == encode(salt, point)).then_some(point)
}

/// Records the last commit that an index will have, durably. The index must not have the commit before, and the
/// segments must.
pub(crate) fn write(index: &Path, salt: &Salt, point: Point) -> Result<(), BackendError> {
    let path = index.join(NAME);
    let file = files::options().write(true).create(true).truncate(false).open(&path);
    let written = file.and_then(|file| {
        write_at(&file, 0, &encode(salt, point))?;
        file.sync_data()
    });
    written.map_err(|source| BackendError::io("write", &path, source))
}
