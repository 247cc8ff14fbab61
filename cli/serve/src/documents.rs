//! The description of the service (SV-33): the documents that the library writes, and the statuses of the problems that
//! a route may return. `cli/JSON.md` explains the documents. A test compares them with responses.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use utoipa::openapi::schema::{AdditionalProperties, SchemaFormat, Type};
use utoipa::openapi::{ContentBuilder, KnownFormat, ObjectBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

use crate::knowledge::PATTERN;
use crate::problem::ProblemJson;
use crate::resources::grants::GrantJson;
use crate::resources::match_document::MatchJson;
use crate::resources::notes::NoteJson;
use crate::resources::rulesets::Ruleset;

/// Declares schemas that are not derived from types.
macro_rules! schemas {
    ($($(#[$doc:meta])* $name:ident: $schema:expr;)*) => {$(
        $(#[$doc])*
        #[derive(serde::Serialize)]
        pub(crate) struct $name;

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                $schema.into()
            }
        }

        impl utoipa::ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
        }
    )*};
}

fn of_ruleset(description: &str) -> ObjectBuilder {
    let free = AdditionalProperties::FreeForm(true);
    ObjectBuilder::new().description(Some(description)).additional_properties(Some(free))
}

fn text(pattern: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern))
}

schemas! {
    /// What a viewer sees of a position.
    View: of_ruleset("What a viewer sees of a position; its members are the ruleset's.");
    /// An effect of a command.
    Effect: of_ruleset("An effect of a command; its other members are the ruleset's.")
        .property("effect", ObjectBuilder::new().schema_type(Type::String))
        .required("effect");
    /// Bytes.
    Bytes: ObjectBuilder::new()
        .schema_type(Type::String)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)));
    /// A JSON object without a schema of its own.
    Document: ObjectBuilder::new();
    /// The name of a match or a branch.
    Name: text("^[a-z0-9][a-z0-9._-]{0,63}$");
    /// The id of an event, or a number of entries.
    EventIdText: text(PATTERN);
    /// A replay file.
    ReplayText: ObjectBuilder::new().schema_type(Type::String).min_length(Some(1));
    /// The id of a grant.
    Id: text("^[0-9a-f]{16}$");
    /// The token of a calendar, as the name of a file.
    CalendarFile: text("^tf_c_[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]\\.ics$");
    /// An iCalendar file.
    CalendarText: ObjectBuilder::new().schema_type(Type::String).min_length(Some(1));
    /// The digest of a module.
    ModuleDigest: text("^[0-9a-f]{64}$");
    /// `If-Match` and `If-None-Match`: tags or `*`.
    TagList: text("^(\\*|(W/)?\"[!#-~]*\"(, ?(W/)?\"[!#-~]*\")*)$");
    /// `Idempotency-Key`, which may stand in quotes.
    Key: text("^([!#-~][!-~]{0,119}|\"[!-~]{1,120}\")$");
}

/// Declares parts of lists. Each states where the list continues.
macro_rules! lists {
    ($($name:ident: $item:ty, $next:ty;)*) => {$(
        /// A part of a list.
        #[derive(serde::Serialize, utoipa::ToSchema)]
        pub(crate) struct $name {
            items: Vec<$item>,
            /// The value of `after` for the rest; null at the end.
            #[schema(required = true)]
            next: Option<$next>,
        }
    )*};
}

lists! {
    BranchList: BranchSchema, String;
    EntryList: LoggedRecordSchema, u64;
    GrantList: GrantJson, String;
    LegalCommandList: LegalCommandSchema, String;
    MatchList: MatchJson, String;
    NoteList: NoteJson, String;
    RulesetList: Ruleset, String;
}

