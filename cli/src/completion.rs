//! Shell completion of rulesets, seats, matches, branches and legal commands, in addition to the grammar.
//!
//! The script of a shell calls the program with [`VARIABLE`] set and the words so far; the answer goes to stdout.
//! Completion never writes to the store. If anything fails, it offers nothing.

mod bash;
mod legal;

use std::any::TypeId;
use std::env;
use std::ffi::OsStr;
use std::panic;
use std::path::{Path, PathBuf};

use clap::{Arg, Command};
use clap_complete::env::{Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};
use clap_complete::{
    ArgValueCandidates, ArgValueCompleter, CompleteEnv, CompletionCandidate, PathCompleter, Shell,
    engine::ValueCompleter,
};
use turnfold_core::{AnyRules, Registry, Seat};
use turnfold_history::input::has_ending;
use turnfold_history::{Revision, Viewer};
use turnfold_proof::audit::RowName;
use turnfold_referee::ModuleFolders;
use turnfold_store::StoreReader;

use bash::Bash;

use crate::address::{DEFAULT_DIR, StoreAddress};
use crate::commands::new;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::grammar::values_of;
use crate::guides::GUIDES;
use crate::program;

/// The environment variable with the name of the calling shell.
const VARIABLE: &str = "TURNFOLD_COMPLETE";

const NAMES_MAX: usize = 1000;

const SHELLS: Shells<'static> = Shells(&[&Bash, &Elvish, &Fish, &Powershell, &Zsh]);

pub(crate) fn answer(grammar: fn() -> Command, registry: &Registry) -> bool {
    if env::var_os(VARIABLE).is_none() {
        return false;
    }
    // A panic of a module or game must not print anything while the user types.
    panic::set_hook(Box::new(|_| {}));
    let request = CompleteEnv::with_factory(|| with_guides(completed(grammar(), registry)))
        .var(VARIABLE)
        .shells(SHELLS);
    request.try_complete(env::args_os(), env::current_dir().ok().as_deref()).unwrap_or(true)
}

/// Print a completion script for a shell
///
/// Rulesets, setups, seats, matches, branches and, behind `play MATCH`, the commands that `legal` lists are completed too:
/// the script asks `turnfold`, which reads the store and never writes to it. Behind `play MATCH --seat p1` only commands of
/// p1 are offered. A command with spaces is completed best between quotes.
///
/// For bash: `turnfold completions bash > ~/.local/share/bash-completion/completions/turnfold`
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold completions bash")]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let refused = Failure::usage("a completion script is for a shell, there is no JSON of it");
    context.output.refuse_json(refused.hint("leave out `--format json`"))?;
    let shell = args.shell.to_string();
    let Some(script) = script(&shell) else {
        return Err(Failure::usage(format!("there is no completion script for `{shell}`")));
    };
    context.output.document(&script)?;
    Ok(ExitStatus::Yes)
}

fn script(shell: &str) -> Option<String> {
    let mut script = Vec::new();
    let completer: &dyn EnvCompleter = SHELLS.completer(shell)?;
    let name = program::name();
    completer.write_registration(VARIABLE, name, name, name, &mut script).ok()?;
    String::from_utf8(script).ok()
}

fn completed(command: Command, registry: &Registry) -> Command {
    let plays = command.get_name() == "play";
    let makes_a_match = matches!(command.get_name(), "new" | "import" | "open" | "simulate");
    let command = command.mut_args(|arg| match arg.get_id().as_str() {
        "commands" if plays => {
            let registry = registry.clone();
            arg.add(ArgValueCompleter::new(move |typed: &OsStr| legal::commands(&registry, typed)))
        }
        _ => completed_arg(arg, makes_a_match, registry),
    });
    command.mut_subcommands(|verb| completed(verb, registry))
}

/// Adds the guides to the topics of `help`, after clap has added `help`.
fn with_guides(mut command: Command) -> Command {
    command.build();
    let guides = GUIDES.iter().map(|guide| Command::new(guide.name).about(guide.summary));
    command.mut_subcommand("help", |help| help.subcommands(guides))
}

