//! `GET /v1/rulesets`: the games there are.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::Serialize;
use turnfold_core::AnyRules;
use utoipa::ToSchema;

use super::statuses::Open;
use crate::app::App;
use crate::documents::lists;
use crate::http::{JSON, List, NoParameters, ValidQuery, json, require_accepted};
use crate::problem::ApiResult;

lists! {
    RulesetList: Ruleset, String;
}

/// A game.
#[derive(Serialize, ToSchema)]
pub(crate) struct Ruleset {
    #[serde(rename = "ruleset")]
    name: String,
    version: u32,
    /// What it is, in one line.
    summary: String,
    /// A small setup to try it on, as TOML.
    example: String,
}

/// List the games
#[utoipa::path(operation_id = "list_rulesets", get, path = "/v1/rulesets", tag = "rulesets", security(()),
    responses((status = 200, description = "all rulesets", body = RulesetList), Open))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    _: ValidQuery<NoParameters>,
) -> ApiResult {
    require_accepted(&headers, JSON)?;
    let ruleset = |rules: &Arc<dyn AnyRules>| Ruleset {
        name: rules.name().into(),
        version: rules.version(),
        summary: rules.summary().into(),
        example: rules.example().into(),
    };
    let items: Vec<_> = app.registry.iter().map(ruleset).collect();
    Ok(json(StatusCode::OK, &List { items, next: None::<String> }))
}
