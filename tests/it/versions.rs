//! Logs of a version that this build lacks are refused by name and version, and never folded wrongly.

use snapbox::str;

use turnfold_tests::sandbox::{Sandbox, store_match};
#[cfg(unix)]
use turnfold_tests::service::Running;

#[test]
fn a_stored_match_of_another_version_is_refused() {
    let sandbox = Sandbox::new();
    store_match(&sandbox, "initiative", 99);
    sandbox.check(str![[r#"
$ turnfold show old
exit 2| error: match `old` was recorded under `initiative` version 99, this build has version 1; use the build that recorded it; `bundle`, `log --raw` and `verify --chain` need no rules
$ turnfold play old "roll 1 2 3 4"
exit 2| error: match `old` was recorded under `initiative` version 99, this build has version 1; use the build that recorded it; `bundle`, `log --raw` and `verify --chain` need no rules
$ turnfold export old
exit 2| error: `export` needs the rules, and this build has no `initiative` version 99, under which match `old` was recorded; use the build that recorded it; `bundle`, `log --raw` and `verify --chain` need no rules
$ turnfold verify
unknown_rules old: ruleset `initiative` has version 99, this build knows 1
exit 1

"#]]);
}

/// SV-7: a service reports such a match as the verbs do, and still lists it. Its client has the same exit code.
#[cfg(unix)]
#[test]
fn sv_7_a_service_refuses_matches_of_other_rules_by_name() {
    let versions = [
        ("initiative", 99, "was recorded under `initiative` version 99, this build has version 1"),
        ("backgammon", 1, "unknown ruleset `backgammon`"),
    ];
    for (ruleset, version, reason) in versions {
        let sandbox = Sandbox::new();
        store_match(&sandbox, ruleset, version);
        let service = Running::start(&sandbox);
        let (admin, main) = (service.admin(), "/v1/matches/old/branches/main");
        let looks =
            ["view", "legal", "entries", "events", "frames", "picture.svg", "replay.tfl", "replay.html"];
        let looks = looks.map(|what| ("GET", format!("{main}/{what}"), ""));
        let seen = ("GET", format!("{main}/view?as=p1"), "");
        let played = ("POST", format!("{main}/entries"), r#"{"commands":["p1: confirm"]}"#);
        let granted = ("POST", "/v1/matches/old/grants".to_owned(), r#"{"kind":"seat","seat":"p1"}"#);
        for (method, path, body) in looks.into_iter().chain([seen, played, granted]) {
            let reply = service.send(method, &path, admin, body);
            let problem = reply.json();
            assert_eq!((reply.status, &problem["status"]), (501, &501.into()), "{path}: {problem}");
            assert_eq!(problem["type"], "urn:turnfold:problem:no_rules", "{path}");
            assert!(problem["detail"].as_str().unwrap().contains(reason), "{path}: {problem}");
        }
        let found = service.send("GET", "/v1/matches/old", admin, "").json();
        assert_eq!((&found["ruleset"], &found["over"]), (&ruleset.into(), &serde_json::Value::Null));
        sandbox.write("admin.token", admin);
        let line = format!("--store {} --token admin.token show old", service.origin());
        let output = sandbox.run(&line);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && stderr.contains(reason), "{stderr}");
    }
}

#[test]
fn a_stored_match_of_an_unknown_ruleset_is_refused() {
    let sandbox = Sandbox::new();
    store_match(&sandbox, "backgammon", 1);
    sandbox.check(str![[r#"
$ turnfold show old
exit 2| error: unknown ruleset `backgammon`; known: [RULESETS]; `turnfold game add FILE` adds a module, `--referee COMMAND` or `TURNFOLD_REFEREES` names a program that knows the rules
$ turnfold verify
unknown_rules old: unknown ruleset `backgammon`
exit 1
$ turnfold matches
old  backgammon  0 entries, 1 branch  [TIME]

"#]]);
}
