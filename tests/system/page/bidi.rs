//! Firefox, which executes the tests' `WebDriver` commands through `WebDriver` `BiDi` (VW-55).
//!
//! Debian has no `geckodriver`, but Firefox itself speaks `BiDi`, so the same scenarios can run in it.

use std::cell::RefCell;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{fs, io, thread};

use serde_json::{Value, json};

use super::websocket::WebSocket;

/// The text that Firefox prints before its port once it listens.
const LISTENING: &str = "WebDriver BiDi listening on ws://127.0.0.1:";

/// A function that scrolls an element into view, and returns whether its middle can be clicked.
const IS_OPEN: &str = "(element) => {
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const { x, y, width, height } = element.getBoundingClientRect();
    const found = document.elementFromPoint(x + width / 2, y + height / 2);
    return element.contains(found) || !!found?.contains(element);
}";

/// A session with a Firefox.
pub(super) struct Session {
    socket: RefCell<WebSocket>,
    /// The current tab.
    context: RefCell<String>,
    count: RefCell<u64>,
    /// Messages of the console that were not read yet.
    log: RefCell<Vec<Value>>,
}

/// Starts Firefox with its own profile. It reaches only these hosts.
pub(super) fn start(firefox: &Path, dir: &Path, proxy: u16, reached: &str) -> (Child, Session) {
    let profile = dir.join("profile");
    fs::create_dir(&profile).unwrap();
    let settings = format!(
        "user_pref('network.proxy.type', 1);
         user_pref('network.proxy.http', '127.0.0.1');
         user_pref('network.proxy.http_port', {proxy});
         user_pref('network.proxy.ssl', '127.0.0.1');
         user_pref('network.proxy.ssl_port', {proxy});
         user_pref('network.proxy.no_proxies_on', '{reached}');
         user_pref('network.proxy.allow_hijacking_localhost', true);
         user_pref('browser.download.folderList', 0);
         user_pref('datareporting.policy.dataSubmissionEnabled', false);
         user_pref('browser.shell.checkDefaultBrowser', false);"
    );
    fs::write(profile.join("user.js"), settings).unwrap();
    let mut command = Command::new(firefox);
    command.args(["--headless", "--no-remote", "--remote-debugging-port", "0", "--profile"]).arg(&profile);
    command.env("HOME", dir).env("MOZ_HEADLESS_WIDTH", "1280").env("MOZ_HEADLESS_HEIGHT", "1000");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let port = lines.find_map(|line| line.split_once(LISTENING)?.1.parse().ok()).expect("Firefox listens");
    // Read and drop later output, so that the pipe does not fill.
    thread::spawn(move || lines.for_each(drop));
    (child, Session::begin(port))
}

impl Session {
    fn begin(port: u16) -> Self {
        let socket = RefCell::new(WebSocket::connect(port, "/session").unwrap());
        let session =
            Self { socket, context: RefCell::default(), count: RefCell::default(), log: RefCell::default() };
        session.ask("session.new", &json!({ "capabilities": {} })).unwrap();
        session.ask("session.subscribe", &json!({ "events": ["log.entryAdded"] })).unwrap();
        let tree = session.ask("browsingContext.getTree", &json!({})).unwrap();
        tree["contexts"][0]["context"].as_str().unwrap().clone_into(&mut session.context.borrow_mut());
        session
    }

