//! Shell completion of rulesets, seats, matches, branches and legal commands, in addition to the grammar.
//!
//! The script of a shell calls the program with [`VARIABLE`] set and the words so far; the answer goes to stdout.
//! Completion never writes to the store. If anything fails, it offers nothing.

use std::any::TypeId;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::{env, io};

use clap::{Arg, Command};
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};
use clap_complete::{
    ArgValueCandidates, ArgValueCompleter, CompleteEnv, CompletionCandidate, PathCompleter, Shell,
    engine::ValueCompleter,
};
use turnfold_core::{AnyRules, Registry, Seat};
use turnfold_history::input::has_ending;
use turnfold_history::{Revision, SourceName, Sources, Viewer, catch};
use turnfold_proof::audit::RowName;
use turnfold_referee::ModuleFolders;
use turnfold_show::render::{LegalCommand, legal_commands};
use turnfold_store::StoreReader;

use crate::commands::new;
use crate::context::{Context, DEFAULT_DIR, StoreAddress, Workspace};
use crate::failure::{ExitStatus, Failure, Result};
use crate::grammar::{grammar, values_of};
use crate::guides::GUIDES;
use crate::histories::seek;
use crate::program;

/// The environment variable with the name of the calling shell.
const VARIABLE: &str = "TURNFOLD_COMPLETE";

const NAMES_MAX: usize = 1000;

/// The longest history in which commands are completed; a longer one would keep the user waiting.
const ENTRIES_MAX: u64 = 50_000;

const SHELLS: Shells<'static> = Shells(&[&JoiningBash, &Elvish, &Fish, &Powershell, &Zsh]);

pub(crate) fn answer(registry: &Registry) -> bool {
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

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let refused = Failure::usage("a completion script is for a shell, there is no JSON of it");
    context.output.refuse_json(refused.hint("leave out `--format json`"))?;
    let completer =
        SHELLS.completer(&args.shell.to_string()).expect("each shell of the grammar has a completer");
    let name = program::name();
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, name, name, name, &mut script)?;
    context.output.document(&String::from_utf8_lossy(&script))?;
    Ok(ExitStatus::Yes)
}

fn completed(command: Command, registry: &Registry) -> Command {
    let plays = command.get_name() == "play";
    let makes_a_match = matches!(command.get_name(), "new" | "import" | "open" | "simulate");
    let command = command.mut_args(|arg| match arg.get_id().as_str() {
        "commands" if plays => {
            let registry = registry.clone();
            arg.add(ArgValueCompleter::new(move |typed: &OsStr| commands(&registry, typed)))
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
        "ROW" => arg.add(ArgValueCandidates::new(|| {
            RowName::ALL.into_iter().map(|row| CompletionCandidate::new(row.name())).collect()
        })),
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
    match StoreAddress::nearest() {
        Ok(StoreAddress::Dir(dir)) => dir,
        _ => DEFAULT_DIR.into(),
    }
}

/// Returns the commands of the match that the words so far name: exactly those that `legal` lists for the same viewer.
///
/// Only the first command of a call is completed, because the next ones depend on its outcome.
fn commands(registry: &Registry, typed: &OsStr) -> Vec<CompletionCandidate> {
    // The rules of others may fail in any way; then nothing is offered.
    let found = panic::catch_unwind(AssertUnwindSafe(|| catch(|| legal_in_match(registry))));
    let Ok(Ok(Some((commands, is_of_seat)))) = found else { return Vec::new() };
    let typed = unquoted(&typed.to_string_lossy());
    let mut without_seat = BTreeSet::new();
    let mut with_seat = BTreeSet::new();
    for LegalCommand { seat, command, .. } in commands {
        without_seat.insert(command.clone());
        with_seat.insert(format!("{seat}: {command}"));
    }
    without_seat.retain(|text| text.starts_with(&typed));
    with_seat.retain(|text| text.starts_with(&typed));
    // Without `--seat`, commands are offered with their seats, unless only commands without seats begin with the text.
    let offered = if is_of_seat || with_seat.is_empty() { without_seat } else { with_seat };
    offered.into_iter().take(NAMES_MAX).map(CompletionCandidate::new).collect()
}

fn legal_in_match(registry: &Registry) -> Option<(Vec<LegalCommand>, bool)> {
    let (revision, asked) = named_match()?;
    let viewer = asked.unwrap_or(Viewer::HOST);
    let modules = ModuleFolders::new(module_folders()).with_own();
    let store = StoreAddress::Dir(store_dir());
    // The registry has no referees, because no user expects a program to run while typing.
    let mut workspace = Workspace::new(store, None, registry.clone(), modules).ok()?;
    workspace.keep_reader();
    if workspace.read_store().ok()?.head(&revision.match_name, &revision.branch).ok()? > ENTRIES_MAX {
        return None;
    }
    let (viewer, state) = seek(viewer, &SourceName::Revision(revision), &workspace).ok()?;
    if !state.lists_legal() {
        return None;
    }
    Some((legal_commands(asked, viewer, state.as_ref()), asked.is_some()))
}

/// Reads the words before the cursor, which may be incomplete. Returns the match and the seat that they name; `None`
/// unless they name a match and no command yet.
fn named_match() -> Option<(Revision, Option<Viewer>)> {
    let mut words: Vec<OsString> = env::args_os().skip_while(|word| word != "--").skip(1).collect();
    let index = env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|index| index.parse().ok());
    words.truncate(index.unwrap_or(words.len().saturating_sub(1)));
    let words: Vec<String> = words.iter().map(|word| unquoted(&word.to_string_lossy())).collect();
    let names_seat = words.iter().any(|word| word == "--seat" || word.starts_with("--seat="));
    let matches = grammar().ignore_errors(true).try_get_matches_from(words).ok()?;
    let (_, of_play) = matches.subcommand().filter(|(verb, _)| *verb == "play")?;
    if of_play.try_get_many::<String>("commands").ok()?.is_some() {
        return None;
    }
    let revision = of_play.try_get_one::<Revision>("revision").ok()??.clone();
    let viewer = of_play.try_get_one::<Viewer>("viewer").ok()?.copied();
    // If the seat cannot be read, nothing is offered, because commands of other seats must not be shown.
    if names_seat && viewer.is_none() {
        return None;
    }
    Some((Revision { seq: None, ..revision }, viewer))
}

/// Removes the quotes and backslashes of the shell, which some shells leave in a word.
fn unquoted(word: &str) -> String {
    let mut text = String::new();
    let mut quote = None;
    let mut characters = word.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if character == open => quote = None,
            (None | Some('"'), '\\') => text.extend(characters.next()),
            _ => text.push(character),
        }
    }
    text
}

