//! The children of a referee that is a program, each asked one request at a time.

use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};

use turnfold_core::any::FaultOf;

use super::child::{Launch, Running};
use crate::carrier::{Carrier, Effort, NoAnswer};
use crate::json::Node;

/// The arguments of `hello`.
pub(crate) const HELLO: &str = r#"{"protocol":1}"#;

/// Children that are started when a request finds none that waits.
pub(crate) struct Children {
    launch: Arc<Launch>,
    /// Whether they run in another time zone and locale than those of the first (RF-15).
    is_second: bool,
    /// Children that wait for a request, and how many there are in all.
    pool: Mutex<(Vec<Running>, usize)>,
    /// Notified when a child waits again.
    waits: Condvar,
    most: usize,
    /// The first answer to `hello`: the name and the version, which do not change.
    hello: OnceLock<[String; 2]>,
}

impl Children {
    pub(crate) fn new(launch: Arc<Launch>, most: usize, is_second: bool) -> Self {
        let (pool, waits, hello) = (Mutex::default(), Condvar::new(), OnceLock::new());
        Self { launch, is_second, pool, waits, most, hello }
    }

    fn take(&self) -> Result<Running, NoAnswer> {
        let mut children = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(child) = children.0.pop() {
                return Ok(child);
            }
            if children.1 < self.most {
                children.1 += 1;
                drop(children);
                return self.start();
            }
            children = self.waits.wait(children).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Starts a child, which must say that it is the same referee as those before it.
    fn start(&self) -> Result<Running, NoAnswer> {
        let started = Running::start(&self.launch, self.is_second).and_then(|mut child| {
            // Who is asked first is asked by `ask`.
            let Some(first) = self.hello.get() else { return Ok(child) };
            let again = name_and_version(&child.ask("hello", HELLO, 0)?);
            if again == *first {
                return Ok(child);
            }
            Err(NoAnswer::Broke(format!("it is {} when it is started again", again.join(" "))))
        });
        if started.is_err() {
            self.put_back(None);
        }
        started
    }

    /// Puts a child back, or notes that it is gone.
    fn put_back(&self, child: Option<Running>) {
        let mut children = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        match child {
            Some(child) => children.0.push(child),
            None => children.1 = children.1.saturating_sub(1),
        }
        self.waits.notify_one();
    }
}

impl Carrier for Children {
    /// Asks a child; if it ends, once more a new one (RF-16).
    fn ask(&self, op: &'static str, args: &str, effort: Effort) -> Result<Node, NoAnswer> {
        let mut child = self.take()?;
        let mut answer = child.ask(op, args, effort.entries);
        if let Err(NoAnswer::Ended(why)) = &answer
            && self.hello.get().is_some()
        {
            let why = why.clone();
            drop(child);
            child = self.start()?;
            answer = child.ask(op, args, effort.entries);
            if answer.is_ok() {
                tracing::warn!("`{}` was started again: {why}", self.launch.line());
            }
        }
        if let Ok(answer) = &answer {
            if op == "hello" {
                self.hello.get_or_init(|| name_and_version(answer));
            }
            self.put_back(Some(child));
        } else {
            // It may still answer what it was asked: it is of no use for the next request.
            drop(child);
            self.put_back(None);
        }
        answer
    }

    fn named(&self) -> FaultOf {
        FaultOf::Referee(self.launch.line())
    }

    fn second(&self) -> Result<Box<dyn Carrier>, NoAnswer> {
        let second = Self::new(self.launch.clone(), 1, true);
        Ok(Box::new(Self { hello: self.hello.clone(), ..second }))
    }
}

fn name_and_version(hello: &Node) -> [String; 2] {
    ["name", "version"].map(|field| {
        let value = hello.field("ok").and_then(|ok| ok.field(field));
        value.map(|value| value.text().map_or_else(|| value.canonical(), String::from)).unwrap_or_default()
    })
}
