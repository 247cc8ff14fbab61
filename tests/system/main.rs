//! Tests that take minutes or need more than Rust: a browser, PostgreSQL, strace, Python, another build of the library,
//! killed processes. Run them with `.ci/run` or `cargo test --workspace --test system`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

#[cfg(target_os = "linux")] // the memory of a process
mod bounded_memory;
#[cfg(unix)] // kills
mod example;
#[cfg(target_os = "linux")] // strace
mod faults;
#[cfg(unix)]
mod fleet;
#[cfg(unix)] // a database
mod guides;
mod liars;
#[cfg(target_os = "linux")] // Debian's mail programs
mod mail_programs;
#[cfg(unix)] // a browser
mod page;
#[cfg(unix)] // Python
mod pgn;
mod platforms;
#[cfg(unix)] // node
mod ports;
#[cfg(target_os = "linux")] // strace
mod referee_starts;
#[cfg(unix)] // programs of other languages
mod referees;
#[cfg(target_os = "linux")] // chroot, Debian
mod release;
mod rescue;
mod serve;
mod unfinished_files;
#[cfg(target_os = "linux")] // wine
mod windows;
