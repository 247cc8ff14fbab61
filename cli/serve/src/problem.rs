//! Problems: every failure as `application/problem+json` (SV-7, RFC 9457), with what failed, where, and the next step.

use std::borrow::Cow;

use turnfold_core::Outcome;
use turnfold_core::any::FaultOf;
use turnfold_core::registry::NoRules;
use turnfold_history::{Record, ReplayError};
use turnfold_mail::MailError;
use turnfold_proof::ProofError;
use turnfold_show::ShowError;
use turnfold_store::RescueError;

use crate::documents;
use crate::http::{json_text, typed};
use crate::prelude::*;

/// Declares the codes of problems, each with its status, its name and its title.
macro_rules! codes {
    ($($code:ident: $status:ident, $name:literal, $title:literal;)*) => {
        /// What kinds of failure there are. Each has one status.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum ProblemCode {
            $($code),*
        }

        impl ProblemCode {
            const fn about(self) -> (StatusCode, &'static str, &'static str) {
                match self {
                    $(Self::$code => (StatusCode::$status, $name, $title)),*
                }
            }

            pub(crate) const fn status(self) -> StatusCode {
                self.about().0
            }
        }
    };
}

codes! {
    BadRequest: BAD_REQUEST, "bad_request", "Bad request";
    NoToken: UNAUTHORIZED, "no_token", "A token is required";
    Forbidden: FORBIDDEN, "forbidden", "Insufficient permissions";
    NotFound: NOT_FOUND, "not_found", "Not found";
    NoEntry: NOT_FOUND, "no_entry", "No such entry";
    Method: METHOD_NOT_ALLOWED, "method", "Method not allowed";
    Accept: NOT_ACCEPTABLE, "accept", "Not acceptable";
    Timeout: REQUEST_TIMEOUT, "timeout", "The body took too long";
    TooLarge: PAYLOAD_TOO_LARGE, "too_large", "Too large";
    MediaType: UNSUPPORTED_MEDIA_TYPE, "media_type", "Unsupported media type";
    Rejected: CONFLICT, "rejected", "The rules do not accept the command now";
    Exists: CONFLICT, "exists", "The name is taken";
    BranchInUse: CONFLICT, "branch_in_use", "The branch is in use";
    LastHost: CONFLICT, "last_host", "A match keeps a host";
    SeatTaken: CONFLICT, "seat_taken", "The seat is taken";
    NameTaken: CONFLICT, "name_taken", "The name is taken";
    Spent: GONE, "spent", "The invitation is spent";
    Gone: GONE, "gone", "Another history took its place";
    Moved: PRECONDITION_FAILED, "moved", "The branch has changed";
    Malformed: UNPROCESSABLE_ENTITY, "malformed", "Not a command of the ruleset";
    Setup: UNPROCESSABLE_ENTITY, "setup", "Invalid setup";
    KeyReused: UNPROCESSABLE_ENTITY, "key_reused", "The key belongs to other commands";
    Content: UNPROCESSABLE_ENTITY, "content", "Unprocessable content";
    SlowDown: TOO_MANY_REQUESTS, "slow_down", "Too many requests";
    Overloaded: SERVICE_UNAVAILABLE, "overloaded", "The service is overloaded";
    Closing: SERVICE_UNAVAILABLE, "closing", "The service is shutting down";
    Store: SERVICE_UNAVAILABLE, "store", "The store is unavailable";
    Corrupt: INTERNAL_SERVER_ERROR, "corrupt", "The store is damaged";
    Internal: INTERNAL_SERVER_ERROR, "internal", "Internal server error";
    NoRules: NOT_IMPLEMENTED, "no_rules", "The rules of the match are missing";
    Full: INSUFFICIENT_STORAGE, "full", "The disk of the service is full";
    Module: SERVICE_UNAVAILABLE, "module", "The module of the match is missing or failed";
}

#[derive(Clone, Debug)]
pub(crate) struct Problem {
    code: ProblemCode,
    detail: Cow<'static, str>,
    /// The command that was not accepted: its index in the request and its record.
    command: Option<Box<(usize, Record)>>,
    /// The tag of what the viewer sees now.
    tag: Option<Box<str>>,
    /// Whether the store could not write.
    is_of_store: bool,
    /// What the operator can do.
    remedy: Option<Remedy>,
    /// How the token ended, if it was valid once.
    ended: Option<Ended>,
    /// Whether the store can write again only after a restart of the service.
    needs_restart: bool,
}

/// How a formerly valid token ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ended {
    Revoked,
    Expired,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remedy {
    Salvage,
    FreeSpace,
    Restart,
}

impl Remedy {
    const fn text(self, is_database: bool) -> &'static str {
        match (self, is_database) {
            (Self::Salvage, false) => "save what is sound with `store salvage DIR NEWDIR`",
            (Self::Salvage, true) => "restore it from the database's archive or a backup",
            (Self::FreeSpace, false) => "free some space and restart the service",
            (Self::FreeSpace, true) => "free some space on the database server and try again",
            (Self::Restart, false) => "restart the service",
            (Self::Restart, true) => "try again",
        }
    }
}

