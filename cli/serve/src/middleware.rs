//! The layers around every request: its id, limits, problems, headers, metrics and trace (SV-6, SV-7, SV-29, SV-30).

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, Method};
use axum::middleware::Next;
use http_body::Body as _;
use http_body_util::BodyExt;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use tokio::time::timeout;
use tracing::Instrument;

use crate::app::REQUEST_ID;
use crate::auth::no_token;
use crate::http::{require_host, typed};
use crate::limits::{BODY_TIME, LONG, REQUEST_TIME};
use crate::prelude::*;

pub(crate) async fn around(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = app.ids.of(request.headers());
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let method = request.method().clone();
    let is_interface = request.uri().path().starts_with("/v1/");
    let bearer = Bearer::of(request.headers(), request.extensions());
    // A grant's id comes from the hash of its token; the token itself is never logged (SV-30).
    let span = tracing::info_span!("request", %id, %method, route, grant = bearer.id());
    let host = require_host(&request);
    let has_host = host.is_ok();
    let mut response = match host {
        Ok(()) => serve(&app, request, next, &route).instrument(span.clone()).await.into_response(),
        Err(problem) => problem.into_response(),
    };
    if let Some(mut problem) = problem_of(&mut response) {
        if has_host {
            problem = token_first(&app, &route, &bearer, problem).await;
        }
        // SV-7: only the host and the admin learn where the store is damaged. Some routes have not looked at the token.
        if problem.code() == ProblemCode::Corrupt
            && !(bearer.is_hosts() && app.holds(&bearer).await.unwrap_or(false))
        {
            problem = problem.without_place();
        }
        app.note(&problem);
        let problem = app.explain(problem);
        span.in_scope(|| tracing::debug!(detail = problem.detail(), "a problem"));
        let (inner, body) = response.into_parts();
        drop(body);
        response = problem.render(&id);
        // Keep the headers for methods and for other origins.
        let is_of_body = |name: &HeaderName| [header::CONTENT_TYPE, header::CONTENT_LENGTH].contains(name);
        for (name, value) in inner.headers.iter().filter(|(name, _)| !is_of_body(name)) {
            response.headers_mut().append(name, value.clone());
        }
    }
    let status = response.status().as_u16();
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, HeaderValue::from_str(&id).unwrap_or(HeaderValue::from_static("")));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if is_interface {
        // The response depends on `Accept`.
        headers.append(header::VARY, HeaderValue::from_static("accept"));
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    app.metrics.request_done(&route, status, began);
    let _inside = span.enter();
    let milliseconds = began.elapsed().as_secs_f64() * 1000.0;
    tracing::info!(status, duration_ms = %format_args!("{milliseconds:.3}"), "served");
    response
}

pub(crate) async fn counted(State(app): State<Arc<App>>, request: Request, next: Next) -> ApiResult {
    // Assets need no token, and all responses share one copy in memory.
    let Some((token, _)) = Bearer::of(request.headers(), request.extensions()).hash() else {
        return Ok(next.run(request).await);
    };
    let response = next.run(request).await;
    if response.body().size_hint().exact().is_none_or(|bytes| bytes <= LONG) {
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    // The length is known, so the body is in memory already.
    let body = body.collect().await.map_err(|_| Problem::internal())?;
    // SV-31: a long response is counted until its client has read it.
    let body = app.limits.answers.begin(token, body.to_bytes())?;
    Ok(Response::from_parts(parts, Body::new(body)))
}

async fn serve(app: &Arc<App>, request: Request, next: Next, route: &str) -> ApiResult {
    if matches!(route, "/healthz" | "/readyz") {
        return Ok(next.run(request).await);
    }
    if *app.closing.borrow() {
        return Err(Problem::closing());
    }
    let is_stream = route.ends_with("/events");
    let place = if is_stream { None } else { Some(app.limits.request()?) };
    let body_time = if request.method() == Method::POST { BODY_TIME } else { Duration::ZERO };
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let served = timeout(body_time + REQUEST_TIME, app.guarded(next.run(request))).await;
    drop(place);
    served.unwrap_or_else(|_| Err(Problem::new(ProblemCode::Store, took_too_long(reads))))
}

const fn took_too_long(reads: bool) -> &'static str {
    if reads {
        "the request took too long; try again"
    } else {
        "the request took too long; an append may have been recorded, so repeat it with the same idempotency key"
    }
}

