//! `turnfold mail run`: moves the clock and executes turns that are ready (PM-27). `turnfold mail status`: shows whom a
//! match waits for (PM-24, PM-28).

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde_json::json;
use turnfold_core::paper::DeskTime;
use turnfold_core::rules::desk::Desk;
use turnfold_core::{DicePolicy, Rules, Seat};
use turnfold_history::Sources;
use turnfold_mail::{
    DeskHistory, MailHost, MailMatch, PostFolder, SendReport, TableDice, give_to_command, hosted_matches,
    notices_in_words, waits_for_host, why_not_given, write_day,
};
use turnfold_store::{MatchName, Store};

use super::take::take_waiting;
use super::{HostArgs, PostRoom, letter_lines};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::output::Line;
use crate::{clock, random, signals};

/// Let deadlines pass, execute a turn that is ready, and begin the next
///
/// Runs every match by mail of the store that the key hosts, or MATCH alone. Run it as often as you like. It is idempotent: if nothing is due it does nothing, and an interrupted run is completed. Take
/// the mails that have arrived with `mail take` first: papers taken after the deadline count as late.
///
/// Letters that are missing from the outbox are written again: the reports, and the replies to the papers on record.
///
/// With `--send`, a shell runs the command once for each letter of the outbox that was not sent, with the letter as its
/// standard input. A letter is moved to `outbox/sent` once the command has succeeded. If turnfold is killed between the two,
/// the next run sends that one letter twice. If the command fails, the letter stays in the outbox, the others are sent, and
/// turnfold exits with 1. Run it again to send the rest: of several reports to a seat, the newest is sent. With `--send`, no
/// deadline passes while the letter of its turn waits unsent. If the letter is sent late, the turn begins again.
///
/// A reminder of the terms (`remind`) is due when its hours before a deadline have come; the letters go to the seats that the
/// match waits for. With `--watch`, the program does all this by itself. With `--maildir`, each run first takes the mails that
/// wait there, as `mail take --maildir` does. A mail for no match of the store stays as it is.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  turnfold mail run --maildir ~/Maildir --send 'sendmail -t' --watch --key ann.key
  turnfold mail run duel --key ann.key
  turnfold mail run duel --key ann.key --roll 3 4 1 1")]
pub(crate) struct Args {
    /// The match [default: every match by mail that the key hosts]
    #[arg(value_name = "MATCH")]
    match_name: Option<MatchName>,

    /// The time, such as `2026-12-01T18:00:00Z` [default: now]
    #[arg(long, value_name = "TIME")]
    at: Option<DeskTime>,

    /// Accept a time later than this machine's clock; the desk's clock cannot be set back
    #[arg(long)]
    force: bool,

    /// Values rolled on your table, in order, for the rolls that are due [default: rolled by the operating system]
    #[arg(long, value_name = "V", num_args = 1.., allow_negative_numbers = true, requires = "match_name")]
    roll: Vec<i32>,

    /// Keep running, and look every minute whether something is due; with MATCH, until it is over
    #[arg(long, conflicts_with_all = ["at", "roll"])]
    watch: bool,

    /// Take the mails that wait in this Maildir first
    #[arg(long, value_name = "DIR")]
    maildir: Option<PathBuf>,

    /// Send each letter that was not sent by this shell command, such as `sendmail -t`
    #[arg(long, value_name = "COMMAND")]
    send: Option<String>,

    #[command(flatten)]
    host: HostArgs,
}

pub(super) fn now() -> Result<DeskTime> {
    let now = DeskTime::of_unix_ms(clock::now_ms()?);
    now.ok_or_else(|| Failure::trouble("the clock of this machine is beyond the year 9999"))
}

fn recorded_at_ms(at: DeskTime) -> i64 {
    i64::try_from(at.unix_seconds().saturating_mul(1000)).unwrap_or(i64::MAX)
}

