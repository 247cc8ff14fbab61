//! Modules in matches of several people, in the service and by mail (MD-6, MD-7).

use std::fs;

use turnfold_tests::mailbox::opened;
use turnfold_tests::sandbox::{Sandbox, workspace};
use turnfold_tests::service::Running;

const FAULT: &str = "ruleset heaps 1 (module a5a5a5a5a5a5a5a5): trapped: unreachable";

/// Marks the module of the toys as checked by the laws.
fn pass(sandbox: &Sandbox) {
    fs::create_dir_all(sandbox.path(".turnfold/modules")).unwrap();
    sandbox.write(&format!(".turnfold/modules/{}.passed", "a5".repeat(32)), "passed\n");
}

/// Returns the one line that a failing command prints to stderr.
fn failure(sandbox: &Sandbox, line: &str) -> String {
    let output = sandbox.run(line);
    let printed = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{line}: {printed}");
    assert_eq!(printed.lines().count(), 1, "{line}: {printed}");
    printed
}

#[test]
fn md_6_a_fault_is_503_and_the_service_goes_on() {
    let sandbox = super::recorded();
    pass(&sandbox);
    let service = Running::start_by(sandbox.command(["f1", "serve", "--listen", "127.0.0.1:0"]));
    let seat = service.grant("calm", r#"{"kind":"seat","seat":"p2"}"#);
    let token = seat["token"].as_str().unwrap();
    let path = "/v1/matches/calm/branches/main";
    let get = |rest: &str| service.send("GET", &format!("{path}/{rest}"), token, "");
    let play = |command: &str| {
        let body = format!(r#"{{"commands":["{command}"]}}"#);
        service.send("POST", &format!("{path}/entries"), token, &body)
    };
    let before = get("entries").body;
    for _ in 0..2 {
        let failed = play("take 3 1");
        assert_eq!(failed.status, 503, "{}", failed.body);
        assert_eq!(failed.json()["type"], "urn:turnfold:problem:module");
        assert_eq!(failed.json()["detail"], FAULT);
        assert_eq!(get("entries").body, before);
    }
    let other = service.send("GET", "/v1/matches/duel/branches/main/view", service.admin(), "");
    assert_eq!((other.status, other.json()["detail"].as_str()), (503, Some(FAULT)));
    assert_eq!(play("take 1 1").status, 201);
    assert_eq!(get("view").json()["heaps"], serde_json::json!([3, 5]));
}

#[test]
fn md_6_a_fault_in_play_by_mail_is_one_line_and_changes_nothing() {
    let sandbox = Sandbox::of_toys();
    pass(&sandbox);
    let host = sandbox.ok("m1 key new host.key --name host.example");
    assert!(host.starts_with("host.example+"), "{host}");
    sandbox.write("duel.toml", "heaps = [5, 4]\n");
    sandbox.write("desk.toml", "hosted = []\ndefault = [\"stand\"]\n");
    sandbox.ok("m1 mail open duel --rules heaps --setup duel.toml --desk desk.toml --key host.key");
    let save_bundle = |letter: &str| {
        let letter = sandbox.read(&format!(".turnfold/outbox/{letter}.eml"));
        sandbox.write("newest.bundle", opened(&letter).1);
    };
    sandbox.write(".turnfold/addresses", "p1 = ann@example.org\np2 = ben@example.org\n");
    for (seat, key) in [("p1", "ann"), ("p2", "ben")] {
        sandbox.ok(&format!("m1 key new {key}.key --name {key}.example"));
        save_bundle(&format!("00000001-{seat}"));
        sandbox.ok(&format!(
            "m1 mail write join {seat} --from newest.bundle --key {key}.key -o join.txt --force"
        ));
        sandbox.ok(&format!("m1 mail take duel join.txt --admit {seat} --key host.key"));
    }
    sandbox.ok("m1 mail run duel --key host.key");
    let letters = fs::read_dir(sandbox.path(".turnfold/outbox")).unwrap();
    let letters = letters.map(|letter| letter.unwrap().file_name().into_string().unwrap());
    let newest = letters.filter(|name| name.contains("p1")).max().unwrap();
    save_bundle(newest.trim_end_matches(".eml"));
    let order = "mail write order \"take 3 1\" --from newest.bundle --key ann.key -o order.txt --force";
    assert!(failure(&sandbox, &format!("f1 {order}")).contains(FAULT));
    assert!(!sandbox.path("order.txt").exists());
    sandbox.ok(&format!("m1 {order}"));
    let log = sandbox.ok("m1 log duel --raw");
    sandbox.ok("m1 mail take duel order.txt --key host.key");
    assert!(failure(&sandbox, "f1 mail run duel --key host.key").contains(FAULT));
    assert_eq!(sandbox.ok("m1 log duel --raw"), log);
    // The module that does not fail executes the turn.
    sandbox.ok("m1 mail run duel --key host.key");
    assert_ne!(sandbox.ok("m1 log duel --raw"), log);
}

#[test]
fn md_7_the_service_and_mail_refuse_a_module_on_which_the_laws_did_not_pass() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("games")).unwrap();
    fs::copy(workspace().join("fixtures/modules/tictactoe.wasm"), sandbox.path("games/game.wasm")).unwrap();
    sandbox.write("desk.toml", "hosted = []\ndefault = []\nmissed = \"wait\"\n");
    let setup = workspace().join("fixtures/modules/tictactoe/setup.toml");
    fs::copy(setup, sandbox.path("setup.toml")).unwrap();
    sandbox.ok("key new host.key --name host.example");
    let open =
        "--modules games mail open duel --rules tictactoe --setup setup.toml --desk desk.toml --key host.key";
    let refused = "the laws have not passed here on the module 7d7e68dac64fd2ea";
    assert!(failure(&sandbox, open).contains(refused));
    let serve = ["--modules", "games", "serve", "--listen", "127.0.0.1:0"];
    let create = r#"{"name":"duel","ruleset":"tictactoe","setup":"","dice":"recorded"}"#;
    let service = Running::start_by(sandbox.command(serve));
    let reply = service.send("POST", "/v1/matches", service.admin(), create);
    assert!(reply.status == 422 && reply.body.contains(refused), "{} {}", reply.status, reply.body);
    drop(service);
    assert_eq!(sandbox.ok("matches"), "");
    sandbox.ok("--modules games game check games/game.wasm");
    sandbox.ok(open);
}