/// The routes below `/v1` that need no token, or check it themselves.
const OPEN: [&str; 5] = [
    "/v1/rulesets",
    "/v1/openapi.json",
    "/v1/join",
    "/v1/matches/{match}/papers",
    "/v1/calendars/{calendar}",
];

async fn token_first(app: &Arc<App>, route: &str, bearer: &Bearer, problem: Problem) -> Problem {
    let is_open = !route.starts_with("/v1/") || OPEN.contains(&route);
    if is_open || !matches!(problem.code(), ProblemCode::BadRequest | ProblemCode::Accept) {
        return problem;
    }
    // SV-12: the token comes first. Queries and headers are read before the token is looked up, because that may block.
    match app.holds(bearer).await {
        Ok(true) => problem,
        Ok(false) => no_token(),
        Err(failed) => failed,
    }
}

fn problem_of(response: &mut Response) -> Option<Problem> {
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        return Some(problem);
    }
    // Refusals by the libraries themselves become problems, too.
    let (code, detail) = match response.status() {
        StatusCode::METHOD_NOT_ALLOWED => (ProblemCode::Method, "the resource does not have this method"),
        StatusCode::NOT_FOUND => (ProblemCode::NotFound, "there is no such resource"),
        status if status.is_client_error() => (ProblemCode::BadRequest, "the request is malformed"),
        status if status.is_server_error() => {
            (ProblemCode::Internal, "internal error; see the logs of the service")
        }
        _ => return None,
    };
    Some(Problem::new(code, detail))
}

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Names of labels and their values.
type Labels<const N: usize> = [(&'static str, String); N];

/// The metrics of the service, for its operator (SV-29). Labels are routes and outcomes, never names or seats.
pub(crate) struct Metrics {
    requests: Family<Labels<2>, Counter>,
    request_seconds: Family<Labels<1>, Histogram, fn() -> Histogram>,
    /// All requests, and those that the service failed to answer.
    pub(crate) all_requests: Counter,
    pub(crate) failed_requests: Counter,
    appends: Family<Labels<1>, Counter>,
    append_seconds: Histogram,
    pub(crate) table_misses: Counter,
    pub(crate) store_failed: Gauge,
}

fn histogram() -> Histogram {
    // From half a millisecond to sixteen seconds.
    Histogram::new(exponential_buckets(0.000_5, 2.0, 16))
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(histogram),
            all_requests: Counter::default(),
            failed_requests: Counter::default(),
            appends: Family::default(),
            append_seconds: histogram(),
            table_misses: Counter::default(),
            store_failed: Gauge::default(),
        }
    }
}

impl Metrics {
    fn request_done(&self, route: &str, status: u16, began: Instant) {
        self.all_requests.inc();
        if status >= 500 {
            self.failed_requests.inc();
        }
        self.request_seconds
            .get_or_create(&[("route", route.to_owned())])
            .observe(began.elapsed().as_secs_f64());
        self.requests.get_or_create(&[("route", route.to_owned()), ("status", status.to_string())]).inc();
    }

    pub(crate) fn append_done(&self, began: Instant, answer: &ApiResult<Response>) {
        self.append_seconds.observe(began.elapsed().as_secs_f64());
        let outcome = match answer {
            Ok(response) if response.status().as_u16() == 201 => "recorded",
            Ok(_) => "nothing",
            Err(problem) => match problem.code() {
                ProblemCode::Rejected | ProblemCode::Malformed => "rejected",
                ProblemCode::Moved => "moved",
                _ => "failed",
            },
        };
        self.appends.get_or_create(&[("outcome", outcome.to_owned())]).inc();
    }
}

pub(crate) async fn show_metrics(State(app): State<Arc<App>>) -> Response {
    match app.block(|app| metrics_text(app)).await {
        Ok(text) => typed(StatusCode::OK, OPENMETRICS, text),
        Err(problem) => problem.render("metrics"),
    }
}

