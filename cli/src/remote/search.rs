//! `find` in the matches of a service, with the requests that the service's pages use too. It finds what the token may
//! read.

use serde_json::Value;
use turnfold_history::{Condition, Revision, SourceName, Viewer};
use ureq::http::StatusCode;

use crate::failure::Failure;
use crate::output::Format;
use crate::remote::client::{Client, ServiceRequest, path_of};
use crate::remote::look::{self, PAGE, ask, document, needs_store, seen_at};
use crate::remote::problem::NotAnswered;

/// The question of a search, the same for each match.
pub(crate) struct RemoteSearch<'a> {
    pub(crate) client: &'a Client,
    pub(crate) viewer: Option<Viewer>,
    /// A condition that the entry makes true.
    pub(crate) when: Option<&'a Condition>,
    /// What else the entry has to be, judged by its JSON document.
    pub(crate) is_wanted: Option<&'a dyn Fn(&Value) -> bool>,
    /// Whether to find only the first entry of each match.
    pub(crate) is_first_wanted: bool,
    /// Whether entries are needed as text too.
    pub(crate) needs_text: bool,
}

/// A found entry; the setup has seq 0 and no record.
pub(crate) struct RemoteEntry {
    pub(crate) seq: u64,
    /// Its record in the JSON of the service.
    pub(crate) record: Value,
    /// The record as text, without seq and hash.
    pub(crate) text: String,
}

/// Returns the branches of all matches that the token may read.
pub(crate) fn branches(client: &Client) -> Result<Vec<SourceName>, Failure> {
    let mut branches = Vec::new();
    for found in look::items(client, "/v1/matches")? {
        let match_name = text_of(&found, "match");
        for branch in look::items(client, &format!("/v1/matches/{match_name}/branches"))? {
            let name = format!("{match_name}@{}", text_of(&branch, "branch"));
            branches.push(name.parse().map_err(look::unusable)?);
        }
    }
    Ok(branches)
}

