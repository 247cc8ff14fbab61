//! A branch that a desk names takes commands only by mail (PM-2).

use serde_json::{Value, json};
use turnfold_core::Rules;
use turnfold_core::Seat::{P1, P2};
use turnfold_core::paper::PaperContent;
use turnfold_core::rules::desk::Desk;

use turnfold_tests::mailbox::Mailbox;
use turnfold_tests::players::Unlike;
use turnfold_tests::service::Running;

const TERMS: &str = "hosted = []\ndefault = [\"cycle\", \"confirm\", \"stand\"]\nbetween = [\"next-turn\"]\n";

/// Returns a match whose first turn is open, on `main` after a roll.
fn begun() -> Mailbox {
    let mut mailbox = Mailbox::opened("initiative", "small-board.toml", TERMS, "");
    mailbox.join(&[P1, P2]);
    assert!(mailbox.run("01T12:00:00Z", "--roll 1 1 2 2").status.success());
    mailbox
}

fn refused(mailbox: &Mailbox, line: &str) {
    let output = mailbox.sandbox.run(line);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{line}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    for words in ["is played by mail; only its desk can append to it", "mail take", "`turnfold branch duel"] {
        assert!(stderr.contains(words), "{line}: {stderr}");
    }
}

fn audit(mailbox: &Mailbox) -> String {
    mailbox.sandbox.ok("audit --require authorship")
}

