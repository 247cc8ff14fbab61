//! What is wrong with a replay file and where.

/// What is wrong with a replay file and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct TflError {
    /// How messages name the file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What was expected and found.
    pub message: String,
}

impl TflError {
    pub(crate) fn new(file: &str, (line, column): (usize, usize), message: impl Into<String>) -> Self {
        Self { file: file.into(), line, column, message: message.into() }
    }
}
