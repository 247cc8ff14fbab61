//! What a host of matches by mail does rarely: `mail open` creates a game and its desk (PM-25), `mail replace` gives a seat
//! to another player (PM-60, PM-83, PM-106), `mail recover` restores matches from the letters that players have (PM-111),
//! `mail broadcast` writes to all players (PM-108).

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::json;
use turnfold_core::Seat;
use turnfold_history::{ReplayError, Revision};
use turnfold_mail::audit::audit;
use turnfold_mail::{
    AddressLine, Addresses, GameTerms, MailAddress, MailError, MailHost, MailMatch, NewMailMatch, PostFolder,
    Recovery, addresses_in, hosted_matches, start_for_mail,
};
use turnfold_proof::audit::AuditQuestion;
use turnfold_proof::bundle::import::{ImportNames, ImportPlan};
use turnfold_store::MatchName;

use super::run::now;
use super::{HostArgs, letter_lines};
use crate::commands::import::import_line;
use crate::commands::new::{bad_setup, find, read_setup};
use crate::context::{Context, read_origin};
use crate::failure::{ExitStatus, Failure, Result};
use crate::output::{Line, counted};
use crate::{clock, files, random};

/// Create a match that is played by mail, and an invitation for each seat
///
/// Creates the game NAME and its desk NAME.desk, which records the players, their orders and all decisions. The file of
/// `--desk` holds the terms of play in TOML: hours for a turn, seats that the host plays (`hosted`), the
/// consequences of a missed deadline, and more; see `turnfold rules desk`. The terms that the game names are used for
/// everything that the file leaves out, and without a file; `turnfold rules GAME mail` shows them. A trial of 20 turns in
/// memory refuses terms by which the game would stall, run on, or end too early. A player who wants a seat answers the invitation
/// with a `join` paper, and `mail take --admit SEAT` admits them.
///
/// `addresses`, next to the outbox, has a line such as `p1 = ann@example.org` for each player, and `host = games@example.org`
/// for the host; `--to` writes these lines. They become `To:`, `From:` and `Reply-To:` of the letters. You may change the file
/// at any time. It is in no log, bundle or backup.
///
/// With fair dice, no one can foresee or choose a roll, and anyone can recompute it. Games with seeded dice, or whose setup
/// deals secrets, cannot be played by mail, because every player has the setup.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  turnfold mail open duel --rules initiative --setup duel.toml --desk desk.toml --key ann.key
  turnfold mail open duel --rules initiative --setup duel.toml --desk desk.toml --key ann.key \
    --to p1=ben@example.org --to p2=cleo@example.org --to host=ann@example.org")]
pub(crate) struct OpenArgs {
    /// Name of the match, at most 59 characters
    #[arg(value_name = "MATCH", value_parser = Revision::new_match_name)]
    match_name: MatchName,

    /// The ruleset by its name, or `referee:NAME`, the referee of that game
    #[arg(long, value_name = "NAME")]
    rules: String,

    /// The setup of the game: a name that `rules GAME` lists, or a TOML file
    #[arg(long, value_name = "NAME|FILE")]
    setup: PathBuf,

    /// The terms of play, a TOML file [default: the terms that the game names]
    #[arg(long, value_name = "FILE")]
    desk: Option<PathBuf>,

    /// The address of a player or of the host, as in `--to p1=ann@example.org --to host=games@example.org`; kept in `addresses`
    #[arg(long, value_name = "SEAT=ADDRESS")]
    to: Vec<AddressLine>,

    /// Public address of the service that will host the match, as for `serve --origin`: the invitations get a link to join in a
    /// browser
    #[arg(long, value_name = "URL", value_parser = read_origin)]
    origin: Option<String>,

    /// Where rolls come from
    #[arg(long, value_enum, default_value_t = MailDice::Recorded)]
    dice: MailDice,