/// A command and its outcome, as `play` prints them.
#[derive(Serialize, ToSchema)]
#[schema(as = Record)]
pub(crate) struct RecordSchema {
    /// The entry's number; null if the command was rejected.
    #[schema(required = true)]
    seq: Option<u64>,
    /// Who gave the command, if that is known.
    #[schema(required = true)]
    seat: Option<String>,
    /// The command in its canonical text.
    command: String,
    /// `applied`, `ignored` or `rejected`.
    #[schema(pattern = "^(applied|ignored|rejected)$")]
    outcome: String,
    /// Why the command was ignored or rejected, a name in `snake_case`.
    #[schema(required = true)]
    reason: Option<String>,
    /// The same in words.
    #[schema(required = true)]
    message: Option<String>,
    /// What the command did.
    effects: Vec<Effect>,
    /// The hash of the state after it; null if the viewer may not know it.
    #[schema(required = true)]
    state_hash: Option<String>,
}

/// An entry of a log, as `log` prints it.
#[derive(Serialize, ToSchema)]
#[schema(as = LoggedRecord)]
pub(crate) struct LoggedRecordSchema {
    #[serde(flatten)]
    record: RecordSchema,
    /// When the entry was recorded, in milliseconds since 1970.
    #[schema(required = true)]
    recorded_at_ms: Option<i64>,
    /// The idempotency key of the request that recorded it; null if the viewer may not know it.
    #[schema(required = true)]
    key: Option<String>,
}

/// Why nothing was played.
#[derive(Serialize, ToSchema)]
#[schema(as = NothingPlayed)]
pub(crate) struct NothingPlayedSchema {
    /// Always 0.
    played: u64,
    /// The roll that the rules wait for.
    #[schema(required = true)]
    due_roll: Option<DueRollSchema>,
}

/// A roll that the rules wait for.
#[derive(Serialize, ToSchema)]
#[schema(as = DueRoll)]
pub(crate) struct DueRollSchema {
    /// What the roll decides.
    purpose: String,
    /// How many values are rolled.
    count: u64,
    /// The least value.
    low: i64,
    /// The greatest value.
    high: i64,
    /// The only seat that learns the values, if there is one.
    #[schema(required = false, pattern = "^p([1-9]|1[0-6])$")]
    owner: String,
}

/// A branch.
#[derive(Serialize, ToSchema)]
#[schema(as = Branch)]
pub(crate) struct BranchSchema {
    branch: String,
    /// How many entries it has, including those before its beginning.
    entries: u64,
    /// Where it begins; null for `main`.
    #[schema(required = true)]
    from: Option<ForkSchema>,
    /// Whether the match continues on this branch.
    current: bool,
    /// The last link of its hash chain; null if the viewer may not know it.
    #[schema(required = true)]
    link: Option<String>,
}

/// Where a branch begins.
#[derive(Serialize, ToSchema)]
#[schema(as = Fork)]
pub(crate) struct ForkSchema {
    /// The parent branch.
    branch: String,
    /// The last entry that both branches have.
    seq: u64,
}

/// A command that the rules would accept now.
#[derive(Serialize, ToSchema)]
#[schema(as = LegalCommand)]
pub(crate) struct LegalCommandSchema {
    /// Who may give it.
    seat: String,
    command: String,
    /// The parts to click in the picture, in order: each `[board, [q, r]]`, `[board, "e4"]`, `{"piece": name}` or a word to
    /// choose. Boards are counted from 0, without other blocks. A picture names a piece alone, or after the only seat whose
    /// commands it is a part of.
    #[schema(required = false)]
    targets: Vec<Value>,
    /// Whether a page asks before it sends the command.
    #[schema(required = false)]
    irreversible: bool,
}

/// Whose turn it is on a branch.
#[derive(Serialize, ToSchema)]
pub(crate) struct TurnNow {
    /// Whether the branch is over; null if the viewer may not know.
    #[schema(required = true)]
    over: Option<bool>,
    /// The seats that have something to do; empty when the branch is over, null if the viewer may not know.
    #[schema(required = true)]
    turn: Option<Vec<String>>,
    /// The number of the turn, in games that count turns.
    #[schema(required = false)]
    turn_number: u64,
    /// How the branch ended.
    #[schema(required = false)]
    result: MatchResultSchema,
}

