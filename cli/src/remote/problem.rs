//! Why a service did not do what it was asked for.

use serde_json::Value;
use ureq::http::StatusCode;

use crate::failure::Failure;
use crate::remote::origin::SafeOrigin;

/// A request without the answer that was asked for.
pub(crate) enum NotAnswered {
    /// The connection was lost, or never came about, and what became of the request is not known.
    Lost(Failure),
    /// The service is unavailable for now: try again after this many seconds, if it names them.
    Later(Failure, Option<u64>),
    /// The service reports why not.
    ApiError(Box<ApiError>),
    /// It makes no sense to try again.
    Failed(Failure),
}

/// What a service reports of a request that failed.
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    detail: String,
    /// The command that was not accepted: its place in the request, and its record.
    pub(crate) command: Option<(usize, Value)>,
}

impl ApiError {
    /// Reads the body of an answer; if a service did not write it, only its status is reported.
    pub(crate) fn read(status: StatusCode, body: Option<&str>, origin: &SafeOrigin) -> Self {
        let body = body.and_then(|body| serde_json::from_str::<Value>(body).ok()).unwrap_or_default();
        let detail = body.get("detail").and_then(Value::as_str).map(ToString::to_string);
        let detail = detail.unwrap_or_else(|| {
            format!("`{origin}` answered {status} without a reason; is it a service of turnfold?")
        });
        let index = body.get("index").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
        Self { status, detail, command: index.zip(body.get("record").cloned()) }
    }

    /// Returns the failure, with its exit code.
    pub(crate) fn failure(&self) -> Failure {
        self.failure_at("")
    }

    /// Returns the failure of a command at a place of a script.
    pub(crate) fn failure_at(&self, before: &str) -> Failure {
        let message = format!("{before}{}", self.detail);
        match self.status {
            StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => Failure::negative(message),
            // A build without the rules answers as the verb does on the store itself.
            status if status.is_client_error() || status == StatusCode::NOT_IMPLEMENTED => {
                Failure::usage(message)
            }
            _ => Failure::trouble(message),
        }
    }
}

impl NotAnswered {
    /// Returns `true` if the service itself refused the request, so that nothing came of it.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::ApiError(problem) if problem.status.is_client_error())
    }
}

impl From<NotAnswered> for Failure {
    fn from(not_answered: NotAnswered) -> Self {
        match not_answered {
            NotAnswered::Lost(failure) | NotAnswered::Later(failure, _) | NotAnswered::Failed(failure) => {
                failure
            }
            NotAnswered::ApiError(problem) => problem.failure(),
        }
    }
}
