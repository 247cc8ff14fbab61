//! `turnfold selftest`: the sync test, which hunts for state that does not survive being stored.

use serde::Serialize;
use turnfold_replay::{History, SourceName, selftest::first_unsynced};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Tone, counted, paint};

/// Reload and fold again at every entry, and compare hashes
///
/// At each entry the state of some entries ago is written to bytes, read back and folded forward. A state that forgets
/// something in its bytes, or a rule that depends on anything but the state, shows as a hash that differs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold selftest duel --window 16")]
pub(crate) struct Args {
    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "REV|FILE")]
    source: SourceName,

    /// How many entries to fold again at each entry
    #[arg(long, value_name = "K", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1000))]
    window: u16,
}

#[derive(Serialize)]
struct SelftestJson {
    ok: bool,
    entries: u64,
    window: u16,
    /// The first entry after which the hashes differ.
    differs_at: Option<u64>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let line = History::load(&args.source, context)?;
    let differs_at = first_unsynced(&line, usize::from(args.window))?;
    let entries = line.head();
    let output = &mut context.output;
    if output.is_json() {
        output.json(&SelftestJson { ok: differs_at.is_none(), entries, window: args.window, differs_at })?;
    } else if let Some(seq) = differs_at {
        output.line(format_args!(
            "{} {}: the reloaded state differs after entry {seq}",
            paint(Tone::Removed, "failed"),
            args.source
        ))?;
    } else {
        let folded = counted(entries, "entry", "entries");
        output.line(format_args!(
            "{} {}: {folded}, window {}",
            paint(Tone::Added, "ok"),
            args.source,
            args.window
        ))?;
    }
    Ok(if differs_at.is_none() { ExitStatus::Yes } else { ExitStatus::No })
}
