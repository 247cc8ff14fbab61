//! What an audit is asked.

use turnfold_core::Registry;
use turnfold_core::trust::TrustPolicy;

use super::held::HeldCheckpoint;

/// What an audit begins with.
#[derive(Clone, Copy)]
pub struct AuditQuestion<'a> {
    /// Whose signatures count.
    pub policy: Option<&'a TrustPolicy>,
    /// What the auditor kept.
    pub held: &'a [HeldCheckpoint],
    /// The rulesets there are.
    pub registry: &'a Registry,
}
