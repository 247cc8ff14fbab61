//! `turnfold mail broadcast`: sends a text by the host to all players (PM-108).

use serde_json::json;
use turnfold_mail::hosted_matches;
use turnfold_store::MatchName;

use super::post::{HostArgs, letter_lines};
use super::run::now;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};

/// Write to the players of all matches by mail that the key hosts, or of one match
///
/// Each player gets a letter with the words, which waits in the outbox like the others. Nothing is recorded at a desk.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: turnfold mail broadcast 'No turns between 24 and 27 December' --key ann.key"
)]
pub(crate) struct Args {
    /// The words
    #[arg(value_name = "TEXT")]
    words: String,

    /// The match [default: all]
    #[arg(long = "match", value_name = "MATCH")]
    match_name: Option<MatchName>,

    #[command(flatten)]
    host: HostArgs,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let room = args.host.post_room(context)?;
    let store = context.open_store()?;
    let at = now()?;
    let names = match &args.match_name {
        Some(name) => vec![name.clone()],
        None => hosted_matches(&store, &context.registry, &room.signers)?,
    };
    let mut letters = Vec::new();
    for name in names {
        letters.extend(room.of(&store, &name, context)?.broadcast(&args.words, at)?);
    }
    drop(store);
    context.output.answer(&json!({ "letters": letters }), || letter_lines(&letters).collect())
}
