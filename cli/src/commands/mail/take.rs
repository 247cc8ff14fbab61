//! `turnfold mail take`: papers from mails, recorded at the desk (PM-26).

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use turnfold_core::Seat;
use turnfold_replay::InputError;
use turnfold_replay::mail::{MailHost, Obstacle, PaperOutcome, ReceivedMail, TakenPaper, TakenReply};
use turnfold_store::MatchName;

use super::maildir::Maildir;
use super::post::{HostArgs, Post, letter_lines};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files::{input_name, read_input_or_stdin};
use crate::{clock, limits};

/// Record the papers of mails at the desk, and answer them
///
/// A mail is a file of at most 1 MiB, as saved by a mail program; `-` is standard input. Papers are found in its text, in its
/// attachments and in mails attached to it, however the mail program encoded them; a text that was saved from a mail does as
/// well. Text around the papers is ignored. A paper that was recorded already is answered as before and recorded only once.
/// Take the mails of a turn before `mail run` moves the clock. The next letter to a player lists the papers that count. A paper
/// that takes a seat or changes nothing is answered at once. The rejected papers of a mail are answered together, with one
/// letter to each seat that they name. A mail without a paper, or longer than 1 MiB, is answered with what was expected, if
/// `addresses` has its sender.
///
/// With `--maildir`, the mails are those that wait in a Maildir: in `new`, and in `cur` without the flag S. A mail that was
/// taken moves to `cur` with the flag S. A mail for another match, from an unknown sender without a paper, or with a paper that
/// can only be taken later stays as it is.
///
/// A player without a key writes a reply code and commands instead of a paper. `mail take` checks the code, writes the papers
/// and answers questions such as `board`. The host vouches for such papers.
///
/// Exits with 1 if a paper was not recorded; keep its mail. `fork` means that a player signed another history of the desk than
/// this one: find out which is right before you continue.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  turnfold mail take duel reply.txt --key ann.key
  turnfold mail take duel join.eml --admit p1 --key ann.key
  turnfold mail take duel --maildir ~/Maildir --key ann.key")]
pub(crate) struct Args {
    /// The match
    #[arg(value_name = "MATCH")]
    match_name: MatchName,

    /// The mails
    #[arg(value_name = "FILE", required_unless_present = "maildir", conflicts_with = "maildir")]
    files: Vec<PathBuf>,

    /// Take the mails that wait in this Maildir
    #[arg(long, value_name = "DIR")]
    maildir: Option<PathBuf>,

    /// Admit the new player who joins this seat, or is offered as its replacement, in these mails
    #[arg(long, value_name = "SEAT")]
    admit: Vec<Seat>,

    #[command(flatten)]
    host: HostArgs,
}

/// The most bytes of a mail's header that are read where the mail is too long.
const HEADER_MAX: u64 = 1 << 16;

/// A mail, and the papers taken from it.
struct TakenMail {
    /// Its name as printed.
    name: String,
    path: PathBuf,
    mail: ReceivedMail,
    papers: Vec<TakenPaper>,
    /// What became of its reply code, if it has one.
    reply: Option<TakenReply>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let maildir = args.maildir.as_deref().map(Maildir::open).transpose()?;
    let mails = match &maildir {
        Some(maildir) => waiting_mails(maildir)?,
        // Nothing is taken where a mail cannot be read.
        None => args.files.iter().map(|path| read(path)).collect::<Result<_, _>>()?,
    };
    take(args, maildir.as_ref(), mails, &mut BTreeSet::new(), context)
}

/// Takes the mails that wait in a Maildir, for `mail run` (PM-66). A mail that stays there is printed once, as `printed`
/// knows.
pub(super) fn take_waiting(
    match_name: &MatchName,
    folder: &Path,
    host: &HostArgs,
    printed: &mut BTreeSet<PathBuf>,
    context: &mut Context,
) -> Result<(), Failure> {
    let maildir = Maildir::open(folder)?;
    let mails = waiting_mails(&maildir)?;
    if mails.is_empty() {
        return Ok(());
    }
    let (match_name, host) = (match_name.clone(), host.clone());
    let args = Args { match_name, files: Vec::new(), maildir: None, admit: Vec::new(), host };
    take(&args, Some(&maildir), mails, printed, context).map(drop)
}

