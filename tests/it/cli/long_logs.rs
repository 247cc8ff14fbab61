//! `turnfold log` of more entries than it keeps in memory. It reads them in runs, and several times for a player.

use turnfold_tests::sandbox::Sandbox;

/// Creates a long match in the store and in a file.
fn long(ruleset: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&format!("simulate --rules {ruleset} --seed 1 --steps 2100 --into long"));
    sandbox.ok("export long -o long.tfl");
    sandbox
}

#[test]
fn a_long_log_is_the_same_from_the_store_a_file_and_a_pipe() {
    let mut is_concealed = false;
    for (ruleset, asked) in [
        ("channel", [("", ""), (":1020..1030", ""), (":1500..", "-n 1100"), ("", "--seat p1 -n 40")]),
        (
            "cycletap",
            [
                ("", ""),
                (":..2050", "--seat p2"),
                (":2000", "-n 3"),
                (":..1900", "--seat p2 --grep \"p2 .*=>\" -n 600"),
            ],
        ),
    ] {
        let sandbox = long(ruleset);
        for (range, options) in asked {
            let log = |source: &str, viewer: &str| {
                sandbox.ok(&format!("log --as {viewer} {options} {source}{range}"))
            };
            let counts = ["host", "p1", "spectator"].map(|viewer| {
                let what = format!("{ruleset} {range} {options} {viewer}");
                let file = log("long.tfl", viewer);
                assert!(!file.is_empty(), "{what}");
                assert_eq!(log("long", viewer), file, "{what}");
                if viewer == "p1" {
                    // Standard input is kept in memory completely.
                    let line = format!("turnfold log --as {viewer} {options} -- -{range} < long.tfl");
                    assert_eq!(String::from_utf8(sandbox.shell(&line).stdout).unwrap(), file, "{what}");
                }
                file.lines().count()
            });
            is_concealed |= counts[0] > counts[2];
        }
    }
    assert!(is_concealed, "nothing was concealed, so that nothing was proven");
}

#[test]
fn the_last_matching_entries_of_a_long_log_have_the_links_and_bytes_of_the_whole_log() {
    let sandbox = long("cycletap");
    for form in ["--links", "--raw"] {
        let whole = sandbox.ok(&format!("log long {form}"));
        let of_seat: Vec<_> = whole.lines().filter(|line| line.contains(" p1 ")).collect();
        for count in [0, 7, 900] {
            let last = sandbox.ok(&format!("log long {form} --seat p1 -n {count}"));
            let expected = &of_seat[of_seat.len().saturating_sub(count)..];
            let found: Vec<_> = last.lines().filter(|line| line.contains(" p1 ")).collect();
            assert_eq!(found, expected, "{form} {count}");
        }
        let range = sandbox.ok(&format!("log long:1000..2050 {form}"));
        assert!(range.lines().take(1051).eq(whole.lines().skip(999).take(1051)), "{form}");
    }
}

#[test]
fn a_fault_after_many_entries_is_named_before_any_is_printed() {
    let sandbox = long("cycletap");
    let text = sandbox.read("long.tfl");
    let end = text.rfind("\n2000 ").unwrap();
    sandbox.write("cut.tfl", format!("{}\n2001 p1 oops\n", &text[..end]));
    let output = sandbox.run("log cut.tfl");
    assert!(output.stdout.is_empty());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("expected entry number 2000, found `2001`"), "{error}");
}
