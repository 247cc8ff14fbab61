//! Polls the database for what other processes append, delete and revoke (FL-18, FL-19).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use crate::app::App;
use crate::problem::ApiResult;

/// How often to ask for the heads of followed branches, and every how many rounds for the grants of their streams.
const ASK_EVERY: Duration = Duration::from_millis(250);
const GRANTS_EVERY: u64 = 2;

const ASKED_MAX: usize = 1000;

pub(crate) async fn listen(app: Arc<App>) {
    let mut ticks = interval(ASK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for round in 0_u64.. {
        ticks.tick().await;
        let heard = app.block(move |app| {
            hear_of_branches(app)?;
            app.hear_of_accords(round)?;
            if round.is_multiple_of(GRANTS_EVERY) { hear_of_grants(app) } else { Ok(()) }
        });
        if let Err(problem) = heard.await {
            tracing::debug!(detail = problem.detail(), "cannot poll the database");
        }
    }
}

fn hear_of_branches(app: &App) -> ApiResult<()> {
    let mut followed = app.branches.all();
    followed.retain(|branch| branch.is_followed());
    for branches in followed.chunks(ASKED_MAX) {
        let named: Vec<_> = branches.iter().map(|branch| branch.named()).collect();
        for (branch, head) in branches.iter().zip(app.store.heads(&named)?) {
            match head {
                Some(head) => branch.announce(head),
                None => app.branches.forget(branch),
            }
        }
    }
    Ok(())
}

fn hear_of_grants(app: &App) -> ApiResult<()> {
    let mut tokens = app.limits.tokens_of_streams();
    // The admin token has no grant.
    tokens.retain(|token| !app.is_admin(token));
    for some in tokens.chunks(ASKED_MAX) {
        let found = app.store.find_grants(some)?;
        let live = found.iter().filter(|(_, grant)| grant.is_live(app.now_ms()));
        let live: BTreeSet<_> = live.map(|(token, _)| token).collect();
        // SV-20: a stream ends with its grant.
        if some.iter().any(|token| !live.contains(token)) {
            app.revoke();
            break;
        }
    }
    Ok(())
}
