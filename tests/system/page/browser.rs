//! A browser for one test (VW-29), without a network. It ends with the test.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::bidi::{self, Session};
use super::webdriver::request;
use turnfold_tests::is_long;
use turnfold_tests::parts::skipped;

/// A browser, and a folder for its pages.
pub(crate) struct Browser {
    /// The process of the driver, or of the browser if it needs no driver.
    process: Child,
    driver: Driver,
    dir: TempDir,
}

/// The receiver of `WebDriver` commands.
enum Driver {
    /// The port of a driver, and its session.
    Chromium(u16, String),
    Firefox(Session),
}

/// Finds a program on the machine.
pub(crate) fn find_program(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let all = names.iter().flat_map(|name| env::split_paths(&path).map(move |folder| folder.join(name)));
    all.into_iter().find(|program| program.is_file())
}

/// Finds Chromium. The short form uses its build without windows, which starts in half the time. That build opens no
/// page by itself, so a script starts it.
fn find_chromium() -> Option<PathBuf> {
    if !is_long() && find_program(&["chromium-headless-shell"]).is_some() {
        return Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("system/page/headless_shell"));
    }
    find_program(&["chromium", "chromium-browser", "google-chrome"])
}

/// Listens as a proxy that refuses everything, because Chromium sends requests of its own whatever it shows. Returns
/// the port.
fn refuse_all() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    // Each connection is closed at once.
    thread::spawn(move || listener.incoming().for_each(drop));
    port
}

/// Starts a driver and returns its port. It has its own process group, so that all its processes can be ended.
fn start_driver(chromedriver: &Path) -> Option<(Child, u16)> {
    let mut driver = Command::new(chromedriver);
    driver.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut driver = driver.spawn().unwrap();
    let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let port = lines.map_while(Result::ok).find_map(|line| {
        let (_, port) = line.split_once("successfully on port ")?;
        port.trim_end_matches('.').parse().ok()
    });
    if port.is_none() {
        let _ = driver.kill();
        let _ = driver.wait();
    }
    port.map(|port| (driver, port))
}

impl Browser {
    /// Starts a browser. Without one, reports that `what` is skipped.
    pub(crate) fn start(what: &str) -> Option<Self> {
        Self::start_reaching(what, "<-loopback>")
    }

    /// Starts a browser that reaches only services on this machine.
    pub(crate) fn start_online(what: &str) -> Option<Self> {
        Self::start_reaching(what, "127.0.0.1")
    }

    /// Starts a Firefox that reaches only services on this machine.
    pub(crate) fn start_firefox(what: &str) -> Option<Self> {
        let Some(firefox) = find_program(&["firefox-esr", "firefox"]) else {
            skipped(what, "`firefox-esr` is not here");
            return None;
        };
        let dir = TempDir::new().unwrap();
        let (process, session) = bidi::start(&firefox, dir.path(), refuse_all(), "127.0.0.1");
        Some(Self { process, driver: Driver::Firefox(session), dir })
    }

    /// Starts a browser that reaches only these hosts, because a proxy refuses all others.
    fn start_reaching(what: &str, reached: &str) -> Option<Self> {
        let (Some(chromium), Some(chromedriver)) = (find_chromium(), find_program(&["chromedriver"])) else {
            skipped(what, "`chromium` or `chromedriver` is not here");
            return None;
        };
        let dir = TempDir::new().unwrap();
        // If many drivers start at once, one may find no port.
        let (process, port) = (0..5).find_map(|_| start_driver(&chromedriver)).expect("chromedriver starts");
        let proxy = refuse_all();
        let profile = dir.path().join("profile");
        let mut browser = Self { process, driver: Driver::Chromium(port, String::new()), dir };
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
            "--disable-background-timer-throttling",
            "--disable-backgrounding-occluded-windows",
            "--disable-renderer-backgrounding",
            "--window-size=1280,900",
            &format!("--user-data-dir={}", profile.display()),
            &format!("--proxy-server=127.0.0.1:{proxy}"),
            &format!("--proxy-bypass-list={reached}"),
        ];
        let options = json!({ "binary": chromium, "args": arguments });
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            // The proxy of a test has a certificate without a known authority.
            "acceptInsecureCerts": true,
            "timeouts": { "script": 60_000, "pageLoad": 60_000 },
            "goog:chromeOptions": options,
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let session = request(port, "POST", "/session", &capabilities).unwrap();
        browser.driver = Driver::Chromium(port, session["sessionId"].as_str().unwrap().to_owned());
        Some(browser)
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.try_post(path, body).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn try_post(&self, path: &str, body: &Value) -> Result<Value, String> {
        self.send("POST", path, body)
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        match &self.driver {
            Driver::Chromium(port, session) => {
                request(*port, method, &format!("/session/{session}/{path}"), body)
            }
            Driver::Firefox(session) => session.answer(path, body),
        }
    }

