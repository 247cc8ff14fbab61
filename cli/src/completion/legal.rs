//! Completes commands of `play MATCH`: exactly those that `legal` lists for the same viewer.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Arc;

use clap_complete::CompletionCandidate;
use turnfold_core::{Digest, Registry};
use turnfold_history::tfl::Replay;
use turnfold_history::{ReplayError, Revision, SeatHistory, SourceName, Sources, Viewer, catch};
use turnfold_referee::ModuleFolders;
use turnfold_show::render::{LegalCommand, legal_commands};
use turnfold_store::StoreReader;

use super::{NAMES_MAX, module_folders, store_dir};
use crate::context::build_identity;
use crate::grammar;

/// The longest history in which commands are completed; a longer one would keep the user waiting.
const ENTRIES_MAX: u64 = 50_000;

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
    // The rules of others may fail in any way; then nothing is offered.
    let found = panic::catch_unwind(AssertUnwindSafe(|| catch(|| found(registry))));
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

fn found(registry: &Registry) -> Option<(Vec<LegalCommand>, bool)> {
    let (revision, asked) = asked()?;
    let viewer = asked.unwrap_or(Viewer::HOST);
    let modules = ModuleFolders::new(module_folders()).with_own();
    let store = StoreReader::open(&store_dir()).ok()?;
    if store.head(&revision.match_name, &revision.branch).ok()? > ENTRIES_MAX {
        return None;
    }
    let registry = registry.clone().with_modules(Arc::new(modules));
    let sources = Reading { registry, store };
    let (viewer, state) = SeatHistory::seek(viewer, &SourceName::Revision(revision), &sources).ok()?;
    if !state.lists_legal() || !viewer.is_of_match(state.players()) {
        return None;
    }
    Some((legal_commands(asked, viewer, state.as_ref()), asked.is_some()))
}

/// Reads the words before the cursor, which may be incomplete. Returns the match and the seat that they name; `None`
/// unless they name a match and no command yet.
fn asked() -> Option<(Revision, Option<Viewer>)> {
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
