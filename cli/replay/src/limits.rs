//! How much of what comes from outside is taken: beyond, input is refused rather than held in memory.

/// The longest command, with its number and seat, in a script or replay file, in bytes; so also the longest comment.
pub const COMMAND_BYTES_MAX: usize = 1 << 16;

/// The longest header of a replay file, in bytes; most of it is the setup.
pub const HEADER_BYTES_MAX: usize = 1 << 22;

/// The most lines of a replay file.
pub const REPLAY_LINES_MAX: usize = 4_000_000;
