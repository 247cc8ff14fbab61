//! The hash of a state.

use alloc::vec::Vec;

use crate::decode::encode_into;
use crate::digest::Digest;
use crate::rules::Rules;

/// Returns the hash of a state of these bytes under a version of a ruleset.
///
/// It compares a hash that was recorded under another version, if both versions encode the state alike.
///
/// # Panics
/// Never: a name and a number always encode.
#[must_use]
pub fn hash_as(ruleset: &str, version: u32, state: &[u8]) -> Digest {
    let mut bytes = postcard::to_allocvec(&(ruleset, version)).expect("plain data encodes");
    bytes.extend_from_slice(state);
    StateHasher::default().hasher.update(&bytes).finalize().into()
}

/// Computes state hashes, reusing its buffers from one state to the next.
///
/// The hash is blake3 in derive-key mode, context `turnfold v1 state`, over
/// `postcard(ruleset name) ‖ postcard(ruleset version) ‖ postcard(State)`.
#[derive(Clone, Debug)]
pub struct StateHasher {
    hasher: blake3::Hasher,
    bytes: Vec<u8>,
}

impl Default for StateHasher {
    fn default() -> Self {
        Self { hasher: blake3::Hasher::new_derive_key("turnfold v1 state"), bytes: Vec::new() }
    }
}

impl StateHasher {
    /// Hashes a state of ruleset `R`.
    ///
    /// # Panics
    /// Never: states are plain data, which postcard always encodes.
    pub fn hash<R: Rules>(&mut self, state: &R::State) -> Digest {
        self.bytes.clear();
        encode_into(&(R::NAME, R::VERSION, state), &mut self.bytes);
        self.hasher.reset();
        self.hasher.update(&self.bytes).finalize().into()
    }
}
