//! `turnfold audit`: checks a bundle or a store and prints eight rows (TR-21 to TR-30, PM-32, PM-33, FD-19, FD-20).

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use turnfold_core::trust::TrustPolicy;
use turnfold_history::Sources;
use turnfold_history::input::Limits;
use turnfold_mail::audit::{FairRoll, audit_with};
use turnfold_proof::ProofError;
use turnfold_proof::audit::{self, AuditQuestion, AuditRow, PlayerKey, RowName, RowResult, read_held};
use turnfold_proof::bundle::{BundleFile, StoreRecords};
use turnfold_referee::within;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::files;
use crate::output::{Line, TextSpan, Tone, plain};

/// Policies, which have at most 32 logs, witnesses and groups, and comments.
const POLICY: Limits =
    Limits { what: "policy", bytes_max: 1 << 16, lines_max: 1 << 12, line_bytes_max: 1 << 12 };

/// Check a bundle or the store, and print what is proven
///
/// Always prints eight rows: `bytes` (the form), `chain` (numbers and links), `signature` (checkpoints by keys of the
/// policy), `consistency` (what you kept is still there), `cosignatures` (witnesses), `dice` (seeded and fair rolls
/// recomputed), `rules` (every command folded again) and `authorship` (who gave which command, and the key of each seat).
/// A row is PASS, FAIL, NOT CHECKED or NOT APPLICABLE, with its reason. The last line lists what is proven and what is
/// not. A row proves only as much as you provide: without `--policy` no signature counts, because a bundle contains no
/// keys that you have a reason to trust.
///
/// A match by mail is compared with its desk: each command follows from an order that its player signed or from the
/// terms of play, each paper names this history of the desk, and fair dice are recomputed. `-v` prints the inputs of each
/// roll.
///
/// No row can show who sat at the keyboard, whether players spoke to each other, how dice fell on a table, or whether
/// mail was thrown away.
///
/// Exits with 1 if a row is FAIL, or if a row of `--require` is FAIL or NOT CHECKED. Needs no network and no clock, and
/// for a bundle no store.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  turnfold audit duel.bundle
  turnfold audit duel.bundle --policy policy --held kept.checkpoint --require signature,consistency")]
pub(crate) struct Args {
    /// The bundle; the store itself, if none is named
    #[arg(value_name = "BUNDLE")]
    bundle: Option<PathBuf>,

    /// The policy file that lists whose signatures count: lines `log VKEY`, `witness NAME VKEY`, `group …`, `quorum NAME` or `quorum none`, and `module DIGEST` for rules that a bundle may bring
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// The verifier key of the host, or a file with it, in place of a policy: the host's signatures count, and no witness is needed
    #[arg(long, value_name = "VKEY", conflicts_with = "policy")]
    host_key: Option<String>,

    /// A checkpoint, a proof or a bundle that you kept
    #[arg(long, value_name = "FILE")]
    held: Vec<PathBuf>,

    /// How long the modules of the bundle may take in all, in seconds; branches that they have no time for are NOT CHECKED
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    seconds: u64,

    /// Rows that must pass
    #[arg(long, value_name = "ROW", value_delimiter = ',')]
    require: Vec<RowName>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    tracing::info!("{}", audit::UNSAID);
    let policy = match (&args.host_key, &args.policy) {
        (Some(key), _) => Some(policy_of_host(key)?),
        (None, Some(path)) => Some(read_policy(path)?),
        (None, None) => None,
    };
    let mut held = Vec::new();
    for path in &args.held {
        held.extend(read_held(path)?);
    }
    let question = AuditQuestion {
        policy: policy.as_ref(),
        held: &held,
        registry: &context.registry,
        accepts_brought_rules: false,
    };
    let time = Duration::from_secs(args.seconds);
    // FD-20: the audit reports each fair roll that it computed again.
    let on_roll = &mut |roll: &FairRoll| tracing::info!("{roll}");
    let rows = if let Some(path) = &args.bundle {
        match BundleFile::read(path) {
            Ok(bundle) => within(time, || audit_with(&bundle, question, on_roll))?,
            Err(error @ ProofError::Malformed { .. }) => audit::malformed(&error),
            Err(error) => return Err(error.into()),
        }
    } else {
        let store = context.read_store()?;
        let notes = held.iter().map(|held| held.note.clone()).collect();
        let records = StoreRecords::of_all(&store)?.with_checkpoints(notes);
        within(time, || audit_with(&records, question, on_roll))?
    };
    let mut ok = true;
    let mut proven = Vec::new();
    let mut failed = Vec::new();
    let mut not_proven = Vec::new();
    let mut documents = Vec::new();
    for row in &rows {
        documents.push(document(row));
        let name = row.row.name();
        match row.result {
            RowResult::Pass => proven.push(name),
            RowResult::NotApplicable => {}
            RowResult::Fail => {
                failed.push(name);
                ok = false;
            }
            RowResult::NotChecked => {
                not_proven.push(name);
                ok &= !args.require.contains(&row.row);
            }
        }
    }
    let audited = json!({
        "ok": ok, "rows": documents, "proven": proven, "failed": failed, "not_proven": not_proven,
    });
    context.output.verdict(ok, &audited, || {
        let mut lines = Vec::new();
        for AuditRow { row, result, reason, keys, .. } in &rows {
            let tone = match result {
                RowResult::Pass | RowResult::NotApplicable => Tone::Added,
                RowResult::NotChecked => Tone::Warning,
                RowResult::Fail => Tone::Removed,
            };
            let result = TextSpan::new(tone, format_args!("{result:11}"));
            lines.push(Line::from([
                plain(format_args!("{row:12} ")),
                result,
                plain(format_args!(" {reason}")),
            ]));
            for PlayerKey { match_name, seat, key } in keys {
                lines.push(format!("{:24} {seat} of {match_name} signs as {key}", "").into());
            }
        }
        let mut parts = Vec::new();
        for (what, rows) in [("proven", &proven), ("failed", &failed), ("not proven", &not_proven)] {
            if !rows.is_empty() {
                parts.push(format!("{what}: {}", rows.join(", ")));
            }
        }
        lines.push(parts.join("; ").into());
        lines
    })
}

fn document(AuditRow { row, result, reason, at, keys }: &AuditRow) -> Value {
    let mut signed = Vec::new();
    for PlayerKey { match_name, seat, key } in keys {
        signed.push(json!({ "match": match_name.as_str(), "seat": seat.name(), "key": key.to_string() }));
    }
    json!({
        "row": row.name(),
        "result": result.code(),
        "reason": reason,
        "match": at.as_ref().map(|at| at.match_name.as_str()),
        "branch": at.as_ref().map(|at| at.branch.as_str()),
        "seq": at.as_ref().and_then(|at| at.seq),
        // The keys with which players signed.
        "keys": if *row == RowName::Authorship { Some(signed) } else { None },
    })
}

fn policy_of_host(key: &str) -> Result<TrustPolicy> {
    let text = if key.contains('+') { key.into() } else { files::read_text(Path::new(key), &POLICY)? };
    let policy = TrustPolicy::read(&format!("log {}\nquorum none\n", text.trim()));
    policy.map_err(|error| Failure::usage(format!("`--host-key {key}`: {error}")))
}

pub(super) fn read_policy(path: &Path) -> Result<TrustPolicy> {
    let bytes = files::read_input_or_stdin(path, &POLICY)?;
    let name = files::input_name(path);
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(Failure::usage(format!("`{name}`: expected a policy in UTF-8")));
    };
    TrustPolicy::read(&text).map_err(|error| Failure::usage(format!("policy `{name}`: {error}")))
}
