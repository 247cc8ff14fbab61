//! Documents of pictures that change with each entry, for the description of the service.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::documents::{DifferenceSchema, DueRollSchema, LegalCommandSchema, LoggedRecordSchema, TurnNow};

/// A picture, and its changes with each following entry.
#[derive(Serialize, ToSchema)]
pub(crate) struct FrameList {
    viewer: String,
    #[serde(rename = "match")]
    match_name: String,
    branch: String,
    /// The entry that the picture shows, in the viewer's numbering; 0 is the setup.
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
    frames: Vec<FrameSchema>,
    /// The event id after which `events` continues; missing if the request has `at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    event_id: Option<String>,
}

/// An entry, and the differences from the frame before.
#[derive(Serialize, ToSchema)]
#[schema(as = Frame)]
pub(crate) struct FrameSchema {
    record: LoggedRecordSchema,
    /// The outcome, as `log` prints it.
    text: String,
    /// What happened, in sentences that name players by their seats; missing if the game has no words for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sentence: Option<String>,
    /// The differences from the picture before, each as `[block, place, content]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    changes: Option<Vec<Vec<Value>>>,
    /// The whole picture, if it does not have the same blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    picture: Option<Vec<PictureBlock>>,
    /// The result or the turn after it, in words; missing if the game has neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    standing: Option<String>,
    /// The fields of the view that differ.
    fields: Vec<DifferenceSchema>,
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
    /// Each `[label, pieces]`, followed by its name as a part of commands if it has one. A piece is `[text, tint, mark]`,
    /// followed by its name in the same way.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    rows: Option<Vec<Vec<Value>>>,
    /// Each `[label, value, maximum, tint, chips]`, followed by its name as a part of commands if it has one. A chip is
    /// `[text, tint]`, followed by its name in the same way.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    bars: Option<Vec<Vec<Value>>>,
}

/// The outcome of commands that were tried out.
#[derive(Serialize, ToSchema)]
#[schema(as = Trial)]
pub(crate) struct TrialSchema {
    #[serde(flatten)]
    frames: FrameList,
    /// The commands and the rolls that were made, each `SEAT: command`. A trial that begins with them does not roll again.
    commands: Vec<String>,
    /// The commands of every seat that the rules would accept then, by what the viewer knows.
    legal: Vec<LegalCommandSchema>,
    /// The roll that the rules wait for then.
    #[schema(required = true)]
    due_roll: Option<DueRollSchema>,
    /// Whose turn it is then.
    now: TurnNow,
}
