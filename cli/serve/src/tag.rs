//! Tags of views, with which a client states what it has seen (SV-13).

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use turnfold_history::Viewer;

use crate::problem::{ApiResult, Problem};

const DIGITS: usize = 32;

pub(crate) fn tag_of(viewer: Viewer, view: &str) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 view tag");
    hasher.update(viewer.to_string().as_bytes());
    hasher.update(&[0]);
    // Only what the viewer sees counts, so a concealed change neither shows in the tag nor refuses a player's command.
    hasher.update(view.as_bytes());
    let hash = hasher.finalize().to_hex();
    format!("\"{}\"", hash.get(..DIGITS).unwrap_or_default())
}

pub(crate) fn value(tag: &str) -> HeaderValue {
    HeaderValue::from_str(tag).unwrap_or_else(|_| HeaderValue::from_static(""))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tags {
    Any,
    These(Vec<String>),
}

impl Tags {
    pub(crate) fn read(headers: &HeaderMap, name: &HeaderName) -> ApiResult<Option<Self>> {
        let mut tags = Vec::new();
        let mut is_there = false;
        let expected = || Problem::bad(format!("expected tags such as `\"3f…\"` or `*` in `{name}`"));
        for value in headers.get_all(name) {
            is_there = true;
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
        if is_there && tags.is_empty() {
            return Err(expected());
        }
        Ok(is_there.then_some(Self::These(tags)))
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

    #[test]
    fn tags_differ_by_viewer_and_view() {
        let tag = |seat: &str, view| tag_of(seat.parse().unwrap(), view);
        assert_eq!(tag("p1", "{}").len(), DIGITS + 2);
        assert_ne!(tag("p1", "{}"), tag("p2", "{}"));
        assert_ne!(tag("p1", "{}"), tag("p1", "{} "));
    }
}
