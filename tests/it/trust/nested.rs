//! Branches that begin on each other, many thousands deep: what reads them takes time linear in their number.

#![expect(clippy::disallowed_methods, reason = "bounds what would hang")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use turnfold_core::Digest;
use turnfold_store::{Entry, Genesis, Linker};

use super::tampered_bundles::Edited;
use super::to_base64;
use super::world::duel;
use turnfold_tests::sandbox::Sandbox;

/// A bundle of `duel` with `count` branches, each begun on the last: half of them with an entry of their own.
fn nested(sandbox: &Sandbox, count: usize) -> String {
    sandbox.ok("bundle duel -o duel.bundle");
    let main = Edited::of(&sandbox.read("duel.bundle")).lines.swap_remove(0);
    let mut text =
        format!("turnfold bundle 1\n-- match duel\n-- line main - 0 {} {}\n", main.records.len(), main.link);
    for record in &main.records {
        writeln!(text, "+{}", to_base64(record)).unwrap();
    }
    let genesis = Genesis::decode(&main.records[0]).unwrap();
    let linker = Linker::new();
    let mut link = main.records[1..].iter().fold(genesis.link(), |link, record| linker.link(&link, record));
    // p2's `cycle` leaves the state so that p2 may cycle again.
    let mut entry = Entry::decode(main.records.last().unwrap()).unwrap();
    let mut parent = String::from("main");
    for index in 0..count {
        let (name, first, own) = (format!("b{index:05}"), entry.seq + 1, usize::from(index % 2 == 0));
        if own == 1 {
            entry.seq += 1;
            link = linker.link(&link, &entry.encode());
        }
        writeln!(text, "-- line {name} {parent} {first} {own} {link}").unwrap();
        if own == 1 {
            writeln!(text, "+{}", to_base64(&entry.encode())).unwrap();
        }
        parent = name;
    }
    let end = Digest::new(Sha256::digest(&text).into());
    text + &format!("-- end {end}\n")
}

/// Runs a line and returns how long it took.
fn timed(sandbox: &Sandbox, line: &str) -> Duration {
    let begin = Instant::now();
    sandbox.ok(line);
    begin.elapsed()
}

/// Sixteen times as many branches take at most some sixteen times as long: if time grew with the square of their number,
/// it would be 256 times.
#[test]
fn nested_branches_are_read_in_time_linear_in_their_number() {
    let mut times = Vec::new();
    for count in [250, 4000] {
        let sandbox = duel();
        sandbox.write("nested.bundle", nested(&sandbox, count));
        let audit = timed(&sandbox, "audit nested.bundle");
        let import = timed(&sandbox, "--store new import nested.bundle");
        let again = timed(&sandbox, "--store new import nested.bundle");
        let read = [
            "bundle duel -o again.bundle",
            "verify duel",
            "store heads",
            "branches duel",
            "store backup backup",
        ]
        .map(|line| timed(&sandbox, &format!("--store new {line}")));
        let restored = timed(&sandbox, "store restore backup restored");
        assert_eq!(sandbox.read("again.bundle"), sandbox.read("nested.bundle"));
        times.push([audit, import, again].into_iter().chain(read).chain([restored]).collect::<Vec<_>>());
    }
    for (index, (few, many)) in times[0].iter().zip(&times[1]).enumerate() {
        // A process takes a while to start, and machines are busy.
        let limit = *few * 48 + Duration::from_secs(2);
        assert!(*many < limit, "step {index}: {few:?} for 250 branches, {many:?} for 4000");
    }
}
