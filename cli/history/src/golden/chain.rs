//! Verifies the chain of a match without its rules: nothing is folded.

use serde::Serialize;
use turnfold_core::Digest;
use turnfold_store::{Audited, BranchName, MatchName, Seq, SoundBranch, StoreError, StoreReader};

use crate::golden::origins::AuditedOrigins;
use crate::golden::verify::{Finding, FindingKind};

/// The result of auditing a match's chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChainVerification {
    /// The sound branches: `main`, then the others by name.
    pub branches: Vec<LinkedBranch>,
    /// What is wrong; empty if nothing is.
    pub findings: Vec<Finding>,
}

impl ChainVerification {
    /// What [`of`](Self::of) does not check, in words.
    pub const NOT_CHECKED: &str = "commands, outcomes, states, dice and snapshots, which need the rules";

    /// Audits everything about a match that needs no rules: numbering, encoding, chain and idempotency keys of every
    /// branch, and the origins that the match names.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], and errors of reading. Damage is a finding.
    pub fn of(store: &StoreReader, match_name: &MatchName) -> Result<Self, StoreError> {
        let mut found = Self::default();
        let mut origins = AuditedOrigins::default();
        store.audit_with(match_name, &mut |audited| {
            if let Some(origin) = origins.take(&audited) {
                let branch = Some(BranchName::main());
                let kind = FindingKind::Disagrees;
                let message = Finding::wrong_origin(&origin);
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
}

/// A branch with a sound chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkedBranch {
    /// The branch's name.
    pub branch: BranchName,
    /// The number of entries, including its parents'.
    pub entries: Seq,
    /// The link after the last entry.
    pub link: Digest,
}
