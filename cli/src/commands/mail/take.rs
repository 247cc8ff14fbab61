//! `turnfold mail take`: records the papers of mails at the desk (PM-26).

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;
use turnfold_core::Seat;
use turnfold_core::paper::{DeskTime, Paper};
use turnfold_history::Sources as _;
use turnfold_mail::{
    MAIL_LIMITS, MailHost, Maildir, Obstacle, PaperOutcome, PostOffice, ReceivedMail, TakenMail, TakenPaper,
    TakenReply, read_mail, take_mail,
};
use turnfold_store::MatchName;

use super::{HostArgs, letter_lines};
use crate::clock;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::files::{input_name, is_standard, read_input_or_stdin};
use crate::output::Output;

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
/// Each mail is taken for the match that it names: by a paper, by a reply code, as the answer to a letter, or by its subject;
/// else for a match in which its sender plays. With MATCH, only the mails for this match are taken.
///
/// With `--maildir`, the mails are those that wait in a Maildir: in `new`, and in `cur` without the flag S. A mail that was
/// taken moves to `cur` with the flag S. A mail for no match of the store, from an unknown sender without a paper, or with a
/// paper that can only be taken later stays as it is.
///
/// A player without a key writes a reply code and commands instead of a paper. `mail take` checks the code, writes the papers
/// and answers questions such as `board`. The host vouches for such papers.
///
/// Automatic mails, such as a notice of absence or a bounce, are not answered but noted: `mail status` shows them.
///
/// Exits with 1 if a paper was not recorded; keep its mail. `fork` means that a player signed another history of the desk than
/// this one: find out which is right before you continue.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  turnfold mail take --maildir ~/Maildir --key ann.key
  turnfold mail take duel --maildir ~/Maildir --key ann.key
  turnfold mail take reply.txt --key ann.key
  turnfold mail take duel join.eml --admit p1 --key ann.key")]
pub(crate) struct Args {
    /// The match, if the mails of one match alone are to be taken, and the mails
    #[arg(value_name = "[MATCH] FILE", required_unless_present = "maildir")]
    words: Vec<PathBuf>,

    /// Take the mails that wait in this Maildir
    #[arg(long, value_name = "DIR")]
    maildir: Option<PathBuf>,

    /// Admit the new player who joins this seat, or is offered as its replacement, in these mails
    #[arg(long, value_name = "SEAT")]
    admit: Vec<Seat>,

    #[command(flatten)]
    host: HostArgs,
}

struct PrintedMail {
    path: PathBuf,
    /// The match; `None` if the mail is for no match of the store.
    match_name: Option<MatchName>,
    /// Whether text names the match.
    shows_match: bool,
    taken: TakenMail,
}

struct MailsToTake<'a> {
    only: Option<&'a MatchName>,
    maildir: Option<&'a Maildir>,
    mails: Vec<(PathBuf, ReceivedMail)>,
    admit: &'a [Seat],
    /// The time to record, in Unix milliseconds.
    now_ms: i64,
    /// Whether mails that came after the deadline are left until `mail run` has let it pass (PM-113).
    is_late_left: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let (only, files) = match_and_files(args, context)?;
    let mut maildir = None;
    let mut mails = Vec::new();
    if let Some(folder) = &args.maildir {
        let folder = Maildir::open(folder)?;
        mails = folder.mails()?;
        maildir = Some(folder);
    }
    // If one of the files cannot be read, no mail is taken.
    for path in files {
        let mail = if is_standard(path) {
            // A mail that is too long is an error here, because it cannot be read again.
            ReceivedMail::read(&read_input_or_stdin(path, &MAIL_LIMITS)?)
        } else {
            read_mail(path)?
        };
        mails.push((path.clone(), mail));
    }
    let mails = MailsToTake {
        only: only.as_ref(),
        maildir: maildir.as_ref(),
        mails,
        admit: &args.admit,
        now_ms: clock::now_ms()?,
        is_late_left: false,
    };
    Ok(take(mails, &args.host, &mut BTreeSet::new(), context)?.0)
}

/// Separates the match from the files. The first word is a match if more words follow and a match has that name, or no
/// file has it. With `--maildir`, the only word is a match.
fn match_and_files<'a>(args: &'a Args, context: &Context) -> Result<(Option<MatchName>, &'a [PathBuf])> {
    let words = args.words.as_slice();
    let Some((first, others)) = words.split_first() else { return Ok((None, words)) };
    let name: Option<MatchName> = first.to_str().and_then(|word| word.parse().ok());
    if args.maildir.is_some() {
        if name.is_none() || !others.is_empty() {
            return Err(Failure::usage("`--maildir` takes no files").hint("leave the one or the other out"));
        }
        return Ok((name, others));
    }
    if let Some(name) = name
        && !others.is_empty()
        && (context.read_store()?.genesis(&name).is_ok() || !first.exists())
    {
        return Ok((Some(name), others));
    }
    Ok((None, words))
}

