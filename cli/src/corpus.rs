//! Reads many logs: revisions, replay files, folders, patterns or a whole store.

use std::mem;
use std::sync::Arc;

use rayon::prelude::*;
use turnfold_core::Registry;
use turnfold_history::{
    Divergence, History, HistorySource, ReplayError, Revision, SeatHistory, SourceName, Sources, Viewer,
    golden::found::FoundFiles,
};
use turnfold_store::StoreReader;

use crate::bundles::Bundles;
use crate::context::{Context, read_replay};
use crate::failure::{Failure, unless_fault};
use crate::histories::{require_seat, warn_of_record};
use crate::remote::client::Client;
use crate::remote::look;
use crate::sources::{
    REPLAYS, Several, files_of, in_bundle, require_one_stdin, stands_for_files, unsearched,
};
use crate::stderr;

/// How many logs are read before their results are shown.
const CHUNK: usize = 256;

/// The most logs that errors name; the others are counted.
const UNREAD_MAX: usize = 10;

/// The logs to look at.
#[derive(Debug, clap::Args)]
pub(crate) struct CorpusArgs {
    /// Revisions, replay files, patterns such as 'replays/**/*.tfl', or folders to search for `*.tfl`; `-` is standard input
    #[arg(value_name = "SOURCE", default_value = "replays", conflicts_with = "matches")]
    sources: Vec<String>,

    /// Look at every branch of every match in the store instead
    #[arg(long)]
    matches: bool,
}

/// The named logs, and the sources to read them from.
pub(crate) struct Corpus {
    logs: Vec<SourceName>,
    /// Failures of folders and patterns that cannot be searched for logs.
    failures: Vec<Failure>,
    store: Option<StoreReader>,
    client: Option<Client>,
    registry: Registry,
    bundles: Arc<Bundles>,
}

/// A log that has been read.
struct Read {
    seat_history: SeatHistory,
    /// The first entry for which its file records something else than this build computes.
    contradiction: Option<Divergence>,
    is_of_seat: bool,
}

impl CorpusArgs {
    /// Returns the named sources, or `None` for all matches of the store.
    fn named(&self, context: &Context) -> Result<Option<Several<SourceName>>, Failure> {
        if self.matches {
            return Ok(None);
        }
        let mut sources = Vec::new();
        let mut failures = Vec::new();
        for text in &self.sources {
            if !stands_for_files(text) {
                let name: SourceName = text.parse().map_err(Failure::usage)?;
                match in_bundle(&name, context)? {
                    Some(within) => sources.extend(within),
                    None => sources.push(name),
                }
                continue;
            }
            let FoundFiles { files, failed, .. } = files_of(text, &REPLAYS)?;
            sources.extend(files.iter().map(|file| SourceName::of_file(file)));
            failures.extend(failed.into_iter().map(|error| unsearched(text, error)));
        }
        require_one_stdin(sources.iter().filter(|name| name.is_standard_input()).count())?;
        Ok(Some(Several { sources, failures }))
    }

    /// Finds the logs without reading them.
    pub(crate) fn corpus(&self, context: &Context) -> Result<Corpus, Failure> {
        let mut corpus = Corpus {
            logs: Vec::new(),
            failures: Vec::new(),
            store: None,
            client: None,
            registry: context.registry.clone(),
            bundles: context.bundles.clone(),
        };
        if self.matches {
            corpus.client = context.service()?;
        }
        if let Some(client) = &corpus.client {
            corpus.logs = look::branches(client)?;
        } else if self.matches {
            let store = context.read_store()?;
            for found in store.matches()? {
                let branches = match store.branches(&found.name) {
                    Ok(branches) => branches,
                    Err(error) => {
                        corpus.failures.push(Failure::from(error).about(found.name.as_str()));
                        continue;
                    }
                };
                for branch in branches {
                    let revision =
                        Revision { match_name: found.name.clone(), branch: branch.name, seq: None };
                    corpus.logs.push(SourceName::Revision(revision));
                }
            }
            corpus.store = Some(store);
        }
        if let Some(Several { sources, failures }) = self.named(context)? {
            let is_stored = |log: &SourceName| matches!(log, SourceName::Revision(_));
            if sources.iter().any(is_stored) {
                corpus.client = context.service()?;
                if corpus.client.is_none() {
                    corpus.store = Some(context.read_store()?);
                }
            }
            corpus.logs = sources;
            corpus.failures = failures;
        }
        Ok(corpus)
    }
}

