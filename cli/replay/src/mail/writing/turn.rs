//! The turn as a bundle shows it: its position, who has still to seal, what is offered (PM-16, PM-28).
//!
//! Orders of others may be left out, so what is read here is never left out, and who owes a seal is read from it only
//! where the desk cannot be folded.

use turnfold_core::paper::{DeskTime, LineName, Offer, PaperContent};
use turnfold_core::rules::desk::{Command, Missed};
use turnfold_core::{Digest, Seat};

use super::delivery::ReceivedBundle;

/// The turn of now.
#[derive(Clone, Debug)]
pub(super) struct DeliveredTurn {
    /// Its number: how many stands there are.
    pub(super) turn: u32,
    pub(super) stand: Option<DeliveredStand>,
    /// The host's clock.
    pub(super) clock: Option<DeskTime>,
}

/// The last stand.
#[derive(Clone, Debug)]
pub(super) struct DeliveredStand {
    seq: u64,
    since: Option<DeskTime>,
    pub(super) line: LineName,
    pub(super) game_seq: u64,
    pub(super) link: Digest,
    pub(super) seats: Vec<Seat>,
}

impl DeliveredTurn {
    pub(super) fn of(delivery: &ReceivedBundle) -> Self {
        let mut found = Self { turn: 0, stand: None, clock: None };
        for entry in &delivery.entries {
            match &entry.command {
                Command::Clock(at) => found.clock = Some(*at),
                Command::Stand { line, seq, link, seats, .. } => {
                    found.turn = found.turn.saturating_add(1);
                    found.stand = Some(DeliveredStand {
                        seq: entry.seq,
                        since: found.clock,
                        line: line.clone(),
                        game_seq: *seq,
                        link: *link,
                        seats: seats.as_slice().to_vec(),
                    });
                }
                _ => {}
            }
        }
        found
    }

    /// Returns `true` for a seat that must commit itself before it orders (PM-16).
    pub(super) fn must_seal(&self, delivery: &ReceivedBundle, seat: Seat) -> bool {
        let asked = self.stand.as_ref().map(|stand| stand.seats.as_slice()).unwrap_or_default();
        let terms = &delivery.terms;
        asked.len() >= 2 && asked.contains(&seat) && (terms.sealed || terms.hosted.contains(&seat))
    }

    /// Returns the seats that must and have not, unless they have missed the deadline for it. Where the desk could not be
    /// folded, no seat counts as late that may have sealed.
    pub(super) fn owing_seals(&self, delivery: &ReceivedBundle, reader: Seat) -> Vec<Seat> {
        let Some(stand) = &self.stand else { return Vec::new() };
        if let Some(owing) = &delivery.owing_seals {
            return owing.clone();
        }
        let deadline = stand.deadline(delivery, reader);
        if delivery.terms.missed == Missed::Default && self.clock >= deadline {
            return Vec::new();
        }
        let has_sealed = |seat: Seat| {
            delivery.papers().any(|(seq, signed)| {
                let (head, content) = (signed.paper().head(), signed.paper().content());
                let is_seal = matches!(content, PaperContent::Seal { link, .. } if *link == stand.link);
                seq > stand.seq && is_seal && head.seat == seat && head.turn == self.turn
            })
        };
        let asked = stand.seats.iter().copied();
        asked.filter(|seat| self.must_seal(delivery, *seat) && !has_sealed(*seat)).collect()
    }

    /// Returns the digests of this turn's offers that begin with these digits.
    pub(super) fn offers<'a>(
        &self,
        delivery: &'a ReceivedBundle,
        digits: &str,
    ) -> Vec<(Digest, Seat, &'a Offer)> {
        let offers = delivery.papers().filter_map(|(_, signed)| match signed.paper().content() {
            PaperContent::Offer(offer) if signed.paper().head().turn == self.turn => {
                Some((signed.paper().digest(), signed.paper().head().seat, offer))
            }
            _ => None,
        });
        offers.filter(|(digest, ..)| digest.to_string().starts_with(digits)).collect()
    }
}

impl DeliveredStand {
    /// Returns the latest deadline that the turn may have had: an offer to move it needs the reader's consent, and one of its
    /// own that of another.
    fn deadline(&self, delivery: &ReceivedBundle, reader: Seat) -> Option<DeskTime> {
        let since = self.since.map(|since| since.after_hours(delivery.terms.hours));
        let agreed = |to: Digest, offered_by: Seat| {
            let answer = PaperContent::Answer { to, agree: true };
            let mut papers = delivery.papers().map(|(_, signed)| signed.paper());
            papers
                .any(|paper| *paper.content() == answer && [offered_by, paper.head().seat].contains(&reader))
        };
        let behind = delivery.entries.iter().filter(|entry| entry.seq > self.seq);
        let moved = behind.filter_map(|entry| match &entry.command {
            Command::Extend { until, .. } => Some(*until),
            Command::Paper(signed) => match signed.paper().content() {
                PaperContent::Offer(Offer::Extend(until)) => {
                    agreed(signed.paper().digest(), signed.paper().head().seat).then_some(*until)
                }
                _ => None,
            },
            _ => None,
        });
        moved.chain(since).max()
    }
}
