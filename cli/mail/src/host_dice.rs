//! The dice of a turn at the host: fair dice, or a table (PM-27, FD-4, FD-9).

use std::io;

use turnfold_core::dice::fair::{Chain, Contribution, Owner, RollKey};
use turnfold_core::trust::PrivateKey;
use turnfold_core::{Digest, DueRoll, Seat};
use turnfold_history::ReplayError;

/// How many elements are computed at a time, because each walk goes through the whole chain.
const BLOCK: u16 = 32;

/// Dice of a recorded match: values rolled on a table, then values of a source.
pub struct TableDice<'a> {
    values: Vec<i32>,
    used: usize,
    /// Whether a roll had an owner since [`TurnDice::had_owned`] was last called.
    has_owned: bool,
    source: &'a mut dyn FnMut(&DueRoll) -> io::Result<Vec<i32>>,
}

impl<'a> TableDice<'a> {
    /// Takes values for any number of rolls, in the order in which rolls fall due, and the source of further values.
    #[must_use]
    pub fn new(values: Vec<i32>, source: &'a mut dyn FnMut(&DueRoll) -> io::Result<Vec<i32>>) -> Self {
        Self { values, used: 0, has_owned: false, source }
    }

    /// Returns how many of the values were not needed.
    #[must_use]
    pub fn unused(&self) -> usize {
        self.values.len().saturating_sub(self.used)
    }

    fn given(&self) -> &[i32] {
        self.values.get(self.used..).unwrap_or_default()
    }

    fn roll(&mut self, due: &DueRoll) -> Result<Vec<i32>, ReplayError> {
        self.has_owned |= due.owner.is_some();
        if self.given().is_empty() {
            return (self.source)(due).map_err(ReplayError::Chance);
        }
        let count = usize::try_from(due.count).unwrap_or(usize::MAX);
        let values = self.given().get(..count).unwrap_or(self.given()).to_vec();
        if !due.accepts(&values) {
            return Err(ReplayError::WrongValues(due.clone(), values));
        }
        self.used += values.len();
        Ok(values)
    }

    fn pass(&mut self, values: &[i32]) {
        if self.given().starts_with(values) {
            self.used += values.len();
        }
    }
}

pub(super) struct TurnDice<'d, 't> {
    pub(super) table: &'d mut TableDice<'t>,
    pub(super) fair: Option<FairTurn>,
}

pub(super) struct FairTurn {
    match_id: [u8; 16],
    chain: Chain,
    contributions: Vec<Contribution>,
    /// The number of the last roll (FD-7), which no takeback sets back (FD-16).
    last: u16,
    /// The number of an element, and the elements from it on.
    block: (u16, Vec<Digest>),
}

impl FairTurn {
    pub(super) fn new(
        match_id: [u8; 16],
        key: &PrivateKey,
        contributions: &[Contribution],
        last: u16,
    ) -> Self {
        let chain = key.dice_chain(Owner { match_id, party: Seat::Host });
        Self { match_id, chain, contributions: contributions.to_vec(), last, block: (0, Vec::new()) }
    }

    pub(super) fn element(&mut self, number: u16) -> Digest {
        if let Some(index) = number.checked_sub(self.block.0)
            && let Some(element) = self.block.1.get(usize::from(index))
        {
            return *element;
        }
        self.block = (number, self.chain.elements(number..=number.saturating_add(BLOCK - 1)));
        self.block.1.first().copied().unwrap_or_else(|| self.chain.element(number))
    }

    fn next_number(&mut self) -> Result<u16, ReplayError> {
        self.last = self.last.checked_add(1).ok_or(ReplayError::DiceExhausted(u16::MAX))?;
        Ok(self.last)
    }

    fn roll(&mut self, due: &DueRoll) -> Result<Vec<i32>, ReplayError> {
        let number = self.next_number()?;
        let element = self.element(number);
        Ok(RollKey::new(&self.match_id, number, &element, &self.contributions).values(due))
    }
}

