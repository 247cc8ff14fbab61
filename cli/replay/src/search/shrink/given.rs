//! Commands of a log that is being shrunk.

use turnfold_core::Seat;

/// A command and the seat that gives it.
///
/// It is text, in which arguments are made simpler without knowing any grammar; to be folded it is read once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Given {
    pub(super) seat: Seat,
    pub(super) command: String,
}
