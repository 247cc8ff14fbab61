//! A state as a host holds it between two requests (RF-9, RF-10).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::answers::RefereeStatus;
use crate::hello::Hello;
use crate::json::{JsonDifference, JsonNode};

/// A state: JSON with the order and spelling that the referee gave it, or bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HeldState {
    Json(JsonNode),
    Bytes(Vec<u8>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reached {
    pub(crate) state: HeldState,
    pub(crate) status: RefereeStatus,
}

impl Reached {
    pub(crate) fn read(mut answer: JsonNode, hello: &Hello) -> Result<Self, String> {
        if !matches!(answer, JsonNode::Object(_)) {
            return Err("its answer to `start` is no object".into());
        }
        let state = answer.take("state").ok_or("its answer has no `state`")?;
        let status = answer.field("status").ok_or("its answer has no `status`")?;
        Ok(Self { state: HeldState::of(state, hello.is_bytes)?, status: RefereeStatus::read(status)? })
    }
}

impl HeldState {
    pub(crate) fn of(node: JsonNode, is_bytes: bool) -> Result<Self, String> {
        Ok(if is_bytes { Self::Bytes(bytes_of(&node)?) } else { Self::Json(node) })
    }

    pub(crate) fn as_sent(&self) -> String {
        match self {
            Self::Json(node) => node.as_sent(),
            Self::Bytes(bytes) => sent_bytes(bytes),
        }
    }

    pub(crate) fn stored(&self) -> Vec<u8> {
        match self {
            Self::Json(node) => node.as_sent().into_bytes(),
            Self::Bytes(bytes) => bytes.clone(),
        }
    }

    pub(crate) fn hashed(&self) -> Vec<u8> {
        match self {
            Self::Json(node) => node.canonical().into_bytes(),
            Self::Bytes(bytes) => bytes.clone(),
        }
    }

    pub(crate) fn difference(&self, other: &Self) -> Option<JsonDifference> {
        match (self, other) {
            (Self::Json(here), Self::Json(there)) => here.difference(there),
            (Self::Bytes(here), Self::Bytes(there)) => {
                if here == there {
                    return None;
                }
                let mut place = 0;
                while here.get(place).is_some() && here.get(place) == there.get(place) {
                    place += 1;
                }
                let path = format!("byte {place} of the state");
                let here = here.get(place).map_or("nothing".into(), ToString::to_string);
                let there = there.get(place).map_or("nothing".into(), ToString::to_string);
                Some(JsonDifference { path, here, there })
            }
            _ => {
                Some(JsonDifference { path: "the state".into(), here: "JSON".into(), there: "bytes".into() })
            }
        }
    }
}

pub(crate) fn bytes_of(node: &JsonNode) -> Result<Vec<u8>, String> {
    let text = node.text().ok_or("expected bytes in base64")?;
    STANDARD.decode(text).map_err(|_| "expected bytes in base64".into())
}

pub(crate) fn sent_bytes(bytes: &[u8]) -> String {
    format!("\"{}\"", STANDARD.encode(bytes))
}
