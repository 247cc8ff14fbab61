//! All routes, and the description made from them (SV-8, SV-33).

use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::{Router, middleware};
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use tower_http::compression::{CompressionLayer, CompressionLevel};
use tower_http::cors::{AllowOrigin, CorsLayer};
use utoipa::openapi::link::Link;
use utoipa::openapi::path::{ParameterIn, PathItem, PathsMap};
use utoipa::openapi::schema::{AdditionalProperties, Schema};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{RefOr, Required};
use utoipa::{OpenApi, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::documents::MatchEvent;
use crate::knowledge::EntriesEvent;
use crate::middleware::{around, counted};
use crate::problem::ProblemJson;
use crate::resources::grants::NewGrantJson;
use crate::resources::{
    accord, branches, calendars, calls, entries, events, grants, matches, notes, pages, papers, position,
    rematch, rulesets, running,
};

/// What the description has besides its routes.
#[derive(OpenApi)]
#[openapi(
    info(title = "turnfold", description = "A store of board-game matches over HTTP. Answers hold what the verbs of the \
        command line print.", license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")),
    servers((url = "/", description = "The service that this description comes from")),
    components(schemas(ProblemJson, EntriesEvent, MatchEvent)),
    security(("token" = []))
)]
struct Description;

fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(rulesets::list))
        .routes(routes!(rulesets::rulebook))
        .routes(routes!(rulesets::module))
        .routes(routes!(matches::list, matches::create))
        .routes(routes!(matches::show))
        .routes(routes!(branches::list, branches::create))
        .routes(routes!(branches::delete))
        .routes(routes!(entries::list, entries::append))
        .routes(routes!(position::view))
        .routes(routes!(position::picture))
        .routes(routes!(position::legal))
        .routes(routes!(position::ask))
        .routes(routes!(position::find))
        .routes(routes!(position::try_out))
        .routes(routes!(branches::diff))
        .routes(routes!(branches::frames))
        .routes(routes!(branches::replay))
        .routes(routes!(branches::page))
        .routes(routes!(events::follow))
        .routes(routes!(grants::list, grants::create))
        .routes(routes!(grants::revoke))
        .routes(routes!(accord::set_terms))
        .routes(routes!(accord::announce_absence))
        .routes(routes!(matches::here))
        .routes(routes!(notes::list, notes::write))
        .routes(routes!(notes::remove))
        .routes(routes!(rematch::play_again))
        .routes(routes!(accord::take_back))
        .routes(routes!(accord::answer_takeback))
        .routes(routes!(calls::show, calls::set, calls::stop))
        .routes(routes!(calendars::join))
        .routes(routes!(calendars::read, calendars::end))
        .routes(routes!(grants::show_invitation, grants::join))
        .routes(routes!(papers::take))
        .routes(routes!(papers::open_page))
        .routes(routes!(papers::show_desk))
        .routes(routes!(papers::submit_lines))
        .routes(routes!(running::backup))
        .routes(routes!(running::status))
        .routes(routes!(running::is_alive))
        .routes(routes!(running::is_ready))
        .routes(routes!(running::openapi))
}

/// Returns the description of the service as JSON.
///
/// # Panics
/// Never: plain data encodes.
#[must_use]
pub fn description() -> String {
    let mut openapi = routes().into_openapi();
    for item in openapi.paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.post, &mut item.delete].into_iter().flatten();
        for parameter in operations.filter_map(|operation| operation.parameters.as_mut()).flatten() {
            // No header is required, and none is ever null. utoipa would describe an `Option` as nullable.
            if let RefOr::T(parameter) = parameter
                && parameter.parameter_in == ParameterIn::Header
            {
                parameter.required = Required::False;
            }
        }
    }
    link(&mut openapi.paths.paths);
    let components = openapi.components.get_or_insert_default();
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    components.add_security_scheme("token", SecurityScheme::Http(bearer));
    // utoipa forbids unknown members of structures only, not of the forms of an enum.
    if let Some(RefOr::T(Schema::OneOf(forms))) = components.schemas.get_mut(&*NewGrantJson::name()) {
        for form in &mut forms.items {
            if let RefOr::T(Schema::Object(form)) = form {
                form.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
            }
        }
    }
    openapi.to_pretty_json().expect("plain data encodes") + "\n"
}

