//! `turnfold new`: creates a match.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use serde_json::json;
use similar::get_close_matches;
use turnfold_core::registry::NoRules;
use turnfold_core::{AnyRules, AnyState, DicePolicy, Digest, NamedSetup, Seed, SetupError};
use turnfold_history::input::check_title;
use turnfold_history::{ReplayError, Revision, find_rules};
use turnfold_mail::{MailError, MatchAccord, read_accord};
use turnfold_store::{Genesis, MatchName};

use super::game::{MODULES_TIME, add, find_module};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::output::{Line, dim, plain, strong};
use crate::program;
use crate::{clock, files, random};

/// Create a match
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold new duel --rules initiative --dice seeded\n\
    Replay files of the match (`*.tfl`) are compared byte for byte. In a git repository, put `*.tfl text eol=lf` into \
    `.gitattributes`, so that git never converts their line ends.")]
pub(crate) struct Args {
    /// Name of the match: a-z, 0-9, `.`, `_` and `-`, at most 64 characters
    #[arg(value_name = "MATCH", value_parser = Revision::new_match_name)]
    match_name: MatchName,

    #[command(flatten)]
    game: GameArgs,

    /// Title, for people
    #[arg(long, default_value = "")]
    title: String,

    /// Terms by which `serve` hosts the match, as TOML; the game's own from an empty file
    #[arg(long, value_name = "FILE")]
    terms: Option<PathBuf>,
}

const GAME: &str = "Game options";

/// By which rules a match is played, and from which setup.
#[derive(Debug, clap::Args)]
pub(crate) struct RulesetArgs {
    /// The ruleset by its name, or `referee:NAME`, the referee of that game
    #[arg(long, help_heading = GAME, value_name = "NAME", required_unless_present = "module")]
    rules: Option<String>,

    /// The module that plays it for ever: its file, which is copied as `game add` does, or its digest
    #[arg(long, help_heading = GAME, value_name = "FILE|DIGEST", conflicts_with = "rules")]
    module: Option<PathBuf>,

    /// The setup: a name that `rules GAME` lists, or a TOML file; the ruleset's example when left out
    #[arg(long, help_heading = GAME, value_name = "NAME|FILE")]
    setup: Option<PathBuf>,
}

/// What a match is made of
#[derive(Debug, clap::Args)]
pub(crate) struct GameArgs {
    #[command(flatten)]
    ruleset: RulesetArgs,

    /// Where rolls come from
    #[arg(long, help_heading = GAME, value_enum, default_value_t = Dice::Recorded)]
    dice: Dice,

    /// Seed of seeded dice, 64 hex digits; a fresh one when left out
    #[arg(long, help_heading = GAME, value_name = "HEX")]
    seed: Option<Seed>,
}

/// The source of a match's rolls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Dice {
    /// From outside: you roll dice on a table and record them with `roll`
    Recorded,
    /// From a seed, so that anyone can recompute them
    Seeded,
}

/// A ruleset with its setup and dice, all of them valid.
#[derive(Clone)]
pub(crate) struct Game {
    pub(crate) rules: Arc<dyn AnyRules>,
    /// The module that the match pins (MD-8).
    pub(crate) module: Option<Digest>,
    pub(crate) setup: Vec<u8>,
    pub(crate) dice: DicePolicy,
}

impl Game {
    pub(crate) fn start(&self) -> Result<Box<dyn AnyState>> {
        self.rules.start(&self.setup).map_err(|error| Failure::usage(error.to_string()))
    }
}

impl GameArgs {
    pub(crate) fn draws_a_seed(&self) -> bool {
        self.dice == Dice::Seeded && self.seed.is_none()
    }

    pub(crate) fn read(&self, context: &Context) -> Result<Game> {
        let game = self.ruleset.read(context)?;
        Ok(Game { dice: self.dice.policy(self.seed)?, ..game })
    }
}

impl Dice {
    pub(super) fn policy(self, seed: Option<Seed>) -> Result<DicePolicy> {
        match (self, seed) {
            (Self::Recorded, None) => Ok(DicePolicy::Recorded),
            (Self::Recorded, Some(_)) => Err(Failure::usage("`--seed` needs `--dice seeded`")),
            (Self::Seeded, Some(seed)) => Ok(DicePolicy::Seeded(seed)),
            (Self::Seeded, None) => Ok(DicePolicy::Seeded(Seed::new(random::bytes()?))),
        }
    }
}

impl RulesetArgs {
    pub(crate) fn read(&self, context: &Context) -> Result<Game> {
        let rules = match (&self.module, &self.rules) {
            (Some(module), _) => match module.to_string_lossy().parse() {
                Ok(digest) => find_module(&digest, context)?,
                Err(_) => add(module, MODULES_TIME.as_secs(), context)?.1,
            },
            (None, rules) => find(rules.as_deref().unwrap_or_default(), context)?,
        };
        let setup = match &self.setup {
            Some(path) => read_setup(&*rules, path)?,
            None => rules
                .read_setup(rules.example())
                .map_err(|error| Failure::trouble(format!("the example of `{}`: {error}", rules.name())))?,
        };
        // A match whose rules are in a module pins that module.
        Ok(Game { module: rules.module(), rules, setup, dice: DicePolicy::Recorded })
    }
}

/// Finds the newest version of a game. If it is unknown, a hint names a module that does not load, because the game may
/// be in it.
pub(super) fn find(name: &str, context: &Context) -> Result<Arc<dyn AnyRules>> {
    if let Some(name) = name.strip_prefix("referee:") {
        let found = context.registry.referee(name)?;
        return found.ok_or_else(|| no_referee(name));
    }
    find_rules(name, &context.registry).map_err(|error| {
        let is_unknown =
            matches!(&error, ReplayError::NoRules(_, cause) if matches!(**cause, NoRules::Unknown { .. }));
        let failure = Failure::from(error);
        if is_unknown {
            for found in context.modules.files().unwrap_or_default() {
                if let Err(error) = found.rules {
                    return failure.hint(format!("`{}` does not load: {error}", found.path.display()));
                }
            }
        }
        failure
    })
}

