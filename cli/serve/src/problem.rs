//! Problems: every failure as `application/problem+json` (SV-7, RFC 9457).

use std::borrow::Cow;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use turnfold_replay::render::json_line;
use turnfold_replay::{Record, ReplayError};
use turnfold_store::{
    NEXT_STEP, NEXT_STEP_IN_DATABASE, NEXT_STEP_WHEN_FULL, NEXT_STEP_WHEN_STOPPED, RescueError, StoreError,
};
use utoipa::ToSchema;

/// What kinds of failure there are. Each has one status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Code {
    BadRequest,
    NoToken,
    Forbidden,
    NotFound,
    Method,
    Accept,
    Timeout,
    TooLarge,
    MediaType,
    Rejected,
    Exists,
    BranchInUse,
    Spent,
    Moved,
    Malformed,
    Setup,
    KeyReused,
    SlowDown,
    Overloaded,
    Closing,
    Store,
    Corrupt,
    Internal,
    NoRules,
    Full,
}

impl Code {
    /// Returns its status, its name and its title.
    const fn about(self) -> (StatusCode, &'static str, &'static str) {
        use StatusCode as S;
        match self {
            Self::BadRequest => (S::BAD_REQUEST, "bad_request", "The request cannot be used"),
            Self::NoToken => (S::UNAUTHORIZED, "no_token", "A token is needed"),
            Self::Forbidden => (S::FORBIDDEN, "forbidden", "The token does not reach so far"),
            Self::NotFound => (S::NOT_FOUND, "not_found", "There is no such thing"),
            Self::Method => (S::METHOD_NOT_ALLOWED, "method", "The method is not allowed"),
            Self::Accept => (S::NOT_ACCEPTABLE, "accept", "No acceptable form"),
            Self::Timeout => (S::REQUEST_TIMEOUT, "timeout", "The body did not come in time"),
            Self::TooLarge => (S::PAYLOAD_TOO_LARGE, "too_large", "Too large"),
            Self::MediaType => (S::UNSUPPORTED_MEDIA_TYPE, "media_type", "The media type is not supported"),
            Self::Rejected => (S::CONFLICT, "rejected", "The rules do not accept the command now"),
            Self::Exists => (S::CONFLICT, "exists", "The name is taken"),
            Self::BranchInUse => (S::CONFLICT, "branch_in_use", "The branch is in use"),
            Self::Spent => (S::GONE, "spent", "The invitation is spent"),
            Self::Moved => (S::PRECONDITION_FAILED, "moved", "The history has moved on"),
            Self::Malformed => (S::UNPROCESSABLE_ENTITY, "malformed", "No command of the ruleset"),
            Self::Setup => (S::UNPROCESSABLE_ENTITY, "setup", "A match cannot begin so"),
            Self::KeyReused => (S::UNPROCESSABLE_ENTITY, "key_reused", "The key stands for other commands"),
            Self::SlowDown => (S::TOO_MANY_REQUESTS, "slow_down", "Too many requests"),
            Self::Overloaded => (S::SERVICE_UNAVAILABLE, "overloaded", "The service is overloaded"),
            Self::Closing => (S::SERVICE_UNAVAILABLE, "closing", "The service is shutting down"),
            Self::Store => (S::SERVICE_UNAVAILABLE, "store", "The store cannot say what became of it"),
            Self::Corrupt => (S::INTERNAL_SERVER_ERROR, "corrupt", "Something stored is damaged"),
            Self::Internal => (S::INTERNAL_SERVER_ERROR, "internal", "A mistake of the service"),
            Self::NoRules => {
                (S::NOT_IMPLEMENTED, "no_rules", "This build does not have the rules of the match")
            }
            Self::Full => (S::INSUFFICIENT_STORAGE, "full", "The disk of the service is full"),
        }
    }

    /// Returns its HTTP status.
    pub(crate) const fn status(self) -> StatusCode {
        self.about().0
    }
}

