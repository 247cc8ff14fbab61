//! A service for a test: the real binary on a store in a sandbox.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
use ureq::http::Request;

use crate::sandbox::Sandbox;

/// `turnfold serve`, killed when it is dropped.
pub struct Running {
    child: Child,
    origin: String,
    admin: String,
    agent: Agent,
    /// The lines of its log.
    log: Mutex<Receiver<String>>,
    /// The sandbox, if the service has its own.
    sandbox: Option<Sandbox>,
}

/// An answer of the service.
pub struct Reply {
    pub status: u16,
    pub headers: ureq::http::HeaderMap,
    pub body: String,
}

impl Running {
    /// Serves the usual store of a sandbox on any port.
    pub fn start(sandbox: &Sandbox) -> Self {
        Self::start_by(sandbox.command(["serve", "--listen", "127.0.0.1:0"]))
    }

    /// Serves a store of its own.
    pub fn alone() -> Self {
        let sandbox = Sandbox::new();
        let mut service = Self::start(&sandbox);
        service.sandbox = Some(sandbox);
        service
    }

    /// Runs a command of `serve` that prints its admin token.
    pub fn start_by(mut serve: Command) -> Self {
        let mut child = serve.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut printed = String::new();
        let admin = loop {
            let mut line = String::new();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "no admin token was printed: {printed}");
            if let Some(token) = line.strip_prefix("admin token: ") {
                break token.trim_end().to_string();
            }
            printed += &line;
        };
        Self::announced(child, stderr, admin)
    }

    /// Runs a command of `serve` that keeps its admin token in a file.
    pub fn start_with(mut serve: Command, admin: &str) -> Self {
        let mut child = serve.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self::announced(child, stderr, admin.into())
    }

    fn announced(mut child: Child, stderr: BufReader<ChildStderr>, admin: String) -> Self {
        let (line, log) = channel();
        // A full pipe would stop the service.
        thread::spawn(move || stderr.lines().map_while(Result::ok).for_each(|text| drop(line.send(text))));
        let mut origin = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut origin).unwrap();
        let origin = origin.trim_end().to_string();
        assert!(origin.starts_with("http://127.0.0.1:"), "{origin}");
        let config = Agent::config_builder().http_status_as_error(false).proxy(None).build();
        Self { child, origin, admin, agent: config.into(), log: Mutex::new(log), sandbox: None }
    }

    /// Returns the origin of the service: `http://127.0.0.1:PORT`.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the process id of the service.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line of its log that contains a text.
    pub fn logged(&self, text: &str) -> String {
        let log = self.log.lock().unwrap();
        let next = || log.recv_timeout(Duration::from_mins(1));
        std::iter::repeat_with(|| next().unwrap_or_else(|_| panic!("no line with {text:?} in the log")))
            .find(|line| line.contains(text))
            .unwrap()
    }

    /// Kills the service, as a power cut would.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until the service has ended by itself, and returns its exit status.
    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Returns the admin token.
    pub fn admin(&self) -> &str {
        &self.admin
    }

    /// Sends a request with a token, and with a JSON body unless it is empty.
    pub fn send(&self, method: &str, path: &str, token: &str, body: &str) -> Reply {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.origin))
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json");
        self.run(request.body(body.to_string()).unwrap())
    }

    /// Sends any request.
    pub fn run(&self, request: Request<String>) -> Reply {
        let request = self.agent.configure_request(request).allow_non_standard_methods(true).build();
        let mut answer = self.agent.run(request).unwrap();
        let body = answer.body_mut().with_config().limit(1 << 30).read_to_string().unwrap();
        Reply { status: answer.status().as_u16(), headers: answer.headers().clone(), body }
    }

    /// Gets a resource as bytes.
    pub fn bytes(&self, path: &str, token: &str) -> (ureq::http::HeaderMap, Vec<u8>) {
        let request = self.agent.get(format!("{}{path}", self.origin));
        let mut answer = request.header("authorization", format!("Bearer {token}")).call().unwrap();
        assert_eq!(answer.status().as_u16(), 200);
        (answer.headers().clone(), answer.body_mut().read_to_vec().unwrap())
    }

    /// Creates a grant for a match, such as `{"kind":"seat","seat":"p1"}`, and returns the answer with its token.
    pub fn grant(&self, match_name: &str, grant: &str) -> Value {
        let made = self.send("POST", &format!("/v1/matches/{match_name}/grants"), &self.admin, grant);
        assert_eq!(made.status, 201, "{}", made.body);
        made.json()
    }
}

impl Reply {
    /// Returns the body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// Kills the service without warning, because everything it has answered must be on disk.
impl Drop for Running {
    fn drop(&mut self) {
        // A process that has already ended cannot be killed.
        let _ = self.child.kill();
        self.child.wait().unwrap();
        drop(self.sandbox.take());
    }
}
