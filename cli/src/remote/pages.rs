//! Lists of a service, read page after page: as `log`, `matches` and `branches` print them.

use serde_json::Value;
use turnfold_replay::{RangeName, Revision, Viewer};
use turnfold_serve::TokenKind;

use crate::failure::{ExitStatus, Failure};
use crate::output::Output;
use crate::remote::client::{Client, Reply, ServiceRequest, path_of};
use crate::remote::look::{document, needs_store, print_json, seen_at};

/// The most items of a page.
const PAGE: u64 = 1000;

/// A list, or a part of it.
pub(crate) struct Part {
    pub(crate) path: String,
    /// The item before the first.
    pub(crate) after: Option<String>,
    /// The most items.
    pub(crate) count: Option<u64>,
    /// The viewer, if one is asked for.
    pub(crate) viewer: Option<Viewer>,
}

/// Prints the entries of a range.
pub(crate) fn print_log(
    client: &Client,
    (range, line): (&RangeName, &Revision),
    viewer: Option<Viewer>,
    output: &mut Output,
) -> Result<ExitStatus, Failure> {
    let before = range.first.saturating_sub(1);
    if line.seq.is_some() {
        let sees_all = matches!(client.kind(), TokenKind::Host | TokenKind::Admin);
        if !sees_all || viewer.is_some_and(|viewer| !viewer.see_all()) {
            return Err(needs_store("a log as a seat knew it at an entry"));
        }
        // Pages end where the log does; that it has the last entry at all is asked for by itself.
        let query = seen_at(line.seq, viewer);
        client.get(&ServiceRequest { path: path_of(line, "view"), query, format: output.format() })?;
    }
    let count = line.seq.map(|last| last.saturating_sub(before));
    let after = (before > 0).then(|| before.to_string());
    print(client, Part { path: path_of(line, "entries"), after, count, viewer }, output)
}

/// Prints a part of a list.
pub(crate) fn print(client: &Client, part: Part, output: &mut Output) -> Result<ExitStatus, Failure> {
    let Part { path, mut after, mut count, viewer } = part;
    while count != Some(0) {
        let limit = count.map_or(PAGE, |count| count.min(PAGE));
        let mut query = seen_at(None, viewer);
        query.push(("limit", limit.to_string()));
        query.extend(after.take().map(|after| ("after", after)));
        let reply = client.get(&ServiceRequest { path: path.clone(), query, format: output.format() })?;
        after = print_page(&reply, output)?;
        if after.is_none() {
            break;
        }
        count = count.map(|count| count - limit);
    }
    Ok(ExitStatus::Yes)
}

/// Prints a page and returns after what the next begins.
pub(crate) fn print_page(reply: &Reply, output: &mut Output) -> Result<Option<String>, Failure> {
    if !output.is_json() {
        output.text(&reply.body)?;
        return Ok(next_linked(reply));
    }
    let document = document(&reply.body)?;
    print_json(&document, true, output)?;
    Ok(match document.get("next") {
        Some(Value::String(next)) => Some(next.clone()),
        Some(Value::Number(next)) => Some(next.to_string()),
        _ => None,
    })
}

/// Returns the value for `after` of the next page, which text names by `Link` (SV-6).
fn next_linked(reply: &Reply) -> Option<String> {
    let link = reply.headers.get("link")?.to_str().ok()?;
    let (target, relation) = link.strip_prefix('<')?.split_once('>')?;
    let (_, query) = target.split_once('?')?;
    let after = query.split('&').find_map(|parameter| parameter.strip_prefix("after="))?;
    relation.contains("rel=\"next\"").then(|| after.to_string())
}
