//! Many logs at once: revisions, replay files, folders, patterns or a whole store.

use rayon::prelude::*;
use turnfold_core::Registry;
use turnfold_replay::{History, ReplayError, Revision, SeatHistory, SourceName, Sources, Viewer};
use turnfold_store::StoreReader;

use crate::context::{Context, read_replay};
use crate::failure::{Failure, unless_fault};
use crate::sources::{REPLAYS, files_of, stands_for_files};
use crate::stderr;

/// How many logs are looked at before what was found in them is shown.
const CHUNK: usize = 256;

/// The logs to look at.
#[derive(Debug, clap::Args)]
pub(crate) struct CorpusArgs {
    /// Revisions, replay files, patterns such as 'replays/**/*.tfl', or folders to search for `*.tfl`
    #[arg(value_name = "SOURCE", default_value = "replays", conflicts_with = "matches")]
    sources: Vec<String>,

    /// Look at every branch of every match in the store instead
    #[arg(long)]
    matches: bool,
}

/// The logs that were named, and what they are read from.
pub(crate) struct Corpus {
    logs: Vec<SourceName>,
    store: Option<StoreReader>,
    registry: Registry,
}

impl CorpusArgs {
    /// Returns the sources that were named; `None` stands for every match.
    pub(crate) fn named(&self) -> Result<Option<Vec<SourceName>>, Failure> {
        if self.matches {
            return Ok(None);
        }
        let mut found = Vec::new();
        for source in &self.sources {
            found.extend(logs(source)?);
        }
        Ok(Some(found))
    }

    /// Finds the logs; none of them is read yet.
    pub(crate) fn corpus(&self, context: &Context) -> Result<Corpus, Failure> {
        let mut corpus = Corpus { logs: Vec::new(), store: None, registry: context.registry.clone() };
        if self.matches {
            let store = context.read_store()?;
            for found in store.matches()? {
                for branch in store.branches(&found.name)? {
                    let revision =
                        Revision { match_name: found.name.clone(), branch: branch.name, seq: None };
                    corpus.logs.push(SourceName::Revision(revision));
                }
            }
            corpus.store = Some(store);
        }
        if let Some(found) = self.named()? {
            if corpus.store.is_none() && found.iter().any(|log| matches!(log, SourceName::Revision(_))) {
                corpus.store = Some(context.read_store()?);
            }
            corpus.logs.extend(found);
        }
        Ok(corpus)
    }
}

/// Finds the logs that a source stands for.
fn logs(source: &str) -> Result<Vec<SourceName>, Failure> {
    if !stands_for_files(source) {
        return Ok(vec![source.parse().map_err(Failure::usage)?]);
    }
    Ok(files_of(source, &REPLAYS)?.iter().map(|file| SourceName::of_file(file)).collect())
}

impl Corpus {
    /// Looks at each log as a viewer knows it, many at once, and shows what was found in each, in order. What cannot be
    /// read is counted, and the first of it is the error at the end.
    pub(crate) fn each<T: Send>(
        self,
        viewer: Viewer,
        look: impl Fn(SeatHistory) -> Result<T, ReplayError> + Sync,
        mut show: impl FnMut(&SourceName, T) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let progress = stderr::progress(self.logs.len() as u64, "reading {bar:30} {pos}/{len} {eta}");
        let look = |name: &SourceName| {
            let found = unless_fault(&name.to_string(), || Ok(look(self.read(name, viewer)?)?));
            progress.inc(1);
            found
        };
        let (mut unread, mut first) = (0_u64, None);
        for chunk in self.logs.chunks(CHUNK) {
            let found: Vec<_> = chunk.par_iter().map(look).collect();
            for (name, found) in chunk.iter().zip(found) {
                match found {
                    Ok(found) => progress.suspend(|| show(name, found))?,
                    Err(failure) => {
                        unread += 1;
                        first.get_or_insert(failure);
                    }
                }
            }
        }
        progress.finish_and_clear();
        match (first, self.logs.len()) {
            (None, _) => Ok(()),
            (Some(failure), 1) => Err(failure),
            (Some(failure), logs) => {
                let message = format!("{unread} of {logs} logs cannot be read; the first: {failure}");
                Err(failure.with_message(message))
            }
        }
    }

    fn read(&self, name: &SourceName, viewer: Viewer) -> Result<SeatHistory, ReplayError> {
        let history = match (name, &self.store) {
            (SourceName::File(file), _) => {
                History::of_replay(&file.path, &read_replay(&file.path, &self.registry)?)?
            }
            (SourceName::Revision(revision), Some(store)) => {
                let log = store.read(&revision.match_name, &revision.branch, None)?;
                History::of_log(&Revision { seq: None, ..revision.clone() }, log, &self.registry)?
            }
            (SourceName::Revision(_), None) => unreachable!("a store is open where a revision is named"),
        };
        let sight = SeatHistory::of(viewer, history)?;
        match name.seq() {
            Some(seq) => sight.up_to(seq),
            None => Ok(sight),
        }
    }
}
