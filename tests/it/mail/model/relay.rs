//! A toy game for two or three players. In each round every seat adds numbers and is done, in turn or all at once,
//! openly or in secret until the host resolves the round. Both its rules and the model of turns use these plain
//! functions.

use serde::{Deserialize, Serialize};
use turnfold_core::declare::reasons;
use turnfold_core::outcome::Ruling;

/// The maximum of one `add`.
const ADD_MAX: u8 = 3;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Setup {
    pub(crate) seats: u8,
    pub(crate) rounds: u8,
    /// Whether all seats play at once; otherwise they play in turn.
    pub(crate) at_once: bool,
    /// Whether a command of the host ends a round; otherwise the last player does.
    pub(crate) resolved: bool,
    /// Whether added numbers are secret until the round ends.
    pub(crate) secret: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Relay {
    pub(crate) setup: Setup,
    pub(crate) round: u8,
    done: Vec<bool>,
    sums: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Move {
    Add(u8),
    Done,
    Resolve,
}

reasons! {
    pub(crate) enum Fault {
        RoundEnded = Ruling::of("round_ended", &[]).says("you are done"),
        NotYourTurn = Ruling::of("not_your_turn", &[]).says("others come first"),
        TooMuch = Ruling::of("too_much", &[]).says("that is too much"),
        NotAllDone = Ruling::of("not_all_done", &[]).says("a seat is not done"),
    }
}

impl Relay {
    pub(crate) fn new(setup: Setup) -> Self {
        let seats = usize::from(setup.seats);
        Self { setup, round: 0, done: vec![false; seats], sums: vec![0; seats] }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.round >= self.setup.rounds
    }

    /// Returns what is wrong with a command of the player with this index, or of the host.
    pub(crate) fn judge(&self, seat: Option<usize>, command: Move) -> Result<(), Fault> {
        let Some(seat) = seat else {
            let is_right = self.setup.resolved && self.done.iter().all(|done| *done);
            return if is_right { Ok(()) } else { Err(Fault::NotAllDone) };
        };
        match command {
            _ if self.done[seat] => Err(Fault::RoundEnded),
            _ if !self.setup.at_once && !self.done[..seat].iter().all(|done| *done) => {
                Err(Fault::NotYourTurn)
            }
            Move::Add(value) if value > ADD_MAX => Err(Fault::TooMuch),
            _ => Ok(()),
        }
    }

    pub(crate) fn carry_out(&mut self, seat: Option<usize>, command: Move) {
        match (seat, command) {
            (Some(seat), Move::Add(value)) => self.sums[seat] += u64::from(value),
            (Some(seat), _) => self.done[seat] = true,
            (None, _) => self.end_round(),
        }
        if !self.setup.resolved && self.done.iter().all(|done| *done) {
            self.end_round();
        }
    }

    fn end_round(&mut self) {
        self.round += 1;
        self.done.fill(false);
    }

    /// Applies a command if the game accepts it.
    pub(crate) fn give(&mut self, seat: Option<usize>, command: Move) -> bool {
        let takes = !self.is_over() && self.judge(seat, command).is_ok();
        if takes {
            self.carry_out(seat, command);
        }
        takes
    }

    pub(crate) fn has_legal(&self, seat: usize) -> bool {
        !self.is_over() && self.judge(Some(seat), Move::Done).is_ok()
    }
}
