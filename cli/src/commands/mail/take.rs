//! `turnfold mail take`: papers from mails, recorded at the desk (PM-26).

use std::path::PathBuf;

use serde_json::json;
use turnfold_core::Seat;
use turnfold_core::paper::SignedPaper;
use turnfold_replay::mail::{MailHost, PaperOutcome, TakenPaper};
use turnfold_store::MatchName;

use super::post::{HostArgs, letter_lines};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files::{input_name, read_input_or_stdin};
use crate::{clock, limits};

/// Record the papers of mails at the desk, and answer them
///
/// A mail is a file of at most 1 MiB, as saved by a mail program; `-` is standard input. Text around the papers is ignored. A
/// paper that was recorded already is answered as before and recorded only once. Take the mails of a turn before `mail run`
/// moves the clock. Every recorded paper gets its own reply. The rejected papers of a mail are answered together, with one
/// letter to each seat that they name.
///
/// Exits with 1 if a paper was not recorded; keep its mail. `fork` means that a player signed another history of the desk than
/// this one: find out which is right before you continue.
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

    /// Admit the new player who joins this seat, or is offered as its replacement, in these mails
    #[arg(long, value_name = "SEAT")]
    admit: Vec<Seat>,

    #[command(flatten)]
    host: HostArgs,
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
    context.output.note(letter_lines(&letters))?;
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
    Ok(ExitStatus::from(is_all))
}

/// Prints a paper with its outcome, or that a mail has none.
fn print(file: &str, taken: Option<&TakenPaper>, context: &mut Context) -> Result<(), Failure> {
    let paper = taken.and_then(|taken| taken.paper.as_ref()).map(SignedPaper::paper);
    let answered = json!({
        "file": file,
        "line": taken.map(|taken| taken.line),
        "seat": paper.map(|paper| paper.head().seat),
        "kind": paper.map(|paper| paper.content().kind()),
        "number": paper.map(|paper| paper.head().number),
        "digest": paper.map(|paper| paper.digest().to_string()),
        "outcome": taken.map_or("no_paper", |taken| taken.outcome.name()),
        "reason": taken.and_then(|taken| taken.outcome.code()),
        "message": taken.and_then(|taken| taken.outcome.message()),
        "seq": taken.and_then(|taken| taken.seq),
        "is_new": taken.is_some_and(|taken| taken.is_new),
    });
    context.output.show(&answered, || {
        let Some(TakenPaper { line, outcome, seq, is_new, .. }) = taken else {
            return vec![format!("{file}: no paper in it").into()];
        };
        let what = paper.map(|paper| (paper.head(), paper.content().kind()));
        let what = what.map(|(head, kind)| format!("{} {kind} {}: ", head.seat, head.number));
        let again = if seq.is_some() && !is_new { ", as before" } else { "" };
        vec![format!("{file}:{line}: {}{outcome}{again}", what.unwrap_or_default()).into()]
    })?;
    Ok(())
}