const PERIOD: Duration = Duration::from_mins(1);

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let mut printed = BTreeSet::new();
    // The first run reports its errors, because a cause such as a wrong key would stop every run.
    let mut is_over = run_once(args, &mut printed, context, false)?;
    while args.watch && !is_over {
        thread::sleep(PERIOD);
        match run_once(args, &mut printed, context, true) {
            Ok(over) => is_over = over,
            Err(failure) => tracing::warn!("the next run tries again: {failure}"),
        }
    }
    Ok(ExitStatus::Yes)
}

/// Runs every match once, and returns whether the match named by the arguments is over. A repeated run prints nothing
/// if nothing is due. A match that fails does not stop the others.
fn run_once(
    args: &Args,
    printed: &mut BTreeSet<PathBuf>,
    context: &mut Context,
    is_again: bool,
) -> Result<bool> {
    let now = now()?;
    let at = args.at.unwrap_or(now);
    if at > now && !args.force {
        let message = format!("`--at {at}` is later than this machine's clock, which says {now}");
        return Err(Failure::usage(message)
            .hint("`--force` sets the desk's clock to that time; it cannot be set back"));
    }
    let Some(folder) = &args.maildir else { return run_matches(args, at, context, is_again) };
    // PM-66: papers that came before the deadline are in time, so they are taken first. PM-113: later papers are taken
    // after the deadline has passed in this run, or else stay for the next one.
    let only = args.match_name.as_ref();
    let is_left = take_waiting(only, folder, recorded_at_ms(at), &args.host, printed, context)?;
    let ran = run_matches(args, at, context, is_again);
    if is_left {
        take_waiting(only, folder, recorded_at_ms(at), &args.host, printed, context)?;
    }
    ran
}

fn run_matches(args: &Args, at: DeskTime, context: &mut Context, is_again: bool) -> Result<bool> {
    let room = args.host.post_room(context)?;
    let store = context.open_store()?;
    if let Some(name) = &args.match_name {
        return run_match(args, name, at, &room, &store, context, is_again);
    }
    let mut failed = None;
    let names = hosted_matches(&store, &context.registry, &room.signers)?;
    if let Some((_, letter)) = write_day(&store, &context.registry, &room.signers, &room.folder, at)? {
        context.output.note(letter_lines(&[letter]))?;
    }
    for name in names {
        if let Err(failure) = run_match(args, &name, at, &room, &store, context, is_again)
            && let Some(earlier) = failed.replace(failure)
        {
            tracing::warn!("{earlier}");
        }
    }
    match failed {
        Some(failure) => Err(failure),
        None => Ok(false),
    }
}

