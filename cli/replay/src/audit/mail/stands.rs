//! What stands say of the game: where it stands, in which state, and who is asked (PM-13, PM-14).

use turnfold_core::paper::LineName;
use turnfold_core::rules::desk::{Secret, Setup};
use turnfold_core::{AnyState, DicePolicy, Seat};

use super::segment::Segment;
use crate::entry::stored;
use crate::mail::{Round, TurnEnd, TurnRecord};

/// The stands of a match so far.
#[derive(Default)]
pub(super) struct Stands {
    /// Line and entry of each, and who was asked.
    rounds: Vec<(LineName, u64, Round)>,
    /// Where everything up to there was shown to everybody: the line, the entry and the game. What was shown once stays so.
    shown: Option<(LineName, u64, Box<dyn AnyState>)>,
}

/// What came of a turn.
pub(super) struct TurnResult<'a> {
    /// The game after it.
    pub(super) game: &'a dyn AnyState,
    /// The seats that still play.
    pub(super) living: &'a [Seat],
    /// The seats that played in it, by an order or by default.
    pub(super) played: &'a [Seat],
    /// A command of `between` was applied.
    pub(super) ends_round: bool,
}

impl Stands {
    /// Requires a stand to say what is so of the game after a turn.
    ///
    /// # Errors
    /// What it says that is not so.
    pub(super) fn check(
        &mut self,
        segment: &Segment<'_>,
        stand: &TurnRecord,
        result: &TurnResult<'_>,
        setup: &Setup,
    ) -> Result<(), String> {
        if segment.link != Some(stand.link) {
            return Err("the stand has another link than the game at its entry".into());
        }
        if stand.state.is_some_and(|state| state != result.game.state_hash()) {
            return Err("the stand has another state hash than the game at its entry".into());
        }
        // PM-13
        let is_told = setup.secret != Secret::Match && self.is_shown(segment, stand, result.game);
        match (is_told, stand.state.is_some()) {
            (true, false) => return Err("the stand has no state hash, and nothing is concealed".into()),
            (false, true) => return Err("the stand has a state hash, and something is concealed".into()),
            _ => {}
        }
        // PM-14
        let turn = segment.turn;
        let from = if turn.is_takeback {
            let (line, seq) = &turn.from;
            self.rounds.iter().find(|(on, at, _)| on == line && at == seq)
        } else {
            self.rounds.last()
        };
        let TurnResult { living, ends_round, played, .. } = *result;
        let end = TurnEnd {
            from: from.map(|(.., round)| round),
            is_takeback: turn.is_takeback,
            ends_round,
            played,
        };
        let expected = Round::after(end, setup.together, living, result.game);
        if expected.seats != stand.seats {
            let (expected, found) = (names(&expected.seats), names(&stand.seats));
            return Err(format!("the stand asks {found}; {expected} had to be asked"));
        }
        self.rounds.push((stand.line.clone(), stand.game_seq, expected));
        Ok(())
    }

    /// Whether all players may know every part of every entry up to a stand.
    fn is_shown(&mut self, segment: &Segment<'_>, stand: &TurnRecord, game: &dyn AnyState) -> bool {
        let kept = self.shown.take_if(|(line, seq, _)| *line != stand.line || *seq > stand.game_seq);
        drop(kept);
        let (from, state) = match &self.shown {
            Some((_, seq, state)) => (*seq, state.fork()),
            None => (0, segment.beginning.fork()),
        };
        let entries = segment.line.between(from, stand.game_seq);
        let log = stored(entries.iter().copied());
        let is_shown_to = |seat: &Seat| {
            let mut is_shown = true;
            let shows = &mut |step: &mut dyn turnfold_core::Step| is_shown &= step.wholly_shown();
            state.fork().fold_as(*seat, &log, &DicePolicy::Recorded, shows).is_ok() && is_shown
        };
        let is_shown = game.players().iter().all(is_shown_to);
        if is_shown {
            self.shown = Some((stand.line.clone(), stand.game_seq, game.fork()));
        }
        is_shown
    }
}

fn names(seats: &[Seat]) -> String {
    let names: Vec<&str> = seats.iter().map(|seat| seat.name()).collect();
    if names.is_empty() { "no one".into() } else { names.join(", ") }
}