/// Links each operation that creates a match, a branch or a grant to the operations below it. They take its name from
/// the response.
fn link(paths: &mut PathsMap<String, PathItem>) {
    const MATCH: (&str, &str) = ("{match}", "$request.path.match");
    const BRANCH: (&str, &str) = ("{branch}", "$response.body#/branch");
    let made = [
        ("/v1/matches", "{match}", [("{match}", "$response.body#/match"), ("{branch}", "main")]),
        ("/v1/matches/{match}/branches", "{branch}", [MATCH, BRANCH]),
        ("/v1/matches/{match}/grants", "{id}", [MATCH, ("{id}", "$response.body#/id")]),
    ];
    for (path, last, known) in made {
        let mut links = Vec::new();
        for (below, item) in &*paths {
            let needed: Vec<_> = below.split('/').filter(|part| part.starts_with('{')).collect();
            let given: Vec<_> = known.iter().filter(|(name, _)| needed.contains(name)).collect();
            // An operation that needs another name, too, is not linked.
            if !needed.contains(&last) || given.len() < needed.len() {
                continue;
            }
            for operation in [&item.get, &item.post, &item.delete].into_iter().flatten() {
                let Some(id) = &operation.operation_id else { continue };
                let mut link = Link::builder().operation_id(id);
                for (name, value) in &given {
                    link = link.parameter(name.trim_matches(['{', '}']), *value);
                }
                links.push((id.clone(), RefOr::T(link.build())));
            }
        }
        let post = paths.get_mut(path).and_then(|item| item.post.as_mut());
        if let Some(RefOr::T(response)) = post.and_then(|post| post.responses.responses.get_mut("201")) {
            response.links.extend(links);
        }
    }
}

pub(crate) fn router(app: &Arc<App>, cors: &[String]) -> Router {
    let (router, _) = routes().split_for_parts();
    let router = router.merge(pages::routes()).with_state(Arc::clone(app));
    let router = if cors.is_empty() { router } else { router.layer(cross_origin(cors)) };
    // VW-53: streams of events would wait for more bytes, and backups are large, so both stay as they are. No response
    // contains anything concealed, so its compressed length reveals nothing. Responses with tokens are too short to be
    // compressed.
    let worth = SizeAbove::new(1024)
        .and(NotForContentType::const_new("text/event-stream"))
        .and(NotForContentType::const_new("application/octet-stream"));
    let compression = CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(worth);
    router
        .layer(middleware::from_fn_with_state(Arc::clone(app), counted))
        .layer(compression)
        .layer(middleware::from_fn_with_state(Arc::clone(app), around))
}

fn cross_origin(origins: &[String]) -> CorsLayer {
    let origins: Vec<_> = origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()).collect();
    let name = HeaderName::from_static;
    // SV-32: only pages of these origins may use the service.
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::IF_MATCH,
            header::IF_NONE_MATCH,
            name("idempotency-key"),
            name("last-event-id"),
            name("x-request-id"),
        ])
        .expose_headers([
            header::ETAG,
            header::LINK,
            header::LOCATION,
            header::RETRY_AFTER,
            name("idempotency-replayed"),
            name("x-request-id"),
        ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::running::OPENAPI;

    /// SV-33: `SNAPSHOTS=overwrite` writes the kept description again, as a change to be reviewed.
    #[test]
    fn the_kept_description_is_that_of_the_routes() {
        let made = description();
        if std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite") {
            std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json"), &made).unwrap();
            return;
        }
        assert!(
            made == OPENAPI,
            "cli/serve/openapi.json is not what the routes describe; SNAPSHOTS=overwrite writes it"
        );
    }
}
