//! `GET /v1/modules/{digest}`: the modules that matches are played by (MD-10).

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use turnfold_core::Digest;
use turnfold_core::registry::NoRules;
use turnfold_history::ReplayError;
use turnfold_proof::bundle::NeededModule;

use super::statuses::{Looked, ModuleDigest};
use crate::app::App;
use crate::auth::{Access, Bearer};
use crate::documents;
use crate::http::{NoParameters, ValidQuery, name, require_accepted, typed};
use crate::problem::{ApiResult, Problem, ProblemCode};

const WASM: &str = "application/wasm";

/// Get the module of a match
#[utoipa::path(operation_id = "get_module", get, path = "/v1/modules/{digest}", tag = "rulesets",
    params(("digest" = inline(ModuleDigest), Path)),
    responses((status = 200, description = "the file, which never changes; only modules of matches that the token knows are there",
        body = inline(documents::Bytes), content_type = "application/wasm"), Looked))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    Path(digest): Path<String>,
    _: ValidQuery<NoParameters>,
    headers: HeaderMap,
) -> ApiResult {
    require_accepted(&headers, WASM)?;
    let digest: Digest = name(&digest)?;
    app.serve(bearer, move |app, access| {
        let Some(needed) = known(app, access, &digest)? else {
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

fn known(app: &App, access: &Access, digest: &Digest) -> ApiResult<Option<NeededModule>> {
    let needed = match access.grant() {
        Some(grant) => {
            access.require_match(&grant.match_name)?;
            NeededModule::of_matches(&app.store, std::slice::from_ref(&grant.match_name))?
        }
        None => NeededModule::of_all(&app.store)?,
    };
    Ok(needed.into_iter().find(|needed| needed.module == *digest))
}
