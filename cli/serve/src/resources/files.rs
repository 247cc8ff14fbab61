//! Whole histories, as far as a viewer may know them: replay files, pages and frames (VW-10).

use turnfold_show::page::PAGE_BYTES_MAX;
use turnfold_show::{FrameDocument, FrameLimits, Page};

use super::branches::require_all;
use super::position::{PositionQuery, attachment};
use super::prelude::*;
use crate::documents::{AnsweredLarge, FrameList, LookedLarge};
use crate::http::{HTML, TEXT};

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
