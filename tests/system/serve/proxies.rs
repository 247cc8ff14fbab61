//! The terminal as a client of a service behind a proxy that terminates TLS (SV-2, SV-40) or responds with 503 (SV-7).

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::thread;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use turnfold_tests::sandbox::{Sandbox, words, workspace};
use turnfold_tests::service::Running;

/// Files of a certificate authority and of the certificate for `localhost` that it signed. They expire in 2126. The key
/// of the authority was deleted.
fn file(name: &str) -> PathBuf {
    workspace().join("tests/system/serve/tls").join(name)
}

fn read(name: &str) -> Vec<u8> {
    fs::read(file(name)).unwrap()
}

/// Reads a request or a response, whose head states the length of the body. Returns `None` at the end.
fn read_message(from: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let (mut message, mut length) = (Vec::new(), 0);
    loop {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        message.extend_from_slice(line.as_bytes());
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            from.take(length).read_to_end(&mut message)?;
            return Ok(Some(message));
        }
    }
}

/// Answers the requests of a connection.
fn answer(connection: impl Read + Write, answer: impl Fn(Vec<u8>) -> io::Result<Vec<u8>>) -> io::Result<()> {
    let mut connection = BufReader::new(connection);
    while let Some(request) = read_message(&mut connection)? {
        connection.get_mut().write_all(&answer(request)?)?;
        connection.get_mut().flush()?;
    }
    Ok(())
}

