//! Which problems a route may answer with, for its description (SV-33).

use std::collections::BTreeMap;

use utoipa::openapi::schema::Type;
use utoipa::openapi::{ContentBuilder, ObjectBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

use crate::documents::schemas;
use crate::event_id::PATTERN;
use crate::problem::ProblemJson;

type Responses = BTreeMap<String, RefOr<Response>>;

fn problems(statuses: &[u16]) -> Responses {
    let problem = || {
        let schema = RefOr::Ref(Ref::from_schema_name(ProblemJson::name()));
        let content = ContentBuilder::new().schema(Some(schema)).build();
        ResponseBuilder::new().description("a problem").content("application/problem+json", content).build()
    };
    statuses.iter().map(|status| (status.to_string(), problem().into())).collect()
}

/// Declares what kinds of routes may answer.
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
    /// What needs no token.
    Open: 400 406 503;
    /// What a token looks at.
    Looked: 400 401 403 404 406 429 500 501 503;
    /// What is followed.
    Followed: 400 401 403 404 406 410 429 500 501 503;
    /// What may be too large.
    LookedLarge: 400 401 403 404 406 413 429 500 501 503;
    /// What the rules or a condition may not answer.
    Answered: 400 401 403 404 406 422 429 500 501 503;
    /// The same, which may be too large.
    AnsweredLarge: 400 401 403 404 406 413 422 429 500 501 503;
    /// What a token changes, with a body.
    Changed: 400 401 403 404 406 408 409 413 415 422 429 500 501 503 507;
    /// What a token deletes.
    Deleted: 400 401 403 404 409 429 500 503 507;
    /// An append.
    AppendProblems: 400 401 403 404 406 408 409 412 413 415 422 429 500 501 503 507;
    /// What is tried out.
    TrialProblems: 400 401 403 404 406 408 409 413 415 422 429 500 501 503;
    /// A paper.
    PaperProblems: 400 401 403 404 406 408 409 413 415 422 429 500 501 503 507;
    /// A calendar that is read.
    CalendarRead: 400 404 406 429 500 501 503;
    /// A calendar that ends.
    CalendarEnded: 400 404 429 500 501 503 507;
    /// An invitation that is looked at.
    InvitedProblems: 400 401 403 406 409 410 429 500 503;
    /// An invitation that is spent.
    JoinProblems: 400 401 403 404 406 408 409 410 413 415 422 429 500 503 507;
}

/// Describes texts that match a pattern.
fn text(pattern: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern))
}

schemas! {
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
