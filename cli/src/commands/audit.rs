//! `turnfold audit`: eight rows on a bundle or a store (TR-21 to TR-30, PM-32, PM-33, FD-19, FD-20).

use std::path::{Path, PathBuf};

use serde::Serialize;
use turnfold_core::trust::TrustPolicy;
use turnfold_replay::Sources;
use turnfold_replay::audit::{self, AuditQuestion, AuditRow, FairRoll, RowName, RowResult, read_held};
use turnfold_replay::bundle::{BundleError, BundleFile, StoreRecords};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files;
use crate::limits::POLICY;
use crate::output::{Tone, paint};

/// Check a bundle or the store, and say what is proven
///
/// Prints eight rows, always all of them: `bytes` (the form), `chain` (numbers and links), `signature` (checkpoints by
/// keys of the policy), `consistency` (what you kept is still there), `cosignatures` (witnesses), `dice` (seeded and fair
/// rolls computed again), `rules` (every command folded again) and `authorship` (who gave which command). A row is PASS,
/// FAIL or NOT CHECKED, with its reason. No row is better than what you bring: without `--policy` nobody's signature
/// counts, and a bundle brings no keys of its own.
///
/// A match by mail is held against its desk: each command follows from an order that its player signed, or from the
/// terms of play, each paper has seen this very desk, and fair dice are recomputed. `-v` prints what each roll follows
/// from.
///
/// What no row can say: who sat at the keyboard, whether players spoke to each other, whether dice on a table fell so,
/// whether mail was thrown away.
///
/// Exits with 1 if a row is FAIL, or a row of `--require` is not PASS. Needs no network, no clock and, for a bundle, no
/// store.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  turnfold audit duel.bundle
  turnfold audit duel.bundle --policy policy --held kept.checkpoint --require signature,consistency")]
pub(crate) struct Args {
    /// The bundle; the store itself, if none is named
    #[arg(value_name = "BUNDLE")]
    bundle: Option<PathBuf>,

    /// Whose signatures count: lines `log VKEY`, `witness NAME VKEY`, `group …`, `quorum NAME` or `quorum none`
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// A checkpoint, a proof or a bundle that you kept
    #[arg(long, value_name = "FILE")]
    held: Vec<PathBuf>,

    /// Rows that have to be PASS
    #[arg(long, value_name = "ROW", value_delimiter = ',')]
    require: Vec<RowName>,
}

#[derive(Serialize)]
struct AuditJson<'a> {
    ok: bool,
    rows: Vec<RowJson<'a>>,
}

#[derive(Serialize)]
struct RowJson<'a> {
    row: &'static str,
    result: &'static str,
    reason: &'a str,
    #[serde(rename = "match")]
    match_name: Option<&'a str>,
    branch: Option<&'a str>,
    seq: Option<u64>,
}

impl<'a> From<&'a AuditRow> for RowJson<'a> {
    fn from(row: &'a AuditRow) -> Self {
        let AuditRow { row, result, reason, at } = row;
        Self {
            row: row.name(),
            result: result.code(),
            reason,
            match_name: at.as_ref().map(|at| at.match_name.as_str()),
            branch: at.as_ref().map(|at| at.branch.as_str()),
            seq: at.as_ref().and_then(|at| at.seq),
        }
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    tracing::info!("{}", audit::UNSAID);
    let policy = args.policy.as_deref().map(read_policy).transpose()?;
    let mut held = Vec::new();
    for path in &args.held {
        held.extend(read_held(path)?);
    }
    let question = AuditQuestion { policy: policy.as_ref(), held: &held, registry: &context.registry };
    // FD-20
    let tell = &mut |roll: &FairRoll| tracing::info!("{roll}");
    let rows = if let Some(path) = &args.bundle {
        match BundleFile::read(path) {
            Ok(bundle) => audit::audit_with(&bundle, question, tell)?,
            Err(error @ BundleError::Malformed { .. }) => audit::malformed(&error),
            Err(error) => return Err(error.into()),
        }
    } else {
        let store = context.read_store()?;
        let notes = held.iter().map(|held| held.note.clone()).collect();
        audit::audit_with(&StoreRecords::of_all(&store)?.with_checkpoints(notes), question, tell)?
    };
    let is_missing = |row: &AuditRow| row.result != RowResult::Pass && args.require.contains(&row.row);
    let ok = !rows.iter().any(|row| row.result == RowResult::Fail || is_missing(row));
    print(&rows, ok, context)?;
    Ok(if ok { ExitStatus::Yes } else { ExitStatus::No })
}

fn print(rows: &[AuditRow], ok: bool, context: &mut Context) -> Result<(), Failure> {
    let output = &mut context.output;
    if output.is_json() {
        return Ok(output.json(&AuditJson { ok, rows: rows.iter().map(RowJson::from).collect() })?);
    }
    for AuditRow { row, result, reason, .. } in rows {
        let tone = match result {
            RowResult::Pass => Tone::Added,
            RowResult::NotChecked => Tone::Warning,
            RowResult::Fail => Tone::Removed,
        };
        output.line(format_args!("{row:12} {} {reason}", paint(tone, format_args!("{result:11}"))))?;
    }
    Ok(())
}

fn read_policy(path: &Path) -> Result<TrustPolicy, Failure> {
    let bytes = files::read_input_or_stdin(path, &POLICY)?;
    let name = files::input_name(path);
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::usage(format!("`{name}`: expected a policy in UTF-8")))?;
    TrustPolicy::read(&text).map_err(|error| Failure::usage(format!("policy `{name}`: {error}")))
}
