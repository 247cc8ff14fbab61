//! Bundles that verbs read directly. The last one stays in memory while its matches are read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use turnfold_core::Registry;
use turnfold_history::ReplayError;
use turnfold_history::tfl::Replay;
use turnfold_proof::ProofError;
use turnfold_proof::bundle::{BundledHistories, BundledName, BundledReplay};

use crate::output::{counted, warn};

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
