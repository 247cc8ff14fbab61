//! What is asked of a history in search of the entry, or of the smallest log, that shows something.

use crate::search::condition::Condition;
use crate::tfl::Replay;

/// What is asked of each point of a history.
pub enum Question<'a, E> {
    /// Whether a condition holds in the view.
    Holds(&'a Condition),
    /// What a judge says to the log up to there, as a replay file.
    Judged(&'a mut dyn FnMut(&Replay) -> Result<Judgment, E>),
}

/// What is said of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgment {
    /// It does not show what is looked for.
    No,
    /// It does.
    Yes,
    /// Nothing can be said of it.
    CannotTell,
}

impl From<bool> for Judgment {
    fn from(shows: bool) -> Self {
        if shows { Self::Yes } else { Self::No }
    }
}
