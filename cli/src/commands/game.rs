//! `turnfold game`: lists, checks and adds games. A game is built in, a module or a referee.

mod impact;
mod perft;
mod relay;

use std::io;
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use turnfold_core::registry::{ModuleSource as _, NamedReferee, NoRules};
use turnfold_core::{AnyRules, Digest};
use turnfold_history::ReplayError;
use turnfold_history::fault::catch;
#[cfg(feature = "modules")]
use turnfold_laws::{Fixture, broken_laws_while};
#[cfg(feature = "modules")]
use turnfold_referee::within;
use turnfold_referee::{ModuleFile, digest, load, read_module};

#[cfg(not(feature = "modules"))]
use crate::address::left_out;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files::NewFile;
use crate::output::{Line, dim, plain, printable, removed, strong};
#[cfg(feature = "modules")]
use crate::stderr::progress;

/// The longest that the check of a game takes by default, in seconds.
const CHECK_SECONDS: u64 = 60;

/// The longest that the modules of a bundle take together in an audit. Also the longest that the laws take on a module
/// before another verb uses it.
pub(super) const MODULES_TIME: Duration = Duration::from_mins(2);

/// List, check and add games, count and compare what their rules do
///
/// A module is one WebAssembly file that holds all of a game. Modules lie in the folders that `--modules` names, otherwise in
/// `modules/` in the directory of the store. A referee is a program that knows the rules of a game (`help referees`).
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold game list")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: GameCommand,
}

verbs! {
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

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    args.command.run(context)
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

    #[command(flatten)]
    time: CheckTime,
}

/// How long a check may take.
#[derive(Debug, clap::Args)]
struct CheckTime {
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

    #[command(flatten)]
    time: CheckTime,
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

struct ListedGame {
    rules: Arc<dyn AnyRules>,
    /// The path of a module, its length in bytes, and whether it has passed the laws.
    file: Option<(PathBuf, u64, bool)>,
    /// Why matches of this name and version may be played by another game.
    warning: Option<&'static str>,
}

impl ListedGame {
    fn built_in(rules: &Arc<dyn AnyRules>) -> Self {
        Self { rules: rules.clone(), file: None, warning: None }
    }

    fn of_file(found: &ModuleFile, rules: &Arc<dyn AnyRules>, context: &Context) -> Self {
        let has_passed = context.modules.has_passed(&found.digest);
        let file = Some((found.path.clone(), found.bytes, has_passed));
        let is_same = |other: &Arc<dyn AnyRules>| {
            (other.name(), other.version()) == (rules.name(), rules.version())
                && other.module() != rules.module()
        };
        let warning = if context.registry.all().any(is_same) {
            Some("a game that is built in has its name and version, and plays matches that pin no module")
        } else if context.modules.by_name(rules.name()).iter().any(is_same) {
            Some("another module has its name and version, so only matches that pin one are played")
        } else {
            None
        };
        Self { rules: rules.clone(), file, warning }
    }

    fn json(&self) -> Value {
        let Self { rules, file, warning } = self;
        json!({
            "ruleset": rules.name(),
            "version": rules.version(),
            "summary": rules.summary(),
            "origin": match (file, rules.referee()) {
                (Some(_), _) => "module",
                (None, Some(_)) => "referee",
                (None, None) => "built_in",
            },
            "module": rules.module(),
            "referee": rules.referee(),
            "file": file.as_ref().map(|(path, ..)| path),
            "bytes": file.as_ref().map(|(_, bytes, _)| bytes),
            "laws_passed": file.as_ref().map(|(.., has_passed)| has_passed),
            "warning": warning,
        })
    }

