//! Composes a page: frames, the replay for the host, and what browsers without JavaScript show.

use std::fmt::Write;

use serde::Serialize;
use turnfold_core::Digest;
use turnfold_history::tfl::Replay;
use turnfold_history::{History, ReplayError, Revision, SeatHistory, SourceName, Sources, Viewer};

use super::html::{ScriptJson, fill, source_hash, text};
use super::script::SCRIPT;
use crate::drawing::{Highlights, colors::COLORS, svg};
use crate::page::frames::{FrameDocument, FramePicture, PassedFrames};
use crate::render::entries::recorded_mark;

/// The longest page (VW-26).
pub const PAGE_BYTES_MAX: usize = 64 << 20;

const TEMPLATE: &str = include_str!("file.html");

/// The style of a page, in parts to join.
pub const STYLES: [&str; 2] = [COLORS, include_str!("viewer.css")];

/// Why a page cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShowError {
    /// The history is too long for a page.
    #[error("a page of `{history}` would be longer than {} MiB; its first {fits} entries fit", bytes_max >> 20)]
    TooLong {
        /// The history.
        history: SourceName,
        /// The most bytes of a page.
        bytes_max: usize,
        /// A number of entries that would fit.
        fits: u64,
    },
    /// Something is wrong with the history.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

/// One HTML file that shows what a viewer sees of a history. The same history always gives the same bytes, on every machine
/// (VW-26).
#[derive(Clone, Debug)]
pub struct Page {
    /// The file.
    pub html: String,
    /// The viewer of the page, if it does not contain everything.
    pub view: Option<Viewer>,
    /// How many entries it shows.
    pub entries: u64,
    /// The hash of the state after the last one, where the viewer may know it.
    pub state_hash: Option<Digest>,
}

/// The data that the script of a page reads (VW-24).
#[derive(Serialize)]
struct Document<'a> {
    turnfold: u32,
    frames: &'a FrameDocument,
    /// The whole replay file, for those who may see everything (VW-25).
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<String>,
}

impl Page {
    /// Makes a page of a revision or of a replay file. The outcomes and hashes in a file must be right.
    ///
    /// # Errors
    /// What is wrong with the history, and [`ShowError::TooLong`].
    pub fn load(viewer: Viewer, name: &SourceName, sources: &dyn Sources) -> Result<Self, ShowError> {
        let SourceName::File(file) = name else {
            return Self::of(SeatHistory::load(viewer, name, sources)?, None, PAGE_BYTES_MAX);
        };
        let replay = sources.read_replay(&file.path)?;
        let seat_history = SeatHistory::of(viewer, History::of_replay(&file.path, &replay)?)?;
        let replay = if seat_history.viewer().sees_all() { Some(replay.bless_if_true()?) } else { None };
        match file.seq {
            Some(seq) => Self::of(seat_history.up_to(seq)?, None, PAGE_BYTES_MAX),
            None => Self::of(seat_history, replay, PAGE_BYTES_MAX),
        }
    }

    /// Makes a page of a history, with its replay if the caller has it already.
    ///
    /// # Errors
    /// What is wrong with the history, and [`ShowError::TooLong`].
    pub fn of(
        mut seat_history: SeatHistory,
        replay: Option<Replay>,
        bytes_max: usize,
    ) -> Result<Self, ShowError> {
        if let Some(page) = Self::compose(&seat_history, replay, bytes_max)? {
            return Ok(page);
        }
        let history = seat_history.name().clone();
        loop {
            let fits = seat_history.head() / 8 * 7;
            seat_history = seat_history.up_to(fits)?;
            if fits == 0 || Self::compose(&seat_history, None, bytes_max)?.is_some() {
                return Err(ShowError::TooLong { history, bytes_max, fits });
            }
        }
    }

