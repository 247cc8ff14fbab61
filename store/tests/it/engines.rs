//! The engines, for tests that each of them must pass (FL-4, FL-5).

use turnfold_store::Store;

#[cfg(all(unix, feature = "postgres"))]
use crate::postgres::shared;

/// Creates an empty store on PostgreSQL in a schema of its own, if there is a server.
#[cfg(all(unix, feature = "postgres"))]
pub(crate) fn fleet() -> Option<Store> {
    shared().map(|server| Store::open_or_create_fleet(&server.address()).unwrap())
}

/// Reports that there is no server, or no engine for it.
#[cfg(not(all(unix, feature = "postgres")))]
#[expect(clippy::print_stderr, reason = "a skipped test reports it")]
pub(crate) fn fleet() -> Option<Store> {
    eprintln!("SKIPPED: the tests begin servers of PostgreSQL on Unix only, with the feature `postgres`");
    None
}

/// Calls `check` with an empty store of each engine.
pub(crate) fn on_each(check: impl Fn(&Store)) {
    for store in [Some(Store::in_memory()), fleet()].into_iter().flatten() {
        check(&store);
        store.close().unwrap();
    }
}