/// How a match ended.
#[derive(Serialize, ToSchema)]
#[schema(as = MatchResult)]
pub(crate) struct MatchResultSchema {
    /// The seats that won; empty for a draw, and if no seat won.
    winners: Vec<String>,
    draw: bool,
    /// The final scores by seat, in games that count.
    #[schema(required = false)]
    scores: BTreeMap<String, f64>,
    /// Why the match ended, such as `checkmate`.
    #[schema(required = false)]
    reason: String,
}

/// A field in which two views, or two games, differ.
#[derive(Serialize, ToSchema)]
#[schema(as = Difference)]
pub(crate) struct DifferenceSchema {
    /// The place of the field, as a JSON pointer.
    path: String,
    /// Its value in the first; missing if only the second has the field.
    #[schema(required = false)]
    old: Value,
    /// Its value in the second; missing if only the first has the field.
    #[schema(required = false)]
    new: Value,
}

/// Two histories compared, as `diff` prints it.
#[derive(Serialize, ToSchema)]
#[schema(as = Comparison)]
pub(crate) struct ComparisonSchema {
    equal: bool,
    /// Whether ruleset, setup and dice are the same.
    same_game: bool,
    /// The first entry that differs.
    #[schema(required = true)]
    parts_at: Option<u64>,
    /// How many commands only the first has.
    only_in_a: u64,
    /// How many commands only the second has.
    only_in_b: u64,
    /// How many outcomes differ although the command is the same.
    outcomes_differ: u64,
    /// How many fields of the last states differ.
    fields_differ: u64,
    /// The first history.
    a: SideSchema,
    /// The second history.
    b: SideSchema,
    /// How the games differ.
    game: Vec<DifferenceSchema>,
    /// The entries that only one history has, and those whose outcomes differ, in order.
    entries: Vec<EntryPairSchema>,
    /// How the last states differ.
    state: Vec<DifferenceSchema>,
}

/// One of two histories.
#[derive(Serialize, ToSchema)]
#[schema(as = Side)]
pub(crate) struct SideSchema {
    /// The revision.
    name: String,
    entries: u64,
    /// The hash of the last state.
    #[schema(required = true)]
    state_hash: Option<String>,
    /// The first entry whose recorded outcome differs from that of this build's rules.
    #[schema(required = true)]
    recorded_differs_at: Option<u64>,
}

/// An entry in two histories.
#[derive(Serialize, ToSchema)]
#[schema(as = EntryPair)]
pub(crate) struct EntryPairSchema {
    /// The entry of the first; null if only the second has it.
    #[schema(required = true)]
    a: Option<RecordSchema>,
    /// The entry of the second; null if only the first has it.
    #[schema(required = true)]
    b: Option<RecordSchema>,
}

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
    #[schema(required = false)]
    standing: String,
    frames: Vec<FrameSchema>,
    /// The event id after which `events` continues; missing if the request has `at`.
    #[schema(required = false)]
    event_id: String,
}

/// An entry, and the differences from the frame before.
#[derive(Serialize, ToSchema)]
#[schema(as = Frame)]
pub(crate) struct FrameSchema {
    record: LoggedRecordSchema,
    /// The outcome, as `log` prints it.
    text: String,
    /// What happened, in sentences that name players by their seats; missing if the game has no words for it.
    #[schema(required = false)]
    sentence: String,
    /// The differences from the picture before, each as `[block, place, content]`.
    #[schema(required = false)]
    changes: Vec<Vec<Value>>,
    /// The whole picture, if it does not have the same blocks.
    #[schema(required = false)]
    picture: Vec<PictureBlock>,
    /// The result or the turn after it, in words; missing if the game has neither.
    #[schema(required = false)]
    standing: String,
    /// The fields of the view that differ.
    fields: Vec<DifferenceSchema>,
}

