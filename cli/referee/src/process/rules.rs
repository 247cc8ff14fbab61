//! A referee as a ruleset.

use std::sync::Arc;

use turnfold_core::any::{AnyRules, AnyState};
use turnfold_core::decode::DecodeError;
use turnfold_core::{Malformed, SetupError};

use super::answers::Status;
use super::child::NoAnswer;
use super::command::LoggedCommand;
use super::hello::{Secrecy, refused_setup};
use super::json::Node;
use super::referee::Referee;
use super::second::SecondChild;
use super::setup;
use super::state::{Checked, RefereeState};

/// A ruleset that a referee plays.
pub(crate) struct RefereeRules {
    pub(crate) referee: Arc<Referee>,
    /// Another child that is asked the same, where answers are checked (RF-15).
    pub(crate) second: Arc<SecondChild>,
    pub(crate) distrusts: bool,
}

impl RefereeRules {
    pub(crate) fn new(referee: Referee) -> Self {
        let referee = Arc::new(referee);
        Self { second: Arc::new(SecondChild::of(referee.clone())), referee, distrusts: false }
    }

    fn setup_bytes(&self, setup: &Node) -> Result<Vec<u8>, SetupError> {
        let bytes = setup.as_sent().into_bytes();
        self.start(&bytes)?;
        Ok(bytes)
    }
}

/// Reads the bytes of a setup.
pub(crate) fn setup_of(bytes: &[u8]) -> Result<Node, SetupError> {
    let text = std::str::from_utf8(bytes).map_err(|_| SetupError::Bytes("it is not UTF-8".into()))?;
    let setup = Node::read(text).map_err(SetupError::Bytes)?;
    if setup.as_sent() == text {
        Ok(setup)
    } else {
        Err(SetupError::Bytes("it is not as setups are written".into()))
    }
}

impl AnyRules for RefereeRules {
    fn name(&self) -> &str {
        &self.referee.hello.name
    }

    fn version(&self) -> u32 {
        self.referee.hello.version
    }

    fn referee(&self) -> Option<String> {
        Some(self.referee.launch.line())
    }

    fn distrusting(&self) -> Option<Arc<dyn AnyRules>> {
        let (referee, second) = (self.referee.clone(), self.second.clone());
        Some(Arc::new(Self { referee, second, distrusts: true }))
    }

    fn summary(&self) -> &str {
        &self.referee.hello.summary
    }

    fn example(&self) -> &str {
        &self.referee.hello.example
    }

    fn rulebook(&self) -> &str {
        &self.referee.hello.rulebook
    }

    fn mail_terms(&self) -> &str {
        &self.referee.hello.mail
    }

    fn has_secrets(&self) -> bool {
        self.referee.hello.secrets == Secrecy::Closed
    }

    fn ignored_codes(&self) -> Vec<&str> {
        self.referee.hello.ignored.iter().map(|(code, _)| code.as_str()).collect()
    }

    fn rejected_codes(&self) -> Vec<&str> {
        self.referee.hello.rejected.iter().map(|(code, _)| code.as_str()).collect()
    }

    fn read_setup(&self, toml: &str) -> Result<Vec<u8>, SetupError> {
        self.setup_bytes(&setup::from_toml(toml)?)
    }

    fn read_setup_of(&self, document: &str) -> Result<Vec<u8>, SetupError> {
        self.setup_bytes(&setup::from_document(document)?)
    }

    fn write_setup(&self, setup: &[u8]) -> Result<String, SetupError> {
        setup::to_toml(&setup_of(setup)?).map_err(SetupError::Bytes)
    }

    fn canonical(&self, command: &str) -> Result<String, Malformed> {
        LoggedCommand::read(command).map(|command| command.text)
    }

    fn rule_ids(&self, code: &str) -> Vec<&str> {
        let hello = &self.referee.hello;
        let found = hello.ignored.iter().chain(&hello.rejected).find(|(known, _)| known == code);
        found.map(|(_, rules)| rules.iter().map(String::as_str).collect()).unwrap_or_default()
    }

    fn command_text(&self, command: &[u8]) -> Result<String, DecodeError> {
        LoggedCommand::decode(command, LoggedCommand::read).map(|command| command.text)
    }

    fn start(&self, setup: &[u8]) -> Result<Box<dyn AnyState>, SetupError> {
        let args = format!("{{\"setup\":{}}}", setup_of(setup)?.as_sent());
        let reply = self.referee.ask("start", &args);
        let second = self.distrusts.then(|| self.second.start(&args, &reply)).flatten();
        let started = reply.map_err(|no| refused_setup(&no))?;
        let (state, status) = started_of(&started).unwrap_or_else(|why| self.referee.broke(why));
        let checked = self
            .distrusts
            .then(|| Checked { second: self.second.clone(), state: second.unwrap_or_else(|| state.clone()) });
        Ok(Box::new(RefereeState::new(self.referee.clone(), state, status, 0, checked)))
    }

    /// A state is resumed by folding nothing (RF-7).
    fn resume(&self, state: &[u8], rolls: u64) -> Result<Box<dyn AnyState>, DecodeError> {
        let unreadable = |why: String| DecodeError::Unreadable(why);
        let text = std::str::from_utf8(state).map_err(|error| unreadable(error.to_string()))?;
        let node = Node::read(text).map_err(unreadable)?;
        if node.as_sent() != text {
            return Err(unreadable("it is not as states are written".into()));
        }
        let args = format!("{{\"state\":{text},\"entries\":[],\"want\":\"last\"}}");
        let resumed = match self.referee.try_ask("fold", &args, 0) {
            Ok(Ok(resumed)) => resumed,
            Ok(Err(no)) => return Err(unreadable(no.canonical())),
            // An engine that is given a state of another game may well throw.
            Err(NoAnswer::Ended(why)) => return Err(unreadable(why)),
            Err(stop) => self.referee.stop(&stop),
        };
        let (resumed, status) = started_of(&resumed).unwrap_or_else(|why| self.referee.broke(why));
        if resumed.canonical() != node.canonical() {
            self.referee.broke("the state that it resumes is another one");
        }
        let checked = self.distrusts.then(|| Checked { second: self.second.clone(), state: node.clone() });
        Ok(Box::new(RefereeState::new(self.referee.clone(), node, status, rolls, checked)))
    }
}

/// Reads a state with its status.
pub(crate) fn started_of(answer: &Node) -> Result<(Node, Status), String> {
    let Node::Object(members) = answer else { return Err("its answer to `start` is no object".into()) };
    let state = members.iter().find(|(key, _)| key == "state").map(|(_, state)| state.clone());
    let state = state.ok_or("its answer has no `state`")?;
    let status = answer.field("status").ok_or("its answer has no `status`")?;
    Ok((state, Status::read(status)?))
}
