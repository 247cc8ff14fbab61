//! What a host of matches by mail does rarely: `mail replace` gives a seat to another player (PM-60, PM-83, PM-106), `mail
//! recover` restores matches from the letters that players have (PM-111), `mail broadcast` writes to all players (PM-108).

use std::path::PathBuf;

use serde_json::json;
use turnfold_core::Seat;
use turnfold_mail::audit::audit;
use turnfold_mail::{MailAddress, MailHost, Recovery, hosted_matches};
use turnfold_proof::audit::AuditQuestion;
use turnfold_proof::bundle::import::{ImportNames, ImportPlan};
use turnfold_store::MatchName;

use super::post::{HostArgs, letter_lines};
use super::run::now;
use crate::clock;
use crate::commands::import::import_line;
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
pub(crate) struct ReplaceArgs {
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

pub(crate) fn replace(args: &ReplaceArgs, context: &mut Context) -> Result<ExitStatus, Failure> {
    let ReplaceArgs { match_name, seat, .. } = args;
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

/// Recover matches by mail from the letters that players have
///
/// For a store that is lost, or older than the folder KEY.seen: the key signs no other history than the one that it knows. Ask
/// each player for the newest letter, with its attachment. The bundle of a letter leaves out what its player may not know,
/// but together the bundles of all seats show everything that they cover. Game and desk get all entries that the store does
/// not have. Afterwards, `mail run` goes on.
///
/// Exits with 1 if entries cannot be had, and names the first of them: they came after the newest letter of the seat
/// that may know them. What comes before is recovered all the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold mail recover from-ben.eml cleo.bundle --key ann.key")]
pub(crate) struct RecoverArgs {
    /// Letters with the bundle attached, or bundles
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    host: HostArgs,
}

pub(crate) fn recover(args: &RecoverArgs, context: &mut Context) -> Result<ExitStatus, Failure> {
    let room = args.host.post_room(context)?;
    let store = context.open_or_create_store()?;
    let registry = context.registry.clone();
    let recovery = Recovery::of(&args.files, &store, &room.signers, &registry)?;
    let rows = audit(&recovery.records, AuditQuestion::of_import(&registry))?;
    let plan = ImportPlan::of(&recovery.records, &rows, Some(&store), &registry, &ImportNames::default())?;
    plan.carry_out(&store)?;
    let mut missing = recovery.missing;
    for game in &recovery.games {
        if let Err(error) = MailHost::of(&store, game, &registry, &room.signers, clock::now_ms()?) {
            missing.push(error.to_string());
        }
    }
    drop(store);
    let recovered = json!({ "lines": plan.branches, "missing": missing });
    context.output.verdict(missing.is_empty(), &recovered, || {
        let mut lines: Vec<Line> = plan.branches.iter().map(import_line).collect();
        lines.extend(missing.iter().map(|what| Line::from(format!("cannot be had: {what}"))));
        lines
    })
}

/// Write to the players of all matches by mail that the key hosts, or of one match
///
/// Each player gets a letter with the words, which waits in the outbox like the others. Nothing is recorded at a desk.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: turnfold mail broadcast 'No turns between 24 and 27 December' --key ann.key"
)]
pub(crate) struct BroadcastArgs {
    /// The words
    #[arg(value_name = "TEXT")]
    words: String,

    /// The match [default: all]
    #[arg(long = "match", value_name = "MATCH")]
    match_name: Option<MatchName>,

    #[command(flatten)]
    host: HostArgs,
}

pub(crate) fn broadcast(args: &BroadcastArgs, context: &mut Context) -> Result<ExitStatus, Failure> {
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