fn completed_arg(arg: Arg, makes_a_match: bool, registry: &Registry) -> Arg {
    let is_ruleset = matches!(arg.get_id().as_str(), "rules" | "ruleset");
    let name = arg.get_value_names().and_then(<[_]>::first).map(ToString::to_string).unwrap_or_default();
    match name.as_str() {
        _ if is_ruleset => {
            let registry = registry.clone();
            arg.add(ArgValueCandidates::new(move || rulesets(&registry)))
        }
        _ if arg.get_id() == "setup" => {
            let registry = registry.clone();
            let takes_file = name == "NAME|FILE";
            arg.add(ArgValueCompleter::new(move |typed: &OsStr| setups(&registry, takes_file, typed)))
        }
        "SEAT" if arg.get_value_parser().type_id() == TypeId::of::<Viewer>() => {
            arg.add(ArgValueCandidates::new(|| {
                let mut offered = seats();
                offered.push(CompletionCandidate::new(Viewer::SPECTATOR.to_string()));
                offered
            }))
        }
        "SEAT" => arg.add(ArgValueCandidates::new(seats)),
        "ROW" => arg.add(ArgValueCandidates::new(rows)),
        "MATCH" if makes_a_match => arg,
        "MATCH" => arg.add(ArgValueCompleter::new(stored)),
        // An argument of this type accepts no file.
        "REV" if arg.get_value_parser().type_id() == TypeId::of::<Revision>() => {
            arg.add(ArgValueCompleter::new(stored))
        }
        "REV" | "REV:SEQ" | "REV|FILE" | "REV:SEQ|FILE:SEQ" | "MATCH|REV" | "A" | "B" => {
            arg.add(ArgValueCompleter::new(revisions))
        }
        _ => arg,
    }
}

fn rulesets(registry: &Registry) -> Vec<CompletionCandidate> {
    let mut offered: Vec<_> = registry.iter().map(|rules| ruleset(&**rules)).collect();
    for module in ModuleFolders::new(module_folders()).with_own().files().unwrap_or_default() {
        let Ok(rules) = module.rules else { continue };
        let offer = ruleset(&*rules);
        if offered.iter().all(|other| other.get_value() != offer.get_value()) {
            offered.push(offer);
        }
    }
    offered
}

fn ruleset(rules: &dyn AnyRules) -> CompletionCandidate {
    CompletionCandidate::new(rules.name()).help(Some(rules.summary().to_owned().into()))
}

fn setups(registry: &Registry, takes_file: bool, typed: &OsStr) -> Vec<CompletionCandidate> {
    let words: Vec<_> = env::args_os().collect();
    let mut offered = Vec::new();
    for rules in registry.iter() {
        let joined = format!("--rules={}", rules.name());
        if !words.iter().any(|word| word == rules.name() || *word == *joined) {
            continue;
        }
        for setup in new::setups(&**rules) {
            if setup.name.starts_with(&*typed.to_string_lossy()) {
                offered.push(CompletionCandidate::new(setup.name).help(Some(setup.summary().into())));
            }
        }
    }
    if takes_file {
        let files = PathCompleter::any().filter(|path| path.extension().is_some_and(|it| it == "toml"));
        offered.extend(files.complete(typed));
    }
    offered
}

fn module_folders() -> Vec<PathBuf> {
    let words: Vec<_> = env::args_os().collect();
    let mut named = values_of("--modules", words.iter());
    if named.is_empty() {
        named.extend(env::var_os("TURNFOLD_MODULES"));
    }
    if named.is_empty() {
        return vec![store_dir().join("modules")];
    }
    named.into_iter().map(PathBuf::from).collect()
}

fn seats() -> Vec<CompletionCandidate> {
    Seat::ALL.into_iter().map(|seat| CompletionCandidate::new(seat.name())).collect()
}

fn rows() -> Vec<CompletionCandidate> {
    RowName::ALL.into_iter().map(|row| CompletionCandidate::new(row.name())).collect()
}

fn revisions(typed: &OsStr) -> Vec<CompletionCandidate> {
    let mut offered = PathCompleter::any().filter(|path| has_ending(path, "tfl")).complete(typed);
    offered.extend(stored(typed));
    offered
}

fn stored(typed: &OsStr) -> Vec<CompletionCandidate> {
    let text = typed.to_string_lossy();
    let branched = text.split_once('@').map(|(match_name, _)| match_name);
    let mut names = stored_names(&store_dir(), branched).unwrap_or_default();
    names.retain(|name| name.starts_with(&*text));
    names.into_iter().map(CompletionCandidate::new).collect()
}

/// Returns the matches of a store or, with a match, its branches as `MATCH@BRANCH`. Returns `None` if the store cannot
/// be read.
fn stored_names(dir: &Path, of_match: Option<&str>) -> Option<Vec<String>> {
    let store = StoreReader::open(dir).ok()?;
    let names = if let Some(match_name) = of_match {
        let branches = store.branches(&match_name.parse().ok()?).ok()?;
        branches.iter().take(NAMES_MAX).map(|branch| format!("{match_name}@{}", branch.name)).collect()
    } else {
        let matches = store.matches_after(None).ok()?.take(NAMES_MAX);
        matches.map_while(Result::ok).map(|info| info.name.to_string()).collect()
    };
    Some(names)
}

fn store_dir() -> PathBuf {
    let words: Vec<_> = env::args_os().collect();
    let named = values_of("--store", words.iter()).into_iter().next();
    if let Some(dir) = named.or_else(|| env::var_os("TURNFOLD_STORE")) {
        return dir.into();
    }
    match StoreAddress::nearest().found {
        Some(StoreAddress::Dir(dir)) => dir,
        _ => DEFAULT_DIR.into(),
    }
}