/// The completion script for bash.
///
/// Bash splits `duel@flank:3` at `@` and `:`. The script joins the words before it calls the program. From each answer
/// it offers only the part after the last such character, because bash replaces only that part. Bash does not split
/// within quotes; elsewhere the script escapes answers with spaces.
const BASH_SCRIPT: &str = r#"_NAME() {
    local IFS=$'\013' rest="$COMP_LINE" words=() trimmed piece i
    for ((i = 0; i <= COMP_CWORD; i++)); do
        piece="${COMP_WORDS[i]}"
        trimmed="${rest#"${rest%%[![:space:]]*}"}"
        if ((${#words[@]} == 0)) || [[ "$trimmed" != "$rest" ]]; then
            words+=("$piece")
        else
            words[${#words[@]} - 1]+="$piece"
        fi
        rest="${trimmed#"$piece"}"
    done
    local index=$((${#words[@]} - 1))
    local typed="${words[index]}"
    local head="${typed%"${typed##*[@:=]}"}" quoted=""
    if [[ "$typed" == [\"\']* ]]; then
        quoted=1
    fi
    if [[ -n "$quoted" || -n "$head" && "$COMP_WORDBREAKS" != *"${head: -1}"* ]]; then
        head=""
    fi
    COMPREPLY=($(VARIABLE=bash _CLAP_IFS="$IFS" _CLAP_COMPLETE_INDEX="$index" COMPLETER -- "${words[@]}" 2>/dev/null))
    COMPREPLY=("${COMPREPLY[@]#"$head"}")
    if [[ -z "$quoted" ]]; then
        for i in "${!COMPREPLY[@]}"; do
            if [[ "${COMPREPLY[i]}" == *[^A-Za-z0-9@%+=:,./_-]* ]]; then
                COMPREPLY[i]="$(printf %q "${COMPREPLY[i]}")"
            fi
        done
    fi
    if [[ "${COMPREPLY-}" =~ [=/:@]$ ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o bashdefault -F _NAME BINARY
"#;

/// Answers bash like the completer of clap, with a script of its own.
struct JoiningBash;

impl EnvCompleter for JoiningBash {
    fn name(&self) -> &'static str {
        Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        Bash.is(name)
    }

    fn write_registration(
        &self,
        variable: &str,
        name: &str,
        binary: &str,
        completer: &str,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let script = BASH_SCRIPT.replace("VARIABLE", variable).replace("COMPLETER", completer);
        out.write_all(script.replace("BINARY", binary).replace("NAME", name).as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        current_dir: Option<&Path>,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        Bash.write_complete(command, words, current_dir, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lose_what_a_shell_takes_from_them() {
        for (word, expected) in [
            ("p1:", "p1:"),
            ("\"p1: move 1,2", "p1: move 1,2"),
            ("'p1: say \"a\"'", "p1: say \"a\""),
            (r"p1:\ move\ 1\,2", "p1: move 1,2"),
            (r#""a\"b""#, "a\"b"),
            ("", ""),
        ] {
            assert_eq!(unquoted(word), expected);
        }
    }
}
