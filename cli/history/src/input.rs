//! Input of bounded size, from regular files and other readers, and what the name of a file means.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use turnfold_store::open_regular;

/// The limits of a kind of input. Input beyond them is refused, so that it cannot fill the memory.
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

impl Limits {
    /// The limits of replay files. A line may be far longer than a command, because an outcome lists every effect.
    pub const REPLAY: Self =
        Self { what: "replay", bytes_max: 1 << 30, lines_max: REPLAY_LINES_MAX, line_bytes_max: 1 << 26 };

    /// The most entries in a replay file that is written. It leaves room for comments and attempts.
    pub const REPLAY_ENTRIES_MAX: usize = REPLAY_LINES_MAX / 2;

    /// The longest command with its number and seat in a script or replay file, in bytes. Comments have the same limit.
    pub const COMMAND_BYTES_MAX: usize = 1 << 16;

    /// The longest header of a replay file, in bytes. Most of it is the setup.
    pub const HEADER_BYTES_MAX: usize = 1 << 22;

    /// Reads a file of bounded size. Refuses pipes and devices, because reading them may never begin or never end.
    ///
    /// # Errors
    /// [`InputError`] with the file and the line.
    pub fn read_file(self, path: &Path) -> Result<Vec<u8>, InputError> {
        let file = open(path, self.what)?;
        if file.metadata().is_ok_and(|found| found.len() > self.bytes_max as u64) {
            return Err(InputError::TooLong(path.into(), self));
        }
        self.read(&mut BufReader::new(file), path)
    }

    /// Reads input of bounded size that is not a file, such as standard input. Messages call it `name`.
    ///
    /// # Errors
    /// [`InputError`] with the name and the line.
    pub fn read(self, input: &mut impl BufRead, name: &Path) -> Result<Vec<u8>, InputError> {
        let path = name.to_path_buf();
        let mut bytes = Vec::new();
        for line in 1.. {
            // One more byte for the line feed, which also shows when a line is too long.
            let length = match input.take(self.line_bytes_max as u64 + 1).read_until(b'\n', &mut bytes) {
                Ok(length) => length,
                Err(cause) => return Err(InputError::Unreadable { what: self.what, path, cause }),
            };
            if length == 0 {
                break;
            }
            if length > self.line_bytes_max && bytes.last() != Some(&b'\n') {
                let expected = format!("{} bytes in a line", self.line_bytes_max);
                return Err(InputError::Line { path, line, expected });
            }
            if line > self.lines_max {
                let expected = format!("{} lines in a {}", self.lines_max, self.what);
                return Err(InputError::Line { path, line, expected });
            }
            if bytes.len() > self.bytes_max {
                return Err(InputError::TooLong(path, self));
            }
        }
        Ok(bytes)
    }
}

const REPLAY_LINES_MAX: usize = 4_000_000;

const TITLE_CHARACTERS_MAX: usize = 200;

/// Input that cannot be read or is too large.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// A path that is not a regular file.
    #[error("cannot read {what} `{}`: it is {kind}", path.display())]
    NotRegular {
        /// The kind of input in messages, such as a replay.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The kind of file that it is.
        kind: &'static str,
    },
    /// A file that cannot be read.
    #[error("cannot read {what} `{}`: {cause}", path.display())]
    Unreadable {
        /// The kind of input in messages, such as a replay.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// More bytes than allowed.
    #[error("`{}`: expected at most {} bytes in a {}", _0.display(), _1.bytes_max, _1.what)]
    TooLong(PathBuf, Limits),
    /// A line that is too long, or one line too many.
    #[error("{}:{line}: expected at most {expected}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// What is allowed.
        expected: String,
    },
}

/// Opens a regular file for reading. Messages call it `what`.
///
/// # Errors
/// [`InputError::NotRegular`] and [`InputError::Unreadable`].
pub fn open(path: &Path, what: &'static str) -> Result<File, InputError> {
    open_regular(path).map_err(|cause| {
        let path = path.to_path_buf();
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => InputError::NotRegular { what, path, kind: "a directory" },
            Ok(found) if !found.is_file() => {
                InputError::NotRegular { what, path, kind: "a pipe, a socket or a device" }
            }
            _ => InputError::Unreadable { what, path, cause },
        }
    })
}

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

/// Returns `true` if a path ends in `.html` and so names a page, which may contain a replay file.
#[must_use]
pub fn is_page(path: &Path) -> bool {
    has_ending(path, "html")
}

/// Returns `true` if the name of a file has this extension, in letters of any case.
#[must_use]
pub fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// Returns `true` if a file argument means standard input or output.
#[must_use]
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns the name of an input file in messages.
#[must_use]
pub fn input_name(path: &Path) -> Cow<'_, str> {
    if is_standard(path) { Cow::Borrowed("<stdin>") } else { path.to_string_lossy() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { what: "script", bytes_max: 8, lines_max: 3, line_bytes_max: 4 };

    fn check(input: &str, expected: Result<(), &str>) {
        let read = LIMITS.read(&mut input.as_bytes(), Path::new("x"));
        let found = read.map(|bytes| assert_eq!(bytes, input.as_bytes())).map_err(|error| error.to_string());
        assert_eq!(found, expected.map_err(String::from), "{input:?}");
    }

    #[test]
    fn input_is_read_up_to_its_limits() {
        for input in ["", "\n", "abcd", "abcd\n", "abcd\nab\n", "\n\n\n", "a\n\nabcd"] {
            check(input, Ok(()));
        }
        check("abcde", Err("x:1: expected at most 4 bytes in a line"));
        check("a\nabcde\n", Err("x:2: expected at most 4 bytes in a line"));
        check("\n\n\n\n", Err("x:4: expected at most 3 lines in a script"));
        check("abcd\nabcd\n", Err("`x`: expected at most 8 bytes in a script"));
    }
}
