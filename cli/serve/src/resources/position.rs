//! Views, legal commands and questions at an entry, as `show`, `legal` and `ask` print them; entries found, as `find`
//! and `w` of `replay --step` do (VW-58, SV-67); and trials of commands on what a viewer knows, of which nothing is
//! recorded (VW-46).

use std::ops::ControlFlow;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use turnfold_history::Record;
use turnfold_history::search::{self, Pattern, Survey, Wanted};
use turnfold_history::session::{RejectedCommand, Roller, ScriptCommand};
use turnfold_show::drawing::{Highlights, svg};
use turnfold_show::{FrameLimits, render};

use super::prelude::*;
use crate::documents::{Answered, AnsweredLarge, LegalCommandList, TagList, TrialProblems, View};
use crate::http::{SVG, TEXT, Tags, given_number, json_text, tag_value};
use crate::limits::ANSWER_BYTES_MAX;
use crate::open_branch::CachedView;
use crate::reading::AsWhom;

/// What to look at, and who the viewer is.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PositionQuery {
    /// The entry to look at, in the viewer's numbering [default: the head]
    pub(super) at: Option<u64>,
    /// The seat to view as; only for the host
    #[serde(rename = "as")]
    #[param(value_type = Option<String>, rename = "as", pattern = "^(p([1-9]|1[0-6])|host|spectator)$")]
    pub(super) seat: Option<SeatName>,
}

fn in_memory(app: &App, access: &Access, path: &BranchPath, at: PositionQuery) -> Option<CachedView> {
    // If other services write to the store, it is asked first (FL-18).
    if app.store.is_shared() {
        return None;
    }
    let match_name = name(&path.match_name).ok()?;
    let branch = name(&path.branch).ok()?;
    let viewer = access.looks(&match_name, at.seat.map(|seat| seat.0)).ok()?;
    at.at.is_none().then(|| app.branches.in_use(&match_name, &branch))??.shown_in_memory(viewer)
}

/// Adds the tag of an answer. A client that knows the answer does not get it again.
pub(super) fn tagged(answer: Response, tag: &str, known: Option<&Tags>) -> Response {
    let is_known = known.is_some_and(|known| known.hold(tag, true));
    let mut response = if is_known { StatusCode::NOT_MODIFIED.into_response() } else { answer };
    response.headers_mut().insert(header::ETAG, tag_value(tag));
    response
}

/// See the position
#[utoipa::path(operation_id = "get_view", get, path = "/v1/matches/{match}/branches/{branch}/view", tag = "positions",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), PositionQuery, ("If-None-Match" = inline(TagList), Header)),
    responses((status = 200, description = "the view, as `show` prints it", headers(("ETag" = String)), content(
        (View = "application/json"), (String = "text/plain"))),
        (status = 304, description = "nothing has changed for this viewer"), Looked))]
pub(crate) async fn view(
    RequestTo { app, bearer, path, .. }: RequestTo<BranchPath>,
    ValidQuery(at): ValidQuery<PositionQuery>,
    form: AnswerForm,
    headers: HeaderMap,
) -> ApiResult {
    let known = Tags::read(&headers, &header::IF_NONE_MATCH)?;
    let access = app.admit(&bearer).await?;
    if form == AnswerForm::Json
        && let Some(shown) = in_memory(&app, &access, &path, at)
    {
        return Ok(tagged(typed(StatusCode::OK, JSON, shown.json), &shown.tag, known.as_ref()));
    }
    // The text includes the result and the turn, which may need more of the log than the view.
    let reach = if form == AnswerForm::Text { Reach::Entry } else { Reach::of(at.at) };
    app.read_for(access, path, at.seat, reach, move |app, _, BranchView { branch, viewer }| {
        let looking = branch.seen_by(app, *viewer);
        if form == AnswerForm::Json {
            let shown = match at.at {
                None => branch.current(app, |current| current.shown(*viewer))?,
                Some(_) => CachedView::of(*viewer, looking.state(at.at)?.as_ref()),
            };
            return Ok(tagged(typed(StatusCode::OK, JSON, shown.json), &shown.tag, known.as_ref()));
        }
        let state = looking.state(at.at)?;
        let shown = CachedView::of(*viewer, state.as_ref());
        let picture = render::picture(&viewer.picture(state.as_ref()), &Highlights::default());
        let standing = looking.standing(at.at, state.as_ref())?;
        let drawn = render::text(picture) + &render::text(render::standing(&standing));
        Ok(tagged(text(StatusCode::OK, drawn), &shown.tag, known.as_ref()))
    })
    .await
}

