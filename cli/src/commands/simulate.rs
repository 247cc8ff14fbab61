//! `turnfold simulate`: plays without a store, at random or by a script.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;

use indicatif::ProgressBar;
use rayon::prelude::*;
use serde_json::json;
use turnfold_core::{AnyState, DicePolicy, Seed, Simulation, Step};
use turnfold_history::session::Session;
use turnfold_history::tfl::{Replay, ReplayOrigin};
use turnfold_history::{Detail, Passed, Record, Revision, Viewer};
use turnfold_show::render;
use turnfold_store::{MatchName, NewEntry, PackedEntries, SNAPSHOT_INTERVAL};

use super::new::{Dice, Game, RulesetArgs, genesis};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result, unless_fault};
use crate::files::{NewFile, check_new, write_unsynced};
use crate::matches::require_legal;
use crate::output::{Line, counted, dim, plain, strong};
use crate::stderr::progress;
use crate::{clock, files, random};

const SCRIPT: &str = "Options for given commands";

/// Play without a store, at random or by a script
///
/// With `--steps`, draws each command from those that the rules apply, by the seed, and makes due rolls. The same seed gives the same
/// replay file, byte for byte, on every machine. Play ends early when the match is over.
///
/// With `--count`, plays many matches, the first with `--seed` and each further one with the next seed. `-o` names a folder,
/// and each file in it is named by its seed, such as `7.tfl`.
///
/// With commands or `--script`, plays those in memory and prints their outcomes.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("play").required(true).args(["steps", "commands", "script"]),
    after_help = "Examples:\n  turnfold simulate --rules lifecycle advance move end\n  turnfold simulate --rules cycletap --seed 7 --steps 2000 -o random.tfl\n  \
    turnfold simulate --rules cycletap --seed 1 --steps 50 --count 1000 -o games\n\
    With `--dice seeded`, the seed of the dice is derived from `--seed`."
)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct Args {
    #[command(flatten)]
    ruleset: RulesetArgs,

    /// Where rolls come from
    #[arg(long, value_enum, default_value_t = Dice::Recorded)]
    dice: Dice,

    /// Seed of the random play; of given commands the seed of the dice, 64 hex digits
    #[arg(long, value_name = "N|HEX")]
    seed: Option<SeedArg>,

    /// How many entries to play at random
    #[arg(long, value_name = "N", requires = "seed")]
    steps: Option<u32>,

    /// Play this many matches, into a folder
    #[arg(long, value_name = "N", requires_all = ["output", "steps"], conflicts_with = "into")]
    count: Option<NonZeroU32>,

    /// Create a match in the store instead of a file
    #[arg(long, value_name = "MATCH", requires = "steps", conflicts_with = "output", value_parser = Revision::new_match_name)]
    into: Option<MatchName>,

    #[command(flatten)]
    file: NewFile,

    /// Commands to play instead, each `[SEAT:] command`, such as `p1: move 2,3`
    #[arg(value_name = "COMMAND", conflicts_with = "script")]
    commands: Vec<String>,

    /// Read the commands from a file, one a line; `-` is standard input
    #[arg(long, value_name = "FILE", help_heading = SCRIPT)]
    script: Option<PathBuf>,

    /// Give all commands as this seat, and print only what it may know [default: the seat of each command]
    #[arg(long = "seat", value_name = "SEAT", help_heading = SCRIPT)]
    viewer: Option<Viewer>,

    /// Add the view of `--seat`, or else of the host, after each command to the JSON lines
    #[arg(long, conflicts_with = "steps", help_heading = SCRIPT)]
    state: bool,

    /// Add each player's view after each command to the JSON lines; with `--seat` a player, only that player's
    #[arg(long, conflicts_with = "steps", help_heading = SCRIPT)]
    views: bool,

    /// Continue after rejected commands
    #[arg(long, conflicts_with = "steps", help_heading = SCRIPT)]
    keep_going: bool,

    /// Do not make due rolls of a seeded match
    #[arg(long, conflicts_with = "steps", help_heading = SCRIPT)]
    no_auto_roll: bool,
}

#[derive(Clone, Copy, Debug)]
struct SeedArg {
    /// The seed of random play, from which that of the dice is derived; `None` if the seed of the dice is given.
    play: Option<u64>,
    dice: Seed,
}

