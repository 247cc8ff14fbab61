//! Signing: keys as files, the memory next to them, and checkpoints of lines (`trust.md`, TR-9 to TR-16).

mod cosigning;
mod key_file;
mod lines;
mod memory;
mod signer;

pub use cosigning::{GivenCosignature, cosign};
pub use key_file::KeyFile;
pub(crate) use key_file::{make_folders, sync_folder_of};
pub use lines::{sign_lines, write_signed_bundle};
pub use memory::KeyMemory;
pub use signer::{SignedLine, Signers, prove};
