//! The metrics of the service, for its operator (SV-29). Labels are routes and outcomes, never names or seats.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use tokio::time::Instant;

use crate::app::App;
use crate::http::typed;
use crate::problem::{ApiResult, Problem, ProblemCode};

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Names of labels and their values.
type Labels<const N: usize> = [(&'static str, String); N];

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
    pub(crate) fn request_done(&self, route: &str, status: u16, began: Instant) {
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

pub(crate) async fn show(State(app): State<Arc<App>>) -> Response {
    match app.block(|app| text(app)).await {
        Ok(text) => typed(StatusCode::OK, OPENMETRICS, text),
        Err(problem) => problem.render("metrics"),
    }
}

fn text(app: &App) -> ApiResult<String> {
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
