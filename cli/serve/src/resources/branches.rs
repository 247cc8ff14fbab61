//! The branches of a match, and their whole histories as far as a viewer may know them: compared, as `diff` does, and as
//! replay files, pages and frames (VW-10).

use turnfold_history::compare::compare;
use turnfold_history::{SeatHistory, SourceName};
use turnfold_show::page::PAGE_BYTES_MAX;
use turnfold_show::render::diff::{DiffDocument, lines};
use turnfold_show::render::{self, Fork, ListedBranch};
use turnfold_show::{FrameDocument, FrameLimits, Page};
use turnfold_store::BranchInfo;

use super::match_document::are_over;
use super::position::{PositionQuery, attachment};
use super::prelude::*;
use crate::append::require_not_by_mail;
use crate::documents::{AnsweredLarge, BranchList, FrameList, LookedLarge};
use crate::http::{HTML, TEXT};
use crate::limits::BRANCHES_MAX;

pub(crate) fn open_branches(
    app: &App,
    match_name: &MatchName,
) -> ApiResult<Vec<(BranchInfo, Arc<OpenBranch>)>> {
    let mut branches = Vec::new();
    for info in app.store.branches(match_name)? {
        match app.branch(match_name, &info.name) {
            Ok(open) => branches.push((info, open)),
            Err(problem) if problem.code() == ProblemCode::NotFound => {}
            Err(problem) => return Err(problem),
        }
    }
    Ok(branches)
}

fn listed(app: &Arc<App>, access: &Access, match_name: &MatchName) -> ApiResult<Vec<ListedBranch>> {
    let viewer = access.looks(match_name, None)?;
    let current = current_branch(app, match_name)?;
    let mut listed = Vec::new();
    for (info, open) in open_branches(app, match_name)? {
        let mut branch = ListedBranch::of(info, &current);
        if !viewer.sees_all() {
            branch.entries = open.seen_by(app, viewer).head()?;
            branch.link = None;
            if let Some(Fork { branch: parent, seq }) = &mut branch.from {
                *seq = app.branch(match_name, parent)?.seen_by(app, viewer).entries()?.known_within(*seq);
            }
        }
        listed.push(branch);
    }
    Ok(listed)
}

/// List the branches
#[utoipa::path(operation_id = "list_branches", get, path = "/v1/matches/{match}/branches", tag = "branches", params(("match" = inline(Name), Path)),
    responses((status = 200, description = "the branches, as `branch` prints them", content(
        (BranchList = "application/json"), (String = "text/plain"))), Looked))]
pub(crate) async fn list(
    RequestTo { app, bearer, path: match_name, .. }: RequestTo<String>,
    form: AnswerForm,
    _: ValidQuery<NoParameters>,
) -> ApiResult {
    let match_name: MatchName = name(&match_name)?;
    app.fold(&bearer, Some(match_name.clone()), move |app, access| {
        let items = listed(app, access, &match_name)?;
        Ok(match form {
            AnswerForm::Json => json(StatusCode::OK, &List { items, next: None::<String> }),
            AnswerForm::Text => text(StatusCode::OK, render::text(render::branches::lines(&items))),
        })
    })
    .await
}

/// A new branch.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewBranch {
    /// The name: a-z, 0-9, `.`, `_` and `-`, at most 64 characters
    #[schema(pattern = "^[a-z0-9][a-z0-9._-]{0,63}$")]
    name: String,
    /// The branch and entry after which it begins, such as `main:6`; the head if no entry is named
    #[schema(pattern = "^[a-z0-9][a-z0-9._-]{0,63}(:(0|[1-9][0-9]{0,17}))?$", example = "main:6")]
    from: String,
}

/// Create a branch
#[utoipa::path(operation_id = "create_branch", post, path = "/v1/matches/{match}/branches", tag = "branches", params(("match" = inline(Name), Path)),
    request_body = NewBranch,
    responses((status = 201, description = "the branch was created", headers(("Location" = String)), body = documents::BranchSchema), Changed))]
pub(crate) async fn create(
    RequestTo { app, bearer, path: match_name, .. }: RequestTo<String>,
    _: ValidQuery<NoParameters>,
    request: Request,
) -> ApiResult {
    let (access, match_name) = app.admit_to(&bearer, &match_name).await?;
    access.require_host(&match_name)?;
    let new = json_body::<NewBranch>(request).await?;
    app.block(move |app| {
        let branch: BranchName = name(&new.name)?;
        let Revision { branch: parent, seq, .. } = branch_point(&match_name, &new.from)?;
        let seq = seq.map_or_else(|| app.store.head(&match_name, &parent), Ok)?;
        let branches = app.store.branches(&match_name)?;
        if branches.len() >= BRANCHES_MAX && branches.iter().all(|info| info.name != branch) {
            return Err(Problem::slow_down(format!("a match has at most {BRANCHES_MAX} branches")));
        }
        app.store.create_branch(&match_name, &branch, &parent, seq, Vec::new())?;
        let made = listed(app, &access, &match_name)?.into_iter().find(|listed| listed.branch == branch);
        Ok(created(&made, &format!("/v1/matches/{match_name}/branches/{branch}")))
    })
    .await
}

