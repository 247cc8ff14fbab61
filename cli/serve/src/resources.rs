//! The resources of the service (SV-8). Handlers know no rules; each calls what its verb calls.

use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::http::{JSON, ValidQuery, require_accepted};
use crate::limits::ClientAddress;
use crate::prelude::*;

pub(crate) mod accord;
pub(crate) mod branches;
pub(crate) mod calendars;
pub(crate) mod calls;
pub(crate) mod entries;
pub(crate) mod events;
pub(crate) mod grants;
pub(crate) mod match_document;
pub(crate) mod matches;
pub(crate) mod notes;
pub(crate) mod pages;
pub(crate) mod papers;
pub(crate) mod position;
pub(crate) mod rematch;
pub(crate) mod rulesets;
pub(crate) mod running;

/// What most resources use.
mod prelude {
    pub(crate) use axum::extract::{Request, State};
    pub(crate) use turnfold_store::NewGrant;

    pub(crate) use super::{JsonQuery, RequestTo};
    pub(crate) use crate::app::to_end;
    pub(crate) use crate::auth::AccessToken;
    pub(crate) use crate::documents::{self, Changed, Deleted, Looked, Name};
    pub(crate) use crate::http::{
        AnswerForm, JSON, List, NoParameters, ValidQuery, created, given, json, json_body, link_next,
        list_limit, name, name_if_given, require_accepted, text, typed,
    };
    pub(crate) use crate::prelude::*;
    pub(crate) use crate::reading::{BranchPath, BranchView, Reach, SeatName};
    pub(crate) use crate::takeback::current_branch;
}

/// The service, the token and the client of a request, and what the path of the request names.
pub(crate) struct RequestTo<P> {
    app: Arc<App>,
    bearer: Bearer,
    client: ClientAddress,
    path: P,
}

impl<P: DeserializeOwned + Send> FromRequestParts<Arc<App>> for RequestTo<P> {
    type Rejection = PathRejection;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, PathRejection> {
        let Path(path) = Path::from_request_parts(parts, app).await?;
        let bearer = Bearer::of(&parts.headers, &parts.extensions);
        let client = parts.extensions.get().copied().unwrap_or(ClientAddress(None));
        Ok(Self { app: Arc::clone(app), bearer, client, path })
    }
}

/// The query of a request that is answered in JSON only.
pub(crate) struct JsonQuery<T>(T);

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for JsonQuery<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> ApiResult<Self> {
        let ValidQuery(query) = ValidQuery::from_request_parts(parts, app).await?;
        require_accepted(&parts.headers, JSON)?;
        Ok(Self(query))
    }
}
