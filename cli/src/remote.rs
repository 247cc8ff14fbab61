//! Asks a service (SV-40) and reads its answers, lists page by page. Only [`fetch`] needs rules. `matches/far.rs` decides
//! what is asked for.

use std::fmt::Display;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use turnfold_core::Registry;
use turnfold_history::tfl::Replay;
use turnfold_history::{Revision, Viewer};
use turnfold_serve::TokenKind;

use crate::client::{Client, NotAnswered, ServiceReply, ServiceRequest, path_of};
use crate::context::{SafeOrigin, StoreAddress, Workspace};
use crate::failure::{Failure, Result};
use crate::files;
use crate::output::{Format, Output, folded_lines, stdout_width};

/// The most items that are requested at once.
const PAGE: u64 = 1000;

impl Workspace {
    pub(crate) fn service(&self) -> Result<Option<&Client>> {
        let StoreAddress::Service(origin) = &self.store else { return Ok(None) };
        if self.client.get().is_none() {
            let _ = self.client.set(self.connect(origin)?);
        }
        Ok(self.client.get())
    }

    fn connect(&self, origin: &SafeOrigin) -> Result<Client> {
        let Some(path) = &self.token else {
            return Err(Failure::usage(format!("`{origin}` requires a token"))
                .hint("add `--token FILE`; `turnfold join` makes one of an invitation"));
        };
        match files::read_token(path)? {
            Some((_, TokenKind::Invitation)) => {
                Err(Failure::usage(format!("`{}` holds an invitation", files::shown(path)))
                    .hint("`turnfold join` makes a token of it"))
            }
            Some((token, kind)) => Client::new(origin.clone(), token, kind),
            None => Err(Failure::usage(format!("`{}` holds no token", files::shown(path)))),
        }
    }
}

pub(crate) fn require_unused(options: &[(&str, bool)]) -> Result<()> {
    match options.iter().find(|(_, is_used)| *is_used) {
        Some((option, _)) => Err(needs_store(option)),
        None => Ok(()),
    }
}

pub(crate) fn needs_store(what: &str) -> Failure {
    Failure::usage(format!("{what} needs the store itself, and `--store` names a service"))
}

pub(crate) fn seen_at(at: Option<u64>, viewer: Option<Viewer>) -> Vec<(&'static str, String)> {
    let mut query = Vec::new();
    if let Some(at) = at {
        query.push(("at", at.to_string()));
    }
    if let Some(viewer) = viewer {
        query.push(("as", viewer.to_string()));
    }
    query
}

pub(crate) fn whole_replay(client: &Client, revision: &Revision) -> Result<String, NotAnswered> {
    Ok(ask(client, revision, "replay.tfl", seen_at(revision.seq, None), Format::Text)?.body)
}

/// Fetches a replay file of what a viewer may know, or of what the token's own seat may know.
pub(crate) fn seen_replay(
    client: &Client,
    revision: &Revision,
    viewer: Option<Viewer>,
) -> Result<String, NotAnswered> {
    let mut query = seen_at(revision.seq, viewer);
    query.push(("view", "true".into()));
    Ok(ask(client, revision, "replay.tfl", query, Format::Text)?.body)
}

/// Fetches a revision to be folded here, where its rules must be known. A seat has what it may know.
pub(crate) fn fetch(client: &Client, revision: &Revision, registry: &Registry) -> Result<Replay> {
    let text = if client.sees_all() {
        whole_replay(client, revision)?
    } else {
        // The number of an entry counts what the seat knows now, so the caller cuts the history there.
        seen_replay(client, &Revision { seq: None, ..revision.clone() }, None)?
    };
    Ok(Replay::read_also_seen(&revision.to_string(), text.as_bytes(), registry)?)
}

pub(crate) fn ask(
    client: &Client,
    revision: &Revision,
    resource: &str,
    query: Vec<(&str, String)>,
    format: Format,
) -> Result<ServiceReply, NotAnswered> {
    client.get(&ServiceRequest::of(path_of(revision, resource), query, format))
}

pub(crate) fn read<T: DeserializeOwned>(
    client: &Client,
    path: impl Into<String>,
    query: Vec<(&str, String)>,
) -> Result<T> {
    document(&client.get(&ServiceRequest::of(path, query, Format::Json))?)
}

pub(crate) fn document<T: DeserializeOwned>(reply: &ServiceReply) -> Result<T> {
    serde_json::from_str(&reply.body).map_err(unusable)
}

pub(crate) fn unusable(cause: impl Display) -> Failure {
    Failure::trouble(format!("the answer is unusable: {cause}"))
}

