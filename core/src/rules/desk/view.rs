//! What everybody sees of a desk (PM-24). Orders are no part of it, so every seat sees the same.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;

use super::state::{Phase, SeatState, State};
use crate::digest::Digest;
use crate::paper::{DeskTime, LineName};
use crate::seat::Seat;

/// The view; fields are named and ordered as in the ruling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct View {
    pub phase: &'static str,
    pub turn: u32,
    pub clock: Option<DeskTime>,
    pub deadline: Option<DeskTime>,
    pub stand: Option<StandView>,
    pub seats: Vec<SeatView>,
    pub offers: Vec<OfferView>,
    pub result: Option<String>,
}

/// Where the game stood when the turn began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct StandView {
    pub line: LineName,
    pub seq: u64,
    pub link: Digest,
    pub state: Option<Digest>,
}

/// A seat and its player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct SeatView {
    pub seat: Seat,
    pub name: Option<String>,
    pub status: Option<&'static str>,
    pub misses: u32,
    pub gone: bool,
    pub plain: bool,
    pub absent: Option<DeskTime>,
}

/// An open offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct OfferView {
    pub seat: Seat,
    pub digest: Digest,
    pub offer: String,
    pub agreed: Vec<Seat>,
}

impl View {
    pub(super) fn of(state: &State) -> Self {
        let stand = state.stands.last().zip(state.stand).map(|(standing, stand)| StandView {
            line: standing.line.clone(),
            seq: standing.seq,
            link: stand.link,
            state: stand.state,
        });
        let offers = state.offers.iter().map(|(seat, open)| OfferView {
            seat: *seat,
            digest: open.digest,
            offer: open.offer.to_string(),
            agreed: open.agreed.iter().copied().collect(),
        });
        Self {
            phase: phase_word(state.phase),
            turn: state.turn(),
            clock: state.clock,
            deadline: state.deadline(),
            stand,
            seats: state.named_seats().map(|(seat, own)| SeatView::of(state, seat, own)).collect(),
            offers: offers.collect(),
            result: if let Phase::Over(result) = state.phase { Some(result.to_string()) } else { None },
        }
    }
}

impl SeatView {
    fn of(state: &State, seat: Seat, own: &SeatState) -> Self {
        Self {
            seat,
            name: state.name_of(seat).map(Into::into),
            status: own.asked.word(),
            misses: own.misses,
            gone: own.gone,
            plain: own.is_plain(),
            absent: state.clock.and_then(|clock| own.absent_beyond(clock)),
        }
    }
}

const fn phase_word(phase: Phase) -> &'static str {
    match phase {
        Phase::Joining => "joining",
        Phase::Open => "open",
        Phase::Ready => "ready",
        Phase::Over(_) => "over",
    }
}
