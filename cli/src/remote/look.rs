//! What a service says of a position: as `show`, `legal` and `ask` print it.

use serde_json::Value;
use turnfold_replay::{Revision, Viewer};

use crate::failure::{ExitStatus, Failure};
use crate::output::{Format, Output};
use crate::remote::client::{Client, ServiceRequest, path_of};

/// Refuses options of a verb that a service has no parameter for.
pub(crate) fn require_unused(options: &[(&str, bool)]) -> Result<(), Failure> {
    match options.iter().find(|(_, is_used)| *is_used) {
        Some((option, _)) => Err(needs_store(option)),
        None => Ok(()),
    }
}

/// What a service cannot do for the terminal.
pub(crate) fn needs_store(what: &str) -> Failure {
    Failure::usage(format!("{what} needs the store itself, and `--store` names a service"))
}

/// Returns the query of what is seen at an entry: which one, and by whom.
pub(crate) fn seen_at(at: Option<u64>, viewer: Option<Viewer>) -> Vec<(&'static str, String)> {
    let at = at.map(|at| ("at", at.to_string()));
    at.into_iter().chain(viewer.map(|viewer| ("as", viewer.to_string()))).collect()
}

/// Prints what a service says of a position; where that is a list, its items are printed a line each.
pub(crate) fn print(
    client: &Client,
    (revision, resource): (&Revision, &str),
    query: Vec<(&str, String)>,
    output: &mut Output,
) -> Result<ExitStatus, Failure> {
    let reply =
        client.get(&ServiceRequest { path: path_of(revision, resource), query, format: output.format() })?;
    match output.format() {
        Format::Text => output.text(&reply.body)?,
        Format::Json => print_json(&document(&reply.body)?, resource == "legal", output)?,
        Format::Svg => output.document(&reply.body)?,
    }
    Ok(ExitStatus::Yes)
}

/// Reads an answer that is JSON.
pub(crate) fn document(body: &str) -> Result<Value, Failure> {
    serde_json::from_str(body).map_err(|error| Failure::trouble(format!("the answer is unusable: {error}")))
}

/// Prints a document, or the items of a list.
pub(crate) fn print_json(document: &Value, is_list: bool, output: &mut Output) -> Result<(), Failure> {
    if !is_list {
        return Ok(output.json(document)?);
    }
    let items = document.get("items").and_then(Value::as_array);
    let items = items.ok_or_else(|| Failure::trouble("the answer is unusable: expected a list"))?;
    Ok(items.iter().try_for_each(|item| output.json(item))?)
}
