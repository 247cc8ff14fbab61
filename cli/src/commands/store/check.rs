//! `turnfold store check`: audits the store itself, without rules.

use std::path::PathBuf;

use serde_json::json;
use turnfold_history::Sources;
use turnfold_store::{Damage, MatchName, Totals};

use super::heads::missing;
use super::{in_words, progress};
use crate::commands::verify::place;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Line, added, counted, plain, removed, warning};

/// Audit the store itself: records, chains, counts; without rules
///
/// Reads every commit of the journal and every record of its index, and compares them. Recomputes the link of every entry,
/// counts matches and branches, and looks for records that belong to no match. `turnfold verify` also folds every command by the rules. Exits with 3 if something is wrong.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store check --format json")]
pub(crate) struct Args {
    /// Also require the branches in a file of `turnfold store heads` to reach the entries listed there
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,

    /// In a database, remove first what deletions left behind
    #[arg(long)]
    sweep: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    if args.sweep {
        let Some(address) = context.fleet() else {
            return Err(Failure::usage("`--sweep` is for a store in a database")
                .hint("in a directory a deletion leaves nothing behind"));
        };
        #[cfg(feature = "postgres")]
        turnfold_store::Store::sweep_fleet(address)?;
        #[cfg(not(feature = "postgres"))]
        match *address {}
    }
    let store = context.read_store()?;
    let mut check = store.check(&mut progress("checking"))?;
    let is_sound = check.damage.is_empty();
    if let Some(path) = &args.against {
        check.damage.extend(missing(path, &store)?);
    }
    let ok = check.damage.is_empty();
    let Totals { matches, branches, entries } = check.sound;
    let checked = json!({
        "ok": ok, "matches": matches, "branches": branches, "entries": entries, "findings": check.damage,
    });
    context.output.show(&checked, || {
        let mut lines = Vec::new();
        for Damage { match_name, branch, seq, reason } in &check.damage {
            let match_name = match_name.as_ref().map_or("the store", MatchName::as_str);
            let place = place(match_name, branch.as_ref(), *seq);
            lines.push(Line::from([removed("damaged"), plain(format_args!(" {place}: {reason}"))]));
        }
        let sound = if ok { added("sound") } else { warning("sound") };
        lines.push(Line::from([sound, plain(format_args!(" {}", in_words(check.sound)))]));
        lines
    })?;
    if ok {
        return Ok(ExitStatus::Yes);
    }
    context.output.flush()?;
    let findings = counted(check.damage.len() as u64, "finding", "findings");
    let mut next_step = context.damaged_store().next_step();
    if is_sound && context.fleet().is_none() {
        // Salvage cannot bring back entries that the store does not have.
        next_step = "restore a backup that has what is missing".into();
    }
    Err(Failure::trouble(format!("the store is damaged: {findings}")).hint(next_step))
}
