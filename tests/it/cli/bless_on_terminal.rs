//! `turnfold bless` on a terminal: change by change.

use turnfold_history::tfl;

use crate::terminal::{self, Running};
use turnfold_tests::sandbox::Sandbox;

/// Returns a golden log of three entries. The first and the last differ from what the rules compute.
fn golden() -> (Sandbox, String, String) {
    let sandbox = super::duel();
    sandbox.ok("export duel -o golden.tfl");
    let golden = sandbox.read("golden.tfl");
    let altered = golden.replace("initiative p1=3", "initiative p1=4").replace("to=0,1;", "to=0,2;");
    assert_ne!(altered, golden);
    sandbox.write("x.tfl", &altered);
    (sandbox, golden, altered)
}

/// Types the answers to `bless` for these files. Returns what the terminal shows, without colors.
fn bless(sandbox: &Sandbox, files: &[&str], typed: &str, code: i32) -> Option<String> {
    let mut command = sandbox.command(["bless"].into_iter().chain(files.iter().copied()));
    command.env("NO_COLOR", "1");
    let (text, found) = terminal::run(command, typed)?;
    assert_eq!(found, Some(code), "{text}");
    Some(text)
}

fn first_entry(text: &str) -> &str {
    text.lines().find(|line| line.starts_with("1 ")).unwrap()
}

#[test]
fn an_accepted_change_is_written_and_a_refused_one_is_not() {
    let (sandbox, golden, altered) = golden();
    let Some(text) = bless(&sandbox, &["x.tfl"], "?\nn\ny\n", 1) else { return };
    assert_eq!(text.matches("[y,n,a,q,?]? ").count(), 3, "{text}");
    assert!(text.contains("y: accept this change\n"), "{text}");
    assert!(text.contains("- initiative p1=4 p2=7") && text.contains("+ initiative p1=3 p2=7"), "{text}");
    assert!(text.ends_with("blessed in part x.tfl\n"), "{text}");
    let written = sandbox.read("x.tfl");
    let expected = golden.replace(first_entry(&golden), first_entry(&altered));
    let (lines, closing) = written.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(lines, expected.trim_end().rsplit_once('\n').unwrap().0);
    // The closing line matches the lines as written.
    let entries: String = lines
        .lines()
        .skip_while(|line| !line.starts_with("1 "))
        .filter(|line| line.starts_with(|digit: char| digit.is_ascii_digit()))
        .map(|line| line.to_owned() + "\n")
        .collect();
    let header = tfl::read("x.tfl", written.as_bytes(), &turnfold_games::standard()).unwrap().header;
    let log = blake3::hash((header.canonical() + &entries).as_bytes());
    assert!(closing.ends_with(&format!("log {log} header {}", header.mark())), "{closing}");
    // Now the check finds only the refused change.
    let found = String::from_utf8(sandbox.run("check --all x.tfl").stdout).unwrap();
    assert!(found.contains("x.tfl: 1 difference\n"), "{found}");
    bless(&sandbox, &["x.tfl"], "y\n", 0).unwrap();
    assert_eq!(sandbox.read("x.tfl"), golden);
}

#[test]
fn a_change_longer_than_the_screen_is_shown_in_a_pager_before_it_is_asked_about() {
    let paged = "[paged]\n";
    let question = "[y,n,a,q,?]?";
    for (rows, pager, is_paged) in [(2, "sh pager", true), (60, "sh pager", false), (2, "true", false)] {
        let (sandbox, golden, _) = golden();
        sandbox.write("pager", "echo '[paged]'; cat; echo '[end]'");
        let mut command = sandbox.command(["bless", "x.tfl"]);
        command.env("NO_COLOR", "1").env("TURNFOLD_PAGER", pager);
        let Some(running) = Running::start(command, "y\ny\n", rows) else { return };
        let (text, status) = running.finish();
        assert_eq!(status.code(), Some(0), "{text}");
        assert_eq!(text.matches(question).count(), 2, "{text}");
        assert_eq!(text.matches(paged).count(), if is_paged { 2 } else { 0 }, "{text}");
        for shown in text.split(paged).skip(1) {
            let (shown, asked) = shown.split_once("[end]\n").unwrap();
            assert!(shown.contains("- ") && shown.contains("+ ") && !shown.contains(question), "{text}");
            assert!(asked.starts_with("bless x.tfl:"), "{text}");
        }
        assert_eq!(sandbox.read("x.tfl"), golden);
    }
}

#[test]
fn the_rest_is_accepted_or_refused_at_once() {
    for (typed, code, written, left) in
        [("a\n", 0, [true, true], 0), ("q\n", 1, [false, false], 2), ("n\na\n", 1, [false, true], 1)]
    {
        let (sandbox, golden, altered) = golden();
        sandbox.write("y.tfl", &altered);
        let Some(text) = bless(&sandbox, &["x.tfl", "y.tfl"], typed, code) else { return };
        assert_eq!(text.matches("[y,n,a,q,?]? ").count(), typed.matches('\n').count(), "{text}");
        assert_eq!(text.matches("left as it was").count(), left.min(2) - usize::from(left == 1), "{text}");
        assert_eq!(sandbox.read("x.tfl") == golden, written[0], "{text}");
        assert_eq!(sandbox.read("y.tfl") == golden, written[1], "{text}");
        assert_eq!(sandbox.read("x.tfl") == altered, code == 1 && typed == "q\n", "{text}");
    }
}

#[test]
fn what_was_accepted_before_the_end_is_written() {
    let (sandbox, golden, altered) = golden();
    let Some(text) = bless(&sandbox, &["x.tfl"], "y\nq\n", 1) else { return };
    assert!(text.ends_with("blessed in part x.tfl\n"), "{text}");
    let written = sandbox.read("x.tfl");
    assert_eq!(first_entry(&written), first_entry(&golden));
    assert!(written.contains("to=0,2;") && altered.contains("to=0,2;"));
}
