//! Branches that begin on each other, many thousands deep: reading them takes time linear in their number.

#![expect(clippy::disallowed_methods, reason = "bounds what would hang")]

use std::time::{Duration, Instant};

use turnfold_store::{Entry, Linker};

use super::tampered_bundles::{Edited, EditedLine};
use super::world::duel;
use turnfold_tests::sandbox::Sandbox;

/// Returns a bundle of `duel` with `count` branches, each of which begins on the previous one. Half of them have an
/// entry of their own.
fn nested(sandbox: &Sandbox, count: usize) -> String {
    sandbox.ok("bundle duel -o duel.bundle");
    let mut bundle = Edited::of(&sandbox.read("duel.bundle"));
    bundle.lines.truncate(1);
    // After its `cycle`, p2 may cycle again.
    let mut entry = Entry::decode(bundle.lines[0].records.last().unwrap()).unwrap();
    let (mut linker, mut link) = (Linker::new(), bundle.lines[0].link.parse().unwrap());
    for index in 0..count {
        let (parent, first) = (bundle.lines[index].branch.clone(), usize::try_from(entry.seq).unwrap() + 1);
        let mut records = Vec::new();
        if index % 2 == 0 {
            entry.seq += 1;
            link = linker.link(&link, &entry.encode());
            records.push(entry.encode());
        }
        let (branch, link) = (format!("b{index:05}"), link.to_string());
        bundle.lines.push(EditedLine { branch, parent, first, records, link });
    }
    bundle.text()
}

/// Runs a command and returns its duration.
fn timed(sandbox: &Sandbox, line: &str) -> Duration {
    let begin = Instant::now();
    sandbox.ok(line);
    begin.elapsed()
}

/// Sixteen times as many branches take about sixteen times as long at most. If the time grew quadratically, it would be
/// 256 times as long.
#[test]
fn nested_branches_are_read_in_time_linear_in_their_number() {
    let mut times = Vec::new();
    for count in [125, 2000] {
        let sandbox = duel();
        sandbox.write("nested.bundle", nested(&sandbox, count));
        let audit = timed(&sandbox, "audit nested.bundle");
        let import = timed(&sandbox, "--store new import nested.bundle");
        let again = timed(&sandbox, "--store new import nested.bundle");
        let read = [
            "bundle duel -o again.bundle",
            "verify duel",
            "store heads",
            "branch duel",
            "store backup backup",
        ]
        .map(|line| timed(&sandbox, &format!("--store new {line}")));
        let restored = timed(&sandbox, "store restore backup restored");
        assert_eq!(sandbox.read("again.bundle"), sandbox.read("nested.bundle"));
        times.push([audit, import, again].into_iter().chain(read).chain([restored]).collect::<Vec<_>>());
    }
    for (index, (few, many)) in times[0].iter().zip(&times[1]).enumerate() {
        // The limit is generous, because a process takes a while to start and machines are busy.
        let limit = *few * 48 + Duration::from_secs(2);
        assert!(*many < limit, "step {index}: {few:?} for 125 branches, {many:?} for 2000");
    }
}