    #[command(flatten)]
    host: HostArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MailDice {
    /// From outside: the host rolls
    Recorded,
    /// From secrets that host and players open turn by turn
    Fair,
}

pub(super) fn open(args: &OpenArgs, context: &mut Context) -> Result<ExitStatus> {
    let rules = find(&args.rules, context)?;
    let setup = read_setup(&*rules, &args.setup)?;
    let written = match &args.desk {
        Some(path) => Some(files::read_text(path, &files::MAIL_TERMS)?),
        None => None,
    };
    let is_fair = args.dice == MailDice::Fair;
    let game = start_for_mail(&*rules, &setup, is_fair)?;
    let terms = GameTerms::complete(written.as_deref(), &*rules, game.as_ref());
    let room = args.host.post_room(context)?;
    // Errors in `addresses` are reported before a first match is created.
    addresses_in(&room.folder)?;
    let name = &args.match_name;
    let addresses = Addresses::of_lines(&args.to, game.players().len())
        .map_err(|error| Failure::usage(format!("`--to`: {}", error.0)))?;
    let new = NewMailMatch {
        name,
        rules: rules.clone(),
        setup,
        terms: &terms.toml,
        is_fair,
        is_tried: true,
        match_id: random::bytes()?,
        created_at_ms: clock::now_ms()?,
    };
    let store = context.open_or_create_store()?;
    new.open(&store, room.signers.first()?).map_err(|error| match error {
        MailError::Replay(ReplayError::BadSetup(error)) => {
            let file = args.desk.as_deref().unwrap_or_else(|| Path::new("terms of play"));
            bad_setup(file, &error).hint("`turnfold rules desk default` explains `default` and `between`")
        }
        error => error.into(),
    })?;
    let game = MailMatch::find(&store, name, &context.registry)?;
    let folder = PostFolder::of(&room.folder, &store, name)?;
    folder.add_addresses(&addresses)?;
    let mut post = room.of(&store, name, &context.registry)?;
    post.pages = args.origin.as_deref();
    let letters = post.write(&[])?;
    drop(post);
    drop(store);
    let ruleset = rules.name();
    let version = rules.version();
    let dice = game.genesis.dice.name();
    let opened = json!({
        "match": name, "desk": game.desk, "ruleset": ruleset, "version": version, "dice": dice,
        "seats": game.terms.seats, "host": game.terms.host, "terms": terms.filled, "letters": letters,
    });
    context.output.answer(&opened, || {
        let desk = &game.desk;
        let seats = counted(game.terms.seats.into(), "seat", "seats");
        let played = format!("{ruleset} version {version}, {dice} dice, {seats}");
        let mut lines = vec![
            Line::from(format!("opened {name} with its desk {desk}: {played}")),
            format!("the host signs with {}", game.terms.host).into(),
        ];
        let filled = terms.filled.join(", ");
        if terms.is_waiting && !terms.filled.is_empty() {
            lines.push(format!("{ruleset} names no terms for mail; used: {filled}").into());
        } else if args.desk.is_none() {
            lines.push(format!("terms of {ruleset}: {filled}").into());
        }
        if folder.is_within() {
            lines.push(format!("letters and `addresses` are in {}", folder.path().display()).into());
        }
        lines.extend(letter_lines(&letters));
        lines
    })
}

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

pub(super) fn replace(args: &ReplaceArgs, context: &mut Context) -> Result<ExitStatus> {
    let ReplaceArgs { match_name, seat, .. } = args;
    let Context { workspace, output, .. } = context;
    let room = args.host.post_room(workspace)?;
    let store = workspace.open_store()?;
    let registry = &workspace.registry;
    // Errors in the addresses are reported before anything is recorded.
    room.of(&store, match_name, registry)?;
    let mut host = MailHost::of(&store, match_name, registry, &room.signers, clock::now_ms()?)?;
    let effects = host.replace(*seat, &args.player, &args.reason)?;
    if let Some(address) = &args.to {
        PostFolder::of(&room.folder, &store, match_name)?.give_address(
            *seat,
            host.desk(),
            address.clone(),
        )?;
    }
    let letters = room.of(&store, match_name, registry)?.write(&[])?;
    let replaced = json!({ "match": match_name, "seat": seat, "effects": effects, "letters": letters });
    output.answer(&replaced, || {
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

pub(super) fn recover(args: &RecoverArgs, context: &mut Context) -> Result<ExitStatus> {
    let Context { workspace, output, .. } = context;
    let room = args.host.post_room(workspace)?;
    let store = workspace.open_or_create_store()?;
    let registry = &workspace.registry;
    let recovery = Recovery::of(&args.files, &store, &room.signers, registry)?;
    let rows = audit(&recovery.records, AuditQuestion::of_import(registry))?;
    let plan = ImportPlan::of(&recovery.records, &rows, Some(&store), registry, &ImportNames::default())?;
    plan.carry_out(&store)?;
    let mut missing = recovery.missing;
    for game in &recovery.games {
        if let Err(error) = MailHost::of(&store, game, registry, &room.signers, clock::now_ms()?) {
            missing.push(error.to_string());
        }
    }
    drop(store);
    let recovered = json!({ "lines": plan.branches, "missing": missing });
    output.verdict(missing.is_empty(), &recovered, || {
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

pub(super) fn broadcast(args: &BroadcastArgs, context: &mut Context) -> Result<ExitStatus> {
    let room = args.host.post_room(context)?;
    let store = context.open_store()?;
    let at = now()?;
    let names = match &args.match_name {
        Some(name) => vec![name.clone()],
        None => hosted_matches(&store, &context.registry, &room.signers)?,
    };
    let mut letters = Vec::new();
    for name in names {
        let post = room.of(&store, &name, &context.registry)?;
        letters.extend(post.shown(&post.room().broadcast(&args.words, at)?));
    }
    drop(store);
    context.output.answer(&json!({ "letters": letters }), || letter_lines(&letters).collect())
}
