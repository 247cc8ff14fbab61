//! The stream of a branch: what a viewer learns, as it happens (SV-17 to SV-20).

use std::io;

use tokio::sync::{mpsc, watch};
use tokio::time::sleep_until;

use super::prelude::*;
use crate::documents::{Document, EventIdText, Followed};
use crate::http::body_of_parts;
use crate::knowledge::{Delta, EventId, Resumed};
use crate::limits::{FoldsOf, StreamPlace};
use crate::open_branch::Following;
use crate::takeback::has_left;

const EVENTS: &str = "text/event-stream";

/// The beginning of a stream: a comment, so that proxies pass it on, and how soon to reconnect.
const BEGINNING: &str = ": turnfold\nretry: 2000\n\n";

/// What is sent when nothing has happened, and how often, so that no proxy closes the stream.
const COMMENT: &str = ":\n\n";
const COMMENT_EVERY: Duration = Duration::from_secs(15);

/// The longest single wait for the end of a grant.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Where to begin.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FollowQuery {
    /// The id of the last known event, or the known head in the viewer's numbering [default: the present head]
    #[param(value_type = Option<String>, pattern = "^(0|[1-9][0-9]{0,17})(-[0-9a-f]{16})?$")]
    after: Option<String>,
    /// The seat to view as; only for the host
    #[serde(rename = "as")]
    #[param(value_type = Option<String>, rename = "as", pattern = "^(p([1-9]|1[0-6])|host|spectator)$")]
    seat: Option<SeatName>,
}

/// Follow a branch
///
/// A browser's `EventSource` sends no `Authorization`, so a page reads the stream with `fetch`:
///
/// ```js
/// const answer = await fetch(path, { headers: { accept: "text/event-stream", authorization: `Bearer ${token}` } });
/// for await (const part of answer.body.pipeThrough(new TextDecoderStream())) read(part);
/// ```
///
/// The id of an event names the history as well as its head. A client that reconnects sends the last id as
/// `Last-Event-ID` or as `after`. If another history has replaced that one, the response is 410 `gone`.
#[utoipa::path(operation_id = "follow_branch", get, path = "/v1/matches/{match}/branches/{branch}/events", tag = "entries",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), FollowQuery, ("Last-Event-ID" = inline(EventIdText), Header)),
    responses((status = 200, description = "a stream of events: `entries` with new entries (`EntriesEvent`), `match` when the match continues on another branch or a player asks to take back (`MatchEvent`), `gone` when the branch was deleted, `bye` when the service shuts down", body = inline(Document),
        content_type = "text/event-stream"), Followed))]
