//! Health checks (SV-28), and the description of the service (SV-33).

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use tokio::time::{Instant, timeout};

use super::statuses::Open;
use crate::app::App;
use crate::http::{JSON, NoParameters, ValidQuery, require_accepted, text, typed};
use crate::problem::{ApiResult, Problem, ProblemCode};

/// How long an answer of the database stays good, and how long to wait for one.
const GOOD_TIME: Duration = Duration::from_secs(1);
const ANSWER_TIME: Duration = Duration::from_secs(1);

/// The description in the repository. A test compares it with the one made from the routes.
pub(crate) const OPENAPI: &str = include_str!("../../openapi.json");

/// Check that the process is alive
#[utoipa::path(operation_id = "check_alive", get, path = "/healthz", tag = "running", security(()),
    responses((status = 200, description = "the process is alive", body = String, content_type = "text/plain")))]
pub(crate) async fn lives() -> ApiResult {
    Ok(text(StatusCode::OK, "ok\n".into()))
}

/// Check that the service is ready
#[utoipa::path(operation_id = "check_ready", get, path = "/readyz", tag = "running", security(()),
    responses((status = 200, description = "the service takes requests, and its store accepts writes", body = String, content_type = "text/plain"), Open))]
pub(crate) async fn is_ready(State(app): State<Arc<App>>) -> ApiResult {
    require_ready(&app).await?;
    Ok(text(StatusCode::OK, "ready\n".into()))
}

/// The description of the service
#[utoipa::path(operation_id = "get_description", get, path = "/v1/openapi.json", tag = "running", security(()),
    responses((status = 200, description = "this description", body = inline(super::statuses::Document)), Open))]
pub(crate) async fn openapi(headers: HeaderMap, _: ValidQuery<NoParameters>) -> ApiResult {
    require_accepted(&headers, JSON)?;
    Ok(typed(StatusCode::OK, JSON, OPENAPI))
}

async fn require_ready(app: &Arc<App>) -> ApiResult<()> {
    if *app.closing().borrow() {
        return Err(Problem::closing());
    }
    if let Some(stopped) = app.stopped.get() {
        return Err(stopped.clone().with_code(ProblemCode::Store));
    }
    if app.store.is_shared() { ask_database(app).await } else { Ok(()) }
}

async fn ask_database(app: &Arc<App>) -> ApiResult<()> {
    let mut database = app.database.lock().await;
    if let Some((at, answer)) = &database.answer
        && at.elapsed() < GOOD_TIME
    {
        return answer.clone();
    }
    let ask = || {
        let app = Arc::clone(app);
        tokio::spawn(async move { app.block(|app| Ok(app.store.find_grants(&[]).map(drop)?)).await })
    };
    let mut asked = database.asked.take().unwrap_or_else(ask);
    let answer = if let Ok(answer) = timeout(ANSWER_TIME, &mut asked).await {
        answer.unwrap_or_else(|_| Err(Problem::internal()))
    } else {
        database.asked = Some(asked);
        Err(Problem::new(ProblemCode::Store, "the database does not answer"))
    };
    match &answer {
        Ok(()) => app.note_answer(),
        Err(problem) => app.note(problem),
    }
    database.answer = Some((Instant::now(), answer.clone()));
    answer
}
