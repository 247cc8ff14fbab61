//! Reads requests and writes responses in the same way for every resource (SV-5, SV-6).

use std::io;
use std::task::Poll;

use axum::body::Body;
use axum::extract::{FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderName, Version};
use bytes::BytesMut;
use futures_util::stream;
use http_body::Body as _;
use http_body_util::BodyExt;
use serde::Deserializer;
use serde::de::{DeserializeOwned, Error as _};
use tokio::sync::mpsc;
use tokio::time::timeout;
use turnfold_history::text::json_line;

use crate::limits::{BODY_BYTES_MAX, BODY_TIME};
use crate::prelude::*;

pub(crate) const JSON: &str = "application/json";
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";
pub(crate) const BYTES: &str = "application/octet-stream";
pub(crate) const SVG: &str = "image/svg+xml";
pub(crate) const HTML: &str = "text/html; charset=utf-8";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    /// As JSON.
    Json,
    /// As the verb prints it without a terminal.
    Text,
}

impl<S: Sync> FromRequestParts<S> for AnswerForm {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        let json = quality(&parts.headers, JSON);
        let text = quality(&parts.headers, "text/plain");
        match (json, text) {
            (0, 0) => Err(Problem::new(
                ProblemCode::Accept,
                "expected `Accept` to allow application/json or text/plain",
            )),
            (json, text) if text > json => Ok(Self::Text),
            _ => Ok(Self::Json),
        }
    }
}

pub(crate) fn require_accepted(headers: &HeaderMap, media_type: &str) -> ApiResult<()> {
    let plain = media_type.split(';').next().unwrap_or(media_type);
    if quality(headers, plain) > 0 {
        return Ok(());
    }
    Err(Problem::new(ProblemCode::Accept, format!("expected `Accept` to allow {plain}")))
}

fn quality(headers: &HeaderMap, media_type: &str) -> u32 {
    if !headers.contains_key(header::ACCEPT) {
        return 1000;
    }
    let mut best = (0, 0);
    let main = media_type.split('/').next().unwrap_or_default();
    for value in headers.get_all(header::ACCEPT) {
        for range in value.to_str().unwrap_or_default().split(',') {
            let mut parts = range.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default().to_ascii_lowercase();
            let precision = match name.as_str() {
                "*/*" => 1,
                name if name.strip_suffix("/*") == Some(main) => 2,
                name if name == media_type => 3,
                _ => continue,
            };
            let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(1000, thousandths);
            // The most specific range decides (RFC 9110, 12.5.1).
            if precision > best.0 || (precision == best.0 && weight > best.1) {
                best = (precision, weight);
            }
        }
    }
    best.1
}

fn thousandths(text: &str) -> u32 {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let part: String = part.chars().chain("000".chars()).take(3).collect();
    match (whole, part.parse::<u32>()) {
        ("1", Ok(_)) => 1000,
        ("0", Ok(part)) => part,
        _ => 0,
    }
}

pub(crate) struct ValidQuery<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for ValidQuery<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        let Query(asked) = Query::try_from_uri(&parts.uri)
            .map_err(|error| Problem::bad(format!("the query: {}", one_line(&error.body_text()))))?;
        Ok(Self(asked))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParameters {}

pub(crate) fn require_host(request: &Request) -> ApiResult<()> {
    // Every HTTP/1.1 request has one `Host` (RFC 9112, 3.2).
    let mut hosts = request.headers().get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) if is_host(host) => Ok(()),
        (None, _) if request.version() < Version::HTTP_11 => Ok(()),
        _ => Err(Problem::bad("expected one header `Host` with the name of a host")),
    }
}

fn is_host(host: &HeaderValue) -> bool {
    let host = host.to_str().unwrap_or("@");
    // If the target of a request names no host, the header is empty.
    host.is_empty() || (!host.contains('@') && host.parse::<Authority>().is_ok())
}

pub(crate) fn has_type(request: &Request, media_type: &str) -> bool {
    let given = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let given = given.and_then(|given| given.split(';').next()).unwrap_or_default().trim();
    given.eq_ignore_ascii_case(media_type)
}

