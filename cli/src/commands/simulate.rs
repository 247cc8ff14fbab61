//! `turnfold simulate`: random legal play.

use std::path::PathBuf;

use serde_json::json;
use turnfold_core::{AnyState, DicePolicy, FoldError, Simulation, Step};
use turnfold_replay::{
    Passed, Replay, history::find_rules, history::revision::new_match_name, tfl::ReplayOrigin,
};
use turnfold_store::{MatchName, NewEntry, SNAPSHOT_INTERVAL};

use super::new::{Dice, Game, genesis, read_setup_or_example};
use crate::clock;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files::NewFile;
use crate::output::{Line, counted, dim, plain, strong};
use crate::stderr::progress;

/// Play at random, for logs of any length
///
/// Draws each command from those that the rules apply, by the seed, and makes due rolls. The same seed gives the same
/// replay file, byte for byte, on every machine. Play ends early when the match is over.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold simulate --rules cycletap --seed 7 --steps 2000 -o random.tfl\n\
    With `--dice seeded`, the seed of the dice is derived from `--seed`.")]
pub(crate) struct Args {
    /// The ruleset
    #[arg(long)]
    rules: String,

    /// The setup, a TOML file [default: the ruleset's example]
    #[arg(long, value_name = "FILE")]
    setup: Option<PathBuf>,

    /// Where rolls come from
    #[arg(long, value_enum, default_value_t = Dice::Recorded)]
    dice: Dice,

    /// Seed of the random play
    #[arg(long, value_name = "N")]
    seed: u64,

    /// How many entries to play
    #[arg(long, value_name = "N")]
    steps: u32,

    /// Create a match in the store instead of a file
    #[arg(long, value_name = "MATCH", conflicts_with = "output", value_parser = new_match_name)]
    into: Option<MatchName>,

    #[command(flatten)]
    file: NewFile,
}

/// A match to be played at random.
struct Play {
    game: Game,
    simulation: Simulation,
    steps: u64,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let rules = find_rules(&args.rules, &context.registry)?;
    args.file.path()?;
    let setup = read_setup_or_example(&*rules, args.setup.as_deref())?;
    let simulation = Simulation::new(args.seed);
    let dice = match args.dice {
        Dice::Recorded => DicePolicy::Recorded,
        Dice::Seeded => DicePolicy::Seeded(simulation.dice_seed()),
    };
    let play = Play {
        game: Game { module: rules.module(), rules: rules.clone(), setup, dice },
        simulation,
        steps: args.steps.into(),
    };
    let title = format!("random play, seed {}", args.seed);
    let (state, entries, replay) = if let Some(name) = &args.into {
        let (state, entries) = play.into_store(name, title, context)?;
        (state, entries, None)
    } else {
        let (state, replay) = play.into_replay(&title)?;
        (state, replay.closing.map_or(0, |closing| closing.count), Some(replay.to_string()))
    };
    let file = replay.as_deref().map_or(Ok(None), |replay| args.file.write(replay))?;
    let (is_over, hash) = (entries < u64::from(args.steps), state.state_hash());
    let simulated = json!({
        "ruleset": rules.name(),
        "version": rules.version(),
        "seed": args.seed,
        "entries": entries,
        "over": is_over,
        "state_hash": hash,
        "match": args.into.as_ref().map(MatchName::as_str),
        "file": file,
        "replay": replay.as_deref().filter(|_| file.is_none()),
    });
    let line = |file: &str| {
        let into = match &args.into {
            Some(name) => [plain("match "), strong(name)],
            None => [plain("`"), plain(format_args!("{file}`"))],
        };
        let played = format!("played {} at random into ", counted(entries, "entry", "entries"));
        let over = plain(if is_over { ", then the match was over " } else { " " });
        Line::from(played).join(into.into()).then(over).then(dim(format_args!("#{hash:.16}")))
    };
    match &replay {
        Some(text) => context.output.answer_with_text(&simulated, text, file.as_deref(), line)?,
        None => context.output.show(&simulated, || vec![line("")])?,
    }
    Ok(ExitStatus::Yes)
}

impl Play {
    /// Plays to the end, showing each entry and the progress, and noting the snapshots that are due.
    fn play(
        &self,
        passed: &mut Passed,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<Box<dyn AnyState>, Failure> {
        let bar = progress(self.steps, "playing {bar:30} {pos}/{len} entries {eta}");
        let mut state = self.game.start()?;
        let refused = |error: FoldError| Failure::trouble(format!("the rules refuse what is legal: {error}"));
        let observe = &mut |step: &mut dyn Step| {
            observe(step);
            bar.inc(1);
        };
        let (mut head, mut is_over) = (0, false);
        while head < self.steps && !is_over {
            let count = SNAPSHOT_INTERVAL.min(self.steps - head);
            let played = self.simulation.play(state.as_mut(), &self.game.dice, head + 1, count, observe);
            let played = played.map_err(refused)?;
            head += played;
            is_over = played < count;
            passed.note(head, state.as_ref());
        }
        Ok(state)
    }

    fn into_replay(self, title: &str) -> Result<(Box<dyn AnyState>, Replay), Failure> {
        let Game { rules, module, setup, dice } = &self.game;
        let unwritable = |error: turnfold_core::SetupError| Failure::usage(error.to_string());
        let mut replay = Replay::compose(
            "random play",
            ReplayOrigin { rules, module: *module, dice: *dice, title },
            setup,
            None,
        )
        .map_err(unwritable)?;
        let state = self.play(&mut Passed::default(), &mut |step| replay.record(step, None))?;
        replay.close(state.state_hash());
        Ok((state, replay))
    }

    /// Creates the match with all its entries, or not at all.
    fn into_store(
        self,
        name: &MatchName,
        title: String,
        context: &Context,
    ) -> Result<(Box<dyn AnyState>, u64), Failure> {
        let recorded_at_ms = clock::now_ms()?;
        let mut entries = Vec::new();
        let mut passed = Passed::default();
        let state = self.play(&mut passed, &mut |step| {
            entries.push(NewEntry { seat: step.seat(), command: step.command_bytes(), recorded_at_ms });
        })?;
        let count = entries.len() as u64;
        let store = context.open_or_create_store()?;
        let rules = self.game.rules.clone();
        store.create_match(name, &genesis(self.game, title)?, entries)?;
        passed.keep(name, &*rules, context, &store);
        Ok((state, count))
    }
}
