//! Prints the answers of a service for the verbs that look at matches. Lists are read page by page.

use std::borrow::Cow;
use std::fmt::Display;

use serde::Serialize;
use serde_json::Value;
use turnfold_core::Registry;
use turnfold_history::{RangeName, Replay, ReplayError, Revision, Viewer, tfl};

use crate::failure::{ExitStatus, Failure};
use crate::output::{Format, Output};
use crate::remote::client::{Client, ServiceReply, ServiceRequest, path_of};
use crate::remote::problem::NotAnswered;

/// The most items that are requested at once.
const PAGE: u64 = 1000;

pub(crate) fn require_unused(options: &[(&str, bool)]) -> Result<(), Failure> {
    match options.iter().find(|(_, is_used)| *is_used) {
        Some((option, _)) => Err(needs_store(option)),
        None => Ok(()),
    }
}

pub(crate) fn needs_store(what: &str) -> Failure {
    Failure::usage(format!("{what} needs the store itself, and `--store` names a service"))
}

pub(crate) fn seen_at(at: Option<u64>, viewer: Option<Viewer>) -> Vec<(&'static str, String)> {
    let at = at.map(|at| ("at", at.to_string()));
    at.into_iter().chain(viewer.map(|viewer| ("as", viewer.to_string()))).collect()
}

pub(crate) fn whole_replay(client: &Client, revision: &Revision) -> Result<String, NotAnswered> {
    replay_file(client, revision, seen_at(revision.seq, None))
}

/// Fetches a replay file of what a viewer may know, or of what the token's own seat may know.
pub(crate) fn seen_replay(
    client: &Client,
    revision: &Revision,
    viewer: Option<Viewer>,
) -> Result<String, NotAnswered> {
    let mut query = seen_at(revision.seq, viewer);
    query.push(("view", "true".into()));
    replay_file(client, revision, query)
}

fn replay_file(
    client: &Client,
    revision: &Revision,
    query: Vec<(&'static str, String)>,
) -> Result<String, NotAnswered> {
    let path = path_of(revision, "replay.tfl");
    let media_type = Some("text/plain");
    Ok(client.try_get(&ServiceRequest { path, query, format: Format::Text, media_type })?.body)
}

/// Fetches a revision to be folded here, where its rules must be known. A seat has what it may know.
pub(crate) fn fetch(client: &Client, revision: &Revision, registry: &Registry) -> Result<Replay, Failure> {
    let text = if client.sees_all() {
        whole_replay(client, revision)?
    } else {
        // The number of an entry counts what the seat knows now, so the caller cuts the history there.
        seen_replay(client, &Revision { seq: None, ..revision.clone() }, None)?
    };
    let read = tfl::read_also_seen(&revision.to_string(), text.as_bytes(), registry);
    read.map_err(|error| ReplayError::from(error).into())
}

pub(crate) fn print(
    client: &Client,
    revision: &Revision,
    resource: &str,
    query: Vec<(&str, String)>,
    output: &mut Output,
) -> Result<ExitStatus, Failure> {
    let members: &[_] = if resource == "legal" { &["items"] } else { &[] };
    print_reply(&ask(client, revision, resource, query, output.format())?, members, None, output)?;
    Ok(ExitStatus::Yes)
}

pub(crate) fn ask(
    client: &Client,
    revision: &Revision,
    resource: &str,
    query: Vec<(&str, String)>,
    format: Format,
) -> Result<ServiceReply, Failure> {
    client.get(&ServiceRequest::of(path_of(revision, resource), query, format))
}

pub(crate) fn read(
    client: &Client,
    path: impl Into<String>,
    query: Vec<(&str, String)>,
) -> Result<Value, Failure> {
    document(&client.get(&ServiceRequest::of(path, query, Format::Json))?)
}

pub(crate) fn document(reply: &ServiceReply) -> Result<Value, Failure> {
    serde_json::from_str(&reply.body).map_err(unusable)
}

pub(crate) fn unusable(cause: impl Display) -> Failure {
    Failure::trouble(format!("the answer is unusable: {cause}"))
}

pub(crate) fn items(client: &Client, path: &str) -> Result<Vec<Value>, Failure> {
    let mut items = Vec::new();
    let mut after = None;
    loop {
        let query = after.take().map(|after| ("after", after)).into_iter().collect();
        let mut page = read(client, path, query)?;
        if let Some(Value::Array(found)) = page.get_mut("items").map(Value::take) {
            items.extend(found);
        }
        after = page.get("next").and_then(Value::as_str).map(Into::into);
        if after.is_none() {
            return Ok(items);
        }
    }
}

/// Replaces the list of branches by their number, as `matches` prints it for a store.
fn counted_branches(item: &Value) -> Cow<'_, Value> {
    let count = item.get("branches").and_then(Value::as_array).map(Vec::len);
    let (Some(count), Value::Object(fields)) = (count, item) else { return Cow::Borrowed(item) };
    let mut fields = fields.clone();
    fields.insert("branches".into(), count.into());
    Cow::Owned(Value::Object(fields))
}