pub(crate) async fn body(request: Request, media_type: &str, bytes_max: usize) -> ApiResult<Bytes> {
    if !has_type(&request, media_type) {
        return Err(Problem::new(ProblemCode::MediaType, format!("expected a body of type {media_type}")));
    }
    for encoding in request.headers().get_all(header::CONTENT_ENCODING) {
        if !encoding.as_bytes().eq_ignore_ascii_case(b"identity") {
            return Err(Problem::new(ProblemCode::MediaType, "expected a body without `Content-Encoding`"));
        }
    }
    // If the client states the length, refuse before it sends a body that is too large.
    if request.body().size_hint().lower() > bytes_max as u64 {
        return Err(too_large(bytes_max));
    }
    match timeout(BODY_TIME, read_body(request.into_body(), bytes_max)).await {
        Ok(read) => read,
        Err(_) => Err(Problem::new(ProblemCode::Timeout, "the body did not come in time")),
    }
}

fn too_large(bytes_max: usize) -> Problem {
    Problem::new(ProblemCode::TooLarge, format!("expected a body of at most {bytes_max} bytes"))
}

async fn read_body(mut body: Body, bytes_max: usize) -> ApiResult<Bytes> {
    // SV-31: parts are joined as they come, because a client may send a body in parts of one byte, and a list of those
    // would take many times the memory of the body.
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Err(Problem::bad("the body broke off")) };
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > bytes_max {
            return Err(too_large(bytes_max));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.freeze())
}

pub(crate) async fn json_body<T: DeserializeOwned>(request: Request) -> ApiResult<T> {
    let bytes = body(request, JSON, BODY_BYTES_MAX).await?;
    // SV-5: serde would also read a structure from a list.
    if bytes.iter().find(|byte| !b" \t\n\r".contains(byte)) != Some(&b'{') {
        return Err(Problem::bad("the body: expected an object"));
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| Problem::bad(format!("the body: {}", one_line(&error.to_string()))))
}

/// Reads a member that may be left out, but not be null.
pub(crate) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    member: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(member).map(Some)
}

pub(crate) fn given_number<'de, D: Deserializer<'de>>(member: D) -> Result<Option<u64>, D::Error> {
    number(member).map(Some)
}

pub(crate) fn number<'de, D: Deserializer<'de>, N: std::str::FromStr>(member: D) -> Result<N, D::Error> {
    let text = serde_json::Number::deserialize(member)?.to_string();
    // Some clients write `12850.0`, which is an integer in JSON Schema, too.
    let number = text.strip_suffix(".0").unwrap_or(&text).parse();
    number.map_err(|_| D::Error::custom(format!("expected a whole number, found `{text}`")))
}

pub(crate) fn one_line(text: &str) -> String {
    turnfold_history::text::printable(&text.replace('\n', " ")).into_owned()
}

pub(crate) fn json(status: StatusCode, document: &impl Serialize) -> Response {
    typed(status, JSON, json_text(document))
}

