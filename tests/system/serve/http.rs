//! Hand-made requests: HTTP/1.1 over a socket, so that tests can cut off a request anywhere and read a stream as it
//! comes.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use turnfold_tests::service::Running;

/// A request.
#[derive(Clone)]
pub(super) struct Call {
    head: String,
    body: String,
}

/// A response.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Call {
    pub(super) fn new(method: &str, path: &str, token: &str) -> Self {
        let path = path.replace(' ', "%20");
        let head = format!("{method} {path} HTTP/1.1\r\nhost: turnfold\r\nconnection: close\r\n");
        let call = Self { head, body: String::new() };
        if token.is_empty() { call } else { call.with("authorization", &format!("Bearer {token}")) }
    }

    pub(super) fn get(path: &str, token: &str) -> Self {
        Self::new("GET", path, token)
    }

    /// Returns a POST request with a JSON body.
    pub(super) fn post(path: &str, token: &str, body: &Value) -> Self {
        Self::new("POST", path, token).body("application/json", &body.to_string())
    }

    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.head.extend([name, ": ", value, "\r\n"]);
        self
    }

    pub(super) fn body(mut self, media_type: &str, body: &str) -> Self {
        self.body = body.into();
        self.with("content-type", media_type).with("content-length", &body.len().to_string())
    }

    /// Returns the bytes on the wire.
    pub(super) fn bytes(&self) -> Vec<u8> {
        format!("{}\r\n{}", self.head, self.body).into_bytes()
    }

    /// Sends the request over a new connection.
    pub(super) fn open(&self, origin: &str) -> io::Result<BufReader<TcpStream>> {
        let mut stream = TcpStream::connect(origin.trim_start_matches("http://"))?;
        stream.set_read_timeout(Some(Duration::from_mins(2)))?;
        stream.write_all(&self.bytes())?;
        Ok(BufReader::new(stream))
    }

    /// Sends the request, and reads the whole response.
    pub(super) fn send(&self, origin: &str) -> io::Result<Answer> {
        let mut reader = self.open(origin)?;
        let mut answer = Answer::read_head(&mut reader)?;
        let mut body = Vec::new();
        if answer.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = read_chunk(&mut reader)? {
                body.extend(chunk);
            }
        } else if let Some(length) = answer.header("content-length") {
            body.resize(length.parse().unwrap(), 0);
            reader.read_exact(&mut body)?;
        } else {
            reader.read_to_end(&mut body)?;
        }
        answer.body = String::from_utf8_lossy(&body).into_owned();
        Ok(answer)
    }

    /// Sends the request to a service, which must respond.
    pub(super) fn to(&self, service: &Running) -> Answer {
        self.send(service.origin()).unwrap_or_else(|error| panic!("{}: {error}", self.head))
    }
}

impl Answer {
    pub(super) fn read_head(reader: &mut impl BufRead) -> io::Result<Self> {
        let mut line = || -> io::Result<String> {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Ok(line.trim_end().to_owned())
        };
        let status = line()?;
        let status = status.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or(io::ErrorKind::InvalidData)?;
        let mut headers = Vec::new();
        loop {
            let line = line()?;
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        Ok(Self { status, headers, body: String::new() })
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Requires a status.
    #[track_caller]
    pub(super) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// Requires a problem.
    #[track_caller]
    pub(super) fn problem(self, status: u16, code: &str) -> Self {
        let answer = self.is(status);
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
        let problem = answer.json();
        assert_eq!(problem["type"], format!("urn:turnfold:problem:{code}"), "{problem}");
        assert_eq!(problem["status"], status);
        assert_eq!(problem["request"].as_str(), answer.header("x-request-id"));
        assert!(problem["title"].is_string() && !problem["detail"].as_str().unwrap().contains('\n'));
        answer
    }
}

fn read_chunk(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let length = usize::from_str_radix(line.trim(), 16).map_err(|_| io::ErrorKind::UnexpectedEof)?;
    let mut chunk = vec![0; length + 2];
    reader.read_exact(&mut chunk)?;
    chunk.truncate(length);
    Ok((length > 0).then_some(chunk))
}

/// A stream of events.
pub(super) struct Events {
    reader: BufReader<TcpStream>,
    text: String,
}

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Event {
    pub(super) kind: String,
    /// The head in the event's id, and the mark.
    pub(super) id: Option<u64>,
    pub(super) mark: String,
    pub(super) data: Value,
}

impl Events {
    /// Opens a stream, and requires the response to be a stream.
    pub(super) fn open(service: &Running, call: &Call) -> Self {
        let mut reader = call.open(service.origin()).unwrap();
        let answer = Answer::read_head(&mut reader).unwrap().is(200);
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        assert_eq!(answer.header("x-accel-buffering"), Some("no"));
        let mut events = Self { reader, text: String::new() };
        let beginning = events.block().unwrap();
        assert!(beginning.starts_with(':') && beginning.contains("retry: 2000"), "{beginning}");
        events
    }

    /// Reads up to an empty line. Returns `None` at the end of the stream.
    fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                return Some(block);
            }
            let chunk = read_chunk(&mut self.reader).unwrap_or(None)?;
            self.text += std::str::from_utf8(&chunk).unwrap();
        }
    }

    /// Waits for the next event. Returns `None` at the end of the stream.
    pub(super) fn next(&mut self) -> Option<Event> {
        loop {
            let block = self.block()?;
            let field = |name: &str| {
                let line = block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
                line.map(ToOwned::to_owned)
            };
            let Some(kind) = field("event") else { continue };
            let id = field("id");
            let id = id.as_deref().map(|id| id.split_once('-').unwrap());
            let mark = id.map(|(_, mark)| mark.to_owned()).unwrap_or_default();
            let id = id.map(|(head, _)| head.parse().unwrap());
            return Some(Event {
                kind,
                id,
                mark,
                data: serde_json::from_str(&field("data").unwrap()).unwrap(),
            });
        }
    }
}

/// Imports a replay file, and returns the token of the match's host.
pub(super) fn import(service: &Running, match_name: &str, replay: &str) -> String {
    let call = Call::new("POST", &format!("/v1/matches?name={match_name}"), service.admin());
    let made = call.body("text/plain", replay).to(service).is(201).json();
    made["token"].as_str().unwrap().into()
}

/// Creates a match, and returns the token of its host.
pub(super) fn create(service: &Running, match_name: &str, ruleset: &str, setup: &str) -> String {
    let body = serde_json::json!({"name": match_name, "ruleset": ruleset, "setup": setup, "dice": "seeded",
        "seed": "5".repeat(64)});
    let made = Call::post("/v1/matches", service.admin(), &body).to(service).is(201).json();
    made["token"].as_str().unwrap().into()
}

/// Creates a grant, and returns its token.
pub(super) fn grant(service: &Running, match_name: &str, grant: &Value) -> String {
    service.grant(match_name, &grant.to_string())["token"].as_str().unwrap().into()
}

/// Returns the path of `rest` below the main branch of a match.
pub(super) fn main_of(match_name: &str, rest: &str) -> String {
    format!("/v1/matches/{match_name}/branches/main/{rest}")
}
