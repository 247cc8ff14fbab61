//! Signing: key files, the memory next to them, and checkpoints of branches (`trust.md`, TR-9 to TR-16).

mod branches;
mod cosigning;
mod key_file;
mod memory;
mod signer;

pub use branches::{sign_branches, write_signed_bundle};
pub use cosigning::{GivenCosignature, cosign};
pub use key_file::{KeyFile, make_folders, sync_folder_of};
pub use memory::KeyMemory;
pub use signer::{SignedBranch, Signers, prove};
