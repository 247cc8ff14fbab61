//! Reads input of bounded size, from regular files and other readers.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use turnfold_store::open_regular;

use crate::error::limits::Limits;

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
    #[error("`{}`: expected at most {} bytes in a {}", path.display(), limits.bytes_max, limits.what)]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The limits of this input.
        limits: Limits,
    },
    /// A longer line than allowed.
    #[error("{}:{line}: expected at most {} bytes in a line", path.display(), limits.line_bytes_max)]
    LongLine {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// The limits of this input.
        limits: Limits,
    },
    /// More lines than allowed.
    #[error("{}:{line}: expected at most {} lines in a {}", path.display(), limits.lines_max, limits.what)]
    ManyLines {
        /// The file.
        path: PathBuf,
        /// The number of the first line too many.
        line: usize,
        /// The limits of this input.
        limits: Limits,
    },
}

impl InputError {
    pub(crate) fn advice(&self) -> Option<&'static str> {
        if matches!(self, Self::NotRegular { .. }) { Some("name a regular file") } else { None }
    }
}

/// Reads a file of bounded size. Refuses pipes and devices, because reading them may never begin or never end.
///
/// # Errors
/// [`InputError`] with the file and the line.
pub fn read_file(path: &Path, limits: &Limits) -> Result<Vec<u8>, InputError> {
    let file = open(path, limits.what)?;
    if file.metadata().is_ok_and(|found| found.len() > limits.bytes_max as u64) {
        return Err(InputError::TooLong { path: path.into(), limits: *limits });
    }
    read_bounded(&mut BufReader::new(file), path, limits)
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

/// Reads input of bounded size that is not a file, such as standard input. Messages call it `name`.
///
/// # Errors
/// [`InputError`] with the name and the line.
pub fn read_bounded(input: &mut impl BufRead, name: &Path, limits: &Limits) -> Result<Vec<u8>, InputError> {
    let path = name.to_path_buf();
    let limits = *limits;
    let mut bytes = Vec::new();
    for line in 1.. {
        // One more byte for the line feed, which also shows when a line is too long.
        let length = match input.take(limits.line_bytes_max as u64 + 1).read_until(b'\n', &mut bytes) {
            Ok(length) => length,
            Err(cause) => return Err(InputError::Unreadable { what: limits.what, path, cause }),
        };
        if length == 0 {
            break;
        }
        if length > limits.line_bytes_max && bytes.last() != Some(&b'\n') {
            return Err(InputError::LongLine { path, line, limits });
        }
        if line > limits.lines_max {
            return Err(InputError::ManyLines { path, line, limits });
        }
        if bytes.len() > limits.bytes_max {
            return Err(InputError::TooLong { path, limits });
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { what: "script", bytes_max: 8, lines_max: 3, line_bytes_max: 4 };

    fn check(input: &str, expected: Result<(), &str>) {
        let read = read_bounded(&mut input.as_bytes(), Path::new("x"), &LIMITS);
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
