//! `GET /v1/rulesets`: the games there are.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::Serialize;
use serde_json::Value;
use turnfold_core::AnyRules;
use turnfold_replay::rulebook::sections;
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
    /// What each command means, as `rules` prints it (VW-44).
    commands: Vec<RulesetCommand>,
}

/// A command of a game.
#[derive(Serialize, ToSchema)]
pub(crate) struct RulesetCommand {
    /// How it is written, such as `move Q,R`.
    command: String,
    text: String,
}

/// Returns the commands that a rulebook describes.
fn commands(rulebook: &str) -> Vec<RulesetCommand> {
    let sections = sections(rulebook);
    let items = sections.get("commands").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text = |item: &Value, name| item.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    items
        .iter()
        .map(|item| RulesetCommand { command: text(item, "command"), text: text(item, "text") })
        .collect()
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
        commands: commands(rules.rulebook()),
    };
    let items: Vec<_> = app.registry.iter().map(ruleset).collect();
    Ok(json(StatusCode::OK, &List { items, next: None::<String> }))
}
