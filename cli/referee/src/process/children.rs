//! The child processes of a referee. Each handles one request at a time.

use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};

use turnfold_core::any::FaultOf;

use super::child::{Launch, Running};
use crate::carrier::{Carrier, Effort, NoAnswer};
use crate::json::JsonNode;
use crate::locked;

pub(crate) const HELLO: &str = r#"{"protocol":1}"#;

pub(crate) struct Children {
    launch: Arc<Launch>,
    /// Whether they run in another time zone and locale than the first ones (RF-15).
    is_second: bool,
    pool: Mutex<Pool>,
    waits: Condvar,
    most: usize,
    /// The first answer to `hello`: the name and the version, which do not change.
    hello: OnceLock<String>,
}

#[derive(Default)]
struct Pool {
    waiting: Vec<Running>,
    count: usize,
}

impl Children {
    pub(crate) fn new(launch: Arc<Launch>, most: usize, is_second: bool) -> Self {
        let hello = OnceLock::new();
        Self { launch, is_second, pool: Mutex::default(), waits: Condvar::new(), most, hello }
    }

    fn take(&self) -> Result<Running, NoAnswer> {
        let mut pool = locked(&self.pool);
        loop {
            if let Some(child) = pool.waiting.pop() {
                return Ok(child);
            }
            if pool.count < self.most {
                pool.count += 1;
                drop(pool);
                return self.start();
            }
            pool = self.waits.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn start(&self) -> Result<Running, NoAnswer> {
        let started = self.start_the_same();
        if started.is_err() {
            self.put_back(None);
        }
        started
    }

    fn start_the_same(&self) -> Result<Running, NoAnswer> {
        let mut child = Running::start(&self.launch, self.is_second)?;
        // The very first child is asked by `ask`.
        if let Some(first) = self.hello.get() {
            let again = name_and_version(&child.ask("hello", HELLO, 0)?);
            if again != *first {
                return Err(NoAnswer::Broke(format!("it is {again} when it is started again")));
            }
        }
        Ok(child)
    }

    fn put_back(&self, child: Option<Running>) {
        let mut pool = locked(&self.pool);
        match child {
            Some(child) => pool.waiting.push(child),
            None => pool.count = pool.count.saturating_sub(1),
        }
        self.waits.notify_one();
    }
}

impl Carrier for Children {
    /// Asks a child. If it ends, asks a new one once (RF-16).
    fn ask(&self, op: &'static str, args: &str, effort: Effort) -> Result<JsonNode, NoAnswer> {
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
        let Ok(answer) = answer else {
            // The child may still answer this request, so it cannot be asked the next one.
            drop(child);
            self.put_back(None);
            return answer;
        };
        if op == "hello" {
            self.hello.get_or_init(|| name_and_version(&answer));
        }
        self.put_back(Some(child));
        Ok(answer)
    }

    fn named(&self) -> FaultOf {
        FaultOf::Referee(self.launch.line())
    }

    fn second(&self) -> Result<Box<dyn Carrier>, NoAnswer> {
        let second = Self::new(self.launch.clone(), 1, true);
        Ok(Box::new(Self { hello: self.hello.clone(), ..second }))
    }
}

fn name_and_version(hello: &JsonNode) -> String {
    let mut words = Vec::new();
    for field in ["name", "version"] {
        words.push(match hello.field("ok").and_then(|ok| ok.field(field)) {
            Some(JsonNode::Text(text)) => text.clone(),
            Some(other) => other.canonical(),
            None => String::new(),
        });
    }
    words.join(" ")
}