/// Takes the mails that wait in a Maildir, for `mail run` (PM-66). `printed` remembers the mails that stay there, so
/// that each is printed once. Returns `true` if a mail was left because it came after the deadline.
pub(super) fn take_waiting(
    only: Option<&MatchName>,
    folder: &Path,
    now_ms: i64,
    host: &HostArgs,
    printed: &mut BTreeSet<PathBuf>,
    context: &mut Context,
) -> Result<bool> {
    let maildir = Maildir::open(folder)?;
    let mails = maildir.mails()?;
    if mails.is_empty() {
        return Ok(false);
    }
    let mails = MailsToTake { only, maildir: Some(&maildir), mails, admit: &[], now_ms, is_late_left: true };
    Ok(take(mails, host, printed, context)?.1)
}

/// Takes mails. Also returns whether one was left because it came after the deadline.
fn take(
    from: MailsToTake<'_>,
    host: &HostArgs,
    printed: &mut BTreeSet<PathBuf>,
    context: &mut Context,
) -> Result<(ExitStatus, bool)> {
    let MailsToTake { only, maildir, mails, admit, now_ms, is_late_left } = from;
    let Context { workspace, output, .. } = context;
    let room = host.post_room(workspace)?;
    let store = workspace.open_store()?;
    let registry = &workspace.registry;
    if let Some(name) = only {
        // Reports an error of this match, which the post office would only warn about.
        MailHost::of(&store, name, registry, &room.signers, 0)?;
    }
    let mut office = PostOffice::open(&store, registry, &room.signers, &room.folder, now_ms)?;
    for (name, error) in office.troubles.drain(..) {
        tracing::warn!("mails for `{name}` stay as they are: {error}");
    }
    let mut taken = Vec::new();
    let mut is_left = false;
    let shows_match = only.is_none();
    for (path, mail) in mails {
        let mut places = office.matches_of(&mail);
        if let Some(only) = only {
            let own = office.matches.iter().position(|hosted| hosted.name == *only);
            let is_own = own.is_some_and(|own| places.contains(&own));
            if maildir.is_some() && !places.is_empty() && !is_own {
                continue;
            }
            places.clear();
            // If the host has chosen this mail for this match, the mail need not name the match.
            if is_own || maildir.is_none() {
                places.extend(own);
            }
        } else if places.is_empty() && maildir.is_none() && office.matches.len() == 1 {
            places.push(0);
        }
        let mut is_late = false;
        if let Some(now) = DeskTime::of_unix_ms(now_ms) {
            for place in &places {
                let hosted = office.matches.get(*place);
                is_late |= hosted.is_some_and(|hosted| hosted.host.is_after_deadline(&mail, now));
            }
        }
        if is_late_left && is_late {
            is_left = true;
            continue;
        }
        if places.is_empty() && mail.papers().is_empty() {
            let no_match = TakenMail::for_no_match(mail);
            taken.push(PrintedMail { path, match_name: None, shows_match, taken: no_match });
            continue;
        }
        for place in places {
            let Some(hosted) = office.matches.get_mut(place) else { continue };
            let of_match = take_mail(&mut hosted.host, &hosted.addresses, &mail, admit)?;
            let match_name = Some(hosted.name.clone());
            taken.push(PrintedMail { path: path.clone(), match_name, shows_match, taken: of_match });
        }
    }
    let mut letters = Vec::new();
    let names: Vec<_> = office.matches.iter().map(|hosted| hosted.name.clone()).collect();
    drop(office);
    for name in names {
        let mut mails = Vec::new();
        for mail in &taken {
            if mail.match_name.as_ref() == Some(&name) {
                mails.push(&mail.taken);
            }
        }
        if !mails.is_empty() {
            letters.extend(room.of(&store, &name, registry)?.write(&mails)?);
        }
    }
    drop(store);
    for mail in &taken {
        let mut is_done = true;
        for other in &taken {
            is_done &= other.path != mail.path || other.taken.is_done();
        }
        if let Some(maildir) = maildir
            && is_done
        {
            maildir.mark_taken(&mail.path)?;
        }
        if printed.insert(mail.path.clone()) || is_done {
            mail.print(output)?;
        }
    }
    output.note(letter_lines(&letters))?;
    Ok((exit_status(&taken, output)?, is_left))
}

