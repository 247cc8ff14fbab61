//! Frames: the changes of the picture that one viewer sees of a history, entry by entry (VW-2, VW-10).
//!
//! A page needs no rules to show a game, because it has the first picture and the changes made by each entry.
//!
//! ```
//! use turnfold_core::Registry;
//! use turnfold_history::{History, ReplayError, SeatHistory, Viewer, tfl};
//! use turnfold_show::{FrameDocument, FrameLimits, Shown};
//!
//! let script = b"turnfold replay 2
//! +++
//! ruleset = \"initiative\"
//! version = 1
//! dice = \"recorded\"
//! [setup]
//! radius = 2
//! +++
//! 1 host roll 1 2 3 4
//! ";
//! let replay = tfl::read("duel.tfl", script, &turnfold_games::standard())?;
//! let seat_history = SeatHistory::of(Viewer::HOST, History::of_replay("duel.tfl".as_ref(), &replay)?)?;
//! let document = FrameDocument::of(&seat_history, 0, FrameLimits::SERVED)?;
//! assert_eq!((document.head, document.next), (1, None));
//! assert!(matches!(&document.frames[0].shown, Shown::Changes(changes) if !changes.is_empty()));
//! # Ok::<(), ReplayError>(())
//! ```

mod change;
mod document;
mod marked;
mod picture;

pub use change::PictureChange;
pub(crate) use document::PassedFrames;
pub use document::{Frame, FrameDocument, FrameLimits, Shown};
pub use marked::{changed_by_last, changed_spots};
pub use picture::FramePicture;