/// A failure, still without the id of its request.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    code: Code,
    detail: Cow<'static, str>,
    /// The command that was not accepted: its place in the request and its record.
    command: Option<Box<(usize, Record)>>,
    /// The tag of what the viewer sees now.
    tag: Option<Box<str>>,
    /// Whether the store could not write.
    is_of_store: bool,
    /// Whether it can write again only once the service has been restarted.
    needs_restart: bool,
}

/// What a failed request shares with those who hear of it.
pub(crate) type ApiResult<T = Response> = Result<T, Problem>;

impl Problem {
    pub(crate) fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            detail: detail.into(),
            command: None,
            tag: None,
            is_of_store: false,
            needs_restart: false,
        }
    }

    /// A request that cannot be used, and why.
    pub(crate) fn bad(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::BadRequest, detail)
    }

    /// A mistake of the service, of which its logs tell more.
    pub(crate) fn internal() -> Self {
        Self::new(Code::Internal, "an internal error; the logs of the service tell more")
    }

    /// A service that is shutting down.
    pub(crate) fn closing() -> Self {
        Self::new(Code::Closing, "the service is shutting down")
    }

    /// A queue that is full.
    pub(crate) fn overloaded(detail: &'static str) -> Self {
        Self::new(Code::Overloaded, detail)
    }

    /// What a token does not reach, and what would.
    pub(crate) fn forbidden(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::Forbidden, detail)
    }

    /// A command that was not accepted: its place in the request, from 0, and its record.
    pub(crate) fn of_command(code: Code, detail: String, index: usize, record: Record) -> Self {
        Self { command: Some(Box::new((index, record))), ..Self::new(code, detail) }
    }

    /// A history that is not where the client believes, and the tag of what it would see now.
    pub(crate) fn moved(detail: String, tag: &str) -> Self {
        Self { tag: Some(tag.into()), ..Self::new(Code::Moved, detail) }
    }

    /// Returns its kind.
    pub(crate) fn code(&self) -> Code {
        self.code
    }

    /// Returns `true` if the store could not write.
    pub(crate) fn is_of_store(&self) -> bool {
        self.is_of_store
    }

    /// Answers with the status of another kind.
    pub(crate) fn with_code(self, code: Code) -> Self {
        Self { code, ..self }
    }

    /// Returns how many seconds to wait before asking again, where waiting helps. A directory that cannot be written to
    /// waits for somebody who opens it again, as a service that shuts down does.
    fn retry_after(&self) -> Option<&'static str> {
        match self.code {
            Code::SlowDown | Code::Overloaded => Some("1"),
            Code::Store if !self.needs_restart => Some("1"),
            Code::Store => Some("60"),
            Code::Closing => Some("10"),
            _ => None,
        }
    }

    /// Returns its words.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// Says of damage what helps where the store is in a database.
    pub(crate) fn in_database(self) -> Self {
        Self { detail: self.detail.replace(NEXT_STEP, NEXT_STEP_IN_DATABASE).into(), ..self }
    }

    /// Says of a store that stopped accepting writes what helps where it is a directory, which the service has open.
    pub(crate) fn in_directory(self) -> Self {
        let (said, helps) = match self.code {
            Code::Full => (NEXT_STEP_WHEN_FULL, "free some space and restart the service"),
            Code::Store => (NEXT_STEP_WHEN_STOPPED, "restart the service"),
            _ => return self,
        };
        Self { detail: self.detail.replace(said, helps).into(), needs_restart: self.is_of_store, ..self }
    }

    /// Leaves out where something is damaged.
    pub(crate) fn without_place(self) -> Self {
        Self { detail: "something stored of this match is damaged; its host can see what".into(), ..self }
    }

    /// Writes it down, with the id of its request.
    pub(crate) fn render(self, request: &str) -> Response {
        let (status, code, title) = self.code.about();
        let retry_after = self.retry_after();
        let (index, record) = self.command.map(|command| *command).unzip();
        let body = ProblemJson {
            kind: format!("urn:turnfold:problem:{code}"),
            title: title.into(),
            status: status.as_u16(),
            detail: self.detail.into_owned(),
            request: request.into(),
            index,
            record,
        };
        let mut text = json_line(&body).expect("plain data encodes");
        text.push('\n');
        let mut response = (status, text).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static(seconds));
        }
        if let Some(tag) = self.tag.and_then(|tag| HeaderValue::from_str(&tag).ok()) {
            headers.insert(header::ETAG, tag);
        }
        response
    }
}

