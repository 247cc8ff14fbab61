//! `turnfold mail replace`: gives a seat to another player (PM-60, PM-83, PM-106).

use serde_json::json;
use turnfold_core::Seat;
use turnfold_mail::{MailAddress, MailHost};
use turnfold_store::MatchName;

use super::post::{HostArgs, letter_lines};
use crate::clock;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::Line;

/// Give a seat to another player, if the terms have `host_replaces`
///
/// The order of the former player stands until the deadline, unless the new player sends another. The new player reads that, and
/// no words from before. All players read the reason. With `--to`, letters go to the new address at once; without it, they wait
/// until `addresses` has one. The former address is no longer used.
///
/// Repeat the command to give another address. It also takes an address for a player whom the others have agreed to.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  turnfold mail replace duel p2 'Dan Smith' 'Cleo has no time' --to dan@example.org --key ann.key
  turnfold mail replace duel p2 \"$(turnfold key show dan.key)\" 'Cleo lost her key' --key ann.key")]
pub(crate) struct Args {
    /// The match
    #[arg(value_name = "MATCH")]
    match_name: MatchName,

    /// The seat
    #[arg(value_name = "SEAT")]
    seat: Seat,

    /// The new player: the verifier key that `key show` prints, or the name of a player without a key
    #[arg(value_name = "PLAYER")]
    player: String,

    /// Why, for all players to read
    #[arg(value_name = "REASON")]
    reason: String,

    /// The address of the new player, kept in `addresses`
    #[arg(long, value_name = "ADDRESS")]
    to: Option<MailAddress>,

    #[command(flatten)]
    host: HostArgs,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let Args { match_name, seat, .. } = args;
    let room = args.host.post_room(context)?;
    let store = context.open_store()?;
    // Errors in the addresses are reported before anything is recorded.
    room.of(&store, match_name, context)?;
    let registry = context.registry.clone();
    let mut host = MailHost::of(&store, match_name, &registry, &room.signers, clock::now_ms()?)?;
    let effects = host.replace(*seat, &args.player, &args.reason)?;
    let mut post = room.of(&store, match_name, context)?;
    if let Some(address) = &args.to {
        post.give(*seat, host.desk(), address.clone())?;
    }
    let letters = post.write(&[])?;
    let replaced = json!({
        "match": match_name.as_str(),
        "seat": seat,
        "effects": effects,
        "letters": letters,
    });
    context.output.answer(&replaced, || {
        let effects = effects.iter().map(|effect| Line::from(effect.to_string()));
        effects.chain(letter_lines(&letters)).collect()
    })
}