pub(crate) async fn follow(
    RequestTo { app, bearer, path, .. }: RequestTo<BranchPath>,
    ValidQuery(asked): ValidQuery<FollowQuery>,
    headers: HeaderMap,
) -> ApiResult {
    require_accepted(&headers, EVENTS)?;
    let last = headers.get("last-event-id").filter(|value| !value.is_empty());
    let after = match (last, &asked.after) {
        (Some(last), _) => Some(event_id(last.to_str().unwrap_or_default(), "Last-Event-ID")?),
        (None, Some(text)) => Some(event_id(text, "after")?),
        (None, None) => None,
    };
    let id = after.clone();
    let begun = app.serve(bearer.clone(), move |app, access| {
        let place = app.limits.stream(access.token, access.grant())?;
        let BranchView { branch, viewer } = BranchView::find(app, access, &path, asked.seat)?;
        let from = match &id {
            None => Resumed::Behind(branch.head(app)?),
            Some(id) => branch.seen_by(app, viewer).resume(id, false)?,
        };
        let expires_at_ms = access.grant().and_then(|grant| grant.expires_at_ms);
        let accord = app.accords.watch(&branch.revision.match_name);
        // A client that follows a branch that the match left does not know that yet.
        let sends_match = has_left(app, &branch)?;
        let bearer = bearer.admitted();
        let following = Following::new(branch);
        let stream = Stream { following, viewer, from: 0, place, bearer, expires_at_ms, accord, sends_match };
        Ok((stream, from))
    });
    let (mut stream, from) = begun.await?;
    let from = match (from, &after) {
        (Resumed::Folds(_), Some(id)) => stream.resume(&app, id).await?,
        (from, _) => from,
    };
    match (from, after) {
        (Resumed::Behind(from), _) => stream.from = from,
        (_, Some(EventId { head, mark: None })) => {
            let detail =
                format!("there is no entry {head} yet or any more; start again without `Last-Event-ID`");
            return Err(Problem::new(ProblemCode::NoEntry, detail));
        }
        (_, after) => {
            let seen = after.map_or(0, |after| after.head);
            let detail = format!(
                "another history took the place of the one with entry {seen}; read it and start again without `Last-Event-ID`"
            );
            return Err(Problem::new(ProblemCode::Gone, detail));
        }
    }
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(stream.run(Arc::clone(&app), sender));
    let mut response = typed(StatusCode::OK, EVENTS, body_of_parts(None, receiver));
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

fn event_id(text: &str, given_as: &str) -> ApiResult<EventId> {
    text.parse().map_err(|()| {
        Problem::bad(format!("expected `{given_as}` to be the id of an event or a number of entries"))
    })
}

struct Stream {
    following: Following,
    viewer: Viewer,
    /// SV-17: of the events, only the last head that was sent is remembered, in the log's numbering.
    from: u64,
    place: StreamPlace,
    bearer: Bearer,
    expires_at_ms: Option<i64>,
    /// Notified of changes of the match's accord.
    accord: watch::Receiver<u64>,
    /// Whether to send the current branch of the match.
    sends_match: bool,
}

enum End {
    /// With a last event.
    With(&'static str),
    /// Without a last event: the client has gone, or may not read it.
    Silently,
}

impl Stream {
    async fn resume(&self, app: &Arc<App>, id: &EventId) -> ApiResult<Resumed> {
        let branch = &self.following.0;
        let viewer = self.viewer;
        // SV-31: if several streams resume together, one does the work, and the others use its result.
        let _first = branch.following.lock().await;
        let at_hand = {
            let branch = Arc::clone(branch);
            let id = id.clone();
            app.block(move |app| branch.seen_by(app, viewer).resume(&id, false)).await
        };
        if !matches!(at_hand, Ok(Resumed::Folds(_))) {
            return at_hand;
        }
        let match_name = branch.revision.match_name.clone();
        let branch = Arc::clone(branch);
        let id = id.clone();
        let work = move |app: &Arc<App>| branch.seen_by(app, viewer).resume(&id, true);
        app.fold_for(FoldsOf::Token(self.place.token), Some(match_name), work).await
    }

    async fn run(mut self, app: Arc<App>, sender: mpsc::Sender<io::Result<Bytes>>) {
        if let End::With(event) = self.send_events(&app, &sender).await {
            let last = format!("event: {event}\ndata: {{}}\n\n");
            let _ = sender.send(Ok(last.into())).await;
        }
        drop(self.place);
    }

    async fn send_events(&mut self, app: &Arc<App>, sender: &mpsc::Sender<io::Result<Bytes>>) -> End {
        let mut watched = self.following.0.watched.subscribe();
        let mut closing = app.closing.subscribe();
        let mut revoked = app.revoked.subscribe();
        let mut comment_at = Instant::now() + COMMENT_EVERY;
        if *closing.borrow_and_update() {
            return End::With("bye");
        }
        // The grant may have been revoked after it was admitted and before `revoked` was watched.
        if !self.may_go_on(app).await {
            return End::Silently;
        }
        if sender.send(Ok(Bytes::from_static(BEGINNING.as_bytes()))).await.is_err() {
            return End::Silently;
        }
        let mut may_be_news = true;
        loop {
            // The ends come first, even while the client does not read, so that a revoked stream gets nothing more. An
            // event is computed once there is room for it, so that a slow reader gets everything new at once.
            tokio::select! {
                biased;
                _ = closing.changed() => return End::With("bye"),
                _ = revoked.changed() => {
                    if !self.may_go_on(app).await {
                        return End::Silently;
                    }
                }
                () = sleep_until(self.expires_at(app)), if self.expires_at_ms.is_some() => {
                    if !self.may_go_on(app).await {
                        return End::Silently;
                    }
                }
                _ = self.accord.changed(), if !self.sends_match => {
                    self.sends_match = true;
                    may_be_news = true;
                }
                room = sender.reserve(), if may_be_news => {
                    let Ok(room) = room else { return End::Silently };
                    if self.sends_match {
                        self.sends_match = false;
                        let Some(event) = self.match_event(app).await else { return End::Silently };
                        room.send(Ok(event));
                        continue;
                    }
                    let event = match self.news(app, &mut watched).await {
                        Ok(Some(event)) => event,
                        Ok(None) if Instant::now() >= comment_at => Bytes::from_static(COMMENT.as_bytes()),
                        Ok(None) => {
                            may_be_news = false;
                            continue;
                        }
                        Err(end) => return end,
                    };
                    comment_at = Instant::now() + COMMENT_EVERY;
                    room.send(Ok(event));
                }
                () = sender.closed() => return End::Silently,
                _ = watched.changed(), if !may_be_news => may_be_news = true,
                () = sleep_until(comment_at), if !may_be_news => may_be_news = true,
            }
        }
    }

    async fn match_event(&self, app: &Arc<App>) -> Option<Bytes> {
        // A question of a player shows in the document of the match, so the event names only the branch.
        let match_name = self.following.0.revision.match_name.clone();
        let current = app.block(move |app| current_branch(app, &match_name)).await.ok()?;
        Some(format!("event: match\ndata: {{\"current\":\"{current}\"}}\n\n").into())
    }

    async fn news(
        &mut self,
        app: &Arc<App>,
        watched: &mut watch::Receiver<Option<u64>>,
    ) -> Result<Option<Bytes>, End> {
        let Some(head) = *watched.borrow_and_update() else { return Err(End::With("gone")) };
        if head == self.from {
            return Ok(None);
        }
        let delta = self.delta(app).await.map_err(|problem| {
            // The branch may have been deleted, which is not announced yet.
            if problem.code() == ProblemCode::NotFound {
                return End::With("gone");
            }
            tracing::warn!(detail = problem.detail(), "a stream ended");
            End::Silently
        })?;
        self.from = delta.to;
        Ok(delta.event.clone())
    }

    async fn delta(&self, app: &Arc<App>) -> ApiResult<Arc<Delta>> {
        let branch = &self.following.0;
        let viewer = self.viewer;
        let from = self.from;
        if let Some(delta) = branch.delta_in_memory(viewer, from) {
            return Ok(delta);
        }
        // If several streams need the same delta, one computes it.
        let _first = branch.following.lock().await;
        if let Some(delta) = branch.delta_in_memory(viewer, from) {
            return Ok(delta);
        }
        let is_near = branch.seen_by(app, viewer).is_near(from);
        let match_name = branch.revision.match_name.clone();
        let branch = Arc::clone(branch);
        let work = move |app: &Arc<App>| {
            let delta = branch.seen_by(app, viewer).delta(from);
            app.branches.make_room();
            delta
        };
        if is_near {
            return app.block(work).await;
        }
        app.fold_for(FoldsOf::Token(self.place.token), Some(match_name), work).await
    }

    fn expires_at(&self, app: &App) -> Instant {
        let left = self.expires_at_ms.unwrap_or(i64::MAX).saturating_sub(app.now_ms());
        Instant::now() + Duration::from_millis(u64::try_from(left).unwrap_or(0).min(DAY_MS))
    }

    async fn may_go_on(&self, app: &Arc<App>) -> bool {
        // If the grant cannot be looked up, the stream ends.
        app.holds(&self.bearer).await.unwrap_or(false)
    }
}
