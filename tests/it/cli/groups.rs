//! `turnfold table groups`.

use std::fs;

use snapbox::str;
use turnfold_tests::sandbox::{Sandbox, workspace};

#[test]
fn matches_are_counted_by_ruleset_setup_and_title() {
    let sandbox = Sandbox::new();
    sandbox.ok("simulate --rules lifecycle --seed 1 --steps 2000 --count 8 -o games/lifecycle");
    sandbox.ok("simulate --rules initiative --seed 1 --steps 60 --count 3 -o games/initiative");
    sandbox.check(str![[r#"
$ turnfold table groups games
initiative 1: 3 matches, 0 over, 180 entries

Entries in a match: 60

60 [####################] 3/3  100 %

Commands

click     [######..............] 54/180  30 %
cycle     [###.................] 33/180  18 %
confirm   [###.................] 31/180  17 %
move      [##..................] 21/180  12 %
stand     [#...................] 12/180  7 %
cancel    [#...................] 11/180  6 %
roll      [#...................] 11/180  6 %
next-turn [....................]  7/180  4 %

Outcomes

applied [####################] 180/180  100 %

lifecycle 1: 8 matches, 8 over, 434 entries

Wins, with the 95 % interval

p1 [####################] 8/8  100 %  68–100 %
p2 [....................] 0/8  0 %  0–32 %

Entries in a match: 33 to 77, median 51

30–34 [##..................] 1/8  13 %
35–39 [....................] 0/8  0 %
40–44 [##..................] 1/8  13 %
45–49 [....................] 0/8  0 %
50–54 [#######.............] 3/8  38 %
55–59 [##..................] 1/8  13 %
60–64 [....................] 0/8  0 %
65–69 [....................] 0/8  0 %
70–74 [##..................] 1/8  13 %
75–79 [##..................] 1/8  13 %

Commands

end     [#####...............] 115/434  26 %
tick    [####................] 104/434  24 %
skill   [###.................]  70/434  16 %
advance [##..................]  57/434  13 %
move    [##..................]  45/434  10 %
attack  [#...................]  43/434  10 %

Outcomes

applied [####################] 434/434  100 %
$ turnfold table groups games/initiative/1.tfl --by title
random play, seed 1: 1 match, 0 over, 60 entries

Entries in a match: 60

60 [####################] 1/1  100 %

Commands

click     [#######.............] 21/60  35 %
confirm   [###.................] 11/60  18 %
cycle     [###.................]  9/60  15 %
move      [##..................]  7/60  12 %
cancel    [#...................]  4/60  7 %
roll      [#...................]  3/60  5 %
stand     [#...................]  3/60  5 %
next-turn [....................]  2/60  3 %

Outcomes

applied [####################] 60/60  100 %
$ turnfold --format json table groups games/initiative/1.tfl --as p1
{"group":"initiative 1","matches":1,"over":0,"draws":0,"wins":[{"seat":"p1","wins":0,"of":0},{"seat":"p2","wins":0,"of":0}],"lengths":{"sum":60,"least":60,"median":60,"most":60},"histogram":[{"from":60,"to":60,"matches":1}],"durations_ms":null,"commands":[{"name":"click","count":21},{"name":"confirm","count":11},{"name":"cycle","count":9},{"name":"move","count":7},{"name":"cancel","count":4},{"name":"roll","count":3},{"name":"stand","count":3},{"name":"next-turn","count":2}],"outcomes":[{"name":"applied","count":60}],"reasons":[]}
$ turnfold table groups
exit 3| error: no store at `.turnfold` in this directory or one above it; create a match first, or name the right directory

"#]]);
    let [plain, by_setup] =
        ["", "--by setup"].map(|by| sandbox.ok(&format!("table groups games/initiative {by}")));
    let by_setup = by_setup.strip_prefix("initiative 1, setup ce6b4927f0e0342f: ").unwrap();
    assert_eq!(Some(by_setup), plain.strip_prefix("initiative 1: "));
    let setup = workspace().join("fixtures/initiative/lance-against-star.toml");
    fs::copy(setup, sandbox.path("lance.toml")).unwrap();
    sandbox.ok(
        "simulate --rules initiative --setup lance.toml --seed 1 --steps 60 -o games/initiative/lance.tfl",
    );
    assert_eq!(sandbox.ok("--format json table groups games/initiative --by setup").lines().count(), 2);
    assert_eq!(sandbox.ok("--format json table groups games/initiative --by title").lines().count(), 3);
}

#[test]
fn statistics_are_drawn_as_svg() {
    let sandbox = Sandbox::new();
    sandbox.ok("simulate --rules lifecycle --seed 1 --steps 2000 --count 8 -o games");
    let svg = sandbox.ok("--format svg table groups games");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    for text in ["lifecycle 1: 8 matches", "Wins, with the 95 % interval", "Commands"] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
}

#[test]
fn what_cannot_be_read_is_named_after_the_statistics_of_the_others() {
    let sandbox = Sandbox::new();
    sandbox.ok("simulate --rules lifecycle --seed 1 --steps 5 --count 2 -o games");
    sandbox.write("games/3.tfl", "no replay");
    let output = sandbox.run("--format json table groups games");
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.starts_with(r#"{"group":"lifecycle 1","matches":2,"#), "{stdout}");
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("games/3.tfl:1:1: "), "{stderr}");
}
