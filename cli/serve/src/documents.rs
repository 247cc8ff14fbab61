//! The documents that the library writes, for the description of the service (SV-33). `cli/JSON.md` explains them. A
//! test compares them with responses.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{AdditionalProperties, SchemaFormat, Type};
use utoipa::openapi::{KnownFormat, ObjectBuilder};

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

pub(crate) use schemas;

fn of_ruleset(description: &str) -> ObjectBuilder {
    let free = AdditionalProperties::FreeForm(true);
    ObjectBuilder::new().description(Some(description)).additional_properties(Some(free))
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

pub(crate) use lists;

lists! {
    BranchList: BranchSchema, String;
    EntryList: LoggedRecordSchema, u64;
    LegalCommandList: LegalCommandSchema, String;
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
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, pattern = "^p([1-9]|1[0-6])$")]
    owner: Option<String>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    targets: Option<Vec<Value>>,
    /// Whether a page asks before it sends the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    irreversible: Option<bool>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    turn_number: Option<u64>,
    /// How the branch ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    result: Option<MatchResultSchema>,
}

/// How a match ended.
#[derive(Serialize, ToSchema)]
#[schema(as = MatchResult)]
pub(crate) struct MatchResultSchema {
    /// The seats that won; empty for a draw, and if no seat won.
    winners: Vec<String>,
    draw: bool,
    /// The final scores by seat, in games that count.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    scores: Option<BTreeMap<String, f64>>,
    /// Why the match ended, such as `checkmate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reason: Option<String>,
}

/// A field in which two views, or two games, differ.
#[derive(Serialize, ToSchema)]
#[schema(as = Difference)]
pub(crate) struct DifferenceSchema {
    /// The place of the field, as a JSON pointer.
    path: String,
    /// Its value in the first; missing if only the second has the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<Value>,
    /// Its value in the second; missing if only the first has the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<Value>,
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

/// The data of an event `match`.
#[derive(Serialize, ToSchema)]
pub(crate) struct MatchEvent {
    /// The current branch of the match.
    current: String,
}