impl Corpus {
    /// Returns the service and the revisions to search there. Returns `None` if one is not on a service, or if the
    /// viewer is a seat and names an entry: the service searches only what the seat knows now.
    pub(crate) fn on_service(&mut self, viewer: Option<Viewer>) -> Option<(Client, Several<SourceName>)> {
        let sees_all = viewer.is_none_or(Viewer::sees_all) && self.client.as_ref()?.sees_all();
        for log in &self.logs {
            let SourceName::Revision(revision) = log else { return None };
            if revision.seq.is_some() && !sees_all {
                return None;
            }
        }
        let client = self.client.take()?;
        Some((
            client,
            Several { sources: mem::take(&mut self.logs), failures: mem::take(&mut self.failures) },
        ))
    }

    /// Reads the logs in parallel, as a viewer knows them, and shows the result of `look` for each, in order. Returns
    /// the failure of the logs that could not be read, to be reported after the others have been shown.
    ///
    /// # Errors
    /// The failure of the logs, if none could be read, and failures of `show`.
    pub(crate) fn each<T: Send>(
        mut self,
        viewer: Viewer,
        look: impl Fn(SeatHistory) -> Result<T, ReplayError> + Sync,
        mut show: impl FnMut(&SourceName, T) -> Result<(), Failure>,
    ) -> Result<Option<Failure>, Failure> {
        let progress = stderr::progress(self.logs.len() as u64, "reading {bar:30} {pos}/{len} {eta}");
        let look = |name: &SourceName| {
            let found = unless_fault(&name.to_string(), || {
                let Read { seat_history, contradiction, is_of_seat } = self.read(name, viewer)?;
                Ok((look(seat_history)?, contradiction, is_of_seat))
            });
            progress.inc(1);
            found
        };
        let mut unread = Vec::new();
        for chunk in self.logs.chunks(CHUNK) {
            let found: Vec<_> = chunk.par_iter().map(look).collect();
            for (name, found) in chunk.iter().zip(found) {
                match found {
                    Ok((found, contradiction, is_of_seat)) => progress.suspend(|| {
                        warn_of_record(name, contradiction.as_ref(), is_of_seat);
                        show(name, found)
                    })?,
                    Err(failure) => unread.push(failure.about(&name.to_string())),
                }
            }
        }
        progress.finish_and_clear();
        let logs = self.logs.len();
        let is_any_read = unread.len() < logs;
        let mut failures = mem::take(&mut self.failures);
        failures.extend(in_one(unread, logs));
        match Failure::worst_of(failures) {
            Some(failure) if !is_any_read => Err(failure),
            failure => Ok(failure),
        }
    }

    fn read(&self, name: &SourceName, viewer: Viewer) -> Result<Read, Failure> {
        let source = match name {
            SourceName::File(file) => {
                let replay = read_replay(&file.path, &self.registry, &self.bundles)?;
                HistorySource::of(History::of_replay(&file.path, &replay)?)
            }
            SourceName::Revision(revision) => {
                let whole = Revision { seq: None, ..revision.clone() };
                match (&self.client, &self.store) {
                    (Some(client), _) => {
                        let replay = look::fetch(client, &whole, &self.registry)?;
                        HistorySource::of(History::of_fetched(&whole, &replay)?)
                    }
                    (None, Some(store)) => HistorySource::of_branch(&whole, store, &self.registry, None)?,
                    (None, None) => unreachable!("a store is open where a revision is named"),
                }
            }
        };
        let mut seat_history = SeatHistory::of_source(viewer, source)?;
        require_seat(viewer, seat_history.start()?.players(), name)?;
        let contradiction = seat_history.contradiction();
        let is_of_seat = seat_history.is_of_seat();
        if let Some(seq) = name.seq() {
            seat_history = seat_history.up_to(seq)?;
        }
        Ok(Read { seat_history, contradiction, is_of_seat })
    }
}

/// Merges the failures of unreadable logs into one, with the first of them for printing.
fn in_one(mut unread: Vec<Failure>, logs: usize) -> Option<Failure> {
    if logs == 1 {
        return unread.pop();
    }
    let (count, kind) = (unread.len(), unread.iter().max_by_key(|failure| failure.exit_code())?.kind);
    let more =
        if count > UNREAD_MAX { format!("; the first {UNREAD_MAX} are named above") } else { String::new() };
    unread.truncate(UNREAD_MAX);
    let message = format!("{count} of {logs} logs cannot be read{more}");
    let mut failure = Failure::new(kind, message);
    failure.others = unread.into();
    Some(failure)
}
