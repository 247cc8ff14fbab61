//! Several sources in one call. Each is handled by itself, so a failure of one does not affect the others. The last
//! bundle stays in memory while its matches are read.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use turnfold_core::Registry;
use turnfold_history::golden::{FoundFiles, UnreadPath};
use turnfold_history::input::Limits;
use turnfold_history::tfl::{PageError, Replay, replay_bytes};
use turnfold_history::{RangeName, ReplayError, Revision, SourceName, Sources};
use turnfold_proof::ProofError;
use turnfold_proof::bundle::{BundledHistories, BundledName, BundledReplay, is_bundle};

use crate::advice::in_workspace;
use crate::context::{StoreAddress, Workspace};
use crate::failure::{ExitStatus, Failure, FailureKind, Result, unless_fault};
use crate::files::{is_standard, read_input_or_stdin};
use crate::output::{counted, warn};

pub(crate) const REPLAYS: [&str; 1] = ["tfl"];

/// The most unread files that warnings name; the others are counted.
const UNREAD_MAX: usize = 10;

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

/// The name of a branch of a store or of a replay file, with or without a range of entries.
pub(crate) trait NamedSource: Clone + From<SourceName> {
    fn source(&self) -> &SourceName;

    /// Returns the same part of another source.
    fn within(&self, source: SourceName) -> Self;
}

impl NamedSource for SourceName {
    fn source(&self) -> &SourceName {
        self
    }

    fn within(&self, source: SourceName) -> Self {
        source.up_to(self.seq())
    }
}

impl NamedSource for RangeName {
    fn source(&self) -> &SourceName {
        &self.source
    }

    fn within(&self, source: SourceName) -> Self {
        Self { source: self.source.within(source), first: self.first }
    }
}

pub(crate) enum Named<T> {
    /// A single source that was named directly; its output has no heading.
    One(T),
    /// Several sources, or the files of a folder or pattern.
    Several(Several<T>),
}

pub(crate) struct Several<T> {
    pub(crate) sources: Vec<T>,
    pub(crate) failures: Vec<Failure>,
}

impl<T: NamedSource> Named<T> {
    /// Returns the sources of arguments. A name that both a match and a folder have means the match.
    pub(crate) fn of(args: &[SourceArg<T>], workspace: &Workspace) -> Result<Self> {
        let mut found = Several::from(Vec::new());
        let mut is_one = args.len() == 1;
        for SourceArg { text, name } in args {
            is_one &= found.add(text, name.as_ref(), workspace)?;
        }
        require_one_stdin(found.sources.iter().filter(|name| name.source().is_standard_input()).count())?;
        match found.sources.as_slice() {
            [name] if is_one => Ok(Self::One(name.clone())),
            _ => Ok(Self::Several(found)),
        }
    }
}

impl<T: NamedSource> Several<T> {
    /// Adds what an argument stands for. Returns `true` if that is a single source, which is named directly.
    pub(crate) fn add(&mut self, text: &str, name: Option<&T>, workspace: &Workspace) -> Result<bool> {
        if let Some(name) = name
            && let Some(within) = in_bundle(name, workspace)?
        {
            let is_one = within.len() == 1;
            self.sources.extend(within);
            return Ok(is_one);
        }
        match name {
            Some(name) if !stands_for_files(text) || is_match(name.source(), workspace) => {
                self.sources.push(name.clone());
                Ok(true)
            }
            _ => {
                let files = files_of(text, &REPLAYS, &mut self.failures)?;
                self.sources.extend(files.iter().map(|file| T::from(SourceName::of_file(file))));
                Ok(false)
            }
        }
    }
}

pub(crate) fn require_one_stdin(count: usize) -> Result<()> {
    if count > 1 {
        let refused = Failure::usage("standard input can be read only once");
        return Err(refused.hint("name a file for one of them"));
    }
    Ok(())
}

/// Reads standard input if it is named, before any file is read. A page without a replay is refused, as a file with one
/// is.
pub(crate) fn read_piped(paths: &[PathBuf]) -> Result<Vec<u8>> {
    let path = Path::new("-");
    let count = paths.iter().filter(|path| is_standard(path)).count();
    require_one_stdin(count)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let bytes = read_input_or_stdin(path, &Limits::REPLAY)?;
    match replay_bytes(path, bytes.clone()) {
        Err(error @ PageError::NoReplay { .. }) => Err(ReplayError::from(error).into()),
        _ => Ok(bytes),
    }
}

