//! The findings about all matches by mail, for the rows of the audit.

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::Seat;
use turnfold_history::text::counted;
use turnfold_proof::audit::{FurtherRow, FurtherRows, RowBuilder};
use turnfold_proof::bundle::BundleOutline;
use turnfold_proof::bundle::sizes::revision;
use turnfold_store::Entry;

use super::segments::Pairing;
use crate::TurnKey;

/// The findings about all matches by mail.
#[derive(Default)]
pub(super) struct MailRows {
    /// The indexes of the games that have a desk, and of the desks.
    pub(super) paired: BTreeSet<usize>,
    pub(super) dice: RowBuilder,
    /// How many rolls were recomputed; `None` if no match has fair dice.
    pub(super) rolls: Option<u64>,
    /// Further facts about the dice of each match.
    pub(super) dice_remarks: Vec<(String, Vec<String>)>,
    pub(super) authorship: RowBuilder,
    pub(super) authors: Authors,
    /// The branches of games that were not played.
    pub(super) unplayed: Vec<String>,
    pub(super) consistency: RowBuilder,
    /// How many papers named a history that their desk has; `None` if none did.
    pub(super) seen: Option<u64>,
}

impl MailRows {
    /// PM-1: fails `consistency` for a second desk of a game, because two desks are two histories.
    pub(super) fn find_second_desks(&mut self, outline: &BundleOutline, pairings: &[Pairing]) {
        let mut desks: BTreeMap<usize, usize> = BTreeMap::new();
        for pairing in pairings {
            let first = *desks.entry(pairing.game).or_insert(pairing.desk);
            let names = |of: usize| outline.matches.get(of).map(|of| &of.name);
            if first != pairing.desk
                && let (Some(first), Some(game)) = (names(first), names(pairing.game))
            {
                let reason = format!("`{first}` is a desk of `{game}` too");
                self.consistency.fail(revision(outline, (pairing.desk, 0)), reason);
            }
        }
    }

    pub(super) fn further(self) -> FurtherRows {
        let dice = self.rolls.map(|rolls| {
            let mut text = format!("{} recomputed", counted(rolls, "roll", "rolls"));
            let is_one = self.dice_remarks.len() == 1;
            for (name, remarks) in &self.dice_remarks {
                let of = if is_one { String::new() } else { format!("{name}: ") };
                text.extend(remarks.iter().map(|remark| format!("; {of}{remark}")));
            }
            text
        });
        let seen = self
            .seen
            .map(|count| format!("the history that {} named is this one", counted(count, "paper", "papers")));
        let mut authors = self.authors.text();
        for branch in &self.unplayed {
            authors.extend(["; ", branch, " was not played"]);
        }
        FurtherRows {
            with_authors: self.paired,
            dice: FurtherRow { found: self.dice, checked: dice },
            consistency: FurtherRow { found: self.consistency, checked: seen },
            authorship: FurtherRow { found: self.authorship, checked: Some(authors) },
        }
    }
}

/// The number of commands by source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Authors {
    signed: u64,
    default: BTreeMap<Seat, u64>,
    host: u64,
}

impl Authors {
    pub(super) fn count(&mut self, entry: &Entry, key: &TurnKey) {
        match (entry.seat, key) {
            (Seat::Host, _) => self.host += 1,
            (_, TurnKey::Order { .. }) => self.signed += 1,
            (seat, _) => *self.default.entry(seat).or_default() += 1,
        }
    }

    /// Returns the counts in words.
    fn text(&self) -> String {
        let default = self.default.iter().map(|(seat, count)| format!(", {count} by default for {seat}"));
        let commands = if self.signed == 1 { "command" } else { "commands" };
        let default: String = default.collect();
        format!("{} {commands} by signed orders{default}, {} by the host", self.signed, self.host)
    }
}
