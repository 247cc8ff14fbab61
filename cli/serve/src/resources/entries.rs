//! Entries: reading the log, and appending to it (SV-10).

use turnfold_history::Record;
use turnfold_history::session::ScriptCommand;
use turnfold_show::render::{self, NothingPlayed};
use turnfold_store::IdempotencyKey;

use super::prelude::*;
use crate::append::{AnsweredAppend, AppendRequest, AppendedKind, COMMANDS_MAX};
use crate::documents::{AppendProblems, EntryList, Key, TagList};
use crate::http::{Tags, tag_value};

/// Which entries to read.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Range {
    /// The entry after which the list begins
    after: Option<u64>,
    /// The most entries [default: 100]
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// The seat to view as; only for the host
    #[serde(rename = "as")]
    #[param(value_type = Option<String>, rename = "as", pattern = "^(p([1-9]|1[0-6])|host|spectator)$")]
    seat: Option<SeatName>,
}

/// Read the log
#[utoipa::path(operation_id = "list_entries", get, path = "/v1/matches/{match}/branches/{branch}/entries", tag = "entries",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), Range),
    responses((status = 200, description = "the entries, as `log` prints them; the header `Link` of a text answer names the rest", content(
        (EntryList = "application/json"), (String = "text/plain"))), Looked))]
pub(crate) async fn list(
    RequestTo { app, bearer, path, .. }: RequestTo<BranchPath>,
    ValidQuery(range): ValidQuery<Range>,
    form: AnswerForm,
) -> ApiResult {
    let limit = list_limit(range.limit)?;
    app.read(&bearer, path, range.seat, Reach::Entry, move |app, _, BranchView { branch, viewer }| {
        let history = branch.seen_by(app, *viewer).history(None)?;
        let after = range.after.unwrap_or(0);
        history.require(after)?;
        let until = after.saturating_add(limit as u64);
        let head = history.head();
        let mut items = Vec::new();
        history.show(after, head.min(until), &mut |seen| items.push(seen.logged_record()))?;
        let next = if head > until { Some(until) } else { None };
        if form == AnswerForm::Json {
            return Ok(json(StatusCode::OK, &List { items, next }));
        }
        let lines = items.iter().map(|record| render::logged(record, false));
        let mut response = text(StatusCode::OK, render::text(lines));
        if let Some(next) = next {
            let seat = range.seat.map(|seat| format!("&as={}", seat.0)).unwrap_or_default();
            let Revision { match_name, branch, .. } = &branch.revision;
            link_next(
                &mut response,
                &format!(
                    "/v1/matches/{match_name}/branches/{branch}/entries?after={next}&limit={limit}{seat}"
                ),
            );
        }
        Ok(response)
    })
    .await
}

/// Commands to append.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Commands {
    /// The commands, each `[SEAT:] command` as in a script; a seat may send at most one
    #[schema(max_items = 1000, example = json!(["p1: move 2,3"]))]
    commands: Vec<String>,
    /// Whether to make rolls that fall due [default: true]
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    roll: Option<bool>,
}

/// Where to append.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Expected {
    /// Append only if this is the last entry; only for the host
    expect: Option<u64>,
}

/// What was appended.
#[derive(Serialize, ToSchema)]
pub(crate) struct Appended<'a> {
    /// The number of the last entry, in the viewer's numbering.
    head: u64,
    /// The entries, as the viewer sees them.
    #[schema(value_type = Vec<documents::RecordSchema>)]
    entries: &'a [Record],
    /// Present if nothing was played.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<documents::NothingPlayedSchema>)]
    nothing: Option<&'a NothingPlayed>,
}

/// Append commands
#[utoipa::path(operation_id = "append_entries", post, path = "/v1/matches/{match}/branches/{branch}/entries", tag = "entries",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), Expected,
        ("If-Match" = inline(TagList), Header), ("Idempotency-Key" = inline(Key), Header)),
    request_body = Commands,
    responses((status = 201, description = "the entries are on disk", headers(("ETag" = String)), content(
        (Appended = "application/json"), (String = "text/plain"))),
        (status = 200, description = "no roll was due, or the idempotency key was used before", headers(("ETag" = String)), content(
        (Appended = "application/json"), (String = "text/plain"))), AppendProblems))]