    /// Executes a `WebDriver` command. Its path begins after the session.
    pub(super) fn answer(&self, path: &str, body: &Value) -> Result<Value, String> {
        let context = json!(*self.context.borrow());
        let words: Vec<&str> = path.split('/').collect();
        match words[..] {
            ["url"] => self.go_to(&body["url"]),
            ["execute", "sync"] => {
                let script = body["script"].as_str().unwrap_or_default();
                self.call(
                    &format!("async () => JSON.stringify(await (function () {{ {script}\n }})()) ?? 'null'"),
                    &[],
                )
            }
            ["execute", "async"] => {
                let script = body["script"].as_str().unwrap_or_default();
                self.call(&format!("async () => JSON.stringify(await new Promise((done) => (function () {{ {script}\n }})(done))) ?? 'null'"), &[])
            }
            ["actions"] => {
                self.ask("input.performActions", &json!({ "context": context, "actions": body["actions"] }))
            }
            ["element"] => {
                let locator = json!({ "type": "css", "value": body["value"] });
                let found = self.ask(
                    "browsingContext.locateNodes",
                    &json!({ "context": context, "locator": locator, "maxNodeCount": 1 }),
                )?;
                let id = &found["nodes"][0]["sharedId"];
                if id.is_null() {
                    Err(format!("no such element: {}", body["value"]))
                } else {
                    Ok(json!({ "id": id }))
                }
            }
            ["element", id, "click"] => self.click(id),
            ["element", id, "value"] => {
                self.call("(element) => { element.focus(); return 'null' }", &[json!({ "sharedId": id })])?;
                let keys = body["text"].as_str().unwrap_or_default().chars();
                let keys: Vec<_> = keys
                    .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key })))
                    .collect();
                self.answer(
                    "actions",
                    &json!({ "actions": [{ "type": "key", "id": "keys", "actions": keys }] }),
                )
            }
            ["screenshot"] => {
                let shot = self.ask("browsingContext.captureScreenshot", &json!({ "context": context }))?;
                Ok(shot["data"].clone())
            }
            ["se", "log"] => Ok(json!(self.log.take())),
            ["goog", "cdp", "execute"] if body["cmd"] == "Emulation.setDeviceMetricsOverride" => {
                let viewport =
                    json!({ "width": body["params"]["width"], "height": body["params"]["height"] });
                self.ask("browsingContext.setViewport", &json!({ "context": context, "viewport": viewport }))
            }
            _ => Err(format!("`{path}` is not translated for Firefox")),
        }
    }

    /// Loads an address. Under load, Firefox may never answer a navigation that waits for `complete`, so this polls the
    /// page.
    fn go_to(&self, address: &Value) -> Result<Value, String> {
        // An error means that the previous page is being replaced.
        let _ = self.call("() => { window.isLeft = true; return 'null' }", &[]);
        let asked = json!({ "context": *self.context.borrow(), "url": address, "wait": "none" });
        self.ask("browsingContext.navigate", &asked)?;
        for _ in 0..3_000 {
            let is_loaded = "() => JSON.stringify(!window.isLeft && document.readyState === 'complete')";
            if self.call(is_loaded, &[]) == Ok(Value::Bool(true)) {
                return Ok(Value::Null);
            }
            thread::sleep(Duration::from_millis(20));
        }
        Err(format!("{address} is not loaded"))
    }

    fn click(&self, id: &str) -> Result<Value, String> {
        let element = json!({ "sharedId": id });
        let is_open = self.call(
            &format!("(element) => JSON.stringify(({IS_OPEN})(element))"),
            std::slice::from_ref(&element),
        )?;
        if is_open != true {
            return Err("element click intercepted".into());
        }
        let origin = json!({ "type": "element", "element": element });
        let actions = json!([
            { "type": "pointerMove", "x": 0, "y": 0, "origin": origin },
            { "type": "pointerDown", "button": 0 },
            { "type": "pointerUp", "button": 0 },
        ]);
        self.answer(
            "actions",
            &json!({ "actions": [{ "type": "pointer", "id": "mouse", "actions": actions }] }),
        )
    }

    /// Calls a function of the page that returns JSON, and returns its value.
    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        let target = json!({ "context": *self.context.borrow() });
        let asked = json!({ "functionDeclaration": function, "arguments": arguments, "target": target, "awaitPromise": true });
        let answer = self.ask("script.callFunction", &asked)?;
        match answer["result"]["value"].as_str() {
            Some(json) => serde_json::from_str(json).map_err(|error| format!("{error}: {json}")),
            None => Err(answer["exceptionDetails"]["text"].to_string()),
        }
    }

    /// Sends a `BiDi` command and returns its result.
    fn ask(&self, method: &str, params: &Value) -> Result<Value, String> {
        *self.count.borrow_mut() += 1;
        let id = *self.count.borrow();
        let command = json!({ "id": id, "method": method, "params": params });
        self.exchange(id, &command).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn exchange(&self, id: u64, command: &Value) -> io::Result<Result<Value, String>> {
        let mut socket = self.socket.borrow_mut();
        socket.send(&command.to_string())?;
        loop {
            let mut message: Value = serde_json::from_str(&socket.receive()?)?;
            if message["method"] == "log.entryAdded" && message["params"]["level"] == "error" {
                self.log.borrow_mut().push(json!({ "message": message["params"]["text"] }));
            }
            if message["id"] == id {
                let error = message["error"].as_str();
                // The error as `WebDriver` names it.
                let error = error.map(|error| error.replace("no such node", "stale element reference"));
                return Ok(match error {
                    Some(error) => Err(format!("{error:?} {}", message["message"])),
                    None => Ok(message["result"].take()),
                });
            }
        }
    }
}
