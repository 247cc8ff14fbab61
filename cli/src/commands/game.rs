//! `turnfold game`: lists, checks and adds games. A game is built in, a module or a referee.

mod impact;
mod perft;
mod relay;

use std::io;
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use turnfold_core::registry::{ModuleSource as _, NamedReferee};
use turnfold_core::{AnyRules, Digest};
use turnfold_history::catch;
#[cfg(feature = "modules")]
use turnfold_laws::{Fixture, broken_laws_while};
#[cfg(feature = "modules")]
use turnfold_referee::within;
use turnfold_referee::{ModuleFile, digest, load, read_module};

use crate::context::Context;
#[cfg(not(feature = "modules"))]
use crate::context::left_out;
use crate::failure::{ExitStatus, Failure, Result};
use crate::files::NewFile;
use crate::output::{Line, dim, plain, printable, removed, strong};
#[cfg(feature = "modules")]
use crate::stderr::progress;

const CHECK_SECONDS: u64 = 60;

/// The longest that the modules of a bundle take together in an audit. Also the longest that the laws take on a module
/// before another verb uses it.
pub(super) const MODULES_TIME: Duration = Duration::from_mins(2);

verbs! {
    /// List, check and add games, count and compare what their rules do
    ///
    /// A module is one WebAssembly file that holds all of a game. Modules lie in the folders that `--modules` names, otherwise in
    /// `modules/` in the directory of the store. A referee is a program that knows the rules of a game (`help referees`).
    #[command(after_help = "Example: turnfold game list")]
    GameCommand {
        List(ListArgs) => list,
        Show(ShowArgs) => show,
        Check(CheckArgs) => check,
        Add(AddArgs) => add_file,
        Guest(GuestArgs) => guest,
        Perft(perft::Args) => perft::run,
        Impact(impact::Args) => impact::run,
        Relay(relay::Args) => relay::run,
    }
}

/// List the games: built in, modules, and referees that were named for a game
///
/// No referee is started for that.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold game list --modules games")]
pub(crate) struct ListArgs {}

/// Show what a game is
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold game show nim-1.wasm")]
pub(crate) struct ShowArgs {
    /// The name of a game, or a module by its digest or file
    #[arg(value_name = "NAME|DIGEST|FILE")]
    game: PathBuf,
}

/// Run the laws that every ruleset keeps on a module or a referee
///
/// Plays the game at random from its example and tries what it promises. When all laws pass on a module, this is noted where
/// modules lie: `serve` and `mail` play no other modules. A call that exceeds its fuel, time or memory ends
/// the check. Exits with 1 if a law is broken, or if there was no time to try all of them.
///
/// A referee may leave out its rulebook, list no commands, reject unknown words with any code, and have moves without
/// effects. A second process of it is asked, too.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples: turnfold game check nim-1.wasm\n          turnfold game check charge --referee 'node \
                        referee.mjs'"
)]
pub(crate) struct CheckArgs {
    /// A referee by the name of its game, or a module by its file or digest
    #[arg(value_name = "NAME|FILE|DIGEST")]
    game: PathBuf,

    /// How long the check may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = CHECK_SECONDS)]
    seconds: u64,
}

/// Check a module, and copy it to where modules lie
///
/// The copy is named after the digest of the file. Nothing is copied if a law is broken.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold game add nim-1.wasm")]
pub(crate) struct AddArgs {
    /// The file of a module
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// How long the check may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = CHECK_SECONDS)]
    seconds: u64,
}

/// Write a file that serves a game in another language
///
/// Without a name, lists the files. Copy one next to your game; `turnfold help referees` shows what to do with it. It has no
/// dependencies.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples: turnfold game guest\n          turnfold game guest turnfold.mjs -o turnfold.mjs"
)]
pub(crate) struct GuestArgs {
    /// The file
    #[arg(value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    file: NewFile,
}

