//! Limits on input. Input beyond them is refused, so that it cannot fill the memory.

/// The limits of a kind of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The kind of input in messages.
    pub what: &'static str,
    /// The most bytes in all.
    pub bytes_max: usize,
    /// The most lines.
    pub lines_max: usize,
    /// The longest line, without its line feed.
    pub line_bytes_max: usize,
}

pub(crate) const TITLE_CHARACTERS_MAX: usize = 200;

/// The longest command with its number and seat in a script or replay file, in bytes. Comments have the same limit.
pub const COMMAND_BYTES_MAX: usize = 1 << 16;

/// The longest header of a replay file, in bytes. Most of it is the setup.
pub const HEADER_BYTES_MAX: usize = 1 << 22;

pub(crate) const REPLAY_LINES_MAX: usize = 4_000_000;

/// The most entries in a replay file that is written. It leaves room for comments and attempts.
pub const REPLAY_ENTRIES_MAX: usize = REPLAY_LINES_MAX / 2;

/// The limits of replay files. A line may be far longer than a command, because an outcome lists every effect.
pub const REPLAY: Limits =
    Limits { what: "replay", bytes_max: 1 << 30, lines_max: REPLAY_LINES_MAX, line_bytes_max: 1 << 26 };

/// Checks the title of a new or imported match.
///
/// # Errors
/// A message that states what is allowed.
pub fn check_title(title: &str) -> Result<(), String> {
    if title.chars().count() > TITLE_CHARACTERS_MAX || title.chars().any(char::is_control) {
        return Err(format!(
            "expected a title of at most {TITLE_CHARACTERS_MAX} characters without control characters"
        ));
    }
    Ok(())
}
