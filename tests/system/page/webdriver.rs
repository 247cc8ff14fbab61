//! The part of the `WebDriver` protocol that the tests need: JSON over HTTP with a driver on this machine.
//!
//! This is a client of our own, because `fantoccini` brings 76 crates, many in a second version, for four kinds of
//! requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Longer than anything asked of the browser takes.
const TIMEOUT: Duration = Duration::from_mins(3);

/// Sends a request to the driver. Returns the value of its answer, or the error that it states.
pub(super) fn request(port: u16, method: &str, path: &str, body: &Value) -> Result<Value, String> {
    let answer = exchange(port, method, path, &body.to_string()).map_err(|error| error.to_string())?;
    let mut answer: Value = serde_json::from_str(&answer).map_err(|error| format!("{error}: {answer}"))?;
    let value = answer["value"].take();
    match value.get("error") {
        Some(error) => Err(format!("{error} {}", value["message"])),
        None => Ok(value),
    }
}

fn exchange(port: u16, method: &str, path: &str, body: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let body = if method == "POST" { body } else { "" };
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        answer.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        let line = line.to_ascii_lowercase();
        if let Some(count) = line.strip_prefix("content-length:") {
            length = count.trim().parse().map_err(std::io::Error::other)?;
        }
    }
    let mut content = vec![0; length];
    answer.read_exact(&mut content)?;
    String::from_utf8(content).map_err(std::io::Error::other)
}
