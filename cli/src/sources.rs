//! Several sources in one call: each is answered by itself, and one that fails leaves the others as they are.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use turnfold_replay::{RangeName, ReplayError, SourceName, Sources, golden::check::files_ending};

use crate::address::StoreAddress;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure, FailureKind, unless_fault};
use crate::suggestion;

/// The ending of replay files, which folders and patterns stand for.
pub(crate) const REPLAYS: [&str; 1] = ["tfl"];

/// A source as an argument names it: a revision or file, or a folder or pattern that stands for several files.
#[derive(Clone, Debug)]
pub(crate) struct SourceArg<T> {
    text: String,
    name: Option<T>,
}

impl<T: FromStr> FromStr for SourceArg<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        let name = match text.parse() {
            Ok(name) => Some(name),
            Err(_) if Path::new(text).is_dir() || is_pattern(text) => None,
            Err(error) => return Err(error),
        };
        Ok(Self { text: text.into(), name })
    }
}

/// The name of a history in a store or a replay file.
pub(crate) trait NamedSource: Clone {
    /// Returns the history.
    fn source(&self) -> &SourceName;

    /// Returns a whole replay file.
    fn of_file(path: &Path) -> Self;
}

impl NamedSource for SourceName {
    fn source(&self) -> &SourceName {
        self
    }

    fn of_file(path: &Path) -> Self {
        SourceName::of_file(path)
    }
}

impl NamedSource for RangeName {
    fn source(&self) -> &SourceName {
        &self.source
    }

    fn of_file(path: &Path) -> Self {
        Self { source: SourceName::of_file(path), first: 1 }
    }
}

/// What arguments stand for.
pub(crate) enum Named<T> {
    /// One source, which was named itself and is answered as if there were no others.
    One(T),
    /// Several, or the files of a folder or pattern.
    Several(Vec<T>),
}

impl<T: NamedSource> Named<T> {
    /// Finds the sources that arguments stand for. A name that a match and a folder have means the match.
    pub(crate) fn of(args: &[SourceArg<T>], context: &Context) -> Result<Self, Failure> {
        let mut found = Vec::new();
        let mut is_one = args.len() == 1;
        for SourceArg { text, name } in args {
            match name {
                Some(name) if !stands_for_files(text) || is_match(name.source(), context) => {
                    found.push(name.clone());
                }
                _ => {
                    is_one = false;
                    found.extend(files_of(text, &REPLAYS)?.iter().map(|file| T::of_file(file)));
                }
            }
        }
        if found.iter().filter(|name| name.source().is_standard_input()).count() > 1 {
            let refused = Failure::usage("standard input can be read only once");
            return Err(refused.hint("name a file for one of them"));
        }
        Ok(match found.pop() {
            Some(name) if is_one => Self::One(name),
            last => Self::Several(found.into_iter().chain(last).collect()),
        })
    }
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Returns `true` if an argument is a folder or a pattern and no file.
pub(crate) fn stands_for_files(text: &str) -> bool {
    let path = Path::new(text);
    path.is_dir() || is_pattern(text) && !path.exists()
}

/// Returns `true` if a match has this name.
fn is_match(name: &SourceName, context: &Context) -> bool {
    let SourceName::Revision(revision) = name else { return false };
    let is_stored = || context.read_store()?.genesis(&revision.match_name).map_err(ReplayError::from);
    !matches!(context.store, StoreAddress::Dir(_)) || is_stored().is_ok()
}

/// Finds the files with one of these endings in a folder, or that match a pattern.
pub(crate) fn files_of(text: &str, endings: &[&str]) -> Result<Vec<PathBuf>, Failure> {
    let path = Path::new(text);
    if path.is_dir() {
        return files_ending(&[path.into()], endings).map_err(|error| match error {
            ReplayError::NoReplays(_) if path.join("journal").is_dir() => Failure::from(error)
                .hint(format!("it is a store: `turnfold --store {text} matches` lists what is in it")),
            error => error.into(),
        });
    }
    let paths =
        glob::glob(text).map_err(|error| Failure::usage(format!("`{text}` is no pattern: {error}")))?;
    let mut found = Vec::new();
    for path in paths {
        let path = path.map_err(|error| Failure::trouble(error.to_string()))?;
        let ends_so = path.extension().is_some_and(|found| endings.iter().any(|ending| found == *ending));
        if path.is_file() && ends_so {
            found.push(path);
        }
    }
    if found.is_empty() {
        return Err(ReplayError::NoReplays(text.into()).into());
    }
    Ok(found)
}

/// Returns the named files, and the files with one of these endings in named folders or that match named patterns.
pub(crate) fn expanded(named: &[PathBuf], endings: &[&str]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for file in named {
        match file.to_str().filter(|text| stands_for_files(text)) {
            Some(text) => files.extend(files_of(text, endings)?),
            None => files.push(file.clone()),
        }
    }
    Ok(files)
}

/// Answers for each of several sources. Every failure names its source and is printed at the end; the worst of them gives
/// the exit code.
pub(crate) fn answer_each<T>(
    sources: &[T],
    shown: impl Fn(&T) -> String,
    context: &mut Context,
    mut answer: impl FnMut(&T, &mut Context) -> Result<ExitStatus, Failure>,
) -> Result<ExitStatus, Failure> {
    let (mut status, mut failures) = (ExitStatus::Yes, Vec::new());
    for source in sources {
        let name = shown(source);
        match unless_fault(&name, || answer(source, context)) {
            Ok(ExitStatus::Yes) => {}
            Ok(ExitStatus::No) => status = ExitStatus::No,
            Err(failure) if failure.kind == FailureKind::ClosedPipe => return Err(failure),
            Err(failure) => {
                let failure = failure.in_store(context.damaged_store());
                failures.push(suggestion::about_match(failure, context).about(&name));
            }
        }
    }
    Failure::worst_of(failures).map_or(Ok(status), Err)
}