impl FromStr for SeedArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(dice) = text.parse() {
            return Ok(Self { play: None, dice });
        }
        let Ok(seed) = text.parse() else { return Err("expected a number or 64 hex digits".into()) };
        Ok(Self { play: Some(seed), dice: Simulation::new(seed).dice_seed() })
    }
}

struct Play {
    game: Game,
    simulation: Simulation,
    steps: u64,
    title: String,
}

impl Args {
    fn play(&self, game: &Game, steps: u64, seed: u64) -> Play {
        let simulation = Simulation::new(seed);
        let dice = match self.dice {
            Dice::Seeded => DicePolicy::Seeded(simulation.dice_seed()),
            Dice::Recorded => DicePolicy::Recorded,
        };
        let game = Game { dice, ..game.clone() };
        Play { game, simulation, steps, title: format!("random play, seed {seed}") }
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let Some(steps) = args.steps else {
        if args.file.path()?.is_some() {
            return Err(Failure::usage("`-o` is for `--steps`: given commands make no file")
                .hint("`new`, `play --script` and `export` make one"));
        }
        let game = args.ruleset.read(context)?;
        let dice = args.dice.policy(args.seed.map(|seed| seed.dice))?;
        return play_script(args, &Game { dice, ..game }, context);
    };
    let Some(SeedArg { play: Some(seed), .. }) = args.seed else {
        return Err(Failure::usage("the seed of random play is a number"));
    };
    if args.count.is_none() {
        args.file.path()?;
    }
    let game = args.ruleset.read(context)?;
    let steps = u64::from(steps);
    if let Some(count) = args.count {
        return run_many(args, seed, &game, steps, count, context);
    }
    let bar = progress(steps, "playing {bar:30} {pos}/{len} entries {eta}");
    let play = args.play(&game, steps, seed);
    let mut text = None;
    let mut file = None;
    let (state, entries) = if let Some(name) = &args.into {
        play.into_store(name, &bar, context)?
    } else {
        let (state, replay) = play.into_replay(&bar)?;
        let replay_text = replay.to_string();
        file = args.file.write(&replay_text)?;
        text = Some(replay_text);
        (state, replay.closing.map_or(0, |closing| closing.count))
    };
    let hash = state.state_hash();
    let is_over = entries < steps;
    let simulated = json!({
        "ruleset": game.rules.name(),
        "version": game.rules.version(),
        "seed": seed,
        "entries": entries,
        "over": is_over,
        "state_hash": hash,
        "match": args.into.as_ref().map(MatchName::as_str),
        "file": file,
        "replay": if file.is_none() { text.as_deref() } else { None },
    });
    let line = |file: &str| {
        let into = match &args.into {
            Some(name) => [plain("match "), strong(name)],
            None => [plain("`"), plain(format_args!("{file}`"))],
        };
        let played = format!("played {} at random into ", counted(entries, "entry", "entries"));
        let over = plain(if is_over { ", then the match was over " } else { " " });
        Line::from(played).then(into).then(over).then(dim(format_args!("#{hash:.16}")))
    };
    match &text {
        Some(text) => context.output.answer_with_text(&simulated, text, file.as_deref(), line)?,
        None => context.output.show(&simulated, || vec![line("")])?,
    }
    Ok(ExitStatus::Yes)
}

fn run_many(
    args: &Args,
    first: u64,
    game: &Game,
    steps: u64,
    count: NonZeroU32,
    context: &mut Context,
) -> Result<ExitStatus> {
    let matches = count.get();
    let Some(last) = first.checked_add(u64::from(matches) - 1) else {
        let seeds = format!("{count} seeds from {first} on");
        return Err(Failure::usage(format!("there are no {seeds}")).hint(format!("the last is {}", u64::MAX)));
    };
    let folder = args.file.folder()?;
    for seed in first..=last {
        check_new(&folder.join(format!("{seed}.tfl")), args.file.is_forced())?;
    }
    args.file.make_folder()?;
    let bar = progress(matches.into(), "playing {bar:30} {pos}/{len} matches {eta}");
    let play = |seed: u64| {
        unless_fault(&format!("seed {seed}"), || {
            let (_, replay) = args.play(game, steps, seed).into_replay(&ProgressBar::hidden())?;
            write_unsynced(&folder.join(format!("{seed}.tfl")), replay.to_string().as_bytes())?;
            bar.inc(1);
            let entries = replay.closing.map_or(0, |closing| closing.count);
            Ok((entries, u64::from(entries < steps)))
        })
    };
    let played = (first..=last).into_par_iter().map(play);
    let (entries, over) = played.try_reduce(|| (0, 0), |sum, more| Ok((sum.0 + more.0, sum.1 + more.1)))?;
    bar.finish_and_clear();
    let simulated = json!({
        "ruleset": game.rules.name(),
        "version": game.rules.version(),
        "first_seed": first,
        "last_seed": last,
        "matches": matches,
        "entries": entries,
        "over": over,
        "folder": folder,
    });
    context.output.answer(&simulated, || {
        let played = format!(
            "played {} with {} at random into `{}`, {over} of them to the end",
            counted(matches.into(), "match", "matches"),
            counted(entries, "entry", "entries"),
            folder.display()
        );
        vec![played.into()]
    })
}

impl Play {
    fn play(
        &self,
        passed: &mut Passed,
        bar: &ProgressBar,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<Box<dyn AnyState>> {
        let mut state = self.game.start()?;
        require_legal(&*state)?;
        let observe = &mut |step: &mut dyn Step| {
            observe(step);
            bar.inc(1);
        };
        let mut head = 0;
        let mut is_over = false;
        while head < self.steps && !is_over {
            let count = SNAPSHOT_INTERVAL.min(self.steps - head);
            let played = self.simulation.play(state.as_mut(), &self.game.dice, head + 1, count, observe);
            let played = played
                .map_err(|error| Failure::trouble(format!("the rules refuse what is legal: {error}")))?;
            head += played;
            is_over = played < count;
            passed.note(head, state.as_ref());
        }
        Ok(state)
    }

    fn into_replay(self, bar: &ProgressBar) -> Result<(Box<dyn AnyState>, Replay)> {
        let Game { rules, module, setup, dice } = &self.game;
        let origin = ReplayOrigin { rules, module: *module, dice: *dice, title: &self.title };
        let mut replay = Replay::compose("random play", origin, setup, None)
            .map_err(|error| Failure::usage(error.to_string()))?;
        let state = self.play(&mut Passed::default(), bar, &mut |step| replay.record(step, None))?;
        replay.close(state.state_hash());
        Ok((state, replay))
    }

    fn into_store(
        self,
        name: &MatchName,
        bar: &ProgressBar,
        context: &Context,
    ) -> Result<(Box<dyn AnyState>, u64)> {
        let recorded_at_ms = clock::now_ms()?;
        let mut entries = PackedEntries::default();
        let mut passed = Passed::default();
        let state = self.play(&mut passed, bar, &mut |step| {
            entries.push(&NewEntry { seat: step.seat(), command: step.command_bytes(), recorded_at_ms });
        })?;
        let count = entries.count();
        let store = context.open_or_create_store()?;
        let rules = self.game.rules.clone();
        store.create_long_match(name, &genesis(self.game, self.title)?, entries)?;
        passed.keep(name, &*rules, &context.workspace, &store);
        Ok((state, count))
    }
}

fn play_script(args: &Args, game: &Game, context: &mut Context) -> Result<ExitStatus> {
    let lines = files::commands_of(&args.commands, args.script.as_ref(), args.viewer)?;
    let state = game.start()?;
    let roller = random::roller(&game.dice, args.no_auto_roll, false)?;
    let viewer = args.viewer.unwrap_or(Viewer::HOST);
    let detail = Detail { viewer, state: args.state, views: args.views };
    let mut session = Session::new(state, game.dice, roller, 1, detail);
    let mut answer = ExitStatus::Yes;
    let mut played = Vec::new();
    if lines.is_empty() {
        session.roll_due(&mut played)?;
    }
    for line in &lines {
        let result = session.submit(line, None, &mut played)?;
        print(played.drain(..), context)?;
        if let Err(record) = result {
            let place = files::place_in_script(line, args.script.as_ref());
            let shown = if args.keep_going { place.as_deref() } else { None };
            context.output.show(&record, || vec![render::rejection(&record, shown)])?;
            answer = ExitStatus::No;
            if !args.keep_going {
                context.output.flush()?;
                return Err(Failure::negative("the command was rejected; the script stops here")
                    .at(place)
                    .hint("`--keep-going` continues after rejections"));
            }
        }
    }
    print(played, context)?;
    Ok(answer)
}

fn print(played: impl IntoIterator<Item = Record>, context: &mut Context) -> Result<()> {
    for record in played {
        if !record.is_concealed {
            context.output.record(&record)?;
        }
    }
    Ok(())
}
