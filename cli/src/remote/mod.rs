//! The terminal as client of a service (SV-40): requests sent, and answers printed as they are.
//!
//! A verb that a service has a request for asks [`Context::service`] first. Nothing
//! here knows a rule, and no token is shown or logged.

pub(crate) mod append;
pub(crate) mod client;
pub(crate) mod look;
pub(crate) mod origin;
pub(crate) mod problem;
pub(crate) mod search;

use turnfold_history::{Revision, SourceName};
use turnfold_serve::TokenKind;

use crate::address::StoreAddress;
use crate::context::Context;
use crate::failure::Failure;
use crate::files;

use client::Client;
use origin::SafeOrigin;

impl Context {
    /// Returns the service that has the store, if one does, for a verb that it has a request for.
    pub(crate) fn service(&self) -> Result<Option<Client>, Failure> {
        match &self.store {
            StoreAddress::Service(origin) => Ok(Some(self.client(origin)?)),
            _ => Ok(None),
        }
    }

    /// Returns the service that has a history and where in it to look; a replay file is read here.
    pub(crate) fn service_with<'a>(
        &self,
        source: &'a SourceName,
    ) -> Result<Option<(Client, &'a Revision)>, Failure> {
        let SourceName::Revision(revision) = source else { return Ok(None) };
        Ok(self.service()?.map(|client| (client, revision)))
    }

    fn client(&self, origin: &SafeOrigin) -> Result<Client, Failure> {
        let Some(path) = &self.token else {
            return Err(Failure::usage(format!("`{origin}` requires a token"))
                .hint("add `--token FILE`; `turnfold join` makes one of an invitation"));
        };
        match files::read_token(path)? {
            Some((_, TokenKind::Invitation)) => {
                Err(Failure::usage(format!("`{}` holds an invitation", files::shown(path)))
                    .hint("`turnfold join` makes a token of it"))
            }
            Some((token, kind)) => Client::new(origin.clone(), token, kind),
            None => Err(Failure::usage(format!("`{}` holds no token", files::shown(path)))),
        }
    }
}
