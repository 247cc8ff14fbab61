//! Games and desks while the records of all matches go by: kept until both are there, judged, and let go.

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::{DicePolicy, Registry};
use turnfold_store::Genesis;

use super::dice::FairRoll;
use super::kept::{CollectedMatch, Tie};
use super::rows::MailRows;
use super::segment::MailMatch;
use crate::bundle::sizes::LineFinder;
use crate::bundle::{BundledRecord, LineIndex};

/// What is known of the matches by mail so far.
pub(crate) struct MailLogs<'a> {
    lines: &'a LineFinder<'a>,
    registry: &'a Registry,
    on_roll: &'a mut dyn FnMut(&FairRoll),
    ties: Vec<Tie>,
    kept: BTreeMap<usize, CollectedMatch>,
    pub(crate) rows: MailRows,
}

impl<'a> MailLogs<'a> {
    pub(crate) fn new(
        lines: &'a LineFinder<'a>,
        registry: &'a Registry,
        on_roll: &'a mut dyn FnMut(&FairRoll),
    ) -> Self {
        let ties = Tie::all(lines, registry);
        let of_ties: BTreeSet<usize> = ties.iter().flat_map(|tie| [tie.game, tie.desk]).collect();
        let kept = of_ties.iter().map(|of| (*of, CollectedMatch::default())).collect();
        let mut rows = MailRows { tied: of_ties, ..MailRows::default() };
        rows.find_second_desks(lines.outline, &ties);
        Self { lines, registry, on_roll, ties, kept, rows }
    }

    /// Takes the record of this index of a line.
    pub(crate) fn take(&mut self, (of, line): LineIndex, index: u64, record: &BundledRecord<'_>) {
        if let Some(kept) = self.kept.get_mut(&of) {
            kept.take(line, index, record);
        }
    }

    /// Returns `true` if the dice of a match are judged with its desk: fair ones, and those that a desk does not have.
    pub(crate) fn judges_dice_of(&self, of: usize, genesis: &Genesis) -> bool {
        let is_fair = matches!(genesis.dice, DicePolicy::Fair(_));
        self.ties.iter().any(|tie| tie.desk == of || is_fair && tie.game == of)
    }

    /// Judges each match of which all has gone by once that of this index begins.
    pub(crate) fn end_before(&mut self, of: usize) {
        let Self { lines, registry, ties, kept, rows, on_roll } = self;
        let (done, waiting) = std::mem::take(ties).into_iter().partition(|tie| tie.last() < of);
        *ties = waiting;
        for tie in &done {
            if let (Some(game), Some(desk)) = (kept.get(&tie.game), kept.get(&tie.desk)) {
                MailMatch { lines, registry, tie, game, desk }.judge(rows, on_roll);
            }
        }
        for tie in &done {
            kept.retain(|of, _| !tie.has(*of) || ties.iter().any(|tie| tie.has(*of)));
        }
    }
}
