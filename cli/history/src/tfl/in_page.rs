//! Reads the replay in a page, strictly (VW-27).

use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use turnfold_core::Perspective;

use super::file::Replay;
use crate::input::{input_name, is_page, is_standard};

pub(crate) const OPENING: &str = "<script type=\"application/json\" id=\"turnfold\">";
const CLOSING: &str = "</script>";

impl Replay {
    /// The version of the document that this build reads and writes.
    pub const PAGE_VERSION: u32 = 1;
}

/// An error of a page.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// A file that `export --html` did not write.
    #[error("`{file}`: expected a page with one `{OPENING}`, found {found}")]
    NotAPage {
        /// The file.
        file: String,
        /// What was found instead.
        found: String,
    },
    /// A page for one seat, which contains no replay.
    #[error("`{file}` holds no replay, only what {viewer} saw")]
    NoReplay {
        /// The file.
        file: String,
        /// The seat or spectator.
        viewer: Perspective,
    },
}

/// The document in a page. Of its frames only the viewer is used.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageDocument {
    turnfold: u32,
    frames: PageFrames,
    replay: Option<String>,
}

#[derive(Deserialize)]
struct PageFrames {
    viewer: String,
    #[serde(rename = "frames")]
    _frames: Vec<IgnoredAny>,
}

/// Returns the bytes of a replay file, or of the replay in a page (VW-27).
///
/// # Errors
/// As for [`replay_in`].
pub fn replay_bytes(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, PageError> {
    if is_read_as_page(path, &bytes) { replay_in(&input_name(path), &bytes) } else { Ok(bytes) }
}

/// Returns `true` if the bytes are those of a page. For a file, the name decides. Standard input has no name, and is a
/// page if it begins with a tag, as no replay file does.
#[must_use]
pub(crate) fn is_read_as_page(path: &Path, bytes: &[u8]) -> bool {
    is_page(path) || (is_standard(path) && bytes.starts_with(b"<"))
}

/// Returns the replay file in a page. Messages call the page `file`.
///
/// The rest of the page is not checked, so a valid replay proves nothing about what the page shows.
///
/// # Errors
/// [`PageError::NotAPage`] unless the document is there exactly once, as pages write it, and [`PageError::NoReplay`].
pub fn replay_in(file: &str, bytes: &[u8]) -> Result<Vec<u8>, PageError> {
    match replay_within(bytes) {
        Ok((viewer, None)) => Err(PageError::NoReplay { file: file.into(), viewer }),
        Ok((_, Some(replay))) => Ok(replay.into_bytes()),
        Err(found) => Err(PageError::NotAPage { file: file.into(), found }),
    }
}

/// Returns the viewer of a page and the replay in it. The error describes what was found instead of a page.
fn replay_within(bytes: &[u8]) -> Result<(Perspective, Option<String>), String> {
    let text = str::from_utf8(bytes).map_err(|_| "text that is not UTF-8")?;
    let Some((_, rest)) = text.split_once(OPENING) else { return Err("none".into()) };
    if rest.contains(OPENING) {
        return Err("more than one".into());
    }
    let (json, after) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
    if !after.starts_with(CLOSING) {
        return Err("one that does not end as it must".into());
    }
    let document: PageDocument =
        serde_json::from_str(json).map_err(|error| format!("one whose document has an error: {error}"))?;
    if document.turnfold != Replay::PAGE_VERSION {
        let version = document.turnfold;
        return Err(format!(
            "one of version {version}, and this build reads version {}",
            Replay::PAGE_VERSION
        ));
    }
    let Ok(viewer) = document.frames.viewer.parse() else {
        return Err("one whose frames belong to no seat".into());
    };
    Ok((viewer, document.replay))
}
