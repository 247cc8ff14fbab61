//! The line on which a turn is carried out; after an agreed takeback that is a new branch (PM-27).

use turnfold_core::paper::LineName;
use turnfold_store::{BranchInfo, BranchName, StoreError};

use super::error::MailError;
use super::host::MailHost;
use super::steps::TurnPlan;

/// Returns the line of the game on which a turn goes on, making the branch of a takeback where there is none.
pub(super) fn line_of(host: &MailHost<'_>, plan: &TurnPlan) -> Result<BranchName, MailError> {
    let (line, seq) = &plan.from;
    let from = branch_of(line)?;
    if !plan.is_takeback {
        return Ok(from);
    }
    let (store, name) = (host.store, &host.of.name);
    let branches = store.branches(name)?;
    for number in 1_u64.. {
        let branch: BranchName = format!("takeback-{number}").parse().map_err(MailError::broken)?;
        match branches.iter().find(|info| info.name == branch) {
            Some(info) if is_left(host, plan, info)? => return Ok(branch),
            Some(_) => {}
            None => match store.create_branch(name, &branch, &from, *seq) {
                Err(StoreError::BranchExists { .. }) => {}
                made => return Ok(made.map(|()| branch)?),
            },
        }
    }
    Err(MailError::broken("every name of a takeback is taken"))
}

/// Returns `true` for the branch that a killed run left: it begins where this takeback does, no stand names it, and
/// it has nothing but what this turn put there.
fn is_left(host: &MailHost<'_>, plan: &TurnPlan, info: &BranchInfo) -> Result<bool, MailError> {
    let (line, seq) = &plan.from;
    let is_named = host.desk.turns().iter().any(|turn| turn.stand.line.as_str() == info.name.as_str());
    if is_named || info.parent != Some((branch_of(line)?, *seq)) {
        return Ok(false);
    }
    let key = plan.host_key().to_string();
    let (store, name) = (host.store, &host.of.name);
    for entry in store.entries(name, &info.name, seq + 1..=info.head)? {
        if entry?.idempotency_key.is_none_or(|found| found.as_str() != key) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn branch_of(line: &LineName) -> Result<BranchName, MailError> {
    line.as_str().parse().map_err(MailError::broken)
}
