//! Documents of pictures that change with each entry, for the description of the service.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::documents::{Difference, DueRoll, LegalCommand, LoggedRecord, TurnNow};

/// A picture, and for each entry that follows what changes in it.
#[derive(Serialize, ToSchema)]
pub(crate) struct FrameList {
    viewer: String,
    #[serde(rename = "match")]
    match_name: String,
    branch: String,
    /// The entry that the picture shows, as the viewer counts; 0 is the setup.
    after: u64,
    /// The number of the last entry.
    head: u64,
    /// The number of the last frame, if more follow.
    #[schema(required = true)]
    next: Option<u64>,
    /// What the viewer sees before the first frame.
    picture: Vec<PictureBlock>,
    /// The result or the turn before the first frame, in words; missing if the game has neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    standing: Option<String>,
    frames: Vec<Frame>,
    /// From what on `events` sends the news; missing where the last entry was asked for by `at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    event_id: Option<String>,
}

/// An entry, and what differs after it from the frame before.
#[derive(Serialize, ToSchema)]
pub(crate) struct Frame {
    record: LoggedRecord,
    /// The outcome, as `log` prints it.
    text: String,
    /// What happened, in sentences of the game that name players by their seats; missing where the game has no words for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sentence: Option<String>,
    /// What differs from the picture before, each part as `[block, place, content]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    changes: Option<Vec<Vec<Value>>>,
    /// The whole picture, where it is not made of the same blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    picture: Option<Vec<PictureBlock>>,
    /// The result or the turn after it, in words; missing if the game has neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    standing: Option<String>,
    /// The fields of the view that differ.
    fields: Vec<Difference>,
}

/// A block of a picture: a board of hexes or squares with its cells and arrows, lines, rows or bars.
#[derive(Serialize, ToSchema)]
pub(crate) struct PictureBlock {
    /// The radius of a board.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    board: Option<u64>,
    /// The numbers of files and ranks of a board of squares.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    grid: Option<Vec<u64>>,
    /// Whether a board of squares is seen from its far side.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    flipped: Option<bool>,
    /// Each `[q, r, label, mark, tint]`, on a board of squares `["e4", glyph, mark, tint, tint of the piece, its name, its
    /// letter]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cells: Option<Vec<Vec<Value>>>,
    /// Each `[tint, [q, r], …]` or `[tint, "e2", "e4", …]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    arrows: Option<Vec<Vec<Value>>>,
    /// The hexes that stand for a part of commands, each `[[q, r], name]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    targets: Option<Vec<Vec<Value>>>,
    /// Each a list of `[text, tint]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    lines: Option<Vec<Vec<Value>>>,
    /// Each `[label, pieces]`, with its name as a part of commands at the end where it has one; a piece is `[text, tint,
    /// mark]`, with its name likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    rows: Option<Vec<Vec<Value>>>,
    /// Each `[label, value, maximum, tint, chips]`, with its name as a part of commands at the end where it has one; a chip is
    /// `[text, tint]`, with its name likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    bars: Option<Vec<Vec<Value>>>,
}

/// What came of commands that were tried out.
#[derive(Serialize, ToSchema)]
pub(crate) struct Trial {
    #[serde(flatten)]
    frames: FrameList,
    /// The commands and the rolls that were made, each `SEAT: command`. A trial that begins with them rolls none of them again.
    commands: Vec<String>,
    /// The commands of every seat that the rules would accept then, by what the viewer knows.
    legal: Vec<LegalCommand>,
    /// The roll that the rules wait for then.
    #[schema(required = true)]
    due_roll: Option<DueRoll>,
    /// Whose turn it is then.
    now: TurnNow,
}