pub(super) fn no_referee(name: &str) -> Failure {
    let name = name.escape_debug();
    Failure::usage(format!("no referee is named for `{name}`"))
        .hint(format!("name one with `--referee '{name}=COMMAND'`"))
}

/// The name of the setup that every ruleset has: its example.
pub(crate) const EXAMPLE: &str = "example";

pub(crate) fn setups(rules: &dyn AnyRules) -> Vec<NamedSetup<'_>> {
    let mut setups = vec![NamedSetup::new(EXAMPLE, rules.example())];
    setups.extend(rules.setups());
    setups
}

pub(super) fn find_setup<'a>(rules: &'a dyn AnyRules, name: &str) -> Result<NamedSetup<'a>> {
    let setups = setups(rules);
    if let Some(found) = setups.iter().find(|setup| setup.name == name) {
        return Ok(*found);
    }
    let game = rules.name();
    let program = program::name();
    let names: Vec<&str> = setups.iter().map(|setup| setup.name).collect();
    let meant = match get_close_matches(name, &names, 1, 0.6).first() {
        Some(close) => format!("did you mean `{close}`? "),
        None => String::new(),
    };
    let hint = format!(
        "{meant}`{program} rules {game} setups` lists them; a file is given with its ending or folder, as in `./{name}`"
    );
    Err(Failure::usage(format!("no setup `{}` comes with `{game}`", name.escape_debug())).hint(hint))
}

pub(super) fn read_setup(rules: &dyn AnyRules, path: &Path) -> Result<Vec<u8>> {
    // A file has an ending or a folder, a name has neither.
    if let Some(name) = path.to_str()
        && !name.contains(['.', '/', '\\'])
        && !files::is_standard(path)
    {
        let setup = find_setup(rules, name)?;
        return rules.read_setup(setup.toml).map_err(|error| bad_setup(path, &error));
    }
    let text = files::read_text(path, &files::SETUP)?;
    rules.read_setup(&text).map_err(|error| bad_setup(path, &error))
}

pub(super) fn bad_setup(path: &Path, error: &SetupError) -> Failure {
    let path = path.display();
    Failure::usage(match error {
        SetupError::Text { line, column, message } => format!("{path}:{line}:{column}: {message}"),
        SetupError::Value { field, message } => format!("{path}: {field}: {message}"),
        SetupError::Bytes(message) => format!("{path}: {message}"),
    })
}

pub(crate) fn genesis(game: Game, title: String) -> Result<Genesis> {
    check_title(&title).map_err(Failure::usage)?;
    let genesis = Genesis {
        format: Genesis::FORMAT,
        ruleset: game.rules.name().into(),
        ruleset_version: game.rules.version(),
        setup: game.setup,
        dice: game.dice,
        match_id: random::bytes()?,
        title,
        created_at_ms: clock::now_ms()?,
        module: None,
        played_by: game.rules.module(),
        origins: Vec::new(),
    };
    Ok(genesis.pinned(game.module))
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let game = args.game.read(context)?;
    let state = game.start()?;
    let is_example = args.game.ruleset.setup.is_none();
    let rules = game.rules.clone();
    let genesis = genesis(game, args.title.clone())?;
    let name = &args.match_name;
    let mut accord = None;
    if let Some(path) = &args.terms {
        MatchAccord::name_of(name)?;
        let written = files::read_text(path, &files::MAIL_TERMS)?;
        let read = read_accord(&written, &*rules, &genesis);
        accord = Some(read.map_err(|error| match error {
            MailError::Replay(ReplayError::BadSetup(error)) => bad_setup(path, &error),
            error => error.into(),
        })?);
    }
    let store = context.open_or_create_store()?;
    if accord.is_some() {
        MatchAccord::require_free(&store, name, &genesis)?;
    }
    store.create_match(name, &genesis, Vec::new())?;
    if let Some(accord) = accord {
        MatchAccord::create(&store, name, &genesis, accord, genesis.created_at_ms)?;
    }
    drop(store);
    let seed = if let DicePolicy::Seeded(seed) = genesis.dice { Some(seed.to_string()) } else { None };
    let dice = genesis.dice.name();
    let store_name = context.store.shown();
    let ruleset = rules.name();
    let version = rules.version();
    let due = state.due_roll();
    let created = json!({
        "match": name, "store": store_name, "ruleset": ruleset, "version": version, "module": rules.module(),
        "example_setup": is_example, "dice": dice, "seed": seed, "state_hash": state.state_hash(), "due_roll": due,
    });
    context.output.answer(&created, || {
        let game = plain(format_args!(" in `{store_name}` ({ruleset} version {version}, {dice} dice) "));
        let hash = dim(format_args!("#{:.16}", state.state_hash()));
        let program = program::name();
        let mut lines = vec![Line::from([plain("created match "), strong(name), game, hash])];
        if is_example {
            lines.push(Line::from(format!(
                "the setup is the example of {ruleset}; `{program} rules {ruleset}` explains how to write another for \
                 `--setup`"
            )));
        }
        if let Some(due) = due {
            let next = if seed.is_some() {
                format!("`{program} play {name}` rolls it")
            } else {
                format!("record it with `{program} play {name} \"roll …\"`")
            };
            lines.push(format!("a roll is due: {due}; {next}").into());
        }
        lines
    })
}
