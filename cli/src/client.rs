//! Sends requests to a service with a token (SV-40), and reads its answers and errors. Never prints or logs a token.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, io, mem, thread};

use serde::Deserialize;
use serde_json::Value;
use turnfold_history::Revision;
use turnfold_history::input::Limits;
use turnfold_serve::{AccessToken, TokenKind};
use ureq::Agent;
use ureq::http::{HeaderMap, Response, StatusCode, header};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Body, Error};

use crate::clock;
use crate::context::SafeOrigin;
use crate::failure::{Failure, Result};
use crate::files::shown;
use crate::output::Format;

/// The longest time to connect, and to receive a whole answer.
const CONNECT_TIME: Duration = Duration::from_secs(10);
const ANSWER_TIME: Duration = Duration::from_secs(90);

const ANSWER_BYTES_MAX: u64 = 1 << 28;

/// How long a request whose answer was lost is repeated, and the shortest and longest pause between two attempts.
const REPEAT_TIME: Duration = Duration::from_secs(30);
const PAUSE_MIN: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(4);

const JSON: &str = "application/json";

pub(crate) struct Client {
    agent: Agent,
    origin: SafeOrigin,
    token: AccessToken,
    pub(crate) kind: TokenKind,
}

pub(crate) struct ServiceRequest<'a> {
    pub(crate) path: String,
    pub(crate) query: Vec<(&'a str, String)>,
    /// The media type of the answer.
    pub(crate) accept: &'static str,
}

impl<'a> ServiceRequest<'a> {
    pub(crate) fn of(path: impl Into<String>, query: Vec<(&'a str, String)>, format: Format) -> Self {
        let accept = match format {
            Format::Text => "text/plain",
            Format::Json => JSON,
            Format::Svg => "image/svg+xml",
        };
        Self { path: path.into(), query, accept }
    }
}

pub(crate) struct Sent<'a> {
    /// The body of a POST; `None` for a DELETE.
    pub(crate) body: Option<&'a Value>,
    /// The idempotency key. With it, the request takes effect once, however often it is sent.
    pub(crate) key: Option<&'a str>,
    /// Whether the request may arrive twice, so that it is sent again if its answer is lost.
    pub(crate) may_repeat: bool,
}

pub(crate) struct ServiceReply {
    pub(crate) body: String,
    headers: HeaderMap,
}

impl ServiceReply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        text_of(&self.headers, name)
    }
}

fn text_of<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

pub(crate) fn path_of(revision: &Revision, resource: &str) -> String {
    format!("/v1/matches/{}/branches/{}/{resource}", revision.match_name, revision.branch)
}

