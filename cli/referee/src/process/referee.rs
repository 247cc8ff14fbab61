//! A referee: its children, and how they are asked.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use turnfold_core::any::{Fault, FaultKind, FaultOf};
use turnfold_core::text::in_one_line;

use super::child::{Launch, NoAnswer, Running};
use super::command::{LoggedCommand, ReadCommand};
use super::hello::{Hello, Secrecy};
use super::json::Node;
use super::recorded;

/// How much of a referee's own words an error repeats.
const QUOTED_CHARS_MAX: usize = 300;

/// What a referee answered: `ok`, or `no` where the request has no answer.
pub(crate) type Reply = Result<Node, Node>;

/// A program of the user's that knows the rules of a game (RF-1).
pub(crate) struct Referee {
    pub(crate) launch: Arc<Launch>,
    pub(crate) hello: Hello,
    /// Whether its children run in another time zone and locale than those of the first (RF-15).
    is_second: bool,
    /// Children that wait for a request, and how many there are in all.
    children: Mutex<(Vec<Running>, usize)>,
    /// Notified when a child waits again.
    waits: Condvar,
    children_max: usize,
}

impl Referee {
    /// Starts a referee and asks what it is.
    pub(crate) fn start(launch: Arc<Launch>, children_max: usize, is_second: bool) -> Result<Self, NoAnswer> {
        let mut child = Running::start(&launch, is_second)?;
        let answer = child.ask("hello", r#"{"protocol":1}"#, 0)?;
        let described = match reply_of(answer) {
            Ok(Ok(described)) => Hello::read(&described),
            Ok(Err(no)) => Err(format!("it refuses `hello`: {}", in_one_line(&no.canonical()))),
            Err(why) => Err(why),
        };
        let hello = described.map_err(NoAnswer::Broke)?;
        let children = Mutex::new((vec![child], 1));
        Ok(Self { launch, hello, is_second, children, waits: Condvar::new(), children_max })
    }

    /// Returns what stands in the place of a referee in a recording, whose entries hold all answers (RF-18).
    pub(crate) fn recording(name: &str, example: &str, secrets: Secrecy) -> Self {
        let launch = Launch { command: Vec::new(), env: BTreeMap::new(), folder: None, seconds: None };
        Self {
            launch: Arc::new(launch),
            hello: Hello::of_recording(name, example, secrets),
            is_second: false,
            children: Mutex::default(),
            waits: Condvar::new(),
            children_max: 0,
        }
    }

    /// Returns `true` if there is nothing to ask: entries hold all answers.
    pub(crate) fn is_recording(&self) -> bool {
        self.children_max == 0
    }

    /// Returns what reads the text of a command.
    pub(crate) fn reader(&self) -> ReadCommand {
        if self.is_recording() { recorded::read_command } else { LoggedCommand::read }
    }

    /// Asks the referee; what it does not answer is a fault.
    pub(crate) fn ask(&self, op: &'static str, args: &str) -> Reply {
        self.try_ask(op, args, 0).unwrap_or_else(|stop| self.stop(&stop))
    }

    /// Asks the referee; if its child ends, once more in a new child (RF-16).
    pub(crate) fn try_ask(&self, op: &'static str, args: &str, entries: usize) -> Result<Reply, NoAnswer> {
        let mut child = self.take()?;
        let mut answer = child.ask(op, args, entries);
        if let Err(NoAnswer::Ended(why)) = &answer {
            let why = why.clone();
            drop(child);
            child = self.restart()?;
            answer = child.ask(op, args, entries);
            if answer.is_ok() {
                tracing::warn!("`{}` was started again: {why}", self.launch.line());
            }
        }
        match answer {
            Ok(answer) => {
                self.put_back(Some(child));
                reply_of(answer).map_err(NoAnswer::Broke)
            }
            Err(stop) => {
                // It may still answer what it was asked: it is of no use for the next request.
                drop(child);
                self.put_back(None);
                Err(stop)
            }
        }
    }

    fn take(&self) -> Result<Running, NoAnswer> {
        let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(child) = children.0.pop() {
                return Ok(child);
            }
            if children.1 < self.children_max {
                children.1 += 1;
                drop(children);
                return self.restart();
            }
            children = self.waits.wait(children).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Starts a child in the place of one that is gone, which must say that it is the same referee.
    fn restart(&self) -> Result<Running, NoAnswer> {
        let started = Running::start(&self.launch, self.is_second).and_then(|mut child| {
            let answer = child.ask("hello", r#"{"protocol":1}"#, 0)?;
            let again = reply_of(answer).map_err(NoAnswer::Broke)?;
            let again = again.map_err(|_| NoAnswer::Broke("it refuses `hello`".into()))?;
            let again = Hello::read(&again).map_err(NoAnswer::Broke)?;
            if (&again.name, again.version) != (&self.hello.name, self.hello.version) {
                return Err(NoAnswer::Broke(format!(
                    "it is {} {} when it is started again",
                    again.name, again.version
                )));
            }
            Ok(child)
        });
        if started.is_err() {
            self.put_back(None);
        }
        started
    }

    /// Puts a child back, or notes that it is gone.
    fn put_back(&self, child: Option<Running>) {
        let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        match child {
            Some(child) => children.0.push(child),
            None => children.1 = children.1.saturating_sub(1),
        }
        self.waits.notify_one();
    }

    /// Unwinds with a [`Fault`], which the edge of the program catches. No panic hook runs.
    pub(crate) fn stop(&self, stop: &NoAnswer) -> ! {
        let kind = match stop {
            NoAnswer::Late(_) => FaultKind::Exhausted,
            NoAnswer::Overrun(_) => FaultKind::Overrun,
            NoAnswer::NotStarted(_) | NoAnswer::Ended(_) | NoAnswer::Broke(_) => FaultKind::Broken,
        };
        resume_unwind(Box::new(Fault {
            ruleset: self.hello.name.clone(),
            version: self.hello.version,
            of: FaultOf::Referee(self.launch.line()),
            what: in_one_line(&stop.to_string()).chars().take(QUOTED_CHARS_MAX).collect(),
            kind,
        }))
    }

    /// Unwinds because an answer breaks the protocol.
    pub(crate) fn broke(&self, what: impl Into<String>) -> ! {
        self.stop(&NoAnswer::Broke(what.into()))
    }
}

/// Splits an answer into `ok` and `no`. A guest's `fault` is what went wrong in the game that it serves.
fn reply_of(answer: Node) -> Result<Reply, String> {
    let Node::Object(members) = answer else { return Err("its answer is no object".into()) };
    let mut members: BTreeMap<String, Node> = members.into_iter().collect();
    match (members.remove("ok"), members.remove("no")) {
        (Some(ok), None | Some(Node::Null)) => Ok(Ok(ok)),
        (None | Some(Node::Null), Some(no)) => Ok(Err(no)),
        _ => match members.remove("fault") {
            Some(Node::Text(fault)) => Err(fault),
            _ => Err("its answer has neither `ok` nor `no`".into()),
        },
    }
}
