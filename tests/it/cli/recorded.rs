//! Files whose records differ from what this build computes, in verbs that do not check.

use std::fs;

use serde_json::{Value, json};

use super::duel;
use turnfold_tests::sandbox::Sandbox;

const WARNING: &str = "warning: bent.tfl: entry 2 (p1 confirm) recorded `selected unit=zeus`, this build computes \
    `selected unit=atlas`; `turnfold check bent.tfl` shows it\n";

/// Returns a sandbox with `duel` in `good.tfl`, and with another outcome of entry 2 in `bent.tfl`.
fn bent() -> Sandbox {
    let sandbox = duel();
    sandbox.ok("export duel -o good.tfl");
    let bent = sandbox.read("good.tfl").replace("=> selected unit=atlas", "=> selected unit=zeus");
    sandbox.write("bent.tfl", bent);
    sandbox
}

/// Runs a command. Returns its standard output and standard error.
fn run(sandbox: &Sandbox, line: &str) -> [String; 2] {
    let output = sandbox.run(line);
    [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
}

#[test]
fn every_verb_that_shows_a_file_names_what_it_records_otherwise_in_one_line() {
    let sandbox = bent();
    for line in [
        "log @",
        "log @:3..3",
        "log @ -n 1",
        "show @",
        "show @:1",
        "show @ --changed",
        "legal @",
        "ask @ \"reach atlas\"",
        "blame @ /selected",
        "bisect @ --when \"/phase == movement\"",
        "find @ --seat p1",
        "table entries @",
        "table groups @",
        "verify --reload @",
        "shrink @ --when \"/selected == atlas\"",
        "replay @ --step",
    ] {
        let [_, warned] = run(&sandbox, &line.replace('@', "bent.tfl"));
        assert_eq!(warned.matches(WARNING).count(), 1, "{line}: {warned}");
        assert_eq!(warned.matches("warning:").count(), 1, "{line}: {warned}");
        let [_, warned] = run(&sandbox, &line.replace('@', "good.tfl"));
        assert!(!warned.contains("warning:"), "{line}: {warned}");
    }
    // Each of several files that differs gets its own line.
    let [_, warned] = run(&sandbox, "table matches bent.tfl good.tfl bent.tfl");
    assert_eq!(warned, WARNING.repeat(2));
    // A file in which only the final state hash differs.
    let good = sandbox.read("good.tfl");
    let last = good.lines().rfind(|line| line.starts_with("3 ")).unwrap();
    let (before, hash) = last.rsplit_once('#').unwrap();
    sandbox.write("bent.tfl", good.replace(last, &format!("{before}#{}", "0".repeat(16))));
    let [_, warned] = run(&sandbox, "show bent.tfl");
    let expected =
        format!("recorded `state hash #{}`, this build computes `state hash #{hash}`", "0".repeat(16));
    assert!(warned.contains(&expected), "{warned}");
}

#[test]
fn the_entry_is_marked_in_text_and_json() {
    let sandbox = bent();
    let mark = "[recorded: selected unit=zeus]";
    for line in ["log", "find --seat p1", "blame /selected --all", "bisect:2 --when \"/selected == atlas\""] {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (verb, seq) = verb.split_once(':').map_or((verb, ""), |(verb, _)| (verb, ":2"));
        let [shown, _] = run(&sandbox, &format!("{verb} bent.tfl{seq} {rest}"));
        assert_eq!(shown.matches(mark).count(), 1, "{line}: {shown}");
        let [shown, _] = run(&sandbox, &format!("{verb} good.tfl {rest}"));
        assert!(!shown.contains("recorded"), "{line}: {shown}");
    }
    let [shown, _] = run(&sandbox, "--format json log bent.tfl");
    let records: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let recorded: Vec<_> = records.iter().map(|record| record.get("recorded").cloned()).collect();
    assert_eq!(recorded, [None, Some(json!("selected unit=zeus")), None]);
}

#[test]
fn what_was_recorded_is_searched_when_asked_for() {
    let sandbox = bent();
    let found = "bent.tfl:2 p1 confirm => selected unit=atlas [recorded: selected unit=zeus]\n";
    assert_eq!(run(&sandbox, "find bent.tfl good.tfl --recorded")[0], found);
    let bent = sandbox.read("bent.tfl").replace("selected unit=zeus", "fell unit=zeus");
    sandbox.write("bent.tfl", bent);
    let [shown, _] = run(&sandbox, "find bent.tfl good.tfl --recorded --effect fell");
    assert!(shown.starts_with("bent.tfl:2 p1 confirm"), "{shown}");
    assert_eq!(run(&sandbox, "find bent.tfl good.tfl --effect selected")[0].lines().count(), 2);
    assert_eq!(run(&sandbox, "find bent.tfl good.tfl --effect selected --recorded")[0].lines().count(), 1);
}

#[test]
fn what_was_recorded_of_a_match_is_no_ones_but_the_hosts() {
    let sandbox = bent();
    for line in [
        "log bent.tfl --as p2",
        "show bent.tfl --as p2",
        "legal bent.tfl --as p1",
        "find bent.tfl --seat p1 --as p2",
        "table entries bent.tfl --as spectator",
        "table groups bent.tfl --as p1",
        "blame bent.tfl /turn --as p1",
        "diff bent.tfl good.tfl --as p1",
        "--format json log bent.tfl --as p1",
        "find bent.tfl --recorded --as p1",
    ] {
        let [bent, bent_errors] = run(&sandbox, line);
        let [good, good_errors] = run(&sandbox, &line.replace("bent.tfl", "good.tfl"));
        assert_eq!(bent.replace("bent.tfl", "good.tfl"), good, "{line}");
        assert_eq!(bent_errors.replace("bent.tfl", "good.tfl"), good_errors, "{line}");
    }
    // A file for a seat records what that seat may know.
    sandbox.ok("export duel --as p1 -o p1.tfl");
    let seats = sandbox.read("p1.tfl").replace("=> selected unit=atlas", "=> selected unit=zeus");
    sandbox.write("p1.tfl", seats);
    let [shown, warned] = run(&sandbox, "log p1.tfl");
    assert!(shown.contains("[recorded: selected unit=zeus]"), "{shown}");
    let expected = "warning: p1.tfl: entry 2 (p1 confirm) recorded `selected unit=zeus`, this build computes \
        `selected unit=atlas`\n";
    assert_eq!(warned, expected);
    sandbox.ok("export p1.tfl --html -o p1.html");
    let page = fs::read_to_string(sandbox.path("p1.html")).unwrap();
    assert!(page.contains("selected unit=atlas [recorded: selected unit=zeus]</li>"), "{page}");
}

#[test]
fn shrink_states_that_the_outcomes_are_those_of_this_build() {
    let sandbox = bent();
    let stated = "this build computed the outcomes, and `bent.tfl` records others: entry 2 (p1 confirm) recorded \
        `selected unit=zeus`, this build computes `selected unit=atlas`";
    let [shown, _] = run(&sandbox, "shrink bent.tfl --when \"/selected == atlas\" -o least.tfl");
    assert!(shown.contains(stated), "{shown}");
    assert!(sandbox.read("least.tfl").contains(&format!("# {stated}\n")));
    sandbox.ok("shrink good.tfl --when \"/selected == atlas\" -o good-least.tfl");
    assert!(!sandbox.read("good-least.tfl").contains("this build computed"));
}

#[test]
fn a_name_that_nothing_has_is_an_error_that_names_what_there_is() {
    let sandbox = duel();
    sandbox.ok("export duel -o good.tfl");
    for (line, expected) in [
        (
            "find @ --effect movd",
            "no entry has an effect `movd`, did you mean `moved`?; there are: cursor, flash, ",
        ),
        ("find @ --reason foo", "there is no reason `foo`; there are: already_moved, "),
        ("find @ --seat p7", "no log has a seat `p7`; there are p1, p2 and host"),
        ("log @ --seat p7", "`@` has no seat `p7`; its seats are p1, p2 and host"),
        ("log @ --as p9", "`@` has no seat `p9`; its seats are p1, p2 and host"),
        ("legal @ --as p3", "`@` has no seat `p3`; its seats are p1, p2 and host"),
        ("show @ --as p9", "`@` has no seat `p9`; "),
        ("ask @ \"reach atlas\" --as p9", "`@` has no seat `p9`; "),
        ("blame @ /turn --as p9", "`@` has no seat `p9`; "),
        ("bisect @ --when \"/turn == 2\" --as p9", "`@` has no seat `p9`; "),
        ("replay @ --as p9", "`@` has no seat `p9`; "),
        ("diff @ @:1 --as p9", "`@` has no seat `p9`; "),
        ("table entries @ --as p9", "`@` has no seat `p9`; "),
        ("table groups @ --as p9", "`@` has no seat `p9`; "),
        ("find @ --seat p1 --as p9", "`@` has no seat `p9`; "),
    ] {
        for source in ["duel", "good.tfl"] {
            let line = line.replace('@', source);
            let output = sandbox.run(&line);
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{line}: {error}");
            assert!(
                error.starts_with(&format!("error: {}", expected.replace('@', source))),
                "{line}: {error}"
            );
        }
    }
    // A reason or seat that the rules know but no entry has is merely not found.
    assert_eq!(sandbox.run("find duel --reason occupied").status.code(), Some(1));
    assert_eq!(sandbox.run("find duel --seat p2").status.code(), Some(1));
    sandbox.ok("show duel --as spectator");
}