pub(crate) fn created(document: &impl Serialize, path: &str) -> Response {
    let mut response = json(StatusCode::CREATED, document);
    if let Ok(location) = HeaderValue::from_str(path) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

pub(crate) fn json_text(document: &impl Serialize) -> String {
    json_line(document).expect("plain data encodes") + "\n"
}

pub(crate) fn text(status: StatusCode, text: String) -> Response {
    typed(status, TEXT, text)
}

pub(crate) fn typed(status: StatusCode, media_type: &'static str, body: impl Into<Body>) -> Response {
    let media_type = HeaderValue::from_static(media_type);
    (status, [(header::CONTENT_TYPE, media_type)], body.into()).into_response()
}

pub(crate) fn body_of_parts(mut first: Option<Bytes>, mut others: mpsc::Receiver<io::Result<Bytes>>) -> Body {
    Body::from_stream(stream::poll_fn(move |context| match first.take() {
        Some(first) => Poll::Ready(Some(Ok(first))),
        None => others.poll_recv(context),
    }))
}

#[derive(Serialize)]
pub(crate) struct List<T, N> {
    pub(crate) items: Vec<T>,
    /// The value for `after` that continues the list.
    pub(crate) next: N,
}

pub(crate) fn link_next(response: &mut Response, path: &str) {
    if let Ok(link) = HeaderValue::from_str(&format!("<{path}>; rel=\"next\"")) {
        response.headers_mut().insert(header::LINK, link);
    }
}

const LIST_DEFAULT: usize = 100;
const LIST_MAX: usize = 1000;

pub(crate) fn list_limit(limit: Option<u64>) -> ApiResult<usize> {
    let Some(limit) = limit else { return Ok(LIST_DEFAULT) };
    match usize::try_from(limit) {
        Ok(limit) if (1..=LIST_MAX).contains(&limit) => Ok(limit),
        _ => Err(Problem::bad(format!("expected a limit of 1 to {LIST_MAX}"))),
    }
}

pub(crate) fn name<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> ApiResult<T> {
    text.parse().map_err(|error| Problem::bad(one_line(&T::Err::to_string(&error))))
}

pub(crate) fn name_if_given<T: std::str::FromStr<Err: std::fmt::Display>>(
    text: Option<&str>,
) -> ApiResult<Option<T>> {
    text.map(name).transpose()
}

pub(crate) fn tag_value(tag: &str) -> HeaderValue {
    HeaderValue::from_str(tag).unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// Tags of views, with which a client states what it has seen (SV-13).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tags {
    Any,
    These(Vec<String>),
}

impl Tags {
    pub(crate) fn read(headers: &HeaderMap, name: &HeaderName) -> ApiResult<Option<Self>> {
        if !headers.contains_key(name) {
            return Ok(None);
        }
        let mut tags = Vec::new();
        let expected = || Problem::bad(format!("expected tags such as `\"3f…\"` or `*` in `{name}`"));
        for value in headers.get_all(name) {
            let text = value.to_str().unwrap_or_default().trim();
            if text == "*" {
                return Ok(Some(Self::Any));
            }
            let mut rest = text;
            while !rest.is_empty() {
                let (tag, after) = first_tag(rest).ok_or_else(expected)?;
                tags.extend(tag.map(ToOwned::to_owned));
                rest = after;
            }
        }
        if tags.is_empty() { Err(expected()) } else { Ok(Some(Self::These(tags))) }
    }

    pub(crate) fn hold(&self, tag: &str, is_weak_enough: bool) -> bool {
        match self {
            Self::Any => true,
            Self::These(tags) => tags.iter().any(|own| {
                own == tag || (is_weak_enough && own.strip_prefix("W/").is_some_and(|strong| strong == tag))
            }),
        }
    }
}

fn first_tag(list: &str) -> Option<(Option<&str>, &str)> {
    let list = list.trim_start();
    if list.is_empty() {
        return Some((None, ""));
    }
    if let Some(rest) = list.strip_prefix(',') {
        return Some((None, rest));
    }
    let opaque = list.strip_prefix("W/").unwrap_or(list).strip_prefix('"')?;
    // A tag may contain commas, too (RFC 9110, 8.8.3).
    let (opaque, rest) = opaque.split_once('"')?;
    if !opaque.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    let tag = list.get(..list.len() - rest.len())?;
    let rest = rest.trim_start();
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(',')? };
    Some((Some(tag), rest))
}

#[cfg(test)]
mod tests {
    use axum::http::header::{IF_MATCH, IF_NONE_MATCH};

    use super::*;

    fn tags(values: &[&'static str]) -> ApiResult<Option<Tags>> {
        let values = values.iter().map(|value| (IF_MATCH, HeaderValue::from_static(value)));
        Tags::read(&values.collect(), &IF_MATCH)
    }

    #[test]
    fn headers_hold_lists_and_stars() {
        let held = tags(&["\"a\", W/\"b\"", "\"c\""]).unwrap().unwrap();
        assert!(held.hold("\"a\"", false) && held.hold("\"c\"", false));
        assert!(!held.hold("\"b\"", false) && held.hold("\"b\"", true) && !held.hold("\"d\"", true));
        let with_commas = tags(&[", \"a,b\",W/\",\" ,, \"\""]).unwrap();
        assert_eq!(with_commas, Some(Tags::These(["\"a,b\"", "W/\",\"", "\"\""].map(Into::into).into())));
        assert_eq!(tags(&["*"]).unwrap(), Some(Tags::Any));
        for other in ["a", "", ",", "\"a", "\"a\"b\"", "W/a", "\"a b\"", "\"a\" \"b\"", "\"a\", *"] {
            assert!(tags(&[other]).is_err(), "{other}");
        }
        assert!(Tags::read(&HeaderMap::new(), &IF_NONE_MATCH).unwrap().is_none());
    }
}
