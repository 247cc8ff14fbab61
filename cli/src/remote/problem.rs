//! Errors of requests to a service.

use serde::Deserialize;
use serde_json::Value;
use ureq::http::StatusCode;

use crate::failure::Failure;
use crate::remote::origin::SafeOrigin;

pub(crate) enum NotAnswered {
    /// There was no connection or it was lost, so it is unknown whether the request took effect.
    Lost(Failure),
    /// The service is unavailable for now. The number is the seconds to wait, if the service names it.
    Later(Failure, Option<u64>),
    /// The service refused the request, with its reason.
    ApiError(Box<ApiError>),
    /// The request failed in another way, so repeating it is useless.
    Failed(Failure),
}

pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    detail: String,
    /// The rejected command: its index in the request, and its record.
    pub(crate) command: Option<(usize, Value)>,
}

#[derive(Default, Deserialize)]
struct ProblemDocument {
    detail: Option<String>,
    index: Option<usize>,
    record: Option<Value>,
}

impl ApiError {
    /// Reads the body of an error. A body that is not from a turnfold service is replaced by the status.
    pub(crate) fn read(status: StatusCode, body: Option<&str>, origin: &SafeOrigin) -> Self {
        let mut document = ProblemDocument::default();
        if let Some(body) = body
            && let Ok(read) = serde_json::from_str(body)
        {
            document = read;
        }
        let detail = document.detail.unwrap_or_else(|| {
            format!("`{origin}` answered {status} without a reason; is it a service of turnfold?")
        });
        Self { status, detail, command: document.index.zip(document.record) }
    }

    pub(crate) fn failure(&self) -> Failure {
        self.failure_at("")
    }

    pub(crate) fn failure_at(&self, before: &str) -> Failure {
        let message = format!("{before}{}", self.detail);
        match self.status {
            StatusCode::CONFLICT => Failure::negative(message),
            StatusCode::PRECONDITION_FAILED => {
                Failure::negative(message).hint("look at what is new and try again")
            }
            // A service without the rules has the same exit code as a store without them.
            status if status.is_client_error() || status == StatusCode::NOT_IMPLEMENTED => {
                Failure::usage(message)
            }
            _ => Failure::trouble(message),
        }
    }
}

impl NotAnswered {
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::ApiError(problem) if problem.status.is_client_error())
    }
}

impl From<Failure> for NotAnswered {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
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