pub(crate) async fn append(
    RequestTo { app, bearer, path, .. }: RequestTo<BranchPath>,
    ValidQuery(Expected { expect }): ValidQuery<Expected>,
    form: AnswerForm,
    headers: HeaderMap,
    request: Request,
) -> ApiResult {
    // SV-12: the order is token, rate, body, seat; then, for one request at a time, key, precondition, rules, store.
    let access = app.admit(&bearer).await?;
    let commands = json_body::<Commands>(request).await?;
    let append = Arc::new(read(&access, &path, commands, &headers, expect)?);
    // From here on, the request is carried out even if the client disconnects.
    to_end(&Arc::clone(&app), async move {
        let began = Instant::now();
        let appended = append.perform(&app).await;
        if appended.is_ok() {
            app.auto_host.moved(&append.match_name);
        }
        let answered = appended.map(|appended| answer(&appended, form));
        app.metrics.append_done(began, &answered);
        answered
    })
    .await
}

fn read(
    access: &Access,
    path: &BranchPath,
    commands: Commands,
    headers: &HeaderMap,
    expect: Option<u64>,
) -> ApiResult<AppendRequest> {
    let match_name = name(&path.match_name)?;
    let viewer = access.looks(&match_name, None)?;
    let seat = access.playing_seat()?;
    let Commands { commands, roll } = commands;
    let most = if seat.is_some() { 1 } else { COMMANDS_MAX };
    if commands.len() > most {
        let detail = format!("expected at most {most} commands in one request");
        return Err(if seat.is_some() { Problem::forbidden(detail) } else { Problem::bad(detail) });
    }
    if seat.is_some() && expect.is_some() {
        return Err(Problem::forbidden("only the host can use `expect`; a seat uses `If-Match`"));
    }
    let mut lines: Vec<_> = commands.iter().map(|command| ScriptCommand::parse(command)).collect();
    if seat.is_some() {
        viewer.give(&mut lines)?;
    }
    let key = key(headers, seat)?;
    let if_match = Tags::read(headers, &header::IF_MATCH)?;
    Ok(AppendRequest {
        match_name,
        branch: name(&path.branch)?,
        viewer,
        seat,
        lines,
        rolls: roll.unwrap_or(true),
        key,
        if_match,
        expect,
    })
}

fn key(headers: &HeaderMap, seat: Option<Seat>) -> ApiResult<Option<IdempotencyKey>> {
    let mut given = headers.get_all("idempotency-key").iter();
    let Some(value) = given.next() else { return Ok(None) };
    let mut text = value.to_str().unwrap_or_default();
    if let Some(quoted) = text.strip_prefix('"') {
        text = quoted.strip_suffix('"').unwrap_or_default();
    }
    let is_key = given.next().is_none()
        && (1..=120).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic());
    // SV-14: each seat has its own keys.
    match format!("{}/{text}", seat.unwrap_or(Seat::Host)).parse() {
        Ok(key) if is_key => Ok(Some(key)),
        _ => Err(Problem::bad("expected `Idempotency-Key` to be 1 to 120 graphic ASCII characters")),
    }
}

fn answer(appended: &AnsweredAppend, form: AnswerForm) -> Response {
    let AnsweredAppend { head, records, tag, kind } = appended;
    let status = if *kind == AppendedKind::Recorded { StatusCode::CREATED } else { StatusCode::OK };
    let nothing = if let AppendedKind::Nothing(nothing) = kind { Some(nothing) } else { None };
    let mut response = match (form, nothing) {
        (AnswerForm::Json, _) => json(status, &Appended { head: *head, entries: records, nothing }),
        (AnswerForm::Text, Some(nothing)) => text(status, render::text([nothing.line()])),
        (AnswerForm::Text, None) => text(status, render::text(records.iter().map(render::record))),
    };
    response.headers_mut().insert(header::ETAG, tag_value(tag));
    if *kind == AppendedKind::Repeated {
        response.headers_mut().insert("idempotency-replayed", HeaderValue::from_static("true"));
    }
    response
}
