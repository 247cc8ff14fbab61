//! Reads of a branch for a token. Reads that fold a long log wait in a queue (SV-31).

use crate::http::name;
use crate::limits::{FoldsOf, SHORT_LOG};
use crate::prelude::*;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct BranchPath {
    #[serde(rename = "match")]
    pub(crate) match_name: String,
    pub(crate) branch: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct SeatName(pub(crate) Viewer);

impl TryFrom<String> for SeatName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self).map_err(|error: <Viewer as std::str::FromStr>::Err| error.to_string())
    }
}

/// As whom to look.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AsWhom {
    /// The seat to view as; only for the host
    #[serde(rename = "as")]
    #[param(value_type = Option<String>, rename = "as", pattern = "^(p([1-9]|1[0-6])|host|spectator)$")]
    pub(crate) seat: Option<SeatName>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Only the head state.
    Head,
    /// One entry or a few, from the nearest snapshot if there is one.
    Entry,
    /// The whole log.
    Whole,
}

impl Reach {
    pub(crate) fn of(at: Option<u64>) -> Self {
        if at.is_none() { Self::Head } else { Self::Entry }
    }
}

pub(crate) struct BranchView {
    pub(crate) branch: Arc<OpenBranch>,
    pub(crate) viewer: Viewer,
}

impl BranchView {
    pub(crate) fn find(
        app: &App,
        access: &Access,
        path: &BranchPath,
        seat: Option<SeatName>,
    ) -> ApiResult<Self> {
        let match_name = name(&path.match_name)?;
        let branch = name(&path.branch)?;
        let viewer = access.looks(&match_name, seat.map(|seat| seat.0))?;
        Ok(Self { branch: app.branch(&match_name, &branch)?, viewer })
    }

    fn is_long(&self, app: &App, reach: Reach) -> bool {
        let has_snapshots = app.store.has_snapshots() && app.outside.build.is_some();
        let folds = match reach {
            Reach::Head => false,
            Reach::Entry => !(self.viewer.sees_all() && has_snapshots),
            Reach::Whole => true,
        };
        folds && self.branch.known_head() > SHORT_LOG
    }
}

impl App {
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        bearer: &Bearer,
        path: BranchPath,
        seat: Option<SeatName>,
        reach: Reach,
        work: impl FnOnce(&Arc<Self>, &Access, &BranchView) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        // The token is checked first, so a client without one does not wait (SV-12).
        let access = self.admit(bearer).await?;
        self.read_for(access, path, seat, reach, work).await
    }

    pub(crate) async fn read_for<T: Send + 'static>(
        self: &Arc<Self>,
        access: Access,
        path: BranchPath,
        seat: Option<SeatName>,
        reach: Reach,
        work: impl FnOnce(&Arc<Self>, &Access, &BranchView) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let at_once = self.block(move |app| {
            let found = BranchView::find(app, &access, &path, seat)?;
            let is_long = found.is_long(app, reach);
            // Many short histories take as much memory as one long history.
            if is_long || reach == Reach::Whole {
                return Ok(Err((found, is_long, access, work)));
            }
            work(app, &access, &found).map(Ok)
        });
        let (found, is_long, access, work) = match at_once.await? {
            Ok(done) => return Ok(done),
            Err(long) => long,
        };
        // Refuse before making a response that could not be sent.
        self.limits.answers.require_room(access.token)?;
        let place = if is_long {
            let match_name = &found.branch.revision.match_name;
            Some(self.limits.folds.wait(FoldsOf::Token(access.token), Some(match_name)).await?)
        } else {
            None
        };
        let whole = self.limits.whole(found.branch.known_head()).await?;
        self.block(move |app| {
            let _held = (place, whole);
            work(app, &access, &found)
        })
        .await
    }

    pub(crate) async fn fold<T: Send + 'static>(
        self: &Arc<Self>,
        bearer: &Bearer,
        game: Option<MatchName>,
        work: impl FnOnce(&Arc<Self>, &Access) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let access = self.admit(bearer).await?;
        self.fold_for(FoldsOf::Token(access.token), game, move |app| work(app, &access)).await
    }

    pub(crate) async fn fold_for<T: Send + 'static>(
        self: &Arc<Self>,
        reader: FoldsOf,
        game: Option<MatchName>,
        work: impl FnOnce(&Arc<Self>) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        // Only a few folds run at once. Without a `game`, the work folds histories of many matches.
        let place = self.limits.folds.wait(reader, game.as_ref()).await?;
        self.block(move |app| {
            let _place = place;
            work(app)
        })
        .await
    }
}