    fn compose(
        seat_history: &SeatHistory,
        replay: Option<Replay>,
        bytes_max: usize,
    ) -> Result<Option<Self>, ShowError> {
        let viewer = seat_history.viewer();
        let replay = match replay {
            None if viewer.sees_all() => Some(seat_history.to_replay()?),
            replay => replay,
        };
        let state_hash = replay.as_ref().and_then(|replay| replay.closing).map(|closing| closing.state);
        let replay = replay.map(|replay| replay.to_string());
        // A long match has a hundred thousand frames, which take many times the memory of their JSON: each is written as
        // soon as it is made.
        let mut data = Vec::new();
        let mut log = String::new();
        let mut last_standing = None;
        let mut count = 0_u64;
        let PassedFrames { document, end } = FrameDocument::pass(seat_history, 0, &mut |mut frame| {
            if count > 0 {
                data.push(b',');
            }
            count += 1;
            // No replay file has them.
            frame.record.recorded_at_ms = None;
            frame.record.key = None;
            serde_json::to_writer(ScriptJson(&mut data), &frame).expect("plain data encodes");
            let record = &frame.record.record;
            let mark = record.recorded.as_deref().map(|recorded| format!(" {}", recorded_mark(recorded)));
            writeln!(log, "<li>{}{}</li>", text(&record.text()), text(&mark.unwrap_or_default()))
                .expect("writing to a string cannot fail");
            last_standing = frame.standing;
            data.len() + log.len() <= bytes_max
        })?;
        if document.next.is_some() {
            return Ok(None);
        }
        let mut before = Vec::new();
        let whole = Document { turnfold: Replay::PAGE_VERSION, frames: &document, replay };
        serde_json::to_writer(ScriptJson(&mut before), &whole).expect("plain data encodes");
        let data = with_frames(before, data);
        let style = STYLES.concat();
        let last = FramePicture::from(seat_history.viewer().picture(end.as_ref()));
        let picture = svg::element(last.picture(), &Highlights::default());
        let standing = if count > 0 { last_standing } else { document.standing.clone() };
        let standing = match standing {
            Some(standing) => format!("<p>{}</p>\n", text(&standing)),
            None => String::new(),
        };
        let html = fill(
            TEMPLATE,
            &[
                ("csp", policy(&style).into()),
                ("title", text(&title(seat_history)).into()),
                ("style", style.as_str().into()),
                ("about", text(&about(seat_history)).into()),
                ("standing", standing.into()),
                ("picture", picture.into()),
                ("log", log.into()),
                ("words", words(viewer).into()),
                ("data", data.into()),
                ("script", SCRIPT.as_str().into()),
            ],
        );
        let view = (!viewer.sees_all()).then_some(viewer);
        let page = Self { html, view, entries: seat_history.head(), state_hash };
        Ok((page.html.len() <= bytes_max).then_some(page))
    }
}

/// Allows the page's own script and style, and nothing from anywhere else (VW-24).
fn policy(style: &str) -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'",
        source_hash(&SCRIPT),
        source_hash(style)
    )
}

fn title(seat_history: &SeatHistory) -> String {
    match seat_history.name() {
        _ if !seat_history.title().is_empty() => seat_history.title().into(),
        SourceName::Revision(Revision { match_name, .. }) => match_name.to_string(),
        SourceName::File(_) => seat_history.rules().name().into(),
    }
}

fn about(seat_history: &SeatHistory) -> String {
    let rules = seat_history.rules();
    let mut about = format!("{} version {}", rules.name(), rules.version());
    if let SourceName::Revision(Revision { match_name, branch, .. }) = seat_history.name() {
        write!(about, " · {match_name}@{branch}").expect("writing to a string cannot fail");
    }
    write!(about, " · as {} sees it", seat_history.viewer()).expect("writing to a string cannot fail");
    about
}

/// States what the file holds, and how to check it; that it was checked is not for a page to state (VW-25, VW-27).
fn words(viewer: Viewer) -> String {
    if viewer.sees_all() {
        return "This file holds everything, secrets and seed too. <code>check FILE</code> folds the log in it again.".into();
    }
    format!("This file holds only what {viewer} saw.")
}

fn with_frames(document: Vec<u8>, frames: Vec<u8>) -> String {
    const NONE: &str = "\"frames\":[]";
    let document = String::from_utf8(document).expect("JSON is UTF-8");
    let frames = String::from_utf8(frames).expect("JSON is UTF-8");
    // A string in the document has its quotes escaped, so no text of people looks like this.
    let (before, after) = document.split_once(NONE).expect("a document has frames");
    let mut whole = frames;
    whole.insert_str(0, &format!("{before}\"frames\":["));
    whole.push(']');
    whole.push_str(after);
    whole
}
