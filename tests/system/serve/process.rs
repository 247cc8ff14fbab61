//! The process: its options, files, metrics, backups and exit (SV-1, SV-26, SV-28, SV-29).

use std::fs;
use std::io::ErrorKind;
use std::process::Command;
use std::thread;

use serde_json::json;

use super::http::{Answer, Call, create, import, main_of};
use super::streams::terminate;
use turnfold_tests::fixture;
use turnfold_tests::sandbox::{Sandbox, binary, workspace};
use turnfold_tests::service::Running;

/// SV-1: a service that other hosts can reach needs a proxy, an origin and a stored token.
#[test]
fn sv_1_an_address_that_others_reach_needs_a_proxy_before_it() {
    let sandbox = Sandbox::new();
    let options = ["--behind-proxy", "--origin https://a.example", "--admin-token a.token"];
    for left_out in 0..3 {
        let mut line = "serve --listen 0.0.0.0:0".to_owned();
        for (place, option) in options.iter().enumerate() {
            if place != left_out {
                line.extend([" ", option]);
            }
        }
        let output = sandbox.run(&line);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {stderr}");
        assert!(stderr.contains(options[left_out].split(' ').next().unwrap()), "{line}: {stderr}");
    }
    assert!(!sandbox.path("a.token").exists(), "a refused call makes no file");
    assert_eq!(sandbox.run("serve --listen nowhere").status.code(), Some(2));
    assert_eq!(sandbox.run("serve --origin https://a.example/").status.code(), Some(2));
}

/// SV-26: a missing file is created, readable only by its owner. A file with anything but an admin token is refused.
#[test]
fn sv_26_the_admin_token_stands_in_its_file() {
    use std::os::unix::fs::PermissionsExt;

    let sandbox = Sandbox::new();
    let serve =
        |sandbox: &Sandbox| sandbox.command(["serve", "--listen", "127.0.0.1:0", "--admin-token", "a.token"]);
    let address = {
        let mut child = serve(&sandbox).stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line)
            .unwrap();
        let token = sandbox.read("a.token");
        let answer = Call::get("/v1/matches", token.trim_end()).send(line.trim_end()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        answer.is(200);
        line
    };
    assert!(address.starts_with("http://127.0.0.1:"));
    let mode = fs::metadata(sandbox.path("a.token")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let token = sandbox.read("a.token");
    for wrong in ["", "x\n", &token.replace("_a_", "_h_"), &format!("{token}x"), &"x".repeat(10_000)] {
        sandbox.write("a.token", wrong);
        let output = serve(&sandbox).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("a.token") && !stderr.contains(token.trim_end()), "{stderr}");
    }
}

/// SV-28: the service is ready while it runs. SIGTERM and SIGINT end it cleanly, and its store is intact.
#[test]
fn sv_28_a_signal_ends_it_with_exit_code_0() {
    let sandbox = Sandbox::new();
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::INT] {
        let mut service = Running::start(&sandbox);
        assert_eq!(Call::get("/healthz", "").to(&service).is(200).body, "ok\n");
        assert_eq!(Call::get("/readyz", "").to(&service).is(200).body, "ready\n");
        assert_eq!(sandbox.run("matches").status.code(), Some(0), "ST-5: the store is read next to it");
        let locked = sandbox.run("new another --rules initiative");
        assert_eq!(locked.status.code(), Some(3), "ST-6: the store is its own");
        if signal == rustix::process::Signal::TERM {
            create(&service, "a", "hexcapture", &fixture("hexcapture", "small-world"));
            terminate(&service);
        } else {
            let pid = rustix::process::Pid::from_raw(i32::try_from(service.pid()).unwrap()).unwrap();
            rustix::process::kill_process(pid, signal).unwrap();
        }
        assert_eq!(service.wait().code(), Some(0));
        assert!(Call::get("/healthz", "").send(service.origin()).is_err());
        assert!(sandbox.ok("matches").starts_with('a'));
    }
}

