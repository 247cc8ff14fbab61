//! `turnfold game perft`: counts the command sequences that the rules offer from a setup.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;
use turnfold_core::{AnyState, CommandSource, DicePolicy, Logged, Seat};

use crate::commands::new::GameArgs;
use crate::commands::show::require_legal;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::limits::PERFT_STATES_MAX;
use crate::output::{dim, plain};
use crate::stderr;

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

/// The counts of sequences and states at a depth.
#[derive(Clone, Copy, Debug, Serialize)]
struct Level {
    depth: u32,
    /// The sequences of this length.
    sequences: u64,
    /// The distinct states at their ends.
    states: u64,
}

/// The number of sequences that begin with one first command.
#[derive(Serialize)]
struct Share {
    seat: Seat,
    command: String,
    sequences: u64,
}

type Reached = (Box<dyn AnyState>, u64);

/// What determines the continuation: the hash of a state and, with seeded dice, the number of rolls so far.
type Key = ([u8; 32], u64);

/// The distinct states at a depth, each with the number of sequences that lead to it, so that each is expanded once.
type Frontier = BTreeMap<Key, Reached>;

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
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
    let divide = args.divide.then(|| count.divide(state.as_ref(), args.depth)).transpose()?;
    let mut counted =
        json!({ "ruleset": game.rules.name(), "version": game.rules.version(), "depths": depths });
    if let (Some(shares), Some(members)) = (&divide, counted.as_object_mut()) {
        members.insert("divide".into(), json!(shares));
    }
    context.output.answer(&counted, || {
        let shares = divide.iter().flatten().map(|Share { seat, command, sequences }| {
            let command = format!(" {command} ");
            let sequences = format!(" {sequences}");
            [dim(format_args!("{seat}:")), plain(command), dim("=>"), plain(sequences)].into()
        });
        let levels = depths.iter().map(|Level { depth, sequences, states }| {
            let [depth, sequences, states] =
                [format!(" {depth} "), format!(" {sequences} "), format!(" {states}")].map(plain);
            [dim("depth"), depth, dim("sequences"), sequences, dim("states"), states].into()
        });
        shares.chain(levels).collect()
    })
}

/// Counts sequences under a dice policy.
struct Count {
    dice: DicePolicy,
    /// Whether commands of the host other than due rolls are left out.
    without_host: bool,
}

impl Count {
    /// Counts the sequences from a state that end at each depth from `first` to `last`.
    fn levels(&self, state: Box<dyn AnyState>, first: u32, last: u32) -> Result<Vec<Level>, Failure> {
        let mut frontier = Frontier::from([(self.key(state.as_ref()), (state, 1))]);
        let mut levels = Vec::new();
        for depth in first..=last {
            frontier = self.next(&frontier, depth)?;
            let sequences = frontier.values().try_fold(0_u64, |sum, (_, count)| sum.checked_add(*count));
            let sequences = sequences.ok_or_else(|| too_many_sequences(depth))?;
            levels.push(Level { depth, sequences, states: frontier.len() as u64 });
        }
        Ok(levels)
    }

    /// Returns the states that one more command leads to.
    fn next(&self, frontier: &Frontier, depth: u32) -> Result<Frontier, Failure> {
        let progress = stderr::progress(
            frontier.len() as u64,
            &format!("depth {depth} {{bar:30}} {{pos}}/{{len}} {{eta}}"),
        );
        let mut next = Frontier::new();
        for (state, count) in frontier.values() {
            for (seat, command) in self.offers(state.as_ref()) {
                let after = self.play(state.as_ref(), depth, seat, &command)?;
                let (_, sequences) = next.entry(self.key(after.as_ref())).or_insert((after, 0));
                *sequences = sequences.checked_add(*count).ok_or_else(|| too_many_sequences(depth))?;
                if next.len() > PERFT_STATES_MAX {
                    return Err(Failure::usage(format!(
                        "more than {PERFT_STATES_MAX} distinct states at depth {depth}"
                    ))
                    .hint("choose a smaller depth or a smaller setup"));
                }
            }
            progress.inc(1);
        }
        progress.finish_and_clear();
        Ok(next)
    }

    fn key(&self, state: &dyn AnyState) -> Key {
        let rolls = if matches!(self.dice, DicePolicy::Seeded(_)) { state.rolls() } else { 0 };
        (*state.state_hash().as_bytes(), rolls)
    }

    /// Returns the commands of all seats that are legal now. A due seeded roll is the only command.
    fn offers(&self, state: &dyn AnyState) -> Vec<(Seat, String)> {
        let due = state.seeded_roll(&self.dice);
        if let Some(roll) = due.and_then(|values| state.roll_command(values)) {
            return vec![(Seat::Host, roll)];
        }
        let gives_host = !self.without_host || state.due_roll().is_some();
        let seats = state.players().iter().copied().chain(gives_host.then_some(Seat::Host));
        seats
            .flat_map(|seat| state.legal_at_random(seat).into_iter().map(move |command| (seat, command)))
            .collect()
    }

    fn play(
        &self,
        state: &dyn AnyState,
        seq: u32,
        seat: Seat,
        command: &str,
    ) -> Result<Box<dyn AnyState>, Failure> {
        let mut after = state.fork();
        let entry = Logged { seq: seq.into(), seat, command: CommandSource::Text(command) };
        let refused =
            |error| Failure::trouble(format!("`{seat}: {command}` is offered but refused: {error}"));
        after.fold(&[entry], &self.dice, &mut |_| {}).map_err(refused)?;
        Ok(after)
    }

    /// Counts, for each first command, the sequences of length `depth` that begin with it.
    fn divide(&self, state: &dyn AnyState, depth: u32) -> Result<Vec<Share>, Failure> {
        let share = |(seat, command): (Seat, String)| {
            let after = self.play(state, 1, seat, &command)?;
            let sequences = self.levels(after, 2, depth)?.last().map_or(1, |level| level.sequences);
            Ok(Share { seat, command, sequences })
        };
        self.offers(state).into_iter().map(share).collect()
    }
}

fn too_many_sequences(depth: u32) -> Failure {
    Failure::usage(format!("more than {} sequences at depth {depth}", u64::MAX))
        .hint("choose a smaller depth")
}
