//! Limits on bundles and notes.

use turnfold_history::input::Limits;

/// The most branches that a bundle may have in all. Records have no limit, because they are not kept in memory.
pub(crate) const BUNDLE_BRANCHES_MAX: usize = 100_000;

/// The most bytes of a bundle's modules, which are kept in memory.
pub(crate) const BUNDLE_MODULES_BYTES_MAX: usize = 1 << 26;

/// The most bytes of a bundle's checkpoints, which are kept in memory.
pub(crate) const BUNDLE_CHECKPOINT_BYTES_MAX: usize = 1 << 26;

/// Signed notes and proofs: a note, the proven record and the hashes above it.
pub const NOTE: Limits =
    Limits { what: "note", bytes_max: 1 << 18, lines_max: 1 << 12, line_bytes_max: 1 << 18 };
