//! A program with a game in several versions. Its first argument lists the versions, such as `1,2`. `m1` is version 1
//! as a module. `f1` and `r1` are the same module, but fail at a move; `r1` fails only when it is folded twice.

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use turnfold_core::Registry;
use turnfold_core::any::erase;

mod heaps;
mod module;

use heaps::Heaps;
use module::{FAILS, REMEMBERS, ToyModule};

fn main() -> ExitCode {
    // The output names the program as in transcripts.
    let mut args = env::args_os().skip(1);
    let versions = args.next().unwrap_or_default();
    let mut registry = Registry::default();
    for version in versions.to_string_lossy().split(',') {
        registry = match version {
            "m1" | "f1" | "r1" => {
                FAILS.store(version == "f1", Ordering::Relaxed);
                REMEMBERS.store(version == "r1", Ordering::Relaxed);
                registry.with_version(Arc::new(ToyModule(erase::<Heaps<1>>())))
            }
            "1" => registry.with_version(erase::<Heaps<1>>()),
            "2" => registry.with_version(erase::<Heaps<2>>()),
            "3" => registry.with_version(erase::<Heaps<3>>()),
            _ => registry,
        };
    }
    turnfold::run([OsString::from("turnfold")].into_iter().chain(args), registry)
}
