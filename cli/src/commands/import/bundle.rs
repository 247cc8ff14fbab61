//! A bundle taken into the store (TR-20a).

use std::path::Path;

use serde::Serialize;
use turnfold_replay::bundle::BundleFile;
use turnfold_replay::bundle_import::{ImportNames, ImportPlan, ImportedLine, LineChange};
use turnfold_store::{Store, StoreError};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Tone, counted, paint};

#[derive(Serialize)]
struct BundleJson {
    lines: Vec<LineJson>,
}

#[derive(Serialize)]
struct LineJson {
    #[serde(rename = "match")]
    match_name: String,
    branch: String,
    change: &'static str,
    added: u64,
}

pub(super) fn import(path: &Path, names: &ImportNames, context: &mut Context) -> Result<ExitStatus, Failure> {
    let bundle = BundleFile::read(path).map_err(|error| {
        let failure = Failure::from(error);
        let message = format!("bundle `{}`: {failure}, nothing was imported", path.display());
        failure.with_message(message)
    })?;
    // A store is made only for what can be taken in.
    let store = match Store::open(context.store_dir()?) {
        Ok(store) => Some(store),
        Err(StoreError::Missing { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let plan = ImportPlan::of(&bundle, store.as_deref(), &context.registry, names)?;
    let store = store.map_or_else(|| context.open_or_create_store(), Ok)?;
    plan.carry_out(&store)?;
    store.close()?;
    print(&plan.lines, context)?;
    Ok(ExitStatus::Yes)
}

fn print(lines: &[ImportedLine], context: &mut Context) -> Result<(), Failure> {
    let output = &mut context.output;
    if output.is_json() {
        let lines = lines.iter().map(|line| LineJson {
            match_name: line.match_name.to_string(),
            branch: line.branch.to_string(),
            change: match line.change {
                LineChange::UpToDate => "up_to_date",
                LineChange::Forward(_) => "forward",
                LineChange::New(_) => "new",
            },
            added: line.added,
        });
        return Ok(output.json(&BundleJson { lines: lines.collect() })?);
    }
    for ImportedLine { match_name, branch, change, added, .. } in lines {
        let name = paint(Tone::Strong, format_args!("{match_name}@{branch}"));
        let added = counted(*added, "entry", "entries");
        match change {
            LineChange::UpToDate => output.line(format_args!("{name}: already up to date"))?,
            LineChange::Forward(head) => {
                output.line(format_args!("{name}: {added} added after entry {head}"))?;
            }
            LineChange::New(None) => output.line(format_args!("{name}: imported, {added}"))?,
            LineChange::New(Some((parent, at))) => {
                output.line(format_args!("{name}: imported, {added} after {parent}:{at}"))?;
            }
        }
    }
    Ok(())
}
