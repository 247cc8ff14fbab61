//! Makes a WebAssembly module of a ruleset, so that a game is one file (MD-5).
//!
//! A crate that has `crate-type = ["cdylib", "rlib"]` and this line becomes a module when it is built for
//! `wasm32-unknown-unknown`; built for anything else, the line does nothing:
//!
//! ```
//! turnfold_guest::export!(turnfold_games::initiative::Initiative);
//! ```
//!
//! [`message`] has the requests that a module answers, [`answer`] answers them by any ruleset.

#![no_std]
#![deny(clippy::float_arithmetic)]

extern crate alloc;

mod answer;
#[cfg(target_family = "wasm")]
pub mod exports;
pub mod message;

pub use answer::answer;
#[doc(hidden)]
pub use turnfold_core::any::erase;

/// Exports what a host calls, for one ruleset: a type that implements [`Rules`](turnfold_core::Rules).
///
/// The only unsafe thing about it is that the names of the exports stand for themselves: a program may have only one such
/// line. No memory is read or written through a pointer of the host's.
#[macro_export]
macro_rules! export {
    ($rules:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            static BUFFERS: $crate::exports::Buffers = $crate::exports::Buffers::new();

            #[unsafe(no_mangle)]
            extern "C" fn turnfold_abi() -> i32 {
                $crate::message::ABI
            }

            #[unsafe(no_mangle)]
            extern "C" fn turnfold_alloc(bytes: u32) -> *mut u8 {
                BUFFERS.alloc(bytes)
            }

            #[unsafe(no_mangle)]
            extern "C" fn turnfold_call(request: *mut u8, bytes: u32) -> u64 {
                BUFFERS.call(&*$crate::erase::<$rules>(), request, bytes)
            }
        };
    };
}