fn take(
    args: &Args,
    maildir: Option<&Maildir>,
    mails: Vec<(PathBuf, ReceivedMail)>,
    printed: &mut BTreeSet<PathBuf>,
    context: &mut Context,
) -> Result<ExitStatus, Failure> {
    let room = args.host.post_room(context)?;
    let store = context.open_store()?;
    let now_ms = clock::now_ms()?;
    let mut host = MailHost::of(&store, &args.match_name, &context.registry, &room.signers, now_ms)?;
    let post = room.of(&store, &args.match_name)?;
    let mut taken = Vec::new();
    for (path, mail) in mails {
        if maildir.is_some() && host.is_for_another(&mail) {
            continue;
        }
        let mut papers = host.take(&mail, &args.admit)?;
        let reply = if papers.is_empty() { host.take_reply(&mail)? } else { None };
        papers.extend(reply.iter().flat_map(|reply| reply.papers.iter().cloned()));
        taken.push(TakenMail { name: input_name(&path).into_owned(), path, mail, papers, reply });
    }
    let papers = taken.iter().map(|taken| (&taken.mail, taken.papers.as_slice(), taken.reply.as_ref()));
    let letters = post.write(&store, papers, context)?;
    drop(store);
    for of in &taken {
        let is_done = of.is_done(&post);
        if let Some(maildir) = maildir.filter(|_| is_done) {
            maildir.mark_taken(&of.path)?;
        }
        if printed.insert(of.path.clone()) || is_done {
            of.print(&post, context)?;
        }
    }
    context.output.note(letter_lines(&letters))?;
    exit_status(&taken, context)
}

/// Reads a mail.
fn read(path: &Path) -> Result<(PathBuf, ReceivedMail), InputError> {
    let mail = match read_input_or_stdin(path, &limits::MAIL) {
        // PM-65: its sender gets an answer. Standard input cannot be read again.
        Err(error @ InputError::TooLong { .. }) => {
            let beginning = beginning_of(path).ok_or(error)?;
            ReceivedMail::too_long(&beginning)
        }
        bytes => ReceivedMail::read(&bytes?),
    };
    Ok((path.into(), mail))
}

/// Reads as much of a file as the header of a mail may have.
fn beginning_of(path: &Path) -> Option<Vec<u8>> {
    let mut beginning = Vec::new();
    File::open(path).ok()?.take(HEADER_MAX).read_to_end(&mut beginning).ok()?;
    Some(beginning)
}

