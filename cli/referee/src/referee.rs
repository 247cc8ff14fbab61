//! A referee: a module or a program that knows the rules of a game and is asked by the protocol (RF-1, RF-2).

use std::collections::BTreeMap;
use std::panic::resume_unwind;

use turnfold_core::any::{Fault, FaultKind, FaultOf};
use turnfold_core::text::in_one_line;
use turnfold_core::{CommandSource, FoldError, Logged, Malformed, SetupError};

use crate::carrier::{Carrier, Effort, NoAnswer};
use crate::command::{LoggedCommand, ReadCommand, is_plain};
use crate::held::{bytes_of, sent_bytes};
use crate::hello::{Hello, Secrecy};
use crate::json::{JsonNode, sent_text};
use crate::process::HELLO;
use crate::recorded;
use crate::rules::setup_of;

const QUOTED_CHARS_MAX: usize = 300;

/// A referee's answer: `ok`, or `no` if it refuses the request.
pub(crate) type RefereeReply = Result<JsonNode, JsonNode>;

pub(crate) struct EncodedCommand {
    pub(crate) text: String,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) struct Referee {
    /// `None` for a recording, whose entries contain all answers (RF-18).
    carrier: Option<Box<dyn Carrier>>,
    pub(crate) named: FaultOf,
    pub(crate) hello: Hello,
}

impl Referee {
    pub(crate) fn start(carrier: Box<dyn Carrier>) -> Result<Self, NoAnswer> {
        let answer = carrier.ask("hello", HELLO, Effort::NO_FOLD)?;
        let named = carrier.named();
        let is_module = matches!(named, FaultOf::Module(_));
        let described = match reply_of(answer) {
            Ok(Ok(described)) => Hello::read(&described, is_module),
            Ok(Err(no)) => Err(format!("it refuses `hello`: {}", in_one_line(&no.canonical()))),
            Err(why) => Err(why),
        };
        let hello = described.map_err(NoAnswer::Broke)?;
        Ok(Self { carrier: Some(carrier), named, hello })
    }

    /// Returns the same referee with a carrier to another child or instance. Its description is not asked for again.
    pub(crate) fn second(&self) -> Self {
        let carrier = self.carrier.as_ref().map(|carrier| match carrier.second() {
            Ok(second) => second,
            Err(stop) => self.stop(&stop),
        });
        Self { carrier, named: self.named.clone(), hello: self.hello.clone() }
    }

    pub(crate) fn recording(name: &str, example: &str, secrets: Secrecy) -> Self {
        // It offers no operations, because only what was recorded is known.
        let mut hello = Hello { name: name.into(), version: 1, secrets, batches: true, ..Hello::default() };
        hello.example = example.into();
        Self { carrier: None, named: FaultOf::Referee(String::new()), hello }
    }

    /// Returns `true` if there is no one to ask, because entries contain all answers.
    pub(crate) fn is_recording(&self) -> bool {
        self.carrier.is_none()
    }

    pub(crate) fn is_module(&self) -> bool {
        matches!(self.named, FaultOf::Module(_))
    }

    fn reader(&self) -> ReadCommand {
        if self.is_recording() { recorded::read_command } else { LoggedCommand::read }
    }

    /// Reads the text of a command, or keeps it if only the referee can read it (RF-10).
    pub(crate) fn command(&self, text: &str) -> Result<LoggedCommand, Malformed> {
        if self.hello.is_bytes {
            return Ok(LoggedCommand { text: text.into(), ..LoggedCommand::default() });
        }
        self.reader()(text)
    }

    pub(crate) fn logged(&self, logged: &Logged<'_>) -> Result<LoggedCommand, FoldError> {
        if !self.hello.is_bytes {
            return LoggedCommand::of_log(logged, self.reader());
        }
        let mut command = LoggedCommand::default();
        match logged.command {
            CommandSource::Bytes(bytes) => command.encoded = Some(bytes.into()),
            CommandSource::Text(text) => command.text = text.into(),
        }
        Ok(command)
    }

