//! A program with a game in several versions: its first argument lists those that it has, such as `1,2`.

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use turnfold_core::Registry;
use turnfold_core::any::erase;

mod heaps;

use heaps::Heaps;

fn main() -> ExitCode {
    // What is printed names the program as transcripts call it.
    let mut args = env::args_os().skip(1);
    let versions = args.next().unwrap_or_default();
    let mut registry = Registry::default();
    for version in versions.to_string_lossy().split(',') {
        registry = match version {
            "1" => registry.with_version(erase::<Heaps<1>>()),
            "2" => registry.with_version(erase::<Heaps<2>>()),
            "3" => registry.with_version(erase::<Heaps<3>>()),
            _ => registry,
        };
    }
    turnfold::run([OsString::from("turnfold")].into_iter().chain(args), registry)
}