#[derive(Deserialize)]
struct ItemPage<T> {
    items: Vec<T>,
    next: Option<String>,
}

pub(crate) fn items<T: DeserializeOwned>(client: &Client, path: &str) -> Result<Vec<T>> {
    let mut items = Vec::new();
    let mut query = Vec::new();
    loop {
        let page: ItemPage<T> = read(client, path, query)?;
        items.extend(page.items);
        let Some(next) = page.next else { return Ok(items) };
        query = vec![("after", next)];
    }
}

/// Prints an answer as it is, but the terminal may fold its text.
pub(crate) fn print_reply(reply: &ServiceReply, output: &mut Output) -> Result<()> {
    match output.format() {
        Format::Text => output.text(&folded_lines(&reply.body, stdout_width()))?,
        Format::Svg => output.document(&reply.body)?,
        Format::Json => output.json(&document::<Value>(reply)?)?,
    }
    Ok(())
}

/// A part of a list that was printed: how many items it has, and `after` of the next part.
pub(crate) struct ReplyPage {
    items: u64,
    next: Option<String>,
}

/// Prints an answer whose JSON is the first of these members that the document has. The items of a list are lines of
/// their own, with `source` if it is given.
pub(crate) fn print_page(
    reply: &ServiceReply,
    members: &[&str],
    source: Option<&str>,
    output: &mut Output,
) -> Result<ReplyPage> {
    if !output.is_json() {
        print_reply(reply, output)?;
        return Ok(ReplyPage { items: reply.body.lines().count() as u64, next: next_linked(reply) });
    }
    let document: Value = document(reply)?;
    let next = match document.get("next") {
        Some(Value::String(next)) => Some(next.clone()),
        Some(Value::Number(next)) => Some(next.to_string()),
        _ => None,
    };
    let Some(member) = members.iter().find_map(|member| document.get(member)) else {
        return Err(unusable(format_args!("expected `{}`", members.join("` or `"))));
    };
    let Value::Array(items) = member else {
        output.json(member)?;
        return Ok(ReplyPage { items: 1, next });
    };
    for item in items {
        output.json(&printed_item(item, source))?;
    }
    Ok(ReplyPage { items: items.len() as u64, next })
}

/// Returns an item as it is printed for a store: with its source, and with the number of branches instead of their list.
fn printed_item(item: &Value, source: Option<&str>) -> Value {
    let Value::Object(members) = item else { return item.clone() };
    let mut printed = Map::new();
    if let Some(source) = source {
        printed.insert("source".into(), source.into());
    }
    for (name, member) in members {
        let member = match member {
            Value::Array(branches) if name == "branches" => branches.len().into(),
            member => member.clone(),
        };
        printed.insert(name.clone(), member);
    }
    Value::Object(printed)
}

pub(crate) struct ListPart {
    pub(crate) path: String,
    pub(crate) query: Vec<(&'static str, String)>,
    /// The item before the first one; `None` to begin at the start.
    pub(crate) after: Option<String>,
    /// The most items; `None` for all.
    pub(crate) count: Option<u64>,
    /// The source to add to each item in JSON, if any.
    pub(crate) source: Option<String>,
}

/// Requests a list page by page, and returns the number of its items.
pub(crate) fn print_pages(client: &Client, part: ListPart, output: &mut Output) -> Result<u64, NotAnswered> {
    let ListPart { path, query: wanted, mut after, mut count, source } = part;
    let mut printed = 0;
    while count != Some(0) {
        let limit = count.map_or(PAGE, |count| count.min(PAGE));
        let mut query = wanted.clone();
        query.push(("limit", limit.to_string()));
        if let Some(after) = after {
            query.push(("after", after));
        }
        let reply = client.get(&ServiceRequest::of(path.as_str(), query, output.format()))?;
        let ReplyPage { items, next } = print_page(&reply, &["items"], source.as_deref(), output)?;
        printed += items;
        if next.is_none() {
            break;
        }
        after = next;
        count = count.map(|count| count.saturating_sub(items));
    }
    Ok(printed)
}

/// Returns `after` of the next page from the `Link` header, which text answers have (SV-6).
fn next_linked(reply: &ServiceReply) -> Option<String> {
    let link = reply.header("link")?;
    let (target, relation) = link.strip_prefix('<')?.split_once('>')?;
    let (_, query) = target.split_once('?')?;
    let after = query.split('&').find_map(|parameter| parameter.strip_prefix("after="))?;
    relation.contains("rel=\"next\"").then(|| after.to_string())
}
