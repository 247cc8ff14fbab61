//! The contents of a match, the logs of the service, and who may read everything after the end (SV-9, SV-22, SV-30).

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::http::{Call, import};
use turnfold_tests::sandbox::{Sandbox, store_match, workspace};
use turnfold_tests::service::Running;

/// SV-9: while any branch is being played, only the host may read the replay file. Once all branches are over, every
/// viewer may.
#[test]
fn sv_9_who_looks_may_know_everything_once_every_branch_is_over() {
    let service = Running::alone();
    let golden = fs::read_to_string(workspace().join("replays/cycletap/nobody-is-left.tfl")).unwrap();
    let host = import(&service, "plans", &golden);
    let seat = service.grant("plans", r#"{"kind":"seat","seat":"p1"}"#)["token"].as_str().unwrap().to_owned();
    let file = "/v1/matches/plans/branches/main/replay.tfl";
    let whole = service.send("GET", file, &host, "");
    assert_eq!(whole.status, 200, "{}", whole.body);
    let seen = service.send("GET", file, &seat, "");
    assert_eq!((seen.status, seen.body), (200, whole.body));
    let branch = json!({ "name": "again", "from": "main:3" }).to_string();
    assert_eq!(service.send("POST", "/v1/matches/plans/branches", &host, &branch).status, 201);
    assert_eq!(service.send("GET", file, &seat, "").status, 403, "the same people may play on");
    for method in ["DELETE", "PUT"] {
        assert_eq!(
            service.send(method, "/v1/matches/plans", &host, "").status,
            405,
            "matches are not deleted"
        );
    }
}

/// SV-6: the admin's list includes matches whose rules this build does not have.
#[test]
fn sv_6_a_match_of_another_build_is_listed_among_the_others() {
    let sandbox = Sandbox::new();
    store_match(&sandbox, "initiative", 99);
    let service = Running::start(&sandbox);
    let golden = fs::read_to_string(workspace().join("replays/cycletap/nobody-is-left.tfl")).unwrap();
    import(&service, "plans", &golden);
    let listed = service.send("GET", "/v1/matches", service.admin(), "").json();
    let seen = |at: usize| (listed["items"][at]["match"].clone(), listed["items"][at]["over"].clone());
    assert_eq!(seen(0), (json!("old"), json!(null)));
    assert_eq!(seen(1), (json!("plans"), json!(true)));
    let view = service.send("GET", "/v1/matches/old/branches/main/view", service.admin(), "");
    assert!(view.body.contains("this build has version 1"), "{}", view.body);
}

/// SV-22, SV-30: each request is logged with its grant, and no log level shows a token.
#[test]
fn sv_30_the_logs_name_requests_and_grants_and_no_tokens() {
    let sandbox = Sandbox::new();
    let mut serve = sandbox.command(["serve", "--listen", "127.0.0.1:0", "--admin-token", "admin.token"]);
    serve.env("TURNFOLD_LOG", "trace").stdout(Stdio::piped());
    let mut child = serve.stderr(File::create(sandbox.path("log")).unwrap()).spawn().unwrap();
    let mut origin = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut origin).unwrap();
    let token = sandbox.read("admin.token").trim_end().to_owned();
    let asked =
        Call::get("/v1/matches", &token).with("x-request-id", "asked-once").send(origin.trim_end()).unwrap();
    asked.is(200);
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    let ended = child.wait().unwrap();
    let log = fs::read_to_string(sandbox.path("log")).unwrap();
    assert_eq!(ended.code(), Some(0), "{log}");
    let line = log.lines().find(|line| line.contains("asked-once") && line.contains("served")).unwrap();
    for part in ["method=GET", "/v1/matches", "grant=", "status=200", "duration_ms="] {
        assert!(line.contains(part), "{part}: {line}");
    }
    // Each line begins with the time, in UTC.
    for line in log.lines().filter(|line| !line.is_empty()) {
        let shape: String =
            line.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
        assert!(shape.starts_with("0000-00-00T00:00:00.000Z "), "{line}");
    }
    let duration = line.split("duration_ms=").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    assert!(duration.parse::<f64>().is_ok_and(|duration| duration >= 0.0), "{line}");
    assert!(!log.contains(token.trim_start_matches("tf_a_")), "the token is in the log");
}