/// A block of a picture: a board of hexes or squares with its cells and arrows, lines, rows or bars.
#[derive(Serialize, ToSchema)]
pub(crate) struct PictureBlock {
    /// The radius of a board.
    #[schema(required = false)]
    board: u64,
    /// The numbers of files and ranks of a board of squares.
    #[schema(required = false)]
    grid: Vec<u64>,
    /// Whether a board of squares is seen from its far side.
    #[schema(required = false)]
    flipped: bool,
    /// Each `[q, r, label, mark, tint]`, on a board of squares `["e4", glyph, mark, tint, tint of the piece, its name, its
    /// letter]`.
    #[schema(required = false)]
    cells: Vec<Vec<Value>>,
    /// Each `[tint, [q, r], …]` or `[tint, "e2", "e4", …]`.
    #[schema(required = false)]
    arrows: Vec<Vec<Value>>,
    /// The hexes that stand for a part of commands, each `[[q, r], name]`.
    #[schema(required = false)]
    targets: Vec<Vec<Value>>,
    /// Each a list of `[text, tint]`.
    #[schema(required = false)]
    lines: Vec<Vec<Value>>,
    /// Each `[label, pieces]`, followed by its name as a part of commands if it has one. A piece is `[text, tint, mark]`,
    /// followed by its name in the same way.
    #[schema(required = false)]
    rows: Vec<Vec<Value>>,
    /// Each `[label, value, maximum, tint, chips]`, followed by its name as a part of commands if it has one. A chip is
    /// `[text, tint]`, followed by its name in the same way.
    #[schema(required = false)]
    bars: Vec<Vec<Value>>,
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

/// The data of an event `match`.
#[derive(Serialize, ToSchema)]
pub(crate) struct MatchEvent {
    /// The current branch of the match.
    current: String,
}

type Responses = BTreeMap<String, RefOr<Response>>;

fn problems(statuses: &[u16]) -> Responses {
    let problem = || {
        let schema = RefOr::Ref(Ref::from_schema_name(ProblemJson::name()));
        let content = ContentBuilder::new().schema(Some(schema)).build();
        ResponseBuilder::new().description("a problem").content("application/problem+json", content).build()
    };
    statuses.iter().map(|status| (status.to_string(), problem().into())).collect()
}

/// Declares kinds of routes with the statuses of their problems.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident: $($status:literal)*;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name;

        impl IntoResponses for $name {
            fn responses() -> Responses {
                problems(&[$($status),*])
            }
        }
    )*};
}

kinds! {
    /// A route that needs no token.
    Open: 400 406 503;
    /// A route that reads.
    Looked: 400 401 403 404 406 429 500 501 503;
    /// A stream.
    Followed: 400 401 403 404 406 410 429 500 501 503;
    /// A route that reads what may be too large.
    LookedLarge: 400 401 403 404 406 413 429 500 501 503;
    /// A route whose question may have no answer.
    Answered: 400 401 403 404 406 422 429 500 501 503;
    /// A route whose question may have no answer, or an answer that is too large.
    AnsweredLarge: 400 401 403 404 406 413 422 429 500 501 503;
    /// A route that changes something, with a body.
    Changed: 400 401 403 404 406 408 409 413 415 422 429 500 501 503 507;
    /// A route that deletes something.
    Deleted: 400 401 403 404 409 429 500 503 507;
    /// An append.
    AppendProblems: 400 401 403 404 406 408 409 412 413 415 422 429 500 501 503 507;
    /// A trial of commands.
    TrialProblems: 400 401 403 404 406 408 409 413 415 422 429 500 501 503;
    /// Reading a calendar.
    CalendarRead: 400 404 406 429 500 501 503;
    /// Ending a calendar.
    CalendarEnded: 400 404 429 500 501 503 507;
    /// Reading an invitation.
    InvitedProblems: 400 401 403 406 409 410 429 500 503;
    /// Spending an invitation.
    JoinProblems: 400 401 403 404 406 408 409 410 413 415 422 429 500 503 507;
}
