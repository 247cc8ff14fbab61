//! The statuses of the problems that a route may return, for its description (SV-33).

use std::collections::BTreeMap;

use utoipa::openapi::schema::Type;
use utoipa::openapi::{ContentBuilder, ObjectBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

use crate::documents::schemas;
use crate::knowledge::PATTERN;
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
    /// A paper.
    PaperProblems: 400 401 403 404 406 408 409 413 415 422 429 500 501 503 507;
    /// Reading a calendar.
    CalendarRead: 400 404 406 429 500 501 503;
    /// Ending a calendar.
    CalendarEnded: 400 404 429 500 501 503 507;
    /// Reading an invitation.
    InvitedProblems: 400 401 403 406 409 410 429 500 503;
    /// Spending an invitation.
    JoinProblems: 400 401 403 404 406 408 409 410 413 415 422 429 500 503 507;
}

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
