//! Referees that offer only some of the optional operations (RF-6), in a game with secrets (RF-13). Every verb works,
//! or reports in one line what is missing.

use turnfold_tests::sandbox::Sandbox;

use super::sandbox;

/// The optional operations.
const OPTIONAL: [&str; 5] = ["legal", "see", "read", "query", "targets"];

/// Verbs, the operations they need, and what they print without them.
const VERBS: [(&str, &str, &str); 27] = [
    ("show duel", "", ""),
    ("--format json show duel --as p1", "", ""),
    ("show duel --as p1", "see", "the game does not define what p1 may see; the referee would offer `see`"),
    ("show duel --as spectator --format svg", "see", "the game does not define what spectator may see"),
    ("log duel", "", ""),
    ("log duel --as p1", "", ""),
    ("legal duel", "legal", NO_LEGAL),
    ("legal duel --as p1", "legal", NO_LEGAL),
    (r#"find duel --when "/sum > 3""#, "", ""),
    (r#"find duel --when "/sum > 3" --as p1"#, "see", NO_VIEW),
    (r#"find duel --command "add 1" --as p1"#, "", ""),
    (r#"bisect duel --when "/sum > 3""#, "", ""),
    (r#"bisect duel --when "/sum > 3" --as p1"#, "see", NO_VIEW),
    ("blame duel /sum", "", ""),
    ("blame duel /sum --as p1", "see", NO_VIEW),
    (r#"blame duel "/sum > 3" --as p1"#, "see", NO_VIEW),
    ("table fields duel --field /sum", "", ""),
    ("table fields duel --field /sum --as p1", "see", NO_VIEW),
    ("table entries duel --as p1", "", ""),
    ("diff duel duel:1", "", ""),
    ("replay duel --as p1", "", ""),
    ("ask duel sum", "query", "`sums` answers no questions; its referee would offer `query`"),
    ("simulate --rules sums --steps 3 --seed 1", "legal", NO_LEGAL),
    ("game perft --rules sums --depth 2", "legal", NO_LEGAL),
    (r#"shrink duel --when "/sum > 3""#, "", ""),
    ("verify duel", "", ""),
    (r#"play duel "p1: +0""#, "read", "rejected malformed"),
];

const NO_VIEW: &str = "the game does not define what p1 may see; a referee that keeps secrets offers `see`";
const NO_LEGAL: &str = "nothing lists legal commands here; a referee offers `legal`";

/// Runs a verb with a referee that offers these operations, and returns everything printed.
fn printed(sandbox: &Sandbox, offered: &[&str], verb: &str) -> String {
    let output = sandbox.run(&format!("--referee \"./sums can {}\" {verb}", offered.join(",")));
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn rf_6_what_a_referee_does_not_offer_is_named_in_one_line() {
    let sandbox = sandbox();
    sandbox.ok("--referee \"./sums can\" new duel --rules sums");
    sandbox.ok("--referee \"./sums can\" play duel \"p1: add 1\" \"p2: add 2\"");
    for (verb, needed, said) in VERBS {
        let others: Vec<&str> = OPTIONAL.into_iter().filter(|op| *op != needed).collect();
        // A verb that needs nothing is run with a referee that offers nothing.
        let referees: &[&[&str]] = if needed.is_empty() { &[&[]] } else { &[&OPTIONAL, &others, &[]] };
        for offered in referees {
            let printed = printed(&sandbox, offered, verb);
            let what = format!("{verb} of a referee with {offered:?}: {printed}");
            if needed.is_empty() || offered.contains(&needed) {
                assert!(!printed.contains("error: ") && !printed.contains("would offer"), "{what}");
            } else {
                assert_eq!(printed.matches(said).count(), 1, "{what}");
                assert!(printed.matches("error: ").count() <= 1, "{what}");
            }
        }
    }
    // A page states this in its picture, and works otherwise.
    for (offered, is_told) in [(&OPTIONAL[..], false), (&["legal"], true)] {
        let page = printed(&sandbox, offered, "export duel --html --as p1");
        assert_eq!(page.contains("the game does not define what p1 may see"), is_told);
        let page = printed(&sandbox, offered, "export duel --html");
        assert!(page.starts_with("<!DOCTYPE html>") && !page.contains("does not define what"));
    }
}
