//! Verification without rules: the chain of a match, and nothing that has to be folded.

use serde::Serialize;
use turnfold_core::Digest;
use turnfold_store::{Audited, BranchName, MatchName, Seq, SoundBranch, StoreError, StoreReader};

use crate::golden::origins::{AuditedOrigins, is_wrong};
use crate::golden::verify::{Finding, FindingKind};

/// What [`verify_chain`] leaves out, for people.
pub const NOT_CHECKED: &str = "commands, outcomes, states, dice and snapshots, which need the rules";

/// What the audit of a match's chain found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChainVerification {
    /// The sound branches: `main`, then the others by name.
    pub branches: Vec<LinkedBranch>,
    /// What is wrong; nothing, if all is well.
    pub findings: Vec<Finding>,
}

/// A branch with a sound chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkedBranch {
    /// Its name.
    pub branch: BranchName,
    /// How many entries it has, including its parents'.
    pub entries: Seq,
    /// The link after the last.
    pub link: Digest,
}

/// Audits a match as far as no rules are needed: numbering, encoding, chain and idempotency keys of every branch, and the
/// origins that the match names.
///
/// # Errors
/// [`StoreError::NoSuchMatch`], and trouble with reading that is not damage; damage is a finding.
pub fn verify_chain(store: &StoreReader, match_name: &MatchName) -> Result<ChainVerification, StoreError> {
    let mut found = ChainVerification::default();
    let mut origins = AuditedOrigins::default();
    store.audit_with(match_name, &mut |audited| {
        if let Some(origin) = origins.take(&audited) {
            let branch = Some(BranchName::main());
            let kind = FindingKind::Disagrees;
            let message = is_wrong(&origin);
            found.findings.push(Finding { branch, seq: Some(origin.head), kind, message });
        }
        match audited {
            Audited::Sound(SoundBranch { name: branch, entries, link, .. }) => {
                found.branches.push(LinkedBranch { branch, entries, link });
            }
            Audited::Damaged(damage) => found.findings.push(damage.into()),
            _ => {}
        }
    })?;
    found.branches.sort_by(|left, right| left.branch.main_first().cmp(&right.branch.main_first()));
    Ok(found)
}
