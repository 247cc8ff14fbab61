//! The pages: one document for the home page and for every match, and the assets that it loads (VW-13, VW-23).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use axum::Router;
use axum::extract::Path;
use axum::routing::get;
use tower_http::compression::{CompressionLayer, CompressionLevel};
use turnfold_show::page::{SCRIPT, STYLES, join};

use super::position::tagged;
use super::prelude::*;
use crate::http::{HTML, SVG, Tags};

const DOCUMENT: &str = include_str!("../page/index.html");

/// No foreign content, nothing inline, no frames around the page (VW-23).
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

/// The scripts that only the service serves. `live.js` is last, because it starts the page.
const SCRIPTS: [&str; 30] = [
    include_str!("../page/access.js"),
    include_str!("../page/analysis.js"),
    include_str!("../page/api.js"),
    include_str!("../page/buttons.js"),
    include_str!("../page/calendar.js"),
    include_str!("../page/calls.js"),
    include_str!("../page/choice.js"),
    include_str!("../page/commands.js"),
    include_str!("../page/compare.js"),
    include_str!("../page/here.js"),
    include_str!("../page/home.js"),
    include_str!("../page/legal.js"),
    include_str!("../page/liveviewer.js"),
    include_str!("../page/match.js"),
    include_str!("../page/menu.js"),
    include_str!("../page/notes.js"),
    include_str!("../page/qr.js"),
    include_str!("../page/rulebook.js"),
    include_str!("../page/seat.js"),
    include_str!("../page/sender.js"),
    include_str!("../page/signing.js"),
    include_str!("../page/stream.js"),
    include_str!("../page/tools.js"),
    include_str!("../page/takeback.js"),
    include_str!("../page/trial.js"),
    include_str!("../page/trying.js"),
    include_str!("../page/turn.js"),
    // A class comes after the one that it extends.
    include_str!("../page/draft.js"),
    include_str!("../page/mail.js"),
    include_str!("../page/live.js"),
];

/// The scripts of the service as one file. Over a slow connection each file costs a round trip, and one file compresses
/// better.
static LIVE: LazyLock<String> = LazyLock::new(|| as_one(&SCRIPTS));

/// The scripts of the admin's page, which no player needs.
static ADMIN: LazyLock<String> =
    LazyLock::new(|| as_one(&[include_str!("../page/api.js"), include_str!("../page/admin.js")]));

fn as_one(scripts: &[&str]) -> String {
    let imports = scripts.iter().flat_map(|script| script.lines());
    let imports =
        imports.filter_map(|line| line.strip_prefix("import { ")?.strip_suffix(" } from \"./viewer.js\";"));
    let names: BTreeSet<&str> = imports.flat_map(|names| names.split(", ")).collect();
    let names: Vec<&str> = names.into_iter().collect();
    format!("import {{ {} }} from \"./viewer.js\";\n{}", names.join(", "), join(scripts))
}

struct Asset {
    name: &'static str,
    media_type: &'static str,
    content: String,
    tag: String,
}

impl Asset {
    fn new(name: &'static str, media_type: &'static str, content: impl Into<String>) -> Self {
        let content = content.into();
        let tag = format!("\"{}\"", blake3::hash(content.as_bytes()).to_hex());
        Self { name, media_type, content, tag }
    }
}

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let script = |name, content: &str| Asset::new(name, JAVASCRIPT, content);
    vec![
        Asset::new("viewer.css", CSS, STYLES.concat()),
        Asset::new("live.css", CSS, include_str!("../page/live.css")),
        Asset::new("icon.svg", SVG, include_str!("../page/icon.svg")),
        Asset::new("icon-turn.svg", SVG, include_str!("../page/icon-turn.svg")),
        script("viewer.js", &SCRIPT),
        script("live.js", &LIVE),
        script("admin.js", &ADMIN),
    ]
});

pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    // The pages need no token, because they load what they show with the browser's.
    Router::new()
        .route("/", get(document))
        .route("/m/{match}", get(document))
        .route("/admin", get(admin_document))
        .route("/assets/{file}", get(asset))
        // There are few pages and assets, and a browser loads each once.
        .layer(CompressionLayer::new().quality(CompressionLevel::Best))
}

async fn document() -> Response {
    page(DOCUMENT)
}

async fn admin_document() -> Response {
    static ADMIN_DOCUMENT: LazyLock<String> = LazyLock::new(|| DOCUMENT.replace("/live.js", "/admin.js"));
    page(&ADMIN_DOCUMENT)
}

fn page(document: &'static str) -> Response {
    let mut response = typed(StatusCode::OK, HTML, document);
    for (name, content) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(content));
    }
    response.headers_mut().insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    response
}

async fn asset(Path(file): Path<String>, headers: HeaderMap) -> ApiResult {
    let asset = ASSETS.iter().find(|asset| asset.name == file);
    let asset = asset.ok_or_else(|| Problem::new(ProblemCode::NotFound, "there is no such resource"))?;
    let known = Tags::read(&headers, &header::IF_NONE_MATCH)?;
    let response = typed(StatusCode::OK, asset.media_type, asset.content.as_str());
    let mut response = tagged(response, &asset.tag, known.as_ref());
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(response)
}