    /// Asks for the text and bytes of commands that only the referee can read. `args` are texts, bytes or the values of
    /// a roll.
    pub(crate) fn commands(&self, args: &str) -> Vec<Result<EncodedCommand, JsonNode>> {
        let answer = match self.ask("command", args) {
            Ok(answer) => answer,
            Err(no) => self.broke(no.canonical()),
        };
        let mut commands = Vec::new();
        for mut node in answer.items().iter().cloned() {
            if let Some(no) = node.take("no") {
                commands.push(Err(no));
                continue;
            }
            let text = node.text_in("command").unwrap_or_default().to_owned();
            let bytes = match bytes_of(node.field("bytes").unwrap_or(&JsonNode::Null)) {
                Ok(bytes) => bytes,
                Err(why) => self.broke(format!("a command: {why}")),
            };
            if !is_plain(&text) {
                self.broke("a command of more than one line");
            }
            commands.push(Ok(EncodedCommand { text, bytes }));
        }
        commands
    }

    pub(crate) fn one_command(&self, args: &str) -> Result<EncodedCommand, JsonNode> {
        let mut commands = self.commands(args);
        match commands.pop() {
            Some(command) if commands.is_empty() => command,
            _ => self.broke("it was asked for one command and answers with another number of them"),
        }
    }

    pub(crate) fn canonical(&self, command: &str) -> Result<String, Malformed> {
        if !self.hello.is_bytes {
            return Ok(self.reader()(command)?.text);
        }
        match self.one_command(&format!("{{\"commands\":[{}]}}", sent_text(command))) {
            Ok(command) => Ok(command.text),
            Err(no) => Err(Malformed(no.in_words())),
        }
    }

    pub(crate) fn sent_setup(&self, setup: &[u8]) -> Result<String, SetupError> {
        if self.hello.is_bytes { Ok(sent_bytes(setup)) } else { Ok(setup_of(setup)?.as_sent()) }
    }

    /// Asks the referee. A request without an answer is a fault.
    pub(crate) fn ask(&self, op: &'static str, args: &str) -> RefereeReply {
        match self.try_ask(op, args, Effort::NO_FOLD) {
            Ok(reply) => reply,
            Err(stop) => self.stop(&stop),
        }
    }

    pub(crate) fn try_ask(
        &self,
        op: &'static str,
        args: &str,
        effort: Effort,
    ) -> Result<RefereeReply, NoAnswer> {
        let Some(carrier) = &self.carrier else { return Err(NoAnswer::broke("a recording is not asked")) };
        reply_of(carrier.ask(op, args, effort)?).map_err(NoAnswer::Broke)
    }

    /// Unwinds with a [`Fault`], which the edge of the program catches. No panic hook runs.
    pub(crate) fn stop(&self, stop: &NoAnswer) -> ! {
        let kind = match stop {
            NoAnswer::Late(_) | NoAnswer::Exhausted(_) | NoAnswer::OutOfMemory => FaultKind::Exhausted,
            NoAnswer::Overrun(_) => FaultKind::Overrun,
            NoAnswer::NotStarted(_) | NoAnswer::Ended(_) | NoAnswer::Broke(_) => FaultKind::Broken,
        };
        resume_unwind(Box::new(Fault {
            ruleset: self.hello.name.clone(),
            version: self.hello.version,
            of: self.named.clone(),
            what: in_one_line(&stop.to_string()).chars().take(QUOTED_CHARS_MAX).collect(),
            kind,
        }))
    }

    pub(crate) fn broke(&self, what: impl Into<String>) -> ! {
        self.stop(&NoAnswer::broke(what))
    }

    pub(crate) fn require<T>(&self, read: Result<T, String>) -> T {
        match read {
            Ok(value) => value,
            Err(why) => self.broke(why),
        }
    }
}

/// Splits an answer into `ok` and `no`. A guest's `fault` describes what failed in the game that it serves.
fn reply_of(answer: JsonNode) -> Result<RefereeReply, String> {
    let JsonNode::Object(members) = answer else { return Err("its answer is no object".into()) };
    let mut members: BTreeMap<String, JsonNode> = members.into_iter().collect();
    match (members.remove("ok"), members.remove("no")) {
        (Some(ok), None | Some(JsonNode::Null)) => Ok(Ok(ok)),
        (None | Some(JsonNode::Null), Some(no)) => Ok(Err(no)),
        _ => match members.remove("fault") {
            Some(JsonNode::Text(fault)) => Err(fault),
            _ => Err("its answer has neither `ok` nor `no`".into()),
        },
    }
}
