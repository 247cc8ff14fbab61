//! Completes commands of `play MATCH`: exactly those that `legal` lists for the same viewer.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Arc;

use clap_complete::CompletionCandidate;
use turnfold_core::{Digest, Registry};
use turnfold_history::fault::catch;
use turnfold_history::viewer::seat_history::seek;
use turnfold_history::{Replay, ReplayError, Revision, SourceName, Sources, Viewer};
use turnfold_referee::ModuleFolders;
use turnfold_show::render::{LegalCommand, legal_commands};
use turnfold_store::StoreReader;

use super::{NAMES_MAX, module_folders, store_dir};
use crate::context::build_identity;
use crate::grammar;

/// The longest history in which commands are completed; a longer one would keep the user waiting.
const ENTRIES_MAX: u64 = 50_000;

/// The match and the seat that the words before the cursor name.
struct Asked {
    revision: Revision,
    viewer: Option<Viewer>,
}

/// The store and rules of a completion. It starts no referee, because no user expects a program to run while typing,
/// and it reads no replay file.
struct Reading {
    registry: Registry,
    store: StoreReader,
}

impl Sources for Reading {
    fn registry(&self) -> &Registry {
        &self.registry
    }

    fn read_store(&self) -> Result<StoreReader, ReplayError> {
        Ok(self.store.clone())
    }

    fn read_replay(&self, path: &Path) -> Result<Replay, ReplayError> {
        Err(ReplayError::NoReplays(path.into()))
    }

    fn build(&self) -> Option<Digest> {
        build_identity()
    }
}

/// Returns the commands of the match that the words so far name, as far as its viewer may know them.
///
/// Only the first command of a call is completed, because the next ones depend on its outcome.
pub(super) fn commands(registry: &Registry, typed: &OsStr) -> Vec<CompletionCandidate> {
    let find = || catch(|| found(registry)).ok().flatten();
    // The rules of others may fail in any way; then nothing is offered.
    let found = panic::catch_unwind(AssertUnwindSafe(find)).ok().flatten().unwrap_or_default();
    let typed = unquoted(&typed.to_string_lossy());
    texts(&found, &typed).into_iter().take(NAMES_MAX).map(CompletionCandidate::new).collect()
}

/// The legal commands. They are offered with their seats, unless `--seat` names one.
struct Found {
    commands: Vec<LegalCommand>,
    is_of_seat: bool,
}

impl Default for Found {
    fn default() -> Self {
        Self { commands: Vec::new(), is_of_seat: true }
    }
}

/// Returns the commands that begin with the typed text. Without `--seat` they are offered with their seats, unless only
/// commands without seats begin with it.
fn texts(found: &Found, typed: &str) -> BTreeSet<String> {
    let without_seat = found.commands.iter().map(|legal| legal.command.clone());
    let with_seat = found.commands.iter().map(|legal| format!("{}: {}", legal.seat, legal.command));
    let begun = |text: &String| text.starts_with(typed);
    if !found.is_of_seat {
        let texts: BTreeSet<String> = with_seat.filter(begun).collect();
        if !texts.is_empty() {
            return texts;
        }
    }
    without_seat.filter(begun).collect()
}

fn found(registry: &Registry) -> Option<Found> {
    let Asked { revision, viewer: asked } = asked()?;
    let viewer = asked.unwrap_or(Viewer::HOST);
    let modules = ModuleFolders::new(module_folders()).with_own();
    let store = StoreReader::open(&store_dir(env::args_os())).ok()?;
    if store.head(&revision.match_name, &revision.branch).ok()? > ENTRIES_MAX {
        return None;
    }
    let registry = registry.clone().with_modules(Arc::new(modules));
    let sources = Reading { registry, store };
    let (viewer, state) = seek(viewer, &SourceName::Revision(revision), &sources).ok()?;
    if !state.lists_legal() || !viewer.is_of_match(state.players()) {
        return None;
    }
    let commands = legal_commands(asked, viewer, state.as_ref());
    Some(Found { commands, is_of_seat: asked.is_some() })
}

/// Reads the words before the cursor, which may be incomplete. Returns `None` unless they name a match and no command
/// yet.
fn asked() -> Option<Asked> {
    let mut words: Vec<OsString> = env::args_os().skip_while(|word| word != "--").skip(1).collect();
    let index = env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|index| index.parse().ok());
    words.truncate(index.unwrap_or(words.len().saturating_sub(1)));
    let words: Vec<String> = words.iter().map(|word| unquoted(&word.to_string_lossy())).collect();
    let names_seat = words.iter().any(|word| word == "--seat" || word.starts_with("--seat="));
    let matches = grammar::grammar().ignore_errors(true).try_get_matches_from(words).ok()?;
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
    Some(Asked { revision: Revision { seq: None, ..revision }, viewer })
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