/// SV-29: metrics have a separate address, and contain no names.
#[test]
fn sv_29_metrics_name_routes_and_no_one() {
    let sandbox = Sandbox::new();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let service =
        Running::start_by(sandbox.command(["serve", "--listen", "127.0.0.1:0", "--metrics", &free]));
    let host = create(&service, "veryown", "hexcapture", &fixture("hexcapture", "small-world"));
    let entries = main_of("veryown", "entries");
    for command in ["tick 1", "jump"] {
        Call::post(&entries, &host, &json!({"commands": [command]})).to(&service);
    }
    let stream = Call::get(&main_of("veryown", "events"), &host);
    let _open = super::http::Events::open(&service, &stream);
    Call::get("/v1/secretpath", &host).to(&service).is(404);
    let answer = Call::get("/metrics", "").send(&free).unwrap().is(200);
    assert!(answer.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    let text = answer.body;
    for line in [
        "turnfold_http_requests_total{route=\"/v1/matches/{match}/branches/{branch}/entries\",status=\"201\"} 1",
        "turnfold_http_requests_total{route=\"/v1/matches/{match}/branches/{branch}/entries\",status=\"422\"} 1",
        "turnfold_appends_total{outcome=\"recorded\"} 1",
        "turnfold_appends_total{outcome=\"rejected\"} 1",
        "turnfold_append_seconds_count 2",
        "turnfold_streams 1",
        "turnfold_answer_bytes 0",
        "turnfold_answers_refused_total 0",
        "turnfold_tables 1",
        "turnfold_table_misses_total 1",
        "turnfold_store_failed 0",
    ] {
        assert!(text.lines().any(|own| own == line), "{line} is not in:\n{text}");
    }
    assert!(text.ends_with("# EOF\n") && text.contains("turnfold_table_bytes "));
    for word in ["veryown", "main", "secretpath", "p1", &host] {
        assert!(!text.contains(word), "{word}");
    }
    // Metrics are not served at the address that tokens protect.
    Call::get("/metrics", &host).to(&service).is(404);
}

/// SV-8: a backup runs during writes, and contains each match as of one moment.
#[test]
fn sv_8_a_backup_of_a_store_that_is_served_is_restored_and_verified() {
    let sandbox = Sandbox::new();
    let service = Running::start(&sandbox);
    let golden = fs::read_to_string(workspace().join("replays/cycletap/deploys.tfl")).unwrap();
    import(&service, "golden", &golden);
    let host = create(&service, "a", "hexcapture", &fixture("hexcapture", "small-world"));
    let (service, host) = (&service, &host);
    let backup = thread::scope(|scope| {
        let writer = scope.spawn(move || {
            for _ in 0..100 {
                let body = json!({"commands": vec!["tick 1"; 20]});
                Call::post(&main_of("a", "entries"), host, &body).to(service).is(201);
            }
        });
        let url = format!("{}/v1/backup", service.origin());
        let output = curl(&url, service.admin());
        writer.join().unwrap();
        output
    });
    sandbox.write("turnfold.backup", backup);
    sandbox.ok("store restore turnfold.backup restored");
    sandbox.ok("--store restored verify");
    let head = sandbox.ok("--store restored --format json log a").lines().count();
    assert!(head.is_multiple_of(20), "half a request is in the backup: {head}");
    assert!(sandbox.ok("--store restored export golden").contains("ruleset = \"cycletap\""));
    // The backup contains no grants (SV-23).
    let restored =
        Running::start_by(sandbox.command(["--store", "restored", "serve", "--listen", "127.0.0.1:0"]));
    Call::get("/v1/matches/a", host).to(&restored).problem(401, "no_token");
    Call::get("/v1/matches/a", restored.admin()).to(&restored).is(200);
}

/// Reads a binary response.
fn curl(url: &str, token: &str) -> Vec<u8> {
    let mut answer = ureq::get(url).header("authorization", format!("Bearer {token}")).call().unwrap();
    answer.body_mut().with_config().limit(1 << 30).read_to_vec().unwrap()
}

/// SV-1: a second service on the same store is refused.
#[test]
fn sv_1_a_store_is_served_once() {
    let sandbox = Sandbox::new();
    let _service = Running::start(&sandbox);
    let mut second: Command = sandbox.command(["serve", "--listen", "127.0.0.1:0"]);
    let output = second.output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
}

/// SV-28: after a full disk, a store accepts no more writes even when space is free. The service reports that it must
/// be restarted.
#[test]
fn sv_28_after_a_full_disk_the_service_is_to_be_restarted() {
    let sandbox = Sandbox::new();
    // A limit on the file size simulates a full disk. Without the trap, a signal would end the process before it sees
    // the error.
    let limited =
        format!("trap '' XFSZ; ulimit -f 1500; exec '{}' serve --listen 127.0.0.1:0", binary().display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &limited]).current_dir(sandbox.path("")).env_clear();
    let service = Running::start_by(shell);
    let host = create(&service, "ford", "cycletap", &fixture("cycletap", "ford"));
    // The rules ignore these commands, but the store records them.
    let many =
        Call::post(&main_of("ford", "entries"), &host, &json!({"commands": vec!["p1: tap 9,9"; 1000]}));
    let full = (0..100).map(|_| many.to(&service)).find(|answer| answer.status != 201);
    check_full(&full.expect("the disk was never full"));
    let unready = Call::get("/readyz", "").to(&service).problem(503, "store");
    assert!(unready.json()["detail"].as_str().unwrap().contains("free some space and restart the service"));
    assert_eq!(unready.header("retry-after"), Some("60"), "it does not come back within a second");
    for _ in 0..3 {
        let stopped = many.to(&service);
        check_full(&stopped);
        assert_eq!(stopped.header("retry-after"), None);
    }
    // A backup is complete, is a problem, or breaks off when the store stops meanwhile.
    match Call::get("/v1/backup", service.admin()).send(service.origin()) {
        Ok(whole) if whole.status == 200 => assert!(whole.body.len() > 1000, "{}", whole.body.len()),
        Ok(problem) => check_full(&problem),
        Err(error) => assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{error}"),
    }
    drop(service);
    let again = Running::start(&sandbox);
    let call = Call::post(&main_of("ford", "entries"), again.admin(), &json!({"commands": ["p1: tap 9,9"]}));
    call.to(&again).is(201);
}

fn check_full(answer: &Answer) {
    let full = answer.clone().problem(507, "full").json();
    let detail = full["detail"].as_str().unwrap();
    assert!(
        detail.starts_with("the store's disk is full (")
            && detail.contains("nothing of this call was recorded")
    );
    assert!(detail.ends_with("; free some space and restart the service"), "{detail}");
}