/// Get a picture of the position
#[utoipa::path(operation_id = "get_picture", get, path = "/v1/matches/{match}/branches/{branch}/picture.svg", tag = "positions",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), PositionQuery),
    responses((status = 200, description = "the picture, as `show --format svg` prints it", body = String,
        content_type = "image/svg+xml"), Looked))]
pub(crate) async fn picture(
    RequestTo { app, bearer, path, .. }: RequestTo<BranchPath>,
    ValidQuery(at): ValidQuery<PositionQuery>,
    headers: HeaderMap,
) -> ApiResult {
    require_accepted(&headers, SVG)?;
    app.read(&bearer, path, at.seat, Reach::of(at.at), move |app, _, BranchView { branch, viewer }| {
        let state = branch.seen_by(app, *viewer).state(at.at)?;
        let picture = svg::document(&viewer.picture(state.as_ref()), &Highlights::default());
        Ok(attachment(typed(StatusCode::OK, SVG, picture), "picture.svg"))
    })
    .await
}

pub(crate) fn attachment(mut response: Response, file: &str) -> Response {
    let disposition = format!("attachment; filename=\"{file}\"");
    if let Ok(disposition) = HeaderValue::from_str(&disposition) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, disposition);
    }
    response
}

/// List the legal commands
#[utoipa::path(operation_id = "list_legal_commands", get, path = "/v1/matches/{match}/branches/{branch}/legal", tag = "positions",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), PositionQuery),
    responses((status = 200, description = "the commands, as `legal` prints them", content(
        (LegalCommandList = "application/json"), (String = "text/plain"))), AnsweredLarge))]
pub(crate) async fn legal(
    RequestTo { app, bearer, path, .. }: RequestTo<BranchPath>,
    ValidQuery(at): ValidQuery<PositionQuery>,
    form: AnswerForm,
) -> ApiResult {
    app.read(&bearer, path, at.seat, Reach::of(at.at), move |app, _, BranchView { branch, viewer }| {
        let state = branch.seen_by(app, *viewer).state(at.at)?;
        // An empty list would mean that there is nothing to do.
        if !state.lists_legal() {
            return Err(Problem::content("nothing lists legal commands here; a referee offers `legal`"));
        }
        // The host gets the commands of every seat unless it names one (SV-8).
        let asked = at.seat.map(|seat| seat.0).or((!viewer.sees_all()).then_some(*viewer));
        let items = render::legal_commands(asked, *viewer, state.as_ref());
        match form {
            AnswerForm::Text => bounded(TEXT, render::text(items.iter().map(render::LegalCommand::line))),
            AnswerForm::Json => bounded(JSON, json_text(&List { items, next: None::<String> })),
        }
    })
    .await
}

/// A question about a position.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AskQuery {
    /// The question, such as `reach atlas`
    q: String,
    /// The entry to look at, in the viewer's numbering [default: the head]
    at: Option<u64>,
    /// The seat to view as; only for the host
    #[serde(rename = "as")]
    #[param(value_type = Option<String>, rename = "as", pattern = "^(p([1-9]|1[0-6])|host|spectator)$")]
    seat: Option<SeatName>,
}

/// Ask the rules a question
#[utoipa::path(operation_id = "ask_question", get, path = "/v1/matches/{match}/branches/{branch}/ask", tag = "positions",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), AskQuery),
    responses((status = 200, description = "the answer, as `ask` prints it; its form is the ruleset's", content(
        (inline(serde_json::Value) = "application/json"), (String = "text/plain"))), AnsweredLarge))]
pub(crate) async fn ask(
    RequestTo { app, bearer, path, .. }: RequestTo<BranchPath>,
    ValidQuery(AskQuery { q, at, seat }): ValidQuery<AskQuery>,
    form: AnswerForm,
) -> ApiResult {
    app.read(&bearer, path, seat, Reach::of(at), move |app, _, BranchView { branch, viewer }| {
        let state = branch.seen_by(app, *viewer).state(at)?;
        let answer = viewer.ask(state.as_ref(), &q).map_err(|error| Problem::content(error.to_string()))?;
        match form {
            AnswerForm::Text => bounded(TEXT, render::text([render::answer(&answer)])),
            AnswerForm::Json => bounded(JSON, json_text(&answer.json)),
        }
    })
    .await
}

