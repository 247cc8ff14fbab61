//! `turnfold store check`: the store's own audit.

use std::path::PathBuf;

use serde::Serialize;
use turnfold_replay::Sources;
use turnfold_store::{Damage, MatchName, NEXT_STEP, Store, Totals};

use super::heads::missing;
use super::progress::Progress;
use super::totals::told;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Tone, counted, paint};

/// What to do about a directory that is sound, but lacks something.
const RESTORE: &str = "restore a backup that has what is missing";

/// Audit the store itself: records, chains, counts; without rules
///
/// Every record is read, every entry's link computed again, matches and branches are counted, and records that belong
/// to nothing are looked for. `turnfold verify` does this and asks the rules about every command as well. Exits with 3
/// when something is wrong.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store check --format json")]
pub(crate) struct Args {
    /// Require also what a file of `turnfold store heads` says to be there
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,

    /// In a database, remove first what deletions left behind
    #[arg(long)]
    sweep: bool,
}

#[derive(Serialize)]
struct CheckJson<'a> {
    ok: bool,
    #[serde(flatten)]
    sound: Totals,
    findings: &'a [Damage],
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    if args.sweep {
        let Some(address) = context.fleet() else {
            return Err(Failure::usage("`--sweep` is for a store in a database")
                .hint("in a directory a deletion leaves nothing behind"));
        };
        Store::sweep_fleet(address)?;
    }
    let store = context.read_store()?;
    let progress = Progress::new("checking");
    let mut check = store.check(&mut progress.observer())?;
    drop(progress);
    let is_sound = check.damage.is_empty();
    if let Some(path) = &args.against {
        check.damage.extend(missing(path, &store)?);
    }
    let output = &mut context.output;
    if output.is_json() {
        output.json(&CheckJson {
            ok: check.damage.is_empty(),
            sound: check.sound,
            findings: &check.damage,
        })?;
    } else {
        for Damage { match_name, branch, seq, reason } in &check.damage {
            let match_name = match_name.as_ref().map_or("the store", MatchName::as_str);
            let branch = branch.as_ref().map(|branch| format!("@{branch}")).unwrap_or_default();
            let seq = seq.map(|seq| format!(":{seq}")).unwrap_or_default();
            let damaged = paint(Tone::Removed, "damaged");
            output.line(format_args!("{damaged} {match_name}{branch}{seq}: {reason}"))?;
        }
        let tone = if check.damage.is_empty() { Tone::Added } else { Tone::Warning };
        output.line(format_args!("{} {}", paint(tone, "sound"), told(check.sound)))?;
    }
    if check.damage.is_empty() {
        return Ok(ExitStatus::Yes);
    }
    output.flush()?;
    let findings = counted(check.damage.len() as u64, "finding", "findings");
    // Nothing salvages what a store does not have.
    let next_step = if is_sound && context.fleet().is_none() { RESTORE } else { NEXT_STEP };
    Err(Failure::trouble(format!("the store is damaged: {findings}")).hint(next_step))
}
