//! `turnfold export --html`, and pages in place of replay files.

use std::fs;

use serde_json::Value;
use snapbox::str;
use turnfold_show::Page;

use super::duel;
use turnfold_tests::goldens::goldens;
use turnfold_tests::goldens::seat_history;
use turnfold_tests::sandbox::Sandbox;

const OPENING: &str = "<script type=\"application/json\" id=\"turnfold\">";

/// Returns the document in a page.
pub(crate) fn document(html: &str) -> Value {
    let (_, rest) = html.split_once(OPENING).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn vw_27_the_replay_in_a_page_is_read_wherever_a_replay_file_is() {
    duel().check(str![[r#"
$ turnfold export duel --html -o duel.html
exported duel to `duel.html`: 3 entries, with everything in it, secrets and seed too
$ turnfold export duel --html -o duel.html
exit 2| error: `duel.html` exists; `--force` overwrites it
$ turnfold export duel -o duel.tfl
exported duel to `duel.tfl`: 3 entries
$ turnfold check duel.html
ok duel.html 3 entries; checked: the replay in the page; not checked: what the page shows
1 passed, 0 failed (3 entries)
$ turnfold --store elsewhere import duel.html
imported match duel from `duel.html`: 3 entries #8bc3cdd5a21478a4
its id, times and links are new, because a replay file does not record them
$ turnfold diff duel.tfl duel.html
duel.tfl and duel.html are equal: 3 entries #8bc3cdd5a21478a4
$ turnfold diff duel.html:2 duel.tfl --stat
parts at entry 3, 0 commands only in duel.html:2, 1 command only in duel.tfl, 0 outcomes differ, 8 fields differ
exit 1
$ turnfold bisect duel.html --when "/units/0/at == [0,1]"
entry 3 makes `/units/0/at == [0,1]` true (4 steps)
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
...
$ turnfold blame duel.html:2 /cursor
/cursor [0,0] → [0,2]
  1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2 #e67f02be3627678a
$ turnfold show duel.html:2 --as p2
turn 1, movement
...
$ turnfold bless duel.html
exit 2| error: duel.html:1:1: expected `turnfold replay 2`, found `<!DOCTYPE html>`
$ turnfold rename duel duel.html
exit 2| error: invalid value 'duel.html' for '<NEW>': a name that ends in `.html` means a replay file, so no match can have it; see `--help`

"#]]);
}

#[test]
fn vw_25_a_page_for_a_seat_holds_no_replay_and_states_this() {
    let sandbox = duel();
    sandbox.check(str![[r#"
$ turnfold export duel --html --as p2 -o p2.html
exported duel to `p2.html`: 3 entries, as p2 may know it
$ turnfold check p2.html
exit 2| error: `p2.html` holds no replay, only what p2 saw; ask for one made without `--as`
$ turnfold check p2.html duel.tfl --format json
stderr| {"error":{"kind":"usage","message":"cannot read `duel.tfl`: No such file or directory (os error 2)","hint":"name replay files or a folder with `*.tfl` in it","exit_code":2}}
exit 2| {"error":{"kind":"usage","message":"`p2.html` holds no replay, only what p2 saw","hint":"ask for one made without `--as`","exit_code":2}}
$ turnfold import p2.html
exit 2| error: `p2.html` holds no replay, only what p2 saw; ask for one made without `--as`
$ turnfold replay p2.html
exit 2| error: `p2.html` holds no replay, only what p2 saw; ask for one made without `--as`
$ turnfold game impact p2.html
exit 2| error: `p2.html` holds no replay, only what p2 saw; ask for one made without `--as`
$ turnfold export p2.html --html
exit 2| error: `p2.html` holds no replay, only what p2 saw; ask for one made without `--as`

"#]]);
    let html = sandbox.read("p2.html");
    assert!(html.contains("This file holds only what p2 saw."));
    let host = sandbox.ok("export duel --html");
    assert!(host.contains("This file holds everything, secrets and seed too."));
    let document = document(&html);
    assert_eq!(document["frames"]["viewer"], "p2");
    assert!(document.get("replay").is_none());
}

#[test]
fn vw_26_the_same_line_of_play_makes_the_same_page_and_a_file_of_it_the_same_frames() {
    let (one, other) = (duel(), duel());
    let page = one.ok("export duel --html");
    assert_eq!(page, other.ok("export duel --html"), "whenever and wherever it was played");
    assert_eq!(page, other.ok("export duel --html -o -"));
    one.ok("export duel -o duel.tfl");
    one.write("duel.html", &page);
    let of_file = one.ok("export duel.tfl --html");
    assert_eq!(of_file, one.ok("export duel.html --html"), "a page of one's own from the replay in a page");
    let (mut frames, of_file) = (document(&page), document(&of_file));
    assert_eq!(frames["replay"], of_file["replay"]);
    assert_eq!([&frames["frames"]["match"], &frames["frames"]["branch"]], ["duel", "main"]);
    (frames["frames"]["match"], frames["frames"]["branch"]) = (Value::Null, Value::Null);
    assert_eq!(frames, of_file);
}

#[test]
fn vw_24_every_golden_log_comes_back_from_its_page() {
    let sandbox = Sandbox::new();
    for path in goldens().into_iter().step_by(5) {
        let text = fs::read_to_string(&path).unwrap();
        sandbox.write("golden.tfl", &text);
        let page = sandbox.ok("export golden.tfl --html");
        assert_eq!(document(&page)["replay"], text, "{}", path.display());
    }
}

#[test]
fn what_a_file_records_must_be_true_and_a_file_needs_no_export_but_as_a_page() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    sandbox.write("wrong.tfl", sandbox.read("duel.tfl").replace("to=0,1;", "to=0,2;"));
    sandbox.check(str![[r#"
$ turnfold export wrong.tfl --html -o wrong.html
exit 1| error: wrong.tfl:42: entry 3 does not do what the file says; `turnfold check wrong.tfl` explains it
$ turnfold export duel.tfl
exit 2| error: `duel.tfl` is a file already; `--html` makes a page of it
$ turnfold export duel -o duel.html
exit 2| error: `duel.html` is the name of a page; `--html` writes one
$ turnfold export duel --html -o page.tfl
exit 2| error: `page.tfl` is the name of a replay file; give a page a name that ends in `.html`
$ turnfold export nowhere.tfl --html
exit 2| error: cannot read replay `nowhere.tfl`: No such file or directory (os error 2)
$ turnfold export duel:9 --html
exit 2| error: `duel@main` has no entry 9: its head is 3
$ turnfold export duel.tfl:9 --html
exit 2| error: `duel.tfl` has no entry 9; its last is 3
$ turnfold --format json export duel:0 --html -o start.html
{"revision":"duel:0","view":null,"entries":0,"state_hash":"02f3c1e3d3b717c28e8d773974c80c605649d7e68fe33045f1f0951eda5fe1ba","file":"start.html","replay":null,"page":null}

"#]]);
}

#[test]
fn vw_27_a_page_is_read_strictly() {
    let sandbox = duel();
    let page = sandbox.ok("export duel --html");
    let (before, after) = page.split_once(OPENING).unwrap();
    let (json, rest) = after.split_once("</script>").unwrap();
    let block = format!("{OPENING}{json}</script>");
    let with = |json: String| format!("{before}{OPENING}{json}</script>{rest}");
    sandbox.write("none.html", format!("{before}{rest}"));
    sandbox.write("twice.html", page.replace(&block, &block.repeat(2)));
    sandbox.write("comment.html", format!("<!-- {block} -->{page}"));
    sandbox.write("open.html", format!("{before}{OPENING}{json}"));
    sandbox.write("markup.html", with(json.replacen("\\u003c", "<", 1).replacen("=>", "=<", 1)));
    sandbox.write("version.html", with(json.replacen(":1", ":2", 1)));
    sandbox.write("field.html", with(json.replacen('{', "{\"more\":1,", 1)));
    sandbox.write("double.html", with(json.replacen('{', "{\"turnfold\":1,", 1)));
    sandbox.write("cut.html", with(json[..json.len() - 1].into()));
    sandbox.write("bytes.html", [page.as_bytes(), &[0xff]].concat());
    sandbox.write("moved.html", page.replace("to=0,1;", "to=0,2;"));
    sandbox.check(str![[r#"
$ turnfold import none.html
exit 2| error: `none.html`: expected a page with one `<script type="application/json" id="turnfold">`, found none
$ turnfold import twice.html
exit 2| error: `twice.html`: expected a page with one `<script type="application/json" id="turnfold">`, found more than one
$ turnfold import comment.html
exit 2| error: `comment.html`: expected a page with one `<script type="application/json" id="turnfold">`, found more than one
$ turnfold import open.html
exit 2| error: `open.html`: expected a page with one `<script type="application/json" id="turnfold">`, found one that does not end as it must
$ turnfold import markup.html
exit 2| error: `markup.html`: expected a page with one `<script type="application/json" id="turnfold">`, found one that does not end as it must
$ turnfold import version.html
exit 2| error: `version.html`: expected a page with one `<script type="application/json" id="turnfold">`, found one of version 2, and this build reads version 1
$ turnfold import field.html
exit 2| error: `field.html`: expected a page with one `<script type="application/json" id="turnfold">`, found one whose document has an error: unknown field `more`, expected one of `turnfold`, `frames`, `replay` at line 1 column 7
$ turnfold import double.html
exit 2| error: `double.html`: expected a page with one `<script type="application/json" id="turnfold">`, found one whose document has an error: duplicate field `turnfold` at line 1 column 24
$ turnfold import cut.html
exit 2| error: `cut.html`: expected a page with one `<script type="application/json" id="turnfold">`, found one whose document has an error: EOF while parsing an object at line 1 column 5923
$ turnfold import bytes.html
exit 2| error: `bytes.html`: expected a page with one `<script type="application/json" id="turnfold">`, found text that is not UTF-8
$ turnfold import moved.html
exit 1| error: moved.html:42: entry 3 does not do what the file says, nothing was imported; `turnfold check moved.html` explains it
$ turnfold check moved.html
moved.html:42: entry 3 (p1 move 0,1): outcome differs
- moved unit=atlas from=0,2 to=0,2
+ moved unit=atlas from=0,2 to=0,1
  cursor at=0,1
  impulse_advanced index=1 player=p2 units=1
state: the same, as the hashes agree
to reproduce: turnfold replay moved.html --to 3
0 passed, 1 failed (3 entries)
exit 1

"#]]);
}

#[test]
fn vw_26_a_page_that_is_too_long_names_a_range_that_fits() {
    let path = goldens().into_iter().find(|path| path.ends_with("channel/a-game-for-four.tfl")).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let page = |seq: u64, bytes_max| {
        Page::of(seat_history(&path, &text, "host").up_to(seq).unwrap(), None, bytes_max)
            .map(|page| page.html.len())
    };
    let whole = page(230, usize::MAX).unwrap();
    assert_eq!(page(230, whole).unwrap(), whole);
    for bytes_max in [whole - 1, whole / 3] {
        let error = page(230, bytes_max).unwrap_err().to_string();
        let (_, rest) = error.split_once("its first ").unwrap();
        let fits = rest.split_once(' ').unwrap().0.parse().unwrap();
        assert!(page(fits, bytes_max).is_ok(), "{error}");
        assert!(fits > 0 && page((fits / 7 * 8 + 8).min(230), bytes_max).is_err(), "{error}");
    }
}

#[test]
fn check_of_a_page_reports_what_it_did_not_check_and_advises_nothing_that_cannot_be_done() {
    let sandbox = duel();
    sandbox.ok("export duel --html -o duel.html");
    let page = sandbox.read("duel.html");
    let (before, rest) = page.split_once("\"frames\":[").unwrap();
    let shown = rest.replacen("atlas", "altas", 1);
    assert_ne!(shown, rest);
    sandbox.write("shown.html", format!("{before}\"frames\":[{shown}"));
    let (before, replay) = page.split_once("\"replay\":\"").unwrap();
    sandbox.write("header.html", format!("{before}\"replay\":\"{}", replay.replacen("Atlas", "Altas", 1)));
    let closing = replay.find("\\n= 3 ").unwrap();
    let without_count = format!("{}\\n= 4 {}", &replay[..closing], &replay[closing + 6..]);
    sandbox.write("count.html", format!("{before}\"replay\":\"{without_count}"));
    sandbox.check(str![[r#"
$ turnfold check shown.html
ok shown.html 3 entries; checked: the replay in the page; not checked: what the page shows
1 passed, 0 failed (3 entries)
$ turnfold check --quiet header.html
header.html:15: header: it is not the one that was blessed, `setup.units[0].name` differs
a page cannot be blessed, make it again from its match: turnfold export MATCH --html -o header.html --force
0 passed, 1 failed (3 entries)
exit 1
$ turnfold check --quiet count.html
failed count.html:43:3: expected 3, the number of entries above; are some of them lost?, found `4`
0 passed, 1 failed (0 entries)
exit 1
$ turnfold shrink duel.html --still "turnfold check"
stderr| sh: 1: turnfold: not found
exit 2| error: `turnfold check` cannot be run, or runs what cannot: its exit code is 127; name a command that the shell finds and may execute

"#]]);
    let header = sandbox.run("check header.html --report json");
    let document: Value = serde_json::from_slice(&header.stdout).unwrap();
    let next = "turnfold export MATCH --html -o header.html --force";
    assert_eq!(document["files"][0]["mismatch"]["next"], next);
}

/// VW-28: readers without JavaScript also see the turn or the result. Frames have them at every entry.
#[test]
fn a_page_shows_turn_and_result() {
    let sandbox = duel();
    let page = |line: &str| sandbox.ok(&format!("export {line} --html"));
    let open = page("duel");
    assert!(open.contains("\n<p>turn 1</p>\n"), "{open}");
    assert_eq!(document(&open)["frames"]["standing"], "turn 1");
    assert_eq!(document(&open)["frames"]["frames"][2]["standing"], "turn 1");
    sandbox.ok("simulate --rules lifecycle --seed 1 --steps 5000 --into ended");
    let over = page("ended");
    assert!(over.contains("\n<p>p1 won</p>\n"), "{over}");
    let frames = document(&over)["frames"]["frames"].as_array().unwrap().clone();
    assert_eq!(frames.last().unwrap()["standing"], "p1 won");
    sandbox.ok("simulate --rules hexcapture --seed 1 --steps 3 --into field");
    let without = page("field");
    let frames = document(&without)["frames"].to_string();
    assert!(!frames.contains("\"standing\""), "the game counts no turns");
}

/// Standard input is read like a file with the same content. If it cannot be read, one line reports why.
#[cfg(unix)]
#[test]
fn vw_27_a_replay_and_a_page_on_standard_input_are_read_wherever_a_file_is() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    sandbox.ok("export duel --html -o duel.html");
    sandbox.ok("export duel --html --as p2 -o p2.html");
    let run = |line: &str| {
        let output = sandbox.shell(line);
        let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (output.status.code(), stdout, stderr)
    };
    for line in [
        "show FILE",
        "show --as p2 -- FILE:2",
        "legal FILE",
        "log FILE",
        "log --as p1 -- FILE:2..",
        "diff FILE duel:2",
        "diff duel FILE",
        "check FILE",
        "bisect FILE --when \"/units/0/at == [0,1]\"",
        "blame FILE /cursor",
        "find FILE --command 'move *'",
        "replay FILE --to 2",
        "table matches FILE",
        "game impact FILE",
        "shrink FILE --when \"/units/0/at == [0,1]\"",
        "export FILE --html",
        "ask FILE reach atlas",
    ] {
        let (code, stdout, stderr) = run(&format!("turnfold {}", line.replace("FILE", "duel.tfl")));
        assert!(code == Some(0) || line.starts_with("diff FILE"), "{line}: {stderr}");
        for file in ["duel.tfl", "duel.html"] {
            let piped = run(&format!("turnfold {} < {file}", line.replace("FILE", "-")));
            // Only the name differs, and `check` reports what it checks in a page.
            let as_named = |text: &str| {
                let named = text.replace("<stdin>", "duel.tfl").replace("\"-\"", "\"duel.tfl\"");
                named.replace("; checked: the replay in the page; not checked: what the page shows", "")
            };
            assert_eq!(piped.0, code, "{line} < {file}: {}", piped.2);
            assert_eq!(as_named(&piped.1), stdout, "{line} < {file}");
            let concealed = run(&format!("turnfold {} < p2.html", line.replace("FILE", "-")));
            let refused =
                "error: `<stdin>` holds no replay, only what p2 saw; ask for one made without `--as`\n";
            // A table prints its header before it reads the rows.
            let stdout = if line.starts_with("table") { concealed.1.clone() } else { String::new() };
            assert!(stdout.lines().count() <= 1, "{stdout}");
            assert_eq!(concealed, (Some(2), stdout, refused.into()), "{line} < p2.html");
        }
    }
    for (line, expected) in [
        ("check - -", "standard input can be read only once"),
        ("find - - --seat p1", "standard input can be read only once"),
        ("diff - -", "standard input can be read only once"),
        ("show - < p2.svg", "expected a page with one `<script type="),
        ("check - < torn.tfl", "<stdin>"),
    ] {
        sandbox.write("p2.svg", sandbox.ok("--format svg show duel"));
        sandbox.write("torn.tfl", "turnfold replay 2\n");
        let (code, stdout, stderr) = run(&format!("turnfold {line}"));
        let said = format!("{stdout}{stderr}");
        assert!(code != Some(0) && said.contains(expected) && stderr.lines().count() <= 1, "{line}: {said}");
    }
    // The error about a piped log does not name a file that does not exist.
    let cut: String = sandbox
        .read("duel.tfl")
        .lines()
        .filter(|line| !line.starts_with('='))
        .fold(String::new(), |text, line| text + line + "\n");
    sandbox.write("cut.tfl", cut);
    let (code, stdout, _) = run("turnfold check - < cut.tfl");
    assert_eq!(code, Some(1));
    assert!(stdout.contains("turnfold check FILE") && !stdout.contains("./<stdin>"), "{stdout}");
}
