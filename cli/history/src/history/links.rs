//! Links quoted from another store: they show where the histories of two stores part.

use std::fmt;
use std::str::FromStr;

use turnfold_core::Digest;
use turnfold_core::text::number;
use turnfold_store::{BranchName, Seq, StoreReader};

use crate::history::entry::is_hex_digit;
use crate::{ReplayError, Revision};

const DIGITS_MIN: usize = 16;
const DIGITS_MAX: usize = 64;

/// A link and the number of its entry, written `LINK@SEQ`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotedLink {
    /// The first digits of the link, 16 to 64 of them.
    digits: String,
    /// The entry; 0 is the setup.
    pub(crate) seq: Seq,
}

impl FromStr for QuotedLink {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((digits, seq)) = text.split_once('@')
            && (DIGITS_MIN..=DIGITS_MAX).contains(&digits.len())
            && digits.bytes().all(is_hex_digit)
            && let Ok(seq) = number(seq)
        {
            return Ok(Self { digits: digits.into(), seq });
        }
        Err(format!(
            "expected LINK@SEQ, the first {DIGITS_MIN} or more hex digits of a link and the number of an entry, found `{text}`"
        ))
    }
}

impl fmt::Display for QuotedLink {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}@{}", self.digits, self.seq)
    }
}

impl QuotedLink {
    /// Returns `true` if this is the link of its entry in a history. `links` are those of the history, beginning with
    /// the setup's.
    fn is_among(&self, links: &[Digest]) -> bool {
        let index = usize::try_from(self.seq).unwrap_or(usize::MAX);
        links.get(index).is_some_and(|own| own.to_string().starts_with(&self.digits))
    }
}

/// What quoted links prove about a history. A link covers all entries before it. So an equal link proves that both
/// histories are the same up to there, and a different one proves only that they part somewhere before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuotedFinding {
    /// Both histories are the same up to this entry.
    Same(Seq),
    /// The histories part.
    Parts(Parting),
    /// The quoted links contradict each other. The link of this entry differs, although the link of a later entry is
    /// equal.
    Wrongly(Seq),
}

/// Where two histories part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// The last entry up to which they are known to be the same; 0 is the setup, `None` if not even that is known.
    pub same: Option<Seq>,
    /// The first entry at which their links are known to differ.
    pub differ: Seq,
    /// Another branch of the match in this store that has the quoted link.
    pub branch: Option<BranchName>,
    /// The last entry of this store's history, if the quoted link is of a later one.
    pub ends: Option<Seq>,
}

impl Parting {
    /// Returns the first entry that differs, 0 for the setup, if it is known.
    #[must_use]
    pub fn first(&self) -> Option<Seq> {
        let first = match self.same {
            Some(same) => same.saturating_add(1),
            None => 0,
        };
        if first == self.differ { Some(first) } else { None }
    }

    /// Returns the entry whose link narrows the search most, or `None` if the first difference is known.
    #[must_use]
    pub fn ask_next(&self) -> Option<Seq> {
        if self.first().is_some() {
            return None;
        }
        match self.same {
            None => Some(0),
            Some(same) => Some(same.midpoint(self.differ)),
        }
    }
}

impl QuotedLink {
    /// Compares a history with quoted links.
    ///
    /// # Errors
    /// [`ReplayError::Store`] if the match, branch or entry does not exist or cannot be read.
    pub fn compare(
        store: &StoreReader,
        revision: &Revision,
        quoted: &[Self],
    ) -> Result<QuotedFinding, ReplayError> {
        let Revision { match_name, branch, seq } = revision;
        let branches = store.branches(match_name)?;
        let to = match seq {
            Some(seq) => *seq,
            None => store.head(match_name, branch)?,
        };
        let links = store.links(match_name, branch, 0..=to)?;
        let mut same = None;
        let mut differing: Option<&QuotedLink> = None;
        for quoted in quoted {
            if quoted.is_among(&links) {
                same = same.max(Some(quoted.seq));
            } else if differing.is_none_or(|first| quoted.seq < first.seq) {
                differing = Some(quoted);
            }
        }
        let Some(differing) = differing else { return Ok(QuotedFinding::Same(same.unwrap_or_default())) };
        if same >= Some(differing.seq) {
            return Ok(QuotedFinding::Wrongly(differing.seq));
        }
        let ends = if differing.seq > to { Some(to) } else { None };
        let mut parting = Parting { same, differ: differing.seq, branch: None, ends };
        for info in branches {
            if info.name == *branch || info.head < differing.seq {
                continue;
            }
            let others = store.links(match_name, &info.name, 0..=differing.seq)?;
            if differing.is_among(&others) {
                let mut first: Seq = 0;
                for (own, other) in links.iter().zip(&others) {
                    if own != other {
                        break;
                    }
                    first += 1;
                }
                let branch = Some(info.name);
                parting = Parting { same: first.checked_sub(1), differ: first, branch, ends };
                break;
            }
        }
        // If both are the same up to the end of this branch, the quoted history continues after it, so the next entry
        // differs.
        if let Some(ends) = parting.ends
            && parting.same == Some(ends)
        {
            parting.differ = ends.saturating_add(1);
        }
        Ok(QuotedFinding::Parts(parting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_links_read_back_as_they_are_written() {
        for text in ["0123456789abcdef@0", &format!("{}@12", "ab".repeat(32))] {
            assert_eq!(text.parse::<QuotedLink>().map(|quoted| quoted.to_string()), Ok(text.into()));
        }
        for text in ["", "0123456789abcdef", "0123456789abcde@1", "0123456789ABCDEF@1", "0123456789abcdef@01"]
        {
            assert!(text.parse::<QuotedLink>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_next_link_to_ask_for_halves_what_is_not_known() {
        let parting = |same, differ| Parting { same, differ, branch: None, ends: None };
        for (same, differ, first, next) in [
            (None, 0, Some(0), None),
            (None, 12, None, Some(0)),
            (Some(0), 12, None, Some(6)),
            (Some(6), 8, None, Some(7)),
            (Some(6), 7, Some(7), None),
        ] {
            let parting = parting(same, differ);
            assert_eq!((parting.first(), parting.ask_next()), (first, next));
        }
    }
}
