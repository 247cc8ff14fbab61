//! `turnfold mail open`: a game and its desk (PM-25).

use std::path::PathBuf;

use clap::ValueEnum;
use turnfold_core::trust::VerifierKey;
use turnfold_replay::history::find_rules;
use turnfold_replay::input;
use turnfold_replay::mail::{MailError, MailMatch, NewMailMatch};
use turnfold_replay::revision::new_match_name;
use turnfold_store::MatchName;

use super::post::HostArgs;
use crate::commands::new::{bad_setup, read_setup};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::counted;
use crate::{clock, limits, random};

/// Make a match that is played by mail, and an invitation for each seat
///
/// It makes the game NAME and its desk NAME.desk, whose log says who plays, what was ordered and what was decided. The
/// file of `--desk` has the terms of play in TOML: hours for a turn, seats that the host plays (`hosted`, which has to be
/// there), what becomes of those who miss, and more; `turnfold rules desk` explains it. Whoever wants a seat answers the
/// invitation with a `join` paper; `mail take --admit SEAT` lets them in.
///
/// With fair dice nobody foresees or chooses a roll, and everybody can recompute it. Seeded dice and rulesets whose setup
/// deals secrets cannot be played by mail: every player has the setup.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: turnfold mail open duel --rules initiative --setup duel.toml --desk desk.toml --key ann.key"
)]
pub(crate) struct Args {
    /// Name of the match, at most 59 characters
    #[arg(value_name = "MATCH", value_parser = new_match_name)]
    match_name: MatchName,

    /// The ruleset
    #[arg(long)]
    rules: String,

    /// The setup of the game, a TOML file
    #[arg(long, value_name = "FILE")]
    setup: PathBuf,

    /// The terms of play, a TOML file
    #[arg(long, value_name = "FILE")]
    desk: PathBuf,

    /// Where rolls come from
    #[arg(long, value_enum, default_value_t = MailDice::Recorded)]
    dice: MailDice,

    #[command(flatten)]
    host: HostArgs,
}

/// Where the rolls of a match by mail come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MailDice {
    /// From outside: the host rolls
    Recorded,
    /// From secrets that host and players open turn by turn
    Fair,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let rules = find_rules(&args.rules, &context.registry)?;
    let setup = read_setup(rules, &args.setup)?;
    let terms = String::from_utf8(input::read_file(&args.desk, &limits::MAIL_TERMS)?)
        .map_err(|_| Failure::usage(format!("`{}`: expected UTF-8 text", args.desk.display())))?;
    let room = args.host.post_room(context)?;
    room.require_readable_addresses()?;
    let name = &args.match_name;
    let new = NewMailMatch {
        name,
        rules,
        setup,
        terms: &terms,
        is_fair: args.dice == MailDice::Fair,
        match_id: random::match_id()?,
        created_at_ms: clock::now_ms()?,
    };
    let store = context.open_or_create_store()?;
    new.open(&store, room.signers.first()?).map_err(|error| match error {
        MailError::Terms(error) => bad_setup(&args.desk, &error),
        error => error.into(),
    })?;
    let of = MailMatch::find(&store, name, &context.registry)?;
    let post = room.of(&store, name)?;
    let letters = post.write(&store, [], context)?;
    drop(store);
    let host: Option<VerifierKey> = of.terms.host.parse().ok();
    let output = &mut context.output;
    if output.is_json() {
        output.json(&serde_json::json!({
            "match": name.to_string(),
            "desk": of.desk.to_string(),
            "ruleset": rules.name(),
            "version": rules.version(),
            "dice": of.genesis.dice.name(),
            "seats": of.terms.seats,
            "host": host.map(|host| host.to_string()),
            "letters": letters,
        }))?;
        return Ok(ExitStatus::Yes);
    }
    let seats = counted(of.terms.seats.into(), "seat", "seats");
    let (ruleset, version, dice) = (rules.name(), rules.version(), of.genesis.dice.name());
    output.line(format_args!(
        "opened {name} with its desk {}: {ruleset} version {version}, {dice} dice, {seats}",
        of.desk
    ))?;
    output.line(format_args!("its host signs with {}", of.terms.host))?;
    if let Some(folder) = post.own_folder() {
        output.line(format_args!("its letters and `addresses` are in {}", folder.display()))?;
    }
    super::post::tell(&letters, output)?;
    Ok(ExitStatus::Yes)
}
