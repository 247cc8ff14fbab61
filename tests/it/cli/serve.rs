//! `serve --config`: options in a file.

use serde_json::Value;
use snapbox::str;

use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

#[test]
fn options_of_a_file_hold_unless_the_command_line_has_others() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("etc")).unwrap();
    sandbox.write("etc/serve.toml", "listen = \"127.0.0.1:0\"\nadmin-token = \"admin.token\"\ncache = 16\n");
    sandbox.write("open.toml", "listen = \"127.0.0.1:0\"\ncors = [\"http://127.0.0.1:9\"]\n");
    sandbox.check(str![[r#"
$ turnfold serve --config etc/serve.toml --check-config
listen = "127.0.0.1:0"
behind-proxy = false
admin-token = "etc/admin.token"
seat-rate = 50
spectator-rate = 500
log-format = "text"
cache = 16
$ turnfold serve --config etc/serve.toml --cache 8 --listen 127.0.0.1:9 --check-config
listen = "127.0.0.1:9"
behind-proxy = false
admin-token = "etc/admin.token"
seat-rate = 50
spectator-rate = 500
log-format = "text"
cache = 8
$ turnfold --format json serve --config etc/serve.toml --check-config
{"listen":"127.0.0.1:0","behind_proxy":false,"origin":null,"admin_token":"etc/admin.token","cors":[],"metrics":null,"seat_rate":50,"spectator_rate":500,"log_format":"text","key":null,"maildir":null,"send":null,"notify":null,"notify_after":null,"notify_memory":null,"cache":16}

"#]]);
    let service = Running::start_by(sandbox.command(["serve", "--config", "open.toml"]));
    assert!(service.origin().starts_with("http://127.0.0.1:"), "{}", service.origin());
}

#[test]
fn what_is_wrong_in_a_file_is_named_with_its_place() {
    let sandbox = Sandbox::new();
    sandbox.write("name.toml", "cache = 16\n\nlissen = 3\n");
    sandbox.write("origin.toml", "origin = \"play.example\"\n");
    sandbox.write("cache.toml", "cache = 1000001\n");
    sandbox.write("open.toml", "listen = \"0.0.0.0:8017\"\n");
    sandbox.check(str![[r#"
$ turnfold serve --config name.toml
exit 2| error: `name.toml`, line 3: unknown field `lissen`, expected one of `listen`, `behind-proxy`, `origin`, `admin-token`, `cors`, `metrics`, `seat-rate`, `spectator-rate`, `log-format`, `key`, `maildir`, `send`, `notify`, `notify-after`, `notify-memory`, `cache`; `turnfold serve --help` lists the options; in a file, their names have no dashes in front
$ turnfold serve --config origin.toml
exit 2| error: `origin.toml`, `play.example`: expected an origin such as `https://play.example`, with nothing behind the host and its port
$ turnfold serve --config cache.toml
exit 2| error: `cache.toml`: `cache` is at most 1000000 MiB
$ turnfold serve --config open.toml
exit 2| error: to listen on `0.0.0.0:8017`, which others can reach, add `--behind-proxy` and `--origin` and `--admin-token`; it does not speak TLS, so a proxy must
$ turnfold serve --config none.toml
exit 2| error: cannot read `none.toml`: No such file or directory (os error 2)

"#]]);
}

#[cfg(unix)]
#[test]
fn sighup_reads_token_and_rates_again() {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules cycletap");
    let options = "listen = \"127.0.0.1:0\"\nadmin-token = \"admin.token\"\nlog-format = \"json\"\n";
    sandbox.write("serve.toml", options);
    let [first, second] = ["A", "E"].map(|letter| format!("tf_a_{}", letter.repeat(43)));
    sandbox.write("admin.token", &first);
    let service = Running::start_with(sandbox.command(["serve", "--config", "serve.toml"]), &first);
    let matches = |token: &str| service.send("GET", "/v1/matches", token, "").status;
    assert_eq!((matches(&first), matches(&second)), (200, 401));
    let seat = service.grant("duel", r#"{"kind":"seat","seat":"p1"}"#);
    let seat = seat["token"].as_str().unwrap();
    let of_seat = || service.send("GET", "/v1/matches/duel", seat, "").status;
    assert!((0..20).all(|_| of_seat() == 200));

    sandbox.write("admin.token", "nothing of the kind\n");
    let line: Value = serde_json::from_str(&hang_up(&service)).unwrap();
    assert_eq!(line["message"], "the settings stay as they were");
    assert_eq!(line["level"], "WARN");
    assert!(line["error"].as_str().unwrap().contains("holds no admin token"), "{line}");
    assert!(line["timestamp"].as_str().unwrap().ends_with('Z'), "{line}");
    assert_eq!((matches(&first), matches(&second), of_seat()), (200, 401, 200));

    sandbox.write("admin.token", &second);
    sandbox.write("serve.toml", format!("{options}seat-rate = 1\n"));
    assert!(hang_up(&service).contains("read the settings again"));
    assert_eq!((matches(&first), matches(&second)), (401, 200));
    // A burst of four times the rate is permitted.
    assert!((0..20).any(|_| of_seat() == 429));
}

#[cfg(unix)]
#[test]
fn systemd_is_notified_when_the_service_is_ready() {
    let sandbox = Sandbox::new();
    let socket = std::os::unix::net::UnixDatagram::bind(sandbox.path("notify")).unwrap();
    let mut serve = sandbox.command(["serve", "--listen", "127.0.0.1:0"]);
    serve.env("NOTIFY_SOCKET", sandbox.path("notify"));
    let service = Running::start_by(serve);
    let mut message = [0; 16];
    let length = socket.recv(&mut message).unwrap();
    assert_eq!(&message[..length], b"READY=1");
    assert_eq!(service.send("GET", "/readyz", "", "").status, 200);
}

/// Sends SIGHUP, and returns what the service logs about it.
#[cfg(unix)]
fn hang_up(service: &Running) -> String {
    use rustix::process::{Pid, Signal, kill_process};
    kill_process(Pid::from_raw(service.pid().try_into().unwrap()).unwrap(), Signal::HUP).unwrap();
    service.logged("settings")
}
