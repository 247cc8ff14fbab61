//! Reads many logs: revisions, replay files, folders, patterns or a whole store.

use rayon::prelude::*;
use turnfold_history::{
    History, HistorySource, ReplayError, Revision, SeatHistory, SourceName, Sources, Viewer,
};

use crate::context::Workspace;
use crate::failure::{Failure, Result, unless_fault};
use crate::histories::{record_warning, require_seat};
use crate::output::warn;
use crate::sources::{Several, require_one_stdin, stands_for_files};
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

pub(crate) struct Corpus<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) logs: Several<SourceName>,
}

impl CorpusArgs {
    pub(crate) fn corpus<'a>(&self, workspace: &'a mut Workspace) -> Result<Corpus<'a>> {
        workspace.keep_reader();
        if self.matches {
            let logs = workspace.matches()?.all_branches()?;
            return Ok(Corpus { workspace, logs });
        }
        let mut logs = Several::from(Vec::new());
        for text in &self.sources {
            // What stands for files is not read as a name, even if a match has it.
            let name: Option<SourceName> =
                if stands_for_files(text) { None } else { Some(text.parse().map_err(Failure::usage)?) };
            logs.add(text, name.as_ref(), workspace)?;
        }
        require_one_stdin(logs.sources.iter().filter(|name| name.is_standard_input()).count())?;
        // A store that is not there is one failure, not one of each revision.
        if logs.sources.iter().any(|name| matches!(name, SourceName::Revision(_))) {
            workspace.matches()?.require()?;
        }
        Ok(Corpus { workspace, logs })
    }
}

impl Corpus<'_> {
    /// Reads the logs in parallel, as a viewer knows them, and shows the result of `look` for each, in order. Returns
    /// the failure of the logs that could not be read, to be reported after the others have been shown.
    ///
    /// # Errors
    /// The failure of the logs, if none could be read, and failures of `show`.
    pub(crate) fn each<T: Send>(
        self,
        viewer: Viewer,
        look: impl Fn(SeatHistory) -> Result<T, ReplayError> + Sync,
        mut show: impl FnMut(&SourceName, T) -> Result<()>,
    ) -> Result<Option<Failure>> {
        let Several { sources: logs, mut failures } = self.logs;
        let workspace = self.workspace;
        let progress = stderr::progress(logs.len() as u64, "reading {bar:30} {pos}/{len} {eta}");
        let look = |name: &SourceName| {
            let found = unless_fault(&name.to_string(), || {
                let (seat_history, warning) = read(name, viewer, workspace)?;
                Ok((look(seat_history)?, warning))
            });
            progress.inc(1);
            found
        };
        let mut unread = Vec::new();
        for chunk in logs.chunks(CHUNK) {
            let found: Vec<_> = chunk.par_iter().map(look).collect();
            for (name, found) in chunk.iter().zip(found) {
                match found {
                    Ok((found, warning)) => progress.suspend(|| {
                        if let Some(warning) = warning {
                            warn(&warning);
                        }
                        show(name, found)
                    })?,
                    Err(failure) => unread.push(failure.about(&name.to_string())),
                }
            }
        }
        progress.finish_and_clear();
        let is_any_read = unread.len() < logs.len();
        failures.extend(in_one(unread, logs.len()));
        match Failure::worst_of(failures) {
            Some(failure) if !is_any_read => Err(failure),
            failure => Ok(failure),
        }
    }
}

/// Reads a log, and returns a warning if its file records something else than this build computes.
fn read(name: &SourceName, viewer: Viewer, workspace: &Workspace) -> Result<(SeatHistory, Option<String>)> {
    let source = match name {
        SourceName::File(file) => {
            HistorySource::from(History::of_replay(&file.path, &workspace.read_replay(&file.path)?)?)
        }
        SourceName::Revision(revision) => {
            let whole = Revision { seq: None, ..revision.clone() };
            if let Some(replay) = workspace.fetch(&whole)? {
                HistorySource::from(History::of_fetched(&whole, &replay)?)
            } else {
                HistorySource::of_branch(&whole, &workspace.read_store()?, &workspace.registry, None)?
            }
        }
    };
    let mut seat_history = SeatHistory::of(viewer, source)?;
    require_seat(viewer, seat_history.start()?.players(), name)?;
    let contradiction = seat_history.contradiction();
    let warning = contradiction.map(|found| record_warning(name, &found, seat_history.is_of_seat()));
    if let Some(seq) = name.seq() {
        seat_history = seat_history.up_to(seq)?;
    }
    Ok((seat_history, warning))
}

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