fn in_bundle<T: NamedSource>(name: &T, workspace: &Workspace) -> Result<Option<Vec<T>>> {
    let path = match name.source() {
        SourceName::File(file) => file.path.clone(),
        SourceName::Revision(revision) => {
            PathBuf::from(Revision { seq: None, ..revision.clone() }.to_string())
        }
    };
    if !is_bundle(&path) || is_match(name.source(), workspace) {
        return Ok(None);
    }
    let within = workspace.bundles.names(&path, &workspace.registry)?;
    // The only match of a bundle is named like the bundle.
    let within = if within.len() == 1 { vec![path] } else { within };
    Ok(Some(within.iter().map(|path| name.within(SourceName::of_file(path))).collect()))
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

pub(crate) fn stands_for_files(text: &str) -> bool {
    let path = Path::new(text);
    path.is_dir() || is_pattern(text) && !path.exists()
}

/// Returns `true` if there is a match with this name. In a database or a service, every name counts as one.
fn is_match(name: &SourceName, workspace: &Workspace) -> bool {
    let SourceName::Revision(revision) = name else { return false };
    if !matches!(workspace.store, StoreAddress::Dir(_)) {
        return true;
    }
    workspace.read_store().is_ok_and(|store| store.genesis(&revision.match_name).is_ok())
}

/// Finds the files in a folder or of a pattern that have one of these endings, and warns of similar files that are not
/// read.
fn files_of(text: &str, endings: &[&str], failures: &mut Vec<Failure>) -> Result<Vec<PathBuf>> {
    let path = Path::new(text);
    let found = if path.is_dir() {
        FoundFiles::with_ending(&[path.into()], endings)
    } else {
        matching(text, endings)?
    };
    warn_of_unread(&found.unread);
    for error in found.failed {
        let is_store = matches!(error, ReplayError::NoReplays(_)) && path.join("journal").is_dir();
        let mut failure = Failure::from(error);
        if is_store {
            failure =
                failure.hint(format!("it is a store: `turnfold --store {text} matches` lists what is in it"));
        }
        failures.push(failure);
    }
    Ok(found.files)
}

fn matching(pattern: &str, endings: &[&str]) -> Result<FoundFiles> {
    let paths =
        glob::glob(pattern).map_err(|error| Failure::usage(format!("`{pattern}` is no pattern: {error}")))?;
    let mut found = FoundFiles::default();
    for path in paths {
        match path {
            Ok(path) if path.is_file() => found.add_if_ending(path, endings),
            Ok(_) => {}
            Err(error) => {
                let path = error.path().to_path_buf();
                let cause = error.error().to_string();
                found.failed.push(ReplayError::Folder(path, cause));
            }
        }
    }
    if found.files.is_empty() && found.failed.is_empty() {
        found.failed.push(ReplayError::NoReplays(pattern.into()));
    }
    Ok(found)
}

pub(crate) fn warn_of_unread(unread: &[UnreadPath]) {
    for path in unread.iter().take(UNREAD_MAX) {
        warn(&path.to_string());
    }
    if let Some(more) = unread.len().checked_sub(UNREAD_MAX).filter(|more| *more > 0) {
        let more = counted(more as u64, "more such path was", "more such paths were");
        warn(&format!("{more} not read"));
    }
}

pub(crate) fn expanded(named: &[PathBuf], endings: &[&str]) -> Result<Several<PathBuf>> {
    let mut all = Several::from(Vec::new());
    for file in named {
        match file.to_str().filter(|text| stands_for_files(text)) {
            Some(text) => all.sources.extend(files_of(text, endings, &mut all.failures)?),
            None => all.sources.push(file.clone()),
        }
    }
    if all.sources.is_empty() {
        return Failure::worst_of(all.failures).map_or(Ok(Vec::new().into()), Err);
    }
    Ok(all)
}

impl<T> Several<T> {
    /// Handles each source. Failures name their sources and are printed at the end; the worst of them gives the exit
    /// code. The context is a verb's, or a workspace alone, which is all that a corpus has.
    pub(crate) fn answer_each<C: Deref<Target = Workspace>>(
        self,
        shown: impl Fn(&T) -> String,
        context: &mut C,
        mut answer: impl FnMut(&T, &mut C) -> Result<ExitStatus>,
    ) -> Result<ExitStatus> {
        let Self { sources, mut failures } = self;
        let mut status = ExitStatus::Yes;
        for source in &sources {
            let name = shown(source);
            match unless_fault(&name, || answer(source, context)) {
                Ok(ExitStatus::Yes) => {}
                Ok(ExitStatus::No) => status = ExitStatus::No,
                Err(failure) if failure.kind == FailureKind::ClosedPipe => return Err(failure),
                Err(failure) => {
                    failures.push(in_workspace(failure, context).about(&name));
                }
            }
        }
        Failure::worst_of(failures).map_or(Ok(status), Err)
    }
}

impl<T> From<Vec<T>> for Several<T> {
    fn from(sources: Vec<T>) -> Self {
        Self { sources, failures: Vec::new() }
    }
}

/// The bundle that was read last, and the matches whose missing entries have been reported.
#[derive(Default)]
pub(crate) struct Bundles {
    last: Mutex<Option<Arc<BundledHistories>>>,
    noted: Mutex<BTreeSet<PathBuf>>,
}

impl Bundles {
    pub(crate) fn names(&self, bundle: &Path, registry: &Registry) -> Result<Vec<PathBuf>, ReplayError> {
        Ok(self.read(bundle, registry)?.names())
    }

    /// Reads a match of a bundle up to its first missing entry, and warns once of missing entries.
    pub(crate) fn replay(&self, name: &BundledName, registry: &Registry) -> Result<Replay, ReplayError> {
        let BundledReplay { replay, lacks } =
            self.read(&name.bundle, registry)?.replay(name).map_err(of_source)?;
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lacks) = lacks
            && noted.insert(PathBuf::from(&replay.file))
        {
            let all = counted(lacks.all, "entry", "entries");
            warn(&format!(
                "{}: {} of {all} are left out, from entry {} on; it is read up to the entry before",
                replay.file, lacks.count, lacks.first
            ));
        }
        Ok(replay)
    }

    fn read(&self, bundle: &Path, registry: &Registry) -> Result<Arc<BundledHistories>, ReplayError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = last.as_ref().filter(|found| found.path == bundle) {
            return Ok(Arc::clone(found));
        }
        let found = Arc::new(BundledHistories::read(bundle, registry).map_err(of_source)?);
        *last = Some(Arc::clone(&found));
        Ok(found)
    }
}

fn of_source(error: ProofError) -> ReplayError {
    match error {
        ProofError::Replay(error) => error,
        ProofError::Refused(why) => ReplayError::Refused(why),
        ProofError::Changed(what) => ReplayError::Changed(what),
        error => ReplayError::Unusable(error.to_string()),
    }
}
