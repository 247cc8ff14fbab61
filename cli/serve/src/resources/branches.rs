//! The branches of a match.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use serde::Deserialize;
use turnfold_history::Revision;
use turnfold_show::render::{self, ListedBranch};
use turnfold_store::{BranchInfo, BranchName, MatchName};
use utoipa::ToSchema;

use super::statuses::{Changed, Deleted, Looked, Name};
use crate::app::{App, to_end};
use crate::append::require_not_by_mail;
use crate::auth::{Access, Bearer};
use crate::documents::{self, BranchList};
use crate::http::{AnswerForm, List, NoParameters, ValidQuery, created, json, json_body, name, text};
use crate::limits::BRANCHES_MAX;
use crate::open_branch::OpenBranch;
use crate::problem::{ApiResult, Problem, ProblemCode};
use crate::reading::BranchPath;
use crate::takeback::current_branch;

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
            if let Some((parent, from)) = &mut branch.from {
                *from = app.branch(match_name, parent)?.seen_by(app, viewer).entries()?.known_within(*from);
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
    State(app): State<Arc<App>>,
    bearer: Bearer,
    Path(match_name): Path<String>,
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
#[schema(as = NewBranch)]
pub(crate) struct NewBranchBody {
    /// The name: a-z, 0-9, `.`, `_` and `-`, at most 64 characters
    #[schema(pattern = "^[a-z0-9][a-z0-9._-]{0,63}$")]
    name: String,
    /// The branch and entry after which it begins, such as `main:6`; the head if no entry is named
    #[schema(pattern = "^[a-z0-9][a-z0-9._-]{0,63}(:(0|[1-9][0-9]{0,17}))?$", example = "main:6")]
    from: String,
}

/// Create a branch
#[utoipa::path(operation_id = "create_branch", post, path = "/v1/matches/{match}/branches", tag = "branches", params(("match" = inline(Name), Path)),
    request_body = NewBranchBody,
    responses((status = 201, description = "the branch was created", headers(("Location" = String)), body = documents::ListedBranch), Changed))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    Path(match_name): Path<String>,
    _: ValidQuery<NoParameters>,
    request: Request,
) -> ApiResult {
    let access = app.admit(&bearer).await?;
    let match_name: MatchName = name(&match_name)?;
    access.require_host(&match_name)?;
    let new = json_body::<NewBranchBody>(request).await?;
    app.block(move |app| {
        let branch: BranchName = name(&new.name)?;
        let Revision { branch: parent, seq, .. } = branch_point(&match_name, &new.from)?;
        let seq = seq.map_or_else(|| app.store.head(&match_name, &parent), Ok)?;
        let branches = app.store.branches(&match_name)?;
        if branches.len() >= BRANCHES_MAX && branches.iter().all(|info| info.name != branch) {
            return Err(Problem::new(
                ProblemCode::SlowDown,
                format!("a match has at most {BRANCHES_MAX} branches"),
            ));
        }
        app.store.create_branch(&match_name, &branch, &parent, seq, Vec::new())?;
        let made = listed(app, &access, &match_name)?.into_iter().find(|listed| listed.branch == branch);
        Ok(created(&made, &format!("/v1/matches/{match_name}/branches/{branch}")))
    })
    .await
}

pub(crate) fn branch_point(match_name: &MatchName, text: &str) -> ApiResult<Revision> {
    // `text` is `BRANCH[:SEQ]`.
    name(&format!("{match_name}@{text}"))
}

/// Delete a branch
#[utoipa::path(operation_id = "delete_branch", delete, path = "/v1/matches/{match}/branches/{branch}", tag = "branches",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path)),
    responses((status = 204, description = "the branch was deleted"), Deleted))]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    Path(path): Path<BranchPath>,
    _: ValidQuery<NoParameters>,
) -> ApiResult {
    let (open, names) = app
        .serve(bearer, move |app, access| {
            let match_name = name(&path.match_name)?;
            let branch = name(&path.branch)?;
            access.require_host(&match_name)?;
            Ok((app.branch(&match_name, &branch)?, (match_name, branch)))
        })
        .await?;
    to_end(&Arc::clone(&app), async move {
        let turn = open.turn().await?;
        app.block(move |app| {
            let _turn = turn;
            open.require_there()?;
            require_not_by_mail(app, &open.revision)?;
            if !names.1.is_main() && current_branch(app, &names.0)? == names.1 {
                let detail = format!("the match continues on branch `{}`", names.1);
                return Err(Problem::new(ProblemCode::BranchInUse, detail));
            }
            app.store.delete_branch(&names.0, &names.1)?;
            app.branches.forget(&open);
            Ok(StatusCode::NO_CONTENT.into_response())
        })
        .await
    })
    .await
}
