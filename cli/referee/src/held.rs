//! A state as a host holds it between two requests (RF-9, RF-10).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::json::Node;

/// A state: JSON with the order and spelling that the referee gave it, or bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Held {
    Json(Node),
    Bytes(Vec<u8>),
}

impl Held {
    /// Takes a state out of an answer.
    pub(crate) fn of(node: Node, is_bytes: bool) -> Result<Self, String> {
        if is_bytes { bytes_of(&node).map(Self::Bytes) } else { Ok(Self::Json(node)) }
    }

    /// Returns the state as it is sent.
    pub(crate) fn as_sent(&self) -> String {
        match self {
            Self::Json(node) => node.as_sent(),
            Self::Bytes(bytes) => sent_bytes(bytes),
        }
    }

    /// Returns the bytes from which it can be read again.
    pub(crate) fn stored(&self) -> Vec<u8> {
        match self {
            Self::Json(node) => node.as_sent().into_bytes(),
            Self::Bytes(bytes) => bytes.clone(),
        }
    }

    /// Returns the bytes that are hashed and compared.
    pub(crate) fn hashed(&self) -> Vec<u8> {
        match self {
            Self::Json(node) => node.canonical().into_bytes(),
            Self::Bytes(bytes) => bytes.clone(),
        }
    }

    /// Returns the first place where two states differ, and what stands there in each.
    pub(crate) fn difference(&self, other: &Self) -> Option<(String, String, String)> {
        match (self, other) {
            (Self::Json(here), Self::Json(there)) => here.difference(there),
            (Self::Bytes(here), Self::Bytes(there)) => {
                let place = here.iter().zip(there).take_while(|(here, there)| here == there).count();
                if here == there {
                    return None;
                }
                let shown = |bytes: &[u8]| bytes.get(place).map_or("nothing".into(), ToString::to_string);
                Some((format!("byte {place} of the state"), shown(here), shown(there)))
            }
            _ => Some(("the state".into(), "JSON".into(), "bytes".into())),
        }
    }
}

/// Reads bytes, which messages have in base64.
pub(crate) fn bytes_of(node: &Node) -> Result<Vec<u8>, String> {
    let text = node.text().ok_or("expected bytes in base64")?;
    STANDARD.decode(text).map_err(|_| "expected bytes in base64".into())
}

/// Writes bytes as they are sent.
pub(crate) fn sent_bytes(bytes: &[u8]) -> String {
    format!("\"{}\"", STANDARD.encode(bytes))
}
