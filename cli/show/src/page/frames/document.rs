//! A document of frames: a picture, and what each following entry makes of it.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;
use turnfold_core::AnyState;
use turnfold_history::compare::Difference;
use turnfold_history::text::printable;
use turnfold_history::{LoggedRecord, MatchStanding, ReplayError, SeatHistory, SourceName, ViewedEntry};
use turnfold_store::{BranchName, MatchName};

use super::change::PictureChange;
use super::picture::FramePicture;
use crate::render::entries::recorded_mark;

/// What one viewer sees of a history, entry by entry (VW-10). Its JSON form is stable.
#[derive(Clone, Debug, Serialize)]
pub struct FrameDocument {
    /// The viewer.
    pub viewer: String,
    /// The match; `None` for a replay file.
    #[serde(rename = "match")]
    pub match_name: Option<MatchName>,
    /// The branch; `None` for a replay file.
    pub branch: Option<BranchName>,
    /// The number of the entry that the first picture shows, as the viewer counts; 0 is the setup.
    pub after: u64,
    /// The number of the last entry.
    pub head: u64,
    /// The number of the last frame, if more follow that did not fit.
    pub next: Option<u64>,
    /// What the viewer sees before the first frame.
    pub picture: FramePicture,
    /// The result or the turn before the first frame, in words, if the game has either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<String>,
    /// The following entries that the viewer may know of.
    pub frames: Vec<Frame>,
}

/// An entry, and what it changed.
#[derive(Clone, Debug, Serialize)]
pub struct Frame {
    /// The entry, as `log --format json` prints it.
    pub record: LoggedRecord,
    /// Its outcome, as `log` prints it.
    pub text: String,
    /// What happened, in the game's sentences (VW-80); omitted if the game has no words for it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sentence: String,
    /// What the viewer sees after it.
    #[serde(flatten)]
    pub shown: Shown,
    /// The result or the turn after it, in words, if the game has either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<String>,
    /// The fields of the view that differ, as `diff` compares them.
    pub fields: Vec<Difference>,
}

/// What a frame shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shown {
    /// What differs from the picture of the frame before.
    Changes(Vec<PictureChange>),
    /// The whole picture, if it does not have the same blocks.
    Picture(FramePicture),
}

/// Limits of a document. It always holds a frame, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameLimits {
    /// The most frames.
    pub frames_max: usize,
    /// The most bytes of frames.
    pub bytes_max: usize,
}

impl FrameLimits {
    /// The limits of one answer of a service.
    pub const SERVED: Self = Self { frames_max: 1000, bytes_max: 4 << 20 };
}

impl FrameDocument {
    /// Makes a document of the frames after entry `after`, as this viewer counts.
    ///
    /// # Errors
    /// [`ReplayError::NoEntry`], and as for [`SeatHistory::fold`].
    pub fn of(seat_history: &SeatHistory, after: u64, limits: FrameLimits) -> Result<Self, ReplayError> {
        let mut gathered = Gathered { limits, bytes: 0, frames: Vec::new() };
        let mut document = Self::pass(seat_history, after, &mut |frame| gathered.add(frame))?.document;
        document.frames = gathered.frames;
        Ok(document)
    }

    /// Makes the frames after entry `after` and passes each to `take`, until it returns `false`. The returned document has no
    /// frames.
    pub(crate) fn pass(
        seat_history: &SeatHistory,
        after: u64,
        take: &mut dyn FnMut(Frame) -> bool,
    ) -> Result<PassedFrames, ReplayError> {
        let head = seat_history.head();
        if after > head {
            return Err(ReplayError::NoEntry { history: seat_history.name().clone(), seq: after, head });
        }
        let start = seat_history.start()?;
        let mut seen = Before {
            picture: seat_history.viewer().picture(start.as_ref()).into(),
            view: seat_history.viewer().view(start.as_ref()),
        };
        let mut picture = seen.picture.clone();
        let standings = seat_history.standings()?;
        let mut taken = 0;
        let mut is_full = false;
        let end = seat_history.fold(&mut |entry| match entry.seq() {
            seq if seq < after => {}
            seq if seq == after => {
                seen = Before { picture: entry.picture().into(), view: entry.view() };
                picture = seen.picture.clone();
            }
            _ if is_full => {}
            seq => {
                is_full = !take(seen.frame(entry, text_at(&standings, seq)));
                taken += u64::from(!is_full);
            }
        })?;
        let mut match_name = None;
        let mut branch = None;
        if let SourceName::Revision(revision) = seat_history.name() {
            match_name = Some(revision.match_name.clone());
            branch = Some(revision.branch.clone());
        }
        let next = is_full.then(|| after + taken);
        let viewer = seat_history.viewer().to_string();
        let standing = text_at(&standings, after);
        let frames = Vec::new();
        let document = Self { viewer, match_name, branch, after, head, next, picture, standing, frames };
        Ok(PassedFrames { document, end })
    }

    pub(crate) fn count_from(&mut self, more: u64) {
        self.after += more;
        self.head += more;
        if let Some(next) = &mut self.next {
            *next += more;
        }
        for frame in &mut self.frames {
            if let Some(seq) = &mut frame.record.record.seq {
                *seq += more;
            }
        }
    }
}

fn text_at(standings: &[MatchStanding], seq: u64) -> Option<String> {
    standings.get(usize::try_from(seq).ok()?)?.text()
}

pub(crate) struct PassedFrames {
    pub(crate) document: FrameDocument,
    pub(crate) end: Box<dyn AnyState>,
}

struct Before {
    picture: FramePicture,
    view: Value,
}

impl Before {
    fn frame(&mut self, entry: &mut ViewedEntry<'_>, standing: Option<String>) -> Frame {
        let after = Self { picture: entry.picture().into(), view: entry.view() };
        let changes = PictureChange::between(&self.picture, &after.picture);
        let record = entry.logged_record();
        let mut text = entry.outcome().to_string();
        if let Some(recorded) = &record.record.recorded {
            text = format!("{text} {}", recorded_mark(recorded));
        }
        let frame = Frame {
            record,
            text: printable(&text).into_owned(),
            sentence: printable(&entry.sentence()).into_owned(),
            shown: match changes {
                Some(changes) => Shown::Changes(changes),
                None => Shown::Picture(after.picture.clone()),
            },
            standing,
            fields: Difference::between(&self.view, &after.view),
        };
        *self = after;
        frame
    }
}

struct Gathered {
    limits: FrameLimits,
    bytes: usize,
    frames: Vec<Frame>,
}

impl Gathered {
    /// Adds a frame; returns `false` if it does not fit.
    fn add(&mut self, frame: Frame) -> bool {
        let bytes = self.bytes + length(&frame);
        let has_room = self.frames.len() < self.limits.frames_max && bytes <= self.limits.bytes_max;
        if has_room || self.frames.is_empty() {
            self.bytes = bytes;
            self.frames.push(frame);
            return true;
        }
        false
    }
}

fn length(value: &impl Serialize) -> usize {
    struct Count(usize);
    impl Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    serde_json::to_writer(&mut count, value).expect("plain data encodes");
    count.0
}
