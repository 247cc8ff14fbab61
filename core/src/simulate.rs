//! Random legal play, the same on every machine and in every release.
//!
//! For benches, fuzzing, demonstrations and long logs: [`Simulation`] plays any ruleset from any state, without knowing
//! the game.

use alloc::string::String;
use alloc::vec::Vec;

use crate::any::{AnyState, CommandSource, FoldError, Logged, Step};
use crate::dice::{DicePolicy, DiceStream, Seed};
use crate::seat::Seat;

/// Random legal play from a seed.
///
/// Entry n depends only on the seed, n and the state before it, so play can continue from any state. A due roll is
/// made: by the match's dice if they are seeded, otherwise from the seed of the play. If no roll is due, a seat is
/// drawn from the players and the host that have a legal command, and then one of its legal commands:
///
/// - every seat is equally likely, so that the many commands of a player do not crowd out the ticks of the host;
/// - one time in four a kind of command (a variant of the ruleset's enum) is drawn first and then one of that kind,
///   so that the many hexes of a board do not crowd out everything else; and only one time in four, so that planning
///   does not end with its first command wherever a command ends it;
/// - the other times every command is equally likely.
///
/// Commands that the ruleset leaves out at random ([`left_out_at_random`](crate::Rules::left_out_at_random)) are not drawn.
///
/// If a ruleset samples its candidates, play knows only the sample. A ruleset that lists other candidates, or the same
/// in another order, is played differently under the same seed.
#[derive(Clone, Debug)]
pub struct Simulation {
    key: [u8; 32],
}

/// One draw in this number picks among kinds of commands, not among commands.
const KINDS_ONE_IN: i32 = 4;

impl Simulation {
    /// Returns the play of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { key: blake3::derive_key("turnfold v1 simulate", &seed.to_le_bytes()) }
    }

    /// Returns a seed for the dice of a match, so that the whole match follows from the seed of its play.
    #[must_use]
    pub fn dice_seed(&self) -> Seed {
        Seed::new(blake3::derive_key("turnfold v1 simulate dice", &self.key))
    }

    /// Draws entry `seq`, or `None` if no seat has a legal command: the match is over.
    #[must_use]
    pub fn draw(&self, state: &dyn AnyState, dice: &DicePolicy, seq: u64) -> Option<(Seat, String)> {
        let mut chance = DiceStream::new(&self.key, seq);
        let Some(due) = state.due_roll() else { return state.random_command(&mut chance) };
        let values = state.seeded_roll(dice).unwrap_or_else(|| chance.values(&due));
        Some((Seat::Host, state.roll_command(values)?))
    }

    /// Plays up to `count` entries from `seq` on and passes each to `observe`; returns how many there were before the
    /// match was over.
    ///
    /// # Errors
    /// [`FoldError`] when the fold refuses what `judge` would apply, which is a bug in the ruleset.
    pub fn play(
        &self,
        state: &mut dyn AnyState,
        dice: &DicePolicy,
        seq: u64,
        count: u64,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<u64, FoldError> {
        for played in 0..count {
            let seq = seq.saturating_add(played);
            let Some((seat, command)) = self.draw(state, dice, seq) else { return Ok(played) };
            let entry = Logged { seq, seat, command: CommandSource::Text(&command) };
            state.fold(&[entry], dice, observe)?;
        }
        Ok(count)
    }
}

/// Draws a seat that has a legal command, and one of its legal commands, as [`Simulation`] describes. `candidates` lists
/// what a seat chooses from, `kind` returns the kind of a command, and `is_legal` judges it.
///
/// Candidates are drawn without replacement until `judge` applies one. So every legal command is as likely as if all
/// were listed, and mostly only a few are judged.
pub fn random_command<C, K: PartialEq>(
    players: &[Seat],
    chance: &mut DiceStream,
    candidates: impl Fn(Seat) -> Vec<C>,
    kind: impl Fn(&C) -> K,
    is_legal: impl Fn(Seat, &C) -> bool,
) -> Option<(Seat, C)> {
    let mut seats: Vec<Seat> = players.iter().copied().chain([Seat::Host]).collect();
    while let Some(seat) = draw(&mut seats, chance) {
        let candidates = candidates(seat);
        let among_kinds = chance.draw(1, KINDS_ONE_IN) == 1;
        let mut groups = if among_kinds { by_kind(candidates, &kind) } else { Vec::from([candidates]) };
        while let Some(mut group) = draw(&mut groups, chance) {
            while let Some(command) = draw(&mut group, chance) {
                if is_legal(seat, &command) {
                    return Some((seat, command));
                }
            }
        }
    }
    None
}

/// Groups commands by their kind, in the order in which the kinds first appear.
fn by_kind<C, K: PartialEq>(commands: Vec<C>, kind: impl Fn(&C) -> K) -> Vec<Vec<C>> {
    let mut kinds: Vec<(K, Vec<C>)> = Vec::new();
    for command in commands {
        let kind = kind(&command);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, group)) => group.push(command),
            None => kinds.push((kind, Vec::from([command]))),
        }
    }
    kinds.into_iter().map(|(_, group)| group).collect()
}

/// Removes one of the items, every one equally likely.
fn draw<T>(items: &mut Vec<T>, chance: &mut DiceStream) -> Option<T> {
    let last = items.len().checked_sub(1)?;
    let index = chance.draw(0, i32::try_from(last).unwrap_or(i32::MAX));
    Some(items.swap_remove(usize::try_from(index).unwrap_or_default()))
}
