//! The question a state answers: `suggest Q,R`.

use alloc::format;
use alloc::string::{String, ToString};

use super::order::PathKind;
use super::state::{State, Tap};
use turnfold_core::hex::Hex;
use turnfold_core::rules::Answer;
use turnfold_core::seat::Perspective;
use turnfold_core::text::{Malformed, split_verb};

pub(super) fn query(state: &State, viewer: Perspective, question: &str) -> Result<Option<Answer>, Malformed> {
    match split_verb(question) {
        ("suggest", Some(hex)) => {
            let kind = suggest(state, viewer, hex)?;
            Ok(Some(Answer::new(kind.to_string(), &kind)))
        }
        _ => Ok(None),
    }
}

/// The kind of path that suits the distance of a hex from the origin. Errors do not depend on what the viewer may not
/// know (CT-19).
fn suggest(state: &State, viewer: Perspective, hex: &str) -> Result<PathKind, Malformed> {
    let hex: Hex = hex.parse()?;
    if !state.board.contains(hex) {
        return Err(Malformed(format!("hex {hex} is off the board of radius {}", state.board.radius())));
    }
    let tap = state.tap_seen_by(viewer);
    if tap.is_none() && state.planning().is_some() {
        return Err(Malformed(format!(
            "{viewer} may not see what is selected: only the planning seat and `host` do"
        )));
    }
    let Some(origin) = tap.and_then(Tap::origin).and_then(|unit| state.units.get(&unit)) else {
        return Err(Malformed(String::from("no origin is selected")));
    };
    match origin.at.distance(hex) {
        0 => Err(Malformed(format!("hex {hex} is the origin itself"))),
        1 => Ok(PathKind::Deploy),
        _ => Ok(PathKind::Movement),
    }
}