fn branch_point(match_name: &MatchName, text: &str) -> ApiResult<Revision> {
    // `text` is `BRANCH[:SEQ]`.
    name(&format!("{match_name}@{text}"))
}

/// Delete a branch
#[utoipa::path(operation_id = "delete_branch", delete, path = "/v1/matches/{match}/branches/{branch}", tag = "branches",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path)),
    responses((status = 204, description = "the branch was deleted"), Deleted))]
pub(crate) async fn delete(
    RequestTo { app, bearer, path, .. }: RequestTo<BranchPath>,
    _: ValidQuery<NoParameters>,
) -> ApiResult {
    let open = app.serve(bearer, move |app, access| {
        let match_name = name(&path.match_name)?;
        let branch = name(&path.branch)?;
        access.require_host(&match_name)?;
        app.branch(&match_name, &branch)
    });
    let open = open.await?;
    to_end(&Arc::clone(&app), async move {
        let turn = open.turn().await?;
        app.block(move |app| {
            let _turn = turn;
            open.require_there()?;
            require_not_by_mail(app, &open.revision)?;
            let Revision { match_name, branch, .. } = &open.revision;
            if !branch.is_main() && current_branch(app, match_name)? == *branch {
                let detail = format!("the match continues on branch `{branch}`");
                return Err(Problem::new(ProblemCode::BranchInUse, detail));
            }
            app.store.delete_branch(match_name, branch)?;
            app.branches.forget(&open);
            Ok(StatusCode::NO_CONTENT.into_response())
        })
        .await
    })
    .await
}

/// Lines of context around commands that differ, as `diff` has them.
const CONTEXT: usize = 3;

/// What to compare with.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct With {
    /// The other history, `BRANCH[:SEQ]`
    #[param(pattern = "^[a-z0-9][a-z0-9._-]{0,63}(:(0|[1-9][0-9]{0,17}))?$", example = "main:9")]
    with: String,
    /// The last entry [default: the head]
    at: Option<u64>,
}

fn require_all(app: &Arc<App>, access: &Access, match_name: &MatchName) -> ApiResult<()> {
    let viewer = access.looks(match_name, None)?;
    // SV-9: once the match is over, every viewer may know everything.
    if access.is_host() || are_over(app, viewer, &open_branches(app, match_name)?)? {
        return Ok(());
    }
    Err(Problem::forbidden("only the host may see everything until every branch of the match is over"))
}

/// Compare two histories
#[utoipa::path(operation_id = "compare_histories", get, path = "/v1/matches/{match}/branches/{branch}/diff", tag = "branches",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), With),
    responses((status = 200, description = "the differences, as `diff` prints them", content(
        (documents::ComparisonSchema = "application/json"), (String = "text/plain"))), Looked))]
pub(crate) async fn diff(
    RequestTo { app, bearer, path, .. }: RequestTo<BranchPath>,
    ValidQuery(asked): ValidQuery<With>,
    form: AnswerForm,
) -> ApiResult {
    let match_name: MatchName = name(&path.match_name)?;
    app.fold(&bearer, Some(match_name.clone()), move |app, access| {
        require_all(app, access, &match_name)?;
        let mut revision = branch_point(&match_name, &path.branch)?;
        revision.seq = asked.at;
        let other = branch_point(&match_name, &asked.with)?;
        let seat_history =
            |revision| SeatHistory::load(Viewer::HOST, &SourceName::Revision(revision), &**app);
        let a = seat_history(revision)?;
        let b = seat_history(other)?;
        let comparison = compare(&a, &b, &[], CONTEXT)?;
        Ok(match form {
            AnswerForm::Json => json(StatusCode::OK, &DiffDocument::of(&comparison, [&a, &b])?),
            AnswerForm::Text => text(StatusCode::OK, render::text(lines(&comparison))),
        })
    })
    .await
}

/// Where a file ends.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Until {
    /// The last entry [default: the head]
    at: Option<u64>,
    /// Only what the viewer may know, as `export --as` writes it; allowed for every viewer of the match
    #[serde(default)]
    #[param(value_type = Option<bool>)]
    view: bool,
    /// With `view`: the seat to view as; only for the host
    #[serde(rename = "as")]
    #[param(value_type = Option<String>, rename = "as", pattern = "^(p([1-9]|1[0-6])|host|spectator)$")]
    seat: Option<SeatName>,
}

