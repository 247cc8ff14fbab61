//! `turnfold mail open`: creates a game and its desk (PM-25).

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use turnfold_core::trust::VerifierKey;
use turnfold_history::{ReplayError, Revision};
use turnfold_mail::{
    AddressLine, Addresses, GameTerms, MailError, MailMatch, NewMailMatch, addresses_in, start_for_mail,
};
use turnfold_store::MatchName;

use super::post::{HostArgs, letter_lines};
use crate::commands::new::{bad_setup, find, read_setup};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::origin::read_origin;
use crate::output::{Line, counted};
use crate::{clock, files, limits, random};

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
pub(crate) struct Args {
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

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let rules = find(&args.rules, context)?;
    let setup = read_setup(&*rules, &args.setup)?;
    let written = match &args.desk {
        Some(path) => Some(files::read_text(path, &limits::MAIL_TERMS)?),
        None => None,
    };
    let is_fair = args.dice == MailDice::Fair;
    let game = start_for_mail(&*rules, &setup, is_fair)?;
    let terms = GameTerms::complete(written.as_deref(), &*rules, game.as_ref());
    let room = args.host.post_room(context)?;
    // Before a first match is created there.
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
        match_id: random::match_id()?,
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
    let mut post = room.of(&store, name, context)?;
    post.add_addresses(&addresses)?;
    post.pages.clone_from(&args.origin);
    let letters = post.write(&[])?;
    let folder = post.own_folder().map(Path::to_owned);
    drop(post);
    drop(store);
    let host: Option<VerifierKey> = game.terms.host.parse().ok();
    let ruleset = rules.name();
    let version = rules.version();
    let dice = game.genesis.dice.name();
    let opened = serde_json::json!({
        "match": name.to_string(),
        "desk": game.desk.to_string(),
        "ruleset": ruleset,
        "version": version,
        "dice": dice,
        "seats": game.terms.seats,
        "host": host.map(|host| host.to_string()),
        "terms": terms.filled,
        "letters": letters,
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
        if let Some(folder) = folder {
            lines.push(format!("letters and `addresses` are in {}", folder.display()).into());
        }
        lines.extend(letter_lines(&letters));
        lines
    })
}
