//! `turnfold mail take`: papers from mails, recorded at the desk (PM-26).

use std::path::PathBuf;

use serde::Serialize;
use turnfold_core::Seat;
use turnfold_core::paper::SignedPaper;
use turnfold_replay::mail::{MailHost, PaperOutcome, TakenPaper};
use turnfold_store::MatchName;

use super::post::{self, HostArgs};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files::{input_name, read_input_or_stdin};
use crate::{clock, limits};

/// Record the papers of mails at the desk, and answer them
///
/// A mail is a file of at most 1 MiB, as a mailer saves it; `-` is standard input. All around the papers in it is ignored,
/// and one that was taken already is answered as before and recorded once. Take the mails of a turn before `mail run`
/// moves the clock. Each paper that is recorded is answered by a letter of its own, those of a mail that are not by one to
/// each seat that they name.
///
/// The exit code is 1 if a paper was not recorded; keep its mail. `fork` means that a player signed another history of the
/// desk than this one: find out whose it is before you go on.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  turnfold mail take duel reply.txt --key ann.key
  turnfold mail take duel join.txt --admit p1 --key ann.key")]
pub(crate) struct Args {
    /// The match
    #[arg(value_name = "MATCH")]
    match_name: MatchName,

    /// The mails
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Let somebody new have this seat: whoever joins, or is offered as a replacement, in these mails
    #[arg(long, value_name = "SEAT")]
    admit: Vec<Seat>,

    #[command(flatten)]
    host: HostArgs,
}

/// A paper and what became of it, as JSON.
#[derive(Serialize)]
struct TakenJson<'a> {
    file: &'a str,
    line: Option<usize>,
    seat: Option<Seat>,
    kind: Option<&'static str>,
    number: Option<u32>,
    digest: Option<String>,
    outcome: &'static str,
    reason: Option<&'static str>,
    message: Option<String>,
    seq: Option<u64>,
    is_new: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    // Nothing is taken where a mail cannot be read.
    let mails =
        args.files.iter().map(|path| Ok((input_name(path), read_input_or_stdin(path, &limits::MAIL)?)));
    let mails: Vec<_> = mails.collect::<Result<_, Failure>>()?;
    let room = args.host.post_room(context)?;
    let store = context.open_store()?;
    let now_ms = clock::now_ms()?;
    let mut host = MailHost::of(&store, &args.match_name, &context.registry, &room.signers, now_ms)?;
    let post = room.of(&store, &args.match_name)?;
    let mut taken = Vec::new();
    for (name, mail) in &mails {
        let papers = host.take(mail, &args.admit)?;
        taken.push((name, papers));
    }
    let papers = taken.iter().map(|(_, papers)| papers.as_slice());
    let letters = post.write(&store, papers, context)?;
    drop(store);
    for (name, papers) in &taken {
        if papers.is_empty() {
            print(name, None, context)?;
        }
        papers.iter().try_for_each(|paper| print(name, Some(paper), context))?;
    }
    if !context.output.is_json() {
        post::tell(&letters, &mut context.output)?;
    }
    let forked =
        taken.iter().flat_map(|(_, papers)| papers).find(|paper| paper.outcome == PaperOutcome::Fork);
    if let Some(seat) = forked.and_then(|paper| paper.paper.as_ref()).map(|paper| paper.paper().head().seat) {
        context.output.flush()?;
        let message = format!("fork: {seat} has seen another history");
        return Err(Failure::negative(message).hint("keep that mail: it proves what the player was shown"));
    }
    let is_all = taken
        .iter()
        .all(|(_, papers)| !papers.is_empty() && papers.iter().all(|paper| paper.outcome.is_recorded()));
    Ok(if is_all { ExitStatus::Yes } else { ExitStatus::No })
}

/// Prints what became of a paper; without one, that a mail has none.
fn print(file: &str, taken: Option<&TakenPaper>, context: &mut Context) -> Result<(), Failure> {
    let paper = taken.and_then(|taken| taken.paper.as_ref()).map(SignedPaper::paper);
    let output = &mut context.output;
    if output.is_json() {
        return Ok(output.json(&TakenJson {
            file,
            line: taken.map(|taken| taken.line),
            seat: paper.map(|paper| paper.head().seat),
            kind: paper.map(|paper| paper.content().kind()),
            number: paper.map(|paper| paper.head().number),
            digest: paper.map(|paper| paper.digest().to_string()),
            outcome: taken.map_or("no_paper", |taken| taken.outcome.name()),
            reason: taken.and_then(|taken| taken.outcome.code()),
            message: taken.and_then(|taken| taken.outcome.message()),
            seq: taken.and_then(|taken| taken.seq),
            is_new: taken.is_some_and(|taken| taken.is_new),
        })?);
    }
    let Some(taken) = taken else {
        return Ok(output.line(format_args!("{file}: no paper in it"))?);
    };
    let what = paper.map_or_else(String::new, |paper| {
        let head = paper.head();
        format!("{} {} {}: ", head.seat, paper.content().kind(), head.number)
    });
    let again = if taken.seq.is_some() && !taken.is_new { ", as before" } else { "" };
    Ok(output.line(format_args!("{file}:{}: {what}{}{again}", taken.line, taken.outcome))?)
}
