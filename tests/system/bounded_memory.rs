//! The memory use of long matches: importing, exporting and playing hold few entries at a time.

use std::fs;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use turnfold_core::Seat;
use turnfold_store::{Genesis, NewEntry, PackedEntries, Store};
use turnfold_tests::sandbox::{Sandbox, words};

/// Returns the peak memory of a command, in KiB, and its output.
fn measured(mut command: Command) -> (u64, Output) {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    while child.try_wait().unwrap().is_none() {
        // A process that has just ended has no status.
        let text = fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak_kib = peak.map_or(peak_kib, |peak| peak.trim().strip_suffix(" kB").unwrap().parse().unwrap());
        thread::sleep(Duration::from_millis(2));
    }
    (peak_kib, child.wait_with_output().unwrap())
}

#[test]
fn import_export_and_play_hold_few_entries_at_a_time() {
    let peaks = |count: usize| {
        let sandbox = Sandbox::new();
        sandbox.ok("new long --rules cycletap --setup fixtures/cycletap/ford.toml");
        sandbox.write("script", "p1: tap 0,0\n".repeat(count));
        ["play long --script script", "export long -o long.tfl", "import long.tfl --name again"].map(|line| {
            let line = words(line);
            let (peak_kib, output) = measured(sandbox.command(line.iter().map(String::as_str)));
            assert!(output.status.success(), "{line:?}: {}", String::from_utf8_lossy(&output.stderr));
            peak_kib
        })
    };
    let (short, long) = (peaks(5_000), peaks(50_000));
    // Held all at once, 45,000 entries take 29 MiB more to import and 22 MiB more to export.
    for ((name, more_kib), (short, long)) in [("play", 12 << 10), ("export", 8 << 10), ("import", 12 << 10)]
        .into_iter()
        .zip(short.into_iter().zip(long))
    {
        assert!(long <= short + more_kib, "{name}: {short} KiB for 5,000 entries and {long} KiB for 50,000");
    }
}

/// A branch too long for a replay file is refused before its entries are read. Here the entries are not even commands.
#[test]
fn an_export_beyond_the_limit_reads_no_entry() {
    let sandbox = Sandbox::new();
    sandbox.ok("new short --rules cycletap --setup fixtures/cycletap/ford.toml");
    {
        let store = Store::open(&sandbox.path(".turnfold")).unwrap();
        let genesis = store.genesis(&"short".parse().unwrap()).unwrap();
        let genesis = Genesis { match_id: [7; 16], ..genesis };
        let mut entries = PackedEntries::default();
        for _ in 0..=2_000_000 {
            entries.push(&NewEntry { seat: Seat::Host, command: vec![255], recorded_at_ms: 0 });
        }
        store.create_long_match(&"long".parse().unwrap(), &genesis, entries).unwrap();
        store.close().unwrap();
    }
    let export = |line: &str| measured(sandbox.command(words(line).iter().map(String::as_str)));
    let (short_kib, _) = export("export short -o short.tfl");
    let (long_kib, output) = export("export long -o long.tfl");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && stderr.contains("too many for a replay file"), "{stderr}");
    assert!(long_kib <= short_kib + (16 << 10), "{long_kib} KiB, and {short_kib} for a short one");
    assert!(!sandbox.path("long.tfl").exists());
}
