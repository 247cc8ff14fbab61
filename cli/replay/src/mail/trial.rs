//! A trial of the terms of play before a match begins (PM-37): turns of the game in memory, played at random.

use turnfold_core::dice::DiceStream;
use turnfold_core::rules::desk::{Missed, Setup};
use turnfold_core::{AnyRules, DueRoll, Seat, SetupError};

use super::desk_turn::TurnPlan;
use super::game_turn::{GameTurn, PlayedRules};
use super::round::{Round, TurnEnd};
use crate::error::ReplayError;

/// The turns of a trial.
const TURNS: u32 = 20;
/// The most commands of an order that is played at random.
const ORDER_MAX: usize = 40;
/// The trials with orders at random, besides the one in which every seat misses every deadline.
const TRIALS: u64 = 3;

/// A trial of the terms in a game.
struct Trial<'a> {
    terms: &'a Setup,
    rules: PlayedRules<'a>,
    game: GameTurn<'a>,
    chance: DiceStream,
    /// Whether every seat misses every deadline.
    misses_all: bool,
    round: Option<Round>,
    turn: u32,
}

/// Plays 20 turns with these terms, several times, and refuses terms that stall, run over, or end with commands left.
///
/// # Errors
/// [`ReplayError::BadSetup`] naming `default` or `between`, and what is wrong with the game.
pub(super) fn try_terms(rules: &dyn AnyRules, setup: &[u8], terms: &Setup) -> Result<(), ReplayError> {
    for number in 0..=TRIALS {
        let chance = |label: &[u8]| DiceStream::new(&blake3::derive_key("turnfold v2 trial", label), number);
        let mut dice = chance(b"dice");
        let roll = move |due: &DueRoll| Ok((0..due.count).map(|_| dice.draw(due.low, due.high)).collect());
        let mut trial = Trial {
            terms,
            rules: PlayedRules::of(terms),
            game: GameTurn::new(rules.start(setup)?, 0, Box::new(roll)),
            chance: chance(b"orders"),
            misses_all: number == 0,
            round: None,
            turn: 0,
        };
        while trial.turn <= TURNS && trial.play_turn()? {
            trial.turn += 1;
        }
    }
    Ok(())
}

impl Trial<'_> {
    /// Plays a turn; turn 0 comes before the first position. Returns `false` once the game is over.
    fn play_turn(&mut self) -> Result<bool, ReplayError> {
        let living = Seat::players(self.terms.seats.into());
        let before = self.game.state().state_hash();
        let asked = self.round.as_ref().map(|round| round.seats.clone()).unwrap_or_default();
        let mut end = TurnEnd::default();
        if self.turn == 0 {
            self.game.roll_due()?;
        }
        for &seat in &asked {
            let misses =
                self.terms.missed != Missed::Wait && (self.misses_all || self.chance.draw(1, 4) == 1);
            let mut has_played = !misses && self.order(seat)?;
            // PM-80
            if misses || asked.len() > 1 {
                has_played |= self.miss(seat)?;
            }
            end.played.extend(has_played.then_some(seat));
        }
        let between = self.game.between(living, &[], !asked.is_empty(), self.rules)?;
        end.ends_round = between.ends_round;
        let by_host =
            between.played.iter().filter(|record| !crate::session::is_roll(&record.command)).count();
        let plan = TurnPlan::of_trial(self.turn, living);
        let round = Round::after(self.round.as_ref(), &plan, &end, self.terms.together, self.game.state());
        let state = self.game.state();
        if state.over() || state.result().is_some() {
            return Ok(false);
        }
        if round.seats.is_empty() {
            return self.end(living, by_host);
        }
        if self.misses_all && !asked.is_empty() && state.state_hash() == before {
            return Err(self.stalls(&asked));
        }
        self.round = Some(round);
        Ok(true)
    }

    fn order(&mut self, seat: Seat) -> Result<bool, ReplayError> {
        let mut count = 0;
        while count < ORDER_MAX && self.game.state().waits_for(seat) {
            let legal = self.game.state().legal_at_random(seat);
            let Some(last) = legal.len().checked_sub(1) else { break };
            let place = self.chance.draw(0, i32::try_from(last).unwrap_or(i32::MAX));
            let Some(command) = usize::try_from(place).ok().and_then(|place| legal.get(place)) else { break };
            self.game.order(seat, [command.as_str()])?;
            count += 1;
        }
        Ok(count > 0)
    }

    fn miss(&mut self, seat: Seat) -> Result<bool, ReplayError> {
        let played = self.game.default(seat, self.rules)?;
        let own = played.iter().filter(|record| record.seat == Some(seat));
        let commands: Vec<&str> = own.map(|record| record.command.as_str()).collect();
        // Before the 20th command the passes end because nothing applies: that is no endless row.
        if PlayedRules::left(commands.len()) > 0 || !self.game.state().waits_for(seat) {
            return Ok(!commands.is_empty());
        }
        let message = format!(
            "in turn {} of a trial {seat} missed the deadline, and {} commands did not end its turn: `{}` and so on; \
             list commands in the order in which they end a turn, or set `missed = \"wait\"`",
            self.turn,
            commands.len(),
            commands.iter().take(5).copied().collect::<Vec<_>>().join("`, `")
        );
        Err(SetupError::value("default", message).into())
    }

    /// The game asks no seat, so the match ends: that is right only if no commands are left.
    fn end(&self, living: &[Seat], by_host: usize) -> Result<bool, ReplayError> {
        let state = self.game.state();
        if PlayedRules::left(by_host) == 0 {
            let message = format!(
                "in turn {} of a trial {by_host} commands of the host did not bring the game to the next player; list \
                 commands that do",
                self.turn
            );
            return Err(SetupError::value("between", message).into());
        }
        let seats = [Seat::Host].into_iter().chain(living.iter().copied());
        let mut left = seats.flat_map(|seat| {
            let commands = state.legal_at_random(seat);
            commands.into_iter().map(move |command| (seat, command))
        });
        let Some((seat, command)) = left.next() else { return Ok(false) };
        let message = format!(
            "after turn {} of a trial the game waits for no player, but is not over: {seat} may still give `{command}`; \
             put the commands of the host that continue the game into `between`",
            self.turn
        );
        Err(SetupError::value("between", message).into())
    }

    fn stalls(&self, asked: &[Seat]) -> ReplayError {
        let state = self.game.state();
        let seat = asked.first().copied().unwrap_or(Seat::P1);
        let legal: Vec<String> = state.legal_at_random(seat).into_iter().take(5).collect();
        let message = format!(
            "the game stalls in turn {} of a trial: {seat} missed the deadline and no command of `default` applied; \
             {seat} may give `{}`; list commands that end the turn, or set `missed = \"wait\"`",
            self.turn,
            legal.join("`, `")
        );
        SetupError::value("default", message).into()
    }
}
