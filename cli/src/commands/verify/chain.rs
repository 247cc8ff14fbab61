//! `turnfold verify --chain`: audits what needs no rules.

use serde_json::json;
use turnfold_history::golden::chain::{ChainVerification, LinkedBranch, NOT_CHECKED, verify_chain};
use turnfold_history::{Finding, Revision, Sources};
use turnfold_store::{MatchName, StoreReader};

use super::finding::finding_line;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Line, added, counted, dim, plain};

/// Audits the chain of a match, prints the result and what was not checked, and returns the findings.
pub(super) fn verify_match(
    store: &StoreReader,
    match_name: &MatchName,
    context: &mut Context,
) -> Result<Vec<Finding>, Failure> {
    let found = verify_chain(store, match_name)?;
    print(match_name, &found, context)?;
    Ok(found.findings)
}

/// Audits the chain of a branch up to an entry.
pub(super) fn verify_branch(revision: &Revision, context: &mut Context) -> Result<ExitStatus, Failure> {
    let Revision { match_name, branch, seq } = revision;
    let store = context.read_store()?;
    let entries = seq.map_or_else(|| store.head(match_name, branch), Ok)?;
    let link = store.links(match_name, branch, 0..=entries)?.pop();
    let link = link.ok_or_else(|| Failure::internal("an entry without a link"))?;
    let branches = vec![LinkedBranch { branch: branch.clone(), entries, link }];
    print(match_name, &ChainVerification { branches, findings: Vec::new() }, context)?;
    Ok(ExitStatus::Yes)
}

fn print(match_name: &MatchName, found: &ChainVerification, context: &mut Context) -> Result<(), Failure> {
    let ChainVerification { branches, findings } = found;
    let ok = findings.is_empty();
    let document = json!({
        "match": match_name.as_str(),
        "ok": ok,
        "branches": branches,
        "findings": findings,
        "not_checked": NOT_CHECKED,
    });
    context.output.show(&document, || {
        let branches = branches.iter().map(|LinkedBranch { branch, entries, link }| {
            let entries = counted(*entries, "entry", "entries");
            let place = plain(format_args!(" {match_name}@{branch}: {entries} "));
            Line::from([added("ok"), place, dim(format_args!("link {link:.16}"))])
        });
        let findings = findings.iter().map(|finding| finding_line(match_name.as_str(), finding));
        let left = [dim("not checked"), plain(format_args!(" {match_name}: {NOT_CHECKED}"))];
        branches.chain(findings).chain([left.into()]).collect()
    })?;
    Ok(())
}