/// A failure as it is answered.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemJson {
    /// `urn:turnfold:problem:` and its name.
    #[serde(rename = "type")]
    kind: String,
    /// What its kind means.
    title: String,
    /// The HTTP status.
    status: u16,
    /// What is wrong, in one line.
    detail: String,
    /// The id of the request, which the logs of the service name.
    request: String,
    /// Which of the commands it was, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    index: Option<usize>,
    /// The command that was not accepted, as `play` prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<crate::resources::documents::Record>)]
    record: Option<Record>,
}

/// Leaves itself in the answer, until the outermost layer writes it down with the id of the request.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.code.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        use StoreError as E;
        let code = match &error {
            E::NoSuchMatch { .. } | E::NoSuchBranch { .. } | E::NoSuchGrant { .. } => Code::NotFound,
            E::NoSuchSeq { .. } | E::NothingToAppend { .. } | E::NotAPlayer { .. } => Code::BadRequest,
            E::TooManyGrants { .. } => Code::SlowDown,
            E::AlreadyExists { .. } | E::BranchExists { .. } | E::GrantExists { .. } => Code::Exists,
            E::BranchInUse { .. } | E::MainBranch { .. } => Code::BranchInUse,
            E::TooLarge { .. } => Code::TooLarge,
            E::IdempotencyKeyReused { .. } => Code::KeyReused,
            E::InvitationSpent { .. } => Code::Spent,
            E::Corrupt { .. } | E::Lost { .. } | E::Receded { .. } => Code::Corrupt,
            E::Full { .. } => Code::Full,
            E::Conflict { .. }
            | E::Unsettled { .. }
            | E::Failed { .. }
            | E::Io { .. }
            | E::Unavailable { .. }
            | E::Database { .. } => Code::Store,
            _ => Code::Internal,
        };
        let is_of_store = matches!(
            error,
            E::Full { .. }
                | E::Unsettled { .. }
                | E::Failed { .. }
                | E::Unavailable { .. }
                | E::Database { .. }
        );
        Self { is_of_store, ..Self::new(code, error.to_string()) }
    }
}

impl From<RescueError> for Problem {
    fn from(error: RescueError) -> Self {
        match error {
            RescueError::Store(error) => error.into(),
            error => Self::new(Code::Store, error.to_string()),
        }
    }
}

impl From<ReplayError> for Problem {
    fn from(error: ReplayError) -> Self {
        use ReplayError as E;
        let error = match error {
            E::Store(error) => return error.into(),
            error => error,
        };
        let code = match &error {
            E::NoEntry { .. } | E::Concealed(_) => Code::BadRequest,
            E::UnknownRuleset { .. } | E::OtherVersion { .. } => Code::NoRules,
            E::OtherSeat(_) => Code::Forbidden,
            E::File(_)
            | E::Input(_)
            | E::BadSetup(_)
            | E::BadEntry(_)
            | E::UntrueEntry { .. }
            | E::UntrueHeader { .. }
            | E::UntrueClosing { .. } => Code::Setup,
            E::TooLong { .. } | E::Page(_) => Code::TooLarge,
            E::Setup { .. } | E::Entry { .. } | E::ConcealedEntry { .. } => Code::Corrupt,
            _ => Code::Internal,
        };
        Self::new(code, error.to_string())
    }
}
