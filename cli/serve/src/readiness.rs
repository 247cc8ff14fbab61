//! Whether the store accepts writes, for those who balance load (SV-28).

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::app::App;
use crate::problem::{ApiResult, Code, Problem};

/// How long an answer of the database stays good, and how long we wait for one.
const GOOD_TIME: Duration = Duration::from_secs(1);
const ANSWER_TIME: Duration = Duration::from_secs(1);

/// What is known of the store's health.
#[derive(Default)]
pub(crate) struct Readiness {
    /// Why a directory accepts no more writes until it is opened again.
    stopped: OnceLock<Problem>,
    database: Mutex<Database>,
}

/// What the database said last.
#[derive(Default)]
struct Database {
    answer: Option<(Instant, ApiResult<()>)>,
    /// A question that it has not answered yet; there is never a second one.
    asked: Option<JoinHandle<ApiResult<()>>>,
}

impl Readiness {
    /// Notes that a directory has stopped accepting writes.
    pub(crate) fn stop(&self, problem: Problem) {
        // The first problem is the cause.
        let _ = self.stopped.set(problem);
    }

    /// Returns why a directory has stopped accepting writes.
    pub(crate) fn stopped(&self) -> Option<&Problem> {
        self.stopped.get()
    }
}

/// Requires a service that takes requests and a store that accepts writes.
pub(crate) async fn require_ready(app: &Arc<App>) -> ApiResult<()> {
    if *app.closing().borrow() {
        return Err(Problem::closing());
    }
    if let Some(stopped) = app.readiness.stopped() {
        return Err(stopped.clone().with_code(Code::Store));
    }
    if app.store.is_shared() { ask_database(app).await } else { Ok(()) }
}

/// Asks the database, at most once a second.
async fn ask_database(app: &Arc<App>) -> ApiResult<()> {
    let mut database = app.readiness.database.lock().await;
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
        Err(Problem::new(Code::Store, "the database does not answer"))
    };
    match &answer {
        Ok(()) => app.note_answer(),
        Err(problem) => app.note(problem),
    }
    database.answer = Some((Instant::now(), answer.clone()));
    answer
}
