//! Checkpoints, which state the tree of a log (TR-4, TR-5).

use core::fmt;
use core::str::FromStr;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::key::{KeyName, is_note_name};
use super::tree::TreeHash;
use crate::text::{Malformed, number};

/// The origin, size and root of a tree; written in three lines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Checkpoint {
    /// The name of its log.
    pub origin: String,
    /// The number of its leaves.
    pub size: u64,
    /// The hash of its tree.
    pub root: TreeHash,
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origin, size, root } = self;
        write!(out, "{origin}\n{size}\n{root}\n")
    }
}

impl FromStr for Checkpoint {
    type Err = Malformed;

    /// Reads the text of a note; a checkpoint with extension lines is refused.
    fn from_str(text: &str) -> Result<Self, Malformed> {
        let lines: Vec<_> = text.splitn(4, '\n').collect();
        let [origin, size, root, ""] = lines.as_slice() else {
            return Err(Malformed::expected("a checkpoint of three lines: origin, size and root", text));
        };
        // A signature line has the origin as its name, so it can have no other characters.
        if !is_note_name(origin) {
            return Err(Malformed::expected("an origin without spaces and plus signs", origin));
        }
        Ok(Self { origin: (*origin).into(), size: number(size)?, root: root.parse()? })
    }
}

/// Returns the origin of a branch: the key's name, the match's id and the branch's name (TR-4).
#[must_use]
pub fn branch_origin(name: &KeyName, match_id: &[u8; 16], branch: &str) -> String {
    format!("{name}/{:032x}/{branch}", u128::from_be_bytes(*match_id))
}
