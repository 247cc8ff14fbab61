//! `turnfold selftest`: the sync test, which hunts for state that does not survive being stored.

use serde_json::json;
use turnfold_replay::{SourceName, golden::selftest::first_unsynced};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::histories;
use crate::output::{added, counted, plain, removed};

/// Reload and fold again at every entry, and compare hashes
///
/// At each entry, the state of some entries ago is written to bytes, read back and folded forward. If the bytes of a state
/// lack something, or a rule depends on anything but the state, a hash differs.
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

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let line = histories::load_whole(&args.source, context)?.history;
    let differs_at = first_unsynced(&line, usize::from(args.window))?;
    let (ok, entries, window) = (differs_at.is_none(), line.head(), args.window);
    let tested = json!({ "ok": ok, "entries": entries, "window": window, "differs_at": differs_at });
    context.output.verdict(ok, &tested, || {
        let (word, result) = match differs_at {
            Some(seq) => (removed("failed"), format!("the reloaded state differs after entry {seq}")),
            None => (added("ok"), format!("{}, window {window}", counted(entries, "entry", "entries"))),
        };
        vec![[word, plain(format_args!(" {}: {result}", args.source))].into()]
    })
}
