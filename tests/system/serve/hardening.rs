//! What a service on an open network must withstand: invalid HTTP, guesses, and idle connections.

#![expect(clippy::disallowed_methods, reason = "bounds what would hang")]

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::http::{Answer, Call, create, grant, main_of};
use super::problems::ford;
use turnfold_tests::fixture;
use turnfold_tests::sandbox::{Sandbox, binary};
use turnfold_tests::service::Running;

/// Sends bytes over a new connection, and returns the status of the response.
fn status(service: &Running, request: &str) -> u16 {
    let mut stream = TcpStream::connect(service.origin().trim_start_matches("http://")).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    Answer::read_head(&mut std::io::BufReader::new(stream)).unwrap().status
}

/// RFC 9112, 3.2: every HTTP/1.1 request has exactly one valid `Host`.
#[test]
fn a_request_without_one_host_is_400() {
    let service = Running::alone();
    for path in ["/healthz", "/v1/rulesets", "/v1/matches", "/", "/nowhere"] {
        for hosts in
            ["", "host: a\r\nhost: a\r\n", "host: a b\r\n", "host: u@a\r\n", "host: a\r\nHost: b\r\n"]
        {
            let request = format!("GET {path} HTTP/1.1\r\n{hosts}connection: close\r\n\r\n");
            assert_eq!(status(&service, &request), 400, "{request}");
        }
    }
    for request in [
        "GET /healthz HTTP/1.0\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nhost: [::1]:8017\r\nconnection: close\r\n\r\n",
        "GET http://other.example/healthz HTTP/1.1\r\nhost: play.example:443\r\nconnection: close\r\n\r\n",
    ] {
        assert_eq!(status(&service, request), 200, "{request}");
    }
}

/// SV-7: an encoded body is not read as plain.
#[test]
fn sv_7_415_for_a_body_with_a_content_encoding() {
    let service = Running::alone();
    let [host, ..] = ford(&service);
    let play = Call::post(&main_of("ford", "entries"), &host, &json!({"commands": []}));
    for encoding in ["gzip", "br", "identity, gzip", "nonsense"] {
        play.clone().with("content-encoding", encoding).to(&service).problem(415, "media_type");
    }
    play.with("content-encoding", "Identity").to(&service).is(200);
}

/// SV-7: no operation accepts a parameter that its description does not list.
#[test]
fn sv_7_400_for_every_unknown_parameter_of_a_query() {
    let service = Running::alone();
    let [host, ..] = ford(&service);
    let description = Call::get("/v1/openapi.json", "").to(&service).is(200).json();
    let mut count = 0;
    for (path, item) in description["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            // A probe may ignore its parameters.
            if !path.starts_with("/v1/") {
                continue;
            }
            let path = path
                .replace("{match}", "ford")
                .replace("{branch}", "main")
                .replace("{id}", "0123456789abcdef");
            let token = if path == "/v1/join" {
                "tf_i_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            } else {
                service.admin()
            };
            let mut query = "with=main&q=pool&name=b".to_owned();
            let known: Vec<_> = operation["parameters"].as_array().into_iter().flatten().collect();
            let is_known = |part: &&str| {
                known
                    .iter()
                    .any(|known| known["in"] == "query" && part.split('=').next() == known["name"].as_str())
            };
            query = query.split('&').filter(is_known).chain(["unknown=1"]).collect::<Vec<_>>().join("&");
            let call = Call::new(&method.to_ascii_uppercase(), &format!("{path}?{query}"), token);
            let call = if method == "post" { call.body("application/json", "{}") } else { call };
            let problem = call.to(&service).problem(400, "bad_request").json();
            assert!(problem["detail"].as_str().unwrap().contains("unknown"), "{method} {path}: {problem}");
            count += 1;
        }
    }
    assert!(count >= 24, "{count}");
    Call::get("/v1/matches/ford", &host).to(&service).is(200);
}

/// SV-6: responses depend on `Accept`, so caches must know that.
#[test]
fn sv_6_every_answer_of_the_interface_varies_by_accept() {
    let service = Running::alone();
    let [host, ..] = ford(&service);
    for path in [
        "/v1/rulesets",
        "/v1/matches",
        "/v1/matches/ford",
        "/v1/nowhere",
        &main_of("ford", "entries"),
        &main_of("ford", "view"),
        &main_of("ford", "legal"),
        &main_of("ford", "view?at=99"),
    ] {
        for accept in ["application/json", "text/plain", "image/png"] {
            let answer = Call::get(path, &host).with("accept", accept).to(&service);
            let varies = answer.headers.iter().filter(|(name, _)| name == "vary");
            let mut by: Vec<_> = varies.map(|(_, by)| by.as_str()).collect();
            by.sort_unstable();
            // Responses that may be compressed depend on `Accept-Encoding`, too.
            assert!([&["accept"][..], &["accept", "accept-encoding"]].contains(&&by[..]), "{answer:?}");
        }
    }
}