#[test]
fn pm_2_play_and_amend_refuse_a_line_that_the_desk_names() {
    let mailbox = begun();
    let before = mailbox.sandbox.ok("log duel");
    for line in [
        r#"play duel "p1: confirm""#,
        r#"play duel confirm --seat p1"#,
        r#"play duel@main:1 "p1: confirm" --once mine"#,
        "play duel",
        r#"amend duel:1 "roll 6 6 1 1" --branch other"#,
        "amend duel:1 --drop --branch other --keep-going",
    ] {
        refused(&mailbox, line);
    }
    assert_eq!(mailbox.sandbox.ok("log duel"), before);
    // Analysis on another branch and in files is unrestricted.
    mailbox.sandbox.ok(r#"amend duel:1 "roll 6 6 1 1" -o other.tfl"#);
    mailbox.sandbox.ok("branch duel what-if");
    mailbox.sandbox.ok(r#"play duel@what-if "p1: confirm""#);
    mailbox.sandbox.ok(r#"amend duel@what-if:1 "roll 6 6 1 1" --branch other --keep-going"#);
    let rows = audit(&mailbox);
    assert!(rows.contains("duel@other was not played; duel@what-if was not played"), "{rows}");
}

#[test]
fn pm_2_a_takeback_leaves_two_lines_that_are_named() {
    let mut mailbox = begun();
    mailbox.save_orders("orders.txt", &[(P1, &["confirm", "stand"])]);
    assert!(mailbox.take("orders.txt").status.success());
    assert!(mailbox.run("02T12:00:00Z", "").status.success());
    let offer = "takeback main 1".parse().unwrap();
    let known = mailbox.known();
    let paper = mailbox.players.write(&known, P1, PaperContent::Offer(offer), Unlike::default());
    mailbox.save("offer.txt", &[paper]);
    assert!(mailbox.take("offer.txt").status.success());
    let known = mailbox.known();
    let to = Desk::view(known.desk.state(), P2.into()).offers[0].digest;
    let answer = PaperContent::Answer { to, agree: true };
    let paper = mailbox.players.write(&known, P2, answer, Unlike::default());
    mailbox.save("answer.txt", &[paper]);
    assert!(mailbox.take("answer.txt").status.success());
    assert!(mailbox.run("03T12:00:00Z", "").status.success());
    refused(&mailbox, r#"play duel@takeback-1 "p1: confirm""#);
    refused(&mailbox, r#"play duel "p2: confirm""#);
    refused(&mailbox, "amend duel@takeback-1:1 --drop --branch other");
    refused(&mailbox, "branch --delete duel@takeback-1");
    refused(&mailbox, "branch --rename duel@takeback-1 back");
    audit(&mailbox);
}

#[test]
fn pm_1_a_desk_keeps_the_name_that_goes_with_its_game() {
    let mailbox = begun();
    let alone = mailbox.sandbox.run("rename duel.desk office");
    assert_eq!(alone.status.code(), Some(2));
    assert!(String::from_utf8(alone.stderr).unwrap().contains("`duel.desk` is the desk of `duel`"));
    mailbox.sandbox.ok("new taken --rules initiative --setup fixtures/initiative/small-board.toml");
    assert_eq!(mailbox.sandbox.run("rename duel taken").status.code(), Some(2));
    mailbox.sandbox.ok("rename duel final");
    let status = mailbox.sandbox.ok("mail status final");
    assert!(status.starts_with("final waits for"), "{status}");
    mailbox.sandbox.ok("bundle final final.desk -o final.bundle");
    mailbox.sandbox.ok("audit final.bundle --require authorship");
}

#[test]
fn pm_1_a_desk_is_deleted_with_its_game() {
    let mailbox = begun();
    let alone = mailbox.sandbox.run("delete --force duel.desk");
    assert_eq!(alone.status.code(), Some(2));
    let stderr = String::from_utf8(alone.stderr).unwrap();
    assert!(stderr.contains("`duel.desk` is the desk of `duel`; delete the match"), "{stderr}");
    let deleted = mailbox.sandbox.ok("delete --force duel --format json");
    let deleted: Value = serde_json::from_str(&deleted).unwrap();
    assert_eq!(deleted, json!({"match": "duel", "desk": "duel.desk", "branches": 1, "entries": 1}));
    assert_eq!(mailbox.sandbox.ok("matches --format json"), "");
}

#[test]
fn pm_2_a_match_without_a_desk_of_its_own_is_played_as_usual() {
    let mailbox = Mailbox::new(TERMS);
    let setup = "--rules initiative --setup fixtures/initiative/small-board.toml";
    for name in ["duel", "duel.desk"] {
        mailbox.sandbox.ok(&format!("new {name} {setup}"));
        mailbox.sandbox.ok(&format!(r#"play {name} "roll 1 1 2 2""#));
        mailbox.sandbox.ok(&format!(r#"amend {name}:1 "roll 2 2 1 1" --branch other"#));
    }
    // A desk of another game, because its match has another id.
    let of_another = begun();
    of_another.sandbox.ok("bundle duel duel.desk -o duel.bundle");
    let text = of_another.sandbox.read("duel.bundle");
    mailbox.sandbox.ok("delete duel.desk --force");
    mailbox.sandbox.write("other.tfl", of_another.sandbox.ok("export duel.desk"));
    mailbox.sandbox.ok("import other.tfl --name duel.desk");
    mailbox.sandbox.ok(r#"play duel "p1: confirm""#);
    assert!(text.contains("-- match duel.desk"), "{text}");
}

#[test]
fn pm_2_a_service_takes_no_commands_there_either() {
    let mailbox = begun();
    mailbox.sandbox.ok("branch duel what-if");
    let service = Running::start(&mailbox.sandbox);
    let grant =
        |grant: Value| service.grant("duel", &grant.to_string())["token"].as_str().unwrap().to_owned();
    let tokens = [
        grant(json!({"kind": "host"})),
        grant(json!({"kind": "seat", "seat": "p1"})),
        service.admin().to_owned(),
    ];
    let commands = json!({"commands": ["p1: confirm"]}).to_string();
    for token in &tokens {
        let path = "/v1/matches/duel/branches/main/entries";
        // Repeated requests are refused in the same way.
        for body in [&commands, &json!({"commands": []}).to_string(), &commands] {
            let reply = service.send("POST", path, token, body);
            let problem = reply.json();
            assert_eq!(problem["status"], 403, "{problem}");
            assert_eq!(problem["type"], "urn:turnfold:problem:forbidden");
            let detail = problem["detail"].as_str().unwrap();
            assert_eq!(detail, "`duel` is played by mail; only its desk can append to it");
        }
    }
    let path = "/v1/matches/duel/branches/what-if/entries";
    let reply = service.send("POST", path, &tokens[1], &commands).json();
    assert_eq!(reply["head"], 2, "{reply}");
}
