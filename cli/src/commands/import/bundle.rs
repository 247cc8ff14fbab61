//! A bundle imported into the store (TR-20a).

use std::path::Path;

use serde::Serialize;
use turnfold_replay::bundle::BundleFile;
use turnfold_replay::bundle::import::{ImportNames, ImportPlan, ImportedLine, LineChange};
use turnfold_store::{Store, StoreError};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Line, Report, counted, plain, strong};

/// The lines of a bundle that were imported.
#[derive(Serialize)]
struct ImportedBundle {
    lines: Vec<ImportedLine>,
}

impl Report for ImportedBundle {
    fn lines(&self) -> Vec<Line> {
        let line = |ImportedLine { match_name, branch, change, added, .. }: &ImportedLine| {
            let added = counted(*added, "entry", "entries");
            let change = match change {
                LineChange::UpToDate => ": already up to date".into(),
                LineChange::Forward(head) => format!(": {added} added after entry {head}"),
                LineChange::New(None) => format!(": imported, {added}"),
                LineChange::New(Some((parent, at))) => format!(": imported, {added} after {parent}:{at}"),
            };
            Line::from([strong(format_args!("{match_name}@{branch}")), plain(change)])
        };
        self.lines.iter().map(line).collect()
    }
}

pub(super) fn import(path: &Path, names: &ImportNames, context: &mut Context) -> Result<ExitStatus, Failure> {
    let bundle = BundleFile::read(path).map_err(|error| {
        let failure = Failure::from(error);
        let message = format!("bundle `{}`: {failure}, nothing was imported", path.display());
        failure.with_message(message)
    })?;
    // A store is made, or one whose creation was cut short completed, only for a bundle that can be imported. Another
    // directory that is no store is refused then.
    let store = match Store::open(context.store_dir()?) {
        Ok(store) => Some(store),
        Err(StoreError::Missing { .. } | StoreError::NotAStore { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let plan = ImportPlan::of(&bundle, store.as_deref(), &context.registry, names)?;
    let store = store.map_or_else(|| context.open_or_create_store(), Ok)?;
    plan.carry_out(&store)?;
    store.close()?;
    context.output.report(&ImportedBundle { lines: plan.lines })?;
    Ok(ExitStatus::Yes)
}