impl Client {
    pub(crate) fn new(origin: SafeOrigin, token: AccessToken, kind: TokenKind) -> Result<Self> {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .https_only(origin.has_tls())
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT_TIME))
            .timeout_global(Some(ANSWER_TIME))
            .user_agent(concat!("turnfold/", env!("CARGO_PKG_VERSION")));
        // No proxy without TLS, because it could read the token.
        let config = if origin.has_tls() {
            config.tls_config(TlsConfig::builder().root_certs(trusted_authorities()?).build())
        } else {
            config.proxy(None)
        };
        Ok(Self { agent: config.build().into(), origin, token, kind })
    }

    pub(crate) fn sees_all(&self) -> bool {
        matches!(self.kind, TokenKind::Host | TokenKind::Admin)
    }

    /// Sends a request that may be refused. If the service asks the client to wait, waits and tries again.
    pub(crate) fn get(&self, asked: &ServiceRequest) -> Result<ServiceReply, NotAnswered> {
        self.repeat(asked, None)
    }

    /// Sends a request that changes something. If it may arrive twice, repeats it for a while when the connection is lost or
    /// the service is unavailable.
    pub(crate) fn change(&self, asked: &ServiceRequest, sent: &Sent) -> Result<ServiceReply, NotAnswered> {
        self.repeat(asked, Some(sent))
    }

    fn repeat(&self, asked: &ServiceRequest, sent: Option<&Sent>) -> Result<ServiceReply, NotAnswered> {
        let mut pause = PAUSE_MIN;
        let mut since: Option<Instant> = None;
        loop {
            let not_answered = match self.send(asked, sent) {
                Err(not_answered) => not_answered,
                answered => return answered,
            };
            let wanted = match &not_answered {
                // A service that asks to try again later may have made the change all the same.
                _ if sent.is_some_and(|sent| !sent.may_repeat) => return Err(not_answered),
                NotAnswered::Later(_, Some(seconds)) => Duration::from_secs(*seconds),
                NotAnswered::Lost(_) | NotAnswered::Later(_, None) if sent.is_some() => pause,
                _ => return Err(not_answered),
            };
            if since.is_none() {
                tracing::info!(service = %self.origin, "no answer; the request is repeated for 30 s");
            }
            if since.get_or_insert_with(clock::stopwatch).elapsed() >= REPEAT_TIME {
                return Err(not_answered);
            }
            thread::sleep(wanted.min(PAUSE_MAX));
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    fn send(&self, asked: &ServiceRequest, sent: Option<&Sent>) -> Result<ServiceReply, NotAnswered> {
        let accept = asked.accept;
        let uri = format!("{}{}", self.origin, asked.path);
        let bearer = format!("Bearer {}", self.token.expose());
        let query = asked.query.iter().map(|(name, value)| (*name, value.as_str()));
        let answer = if let Some(Sent { body: Some(body), key, .. }) = sent {
            let request = self.agent.post(uri).query_pairs(query);
            let request = request.header(header::AUTHORIZATION, bearer).header(header::ACCEPT, accept);
            let mut request = request.content_type(JSON);
            if let Some(key) = key {
                request = request.header("idempotency-key", format!("\"{key}\""));
            }
            request.send(body.to_string())
        } else {
            let request = if sent.is_some() { self.agent.delete(uri) } else { self.agent.get(uri) };
            let request = request.query_pairs(query).header(header::AUTHORIZATION, bearer);
            request.header(header::ACCEPT, accept).call()
        };
        self.read(answer.map_err(|error| self.not_sent(&error))?, accept)
    }

    fn read(&self, mut answer: Response<Body>, accept: &str) -> Result<ServiceReply, NotAnswered> {
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        let body = body.map_err(|error| self.not_sent(&error))?;
        let status = answer.status();
        let headers = mem::take(answer.headers_mut());
        let media_type = text_of(&headers, "content-type").unwrap_or_default().split(';').next();
        let text = String::from_utf8(body).ok();
        if status.is_success() {
            return match text {
                Some(body) if media_type == Some(accept) || status == StatusCode::NO_CONTENT => {
                    Ok(ServiceReply { body, headers })
                }
                _ => Err(NotAnswered::Failed(Failure::trouble(format!(
                    "`{}` answered with no {accept}; is it a service of turnfold?",
                    self.origin
                )))),
            };
        }
        let body = text.as_deref().filter(|_| media_type == Some("application/problem+json"));
        let problem = ApiError::read(status, body, &self.origin);
        if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            let seconds = text_of(&headers, "retry-after").and_then(|seconds| seconds.parse().ok());
            return Err(NotAnswered::Later(problem.failure, seconds));
        }
        Err(NotAnswered::ApiError(problem.into()))
    }

    /// Decides whether the request may have reached the service, so that its result is unknown.
    fn not_sent(&self, error: &Error) -> NotAnswered {
        let failure = Failure::trouble(format!("no answer from `{}`: {error}", self.origin));
        let is_lost = match error {
            Error::Io(error) => {
                !matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput)
            }
            Error::Timeout(_) | Error::ConnectionFailed | Error::Protocol(_) => true,
            _ => false,
        };
        if is_lost { NotAnswered::Lost(failure) } else { NotAnswered::Failed(failure) }
    }
}

/// The environment variable for a file of trusted certificates, the same as for other programs.
const AUTHORITIES_VARIABLE: &str = "SSL_CERT_FILE";

/// Certificates of authorities; those of a system take about 200 KiB.
const AUTHORITIES: Limits =
    Limits { what: "file of certificates", bytes_max: 4 << 20, lines_max: 1 << 17, line_bytes_max: 1 << 12 };

fn trusted_authorities() -> Result<RootCerts> {
    let path = env::var_os(AUTHORITIES_VARIABLE).unwrap_or_default();
    if path.is_empty() {
        return Ok(RootCerts::WebPki);
    }
    let path = Path::new(&path);
    let unusable = |what: String| Failure::usage(format!("`{AUTHORITIES_VARIABLE}`: {what}"));
    let bytes = AUTHORITIES.read_file(path).map_err(|error| unusable(error.to_string()))?;
    let shown = shown(path);
    let mut certificates = Vec::new();
    for item in parse_pem(&bytes) {
        match item {
            Ok(PemItem::Certificate(certificate)) => certificates.push(certificate),
            Ok(_) => {}
            Err(error) => return Err(unusable(format!("`{shown}`: {error}"))),
        }
    }
    if certificates.is_empty() {
        return Err(unusable(format!("expected a certificate in `{shown}`, as PEM")));
    }
    Ok(RootCerts::new_with_certs(&certificates))
}

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
    pub(crate) failure: Failure,
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
    fn read(status: StatusCode, body: Option<&str>, origin: &SafeOrigin) -> Self {
        let document = body.and_then(|body| serde_json::from_str(body).ok());
        let ProblemDocument { detail, index, record } = document.unwrap_or_default();
        let message = detail.unwrap_or_else(|| {
            format!("`{origin}` answered {status} without a reason; is it a service of turnfold?")
        });
        let failure = match status {
            StatusCode::CONFLICT => Failure::negative(message),
            StatusCode::PRECONDITION_FAILED => {
                Failure::negative(message).hint("look at what is new and try again")
            }
            // A service without the rules has the same exit code as a store without them.
            _ if status.is_client_error() || status == StatusCode::NOT_IMPLEMENTED => Failure::usage(message),
            _ => Failure::trouble(message),
        };
        Self { status, failure, command: index.zip(record) }
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
            NotAnswered::ApiError(problem) => problem.failure,
        }
    }
}
