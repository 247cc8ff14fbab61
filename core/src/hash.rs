//! The hash of a state.

use alloc::vec::Vec;

use crate::digest::Digest;
use crate::rules::Rules;

/// Returns the hash of a state of these bytes under a version of a ruleset.
///
/// With it a hash recorded under another version can be compared, as long as both encode the state alike.
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
        let value = (R::NAME, R::VERSION, state);
        postcard::serialize_with_flavor(&value, Reused(&mut self.bytes)).expect("plain data encodes");
        self.hasher.reset();
        self.hasher.update(&self.bytes).finalize().into()
    }
}

/// A buffer that postcard writes to and that keeps its room.
///
/// Nearly all of a state is numbers of one byte, which are written faster one by one than copied as slices.
struct Reused<'a>(&'a mut Vec<u8>);

impl postcard::ser_flavors::Flavor for Reused<'_> {
    type Output = ();

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        if let [byte] = bytes {
            self.0.push(*byte);
        } else {
            self.0.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}