pub(crate) type ApiResult<T = Response> = Result<T, Problem>;

impl Problem {
    pub(crate) fn new(code: ProblemCode, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            detail: detail.into(),
            command: None,
            tag: None,
            is_of_store: false,
            remedy: None,
            ended: None,
            needs_restart: false,
        }
    }

    pub(crate) fn no_longer(ended: Ended) -> Self {
        let detail = match ended {
            Ended::Revoked => "the token was revoked; ask the host for a new one",
            Ended::Expired => "the token has expired; ask the host for a new one",
        };
        Self { ended: Some(ended), ..Self::new(ProblemCode::NoToken, detail) }
    }

    /// A request that does not fit the description of the service, and why.
    pub(crate) fn bad(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ProblemCode::BadRequest, detail)
    }

    /// A request that fits the description of the service and cannot be carried out, and why.
    pub(crate) fn content(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ProblemCode::Content, detail)
    }

    pub(crate) fn internal() -> Self {
        Self::new(ProblemCode::Internal, "internal error; see the logs of the service")
    }

    pub(crate) fn closing() -> Self {
        Self::new(ProblemCode::Closing, "the service is shutting down")
    }

    pub(crate) fn overloaded(detail: &'static str) -> Self {
        Self::new(ProblemCode::Overloaded, detail)
    }

    pub(crate) fn slow_down(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ProblemCode::SlowDown, detail)
    }

    pub(crate) fn forbidden(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ProblemCode::Forbidden, detail)
    }

    pub(crate) fn of_command(detail: String, index: usize, record: Record) -> Self {
        let code = match &record.outcome {
            Outcome::Rejected(code) if code.as_str() == "malformed" => ProblemCode::Malformed,
            _ => ProblemCode::Rejected,
        };
        Self { command: Some(Box::new((index, record))), ..Self::new(code, detail) }
    }

    pub(crate) fn moved(detail: String, tag: &str) -> Self {
        Self { tag: Some(tag.into()), ..Self::new(ProblemCode::Moved, detail) }
    }

    pub(crate) fn code(&self) -> ProblemCode {
        self.code
    }

    pub(crate) fn is_of_store(&self) -> bool {
        self.is_of_store
    }

    pub(crate) fn with_code(self, code: ProblemCode) -> Self {
        Self { code, ..self }
    }

    fn retry_after(&self) -> Option<&'static str> {
        match self.code {
            ProblemCode::SlowDown | ProblemCode::Overloaded => Some("1"),
            ProblemCode::Store if !self.needs_restart => Some("1"),
            // A directory that could not be written accepts writes again only after a restart of the service.
            ProblemCode::Store => Some("60"),
            ProblemCode::Closing => Some("10"),
            _ => None,
        }
    }

    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    pub(crate) fn with_next_step(self, is_database: bool) -> Self {
        let Some(remedy) = self.remedy else { return self };
        let detail = format!("{}; {}", self.detail, remedy.text(is_database)).into();
        let needs_restart = !is_database && remedy != Remedy::Salvage;
        Self { detail, needs_restart, remedy: None, ..self }
    }

    pub(crate) fn without_place(self) -> Self {
        let detail = "part of this match is damaged in the store; the host can see which part".into();
        Self { detail, remedy: None, ..self }
    }

    pub(crate) fn render(self, request: &str) -> Response {
        let (status, code, title) = self.code.about();
        let retry_after = self.retry_after();
        let (index, record) = self.command.map(|command| *command).unzip();
        let body = ProblemJson {
            kind: format!("urn:turnfold:problem:{code}"),
            title,
            status: status.as_u16(),
            detail: self.detail.into_owned(),
            request: request.into(),
            index,
            record,
            ended: self.ended,
        };
        let mut response = typed(status, "application/problem+json", json_text(&body));
        let headers = response.headers_mut();
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

/// A failure, as the service reports it.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemJson {
    /// `urn:turnfold:problem:` and the name of the problem.
    #[serde(rename = "type")]
    kind: String,
    /// What its kind means.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// What is wrong, in one line.
    detail: String,
    /// The id of the request, as in the logs of the service.
    request: String,
    /// Which of the commands it was, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    index: Option<usize>,
    /// The command that was not accepted, as `play` prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<documents::RecordSchema>)]
    record: Option<Record>,
    /// How the token ended, if it was valid once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    ended: Option<Ended>,
}