fn exit_status(taken: &[PrintedMail], output: &mut Output) -> Result<ExitStatus> {
    let mut is_all = true;
    let mut forked = None;
    for PrintedMail { taken, .. } in taken {
        is_all &= match &taken.reply {
            Some(reply) => reply.seat.is_some() && reply.faults.is_empty(),
            None => !taken.papers.is_empty() || taken.mail.notice.is_some(),
        };
        for paper in &taken.papers {
            is_all &= paper.outcome.is_recorded();
            if forked.is_none() && paper.outcome == PaperOutcome::Fork {
                forked = Some(paper);
            }
        }
    }
    if let Some(TakenPaper { paper: Some(paper), .. }) = forked {
        output.flush()?;
        let message = format!("fork: {} has seen another history", paper.head().seat);
        return Err(Failure::negative(message).hint("keep that mail: it proves what the player was shown"));
    }
    Ok(is_all.into())
}

impl PrintedMail {
    fn print(&self, output: &mut Output) -> io::Result<()> {
        if let Some(reply) = &self.taken.reply {
            self.print_reply(reply, output)?;
        } else if let Some(noticed) = &self.taken.noticed {
            let message = noticed.in_words();
            let printed = json!({
                "file": input_name(&self.path), "match": self.match_name, "seat": noticed.seat, "kind": "notice",
                "outcome": "noted", "message": message,
            });
            output.show(&printed, || vec![format!("{}noted: {message}", self.place(None)).into()])?;
        } else if self.taken.papers.is_empty() {
            let TakenMail { mail, is_of_player, .. } = &self.taken;
            let mut no_answer = None;
            if mail.obstacle == Some(Obstacle::TooLong) {
                no_answer = Some("it is longer than 1 MiB, so it was not read");
            } else if mail.notice.is_some() {
                no_answer = Some("a program sent it, so it gets no answer");
            } else if mail.from.is_some() && !is_of_player {
                no_answer = Some("`addresses` does not have its sender, so it gets no answer");
            }
            let printed = json!({
                "file": input_name(&self.path), "match": self.match_name, "line": null, "seat": null, "kind": null,
                "number": null, "digest": null, "outcome": "no_paper", "reason": null, "message": no_answer,
                "seq": null, "is_new": false,
            });
            output.show(&printed, || {
                let why = no_answer.map(|why| format!("; {why}")).unwrap_or_default();
                vec![format!("{}no paper in it{why}", self.place(None)).into()]
            })?;
        }
        for paper in &self.taken.papers {
            self.print_paper(paper, output)?;
        }
        Ok(())
    }

    fn place(&self, line: Option<usize>) -> String {
        let mut place = format!("{}:", input_name(&self.path));
        if let Some(line) = line {
            place = format!("{place}{line}:");
        }
        match &self.match_name {
            Some(name) if self.shows_match => format!("{place} {name} "),
            _ => place + " ",
        }
    }

    /// Prints the questions of a mail with a reply code, and why something was not taken. It never prints the code.
    fn print_reply(&self, reply: &TakenReply, output: &mut Output) -> io::Result<()> {
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
            "file": input_name(&self.path), "match": self.match_name, "line": line, "seat": seat, "kind": "reply",
            "outcome": outcome, "message": faults.first(),
        });
        output.show(&printed, || {
            let seat = seat.map(|seat| format!("{seat} ")).unwrap_or_default();
            let why = if faults.is_empty() { String::new() } else { format!(": {}", faults.join(" ")) };
            vec![format!("{}{seat}reply: {outcome}{why}", self.place(Some(*line))).into()]
        })
    }

    fn print_paper(&self, taken: &TakenPaper, output: &mut Output) -> io::Result<()> {
        let TakenPaper { line, paper, outcome, seq, is_new, .. } = taken;
        let head = paper.as_ref().map(Paper::head);
        let kind = paper.as_ref().map(|paper| paper.content().kind());
        let printed = json!({
            "file": input_name(&self.path), "match": self.match_name, "line": line,
            "seat": head.map(|head| head.seat), "kind": kind, "number": head.map(|head| head.number),
            "digest": paper.as_ref().map(|paper| paper.digest().to_string()),
            "outcome": outcome.name(), "reason": outcome.code(), "message": outcome.message(),
            "seq": seq, "is_new": is_new,
        });
        output.show(&printed, || {
            let mut line = self.place(Some(*line));
            if let (Some(head), Some(kind)) = (head, kind) {
                line = format!("{line}{} {kind} {}: ", head.seat, head.number);
            }
            let again = if seq.is_some() && !is_new { ", as before" } else { "" };
            vec![format!("{line}{outcome}{again}").into()]
        })
    }
}
