//! Fair dice as the desk keeps them (FD-8 to FD-10, FD-15, FD-17 of `dice.md`): what each party has opened of its chain.

use super::element::SeatDice;
use super::state::State;
use crate::dice::fair::Owner;
use crate::digest::Digest;
use crate::seat::Seat;

impl State {
    fn owner(&self, party: Seat) -> Owner {
        Owner { match_id: *self.match_id.as_bytes(), party }
    }

    /// FD-8: whether an order of this turn may carry this element, or none.
    pub(super) fn is_right_element(&self, seat: Seat, turn: u16, element: Option<&Digest>) -> bool {
        let dice = self.seat(seat).and_then(|seat| seat.dice).filter(|dice| !dice.ended);
        match (dice, element) {
            (None, None) => true,
            (Some(SeatDice { known, .. }), Some(element)) if known.index == turn => known.element == *element,
            (Some(SeatDice { known, .. }), Some(element)) => {
                self.owner(seat).follows(element, turn, &known.element, known.index)
            }
            _ => false,
        }
    }

    /// FD-10: whether this is the next roll, with the element that the host opens for it.
    pub(super) fn is_next_roll(&self, number: u16, element: &Digest) -> bool {
        let Some(last) = self.host_element else { return false };
        last.index.checked_add(1) == Some(number)
            && self.owner(Seat::Host).follows(element, number, &last.element, last.index)
    }

    /// FD-9: the contributions of the turn, before anything of it is carried out. A seat that opened nothing keeps what it
    /// had, so no player stops or delays a roll (FD-13).
    pub(super) fn renew_contributions(&mut self) {
        for seat in &mut self.seats {
            if let (Some(dice), Some(chosen)) = (&mut seat.dice, seat.asked.element())
                && chosen.index > dice.contribution.index
            {
                dice.contribution = chosen;
            }
        }
    }
}