/// Reads the mails of a Maildir.
fn waiting_mails(maildir: &Maildir) -> Result<Vec<(PathBuf, ReceivedMail)>, Failure> {
    let mut mails = Vec::new();
    for path in maildir.waiting()? {
        match read(&path) {
            Ok(mail) => mails.push(mail),
            // Another program has moved it.
            Err(_) if !path.exists() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(mails)
}

fn exit_status(taken: &[TakenMail], context: &mut Context) -> Result<ExitStatus, Failure> {
    let papers = || taken.iter().flat_map(|taken| &taken.papers);
    let forked = papers().find(|paper| paper.outcome == PaperOutcome::Fork);
    if let Some(seat) = forked.and_then(|paper| paper.paper.as_ref()).map(|paper| paper.head().seat) {
        context.output.flush()?;
        let message = format!("fork: {seat} has seen another history");
        return Err(Failure::negative(message).hint("keep that mail: it proves what the player was shown"));
    }
    let is_all = taken.iter().all(|taken| match &taken.reply {
        Some(reply) => reply.seat.is_some() && reply.faults.is_empty(),
        None => !taken.papers.is_empty(),
    });
    Ok(ExitStatus::from(is_all && papers().all(|paper| paper.outcome.is_recorded())))
}

impl TakenMail {
    /// Whether nothing more can come of the mail: every paper has its last outcome, and a mail without one was answered.
    fn is_done(&self, post: &Post<'_>) -> bool {
        let is_replied = self.reply.as_ref().is_some_and(|reply| reply.seat.is_some());
        let is_answered = is_replied || !self.mail.is_automatic && post.seat_of(&self.mail).is_some();
        let has_papers = !self.papers.is_empty() || is_answered;
        has_papers && !self.papers.iter().any(TakenPaper::may_be_taken_later)
    }

    /// Returns why a mail without a paper gets no answer, or was not read.
    fn no_answer(&self, post: &Post<'_>) -> Option<&'static str> {
        if self.mail.obstacle == Some(Obstacle::TooLong) {
            Some("it is longer than 1 MiB, so it was not read")
        } else if self.mail.is_automatic {
            Some("a program sent it, so it gets no answer")
        } else if self.mail.from.is_some() && post.seat_of(&self.mail).is_none() {
            Some("`addresses` does not have its sender, so it gets no answer")
        } else {
            None
        }
    }

    fn print(&self, post: &Post<'_>, context: &mut Context) -> Result<(), Failure> {
        if let Some(reply) = &self.reply {
            print_reply(&self.name, reply, context)?;
        } else if self.papers.is_empty() {
            print(&self.name, None, self.no_answer(post), context)?;
        }
        self.papers.iter().try_for_each(|paper| print(&self.name, Some(paper), None, context))
    }
}

/// Prints what a mail with a reply code asked, and why something was not taken. It prints no code.
fn print_reply(file: &str, reply: &TakenReply, context: &mut Context) -> Result<(), Failure> {
    let TakenReply { line, seat, questions, faults, .. } = reply;
    if seat.is_some() && questions.is_empty() && faults.is_empty() {
        return Ok(());
    }
    let outcome = match (seat, faults.is_empty()) {
        (None, _) => "unknown_code",
        (Some(_), false) => "not_taken",
        (Some(_), true) => "answered",
    };
    let printed = json!({
        "file": file,
        "line": line,
        "seat": seat,
        "kind": "reply",
        "outcome": outcome,
        "message": faults.first(),
    });
    context.output.show(&printed, || {
        let seat = seat.map(|seat| format!("{seat} ")).unwrap_or_default();
        let why = if faults.is_empty() { String::new() } else { format!(": {}", faults.join(" ")) };
        vec![format!("{file}:{line}: {seat}reply: {outcome}{why}").into()]
    })?;
    Ok(())
}

/// Prints a paper with its outcome, or that a mail has none, and why it gets no answer.
fn print(
    file: &str,
    taken: Option<&TakenPaper>,
    no_answer: Option<&str>,
    context: &mut Context,
) -> Result<(), Failure> {
    let paper = taken.and_then(|taken| taken.paper.as_ref());
    let answered = json!({
        "file": file,
        "line": taken.map(|taken| taken.line),
        "seat": paper.map(|paper| paper.head().seat),
        "kind": paper.map(|paper| paper.content().kind()),
        "number": paper.map(|paper| paper.head().number),
        "digest": paper.map(|paper| paper.digest().to_string()),
        "outcome": taken.map_or("no_paper", |taken| taken.outcome.name()),
        "reason": taken.and_then(|taken| taken.outcome.code()),
        "message": taken.and_then(|taken| taken.outcome.message()).or(no_answer.map(Into::into)),
        "seq": taken.and_then(|taken| taken.seq),
        "is_new": taken.is_some_and(|taken| taken.is_new),
    });
    context.output.show(&answered, || {
        let Some(TakenPaper { line, outcome, seq, is_new, .. }) = taken else {
            let why = no_answer.map(|why| format!("; {why}")).unwrap_or_default();
            return vec![format!("{file}: no paper in it{why}").into()];
        };
        let what = paper.map(|paper| (paper.head(), paper.content().kind()));
        let what = what.map(|(head, kind)| format!("{} {kind} {}: ", head.seat, head.number));
        let again = if seq.is_some() && !is_new { ", as before" } else { "" };
        vec![format!("{file}:{line}: {}{outcome}{again}", what.unwrap_or_default()).into()]
    })?;
    Ok(())
}
