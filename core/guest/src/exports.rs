//! The memory that a module shares with its host.

extern crate std;

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use std::sync::Mutex;

/// The request that the host writes, and the answer that it reads.
pub struct Buffers(Mutex<(Vec<u8>, String)>);

impl Buffers {
    /// Returns empty buffers.
    #[must_use]
    pub const fn new() -> Self {
        Self(Mutex::new((Vec::new(), String::new())))
    }

    /// Makes room for a request and returns where it is.
    ///
    /// # Panics
    /// If a call panicked before. A panic is a trap, and a host calls nothing after a trap.
    pub fn alloc(&self, bytes: u32) -> *mut u8 {
        let (request, _) = &mut *self.0.lock().expect("a host calls nothing after a trap");
        *request = vec![0; bytes as usize];
        request.as_mut_ptr()
    }

    /// Answers the request. Returns the address of the answer, shifted by 32 bits, and its length. The answer is valid
    /// until the next call.
    ///
    /// # Panics
    /// If the request is not where [`alloc`](Self::alloc) made room for it.
    pub fn call(&self, answer: fn(&[u8]) -> String, request: *mut u8, bytes: u32) -> u64 {
        let (room, reply) = &mut *self.0.lock().expect("a host calls nothing after a trap");
        assert!(room.as_mut_ptr() == request && room.len() == bytes as usize, "no such request");
        *reply = answer(room);
        *room = Vec::new();
        ((reply.as_ptr() as u64) << 32) | reply.len() as u64
    }
}

impl Default for Buffers {
    fn default() -> Self {
        Self::new()
    }
}
