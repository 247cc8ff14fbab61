//! What a player's key remembers of a match by mail: its host, its beginning, and what was written (PM-28).

use std::fmt::Write as _;

use turnfold_core::Digest;
use turnfold_core::text::number;
use turnfold_core::trust::VerifierKey;
use turnfold_proof::signing::KeyMemory;

use super::paper_form::MailedPaper;
use crate::error::MailError;

const TITLE: &str = "turnfold mail 1";
const FILE: &str = "match";

/// What a key remembers of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlayerMemory {
    /// The first key of the host.
    pub(super) host: VerifierKey,
    /// The links of the Genesis of game and desk.
    pub(super) game: Digest,
    pub(super) desk: Digest,
    /// The number of the last paper.
    pub(super) number: u32,
    /// The turn of the last order.
    pub(super) turn: u32,
    /// The origins of the branches that were accepted.
    pub(super) lines: Vec<String>,
}

impl PlayerMemory {
    /// Reads the memory of a match, by its folder.
    pub(super) fn read(memory: &KeyMemory, folder: &str) -> Result<Option<Self>, MailError> {
        let Some(bytes) = memory.kept(folder, FILE)? else { return Ok(None) };
        let read = String::from_utf8(bytes).ok().and_then(|text| Self::parse(&text));
        let damaged = || MailError::Unusable(format!("the key's memory of `{folder}` is damaged"));
        read.map(Some).ok_or_else(damaged)
    }

    pub(super) fn write(&self, memory: &KeyMemory, folder: &str) -> Result<(), MailError> {
        let Self { host, game, desk, number, turn, lines } = self;
        let mut text =
            format!("{TITLE}\nhost {host}\ngame {game}\ndesk {desk}\nnumber {number}\nturn {turn}\n");
        for line in lines {
            writeln!(text, "line {line}").expect("writing to a string cannot fail");
        }
        Ok(memory.keep(folder, FILE, text.as_bytes())?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_prefix(TITLE)?.strip_prefix('\n')?.lines();
        let mut value = |word: &str| lines.next()?.strip_prefix(word)?.strip_prefix(' ');
        Some(Self {
            host: value("host")?.parse().ok()?,
            game: value("game")?.parse().ok()?,
            desk: value("desk")?.parse().ok()?,
            number: number(value("number")?).ok()?,
            turn: number(value("turn")?).ok()?,
            lines: lines.filter_map(|line| Some(line.strip_prefix("line ")?.to_owned())).collect(),
        })
    }
}

/// Keeps a sealed order until it is sent (PM-16).
pub(super) fn keep_order(memory: &KeyMemory, folder: &str, turn: u32, mail: &str) -> Result<(), MailError> {
    Ok(memory.keep(folder, &format!("order-{turn}"), mail.as_bytes())?)
}

pub(super) fn kept_order(
    memory: &KeyMemory,
    folder: &str,
    turn: u32,
) -> Result<Option<MailedPaper>, MailError> {
    let Some(bytes) = memory.kept(folder, &format!("order-{turn}"))? else { return Ok(None) };
    let found = MailedPaper::find(&bytes).pop().and_then(|found| found.paper.ok());
    found.map(Some).ok_or_else(|| MailError::Unusable(format!("the sealed order of turn {turn} is damaged")))
}
