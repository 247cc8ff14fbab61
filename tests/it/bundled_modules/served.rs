//! Modules from the service (MD-10).

use turnfold_tests::service::Running;

use super::{DIGEST, module, recorded};

/// MD-10: a token can get the modules of the matches that it may read, and no others.
#[test]
fn md_10_the_service_answers_with_the_modules_of_matches_that_a_token_knows() {
    let sandbox = recorded();
    sandbox.ok("new plain --rules initiative");
    let service = Running::start(&sandbox);
    let token = |of: &str, grant: &str| service.grant(of, grant)["token"].as_str().unwrap().to_owned();
    let path = |digest: &str| format!("/v1/modules/{digest}");
    let (player, other) =
        (token("duel", r#"{"kind":"seat","seat":"p1"}"#), token("plain", r#"{"kind":"host"}"#));
    for token in [service.admin(), &player] {
        let (headers, body) = service.bytes(&path(DIGEST), token);
        assert_eq!(headers["content-type"], "application/wasm");
        assert_eq!(headers["cache-control"], "private, max-age=31536000, immutable");
        assert!(body == module());
    }
    let status = |digest: &str, token: &str| service.send("GET", &path(digest), token, "").status;
    let unknown = "00".repeat(32);
    for token in [service.admin(), &player, &other] {
        assert_eq!(status(&unknown, token), 404);
    }
    // The answer does not reveal whether another match has the module.
    let detail = |digest: &str| {
        let refused = service.send("GET", &path(digest), &other, "").json();
        (refused["status"].clone(), refused["detail"].as_str().unwrap().replace(digest, ""))
    };
    assert_eq!(detail(DIGEST), detail(&unknown));
    assert_eq!(status(DIGEST, &other), 404);
    assert_eq!(status(DIGEST, "no-token"), 401);
    assert_eq!(status("short", &player), 400);
    let invitation = token("duel", r#"{"kind":"invitation","seat":"p2"}"#);
    assert_eq!(status(DIGEST, &invitation), 403);
    assert_eq!(service.send("POST", &path(DIGEST), service.admin(), "{}").status, 405);
    // As everywhere, the answer names a missing pinned module.
    std::fs::remove_file(sandbox.path(&format!(".turnfold/modules/{DIGEST}.wasm"))).unwrap();
    let missing = service.send("GET", &path(DIGEST), &player, "");
    assert!(missing.status == 503 && missing.body.contains(DIGEST), "{}", missing.body);
}