fn run_match(
    args: &Args,
    name: &MatchName,
    at: DeskTime,
    room: &PostRoom,
    store: &Store,
    context: &mut Context,
    is_again: bool,
) -> Result<bool> {
    let Context { workspace, output, .. } = context;
    let registry = &workspace.registry;
    let mut host = MailHost::of(store, name, registry, &room.signers, recorded_at_ms(at))?;
    if !args.roll.is_empty() && matches!(host.mail_match().genesis.dice, DicePolicy::Fair(_)) {
        return Err(Failure::usage(format!("`--roll` is for recorded dice; `{name}` has fair dice")));
    }
    let post = room.of(store, name, registry)?;
    // PM-101: only a letter of this turn keeps the deadline from passing.
    host.is_letter_unsent = args.send.is_some() && !post.room().unsent_turn()?.is_empty();
    let mut roll = random::roll;
    let mut table = TableDice::new(args.roll.clone(), &mut roll);
    let report = host.run(at, &mut table)?;
    let unused = table.unused();
    // PM-34: every letter that the desk requires and the outbox lacks.
    let mut letters = post.room().write_missing_answers()?;
    letters.extend(post.room().write_reports()?);
    let mut letters = post.shown(&letters);
    let mut sending = SendReport::default();
    if let Some(command) = &args.send {
        // PM-36: a letter is the standard input of the command.
        sending = post.room().send(&mut host, at, &mut |letter| {
            let status = give_to_command(command, letter)?;
            signals::wait_with(status);
            Ok(why_not_given(command, status))
        })?;
    }
    letters.extend(post.shown(&sending.written));
    let sent = post.shown(&sending.sent);
    let unsent: Vec<_> = sending.not_sent.iter().map(|(letter, _)| letter).collect();
    let unsent = post.shown(&unsent);
    let effects = [report.effects, sending.effects].concat();
    if unused > 0 {
        tracing::warn!(unused, "values of `--roll` were not needed");
    }
    let mut played = Vec::new();
    for step in report.played {
        played.push(json!({ "branch": step.branch.as_str(), "first": step.first, "last": step.last }));
    }
    let done = json!({
        "match": name, "at": at.to_string(), "effects": effects, "played": played, "letters": letters,
        "sent": sent, "not_sent": unsent,
    });
    let desk = host.desk().state();
    if !is_again || !effects.is_empty() || !letters.is_empty() || !sent.is_empty() {
        output.show(&done, || {
            let of_match = if args.match_name.is_some() { String::new() } else { format!("{name}: ") };
            let mut lines: Vec<Line> = Vec::new();
            for effect in &effects {
                lines.push(format!("{of_match}{effect}").into());
            }
            if effects.is_empty()
                && let Ok(Some(who)) = Desk::query(desk, Seat::Host.into(), "who")
            {
                lines.push(format!("nothing is due: {name} waits for {}", who.text).into());
            }
            lines.extend(letter_lines(&letters));
            lines.extend(sent.iter().map(|letter| Line::from(format!("sent {letter}"))));
            lines
        })?;
        output.flush()?;
    }
    let (Some(letter), Some((_, why))) = (unsent.first(), sending.not_sent.first()) else {
        return Ok(Desk::over(desk));
    };
    let others = match unsent.len() - 1 {
        0 => String::new(),
        others => format!(" (and {others} more)"),
    };
    Err(Failure::negative(format!("`{letter}` was not sent{others}: {why}"))
        .hint("it stays in the outbox; correct the cause and run again"))
}

/// Show which seats a match by mail waits for, since when and until when
///
/// Shows the turn, the seats and what each has sent, and the open offers, but never the content of an order. Every letter
/// shows the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold mail status duel")]
pub(crate) struct StatusArgs {
    /// The match
    #[arg(value_name = "MATCH")]
    match_name: MatchName,
}

pub(crate) fn status(args: &StatusArgs, context: &mut Context) -> Result<ExitStatus> {
    let name = &args.match_name;
    let store = context.read_store()?;
    let game = MailMatch::find(&store, name, &context.registry)?;
    let desk = DeskHistory::read(&store, &game)?;
    let state = desk.state();
    let Ok(Some(who)) = Desk::query(state, Seat::Host.into(), "who") else {
        return Err(Failure::internal("the desk does not answer `who`"));
    };
    let mut notices = Vec::new();
    let mut waits = Vec::new();
    // The status does not depend on files that may be elsewhere.
    if let Ok(folder) = context.store_dir()
        && let Ok(post) = PostFolder::of(folder, &store, name)
        && let (Ok(noticed), Ok(addresses)) = (post.notices(), post.addresses())
        && let Ok(found) = waits_for_host(&game, &desk, &post)
    {
        notices = notices_in_words(&noticed, &addresses);
        waits = found;
    }
    let status = json!({
        "match": name, "desk": game.desk, "view": Desk::view(state, Seat::Host.into()), "who": who.json,
        "notices": notices, "waits": waits,
    });
    context.output.show(&status, || vec![format!("{name} waits for {}", who.text).into()])?;
    context.output.picture(&Desk::picture(state, Seat::Host.into()))?;
    context.output.note(notices.into_iter().chain(waits).map(Into::into))?;
    Ok(ExitStatus::Yes)
}