fn bounded(media_type: &'static str, body: String) -> ApiResult {
    if body.len() <= ANSWER_BYTES_MAX {
        Ok(typed(StatusCode::OK, media_type, body))
    } else {
        Err(too_large())
    }
}

fn too_large() -> Problem {
    Problem::new(ProblemCode::TooLarge, format!("the answer is larger than {ANSWER_BYTES_MAX} bytes"))
}

/// The most commands of a trial, rolls included.
const TRIAL_COMMANDS_MAX: usize = 500;

const TRIAL_LIMITS: FrameLimits = FrameLimits { frames_max: usize::MAX, bytes_max: ANSWER_BYTES_MAX };

/// Commands to try out.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrialCommands {
    /// The entry to begin after, in the viewer's numbering [default: the head]
    #[serde(default, deserialize_with = "given_number")]
    #[schema(nullable = false)]
    after: Option<u64>,
    /// The commands of any seats, each `[SEAT:] command` as in a script, and rolls as in an earlier response
    #[schema(max_items = 500, example = json!(["p1: move 2,3"]))]
    commands: Vec<String>,
    /// Whether to make rolls that fall due, with fresh dice [default: true]
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    roll: Option<bool>,
}

/// Try out commands
///
/// They continue the match as `export --as` writes it for the viewer, so that no secret and no roll of a seed can be tried
/// out. Nothing is recorded.
#[utoipa::path(operation_id = "try_commands", post, path = "/v1/matches/{match}/branches/{branch}/trial", tag = "positions",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), AsWhom), request_body = TrialCommands,
    responses((status = 200, description = "what the viewer would see", body = documents::TrialSchema), TrialProblems))]
pub(crate) async fn try_out(
    RequestTo { app, bearer, path, .. }: RequestTo<BranchPath>,
    JsonQuery(AsWhom { seat }): JsonQuery<AsWhom>,
    request: Request,
) -> ApiResult {
    let access = app.admit(&bearer).await?;
    let TrialCommands { after, commands, roll } = json_body(request).await?;
    if commands.len() > TRIAL_COMMANDS_MAX {
        return Err(Problem::bad(format!("expected at most {TRIAL_COMMANDS_MAX} commands in a trial")));
    }
    let lines: Vec<_> = commands.iter().map(|command| ScriptCommand::parse(command)).collect();
    app.read_for(access, path, seat, Reach::Whole, move |app, _, BranchView { branch, viewer }| {
        let history = branch.seen_by(app, *viewer).history(after)?;
        let roller = if roll.unwrap_or(true) { Roller::Outside(app.outside.roll) } else { Roller::Absent };
        match turnfold_show::try_out(history, &lines, roller, TRIAL_LIMITS)? {
            Ok(trial) if trial.frames.next.is_some() => Err(too_large()),
            Ok(trial) => Ok(json(StatusCode::OK, &trial)),
            Err(RejectedCommand { index, record, reason }) => {
                Err(Problem::of_command(reason.to_string(), index, *record))
            }
        }
    })
    .await
}

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
    items: Option<Vec<FoundEntryJson>>,
    /// With `all`: the value of `after` for the rest; null at the end.
    next: Option<u64>,
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
    app.read(&bearer, path, viewed_by, Reach::Whole, move |app, _, BranchView { branch, viewer }| {
        let history = branch.seen_by(app, *viewer).history(at)?;
        history.require(after.unwrap_or(0))?;
        let mut survey = Survey::default();
        let mut items = Vec::new();
        // One entry more than the limit shows that others follow, so the search ends there.
        search::find(&history, &wanted, &mut survey, &mut |found| {
            items.push(FoundEntryJson { seq: found.seq, entry: found.entry });
            if items.len() > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if items.is_empty() {
            survey.check().map_err(|error| Problem::content(error.to_string()))?;
        }
        let mut next = None;
        if items.len() > limit {
            items.truncate(limit);
            next = items.last().map(|found| found.seq);
        }
        let seq = items.first().map(|found| found.seq);
        if form == AnswerForm::Text {
            let revision = &branch.revision;
            let lines = items.iter().map(|FoundEntryJson { seq, entry }| {
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