#[derive(Serialize)]
struct SourcedItem<'a> {
    source: &'a str,
    #[serde(flatten)]
    item: &'a Value,
}

pub(crate) struct PrintedPage {
    items: u64,
    /// `after` of the next page.
    next: Option<String>,
}

/// Prints an answer in the requested format. For JSON, prints the first of these
/// members that the document has, or the whole document if `members` is empty. The items of a list are printed one per
/// line, with `source` if it is given.
pub(crate) fn print_reply(
    reply: &ServiceReply,
    members: &[&str],
    source: Option<&str>,
    output: &mut Output,
) -> Result<PrintedPage, Failure> {
    let mut count = reply.body.lines().count() as u64;
    match output.format() {
        Format::Text => output.text_lines(&reply.body)?,
        Format::Svg => output.document(&reply.body)?,
        Format::Json => {
            let document = document(reply)?;
            match members.iter().find_map(|member| document.get(member)) {
                Some(Value::Array(items)) => {
                    count = items.len() as u64;
                    for item in items.iter().map(counted_branches) {
                        match source {
                            Some(source) => output.json(&SourcedItem { source, item: &item })?,
                            None => output.json(&*item)?,
                        }
                    }
                }
                Some(member) => output.json(member)?,
                None if members.is_empty() => output.json(&document)?,
                None => {
                    let message = format!("the answer is unusable: expected `{}`", members.join("` or `"));
                    return Err(Failure::trouble(message));
                }
            }
            let next = match document.get("next") {
                Some(Value::String(next)) => Some(next.clone()),
                Some(Value::Number(next)) => Some(next.to_string()),
                _ => None,
            };
            return Ok(PrintedPage { items: count, next });
        }
    }
    Ok(PrintedPage { items: count, next: next_linked(reply) })
}

pub(crate) struct ListPart {
    pub(crate) path: String,
    pub(crate) query: Vec<(&'static str, String)>,
    /// The item before the first one; `None` to begin at the start.
    pub(crate) after: Option<String>,
    /// The most items; `None` for all.
    pub(crate) count: Option<u64>,
    /// The viewer, if the user named one.
    pub(crate) viewer: Option<Viewer>,
    /// The source to add to each item in JSON, if any.
    pub(crate) source: Option<String>,
}

pub(crate) fn print_log(
    client: &Client,
    range: &RangeName,
    revision: &Revision,
    viewer: Option<Viewer>,
    output: &mut Output,
) -> Result<ExitStatus, Failure> {
    let before = range.first.saturating_sub(1);
    if revision.seq.is_some() {
        // A page may end early without an error, so a request for the view checks that the last entry exists.
        ask(client, revision, "view", seen_at(revision.seq, viewer), output.format())?;
    }
    let count = revision.seq.map(|last| last.saturating_sub(before));
    let after = (before > 0).then(|| before.to_string());
    let source = Some(range.source.up_to(None).to_string());
    let path = path_of(revision, "entries");
    print_list(client, ListPart { path, query: Vec::new(), after, count, viewer, source }, output)?;
    Ok(ExitStatus::Yes)
}

pub(crate) fn print_list(client: &Client, part: ListPart, output: &mut Output) -> Result<u64, NotAnswered> {
    let ListPart { path, query: wanted, mut after, mut count, viewer, source } = part;
    let mut printed = 0;
    while count != Some(0) {
        let limit = count.map_or(PAGE, |count| count.min(PAGE));
        let mut query = wanted.clone();
        query.extend(seen_at(None, viewer));
        query.push(("limit", limit.to_string()));
        query.extend(after.take().map(|after| ("after", after)));
        let reply = client.try_get(&ServiceRequest::of(path.as_str(), query, output.format()))?;
        let page = print_reply(&reply, &["items"], source.as_deref(), output)?;
        printed += page.items;
        after = page.next;
        if after.is_none() {
            break;
        }
        count = count.map(|count| count.saturating_sub(page.items));
    }
    Ok(printed)
}

/// Returns `after` of the next page from the `Link` header, which text answers have (SV-6).
fn next_linked(reply: &ServiceReply) -> Option<String> {
    let link = reply.headers.get("link")?.to_str().ok()?;
    let (target, relation) = link.strip_prefix('<')?.split_once('>')?;
    let (_, query) = target.split_once('?')?;
    let after = query.split('&').find_map(|parameter| parameter.strip_prefix("after="))?;
    relation.contains("rel=\"next\"").then(|| after.to_string())
}