/// Puts the problem into a response's extensions. The outermost layer renders it with the id of the request.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.code.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        use ProblemCode as C;
        use StoreError as E;
        let (code, next_step) = match &error {
            E::NoSuchMatch { .. } | E::NoSuchBranch { .. } | E::NoSuchNote { .. } => (C::NotFound, ""),
            E::NoSuchGrant { .. } => (C::NotFound, "ask the host for a new one"),
            E::NoSuchSeq { .. } => (C::NoEntry, ""),
            E::NothingToAppend { .. } => (C::Content, "give at least one command"),
            E::NotAPlayer { .. } => (C::Content, "name one of `p1` to `p16`"),
            E::TooManyGrants { .. } => (C::SlowDown, "revoke one first"),
            E::TooManyNotes { .. } => (C::SlowDown, "remove one first"),
            E::AlreadyExists { .. } | E::BranchExists { .. } => (C::Exists, "choose another name"),
            E::GrantExists { .. } => (C::Exists, "make a new token"),
            E::BranchInUse { .. } => (C::BranchInUse, "delete that branch first"),
            E::MainBranch { .. } => (C::BranchInUse, ""),
            E::LastHost { .. } => (C::LastHost, "make another host grant first"),
            E::SeatTaken { .. } => (C::SeatTaken, "ask the host, who can take that access back"),
            E::NameTaken { .. } => (C::NameTaken, "choose another name"),
            E::TooLarge { .. } => (C::TooLarge, ""),
            E::OtherModule { .. } => (C::Module, ""),
            E::IdempotencyKeyReused { .. } => (C::KeyReused, "choose a new key"),
            E::InvitationSpent { .. } => (C::Spent, "ask the host for a new one"),
            E::Receded { .. } => {
                (C::Corrupt, "restore what is missing, or begin a new one to go on from what is there")
            }
            E::Corrupt { .. } => (C::Corrupt, ""),
            E::Full { .. } => (C::Full, ""),
            E::Conflict { .. } => (C::Store, "look at what is new and try again"),
            E::Unsettled { .. } => (C::Store, "look at the log before you repeat it"),
            E::Unavailable { maybe: true, .. } => {
                (C::Store, "repeat with the same key, or look before you repeat it")
            }
            E::Unavailable { maybe: false, .. } => (C::Store, "try again"),
            E::Io { .. } | E::Failed { .. } | E::Database { .. } => (C::Store, ""),
            _ => (C::Internal, ""),
        };
        let mut detail = error.to_string();
        if !next_step.is_empty() {
            detail = detail + "; " + next_step;
        }
        let remedy = match &error {
            E::Corrupt { .. } => Some(Remedy::Salvage),
            E::Full { .. } => Some(Remedy::FreeSpace),
            E::Failed { .. } => Some(Remedy::Restart),
            _ => None,
        };
        let is_of_store = matches!(
            error,
            E::Full { .. }
                | E::Failed { .. }
                | E::Unsettled { .. }
                | E::Unavailable { .. }
                | E::Database { .. }
        );
        Self { is_of_store, remedy, ..Self::new(code, detail) }
    }
}

impl From<RescueError> for Problem {
    fn from(error: RescueError) -> Self {
        match error {
            RescueError::Store(error) => error.into(),
            error => Self::new(ProblemCode::Store, error.to_string()),
        }
    }
}

impl From<MailError> for Problem {
    fn from(error: MailError) -> Self {
        match error {
            MailError::Replay(error) => error.into(),
            MailError::Proof(error) => (*error).into(),
            error => Self::new(ProblemCode::Internal, error.to_string()),
        }
    }
}

impl From<ProofError> for Problem {
    fn from(error: ProofError) -> Self {
        match error {
            ProofError::Replay(error) => error.into(),
            error => Self::new(ProblemCode::Internal, error.to_string()),
        }
    }
}

impl From<ShowError> for Problem {
    fn from(error: ShowError) -> Self {
        match error {
            ShowError::Replay(error) => error.into(),
            error => Self::new(ProblemCode::TooLarge, error.to_string()),
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
            E::NoEntry { .. } => ProblemCode::NoEntry,
            E::NoRules(_, cause) => match **cause {
                NoRules::Unknown { .. } | NoRules::OtherVersion { .. } => ProblemCode::NoRules,
                _ => ProblemCode::Module,
            },
            E::Fault(_) => ProblemCode::Module,
            E::OtherSeat { .. } | E::Concealed { .. } | E::NoView { .. } => ProblemCode::Forbidden,
            E::File(_) | E::Input(_) | E::BadSetup(_) | E::BadEntry(_) | E::Untrue { .. } => {
                ProblemCode::Setup
            }
            E::TooLong { .. } | E::Page(_) => ProblemCode::TooLarge,
            E::Setup { .. } | E::Entry { .. } | E::ConcealedEntry { .. } => ProblemCode::Corrupt,
            _ => ProblemCode::Internal,
        };
        // A referee's output and command are only for the operator, who can read the service's log (RF-13).
        let failed = match &error {
            E::Fault(fault) if matches!(fault.of, FaultOf::Referee(_)) => Some(&fault.ruleset),
            E::NoRules(_, cause) => match &**cause {
                NoRules::NoReferee { name, .. } => Some(name),
                _ => None,
            },
            _ => None,
        };
        let Some(name) = failed else { return Self::new(code, error.to_string()) };
        let name = name.escape_debug();
        Self::new(code, format!("the referee of `{name}` failed; the log of the service has the reason"))
    }
}