/// Get the replay file
#[utoipa::path(operation_id = "get_replay_file", get, path = "/v1/matches/{match}/branches/{branch}/replay.tfl", tag = "files",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), Until),
    responses((status = 200, description = "the replay file, as `export` writes it", body = String, content_type = "text/plain"), AnsweredLarge))]
pub(crate) async fn replay(
    RequestTo { app, bearer, path, .. }: RequestTo<BranchPath>,
    ValidQuery(Until { at, view, seat }): ValidQuery<Until>,
    headers: HeaderMap,
) -> ApiResult {
    require_accepted(&headers, TEXT)?;
    if view {
        return app
            .read(&bearer, path, seat, Reach::Whole, move |app, _, BranchView { branch, viewer }| {
                let replay = branch.seen_by(app, *viewer).history(at)?.to_replay()?;
                let file = format!("{}.tfl", branch.revision.match_name);
                Ok(attachment(typed(StatusCode::OK, TEXT, replay.to_string()), &file))
            })
            .await;
    }
    if seat.is_some() {
        return Err(Problem::content("`as` needs `view=true`: the whole file is no seat's"));
    }
    let match_name: MatchName = name(&path.match_name)?;
    app.fold(&bearer, Some(match_name.clone()), move |app, access| {
        require_all(app, access, &match_name)?;
        let branch = app.branch(&match_name, &name(&path.branch)?)?;
        let replay = branch.seen_by(app, Viewer::HOST).history(at)?.to_replay()?;
        Ok(attachment(typed(StatusCode::OK, TEXT, replay.to_string()), &format!("{match_name}.tfl")))
    })
    .await
}

/// Get a page that shows the game
#[utoipa::path(operation_id = "get_replay_page", get, path = "/v1/matches/{match}/branches/{branch}/replay.html", tag = "files",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), PositionQuery),
    responses((status = 200, description = "the page, as `export --html` writes it", body = String, content_type = "text/html"), LookedLarge))]
pub(crate) async fn page(
    RequestTo { app, bearer, path, .. }: RequestTo<BranchPath>,
    ValidQuery(at): ValidQuery<PositionQuery>,
    headers: HeaderMap,
) -> ApiResult {
    require_accepted(&headers, HTML)?;
    app.read(&bearer, path, at.seat, Reach::Whole, move |app, _, BranchView { branch, viewer }| {
        let page = Page::of(branch.seen_by(app, *viewer).history(at.at)?, None, PAGE_BYTES_MAX)?;
        let file = format!("{}.html", branch.revision.match_name);
        Ok(attachment(typed(StatusCode::OK, HTML, page.html), &file))
    })
    .await
}

/// Which frames.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Frames {
    /// The entry after which the frames begin, in the viewer's numbering
    after: Option<u64>,
    /// The most entries, taken from the end [default: all]
    #[param(minimum = 1, maximum = 1000)]
    last: Option<u64>,
    /// The last entry, in the viewer's numbering [default: the head]
    at: Option<u64>,
    /// The seat to view as; only for the host
    #[serde(rename = "as")]
    #[param(value_type = Option<String>, rename = "as", pattern = "^(p([1-9]|1[0-6])|host|spectator)$")]
    seat: Option<SeatName>,
}

#[derive(Serialize)]
struct Served {
    #[serde(flatten)]
    frames: FrameDocument,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<String>,
}

/// Get frames
#[utoipa::path(operation_id = "list_frames", get, path = "/v1/matches/{match}/branches/{branch}/frames", tag = "positions",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), Frames),
    responses((status = 200, description = "a picture, and the changes that each entry makes to it", body = FrameList), Looked))]
pub(crate) async fn frames(
    RequestTo { app, bearer, path, .. }: RequestTo<BranchPath>,
    JsonQuery(asked): JsonQuery<Frames>,
) -> ApiResult {
    let last = match asked.last {
        Some(last) => Some(list_limit(Some(last))?),
        None => None,
    };
    app.read(&bearer, path, asked.seat, Reach::Whole, move |app, _, BranchView { branch, viewer }| {
        // A client that follows from these frames on sends this id, as if an event had brought the frames.
        let event_id = match asked.at {
            None => Some(branch.seen_by(app, *viewer).event_id(branch.head(app)?)?),
            Some(_) => None,
        };
        let history = branch.seen_by(app, *viewer).history(asked.at)?;
        let before_last = last.map_or(0, |last| history.head().saturating_sub(last as u64));
        let after = asked.after.unwrap_or(0).max(before_last);
        let frames = FrameDocument::of(&history, after, FrameLimits::SERVED)?;
        let event_id = event_id.map(|id| id.to_string());
        Ok(json(StatusCode::OK, &Served { frames, event_id }))
    })
    .await
}
