//! `GET /v1/rulesets`: the games and their rulebooks.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use serde::Serialize;
use serde_json::Value;
use turnfold_core::AnyRules;
use turnfold_history::rulebook::sections;
use turnfold_history::{ReplayError, find_rules};
use utoipa::ToSchema;

use super::statuses::{Looked, Name, Open};
use crate::app::App;
use crate::auth::Bearer;
use crate::documents::lists;
use crate::http::{JSON, List, NoParameters, ValidQuery, json, require_accepted};
use crate::problem::{ApiResult, Problem, ProblemCode};

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
    /// Terms that suit the game, as TOML; empty if there are none.
    terms: String,
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
        terms: rules.mail_terms().into(),
        commands: commands(rules.rulebook()),
    };
    let items: Vec<_> = app.registry.iter().map(ruleset).collect();
    Ok(json(StatusCode::OK, &List { items, next: None::<String> }))
}

/// The rulebook of a game.
#[derive(Serialize, ToSchema)]
#[schema(as = Rulebook)]
pub(crate) struct RulebookJson {
    #[serde(rename = "ruleset")]
    name: String,
    version: u32,
    /// The rules, as Markdown.
    text: String,
    /// The reasons why commands are ignored or rejected, by their names.
    reasons: BTreeMap<String, RulebookReason>,
}

/// Why a command is ignored or rejected.
#[derive(Default, Serialize, ToSchema)]
pub(crate) struct RulebookReason {
    /// The reason in the words of the game; empty if its rulebook has none.
    text: String,
    /// The ids of its rules.
    rules: Vec<String>,
}

/// Read the rules of a game
///
/// Requires a token, because a module may have to be loaded or a referee started.
#[utoipa::path(operation_id = "show_rulebook", get, path = "/v1/rulesets/{ruleset}/rulebook", tag = "rulesets",
    params(("ruleset" = inline(Name), Path)),
    responses((status = 200, description = "the rules for players, of the newest version", body = RulebookJson), Looked))]
pub(crate) async fn rulebook(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    Path(ruleset): Path<String>,
    headers: HeaderMap,
    _: ValidQuery<NoParameters>,
) -> ApiResult {
    require_accepted(&headers, JSON)?;
    app.serve(bearer, move |app, _| {
        let rules = find_rules(&ruleset, &app.registry).map_err(|error| match error {
            ReplayError::UnknownRuleset { .. } => {
                Problem::new(ProblemCode::NotFound, "there is no such ruleset")
            }
            error => error.into(),
        })?;
        Ok(json(StatusCode::OK, &RulebookJson::of(&*rules)))
    })
    .await
}

impl RulebookJson {
    fn of(rules: &dyn AnyRules) -> Self {
        let mut reasons = BTreeMap::new();
        for code in rules.ignored_codes().into_iter().chain(rules.rejected_codes()) {
            let rules = rules.rule_ids(code).into_iter().map(Into::into).collect();
            reasons.insert(code.to_owned(), RulebookReason { rules, ..RulebookReason::default() });
        }
        let sections = sections(rules.rulebook());
        for item in sections.get("reasons").and_then(Value::as_array).into_iter().flatten() {
            let text = |name| item.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            reasons.entry(text("reason")).or_default().text = text("text");
        }
        let text = rules.rulebook().to_owned();
        Self { name: rules.name().into(), version: rules.version(), text, reasons }
    }
}
