//! `turnfold find`: finds entries in many logs.

use turnfold_core::Seat;
use turnfold_history::Viewer;
use turnfold_history::search::{Condition, Pattern, Wanted};

use crate::context::Context;
use crate::corpus::CorpusArgs;
use crate::failure::{ExitStatus, Result};
use crate::matches::find_here;

/// Find entries in many matches
///
/// Looks through replay files, folders, bundles and matches, many at once. With `--when`, finds the entries that make a
/// condition true which was false before; see `bisect` for how conditions are written. Other options select entries, and
/// an entry must fit all of them. Prints nothing for a match without such an entry, and exits with 1 if there is none in
/// any. A reason that no rules give, a seat that no match has and an effect that no entry has are errors that list what
/// there is instead.
///
/// With `--as p1`, only what p1 may know is searched, and entries are counted as in `log`. On a service, only what the token
/// may read is searched, as its seat.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  turnfold find 'replays/**' --when '/units/0/at == [-2,1] && /turn >= 3'\n  \
    turnfold find --matches --command 'move *' --reason out_of_range --first"
)]
pub(crate) struct Args {
    #[command(flatten)]
    corpus: CorpusArgs,

    #[command(flatten)]
    pub(crate) wanted: WantedArgs,

    /// Whose view to search [default: host]
    #[arg(long = "as", value_name = "SEAT")]
    pub(crate) viewer: Option<Viewer>,

    /// Print only the first such entry of each match
    #[arg(long)]
    pub(crate) first: bool,
}

#[derive(Clone, Debug, clap::Args)]
#[group(required = true, multiple = true)]
pub(crate) struct WantedArgs {
    /// A condition on the view that the entry makes true
    #[arg(long, value_name = "CONDITION")]
    when: Option<Condition>,

    /// The command, as a pattern: `*` stands for any text, `?` for one character
    #[arg(long, value_name = "PATTERN")]
    command: Option<Pattern>,

    /// The name of one of its effects
    #[arg(long, value_name = "NAME")]
    effect: Option<String>,

    /// Why it was ignored
    #[arg(long, value_name = "NAME")]
    reason: Option<String>,

    /// Who gave the command
    #[arg(long, value_name = "SEAT")]
    seat: Option<Seat>,

    /// Look at recorded outcomes, not at computed ones; without `--effect` and `--reason`, find the
    /// entries whose two outcomes differ
    #[arg(long)]
    pub(crate) recorded: bool,
}

impl From<&WantedArgs> for Wanted {
    fn from(args: &WantedArgs) -> Self {
        let WantedArgs { when, command, effect, reason, seat, recorded } = args.clone();
        Self { when, command, effect, reason, seat, recorded, after: None }
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let viewer = args.viewer.unwrap_or(Viewer::HOST);
    if args.wanted.recorded {
        // A recorded outcome covers concealed parts, too.
        viewer.require_all("recorded outcomes")?;
    }
    let Context { workspace, output, .. } = context;
    let corpus = args.corpus.corpus(workspace)?;
    let workspace = corpus.workspace;
    // A list of files needs no service, nor does a list of failures.
    let is_found = match corpus.logs.sources.first() {
        Some(source) => workspace.matches_with(source)?.find(args, corpus, output)?,
        None => find_here(args, corpus, output)?,
    };
    Ok(is_found.into())
}