/// Files that serve a game in another language: name, summary and text.
const GUESTS: [(&str, &str, &str); 6] = [
    ("turnfold.mjs", "a game in JavaScript: node, Deno, Bun", include_str!("../../guests/js/turnfold.mjs")),
    ("turnfold.d.mts", "its types, for TypeScript", include_str!("../../guests/js/turnfold.d.mts")),
    ("boardgame.mjs", "a game of boardgame.io", include_str!("../../guests/js/boardgame.mjs")),
    ("boardgame.d.mts", "its types", include_str!("../../guests/js/boardgame.d.mts")),
    ("turnfold.py", "a game in Python", include_str!("../../guests/python/turnfold.py")),
    ("openspiel.py", "the games of OpenSpiel", include_str!("../../guests/python/openspiel.py")),
];

#[derive(Default, Serialize)]
struct ListedGame {
    ruleset: String,
    /// Like the summary, unknown of a referee that is not started.
    version: Option<u32>,
    summary: Option<String>,
    origin: &'static str,
    module: Option<Digest>,
    referee: Option<String>,
    file: Option<PathBuf>,
    bytes: Option<u64>,
    laws_passed: Option<bool>,
    /// Why matches of this name and version may be played by another game.
    warning: Option<&'static str>,
    #[serde(skip)]
    has_secrets: bool,
}

impl ListedGame {
    fn of(rules: &dyn AnyRules) -> Self {
        let referee = rules.referee();
        Self {
            ruleset: rules.name().into(),
            version: Some(rules.version()),
            summary: Some(rules.summary().into()),
            origin: if referee.is_some() { "referee" } else { "built_in" },
            module: rules.module(),
            referee,
            has_secrets: rules.has_secrets(),
            ..Self::default()
        }
    }

    fn of_file(path: &Path, bytes: u64, has_passed: bool, rules: &dyn AnyRules) -> Self {
        Self {
            origin: "module",
            file: Some(path.into()),
            bytes: Some(bytes),
            laws_passed: Some(has_passed),
            ..Self::of(rules)
        }
    }

    fn of_module(found: &ModuleFile, rules: &dyn AnyRules, context: &Context) -> Self {
        let mut warning = None;
        if context.registry.all().any(|other| has_name_of(&**other, rules)) {
            warning = Some(
                "a game that is built in has its name and version, and plays matches that pin no module",
            );
        } else if context.modules.by_name(rules.name()).iter().any(|other| has_name_of(&**other, rules)) {
            warning =
                Some("another module has its name and version, so only matches that pin one are played");
        }
        let has_passed = context.modules.has_passed(&found.digest);
        Self { warning, ..Self::of_file(&found.path, found.bytes, has_passed, rules) }
    }

    fn of_referee(NamedReferee { ruleset, command }: NamedReferee, context: &Context) -> Self {
        let mut warning = None;
        if context.registry.find(&ruleset).is_some() {
            warning = Some(
                "a game that is built in has its name, so it plays nothing; `game impact --rules referee:NAME` compares the two",
            );
        }
        Self { ruleset, origin: "referee", referee: Some(command), warning, ..Self::default() }
    }

    fn line(&self) -> Line {
        let mut name = self.ruleset.clone();
        if let Some(version) = self.version {
            name = format!("{name} {version}");
        }
        let mut origin = match &self.referee {
            Some(command) => format!(" referee `{command}`"),
            None => " built in".into(),
        };
        if let (Some(path), Some(bytes)) = (&self.file, self.bytes) {
            let digest = self.module.map(|module| format!(" {module:.16}")).unwrap_or_default();
            let laws = if self.laws_passed == Some(true) { "" } else { ", laws not checked" };
            origin = format!(" module{digest}, {bytes} bytes, `{}`{laws}", path.display());
        }
        let line = Line::from([strong(name), plain(origin)]);
        match self.warning {
            None => line,
            Some(warning) => line.then(removed(format_args!("; warning: {warning}"))),
        }
    }
}