/// Refuses a roll that only its owner learns, because an opened element of fair dice reveals the roll to all.
pub(super) fn require_no_owner(due: &DueRoll) -> Result<(), ReplayError> {
    let Some(owner) = due.owner else { return Ok(()) };
    Err(ReplayError::Unusable(format!(
        "fair dice cannot make a roll that {owner} alone learns, because they show every roll to all; use recorded dice"
    )))
}

impl TurnDice<'_, '_> {
    pub(super) fn roll(&mut self, due: &DueRoll) -> Result<Vec<i32>, ReplayError> {
        let Some(fair) = &mut self.fair else { return self.table.roll(due) };
        require_no_owner(due)?;
        fair.roll(due)
    }

    pub(super) fn had_owned(&mut self) -> bool {
        std::mem::take(&mut self.table.has_owned)
    }

    pub(super) fn pass(&mut self, values: &[i32]) -> Result<(), ReplayError> {
        if let Some(fair) = &mut self.fair {
            fair.next_number()?;
        } else {
            self.table.pass(values);
        }
        Ok(())
    }

    pub(super) fn element(&mut self, number: u16) -> Option<Digest> {
        self.fair.as_mut().map(|fair| fair.element(number))
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use turnfold_core::trust::KeyKind;

    use super::*;

    const DUE: DueRoll = DueRoll { purpose: Cow::Borrowed("test"), count: 2, low: 1, high: 6, owner: None };

    #[test]
    fn pm_27_values_of_a_table_come_first_and_must_answer_the_roll() {
        let mut source = |_: &DueRoll| Ok(vec![6, 6]);
        let mut table = TableDice::new(vec![1, 2, 3, 4, 5], &mut source);
        assert_eq!(table.roll(&DUE).unwrap(), [1, 2]);
        // Values that an interrupted run recorded are skipped; others are not.
        table.pass(&[5, 5]);
        table.pass(&[3, 4]);
        assert_eq!(table.unused(), 1);
        assert!(matches!(table.roll(&DUE), Err(ReplayError::WrongValues(_, found)) if found == [5]));
        table.pass(&[5]);
        assert_eq!(table.roll(&DUE).unwrap(), [6, 6]);
        let mut table = TableDice::new(vec![1, 7], &mut source);
        assert!(matches!(table.roll(&DUE), Err(ReplayError::WrongValues(..))));
    }

    fn turn(last_roll: u16) -> FairTurn {
        let key = PrivateKey::of_seed("ann.example".parse().unwrap(), KeyKind::Signer, &[7; 32]);
        FairTurn::new([9; 16], &key, &[], last_roll)
    }

    #[test]
    fn fd_7_rolls_count_on_and_elements_are_from_the_chain() {
        let mut fair = turn(30);
        let rolls: Vec<_> = (0..40).map(|_| fair.roll(&DUE).unwrap()).collect();
        assert_eq!(fair.last, 70);
        assert_eq!(fair.element(31), fair.chain.element(31));
        assert_eq!(fair.element(70), fair.chain.element(70));
        let mut source = |_: &DueRoll| Ok(Vec::new());
        let mut table = TableDice::new(Vec::new(), &mut source);
        let mut later = TurnDice { table: &mut table, fair: Some(turn(30)) };
        later.pass(&[0]).unwrap();
        assert_eq!(later.roll(&DUE).unwrap(), rolls[1], "a roll that was made has its number");
    }

    #[test]
    fn fd_17_there_is_no_roll_behind_the_last() {
        let mut fair = turn(u16::MAX - 1);
        assert!(fair.roll(&DUE).is_ok());
        assert_eq!(fair.element(Chain::LAST), fair.chain.element(Chain::LAST));
        assert!(matches!(fair.roll(&DUE), Err(ReplayError::DiceExhausted(Chain::LAST))));
    }
}
