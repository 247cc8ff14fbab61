//! Sends requests to a service with a token.

use std::env;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use turnfold_history::Revision;
use turnfold_serve::{AccessToken, TokenKind};
use ureq::Agent;
use ureq::http::{HeaderMap, Response, StatusCode, header};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Body, Error};

use crate::clock::Stopwatch;
use crate::failure::Failure;
use crate::files::shown;
use crate::limits::AUTHORITIES;
use crate::output::Format;
use crate::remote::origin::SafeOrigin;
use crate::remote::problem::{ApiError, NotAnswered};

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
    kind: TokenKind,
}

pub(crate) struct ServiceRequest<'a> {
    pub(crate) path: String,
    pub(crate) query: Vec<(&'a str, String)>,
    pub(crate) format: Format,
    /// The media type of a file, which is the same in every format.
    pub(crate) media_type: Option<&'static str>,
}

impl<'a> ServiceRequest<'a> {
    pub(crate) fn of(path: impl Into<String>, query: Vec<(&'a str, String)>, format: Format) -> Self {
        Self { path: path.into(), query, format, media_type: None }
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
    pub(crate) fn new(origin: SafeOrigin, token: AccessToken, kind: TokenKind) -> Result<Self, Failure> {
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

    pub(crate) fn kind(&self) -> TokenKind {
        self.kind
    }

    pub(crate) fn sees_all(&self) -> bool {
        matches!(self.kind, TokenKind::Host | TokenKind::Admin)
    }

    pub(crate) fn get(&self, asked: &ServiceRequest) -> Result<ServiceReply, Failure> {
        Ok(self.try_get(asked)?)
    }

    /// Sends a request that may be refused. If the service asks the client to wait, waits and tries again.
    pub(crate) fn try_get(&self, asked: &ServiceRequest) -> Result<ServiceReply, NotAnswered> {
        self.repeat(asked, None)
    }

    /// Sends a request that changes something. If it may arrive twice, repeats it for a while when the connection is lost or
    /// the service is unavailable.
    pub(crate) fn change(&self, asked: &ServiceRequest, sent: &Sent) -> Result<ServiceReply, NotAnswered> {
        self.repeat(asked, Some(sent))
    }

    fn repeat(&self, asked: &ServiceRequest, sent: Option<&Sent>) -> Result<ServiceReply, NotAnswered> {
        let mut pause = PAUSE_MIN;
        let mut since: Option<Stopwatch> = None;
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
            if since.get_or_insert_with(Stopwatch::start).elapsed() >= REPEAT_TIME {
                return Err(not_answered);
            }
            thread::sleep(wanted.min(PAUSE_MAX));
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    fn send(&self, asked: &ServiceRequest, sent: Option<&Sent>) -> Result<ServiceReply, NotAnswered> {
        let accept = match asked.format {
            Format::Text => "text/plain",
            Format::Json => JSON,
            Format::Svg => "image/svg+xml",
        };
        let accept = asked.media_type.unwrap_or(accept);
        let uri = format!("{}{}", self.origin, asked.path);
        let bearer = format!("Bearer {}", self.token.expose());
        let query = asked.query.iter().map(|(name, value)| (*name, value.as_str()));
        let answer = match sent {
            None => {
                let request = self.agent.get(uri).query_pairs(query);
                request.header(header::AUTHORIZATION, bearer).header(header::ACCEPT, accept).call()
            }
            Some(Sent { body: None, .. }) => {
                let request = self.agent.delete(uri);
                request.header(header::AUTHORIZATION, bearer).header(header::ACCEPT, accept).call()
            }
            Some(Sent { body: Some(body), key, .. }) => {
                let request = self.agent.post(uri).query_pairs(query);
                let request = request.header(header::AUTHORIZATION, bearer).header(header::ACCEPT, accept);
                let request = request.content_type(JSON);
                let request = match key {
                    Some(key) => request.header("idempotency-key", format!("\"{key}\"")),
                    None => request,
                };
                request.send(body.to_string())
            }
        };
        self.read(answer.map_err(|error| self.not_sent(&error))?, accept)
    }

    fn read(&self, mut answer: Response<Body>, accept: &str) -> Result<ServiceReply, NotAnswered> {
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        let body = body.map_err(|error| self.not_sent(&error))?;
        let status = answer.status();
        let headers = std::mem::take(answer.headers_mut());
        let media_type = text_of(&headers, "content-type").unwrap_or_default();
        let media_type = media_type.split(';').next();
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
            return Err(NotAnswered::Later(problem.failure(), seconds));
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

fn trusted_authorities() -> Result<RootCerts, Failure> {
    match env::var_os(AUTHORITIES_VARIABLE) {
        Some(path) if !path.is_empty() => read_authorities(Path::new(&path)),
        _ => Ok(RootCerts::WebPki),
    }
}

fn read_authorities(path: &Path) -> Result<RootCerts, Failure> {
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