fn has_name_of(other: &dyn AnyRules, rules: &dyn AnyRules) -> bool {
    other.name() == rules.name() && other.version() == rules.version() && other.module() != rules.module()
}

fn list(_: &ListArgs, context: &mut Context) -> Result<ExitStatus> {
    for rules in context.workspace.registry.all() {
        let game = ListedGame::of(&**rules);
        context.output.show(&game, || vec![game.line()])?;
    }
    for found in files(context)? {
        match &found.rules {
            Ok(rules) => {
                let game = ListedGame::of_module(&found, &**rules, context);
                context.output.show(&game, || vec![game.line()])?;
            }
            Err(error) => {
                let file = found.path.display().to_string();
                let unusable = json!({ "file": file, "bytes": found.bytes, "error": error.to_string() });
                let line = [removed("no module"), plain(format_args!(" `{file}`: {error}"))];
                context.output.show(&unusable, || vec![line.into()])?;
            }
        }
    }
    let referees = context.registry.referees().map(|referees| referees.named()).unwrap_or_default();
    for referee in referees {
        let game = ListedGame::of_referee(referee, context);
        context.output.show(&game, || vec![game.line()])?;
    }
    Ok(ExitStatus::Yes)
}

fn show(args: &ShowArgs, context: &mut Context) -> Result<ExitStatus> {
    let text = args.game.to_string_lossy();
    let mut games = Vec::new();
    for rules in context.registry.all() {
        if rules.name() == text {
            games.push(ListedGame::of(&**rules));
        }
    }
    if let Some(rules) = referee_of(&text, context)? {
        games.push(ListedGame::of(&*rules));
    }
    for found in files(context)? {
        if let Ok(rules) = &found.rules
            && (found.digest.to_string() == text || rules.name() == text)
        {
            games.push(ListedGame::of_module(&found, &**rules, context));
        }
    }
    if games.is_empty() {
        if !args.game.exists() {
            return Err(Failure::usage(format!("there is no game and no file `{text}`"))
                .hint("`turnfold game list` lists the games"));
        }
        let (file, rules) = read(&args.game)?;
        let has_passed = context.modules.has_passed(&digest(&file));
        games.push(ListedGame::of_file(&args.game, file.len() as u64, has_passed, &*rules));
    }
    for game in games {
        context.output.show(&game, || {
            let secrets = if game.has_secrets { "keeps secrets" } else { "keeps no secrets" };
            let summary = game.summary.as_deref().unwrap_or_default();
            let mut lines = vec![game.line(), format!("{summary}; {secrets}").into()];
            lines.extend(game.module.map(|module| Line::from(dim(format_args!("digest {module}")))));
            lines
        })?;
    }
    Ok(ExitStatus::Yes)
}

fn check(args: &CheckArgs, context: &mut Context) -> Result<ExitStatus> {
    let text = args.game.to_string_lossy();
    let rules = if let Ok(digest) = text.parse::<Digest>() {
        rules_in_module(&digest, context)?
    } else if let Some(rules) = referee_of(&text, context)? {
        rules
    } else {
        read(&args.game)?.1
    };
    let is_referee = rules.referee().is_some();
    // A second process of a referee is asked as well, and asked again after some time has passed (RF-15).
    let mut checked = rules.clone();
    if is_referee && let Some(distrusting) = rules.distrusting() {
        checked = distrusting;
    }
    let mut broken = laws_broken_by(&*checked, args.seconds);
    if broken.is_empty()
        && is_referee
        && let Some(referees) = context.registry.referees()
        && let Err(fault) = catch(|| referees.settle())
    {
        broken.push(fault.to_string());
    }
    let has_passed = broken.is_empty();
    if has_passed
        && let Some(module) = rules.module()
        && context.modules.first().is_some()
    {
        context.modules.note_passed(&module).map_err(|error| unwritable(&error))?;
    }
    // An example that cannot be started breaks a law, which reports it.
    let started = catch(|| rules.start(&rules.read_setup(rules.example())?));
    let mut is_played = true;
    if let Ok(Ok(state)) = started {
        is_played = catch(|| state.lists_legal()).unwrap_or(true);
    }
    let answer = json!({
        "ruleset": rules.name(), "version": rules.version(), "module": rules.module(), "referee": rules.referee(),
        "ok": has_passed, "broken": broken, "is_played": is_played,
    });
    context.output.verdict(has_passed, &answer, || {
        let mut lines: Vec<Line> = broken.iter().map(|law| Line::from(law.clone())).collect();
        if has_passed {
            let origin = match (rules.module(), rules.referee()) {
                (Some(module), _) => format!("module {module:.16}"),
                (None, command) => format!("referee `{}`", command.unwrap_or_default()),
            };
            let game = strong(format_args!("{} {}", rules.name(), rules.version()));
            lines.push([game, plain(format_args!(" ({origin}): all laws passed"))].into());
        }
        if !is_played {
            lines.push(dim("it lists no commands, so no match was played; it would offer `legal`").into());
        }
        lines
    })
}

