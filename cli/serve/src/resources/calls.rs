//! Whether and where a player is called on a turn while no page is open (SV-44).

use super::prelude::*;
use crate::auth::no_token;
use crate::turn_calls::TurnCalls;

const TO_MAX: usize = 200;

/// Where a player is called.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewCall {
    /// An address that the operator's command understands: 1 to 200 characters, none of them a control
    #[schema(min_length = 1, max_length = 200, example = "ann@example.org")]
    to: String,
}

/// Where a player is called.
#[derive(Serialize, ToSchema)]
pub(crate) struct CallJson {
    /// The address; null for a player who is not called.
    #[schema(required = true)]
    to: Option<String>,
}

fn calls_for<'a>(app: &'a App, access: &Access, match_name: &MatchName) -> ApiResult<&'a TurnCalls> {
    access.require_match(match_name)?;
    access.playing_seat()?.ok_or_else(|| Problem::forbidden("only a player is called"))?;
    app.calls.as_ref().ok_or_else(|| Problem::new(ProblemCode::NotFound, "this service calls no players"))
}

fn hash_of(bearer: &Bearer) -> ApiResult<Digest> {
    bearer.hash().map(|(hash, _)| hash).ok_or_else(no_token)
}

/// See where the player of the token is called
#[utoipa::path(operation_id = "show_call", get, path = "/v1/matches/{match}/call", tag = "grants", params(("match" = inline(Name), Path)),
    responses((status = 200, description = "where the player is called", body = CallJson), Looked))]
pub(crate) async fn show(
    RequestTo { app, bearer, path: match_name }: RequestTo<String>,
    _: JsonQuery<NoParameters>,
) -> ApiResult {
    let token = hash_of(&bearer)?;
    app.serve(bearer, move |app, access| {
        let calls = calls_for(app, access, &name(&match_name)?)?;
        Ok(json(StatusCode::OK, &CallJson { to: calls.wish(&token) }))
    })
    .await
}

/// Have the player of the token called on turns while no page is open
#[utoipa::path(operation_id = "set_call", post, path = "/v1/matches/{match}/call", tag = "grants", params(("match" = inline(Name), Path)),
    request_body = NewCall,
    responses((status = 200, description = "the player is called there from now on", body = CallJson), Changed))]
pub(crate) async fn set(
    RequestTo { app, bearer, path: match_name }: RequestTo<String>,
    _: JsonQuery<NoParameters>,
    request: Request,
) -> ApiResult {
    let (access, match_name) = app.admit_to(&bearer, &match_name).await?;
    let token = hash_of(&bearer)?;
    let NewCall { to } = json_body(request).await?;
    app.serve_for(access, move |app, access| {
        let calls = calls_for(app, access, &match_name)?;
        let length = to.chars().count();
        if length == 0 || length > TO_MAX || to.chars().any(char::is_control) {
            return Err(Problem::content(
                "expected `to` to have 1 to 200 characters, none of them a control",
            ));
        }
        calls.set_wish(token, Some(to.clone()))?;
        Ok(json(StatusCode::OK, &CallJson { to: Some(to) }))
    })
    .await
}

/// Stop the calls to the player of the token
#[utoipa::path(operation_id = "stop_calls", delete, path = "/v1/matches/{match}/call", tag = "grants", params(("match" = inline(Name), Path)),
    responses((status = 204, description = "the player is not called"), Deleted))]
pub(crate) async fn stop(
    RequestTo { app, bearer, path: match_name }: RequestTo<String>,
    _: ValidQuery<NoParameters>,
) -> ApiResult {
    let token = hash_of(&bearer)?;
    app.serve(bearer, move |app, access| {
        calls_for(app, access, &name(&match_name)?)?.set_wish(token, None)?;
        Ok(StatusCode::NO_CONTENT.into_response())
    })
    .await
}