const UNKNOWN: &str = "tf_s_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Sends a request with an unknown token from several threads until it is slowed down. Returns the number of 401
/// responses before that.
fn guesses(service: &Running, call: &Call) -> usize {
    let (refused, is_slowed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let guess = || {
        for _ in 0..500 {
            if is_slowed.load(Ordering::Relaxed) {
                return;
            }
            let answer = call.to(service);
            if answer.status == 401 {
                refused.fetch_add(1, Ordering::Relaxed);
            } else {
                assert_eq!(answer.problem(429, "slow_down").header("retry-after"), Some("1"));
                is_slowed.store(true, Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(guess))));
    assert!(is_slowed.into_inner(), "nothing slows guesses down");
    refused.into_inner()
}

/// Requires the guesses of two calls to be counted together. The limit is a burst of 200, plus one every 20 ms, plus
/// what the threads sent at once.
fn check_counted_together(service: &Running, calls: [&Call; 2]) {
    let began = Instant::now();
    let refused = calls.map(|call| guesses(service, call));
    let most = 200 + began.elapsed().as_millis() / 20 + 16;
    assert!(refused[0] >= 100 && refused.iter().sum::<usize>() as u128 <= most, "{refused:?} of {most}");
}

fn forwarded(address: &str) -> Call {
    Call::get("/v1/matches", UNKNOWN).with("x-forwarded-for", address)
}

/// SV-31: guesses are slowed down by their address, but tokens that were valid before are not.
#[test]
fn sv_31_guesses_of_tokens_are_slowed_by_address() {
    let service = Running::alone();
    let [host, p1, _] = ford(&service);
    Call::get("/v1/matches/ford", &p1).to(&service).is(200);
    // A burst passes. The address that a client claims counts only behind a proxy.
    check_counted_together(&service, [&forwarded("10.0.0.1"), &forwarded("10.0.0.2")]);
    for token in [&UNKNOWN.replace("_s_", "_a_"), "nonsense"] {
        guesses(&service, &Call::get("/v1/matches", token));
    }
    guesses(&service, &Call::post("/v1/join", &UNKNOWN.replace("_s_", "_i_"), &json!({})));
    for token in [service.admin(), &p1] {
        Call::get("/v1/matches/ford", token).to(&service).is(200);
    }
    // A request without a token does not count as a guess.
    Call::get("/v1/matches", "").to(&service).is(401);
    thread::sleep(Duration::from_secs(1));
    Call::get("/v1/matches/ford", &host).to(&service).is(200);
}

/// SV-31: valid tokens do not count as guesses, however many are first used at once.
#[test]
fn sv_31_valid_tokens_do_not_count_as_guesses() {
    let sandbox = Sandbox::new();
    let service = Running::start(&sandbox);
    let setup = fixture("cycletap", "ford");
    thread::scope(|scope| {
        for maker in 0..8 {
            let (service, setup) = (&service, &setup);
            scope.spawn(move || {
                for number in 0..30 {
                    let name = format!("ford-{maker}-{number}");
                    // The first uses of the host token, the invitation and the seat token.
                    let host = create(service, &name, "cycletap", setup);
                    let invitation = grant(service, &name, &json!({"kind": "invitation", "seat": "p1"}));
                    let joined = Call::post("/v1/join", &invitation, &json!({})).to(service).is(201).json();
                    let seat = joined["token"].as_str().unwrap();
                    for token in [&host, seat] {
                        Call::get(&main_of(&name, "view"), token).to(service).is(200);
                    }
                }
            });
        }
    });
}

/// SV-31: behind a proxy, the address is what the proxy appends to `X-Forwarded-For`.
#[test]
fn sv_31_behind_a_proxy_guesses_are_counted_by_the_forwarded_address() {
    let sandbox = Sandbox::new();
    let serve = sandbox.command(["serve", "--listen", "127.0.0.1:0", "--behind-proxy"]);
    let service = Running::start_by(serve);
    // The address that a client claims does not count.
    check_counted_together(&service, [&forwarded("192.0.2.1"), &forwarded("198.51.100.7, 192.0.2.1")]);
    for other in ["192.0.2.1, 198.51.100.7", "2001:db8::1"] {
        forwarded(other).to(&service).is(401);
    }
}

/// How long a header may take. If slow headers kept out other connections, those would wait this long.
const HEADER_TIME: Duration = Duration::from_secs(10);

/// SV-31: at the limit of open files, the connections that have waited longest are closed.
#[test]
fn sv_31_a_hundred_slow_headers_keep_no_one_out() {
    let sandbox = Sandbox::new();
    let mut serve = Command::new("sh");
    let limited = format!("ulimit -n 64; exec '{}' serve --listen 127.0.0.1:0", binary().display());
    serve.args(["-c", &limited]).current_dir(sandbox.path("")).env_clear();
    let service = Running::start_by(serve);
    let address = service.origin().trim_start_matches("http://").to_owned();
    let began = Instant::now();
    let slow: Vec<_> = (0..100)
        .map(|_| {
            let mut stream = TcpStream::connect(&address).unwrap();
            stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n").unwrap();
            stream
        })
        .collect();
    for _ in 0..20 {
        Call::get("/v1/rulesets", "").to(&service).is(200);
    }
    assert!(began.elapsed() < HEADER_TIME, "{:?}", began.elapsed());
    // A match can be created, so the store can still open files.
    ford(&service);
    // The newest connections still wait, and the oldest were closed.
    let mut ended = 0;
    for mut stream in slow {
        stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let read = stream.read(&mut [0; 16]).map_err(|error| error.kind());
        ended += usize::from(!matches!(read, Err(ErrorKind::WouldBlock | ErrorKind::TimedOut)));
    }
    assert!(ended >= 60, "{ended}");
}