    /// Returns the folder for shown and downloaded files.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file and returns its address.
    pub(crate) fn file(&self, name: &str, content: &str) -> String {
        let path = self.dir.path().join(name);
        fs::write(&path, content).unwrap();
        address(&path)
    }

    /// Returns the name of the current window.
    pub(crate) fn window(&self) -> String {
        self.send("GET", "window", &Value::Null).unwrap().as_str().unwrap().to_owned()
    }

    /// Opens another window, switches to it, and returns its name.
    pub(crate) fn open_window(&self) -> String {
        let window =
            self.post("window/new", &json!({ "type": "window" }))["handle"].as_str().unwrap().to_owned();
        self.switch_to(&window);
        window
    }

    /// Closes the current window, and switches to the first of the others.
    pub(crate) fn close_window(&self) {
        let closed = self.send("DELETE", "window", &Value::Null);
        self.switch_to(closed.unwrap()[0].as_str().unwrap());
    }

    /// Switches to a window.
    pub(crate) fn switch_to(&self, window: &str) {
        self.post("window", &json!({ "handle": window }));
    }

    /// Opens an address, as if it were typed.
    pub(crate) fn open(&self, address: &str) {
        // A page whose address differs only in the fragment would not be loaded again.
        self.post("url", &json!({ "url": "about:blank" }));
        self.post("url", &json!({ "url": address }));
    }

    /// Writes a page and opens it.
    pub(crate) fn show(&self, html: &str, fragment: &str) {
        self.open(&format!("{}{fragment}", self.file("page.html", html)));
    }

    /// Runs a script in the page and returns what it returns.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Runs a script whose last argument is called when it is done.
    pub(crate) fn run_until_done(&self, script: &str) -> Value {
        self.post("execute/async", &json!({ "script": script, "args": [] }))
    }

    /// Presses and releases a key. `WebDriver` has codes for keys that are not characters.
    pub(crate) fn press(&self, key: char) {
        let actions = json!([{ "type": "keyDown", "value": key }, { "type": "keyUp", "value": key }]);
        self.post("actions", &json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }));
    }

    /// Clicks the middle of an element, which no other element may cover.
    pub(crate) fn click(&self, selector: &str) {
        for _ in 0..50 {
            let element = self.element(selector);
            match self.try_post(&format!("element/{element}/click"), &json!({})) {
                // The page has replaced the element since.
                Err(error) if error.starts_with("\"stale element reference\"") => {}
                clicked => return drop(clicked.unwrap_or_else(|error| panic!("{selector}: {error}"))),
            }
        }
        panic!("`{selector}` does not stay");
    }

    /// Types into an element.
    pub(crate) fn type_into(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.post(&format!("element/{element}/value"), &json!({ "text": text }));
    }

    fn element(&self, selector: &str) -> String {
        let found = self.post("element", &json!({ "using": "css selector", "value": selector }));
        found.as_object().and_then(|found| found.values().next()?.as_str()).unwrap().to_owned()
    }

    /// Returns the text of an element.
    pub(crate) fn text(&self, selector: &str) -> String {
        self.run(&format!("return document.querySelector({selector:?}).textContent"))
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Waits until a script returns `true`. During navigation there is no page to run it.
    pub(crate) fn wait_until(&self, script: &str) {
        let mut last = Ok(Value::Null);
        for _ in 0..3_000 {
            last = self.try_post("execute/sync", &json!({ "script": script, "args": [] }));
            if last == Ok(Value::Bool(true)) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("`{script}` does not come true: {last:?}, {}", self.text("body"));
    }

    /// Sends a command of Chromium's own protocol.
    pub(crate) fn command(&self, command: &str, parameters: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// Returns a screenshot of the window as PNG.
    pub(crate) fn screenshot(&self) -> Vec<u8> {
        let image = self.send("GET", "screenshot", &Value::Null);
        BASE64_STANDARD.decode(image.unwrap().as_str().unwrap()).unwrap()
    }

    /// Returns the messages of the console since it was last read.
    pub(crate) fn console(&self) -> Vec<String> {
        let log = self.post("se/log", &json!({ "type": "browser" }));
        log.as_array().unwrap().iter().map(|entry| entry["message"].to_string()).collect()
    }

    /// Requires that the page made no requests, and that nothing in it was refused or failed.
    pub(crate) fn check_quiet(&self) {
        let resources = self.run("return performance.getEntriesByType('resource').map(({ name }) => name)");
        assert_eq!(resources, json!([]), "resources");
        assert_eq!(self.console(), [""; 0], "the console");
    }
}

fn address(path: &Path) -> String {
    format!("file://{}", path.display())
}

impl Drop for Browser {
    fn drop(&mut self) {
        if let Driver::Chromium(port, session) = &self.driver
            && !session.is_empty()
        {
            let _ = request(*port, "DELETE", &format!("/session/{session}"), &Value::Null);
        }
        // All remaining processes of driver and browser are in one group.
        if let Some(group) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.process.wait();
    }
}
