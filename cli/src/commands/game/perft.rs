//! `turnfold game perft`: counts the command sequences that the rules offer from a setup.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, json};
use turnfold_core::{AnyState, CommandSource, DicePolicy, Logged, Seat};

use crate::commands::new::GameArgs;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::matches::require_legal;
use crate::output::{dim, plain};
use crate::stderr;

/// The most distinct states that are held at one depth.
const STATES_MAX: usize = 1_000_000;

/// Count the command sequences that the rules offer from a setup
///
/// A sequence is a series of commands by any seat, including the host, which `legal` offers one after another.
/// Arguments without a bound are sampled as `legal` does, and so are due rolls; seeded dice have only the roll of the seed.
/// For each length, the sequences and the distinct states at their ends are counted.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: turnfold game perft --rules cycletap --setup small-board --depth 4 --divide"
)]
pub(crate) struct Args {
    #[command(flatten)]
    game: GameArgs,

    /// The length of the longest sequences
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    depth: u32,

    /// Leave out the commands of the host, such as ticks, except rolls that are due
    #[arg(long)]
    without_host: bool,

    /// Show for each first command how many of the longest sequences begin with it
    #[arg(long)]
    divide: bool,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Level {
    depth: u32,
    sequences: u64,
    states: u64,
}

#[derive(Serialize)]
struct Share {
    seat: Seat,
    command: String,
    sequences: u64,
}

/// The distinct states at a depth, each with the number of sequences that lead to it, so that each is expanded once.
/// The key is what determines the continuation: the hash of a state and, with seeded dice, the number of rolls so far.
type Frontier = BTreeMap<([u8; 32], u64), (Box<dyn AnyState>, u64)>;

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    if args.game.draws_a_seed() {
        return Err(
            Failure::usage("the count depends on the seed, and none is given").hint("name one with `--seed`")
        );
    }
    let game = args.game.read(context)?;
    let state = game.start()?;
    require_legal(&*state)?;
    let count = Count { dice: game.dice, without_host: args.without_host };
    let depths = count.levels(state.fork(), 1, args.depth)?;
    let mut counted = Map::new();
    counted.insert("ruleset".into(), json!(game.rules.name()));
    counted.insert("version".into(), json!(game.rules.version()));
    counted.insert("depths".into(), json!(depths));
    let mut shares = Vec::new();
    if args.divide {
        for (seat, command) in count.offers(state.as_ref()) {
            let after = count.play(state.as_ref(), 1, seat, &command)?;
            let sequences = count.levels(after, 2, args.depth)?.last().map_or(1, |level| level.sequences);
            shares.push(Share { seat, command, sequences });
        }
        counted.insert("divide".into(), json!(shares));
    }
    context.output.answer(&counted, || {
        let mut lines = Vec::new();
        for Share { seat, command, sequences } in &shares {
            let command = plain(format_args!(" {command} "));
            let sequences = plain(format_args!(" {sequences}"));
            lines.push([dim(format_args!("{seat}:")), command, dim("=>"), sequences].into());
        }
        for Level { depth, sequences, states } in &depths {
            let depth = plain(format_args!(" {depth} "));
            let sequences = plain(format_args!(" {sequences} "));
            let states = plain(format_args!(" {states}"));
            lines.push([dim("depth"), depth, dim("sequences"), sequences, dim("states"), states].into());
        }
        lines
    })
}

struct Count {
    dice: DicePolicy,
    without_host: bool,
}

impl Count {
    fn levels(&self, state: Box<dyn AnyState>, first: u32, last: u32) -> Result<Vec<Level>> {
        let mut frontier = Frontier::from([(self.key(state.as_ref()), (state, 1))]);
        let mut levels = Vec::new();
        for depth in first..=last {
            let template = format!("depth {depth} {{bar:30}} {{pos}}/{{len}} {{eta}}");
            let progress = stderr::progress(frontier.len() as u64, &template);
            let mut next = Frontier::new();
            for (state, count) in frontier.values() {
                for (seat, command) in self.offers(state.as_ref()) {
                    let after = self.play(state.as_ref(), depth, seat, &command)?;
                    let (_, sequences) = next.entry(self.key(after.as_ref())).or_insert((after, 0));
                    *sequences = sequences.checked_add(*count).ok_or_else(|| too_many_sequences(depth))?;
                    if next.len() > STATES_MAX {
                        let message = format!("more than {STATES_MAX} distinct states at depth {depth}");
                        return Err(Failure::usage(message).hint("choose a smaller depth or a smaller setup"));
                    }
                }
                progress.inc(1);
            }
            progress.finish_and_clear();
            frontier = next;
            let mut sequences = 0_u64;
            for (_, count) in frontier.values() {
                sequences = sequences.checked_add(*count).ok_or_else(|| too_many_sequences(depth))?;
            }
            levels.push(Level { depth, sequences, states: frontier.len() as u64 });
        }
        Ok(levels)
    }

    fn key(&self, state: &dyn AnyState) -> ([u8; 32], u64) {
        let rolls = if matches!(self.dice, DicePolicy::Seeded(_)) { state.rolls() } else { 0 };
        (*state.state_hash().as_bytes(), rolls)
    }

    /// Returns the commands of all seats that are legal now. A due seeded roll is the only command.
    fn offers(&self, state: &dyn AnyState) -> Vec<(Seat, String)> {
        if let Some(values) = state.seeded_roll(&self.dice)
            && let Some(roll) = state.roll_command(values)
        {
            return vec![(Seat::Host, roll)];
        }
        let mut seats = state.players().to_vec();
        if !self.without_host || state.due_roll().is_some() {
            seats.push(Seat::Host);
        }
        let mut offers = Vec::new();
        for seat in seats {
            for command in state.legal_at_random(seat) {
                offers.push((seat, command));
            }
        }
        offers
    }

    fn play(&self, state: &dyn AnyState, seq: u32, seat: Seat, command: &str) -> Result<Box<dyn AnyState>> {
        let mut after = state.fork();
        let entry = Logged { seq: seq.into(), seat, command: CommandSource::Text(command) };
        match after.fold(&[entry], &self.dice, &mut |_| {}) {
            Ok(()) => Ok(after),
            Err(error) => {
                Err(Failure::trouble(format!("`{seat}: {command}` is offered but refused: {error}")))
            }
        }
    }
}

fn too_many_sequences(depth: u32) -> Failure {
    Failure::usage(format!("more than {} sequences at depth {depth}", u64::MAX))
        .hint("choose a smaller depth")
}
