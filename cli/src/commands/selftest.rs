//! `turnfold selftest`: the sync test, which hunts for state that does not survive being stored.

use serde::Serialize;
use turnfold_replay::{History, SourceName, golden::selftest::first_unsynced};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Line, Report, added, counted, plain, removed};

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

/// The result of the test.
#[derive(Serialize)]
struct Tested {
    ok: bool,
    entries: u64,
    window: u16,
    /// The first entry after which the hashes differ.
    differs_at: Option<u64>,
    #[serde(skip)]
    source: String,
}

impl Report for Tested {
    fn lines(&self) -> Vec<Line> {
        let Self { source, window, .. } = self;
        vec![if let Some(seq) = self.differs_at {
            let message = format!(" {source}: the reloaded state differs after entry {seq}");
            Line::from([removed("failed"), plain(message)])
        } else {
            let folded = counted(self.entries, "entry", "entries");
            Line::from([added("ok"), plain(format_args!(" {source}: {folded}, window {window}"))])
        }]
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let line = History::load(&args.source, context)?;
    let differs_at = first_unsynced(&line, usize::from(args.window))?;
    let (entries, window, source) = (line.head(), args.window, args.source.to_string());
    context.output.report(&Tested { ok: differs_at.is_none(), entries, window, differs_at, source })?;
    Ok(if differs_at.is_none() { ExitStatus::Yes } else { ExitStatus::No })
}
