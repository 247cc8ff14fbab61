//! Origins: the name of a key, the id of a match and a branch, in one text (TR-4, TR-17).

use crate::names::is_name;

/// The parts of an origin: the name of the key, and a branch of a match (TR-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchOrigin<'a> {
    /// The key's name.
    pub name: &'a str,
    /// The match's id.
    pub match_id: [u8; 16],
    /// The branch's name.
    pub branch: &'a str,
}

impl<'a> BranchOrigin<'a> {
    /// Reads an origin; `None` for a log that is not a branch of a match.
    #[must_use]
    pub fn read(origin: &'a str) -> Option<Self> {
        let (rest, branch) = origin.rsplit_once('/')?;
        let (name, id) = rest.rsplit_once('/')?;
        let is_id = id.len() == 32 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !is_id || !is_name(branch) {
            return None;
        }
        let match_id = u128::from_str_radix(id, 16).ok()?;
        Some(Self { name, match_id: match_id.to_be_bytes(), branch })
    }
}
