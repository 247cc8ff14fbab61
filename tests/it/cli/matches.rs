//! `turnfold matches`.

use snapbox::str;

use super::check;
use crate::sandbox::Sandbox;

#[test]
fn a_long_list_is_read_page_by_page() {
    let sandbox = Sandbox::new();
    for name in ["a", "b-long-name", "c", "d"] {
        sandbox.ok(&format!("new {name} --rules initiative --setup fixtures/initiative/no-units.toml"));
    }
    check(
        &sandbox,
        "matches
         matches --limit 2
         matches --after b-long-name --limit 1
         matches --after bb
         matches --after d
         matches --limit 0
         matches --after Not-A-Name
         matches --limit many",
        str![[r#"
$ turnfold matches
a            initiative  0 entries, 1 branch
b-long-name  initiative  0 entries, 1 branch
c            initiative  0 entries, 1 branch
d            initiative  0 entries, 1 branch
$ turnfold matches --limit 2
a            initiative  0 entries, 1 branch
b-long-name  initiative  0 entries, 1 branch
$ turnfold matches --after b-long-name --limit 1
c  initiative  0 entries, 1 branch
$ turnfold matches --after bb
c  initiative  0 entries, 1 branch
d  initiative  0 entries, 1 branch
$ turnfold matches --after d
$ turnfold matches --limit 0
$ turnfold matches --after Not-A-Name
stderr| error: invalid value 'Not-A-Name' for '--after <MATCH>': expected a match name of 1 to 64 characters a-z, 0-9, `.`, `_` or `-`, beginning with a letter or digit, found `Not-A-Name`; see `--help`
exit 2
$ turnfold matches --limit many
stderr| error: invalid value 'many' for '--limit <N>': invalid digit found in string; see `--help`
exit 2

"#]],
    );
    let json = sandbox.ok("--format json matches --after c");
    assert!(json.starts_with(r#"{"match":"d","ruleset":"initiative","version":1,"entries":0,"#), "{json}");
    assert_eq!(json.lines().count(), 1);
}
