//! A referee as a ruleset.

use std::sync::Arc;

use turnfold_core::any::{AnyRules, AnyState, FaultOf};
use turnfold_core::decode::DecodeError;
use turnfold_core::{Digest, Malformed, SetupError};

use crate::answers::{RefereeStatus, decode_error};
use crate::carrier::{Effort, NoAnswer};
use crate::command::LoggedCommand;
use crate::held::{HeldState, Reached, bytes_of, sent_bytes};
use crate::hello::{Hello, Secrecy, refused_setup};
use crate::json::JsonNode;
use crate::referee::Referee;
use crate::second::SecondChild;
use crate::setup;
use crate::state::{RefereeState, SecondState};

pub(crate) struct RefereeRules {
    pub(crate) referee: Arc<Referee>,
    /// Another child that is asked the same, if answers are checked (RF-15).
    pub(crate) second: Arc<SecondChild>,
    pub(crate) distrusts: bool,
}

impl RefereeRules {
    pub(crate) fn new(referee: Referee) -> Self {
        let referee = Arc::new(referee);
        Self { second: Arc::new(SecondChild::of(referee.clone())), referee, distrusts: false }
    }

    /// Returns the bytes of a setup that was read from a text: from all of it, or from the table `below`.
    fn setup_bytes(&self, setup: &JsonNode, text: &str, below: Option<&str>) -> Result<Vec<u8>, SetupError> {
        if !self.hello().is_bytes {
            let bytes = setup.as_sent().into_bytes();
            self.start(&bytes)?;
            return Ok(bytes);
        }
        let no = match self.referee.ask("setup", &format!("{{\"json\":{}}}", setup.as_sent())) {
            Ok(bytes) => return Ok(self.referee.require(bytes_of(&bytes))),
            Err(no) => no,
        };
        let Some(Ok(at)) = no.integer_in("at").map(usize::try_from) else {
            return Err(refused_setup(&no, true));
        };
        let message = no.text_in("message").unwrap_or_default();
        Err(SetupError::in_text(text, setup::place_in_toml(text, below, setup, at), message))
    }
}

pub(crate) fn setup_of(bytes: &[u8]) -> Result<JsonNode, SetupError> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(SetupError::Bytes("it is not UTF-8".into()));
    };
    let setup = JsonNode::read(text).map_err(SetupError::Bytes)?;
    if setup.as_sent() != text {
        return Err(SetupError::Bytes("it is not as setups are written".into()));
    }
    Ok(setup)
}

impl RefereeRules {
    fn hello(&self) -> &Hello {
        &self.referee.hello
    }

    /// Returns the status of a state by folding nothing (RF-7), and requires the state to stay as it is.
    fn status_of(&self, held: &HeldState) -> Result<RefereeStatus, DecodeError> {
        let args = format!("{{\"state\":{},\"entries\":[],\"want\":\"last\"}}", held.as_sent());
        let answer = match self.referee.try_ask("fold", &args, Effort::NO_FOLD) {
            Ok(Ok(answer)) => answer,
            Ok(Err(no)) => return Err(decode_error(&no)),
            // An engine may throw when it is given a state of another game.
            Err(NoAnswer::Ended(why)) if !self.referee.is_module() => {
                return Err(DecodeError::Unreadable(why));
            }
            Err(stop) => self.referee.stop(&stop),
        };
        let resumed = self.referee.require(Reached::read(answer, self.hello()));
        if resumed.state.difference(held).is_some() {
            self.referee.broke("the state that it resumes is another one");
        }
        Ok(resumed.status)
    }

    fn checked(&self, held: &HeldState) -> Option<SecondState> {
        let second = self.second.clone();
        if self.distrusts { Some(SecondState { second, held: held.clone() }) } else { None }
    }
}

impl AnyRules for RefereeRules {
    fn name(&self) -> &str {
        &self.hello().name
    }

    fn version(&self) -> u32 {
        self.hello().version
    }

    fn module(&self) -> Option<Digest> {
        if let FaultOf::Module(digest) = &self.referee.named { Some(*digest) } else { None }
    }

    fn takes_any_line(&self) -> bool {
        !self.hello().is_bytes
    }

    fn referee(&self) -> Option<String> {
        if let FaultOf::Referee(command) = &self.referee.named { Some(command.clone()) } else { None }
    }

    fn distrusting(&self) -> Option<Arc<dyn AnyRules>> {
        Some(Arc::new(Self { referee: self.referee.clone(), second: self.second.clone(), distrusts: true }))
    }