/// Forwards a request to a service, and returns the response.
fn pass_on(request: &[u8], address: &str) -> io::Result<Vec<u8>> {
    let mut service = TcpStream::connect(address)?;
    service.write_all(request)?;
    read_message(&mut BufReader::new(service))?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// Starts a proxy that terminates TLS for a service, and returns the port.
fn proxy(service: &Running) -> u16 {
    let certificate = CertificateDer::from_pem_slice(&read("localhost.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(&read("localhost.key")).unwrap();
    let config = ServerConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let address = service.origin().strip_prefix("http://").unwrap().to_owned();
    thread::spawn(move || {
        for client in listener.incoming() {
            let (config, address) = (Arc::clone(&config), address.clone());
            // A client that does not trust the authority breaks off.
            thread::spawn(move || {
                let tls = StreamOwned::new(ServerConnection::new(config).unwrap(), client.unwrap());
                answer(tls, |request| pass_on(&request, &address))
            });
        }
    });
    port
}

/// Starts a service with a match `ford` behind TLS, and returns a link that invites p1.
fn invited() -> (Sandbox, Running, u16, String) {
    let sandbox = Sandbox::new();
    sandbox.ok("new ford --rules cycletap --setup fixtures/cycletap/ford.toml");
    let service = Running::start(&sandbox);
    let port = proxy(&service);
    let grant = service.grant("ford", r#"{"kind":"invitation","seat":"p1"}"#);
    let link =
        grant["link"].as_str().unwrap().replace(service.origin(), &format!("https://localhost:{port}"));
    (sandbox, service, port, link)
}

/// Runs a command with the authorities of a file.
fn run(sandbox: &Sandbox, authorities: &str, line: &str) -> Output {
    let words = words(line);
    let mut command = sandbox.command(words.iter().map(String::as_str));
    command.env("SSL_CERT_FILE", authorities).output().unwrap()
}

fn result(output: &Output) -> (Option<i32>, &str, &str) {
    let text = |bytes| std::str::from_utf8(bytes).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn sv_40_a_service_behind_tls_is_played_on_as_one_without() {
    let (sandbox, service, port, link) = invited();
    let authority = file("authority.pem").display().to_string();
    let there = format!("https://localhost:{port}");
    let joined = run(&sandbox, &authority, &format!("join {link} -o p1.token"));
    let expected =
        format!("you are p1 of ford; `turnfold --store {there} --token p1.token show ford` shows it\n");
    assert_eq!(result(&joined), (Some(0), expected.as_str(), ""));
    let ask = |origin: &str, line: &str| {
        run(&sandbox, &authority, &format!("--store {origin} --token p1.token {line}"))
    };
    let played = ask(&there, "play ford \"tap 0,1\"");
    assert_eq!(played.status.code(), Some(0), "{:?}", result(&played));
    for line in ["show ford", "log ford", "--format json legal ford", "show nowhere", "play ford jump"] {
        assert_eq!(result(&ask(&there, line)), result(&ask(service.origin(), line)), "{line}");
    }
    assert_eq!(result(&ask(&there, "log ford")).1, result(&played).1);
}

#[test]
fn sv_40_nothing_is_sent_to_whom_no_authority_vouches_for() {
    let (sandbox, service, port, link) = invited();
    let authority = file("authority.pem").display().to_string();
    sandbox.write("admin.token", service.admin());
    let show = |host: &str| format!("--store https://{host}:{port} --token admin.token play ford resolve");
    let notes = sandbox.path("notes").display().to_string();
    sandbox.write("notes", "no certificate");
    let missing = sandbox.path("missing").display().to_string();
    for (authorities, line, code, expected) in [
        ("", show("localhost"), 3, "UnknownIssuer"),
        (&*authority, show("127.0.0.1"), 3, "certificate not valid for name"),
        ("", format!("join {link} -o p1.token"), 3, "UnknownIssuer"),
        (&notes, show("localhost"), 2, "expected a certificate in"),
        (&missing, show("localhost"), 2, "`SSL_CERT_FILE`: cannot read"),
        (&missing, format!("join {link} -o none.token"), 2, "`SSL_CERT_FILE`: cannot read"),
    ] {
        let output = run(&sandbox, authorities, &line);
        let (found, _, stderr) = result(&output);
        assert_eq!(found, Some(code), "{line}: {stderr}");
        assert!(stderr.contains(expected), "{line}: {stderr}");
    }
    let log = service.send("GET", "/v1/matches/ford/branches/main/entries", service.admin(), "");
    assert_eq!(log.json()["items"].as_array().unwrap().len(), 0, "nothing was played");
}

/// Starts a proxy that responds with 503 a few times, then forwards requests. Returns its address and the requests.
fn busy(service: &Running, refused: usize) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let address = service.origin().strip_prefix("http://").unwrap().to_owned();
    let requests = Arc::<Mutex<Vec<String>>>::default();
    let all = Arc::clone(&requests);
    thread::spawn(move || {
        for client in listener.incoming() {
            let (all, address) = (Arc::clone(&all), address.clone());
            thread::spawn(move || {
                answer(client.unwrap(), |request| {
                    let mut all = all.lock().unwrap();
                    all.push(String::from_utf8(request.clone()).unwrap());
                    if all.len() > refused {
                        return pass_on(&request, &address);
                    }
                    let body =
                        r#"{"type":"urn:turnfold:problem:overloaded","status":503,"detail":"too many"}"#;
                    let length = body.len();
                    let head = "HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\n\
                         content-type: application/problem+json";
                    Ok(format!("{head}\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes())
                })
            });
        }
    });
    (origin, requests)
}

/// SV-7, SV-40: after a 503, the client retries when the response says so, and a command keeps its idempotency key.
#[test]
fn sv_40_a_command_is_sent_again_after_503_and_recorded_once() {
    let sandbox = Sandbox::new();
    sandbox.ok("new ford --rules cycletap --setup fixtures/cycletap/ford.toml");
    let service = Running::start(&sandbox);
    let p1 = service.grant("ford", r#"{"kind":"seat","seat":"p1"}"#);
    sandbox.write("p1.token", p1["token"].as_str().unwrap());
    let (there, requests) = busy(&service, 2);
    let played = sandbox.ok(&format!("--store {there} --token p1.token play ford \"tap 0,1\""));
    assert_eq!(sandbox.ok(&format!("--store {there} --token p1.token log ford")), played);
    assert_eq!(played.lines().count(), 1, "{played}");
    let requests = requests.lock().unwrap();
    let key = |request: &String| {
        let line = request.lines().find(|line| line.to_ascii_lowercase().starts_with("idempotency-key: "));
        line.map(ToOwned::to_owned)
    };
    let keys: Vec<_> = requests.iter().map(key).collect();
    assert!(keys[0].is_some() && keys[..3] == [&keys[0]; 3].map(Clone::clone), "{keys:?}");
    assert_eq!(keys[3..], [None, None], "two requests more, which read the match and its entries");
    let (there, requests) = busy(&service, 1);
    let shown = sandbox.ok(&format!("--store {there} --token p1.token show ford"));
    assert!(shown.contains("origin_selected I3 at 0,1"), "{shown}");
    assert_eq!(requests.lock().unwrap().len(), 3);
}