    fn line(&self) -> Line {
        let Self { rules, file, warning } = self;
        let name = strong(format_args!("{} {}", rules.name(), rules.version()));
        let origin = match file {
            None => rules.referee().map_or_else(|| " built in".into(), |line| format!(" referee `{line}`")),
            Some((path, bytes, has_passed)) => {
                let digest = rules.module().map(|module| format!(" {module:.16}")).unwrap_or_default();
                let laws = if *has_passed { "" } else { ", laws not checked" };
                format!(" module{digest}, {bytes} bytes, `{}`{laws}", path.display())
            }
        };
        match warning {
            None => Line::from([name, plain(origin)]),
            Some(warning) => Line::from([name, plain(origin), removed(format_args!("; warning: {warning}"))]),
        }
    }
}

/// Lists a referee that was named for a game. Its version and summary are unknown, because it is not started.
fn list_referee(
    NamedReferee { ruleset, command }: &NamedReferee,
    context: &mut Context,
) -> Result<(), Failure> {
    let is_built_in = context.registry.find(ruleset).is_some();
    let warning = is_built_in.then_some(
        "a game that is built in has its name, so it plays nothing; `game impact --rules referee:NAME` compares the two",
    );
    let document = json!({
        "ruleset": ruleset, "version": null, "summary": null, "origin": "referee", "module": null,
        "referee": command, "file": null, "bytes": null, "laws_passed": null, "warning": warning,
    });
    let line = || {
        let line = Line::from([strong(ruleset), plain(format_args!(" referee `{command}`"))]);
        match warning {
            None => line,
            Some(warning) => line.then(removed(format_args!("; warning: {warning}"))),
        }
    };
    Ok(context.output.show(&document, || vec![line()])?)
}

fn list(_: &ListArgs, context: &mut Context) -> Result<ExitStatus, Failure> {
    let games: Vec<_> = context.registry.all().map(ListedGame::built_in).collect();
    for game in games {
        context.output.show(&game.json(), || vec![game.line()])?;
    }
    for found in files(context)? {
        match &found.rules {
            Ok(rules) => {
                let game = ListedGame::of_file(&found, rules, context);
                context.output.show(&game.json(), || vec![game.line()])?;
            }
            Err(error) => {
                let file = found.path.display().to_string();
                let unusable = json!({ "file": file, "bytes": found.bytes, "error": error.to_string() });
                let line = || Line::from([removed("no module"), plain(format_args!(" `{file}`: {error}"))]);
                context.output.show(&unusable, || vec![line()])?;
            }
        }
    }
    let referees = context.registry.referees().map(|referees| referees.named()).unwrap_or_default();
    for referee in referees {
        list_referee(&referee, context)?;
    }
    Ok(ExitStatus::Yes)
}

fn show(args: &ShowArgs, context: &mut Context) -> Result<ExitStatus, Failure> {
    let text = args.game.to_string_lossy();
    let named: Vec<_> = context.registry.all().filter(|rules| rules.name() == text).collect();
    let mut games: Vec<_> = named.into_iter().map(ListedGame::built_in).collect();
    if let Some(rules) = referee_of(&text, context)? {
        games.push(ListedGame { rules, file: None, warning: None });
    }
    for found in files(context)? {
        let is_it = found.digest.to_string() == text;
        if let Ok(rules) = &found.rules
            && (is_it || rules.name() == text)
        {
            games.push(ListedGame::of_file(&found, rules, context));
        }
    }
    if games.is_empty() {
        if !args.game.exists() {
            return Err(Failure::usage(format!("there is no game and no file `{text}`"))
                .hint("`turnfold game list` lists the games"));
        }
        let (file, rules) = read(&args.game)?;
        let has_passed = context.modules.has_passed(&digest(&file));
        let found = (args.game.clone(), file.len() as u64, has_passed);
        games.push(ListedGame { rules, file: Some(found), warning: None });
    }
    for game in games {
        let rules = &game.rules;
        let secrets = if rules.has_secrets() { "keeps secrets" } else { "keeps no secrets" };
        context.output.show(&game.json(), || {
            let digest = rules.module().map(|module| dim(format_args!("digest {module}")).into());
            let about = plain(format_args!("{}; {secrets}", rules.summary())).into();
            [game.line(), about].into_iter().chain(digest).collect()
        })?;
    }
    Ok(ExitStatus::Yes)
}

fn check(args: &CheckArgs, context: &mut Context) -> Result<ExitStatus, Failure> {
    let text = args.game.to_string_lossy();
    let (origin, rules) = if let Ok(digest) = text.parse::<Digest>() {
        let found = files(context)?.into_iter().find(|found| found.digest == digest);
        let found = found.ok_or_else(|| Failure::usage(format!("there is no module {digest}")))?;
        (format!("module {digest:.16}"), found.rules.map_err(|error| unusable(&found.path, &error))?)
    } else if let Some(rules) = referee_of(&text, context)? {
        (format!("referee `{}`", rules.referee().unwrap_or_default()), rules)
    } else {
        let (file, rules) = read(&args.game)?;
        (format!("module {:.16}", digest(&file)), rules)
    };
    let broken = if rules.referee().is_some() {
        laws_broken_by_referee(&rules, args.time.seconds, context)
    } else {
        laws_broken_by(&*rules, args.time.seconds)
    };
    let has_passed = broken.is_empty();
    if has_passed
        && let Some(module) = rules.module()
        && context.modules.first().is_some()
    {
        context.modules.note_passed(&module).map_err(|error| unwritable(&error))?;
    }
    let is_played = lists_commands(&*rules);
    let answer = json!({
        "ruleset": rules.name(), "version": rules.version(), "module": rules.module(), "referee": rules.referee(),
        "ok": has_passed, "broken": broken, "is_played": is_played,
    });
    context.output.answer(&answer, || {
        let game = strong(format_args!("{} {}", rules.name(), rules.version()));
        let mut lines: Vec<Line> = broken.iter().map(|law| Line::from(law.clone())).collect();
        if has_passed {
            lines.push([game, plain(format_args!(" ({origin}): all laws passed"))].into());
        }
        if !is_played {
            lines.push(dim("it lists no commands, so no match was played; it would offer `legal`").into());
        }
        lines
    })?;
    Ok(has_passed.into())
}

/// Returns the referee that was named for a game, and starts it; `None` if there is none.
fn referee_of(name: &str, context: &Context) -> Result<Option<Arc<dyn AnyRules>>, Failure> {
    // Text that cannot be a name is a file, for which no program starts.
    let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if !is_name {
        return Ok(None);
    }
    Ok(context.registry.referee(name).map_err(ReplayError::from)?)
}

/// Returns `true` if the ruleset lists legal commands in the start position of its example.
fn lists_commands(rules: &dyn AnyRules) -> bool {
    let lists = || {
        let setup = rules.read_setup(rules.example())?;
        rules.start(&setup).map(|state| state.lists_legal())
    };
    // An example that cannot be started breaks a law, which reports it.
    catch(lists).ok().and_then(Result::ok).unwrap_or(true)
}

/// Runs the laws on a referee. A second process of it is asked as well, and asked again after some time has passed
/// (RF-15).
fn laws_broken_by_referee(rules: &Arc<dyn AnyRules>, seconds: u64, context: &Context) -> Vec<String> {
    let distrusting = rules.distrusting().unwrap_or_else(|| rules.clone());
    let mut broken = laws_broken_by(&*distrusting, seconds);
    if broken.is_empty()
        && let Some(referees) = context.registry.referees()
        && let Err(fault) = catch(|| referees.settle())
    {
        broken.push(fault.to_string());
    }
    broken
}

fn add_file(args: &AddArgs, context: &mut Context) -> Result<ExitStatus, Failure> {
    let (path, rules) = add_within(&args.file, args.time.seconds, context)?;
    let module = rules.module();
    let added =
        json!({ "ruleset": rules.name(), "version": rules.version(), "module": module, "file": path });
    context.output.answer(&added, || {
        let game = strong(format_args!("{} {}", rules.name(), rules.version()));
        vec![Line::from([plain("added "), game, plain(format_args!(" as `{}`", path.display()))])]
    })?;
    Ok(ExitStatus::Yes)
}

/// Checks a module and copies it to the folder of modules (MD-2). Returns the path of the copy.
pub(super) fn add(path: &Path, context: &Context) -> Result<(PathBuf, Arc<dyn AnyRules>), Failure> {
    add_within(path, MODULES_TIME.as_secs(), context)
}

fn add_within(path: &Path, seconds: u64, context: &Context) -> Result<(PathBuf, Arc<dyn AnyRules>), Failure> {
    let (file, rules) = read(path)?;
    require_folder(context)?;
    require_laws_within(&digest(&file), &*rules, seconds, "nothing was copied", context)?;
    Ok((write_module(&file, context)?, rules))
}

/// Requires a folder to copy modules to; a store in a database has none by default.
pub(super) fn require_folder(context: &Context) -> Result<(), Failure> {
    if context.modules.first().is_none() {
        return Err(Failure::usage("there is no folder for modules").hint("name one with `--modules DIR`"));
    }
    Ok(())
}

/// Requires the laws to pass on a module, unless they have passed here before. `undone` ends the error, such as
/// "nothing was imported".
pub(super) fn require_laws(
    module: &Digest,
    rules: &dyn AnyRules,
    undone: &str,
    context: &Context,
) -> Result<(), Failure> {
    require_laws_within(module, rules, MODULES_TIME.as_secs(), undone, context)
}

fn require_laws_within(
    module: &Digest,
    rules: &dyn AnyRules,
    seconds: u64,
    undone: &str,
    context: &Context,
) -> Result<(), Failure> {
    if !context.modules.has_passed(module)
        && let Some(law) = laws_broken_by(rules, seconds).first()
    {
        return Err(Failure::negative(format!("{law}; {undone}")));
    }
    Ok(())
}

/// Copies a module that has passed the laws to the folder of modules, and returns the path of the copy.
pub(super) fn write_module(file: &[u8], context: &Context) -> Result<PathBuf, Failure> {
    let added = context.modules.add(file).map_err(|error| unwritable(&error))?;
    context.modules.note_passed(&digest(file)).map_err(|error| unwritable(&error))?;
    Ok(added)
}

/// Finds the module with a digest, for a match that is to pin it.
pub(super) fn find_module(module: &Digest, context: &Context) -> Result<Arc<dyn AnyRules>, Failure> {
    let found = files(context)?.into_iter().find(|found| found.digest == *module);
    let missing = || Failure::usage(format!("there is no module {module}"));
    let found = found.ok_or_else(|| missing().hint("`turnfold game list` lists those there are"))?;
    let rules = found.rules.map_err(|error| unusable(&found.path, &error))?;
    let resolved = context.registry.resolve(rules.name(), rules.version(), Some(module));
    Ok(resolved.map_err(|cause: NoRules| ReplayError::from(cause))?)
}

/// Loads a module by its digest, or from a file, which is not copied.
pub(super) fn module_of(module: &Path, context: &Context) -> Result<Arc<dyn AnyRules>, Failure> {
    match module.to_string_lossy().parse() {
        Ok(digest) => find_module(&digest, context),
        Err(_) => read(module).map(|(_, rules)| rules),
    }
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
        let at = match tried.positions {
            0 => String::new(),
            positions => format!(
                ": at {} of {positions} positions of {} matches, and {} there",
                tried.positions_tried,
                tried.matches,
                if broken.is_empty() { "none was broken" } else { "these were broken" }
            ),
        };
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

fn read(path: &Path) -> Result<(Vec<u8>, Arc<dyn AnyRules>), Failure> {
    let file = read_module(path).map_err(|error| Failure::file("read", path, &error))?;
    let rules = load(&file).map_err(|error| unusable(path, &error))?;
    Ok((file, rules))
}

/// Adds a hint about the first file that does not load as a module, because it may hold the missing rules.
pub(super) fn name_unusable(failure: Failure, context: &Context) -> Failure {
    let unusable: Vec<_> = context.modules.files().unwrap_or_default();
    let unusable = unusable.iter().find_map(|found| Some((&found.path, found.rules.as_ref().err()?)));
    match unusable {
        Some((path, error)) => failure.hint(format!("`{}` does not load: {error}", path.display())),
        None => failure,
    }
}

fn files(context: &Context) -> Result<Vec<ModuleFile>, Failure> {
    context.modules.files().map_err(|error| Failure::trouble(format!("cannot read the modules: {error}")))
}

fn unusable(path: &Path, error: &turnfold_referee::LoadError) -> Failure {
    Failure::usage(format!("`{}`: {error}", path.display()))
}

fn unwritable(error: &io::Error) -> Failure {
    Failure::trouble(format!("cannot write to the folder of modules: {error}"))
}

fn guest(args: &GuestArgs, context: &mut Context) -> Result<ExitStatus, Failure> {
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
        let name = name.escape_debug();
        return Err(
            Failure::usage(format!("there is no guest `{name}`")).hint("`turnfold game guest` lists them")
        );
    };
    let file = args.file.write(text)?;
    let shown = Some(text).filter(|_| file.is_none());
    let document = json!({ "guest": name, "summary": summary, "file": file, "text": shown });
    context.output.answer(&document, || match &file {
        Some(file) => vec![Line::from([plain(format_args!("wrote `{}`", printable(file)))])],
        None => text.lines().map(|line| Line::from([plain(line)])).collect(),
    })
}
