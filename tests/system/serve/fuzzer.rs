//! An independent client: schemathesis sends requests that the description of the service allows, and requests that it
//! does not (SV-34).

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::http::{Call, import};
use super::papers::{joined, serve};
use super::times;
use turnfold_tests::parts::{python, skipped};
use turnfold_tests::sandbox::workspace;
use turnfold_tests::service::Running;

const SCHEMATHESIS: &str = "schemathesis==4.32.5";

/// The digest of the module that one of the matches pins.
const MODULE: &str = "7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee";

/// Creates matches, each with a branch. A match by mail already exists.
fn seed(service: &Running) {
    for (name, golden) in [("dice", "initiative/seeded-dice"), ("secrets", "cycletap/while-the-other-plans")]
    {
        let golden = fs::read_to_string(workspace().join(format!("replays/{golden}.tfl"))).unwrap();
        let host = import(service, name, &golden);
        let side = json!({"name": "side", "from": "main:3"});
        Call::post(&format!("/v1/matches/{name}/branches"), &host, &side).to(service).is(201);
    }
    let side = json!({"name": "side", "from": "main"});
    Call::post("/v1/matches/duel/branches", service.admin(), &side).to(service).is(201);
}

/// SV-34: every phase and every check. The long form takes eight minutes:
/// `TURNFOLD_SERVE_LONG=1 cargo test --workspace --test system -- fuzzer`.
#[test]
fn sv_34_schemathesis_finds_no_failure() {
    let module = fs::read(workspace().join("fixtures/modules/tictactoe.wasm")).unwrap();
    let mailbox = joined();
    let sandbox = &mailbox.sandbox;
    let schemathesis = match python(SCHEMATHESIS, "TURNFOLD_SCHEMATHESIS") {
        Ok(bin) => bin.join("schemathesis"),
        Err(why) => return skipped("schemathesis", &why),
    };
    fs::create_dir_all(sandbox.path(".turnfold/modules")).unwrap();
    sandbox.write(&format!(".turnfold/modules/{MODULE}.wasm"), module);
    sandbox.write(&format!(".turnfold/modules/{MODULE}.passed"), "");
    sandbox.ok(&format!("new own --module {MODULE}"));
    let service = serve(&mailbox);
    seed(&service);
    let duel = |grant| service.grant("duel", grant)["token"].as_str().unwrap().to_owned();
    let invitation = duel(r#"{"kind":"invitation","seat":"p1"}"#);
    let seat = duel(r#"{"kind":"seat","seat":"p1"}"#);
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("system/serve/fuzzer/schemathesis.toml");
    let run = |mode: &str, token: &str, seconds: usize, operations: &[&str]| {
        let mut run = Command::new(&schemathesis);
        run.args(["--no-color", "--config-file"]).arg(&config);
        let phases =
            if operations.is_empty() { "examples,coverage,fuzzing,stateful" } else { "coverage,fuzzing" };
        run.args(["run", "--phases", phases, "--checks", "all"]);
        run.args(["--mode", mode, "--max-time", &seconds.to_string()]);
        run.args(operations.iter().flat_map(|id| ["--include-operation-id", id]));
        run.arg(format!("{}/v1/openapi.json", service.origin())).current_dir(sandbox.path(""));
        run.env("TURNFOLD_TOKEN", token).env("TURNFOLD_MODULE", MODULE);
        let output = run.output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(printed.contains("Test cases:"), "{printed}");
        let count = if operations.is_empty() { 50 } else { operations.len() };
        assert!(printed.contains(&format!("Selected: {count}/50")), "{printed}");
    };
    // Two separate runs: in one run, schemathesis would add invalid headers to valid requests and expect success.
    for mode in ["positive", "negative"] {
        run(mode, service.admin(), times(15, 240), &[]);
        run(mode, &invitation, times(4, 20), &["show_invitation", "join_match"]);
        run(
            mode,
            &seat,
            times(6, 30),
            &["show_desk", "submit_lines", "show_call", "set_call", "stop_calls", "announce_absence"],
        );
    }
    // The service still runs, and has its matches.
    for name in ["dice", "duel"] {
        Call::get(&format!("/v1/matches/{name}"), service.admin()).to(&service).is(200);
    }
}