fn referee_of(name: &str, context: &Context) -> Result<Option<Arc<dyn AnyRules>>> {
    // Text that cannot be a name is a file, for which no program starts.
    if !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return Ok(None);
    }
    Ok(context.registry.referee(name)?)
}

fn add_file(args: &AddArgs, context: &mut Context) -> Result<ExitStatus> {
    let (path, rules) = add(&args.file, args.seconds, context)?;
    let added = json!({
        "ruleset": rules.name(), "version": rules.version(), "module": rules.module(), "file": path,
    });
    context.output.answer(&added, || {
        let game = strong(format_args!("{} {}", rules.name(), rules.version()));
        vec![Line::from([plain("added "), game, plain(format_args!(" as `{}`", path.display()))])]
    })
}

/// Checks a module and copies it to the folder of modules (MD-2). Returns the path of the copy.
pub(super) fn add(path: &Path, seconds: u64, context: &Context) -> Result<(PathBuf, Arc<dyn AnyRules>)> {
    let (file, rules) = read(path)?;
    require_folder(context)?;
    require_laws(&*rules, seconds, "nothing was copied", context)?;
    Ok((write_module(&file, context)?, rules))
}

pub(super) fn require_folder(context: &Context) -> Result<()> {
    if context.modules.first().is_none() {
        return Err(Failure::usage("there is no folder for modules").hint("name one with `--modules DIR`"));
    }
    Ok(())
}

/// Requires the laws to pass on a module within a time, unless they have passed here before. `undone` ends the error,
/// such as "nothing was imported".
pub(super) fn require_laws(
    rules: &dyn AnyRules,
    seconds: u64,
    undone: &str,
    context: &Context,
) -> Result<()> {
    if rules.module().is_some_and(|module| context.modules.has_passed(&module)) {
        return Ok(());
    }
    match laws_broken_by(rules, seconds).first() {
        Some(law) => Err(Failure::negative(format!("{law}; {undone}"))),
        None => Ok(()),
    }
}

pub(super) fn write_module(file: &[u8], context: &Context) -> Result<PathBuf> {
    let added = context.modules.add(file).map_err(|error| unwritable(&error))?;
    context.modules.note_passed(&digest(file)).map_err(|error| unwritable(&error))?;
    Ok(added)
}

pub(super) fn find_module(module: &Digest, context: &Context) -> Result<Arc<dyn AnyRules>> {
    let rules = rules_in_module(module, context)?;
    let resolved = context.registry.resolve(rules.name(), rules.version(), Some(module));
    Ok(resolved?)
}

fn rules_in_module(module: &Digest, context: &Context) -> Result<Arc<dyn AnyRules>> {
    let Some(found) = files(context)?.into_iter().find(|found| found.digest == *module) else {
        return Err(Failure::usage(format!("there is no module {module}"))
            .hint("`turnfold game list` lists those there are"));
    };
    found.rules.map_err(|error| unusable(&found.path, &error))
}

