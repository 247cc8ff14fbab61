//! The service itself: what all handlers share.

use std::io;
use std::ops::Deref;
use std::sync::Arc;

use turnfold_core::{Digest, Registry};
use turnfold_store::{BranchName, GrantId, MatchName, Store};

use crate::auth::{Access, Bearer, Viewpoint, no_token};
use crate::ids::Ids;
use crate::options::Options;
use crate::outside::Outside;
use crate::problem::{Answer, Problem};
use crate::table::Table;
use crate::tables::Tables;
use crate::token::TokenKind;
use crate::world::World;

/// The service: the world, and the branches that are in use.
pub(crate) struct App {
    pub(crate) world: World,
    pub(crate) tables: Tables,
    pub(crate) ids: Ids,
    /// Where clients find the service, such as `https://play.example`.
    pub(crate) origin: String,
    admin: Digest,
}

impl Deref for App {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl App {
    pub(crate) fn new(
        store: Store,
        registry: Registry,
        outside: Outside,
        origin: String,
        options: &Options,
    ) -> io::Result<Self> {
        let mut random = [0; 8];
        (outside.fill_random)(&mut random).map_err(io::Error::other)?;
        Ok(Self {
            world: World::new(store, registry, outside),
            tables: Tables::new(options.cache_bytes),
            ids: Ids::new(u64::from_le_bytes(random)),
            origin,
            admin: options.admin,
        })
    }

    /// Returns the store, once nothing is served any more.
    pub(crate) fn into_store(self) -> Store {
        self.world.store
    }

    /// Returns the table of a branch that a viewer may know of.
    pub(crate) fn table(
        &self,
        view: Viewpoint,
        match_name: &MatchName,
        branch: &BranchName,
    ) -> Answer<Arc<Table>> {
        self.tables.get(self, view, match_name, branch)
    }

    /// Returns `true` if a token of this hash is the admin's.
    pub(crate) fn is_admin(&self, hash: &Digest) -> bool {
        // Digests of 256 random bits: how long a comparison takes tells nothing that helps to guess.
        *hash == self.admin
    }

    /// Finds what a token may do.
    pub(crate) fn admit(&self, bearer: &Bearer) -> Answer<Access> {
        let (token, kind) = bearer.0.as_ref().ok_or_else(no_token)?;
        let hash = token.hash();
        let id = GrantId::of(&hash).to_string();
        if *kind == TokenKind::Admin {
            return if self.is_admin(&hash) { Ok(Access::admin(id)) } else { Err(no_token()) };
        }
        let grant = self.store.find_grant(&hash)?.filter(|grant| grant.is_live(self.now_ms()));
        let grant = grant.filter(|grant| TokenKind::from(grant.kind) == *kind).ok_or_else(no_token)?;
        self.limits.admit(&id, grant.kind)?;
        Ok(Access::granted(id, grant))
    }

    /// Returns `true` if a token counts, or still does, without counting a request of it.
    pub(crate) fn holds(&self, bearer: &Bearer) -> Answer<bool> {
        let Some((token, kind)) = &bearer.0 else { return Ok(false) };
        let hash = token.hash();
        if *kind == TokenKind::Admin {
            return Ok(self.is_admin(&hash));
        }
        let grant = self.store.find_grant(&hash)?;
        Ok(grant.is_some_and(|grant| grant.is_live(self.now_ms())))
    }

    /// Does work that may block, on a thread for it.
    pub(crate) async fn block<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Arc<Self>) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let app = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&app)).await;
        done.unwrap_or_else(|_| Err(Problem::internal()))
    }

    /// Does work that may block, for somebody who may have it.
    pub(crate) async fn look<T: Send + 'static>(
        self: &Arc<Self>,
        access: Access,
        work: impl FnOnce(&Arc<Self>) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        self.block(move |app| work(app).map_err(|problem| access.told(problem))).await
    }

    /// Does what a token asks for, on a thread that may block.
    pub(crate) async fn serve<T: Send + 'static>(
        self: &Arc<Self>,
        bearer: Bearer,
        work: impl FnOnce(&Arc<Self>, &Access) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        self.block(move |app| {
            let access = app.admit(&bearer)?;
            work(app, &access).map_err(|problem| access.told(problem))
        })
        .await
    }

    /// Does what a token asks for and what takes folding a line of play; only so many do so at once (SV-31).
    pub(crate) async fn fold<T: Send + 'static>(
        self: &Arc<Self>,
        bearer: Bearer,
        work: impl FnOnce(&Arc<Self>, &Access) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        // The token comes first: whoever has none is not kept waiting (SV-12).
        let access = self.block(move |app| app.admit(&bearer)).await?;
        self.fold_for(move |app| work(app, &access).map_err(|problem| access.told(problem))).await
    }

    /// Does what takes folding for somebody who may have it.
    pub(crate) async fn fold_for<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Arc<Self>) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let permit = self.limits.fold().await?;
        self.block(move |app| {
            let _permit = permit;
            work(app)
        })
        .await
    }
}

/// Does work to its end, whatever becomes of the client that asked for it (SV-15).
pub(crate) async fn to_end<T: Send + 'static>(
    work: impl Future<Output = Answer<T>> + Send + 'static,
) -> Answer<T> {
    tokio::spawn(work).await.unwrap_or_else(|_| Err(Problem::internal()))
}
