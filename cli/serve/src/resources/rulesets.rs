//! The games: their rulebooks, and the modules that matches are played by (MD-10).

use serde_json::Value;
use turnfold_core::AnyRules;
use turnfold_core::registry::NoRules;
use turnfold_history::rulebook::sections;
use turnfold_history::{ReplayError, find_rules};
use turnfold_proof::bundle::NeededModule;

use super::prelude::*;
use crate::documents::{ModuleDigest, Open};

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
#[derive(Deserialize, Serialize, ToSchema)]
pub(crate) struct RulesetCommand {
    /// How it is written, such as `move Q,R`.
    command: String,
    text: String,
}

/// List the games
#[utoipa::path(operation_id = "list_rulesets", get, path = "/v1/rulesets", tag = "rulesets", security(()),
    responses((status = 200, description = "all rulesets", body = documents::RulesetList), Open))]
pub(crate) async fn list(State(app): State<Arc<App>>, _: JsonQuery<NoParameters>) -> ApiResult {
    let mut items = Vec::new();
    for rules in app.registry.iter() {
        let commands = sections(rules.rulebook()).remove("commands").unwrap_or_default();
        items.push(Ruleset {
            name: rules.name().into(),
            version: rules.version(),
            summary: rules.summary().into(),
            example: rules.example().into(),
            terms: rules.mail_terms().into(),
            commands: serde_json::from_value(commands).unwrap_or_default(),
        });
    }
    Ok(json(StatusCode::OK, &List { items, next: None::<String> }))
}

/// The rulebook of a game.
#[derive(Serialize, ToSchema)]
pub(crate) struct Rulebook {
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
    responses((status = 200, description = "the rules for players, of the newest version", body = Rulebook), Looked))]
pub(crate) async fn rulebook(
    RequestTo { app, bearer, path: ruleset, .. }: RequestTo<String>,
    _: JsonQuery<NoParameters>,
) -> ApiResult {
    app.serve(bearer, move |app, _| {
        let rules = find_rules(&ruleset, &app.registry).map_err(|error| match error {
            ReplayError::NoRules(_, cause) if matches!(*cause, NoRules::Unknown { .. }) => {
                Problem::new(ProblemCode::NotFound, "there is no such ruleset")
            }
            error => error.into(),
        })?;
        Ok(json(StatusCode::OK, &Rulebook::of(&*rules)))
    })
    .await
}

impl Rulebook {
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

const WASM: &str = "application/wasm";

/// Get the module of a match
#[utoipa::path(operation_id = "get_module", get, path = "/v1/modules/{digest}", tag = "rulesets",
    params(("digest" = inline(ModuleDigest), Path)),
    responses((status = 200, description = "the file, which never changes; only modules of matches that the token knows are there",
        body = inline(documents::Bytes), content_type = "application/wasm"), Looked))]
pub(crate) async fn module(
    RequestTo { app, bearer, path: digest, .. }: RequestTo<String>,
    _: ValidQuery<NoParameters>,
    headers: HeaderMap,
) -> ApiResult {
    require_accepted(&headers, WASM)?;
    let digest: Digest = name(&digest)?;
    app.serve(bearer, move |app, access| {
        let Some(needed) = needed_module(app, access, &digest)? else {
            return Err(Problem::new(ProblemCode::NotFound, format!("no match has the module {digest}")));
        };
        let Some(module) = needed.file(&app.registry) else {
            let NeededModule { ruleset: name, version, module } = needed;
            return Err(ReplayError::from(NoRules::NoModule { name, version, module }).into());
        };
        let mut response = typed(StatusCode::OK, WASM, module.file().to_vec());
        let forever = HeaderValue::from_static("private, max-age=31536000, immutable");
        response.headers_mut().insert(header::CACHE_CONTROL, forever);
        Ok(response)
    })
    .await
}

fn needed_module(app: &App, access: &Access, digest: &Digest) -> ApiResult<Option<NeededModule>> {
    let needed = match access.grant() {
        Some(grant) => {
            access.require_match(&grant.match_name)?;
            NeededModule::of_matches(&app.store, std::slice::from_ref(&grant.match_name))?
        }
        None => NeededModule::of_all(&app.store)?,
    };
    Ok(needed.into_iter().find(|needed| needed.module == *digest))
}
