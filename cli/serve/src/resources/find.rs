//! Finds the entries at which a condition becomes true, as `find` and `w` of `replay --step` do (VW-58).

use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use turnfold_history::search::condition::Survey;
use turnfold_history::search::find as search;
use turnfold_history::{Condition, Record, ReplayError, Revision, ViewedEntry};
use turnfold_show::render;
use utoipa::{IntoParams, ToSchema};

use super::statuses::{Answered, Name};
use crate::app::App;
use crate::auth::Bearer;
use crate::documents;
use crate::http::{Form, ValidQuery, json, link_next, list_limit, text};
use crate::problem::{ApiResult, Problem};
use crate::reading::{Asked, BranchPath, BranchView, Reach, SeatName};

/// A condition on views, and from where on it is looked for.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FindQuery {
    /// The condition, as `bisect --when` takes it, such as `/turn >= 3 && count(/units/*) < 2`
    #[param(min_length = 1, example = "/turn == 3")]
    when: String,
    /// The entry to begin after, in the viewer's numbering [default: the setup]
    #[param(minimum = 0)]
    after: Option<u64>,
    /// List all such entries, and the setup if the condition holds there and `after` is left out
    #[serde(default)]
    #[param(value_type = Option<bool>)]
    all: bool,
    /// The most entries of a list [default: 100]
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// The seat to view as; only for the host
    #[serde(rename = "as")]
    #[param(value_type = Option<String>, rename = "as", pattern = "^(p([1-9]|1[0-6])|host|spectator)$")]
    seat: Option<SeatName>,
}

/// Where a condition becomes true.
#[derive(Serialize, ToSchema)]
#[schema(as = Found)]
pub(crate) struct FindAnswer {
    /// The first entry, in the viewer's numbering; null if there is none.
    #[schema(required = true)]
    seq: Option<u64>,
    /// With `all`: all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    items: Option<Vec<FoundEntryJson>>,
    /// With `all`: the value of `after` for the rest; null at the end.
    next: Option<u64>,
}

/// The response without `all`.
#[derive(Serialize)]
struct First {
    seq: Option<u64>,
}

/// An entry that was found.
#[derive(Serialize, ToSchema)]
#[schema(as = FoundEntry)]
pub(crate) struct FoundEntryJson {
    /// Its number in the viewer's numbering; 0 is the setup.
    seq: u64,
    /// The entry; null for the setup.
    #[schema(required = true, value_type = Option<documents::RecordSchema>)]
    entry: Option<Record>,
}

/// Find entries by a condition
///
/// Returns the next entry at which the condition becomes true in the view; with `all`, every such entry.
#[utoipa::path(operation_id = "find_entry", get, path = "/v1/matches/{match}/branches/{branch}/find", tag = "positions",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), FindQuery),
    responses((status = 200, description = "the entries, as text as `find` prints them; the header `Link` of a text answer names the rest", content(
        (FindAnswer = "application/json"), (String = "text/plain"))), Answered))]
pub(crate) async fn find(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    Path(path): Path<BranchPath>,
    ValidQuery(FindQuery { when, after, all, limit, seat }): ValidQuery<FindQuery>,
    form: Form,
) -> ApiResult {
    let limit = if all { list_limit(limit)? } else { 1 };
    let condition: Condition = when.parse().map_err(|error| Problem::content(format!("`when`: {error}")))?;
    let whole = Asked { path, seat, reach: Reach::Whole };
    app.read(&bearer, whole, move |app, _, BranchView { branch, viewer }| {
        let history = branch.history(app, *viewer, None)?;
        let from = after.unwrap_or(0);
        let head = history.head();
        if from > head {
            return Err(ReplayError::NoEntry { history: history.name().clone(), seq: from, head }.into());
        }
        let mut survey = Survey::default();
        let start = history.start()?;
        let holds = condition.ask(&|path| history.field(start.as_ref(), path), &mut survey);
        let mut items = Vec::new();
        if holds && all && after.is_none() {
            items.push(FoundEntryJson { seq: 0, entry: None });
        }
        let is_wanted = |seen: &mut ViewedEntry<'_>| seen.seq() > from;
        let wanted = search::Wanted { when: Some(&condition), is_wanted: Some(&is_wanted) };
        // One entry more than the limit shows that others follow, so the search ends there.
        search::find(&history, &wanted, &mut survey, &mut |found| {
            items.push(FoundEntryJson { seq: found.seq, entry: found.entry });
            if items.len() > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if items.is_empty() {
            condition.check(&survey).map_err(|error| Problem::content(error.to_string()))?;
        }
        let is_more = items.len() > limit;
        items.truncate(limit);
        let seq = items.first().map(|found| found.seq);
        let next = items.last().map(|found| found.seq).filter(|_| is_more);
        if form == Form::Text {
            let revision = branch.revision();
            let lines = items.iter().map(|FoundEntryJson { seq, entry }| {
                let entry = entry.as_ref().map_or_else(|| "setup".into(), Record::text);
                format!("{revision}:{seq} {entry}")
            });
            let mut response = text(StatusCode::OK, render::text(lines));
            if let (Some(next), true) = (next, all) {
                let query = query_of(&when, next, limit, seat);
                let Revision { match_name, branch, .. } = revision;
                link_next(&mut response, &format!("/v1/matches/{match_name}/branches/{branch}/find?{query}"));
            }
            return Ok(response);
        }
        if all {
            return Ok(json(StatusCode::OK, &FindAnswer { seq, items: Some(items), next }));
        }
        Ok(json(StatusCode::OK, &First { seq }))
    })
    .await
}

/// Returns the query of the rest of a list.
fn query_of(when: &str, after: u64, limit: usize, seat: Option<SeatName>) -> String {
    let mut escaped = String::new();
    for byte in when.bytes() {
        if byte.is_ascii_alphanumeric() {
            escaped.push(char::from(byte));
        } else {
            write!(escaped, "%{byte:02X}").expect("writing to a string cannot fail");
        }
    }
    let seat = seat.map(|seat| format!("&as={}", seat.0)).unwrap_or_default();
    format!("when={escaped}&all=true&after={after}&limit={limit}{seat}")
}
