//! The command line as client of a service (SV-40): sends requests and reads the answers. It knows no rules, and it never
//! prints or logs a token. Each verb decides what it asks a service for.

pub(crate) mod client;
pub(crate) mod look;
pub(crate) mod origin;
pub(crate) mod problem;

use turnfold_history::{Revision, SourceName};
use turnfold_serve::TokenKind;

use crate::address::StoreAddress;
use crate::context::Workspace;
use crate::failure::Failure;
use crate::files;

use client::Client;
use origin::SafeOrigin;

impl Workspace {
    pub(crate) fn service(&self) -> Result<Option<&Client>, Failure> {
        let StoreAddress::Service(origin) = &self.store else { return Ok(None) };
        if self.client.get().is_none() {
            let _ = self.client.set(self.connect(origin)?);
        }
        Ok(self.client.get())
    }

    /// Returns a client and the revision if a service has the source; `None` for a replay file, which is read here.
    pub(crate) fn service_with<'a>(
        &'a self,
        source: &'a SourceName,
    ) -> Result<Option<(&'a Client, &'a Revision)>, Failure> {
        let SourceName::Revision(revision) = source else { return Ok(None) };
        Ok(self.service()?.map(|client| (client, revision)))
    }

    fn connect(&self, origin: &SafeOrigin) -> Result<Client, Failure> {
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
