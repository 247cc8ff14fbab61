//! A client by others: schemathesis sends what the description of the service allows, and what it does not
//! (SV-34).

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::described::{python, skipped};
use super::http::{Call, import};
use super::papers::{joined, serve};
use super::times;
use turnfold_tests::sandbox::workspace;
use turnfold_tests::service::Running;

const SCHEMATHESIS: &str = "schemathesis==4.32.5";

/// Makes the matches that the configuration names, each with a branch; one by mail is there.
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

/// SV-34: every phase, every check. The long form takes five minutes:
/// `TURNFOLD_SERVE_LONG=1 cargo test --workspace --test system -- fuzzer`.
#[test]
fn sv_34_schemathesis_finds_no_failure() {
    let mailbox = joined();
    let sandbox = &mailbox.sandbox;
    let schemathesis = match python(&sandbox.path("venv"), SCHEMATHESIS, "TURNFOLD_SCHEMATHESIS") {
        Ok(bin) => bin.join("schemathesis"),
        Err(why) => return skipped("schemathesis", &why),
    };
    let service = serve(&mailbox);
    seed(&service);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("system/serve/fuzzer");
    let seconds = times(30, 300).to_string();
    let output = Command::new(schemathesis)
        .args(["--config-file".as_ref(), folder.join("schemathesis.toml").as_os_str()])
        .args([
            "run",
            "--phases",
            "examples,coverage,fuzzing,stateful",
            "--max-time",
            &seconds,
            "--checks",
            "all",
        ])
        .arg(format!("{}/v1/openapi.json", service.origin()))
        .current_dir(sandbox.path(""))
        .env("PYTHONPATH", &folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("TURNFOLD_TOKEN", service.admin())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains("Test cases:"), "{printed}");
    assert!(printed.contains("Selected: 34/34"), "{printed}");
    // It is still there, and so is what it was given.
    for name in ["dice", "duel"] {
        Call::get(&format!("/v1/matches/{name}"), service.admin()).to(&service).is(200);
    }
}
