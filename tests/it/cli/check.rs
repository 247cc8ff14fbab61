//! `turnfold check`.

use std::fs;

use snapbox::str;

use super::duel;
use turnfold_tests::parts::has_or_skips;
use turnfold_tests::sandbox::{Sandbox, copy_folder, workspace};
use turnfold_tests::transcript;

#[test]
fn a_failure_shows_entry_outcomes_and_state() {
    let sandbox = duel();
    sandbox.ok("export duel -o good.tfl");
    let file = sandbox.read("good.tfl");
    sandbox.write("outcome.tfl", file.replace("selected unit=atlas", "selected unit=locust"));
    let hash =
        file.lines().find(|line| line.starts_with("3 ")).and_then(|line| line.split('#').nth(1)).unwrap();
    let flipped = hash.replacen(
        |digit: char| digit.is_ascii_hexdigit(),
        if hash.starts_with('0') { "1" } else { "0" },
        1,
    );
    sandbox.write("hash.tfl", file.replace(hash, &flipped));
    sandbox.check(str![[r#"
$ turnfold check good.tfl
ok good.tfl 3 entries
1 passed, 0 failed (3 entries)
$ turnfold check outcome.tfl
outcome.tfl:41: entry 2 (p1 confirm): outcome differs
- selected unit=locust
+ selected unit=atlas
state: the same, as the hashes agree
to reproduce: turnfold replay outcome.tfl --to 2
0 passed, 1 failed (3 entries)
exit 1
$ turnfold check hash.tfl
hash.tfl:42: entry 3 (p1 move 0,1): state hash differs
- 0bc3cdd5a21478a4
+ 8bc3cdd5a21478a4
state, before → after entry 3:
  /impulse 0 → 1
  /active_player "p1" → "p2"
  /moved [] → ["atlas"]
  /cursor [0,2] → [0,1]
  /selected "atlas" → null
  /units/0/at [0,2] → [0,1]
  /prompt "Player 1: move Atlas AS7-D" → "Player 2: select a unit to move (1 remaining)"
  /status "Player 1's turn — move 1 of 1 units" → "Player 2's turn — move 1 of 1 units"
to reproduce: turnfold replay hash.tfl --to 3
0 passed, 1 failed (3 entries)
exit 1
$ turnfold check outcome.tfl good.tfl
outcome.tfl:41: entry 2 (p1 confirm): outcome differs
...
ok good.tfl 3 entries
failed files:
  outcome.tfl:41: entry 2 (p1 confirm): outcome differs
1 passed, 1 failed (6 entries)
exit 1
$ turnfold --format json check outcome.tfl good.tfl
{"file":"outcome.tfl","ok":false,"entries":3,"error":null,"mismatch":{"file":"outcome.tfl","line":41,"seq":2,"until":null,"seat":"p1","command":"confirm","kind":"outcome","rules":[],"dice":null,"expected":"selected unit=locust","actual":"selected unit=atlas","state_hash":null,"state_sides":"equal","state":[],"next":"turnfold replay outcome.tfl --to 2"},"differences":null,"later":[]}
{"file":"good.tfl","ok":true,"entries":3,"error":null,"mismatch":null,"differences":null,"later":[]}
exit 1

"#]]);
}

/// Returns a sandbox with a good golden log, one with another outcome, and a file that is not a replay, in `goldens`.
fn goldens() -> Sandbox {
    let sandbox = duel();
    fs::create_dir_all(sandbox.path("goldens/more")).unwrap();
    sandbox.ok("export duel -o goldens/more/good.tfl");
    let good = sandbox.read("goldens/more/good.tfl");
    sandbox.write("goldens/bad, 100%.tfl", good.replace("selected unit=atlas", "ignored no_unit"));
    sandbox.write("goldens/torn.tfl", &good[..30]);
    sandbox.write("goldens/notes.txt", "no replay");
    sandbox
}

#[test]
fn a_run_goes_on_to_the_other_files_unless_asked_to_stop() {
    goldens().check(str![[r#"
$ turnfold check goldens
goldens/bad, 100%.tfl:41: entry 2 (p1 confirm): outcome differs [IN-8, IN-9]
- ignored no_unit
+ selected unit=atlas
state: the same, as the hashes agree
to reproduce: turnfold replay 'goldens/bad, 100%.tfl' --to 2
ok goldens/more/good.tfl 3 entries
failed goldens/torn.tfl:3:9: expected a line feed, found nothing; was the file cut short?
failed files:
  goldens/bad, 100%.tfl:41: entry 2 (p1 confirm): outcome differs [IN-8, IN-9]
  goldens/torn.tfl:3:9: expected a line feed, found nothing; was the file cut short?
1 passed, 2 failed (6 entries)
exit 1
$ turnfold check --quiet goldens
goldens/bad, 100%.tfl:41: entry 2 (p1 confirm): outcome differs [IN-8, IN-9]
- ignored no_unit
+ selected unit=atlas
state: the same, as the hashes agree
to reproduce: turnfold replay 'goldens/bad, 100%.tfl' --to 2
failed goldens/torn.tfl:3:9: expected a line feed, found nothing; was the file cut short?
failed files:
  goldens/bad, 100%.tfl:41: entry 2 (p1 confirm): outcome differs [IN-8, IN-9]
  goldens/torn.tfl:3:9: expected a line feed, found nothing; was the file cut short?
1 passed, 2 failed (6 entries)
exit 1
$ turnfold check --quiet goldens/more
1 passed, 0 failed (3 entries)
$ turnfold check --fail-fast --jobs 1 goldens
goldens/bad, 100%.tfl:41: entry 2 (p1 confirm): outcome differs [IN-8, IN-9]
...
0 passed, 1 failed, 2 not checked (3 entries)
exit 1
$ turnfold check --fail-fast --jobs 8 --quiet goldens/more goldens
goldens/bad, 100%.tfl:41: entry 2 (p1 confirm): outcome differs [IN-8, IN-9]
...
failed files:
  goldens/bad, 100%.tfl:41: entry 2 (p1 confirm): outcome differs [IN-8, IN-9]
1 passed, 1 failed, 2 not checked (6 entries)
exit 1
$ turnfold check --jobs 0 goldens
exit 2| error: invalid value '0' for '--jobs <N>': 0 is not in 1..=1024; see `--help`

"#]]);
}

#[test]
fn reports_are_for_other_programs() {
    goldens().check(str![[r#"
$ turnfold check --report github goldens
::error file=goldens/bad%2C 100%25.tfl,line=41,title=entry 2 (p1 confirm)%3A outcome differs [IN-8%2C IN-9]::goldens/bad, 100%25.tfl:41: entry 2 (p1 confirm): outcome differs [IN-8, IN-9]%0A- ignored no_unit%0A+ selected unit=atlas%0Astate: the same, as the hashes agree%0Ato reproduce: turnfold replay 'goldens/bad, 100%25.tfl' --to 2
::error file=goldens/torn.tfl,line=3,title=expected a line feed%2C found nothing; was the file cut short?::goldens/torn.tfl:3:9: expected a line feed, found nothing; was the file cut short?
1 passed, 2 failed (6 entries)
exit 1
$ turnfold check --report json goldens
{"ok":false,"passed":1,"failed":2,"not_checked":0,"entries":6,"files":[{"file":"goldens/bad, 100%.tfl","ok":false,"entries":3,"error":null,"mismatch":{"file":"goldens/bad, 100%.tfl","line":41,"seq":2,"until":null,"seat":"p1","command":"confirm","kind":"outcome","rules":["IN-8","IN-9"],"dice":null,"expected":"ignored no_unit","actual":"selected unit=atlas","state_hash":null,"state_sides":"equal","state":[],"next":"turnfold replay 'goldens/bad, 100%.tfl' --to 2"},"differences":null,"later":[]},{"file":"goldens/more/good.tfl","ok":true,"entries":3,"error":null,"mismatch":null,"differences":null,"later":[]},{"file":"goldens/torn.tfl","ok":false,"entries":null,"error":"goldens/torn.tfl:3:9: expected a line feed, found nothing; was the file cut short?","mismatch":null,"differences":null,"later":[]}],"unread":[]}
exit 1
$ turnfold --format json check --quiet goldens
{"file":"goldens/bad, 100%.tfl","ok":false,"entries":3,"error":null,"mismatch":{"file":"goldens/bad, 100%.tfl","line":41,"seq":2,"until":null,"seat":"p1","command":"confirm","kind":"outcome","rules":["IN-8","IN-9"],"dice":null,"expected":"ignored no_unit","actual":"selected unit=atlas","state_hash":null,"state_sides":"equal","state":[],"next":"turnfold replay 'goldens/bad, 100%.tfl' --to 2"},"differences":null,"later":[]}
{"file":"goldens/torn.tfl","ok":false,"entries":null,"error":"goldens/torn.tfl:3:9: expected a line feed, found nothing; was the file cut short?","mismatch":null,"differences":null,"later":[]}
exit 1
$ turnfold check --report github goldens/more
1 passed, 0 failed (3 entries)
$ turnfold --format json check --report json goldens
exit 2| {"error":{"kind":"usage","message":"`--report` and `--format json` exclude each other","hint":"`--report json` prints one document, `--format json` a line for each file","exit_code":2}}
$ turnfold check --quiet --report github goldens
exit 2| error: the argument '--quiet' cannot be used with '--report <KIND>'; see `--help`
$ turnfold check --report junit missing
exit 2| error: cannot read `missing`: No such file or directory (os error 2); name replay files or a folder with `*.tfl` in it

"#]]);
}

#[test]
fn a_junit_report_holds_whatever_a_file_holds() {
    let sandbox = duel();
    sandbox.ok("export duel -o good.tfl");
    let good = sandbox.read("good.tfl");
    sandbox.write("a<b>&\"c\".tfl", good.replace("selected unit=atlas", "selected <![CDATA[ ]]> & \u{fffe}"));
    sandbox.write("escape.tfl", "\u{1b}[31mred\u{0}");
    let output =
        sandbox.command(["check", "--report", "junit", "a<b>&\"c\".tfl", "escape.tfl"]).output().unwrap();
    let xml = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let valid = |character: char| {
        character == '\n' || (character >= ' ' && character != '\u{fffe}' && character != '\u{ffff}')
    };
    assert!(xml.chars().all(valid), "{xml}");
    let report = quick_junit::Report::deserialize_from_str(&xml).unwrap();
    assert_eq!((report.tests, report.failures, report.errors), (2, 1, 1));
}

#[test]
fn every_difference_of_every_file_is_shown_when_asked_for() {
    let sandbox = duel();
    sandbox.ok("play duel confirm \"move 0,-1\"");
    sandbox.ok("export duel -o good.tfl");
    let good = sandbox.read("good.tfl");
    let other_hash = |line: &str| match line.rsplit_once(" #").filter(|_| line.contains(" => ")) {
        Some((entry, _)) => format!("{entry} #0123456789abcdef\n"),
        None => format!("{line}\n"),
    };
    let other: String = good.lines().map(other_hash).collect();
    sandbox.write("hashes.tfl", other.replace("selected unit=atlas", "ignored no_unit"));
    sandbox.write("command.tfl", good.replace("2 p1 confirm", "2 p1 cycle"));
    sandbox.write("short.tfl", good.replace("3 p1 move 0,1", "3 p2 move 0,1"));
    sandbox.check(str![[r#"
$ turnfold check --all good.tfl hashes.tfl command.tfl short.tfl
ok good.tfl 5 entries
hashes.tfl:40: entry 1 (host roll 1 2 3 4): state hash differs
dice: recorded, so the values are the file's and the rules differ
- 0123456789abcdef
+ e67f02be3627678a
state, before → after entry 1:
...
to reproduce: turnfold replay hashes.tfl --to 1
hashes.tfl:41: entry 2 (p1 confirm): outcome differs [IN-8, IN-9]
- ignored no_unit
+ selected unit=atlas
- #0123456789abcdef
+ #01c8c4ec6ad17e5a
hashes.tfl:42: entries 3 to 5: only the state hashes differ
hashes.tfl:45: closing line: log digest differs
- 46803d96ff69aae625d1bf721facce0b29ade652a7021eac97d0dfce12921cd9
+ b83fb80adac1bae0af1606789ba775ab9f66b06b0e1daf2308d25da69310b950
hashes.tfl: 6 differences
command.tfl:41: entry 2 (p1 cycle): outcome differs
- selected unit=atlas
+ cursor at=-1,2
- #01c8c4ec6ad17e5a
+ #270bfcfcea48abd9
state, before → after entry 2:
  /cursor [0,2] → [-1,2]
to reproduce: turnfold replay command.tfl --to 2
command.tfl:42: entry 3 (p1 move 0,1): outcome differs [IN-10, IN-11, IN-12]
- moved unit=atlas from=0,2 to=0,1
- cursor at=0,1
- impulse_advanced index=1 player=p2 units=1
+ ignored nothing_selected
- #8bc3cdd5a21478a4
+ #270bfcfcea48abd9
command.tfl:43: entry 4 (p2 confirm): the rules reject it [IN-8, IN-9]
- ignored not_your_unit
+ rejected not_your_turn: it is the other player's impulse
command.tfl: 3 differences
short.tfl:42: entry 3 (p2 move 0,1): the rules reject it
...
to reproduce: turnfold replay short.tfl --to 3
short.tfl: 1 difference
failed files:
  hashes.tfl:40: entry 1 (host roll 1 2 3 4): state hash differs
  command.tfl:41: entry 2 (p1 cycle): outcome differs
  short.tfl:42: entry 3 (p2 move 0,1): the rules reject it
1 passed, 3 failed (20 entries)
exit 1
$ turnfold check --all --report github hashes.tfl
::error file=hashes.tfl,line=40,title=entry 1 (host roll 1 2 3 4)%3A state hash differs::hashes.tfl:40: entry 1 (host roll 1 2 3 4): state hash differs%0Adice: recorded, so the values are the file's and the rules differ%0A- 0123456789abcdef%0A+ e67f02be3627678a%0Astate, before → after entry 1:%0A  /phase "initiative" → "movement"%0A  /initiative null → {"rolls":{"p1":3,"p2":7},"loser":"p1","winner":"p2"}%0A  /movement_order/0 (none) → {"player":"p1","units":1}%0A  /movement_order/1 (none) → {"player":"p2","units":1}%0A  /movement_order/2 (none) → {"player":"p1","units":1}%0A  /movement_order/3 (none) → {"player":"p2","units":1}%0A  /impulse null → 0%0A  /active_player null → "p1"%0A  /remaining_in_impulse null → 1%0A  /cursor [0,0] → [0,2]%0A  /due_roll {"purpose":"initiative","count":4,"low":1,"high":6} → null%0A  /prompt "Roll for initiative" → "Player 1: select a unit to move (1 remaining)"%0A  /status "" → "Player 1's turn — move 1 of 1 units"%0Ato reproduce: turnfold replay hashes.tfl --to 1
::error file=hashes.tfl,line=41,title=entry 2 (p1 confirm)%3A outcome differs [IN-8%2C IN-9]::hashes.tfl:41: entry 2 (p1 confirm): outcome differs [IN-8, IN-9]%0A- ignored no_unit%0A+ selected unit=atlas%0A- #0123456789abcdef%0A+ #01c8c4ec6ad17e5a
::error file=hashes.tfl,line=42,title=entries 3 to 5%3A only the state hashes differ::hashes.tfl:42: entries 3 to 5: only the state hashes differ
::error file=hashes.tfl,line=45,title=closing line%3A log digest differs::hashes.tfl:45: closing line: log digest differs%0A- 46803d96ff69aae625d1bf721facce0b29ade652a7021eac97d0dfce12921cd9%0A+ b83fb80adac1bae0af1606789ba775ab9f66b06b0e1daf2308d25da69310b950
0 passed, 1 failed (5 entries)
exit 1
$ turnfold --format json check --all hashes.tfl good.tfl
{"file":"hashes.tfl","ok":false,"entries":5,"error":null,"mismatch":{"file":"hashes.tfl","line":40,"seq":1,"until":null,"seat":"host","command":"roll 1 2 3 4","kind":"state_hash","rules":[],"dice":"recorded_values","expected":"0123456789abcdef","actual":"e67f02be3627678a","state_hash":null,"state_sides":"before_and_after","state":[{"path":"/phase","old":"initiative","new":"movement"},{"path":"/initiative","old":null,"new":{"rolls":{"p1":3,"p2":7},"loser":"p1","winner":"p2"}},{"path":"/movement_order/0","new":{"player":"p1","units":1}},{"path":"/movement_order/1","new":{"player":"p2","units":1}},{"path":"/movement_order/2","new":{"player":"p1","units":1}},{"path":"/movement_order/3","new":{"player":"p2","units":1}},{"path":"/impulse","old":null,"new":0},{"path":"/active_player","old":null,"new":"p1"},{"path":"/remaining_in_impulse","old":null,"new":1},{"path":"/cursor","old":[0,0],"new":[0,2]},{"path":"/due_roll","old":{"purpose":"initiative","count":4,"low":1,"high":6},"new":null},{"path":"/prompt","old":"Roll for initiative","new":"Player 1: select a unit to move (1 remaining)"},{"path":"/status","old":"","new":"Player 1's turn — move 1 of 1 units"}],"next":"turnfold replay hashes.tfl --to 1"},"differences":6,"later":[{"file":"hashes.tfl","line":41,"seq":2,"until":null,"seat":"p1","command":"confirm","kind":"outcome","rules":["IN-8","IN-9"],"dice":null,"expected":"ignored no_unit","actual":"selected unit=atlas","state_hash":{"expected":"0123456789abcdef","actual":"01c8c4ec6ad17e5a"},"state_sides":null,"state":null,"next":"turnfold replay hashes.tfl --to 2"},{"file":"hashes.tfl","line":42,"seq":3,"until":5,"seat":"p1","command":"move 0,1","kind":"state_hash","rules":[],"dice":null,"expected":"0123456789abcdef","actual":"8bc3cdd5a21478a4","state_hash":null,"state_sides":null,"state":null,"next":"turnfold replay hashes.tfl --to 3"},{"file":"hashes.tfl","line":45,"seq":null,"until":null,"seat":null,"command":null,"kind":"closing_log","rules":[],"dice":null,"expected":"46803d96ff69aae625d1bf721facce0b29ade652a7021eac97d0dfce12921cd9","actual":"b83fb80adac1bae0af1606789ba775ab9f66b06b0e1daf2308d25da69310b950","state_hash":null,"state_sides":null,"state":null,"next":"turnfold check hashes.tfl"}]}
{"file":"good.tfl","ok":true,"entries":5,"error":null,"mismatch":null,"differences":0,"later":[]}
exit 1

"#]]);
}

/// Blanks out the times of a report.
fn without_seconds(report: &str) -> String {
    let mut pieces = report.split(" time=\"");
    let mut blanked = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (time, rest) = piece.split_once('"').unwrap();
        assert!(time.parse::<f64>().is_ok_and(|seconds| (0.0..600.0).contains(&seconds)), "{time}");
        blanked.extend([" time=\"[SECONDS]\"", rest]);
    }
    blanked
}

#[test]
fn a_junit_report_names_file_and_line_and_how_long_it_took() {
    let sandbox = goldens();
    transcript::check(
        |lines| without_seconds(&sandbox.transcript(lines)),
        str![[r#"
$ turnfold check --report junit goldens
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="turnfold check" tests="3" skipped="0" failures="1" errors="1" time="[SECONDS]">
    <testsuite name="goldens" tests="2" skipped="0" errors="1" failures="1" time="[SECONDS]">
        <testcase name="bad, 100%.tfl" classname="goldens" time="[SECONDS]" file="goldens/bad, 100%.tfl" line="41">
            <failure message="goldens/bad, 100%.tfl:41: entry 2 (p1 confirm): outcome differs [IN-8, IN-9]" type="outcome">goldens/bad, 100%.tfl:41: entry 2 (p1 confirm): outcome differs [IN-8, IN-9]
- ignored no_unit
+ selected unit=atlas
state: the same, as the hashes agree
to reproduce: turnfold replay &apos;goldens/bad, 100%.tfl&apos; --to 2</failure>
        </testcase>
        <testcase name="torn.tfl" classname="goldens" time="[SECONDS]" file="goldens/torn.tfl" line="3">
            <error message="goldens/torn.tfl:3:9: expected a line feed, found nothing; was the file cut short?" type="unusable">goldens/torn.tfl:3:9: expected a line feed, found nothing; was the file cut short?</error>
        </testcase>
    </testsuite>
    <testsuite name="goldens/more" tests="1" skipped="0" errors="0" failures="0" time="[SECONDS]">
        <testcase name="good.tfl" classname="goldens/more" time="[SECONDS]" file="goldens/more/good.tfl" line="1"/>
    </testsuite>
</testsuites>
exit 1
$ turnfold check --report junit goldens/more
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="turnfold check" tests="1" skipped="0" failures="0" errors="0" time="[SECONDS]">
    <testsuite name="goldens/more" tests="1" skipped="0" errors="0" failures="0" time="[SECONDS]">
        <testcase name="good.tfl" classname="goldens/more" time="[SECONDS]" file="goldens/more/good.tfl" line="1"/>
    </testsuite>
</testsuites>

"#]],
    );
}

#[test]
fn a_junit_report_is_written_next_to_the_text_and_over_no_replay_file() {
    let sandbox = goldens();
    let text = sandbox.run("check goldens");
    sandbox.write("check.xml", "an older report");
    assert_eq!(sandbox.run("check goldens --junit check.xml"), text);
    let report = sandbox.run("check goldens --report junit").stdout;
    assert_eq!(
        without_seconds(&sandbox.read("check.xml")),
        without_seconds(&String::from_utf8(report).unwrap())
    );
    let good = sandbox.read("goldens/more/good.tfl");
    sandbox.check(str![[r#"
$ turnfold check --junit goldens/more/good.tfl goldens
exit 2| error: `goldens/more/good.tfl` is the name of a replay file or page; `--junit` takes the name of the report, such as `check.xml`
$ turnfold check --junit nowhere/check.xml goldens/more
exit 3| error: cannot write `nowhere/check.xml`: No such file or directory (os error 2)

"#]]);
    assert_eq!(sandbox.read("goldens/more/good.tfl"), good);
}

#[test]
fn the_files_that_failed_last_are_checked_first() {
    let sandbox = goldens();
    fs::create_dir(sandbox.path("cache")).unwrap();
    fs::rename(sandbox.path("goldens/bad, 100%.tfl"), sandbox.path("goldens/z.tfl")).unwrap();
    let check = |line: &str| {
        let line = format!("--format json check {line}");
        let mut command = sandbox.command(line.split(' '));
        let output =
            command.env("XDG_CACHE_HOME", sandbox.path("cache")).env("HOME", sandbox.path("cache")).output();
        let lines = String::from_utf8(output.unwrap().stdout).unwrap();
        let file = |line: &str| {
            let document: serde_json::Value = serde_json::from_str(line).unwrap();
            document["file"].as_str().unwrap().to_owned()
        };
        lines.lines().map(file).collect::<Vec<_>>()
    };
    let (good, torn, z) = ("goldens/more/good.tfl", "goldens/torn.tfl", "goldens/z.tfl");
    assert_eq!(check(good), [good]);
    assert!(fs::read_dir(sandbox.path("cache")).unwrap().next().is_none(), "nothing failed");
    assert_eq!(check("goldens --failed-first"), [good, torn, z]);
    assert_eq!(check("goldens"), [good, torn, z]);
    assert_eq!(check("goldens --failed-first --fail-fast"), [torn]);
    sandbox.write(torn, sandbox.read(good));
    assert_eq!(check("goldens --failed-first"), [torn, z, good]);
    assert_eq!(
        check(&format!("--failed-first {good} goldens/../{torn} {z}")),
        [z, good, "goldens/../goldens/torn.tfl"]
    );
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_those_that_lead_nowhere_fail() {
    let sandbox = duel();
    sandbox.ok("export duel -o good.tfl");
    fs::create_dir(sandbox.path("links")).unwrap();
    std::os::unix::fs::symlink("../good.tfl", sandbox.path("links/a.tfl")).unwrap();
    std::os::unix::fs::symlink("../gone.tfl", sandbox.path("links/b.tfl")).unwrap();
    std::os::unix::fs::symlink("links", sandbox.path("here")).unwrap();
    sandbox.check(str![[r#"
$ turnfold check links
ok links/a.tfl 3 entries
failed cannot read replay `links/b.tfl`: No such file or directory (os error 2)
failed files:
  cannot read replay `links/b.tfl`: No such file or directory (os error 2)
1 passed, 1 failed (3 entries)
exit 1
$ turnfold check here/a.tfl
ok here/a.tfl 3 entries
1 passed, 0 failed (3 entries)
$ turnfold check here
ok here/a.tfl 3 entries
failed cannot read replay `here/b.tfl`: No such file or directory (os error 2)
failed files:
  cannot read replay `here/b.tfl`: No such file or directory (os error 2)
1 passed, 1 failed (3 entries)
exit 1

"#]]);
}

#[test]
fn nothing_to_check_is_no_pass() {
    let sandbox = duel();
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    sandbox.check(str![[r#"
$ turnfold check
exit 2| error: cannot read `replays`: No such file or directory (os error 2); name replay files or a folder with `*.tfl` in it
$ turnfold check empty
exit 2| error: no replay files (`*.tfl`) under `empty`; nothing was checked
$ turnfold check missing.tfl
exit 2| error: cannot read `missing.tfl`: No such file or directory (os error 2); name replay files or a folder with `*.tfl` in it

"#]]);
}

#[test]
fn a_clone_of_git_that_converts_line_ends_has_good_golden_logs_or_an_error_that_mends_them() {
    let sandbox = Sandbox::new();
    if !has_or_skips("git", "line ends that git converts") {
        return;
    }
    copy_folder(&workspace().join("replays"), &sandbox.path("origin/replays"));
    let git = |line: &str| {
        let output = sandbox.shell(&format!(
            "export HOME=. GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_COMMITTER_NAME=a EMAIL=a@example.org; {line}"
        ));
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let commit = "git -C origin add . && git -C origin commit -q -m all";
    git(&format!("git init -q origin && {commit}"));
    git("git clone -q -c core.autocrlf=true origin plain");
    let output = sandbox.run("check plain/replays/initiative/lance-against-star.tfl");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.starts_with(
            "failed plain/replays/initiative/lance-against-star.tfl:1:18: \
             expected lines that end in LF, found CR LF throughout; remove each CR, "
        ),
        "{text}"
    );
    // Both ways that the error names repair it.
    let mended = sandbox.shell("sed -i.bak 's/\\r$//' plain/replays/*/*.tfl && turnfold check --quiet plain");
    assert!(mended.status.success(), "{}", String::from_utf8_lossy(&mended.stdout));
    let suggested = text.split('`').find(|part| part.starts_with("*.tfl ")).unwrap();
    sandbox.write("origin/.gitattributes", suggested);
    git(&format!("{commit} && git clone -q -c core.autocrlf=true origin suggested"));
    sandbox.ok("check --quiet suggested");
    // The attributes of this repository.
    fs::copy(workspace().join(".gitattributes"), sandbox.path("origin/.gitattributes")).unwrap();
    git(&format!("{commit} && git clone -q -c core.autocrlf=true origin ours"));
    sandbox.ok("check --quiet ours");
    for verb in ["new", "export"] {
        let help = sandbox.ok(&format!("{verb} --help"));
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(suggested), "{verb} suggests it too: {help}");
    }
}
