//! An error in a replay file and its place.

/// An error in a replay file and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct TflError {
    /// The name of the file in messages.
    pub file: String,
    /// The line, from 1.
    pub(crate) line: usize,
    /// The column in characters, from 1.
    pub(crate) column: usize,
    /// What was expected and found.
    pub message: String,
}

impl TflError {
    pub(crate) fn new(file: &str, (line, column): (usize, usize), message: impl Into<String>) -> Self {
        Self { file: file.into(), line, column, message: message.into() }
    }
}
