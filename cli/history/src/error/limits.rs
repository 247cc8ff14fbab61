//! How much of what comes from outside is taken: beyond, input is refused rather than held in memory.

/// What a kind of input may hold at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// What messages call it.
    pub what: &'static str,
    /// The most bytes in all.
    pub bytes_max: usize,
    /// The most lines.
    pub lines_max: usize,
    /// The longest line, without its line feed.
    pub line_bytes_max: usize,
}

/// The longest title of a match, in characters.
pub const TITLE_CHARACTERS_MAX: usize = 200;

/// The longest command, with its number and seat, in a script or replay file, in bytes; so also the longest comment.
pub const COMMAND_BYTES_MAX: usize = 1 << 16;

/// The longest header of a replay file, in bytes; most of it is the setup.
pub const HEADER_BYTES_MAX: usize = 1 << 22;

/// The most lines of a replay file.
pub const REPLAY_LINES_MAX: usize = 4_000_000;

/// The most entries of a replay file that is written; comments and attempts may come to it.
pub const REPLAY_ENTRIES_MAX: usize = REPLAY_LINES_MAX / 2;

/// Replay files. An outcome lists every effect of a command, so a line with one may be far longer than a command.
pub const REPLAY: Limits =
    Limits { what: "replay", bytes_max: 1 << 30, lines_max: REPLAY_LINES_MAX, line_bytes_max: 1 << 26 };

/// Checks the title of a match that is to be made or imported.
///
/// # Errors
/// What is allowed.
pub fn check_title(title: &str) -> Result<(), String> {
    if title.chars().count() > TITLE_CHARACTERS_MAX || title.chars().any(char::is_control) {
        return Err(format!(
            "expected a title of at most {TITLE_CHARACTERS_MAX} characters without control characters"
        ));
    }
    Ok(())
}
