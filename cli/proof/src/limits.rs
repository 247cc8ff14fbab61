//! How much of a bundle or note is taken.

use turnfold_history::Limits;

/// The most branches of all matches of a bundle; how many records they have is not limited, as they are not held.
pub(crate) const BUNDLE_BRANCHES_MAX: usize = 100_000;

/// The most bytes of a bundle's modules, which are held.
pub(crate) const BUNDLE_MODULES_BYTES_MAX: usize = 1 << 26;

/// The most bytes of a bundle's checkpoints, which are held.
pub(crate) const BUNDLE_CHECKPOINT_BYTES_MAX: usize = 1 << 26;

/// Signed notes and proofs: a note, the record that is proven and the hashes above it.
pub const NOTE: Limits =
    Limits { what: "note", bytes_max: 1 << 18, lines_max: 1 << 12, line_bytes_max: 1 << 18 };
