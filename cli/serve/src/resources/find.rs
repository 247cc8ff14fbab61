//! Finds entries, as `find` and `w` of `replay --step` do (VW-58, SV-67).

use std::ops::ControlFlow;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use turnfold_history::Record;
use turnfold_history::search::{self, Pattern, Survey, Wanted};
use turnfold_show::render;

use super::prelude::*;
use super::statuses::Answered;

/// What an entry has to be, and where entries are looked for.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FindQuery {
    /// The condition that it makes true, as `bisect --when` takes it, such as `/turn >= 3 && count(/units/*) < 2`
    #[param(min_length = 1, example = "/turn == 3")]
    when: Option<String>,
    /// A pattern of its command, such as `move *`
    command: Option<String>,
    /// The name of one of its effects
    effect: Option<String>,
    /// Why it was ignored
    reason: Option<String>,
    /// Who gave the command
    #[param(value_type = Option<String>, pattern = "^(p([1-9]|1[0-6])|host)$")]
    seat: Option<Seat>,
    /// The entry to begin after, in the viewer's numbering [default: the setup]
    after: Option<u64>,
    /// The last entry, in the viewer's numbering [default: the head]
    at: Option<u64>,
    /// List all such entries, and the setup if `when` alone is given and holds there
    #[serde(default)]
    #[param(value_type = Option<bool>)]
    all: bool,
    /// The most entries of a list [default: 100]
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// The seat to view as; only for the host
    #[serde(rename = "as")]
    #[param(value_type = Option<String>, rename = "as", pattern = "^(p([1-9]|1[0-6])|host|spectator)$")]
    viewed_by: Option<SeatName>,
}

/// What was found.
#[derive(Serialize, ToSchema)]
pub(crate) struct Found {
    /// The first entry, in the viewer's numbering; null if there is none.
    #[schema(required = true)]
    seq: Option<u64>,
    /// With `all`: all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    items: Option<Vec<FoundEntry>>,
    /// With `all`: the value of `after` for the rest; null at the end.
    next: Option<u64>,
}

/// An entry that was found.
#[derive(Serialize, ToSchema)]
pub(crate) struct FoundEntry {
    /// Its number in the viewer's numbering; 0 is the setup.
    seq: u64,
    /// The entry; null for the setup.
    #[schema(required = true, value_type = Option<documents::Record>)]
    entry: Option<Record>,
}

/// Find entries
///
/// Returns the next entry that makes the condition true in the view and fits the rest; with `all`, every such entry.
#[utoipa::path(operation_id = "find_entry", get, path = "/v1/matches/{match}/branches/{branch}/find", tag = "positions",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), FindQuery),
    responses((status = 200, description = "the entries, as text as `find` prints them; the header `Link` of a text answer names the rest", content(
        (Found = "application/json"), (String = "text/plain"))), Answered))]
pub(crate) async fn find(
    RequestTo { app, bearer, path, .. }: RequestTo<BranchPath>,
    ValidQuery(query): ValidQuery<FindQuery>,
    form: AnswerForm,
) -> ApiResult {
    let FindQuery { after, at, all, viewed_by, .. } = query;
    let limit = if all { list_limit(query.limit)? } else { 1 };
    let mut wanted = query.wanted()?;
    if !all {
        wanted.after = Some(after.unwrap_or(0));
    }
    let whole = Asked { path, seat: viewed_by, reach: Reach::Whole };
    app.read(&bearer, whole, move |app, _, BranchView { branch, viewer }| {
        let history = branch.seen_by(app, *viewer).history(at)?;
        history.require(after.unwrap_or(0))?;
        let mut survey = Survey::default();
        let mut items = Vec::new();
        // One entry more than the limit shows that others follow, so the search ends there.
        search::find(&history, &wanted, &mut survey, &mut |found| {
            items.push(FoundEntry { seq: found.seq, entry: found.entry });
            if items.len() > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if let (Some(condition), true) = (&wanted.when, items.is_empty()) {
            condition.check(&survey).map_err(|error| Problem::content(error.to_string()))?;
        }
        let is_more = items.len() > limit;
        items.truncate(limit);
        let seq = items.first().map(|found| found.seq);
        let next = items.last().map(|found| found.seq).filter(|_| is_more);
        if form == AnswerForm::Text {
            let revision = &branch.revision;
            let lines = items.iter().map(|FoundEntry { seq, entry }| {
                let entry = entry.as_ref().map_or_else(|| "setup".into(), Record::text);
                format!("{revision}:{seq} {entry}")
            });
            let mut response = text(StatusCode::OK, render::text(lines));
            if let (Some(next), true) = (next, all) {
                let query = query.rest(next, limit);
                let Revision { match_name, branch, .. } = revision;
                link_next(&mut response, &format!("/v1/matches/{match_name}/branches/{branch}/find?{query}"));
            }
            return Ok(response);
        }
        if all {
            return Ok(json(StatusCode::OK, &Found { seq, items: Some(items), next }));
        }
        Ok(json(StatusCode::OK, &serde_json::json!({ "seq": seq })))
    })
    .await
}

impl FindQuery {
    fn wanted(&self) -> ApiResult<Wanted> {
        let FindQuery { when, command, effect, reason, seat, after, .. } = self;
        let mut condition = None;
        if let Some(when) = when {
            let parsed = when.parse();
            condition = Some(parsed.map_err(|error: String| Problem::content(format!("`when`: {error}")))?);
        }
        let mut pattern = None;
        if let Some(command) = command {
            let parsed = Pattern::new(command);
            pattern = Some(parsed.map_err(|error| Problem::content(format!("`command`: {error}")))?);
        }
        // SV-67: the criteria are those of the verb.
        Ok(Wanted {
            when: condition,
            command: pattern,
            effect: effect.clone(),
            reason: reason.clone(),
            seat: *seat,
            recorded: false,
            after: *after,
        })
    }

    fn rest(&self, after: u64, limit: usize) -> String {
        let Self { when, command, effect, reason, seat, at, viewed_by, .. } = self;
        let mut rest = Vec::new();
        for (name, text) in [("when", when), ("command", command), ("effect", effect), ("reason", reason)] {
            if let Some(text) = text {
                rest.push(format!("{name}={}", utf8_percent_encode(text, NON_ALPHANUMERIC)));
            }
        }
        if let Some(seat) = seat {
            rest.push(format!("seat={seat}"));
        }
        rest.push(format!("all=true&after={after}&limit={limit}"));
        if let Some(at) = at {
            rest.push(format!("at={at}"));
        }
        if let Some(SeatName(viewer)) = viewed_by {
            rest.push(format!("as={viewer}"));
        }
        rest.join("&")
    }
}
