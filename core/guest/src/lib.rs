//! Makes a ruleset available to turnfold as a WebAssembly module, which is one file (MD-5), or as a program that
//! answers over its standard input and output (RF-2). Both use the messages of `PROTOCOL.md`.
//!
//! A crate with `crate-type = ["cdylib", "rlib"]` and the following invocation becomes a module when it is built for
//! `wasm32-unknown-unknown`. For any other target, the invocation does nothing:
//!
//! ```
//! turnfold_guest::export!(turnfold_games::initiative::Initiative);
//! ```
//!
//! With the feature `std`, a program whose `main` calls `serve::<Initiative>()` is a referee.

#![no_std]
#![deny(clippy::float_arithmetic)]

extern crate alloc;

mod answer;
mod encoding;
#[cfg(target_family = "wasm")]
pub mod exports;
mod request;
#[cfg(feature = "std")]
mod serve;

pub use answer::answer;
#[cfg(feature = "std")]
pub use serve::serve;

/// The version of the exports of a module, which `turnfold_abi` returns.
pub const ABI: i32 = 2;

/// Exports the functions that a host calls, for one ruleset: a type that implements [`Rules`](turnfold_core::Rules).
///
/// It is unsafe only because the names of the exports are not mangled, so a program may have only one such invocation.
/// No memory is read or written through a pointer from the host.
#[macro_export]
macro_rules! export {
    ($rules:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            static BUFFERS: $crate::exports::Buffers = $crate::exports::Buffers::new();

            #[unsafe(no_mangle)]
            extern "C" fn turnfold_abi() -> i32 {
                $crate::ABI
            }

            #[unsafe(no_mangle)]
            extern "C" fn turnfold_alloc(bytes: u32) -> *mut u8 {
                BUFFERS.alloc(bytes)
            }

            #[unsafe(no_mangle)]
            extern "C" fn turnfold_call(request: *mut u8, bytes: u32) -> u64 {
                BUFFERS.call($crate::answer::<$rules>, request, bytes)
            }
        };
    };
}
