//! Trust: signatures of logs, and proofs that a log is what was signed (`trust.md`, TR-2 to TR-17).
//!
//! A [`Tree`] of RFC 6962 commits to records, a [`Checkpoint`] states the tree of a log, and a
//! [`SignedNote`] signs a checkpoint. Proofs show that a record is in a tree, or that a tree extends
//! another. All forms come from C2SP, so other tools read them, too. Nothing here reads a file, a clock or a
//! source of randomness.

pub(crate) mod base64;
pub mod checkpoint;
pub mod key;
pub mod note;
mod origin;
pub mod policy;
pub mod proof;
pub mod tree;

pub use checkpoint::{Checkpoint, branch_origin};
pub use key::{BadSignature, KeyId, KeyKind, KeyName, PrivateKey, VerifierKey};
pub use note::{SignatureLine, SignedNote};
pub use origin::BranchOrigin;
pub use policy::{Cosigned, PolicyError, TrustPolicy};
pub use proof::{ConsistencyRequest, InclusionProof};
pub use tree::{ProofBuilder, Tree, TreeHash};