/// Runs the laws on a module or referee, from its example, and returns the broken ones. Unfinished laws count as
/// broken.
fn laws_broken_by(rules: &dyn AnyRules, seconds: u64) -> Vec<String> {
    // A law that panics is reported as broken. The panic hook would also print it as a bug of this program, so it is
    // silenced.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let broken = catch(|| broken_within(rules, seconds));
    panic::set_hook(hook);
    broken.unwrap_or_else(|fault| vec![fault.to_string()])
}

/// Runs the laws until the time is up. The limit applies to the calls of the module and to the laws themselves.
#[cfg(feature = "modules")]
fn broken_within(rules: &dyn AnyRules, seconds: u64) -> Vec<String> {
    let time = Duration::from_secs(seconds);
    let bar = progress(0, "{spinner} {elapsed} trying the laws: {msg}");
    let watch = &mut |place: &str| {
        bar.set_message(place.to_owned());
        bar.tick();
        bar.elapsed() < time
    };
    let tried = within(time, || broken_laws_while(rules, &[Fixture::example(rules)], watch));
    bar.finish_and_clear();
    let mut broken = tried.broken;
    if !tried.is_finished {
        let name = rules.name();
        let mut at = String::new();
        if tried.positions > 0 {
            let found = if broken.is_empty() { "none was broken" } else { "these were broken" };
            at = format!(
                ": at {} of {} positions of {} matches, and {found} there",
                tried.positions_tried, tried.positions, tried.matches
            );
        }
        broken.push(format!(
            "{name}: the laws were not all tried within {seconds} s{at}; `--seconds` gives them more"
        ));
    }
    broken
}

#[cfg(not(feature = "modules"))] // then no module was loaded
fn broken_within(rules: &dyn AnyRules, _seconds: u64) -> Vec<String> {
    vec![format!("{}: {}", rules.name(), left_out("modules"))]
}

fn read(path: &Path) -> Result<(Vec<u8>, Arc<dyn AnyRules>)> {
    let file = read_module(path).map_err(|error| Failure::file("read", path, &error))?;
    let rules = load(&file).map_err(|error| unusable(path, &error))?;
    Ok((file, rules))
}

fn files(context: &Context) -> Result<Vec<ModuleFile>> {
    context.modules.files().map_err(|error| Failure::trouble(format!("cannot read the modules: {error}")))
}

fn unusable(path: &Path, error: &turnfold_referee::LoadError) -> Failure {
    Failure::usage(format!("`{}`: {error}", path.display()))
}

fn unwritable(error: &io::Error) -> Failure {
    Failure::trouble(format!("cannot write to the folder of modules: {error}"))
}

fn guest(args: &GuestArgs, context: &mut Context) -> Result<ExitStatus> {
    let Some(name) = &args.name else {
        let width = GUESTS.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
        for (name, summary, _) in GUESTS {
            let document = json!({ "guest": name, "summary": summary, "file": null, "text": null });
            let name = strong(format_args!("{name:width$}"));
            context.output.show(&document, || vec![[name, plain(format_args!("  {summary}"))].into()])?;
        }
        return Ok(ExitStatus::Yes);
    };
    let Some((name, summary, text)) = GUESTS.iter().find(|(known, ..)| known == name) else {
        let message = format!("there is no guest `{}`", name.escape_debug());
        return Err(Failure::usage(message).hint("`turnfold game guest` lists them"));
    };
    let file = args.file.write(text)?;
    let shown = if file.is_none() { Some(text) } else { None };
    let document = json!({ "guest": name, "summary": summary, "file": file, "text": shown });
    context.output.answer(&document, || match &file {
        Some(file) => vec![Line::from([plain(format_args!("wrote `{}`", printable(file)))])],
        None => text.lines().map(|line| Line::from([plain(line)])).collect(),
    })
}