impl RemoteSearch<'_> {
    /// Passes the found entries of a match to `take`, page by page. Returns the failure if the condition is unusable in
    /// every view of the match.
    pub(crate) fn find(
        &self,
        revision: &Revision,
        take: &mut dyn FnMut(RemoteEntry) -> Result<(), Failure>,
    ) -> Result<Option<Failure>, Failure> {
        let sees_all = self.viewer.is_none_or(Viewer::sees_all) && self.client.sees_all();
        if revision.seq.is_some() && !sees_all {
            return Err(needs_store("a match as a seat knew it at an entry"));
        }
        let last = revision.seq.unwrap_or(u64::MAX);
        let revision = Revision { seq: None, ..revision.clone() };
        if let Some(condition) = self.when {
            return self.becomes_true(condition, &revision, last, take);
        }
        let fits = |seq: u64, record: &Value| {
            seq <= last && self.is_wanted.is_none_or(|is_wanted| is_wanted(record))
        };
        let mut after = Some(0);
        while let Some(from) = after {
            let (entries, next) = self.entries(&revision, from, PAGE, &fits)?;
            for entry in entries {
                take(entry)?;
                if self.is_first_wanted {
                    return Ok(None);
                }
            }
            after = next.filter(|next| *next < last);
        }
        Ok(None)
    }

    /// Passes on the entries that make a condition true and fit the other options. The setup is found if the condition
    /// holds there and no other option is given.
    fn becomes_true(
        &self,
        condition: &Condition,
        revision: &Revision,
        last: u64,
        take: &mut dyn FnMut(RemoteEntry) -> Result<(), Failure>,
    ) -> Result<Option<Failure>, Failure> {
        let limit = if self.is_first_wanted && self.is_wanted.is_none() { 1 } else { PAGE };
        let mut after = None;
        loop {
            let query = |after: Option<u64>| {
                let mut query = seen_at(None, self.viewer);
                query.extend([("when", condition.to_string()), ("all", "true".into())]);
                query.push(("limit", limit.to_string()));
                query.extend(after.map(|after| ("after", after.to_string())));
                query
            };
            let asked = |format| ServiceRequest {
                path: path_of(revision, "find"),
                query: query(after),
                format,
                media_type: None,
            };
            let page = match self.client.try_get(&asked(Format::Json)) {
                Ok(reply) => document(&reply)?,
                Err(NotAnswered::ApiError(error)) if error.status == StatusCode::UNPROCESSABLE_ENTITY => {
                    return Ok(Some(error.failure()));
                }
                Err(error) => return Err(error.into()),
            };
            let items = page.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let texts = if self.needs_text && !items.is_empty() {
                self.client.get(&asked(Format::Text))?.body
            } else {
                String::new()
            };
            // Each line begins with the seq of the entry.
            let mut texts = texts.lines().map(|line| line.split_once(' ').unwrap_or_default().1);
            for item in items {
                let seq = number_of(item, "seq").unwrap_or_default();
                let record = item.get("entry").cloned().unwrap_or_default();
                let text = texts.next().unwrap_or_default().into();
                if seq > last || self.is_wanted.is_some_and(|is_wanted| !is_wanted(&record)) {
                    continue;
                }
                take(RemoteEntry { seq, record, text })?;
                if self.is_first_wanted {
                    return Ok(None);
                }
            }
            let next = number_of(&page, "next").filter(|next| after.is_none_or(|after| *next > after));
            after = next.filter(|next| *next < last);
            if after.is_none() {
                return Ok(None);
            }
        }
    }

    /// Returns the fitting entries of a page, and `after` of the next page.
    fn entries(
        &self,
        revision: &Revision,
        after: u64,
        limit: u64,
        fits: &dyn Fn(u64, &Value) -> bool,
    ) -> Result<(Vec<RemoteEntry>, Option<u64>), Failure> {
        let query = || {
            let mut query = seen_at(None, self.viewer);
            query.extend([("limit", limit.to_string()), ("after", after.to_string())]);
            query
        };
        let page = document(&ask(self.client, revision, "entries", query(), Format::Json)?)?;
        let items = page.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let seq_of = |item: &Value| number_of(item, "seq").unwrap_or_default();
        let wanted: Vec<_> = items.iter().filter(|item| fits(seq_of(item), item)).collect();
        let next = number_of(&page, "next").filter(|next| *next > after);
        if wanted.is_empty() {
            return Ok((Vec::new(), next));
        }
        let texts = if self.needs_text {
            ask(self.client, revision, "entries", query(), Format::Text)?.body
        } else {
            String::new()
        };
        let entry = |item: &Value| {
            let seq = seq_of(item);
            let before = format!("{seq} ");
            let text = texts.lines().find_map(|text| text.strip_prefix(&before)).unwrap_or_default();
            RemoteEntry { seq, record: record_of(item), text: without_hash(text, item).into() }
        };
        Ok((wanted.into_iter().map(entry).collect(), next))
    }
}

/// Returns the record of an entry without the fields that the log adds.
fn record_of(item: &Value) -> Value {
    let mut record = item.clone();
    if let Value::Object(fields) = &mut record {
        for added in ["recorded_at_ms", "key", "link"] {
            fields.shift_remove(added);
        }
    }
    record
}

/// Removes the state hash from the end of a line, if the entry has one.
fn without_hash<'a>(text: &'a str, item: &Value) -> &'a str {
    let hash = text_of(item, "state_hash").get(..16).map(|hash| format!(" #{hash}"));
    hash.and_then(|hash| text.strip_suffix(&hash)).unwrap_or(text)
}

/// Returns the text of a field, or an empty string if there is none.
fn text_of<'a>(document: &'a Value, field: &str) -> &'a str {
    document.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn number_of(document: &Value, field: &str) -> Option<u64> {
    document.get(field).and_then(Value::as_u64)
}
