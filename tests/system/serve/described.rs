//! The description of the service (SV-33): two validators accept it, and generated clients work.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use turnfold_tests::parts::{python, skipped};
use turnfold_tests::sandbox::{Sandbox, workspace};
use turnfold_tests::service::Running;

/// The validator and the generator from `PyPI`. Those from npm are in `clients/package.json`.
const VALIDATOR: &str = "openapi-spec-validator==0.9.0";
const GENERATOR: &str = "openapi-python-client==0.29.1";

/// Runs a program, requires it to succeed, and returns its output.
#[track_caller]
fn done(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let [stdout, stderr] = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(status.success(), "{command:?}: {stdout}\n{stderr}");
    stdout
}

/// Returns the folder of the npm packages if it exists.
fn npm(what: &str) -> Option<PathBuf> {
    let folder = workspace().join("tests/system/serve/clients");
    if folder.join("node_modules/.bin/openapi-typescript").exists() {
        return Some(folder);
    }
    skipped(what, "`npm ci --prefix tests/system/serve/clients` installs what is missing");
    None
}

fn description() -> PathBuf {
    workspace().join("cli/serve/openapi.json")
}

/// Plays a match with a client.
fn play(client: &mut Command) {
    let service = Running::alone();
    let played = done(client.args([service.origin(), service.admin(), "players = 2\nseed = 7\n"]));
    let head = head(&service);
    assert!(head >= 4, "{played}");
    assert_eq!(played.trim(), format!("played {head} entries"));
}

fn head(service: &Running) -> u64 {
    service.send("GET", "/v1/matches/typed", service.admin(), "").json()["head"].as_u64().unwrap()
}

/// Returns the names of all operations, which generators use.
fn operations() -> Vec<String> {
    let text = fs::read_to_string(description()).unwrap();
    let description: serde_json::Value = serde_json::from_str(&text).unwrap();
    let paths = description["paths"].as_object().unwrap();
    let operations = paths.values().flat_map(|item| item.as_object().unwrap().values());
    operations.map(|operation| operation["operationId"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn sv_33_every_operation_has_a_name_of_its_own() {
    let names = operations();
    assert!(names.len() > 20, "{names:?}");
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
}

#[test]
fn sv_33_the_description_is_valid_by_openapi_spec_validator() {
    let bin = match python(VALIDATOR, "TURNFOLD_OPENAPI_SPEC_VALIDATOR") {
        Ok(bin) => bin,
        Err(why) => return skipped("openapi-spec-validator", &why),
    };
    done(Command::new(bin.join("openapi-spec-validator")).arg(description()));
}

#[test]
fn sv_33_the_description_keeps_the_rules_of_redocly() {
    let Some(folder) = npm("the rules of Redocly") else { return };
    done(Command::new("node").arg(folder.join("lint.js")).arg(description()));
}

#[test]
fn sv_33_a_client_with_the_types_of_openapi_typescript_plays_a_match() {
    let Some(folder) = npm("openapi-typescript") else { return };
    let sandbox = Sandbox::new();
    for file in ["play.ts", "package.json"] {
        fs::copy(folder.join(file), sandbox.path(file)).unwrap();
    }
    let programs = folder.join("node_modules/.bin");
    std::os::unix::fs::symlink(folder.join("node_modules"), sandbox.path("node_modules")).unwrap();
    let mut types = Command::new(programs.join("openapi-typescript"));
    done(types.arg(description()).arg("-o").arg(sandbox.path("description.d.ts")));
    let mut compiler = Command::new(programs.join("tsc"));
    compiler.args(["--strict", "--target", "es2022", "--module", "nodenext"]);
    compiler.args(["--lib", "es2023,dom,dom.iterable", "play.ts"]).current_dir(sandbox.path(""));
    done(&mut compiler);
    play(Command::new("node").arg(sandbox.path("play.js")));
}

#[test]
fn sv_33_a_client_of_openapi_python_client_has_every_operation_and_plays_a_match() {
    let sandbox = Sandbox::new();
    let bin = match python(GENERATOR, "TURNFOLD_OPENAPI_PYTHON_CLIENT") {
        Ok(bin) => bin,
        Err(why) => return skipped("openapi-python-client", &why),
    };
    sandbox.write("config.yaml", "post_hooks: []\n");
    let mut generator = Command::new(bin.join("openapi-python-client"));
    generator.args([
        "generate",
        "--meta",
        "none",
        "--output-path",
        "client",
        "--config",
        "config.yaml",
        "--path",
    ]);
    done(generator.arg(description()).current_dir(sandbox.path("")));
    let modules = fs::read_dir(sandbox.path("client/api")).unwrap().flat_map(|tag| {
        let tag = tag.unwrap().path();
        if tag.is_dir() { fs::read_dir(tag).unwrap().collect() } else { Vec::new() }
    });
    let names = modules.map(|file| file.unwrap().file_name().into_string().unwrap());
    let made: BTreeSet<_> = names.filter_map(|name| Some(name.strip_suffix(".py")?.to_owned())).collect();
    for operation in operations() {
        assert!(made.contains(&operation), "{operation} is not in {made:?}");
    }
    let python = bin.join("python");
    done(Command::new(&python).args(["-m", "compileall", "-q", "client"]).current_dir(sandbox.path("")));
    fs::copy(workspace().join("tests/system/serve/clients/play.py"), sandbox.path("play.py")).unwrap();
    play(Command::new(&python).arg("play.py").current_dir(sandbox.path("")));
}