    fn summary(&self) -> &str {
        &self.hello().summary
    }

    fn example(&self) -> &str {
        &self.hello().example
    }

    fn rulebook(&self) -> &str {
        &self.hello().rulebook
    }

    fn mail_terms(&self) -> &str {
        &self.hello().mail
    }

    fn has_secrets(&self) -> bool {
        self.hello().secrets != Secrecy::None
    }

    fn ignored_codes(&self) -> Vec<&str> {
        codes(&self.hello().ignored)
    }

    fn rejected_codes(&self) -> Vec<&str> {
        codes(&self.hello().rejected)
    }

    fn read_setup(&self, toml: &str) -> Result<Vec<u8>, SetupError> {
        self.setup_bytes(&setup::from_toml(toml)?, toml, None)
    }

    fn read_setup_of(&self, document: &str) -> Result<Vec<u8>, SetupError> {
        let setup = match setup::from_document(document)? {
            Some(setup) => setup,
            None if self.hello().is_bytes => {
                return Err(SetupError::in_text(document, 0, "missing field `setup`"));
            }
            None => JsonNode::Object(Vec::new()),
        };
        self.setup_bytes(&setup, document, Some("setup"))
    }

    fn write_setup(&self, setup: &[u8]) -> Result<String, SetupError> {
        if !self.hello().is_bytes {
            return setup::to_toml(&setup_of(setup)?).map_err(SetupError::Bytes);
        }
        let args = format!("{{\"setup\":{}}}", sent_bytes(setup));
        let mut written = self.referee.ask("setup", &args).map_err(|no| refused_setup(&no, true))?;
        // TOML omits absent values.
        written.drop_nulls();
        setup::to_toml(&written).map_err(SetupError::Bytes)
    }

    fn canonical(&self, command: &str) -> Result<String, Malformed> {
        self.referee.canonical(command)
    }

    fn rule_ids(&self, code: &str) -> Vec<&str> {
        for (known, rules) in self.hello().ignored.iter().chain(&self.hello().rejected) {
            if known == code {
                return rules.iter().map(String::as_str).collect();
            }
        }
        Vec::new()
    }

    fn command_text(&self, command: &[u8]) -> Result<String, DecodeError> {
        if !self.hello().is_bytes {
            return Ok(LoggedCommand::decode(command, LoggedCommand::read)?.text);
        }
        match self.referee.one_command(&format!("{{\"bytes\":[{}]}}", sent_bytes(command))) {
            Ok(command) => Ok(command.text),
            Err(no) => Err(decode_error(&no)),
        }
    }

    fn start(&self, setup: &[u8]) -> Result<Box<dyn AnyState>, SetupError> {
        let args = format!("{{\"setup\":{}}}", self.referee.sent_setup(setup)?);
        let reply = self.referee.ask("start", &args);
        let second = if self.distrusts { self.second.start(&args, &reply) } else { None };
        let answer = reply.map_err(|no| refused_setup(&no, self.hello().is_bytes))?;
        let start = self.referee.require(Reached::read(answer, self.hello()));
        if self.referee.is_module() && self.status_of(&start.state).as_ref() != Ok(&start.status) {
            self.referee.broke("it cannot resume the state that it starts with");
        }
        let checked = self.checked(second.as_ref().unwrap_or(&start.state));
        Ok(Box::new(RefereeState::new(self.referee.clone(), start, 0, checked)))
    }

    fn resume(&self, state: &[u8], rolls: u64) -> Result<Box<dyn AnyState>, DecodeError> {
        let held = if self.hello().is_bytes {
            HeldState::Bytes(state.into())
        } else {
            let text = str::from_utf8(state).map_err(|error| DecodeError::Unreadable(error.to_string()))?;
            let node = JsonNode::read(text).map_err(DecodeError::Unreadable)?;
            if node.as_sent() != text {
                return Err(DecodeError::Unreadable("it is not as states are written".into()));
            }
            HeldState::Json(node)
        };
        let status = self.status_of(&held)?;
        let checked = self.checked(&held);
        let reached = Reached { state: held, status };
        Ok(Box::new(RefereeState::new(self.referee.clone(), reached, rolls, checked)))
    }
}

fn codes(declared: &[(String, Vec<String>)]) -> Vec<&str> {
    declared.iter().map(|(code, _)| code.as_str()).collect()
}