fn metrics_text(app: &App) -> ApiResult<String> {
    let App { metrics, limits, branches, .. } = app;
    let gauge = |value: u64| {
        let gauge = Gauge::<i64>::default();
        gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        gauge
    };
    let mut all = Registry::with_prefix("turnfold");
    all.register("http_requests", "Requests", metrics.requests.clone());
    all.register("http_request_seconds", "Duration of requests in seconds", metrics.request_seconds.clone());
    all.register("appends", "Appends by outcome", metrics.appends.clone());
    all.register("append_seconds", "Duration of appends in seconds", metrics.append_seconds.clone());
    all.register("streams", "Live streams", gauge(limits.streams() as u64));
    let (answer_bytes, refused) = limits.answers.held();
    all.register("answer_bytes", "Bytes of long answers on their way", gauge(answer_bytes));
    let answers_refused = Counter::<u64>::default();
    answers_refused.inc_by(refused);
    all.register("answers_refused", "Long answers for which there was no room", answers_refused);
    all.register("tables", "Branches in memory", gauge(branches.count()));
    all.register("table_bytes", "Bytes that branches hold in memory", gauge(branches.memory.bytes()));
    all.register("table_misses", "Branches that were read from the store", metrics.table_misses.clone());
    all.register("store_failed", "1 once the store has failed", metrics.store_failed.clone());
    let mut text = String::new();
    match encode(&mut text, &all) {
        Ok(()) => Ok(text),
        Err(error) => Err(Problem::new(ProblemCode::Internal, error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::num::NonZeroU32;

    use axum::Router;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use tower::ServiceExt;
    use turnfold_core::{DicePolicy, Registry as Games};
    use turnfold_store::{Genesis, GrantLabel, NewGrant};

    use super::*;
    use crate::auth::AccessToken;
    use crate::server::{Options, Outside, Settings};

    #[test]
    fn only_a_client_that_writes_reads_of_appends() {
        assert!(!took_too_long(true).contains("append"));
        assert!(took_too_long(false).contains("an append may have been recorded"));
    }

    /// Serves damage of a store at a route that looks at no token, and returns the problem.
    async fn damage_seen_by(app: &Arc<App>, token: &str) -> String {
        let damaged = || async {
            let reason = "at byte 7".to_owned();
            Problem::from(StoreError::Corrupt { match_name: None, branch: None, seq: Some(3), reason })
        };
        let layer = from_fn_with_state(Arc::clone(app), around);
        let routes = Router::new().route("/damaged", get(damaged)).layer(layer);
        let request = Request::builder().uri("/damaged").header(header::HOST, "localhost");
        let request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        let response = routes.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        String::from_utf8(body.to_vec()).unwrap()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn sv_7_only_the_host_and_the_admin_learn_where_the_store_is_damaged() {
        let [admin, host, seat, invented] = ["a", "h", "s", "h"].map(|kind| format!("tf_{kind}_"));
        let [admin, host, seat] = [admin, host, seat].map(|start| start + &"A".repeat(43));
        let invented = invented + &"B".repeat(42) + "A";
        let hash = |token: &str| AccessToken::parse(token).unwrap().0.hash();
        let rate = NonZeroU32::new(100).unwrap();
        let options = Options {
            listen: ([127, 0, 0, 1], 0).into(),
            origin: None,
            cors: Vec::new(),
            store_dir: None,
            cache_bytes: 0,
            files_max: 0,
            behind_proxy: false,
            settings: Settings { admin: hash(&admin), seat_rate: rate, spectator_rate: rate },
            metrics: None,
            mail: None,
            notifying: None,
        };
        let outside = Outside {
            now_ms: || 0,
            fill_random: |_| Ok(()),
            roll: |_| Err(io::ErrorKind::Unsupported.into()),
            build: None,
        };
        let store = Store::in_memory();
        let match_name: MatchName = "duel".parse().unwrap();
        let genesis = Genesis {
            format: Genesis::FORMAT,
            ruleset: "toy".into(),
            ruleset_version: 1,
            setup: Vec::new(),
            dice: DicePolicy::Recorded,
            match_id: [1; 16],
            title: String::new(),
            created_at_ms: 0,
            module: None,
            played_by: None,
            origins: Vec::new(),
        };
        store.create_match(&match_name, &genesis, Vec::new()).unwrap();
        for (token, kind) in [(&host, GrantKind::Host), (&seat, GrantKind::Seat(Seat::P1))] {
            let label = GrantLabel::default();
            let grant = NewGrant { kind, match_name: match_name.clone(), label, expires_at_ms: None };
            store.grant(&hash(token), grant, 0).unwrap();
        }
        let app = App::new(store, Games::default(), outside, String::new(), &options).unwrap();
        let app = Arc::new(app);
        for token in [&admin, &host] {
            assert!(damage_seen_by(&app, token).await.contains("at byte 7"), "{token}");
        }
        for token in [seat.as_str(), &invented, ""] {
            assert!(!damage_seen_by(&app, token).await.contains("at byte 7"), "{token}");
        }
    }
}
