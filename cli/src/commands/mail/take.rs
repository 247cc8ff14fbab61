//! `turnfold mail take`: records the papers of mails at the desk (PM-26).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::json;
use turnfold_core::Seat;
use turnfold_core::paper::DeskTime;
use turnfold_history::{InputError, Sources as _};
use turnfold_mail::{
    MAIL_LIMITS, MailHost, Maildir, Obstacle, PaperOutcome, PostOffice, ReceivedMail, TakenMail, TakenPaper,
    TakenReply, read_mail, take_mail,
};
use turnfold_store::MatchName;

use super::post::{HostArgs, letter_lines};
use crate::clock;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files::{input_name, is_standard, read_input_or_stdin};

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

/// A mail with what was taken from it for a match.
struct PrintedMail {
    path: PathBuf,
    /// The match; `None` if the mail is for no match of the store.
    match_name: Option<MatchName>,
    taken: TakenMail,
}

struct MailsToTake<'a> {
    /// The only match to take mails for; `None` for all.
    only: Option<&'a MatchName>,
    maildir: Option<&'a Maildir>,
    mails: Vec<(PathBuf, ReceivedMail)>,
    admit: &'a [Seat],
    /// The time to record, in Unix milliseconds.
    now_ms: i64,
    /// Whether mails that came after the deadline are left until `mail run` has let it pass (PM-113).
    is_late_left: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let (only, files) = match_and_files(args, context)?;
    let maildir = args.maildir.as_deref().map(Maildir::open).transpose()?;
    let mails = match &maildir {
        Some(maildir) => maildir.mails()?,
        // If one of the files cannot be read, no mail is taken.
        None => {
            files.iter().map(|path| Ok((path.clone(), read(path)?))).collect::<Result<_, InputError>>()?
        }
    };
    let mails = MailsToTake {
        only: only.as_ref(),
        maildir: maildir.as_ref(),
        mails,
        admit: &args.admit,
        now_ms: clock::now_ms()?,
        is_late_left: false,
    };
    take(mails, &args.host, &mut BTreeSet::new(), context).map(|(status, _)| status)
}

/// Separates the match from the files. The first word is a match if more words follow and a match has that name, or no
/// file has it. With `--maildir`, the only word is a match.
fn match_and_files<'a>(
    args: &'a Args,
    context: &Context,
) -> Result<(Option<MatchName>, &'a [PathBuf]), Failure> {
    let words = args.words.as_slice();
    let Some((first, others)) = words.split_first() else { return Ok((None, words)) };
    let name: Option<MatchName> = first.to_str().and_then(|word| word.parse().ok());
    match (&args.maildir, name) {
        (Some(_), Some(name)) if others.is_empty() => Ok((Some(name), others)),
        (Some(_), _) => {
            Err(Failure::usage("`--maildir` takes no files").hint("leave the one or the other out"))
        }
        (None, Some(name)) if !others.is_empty() => {
            let is_match = context.read_store()?.genesis(&name).is_ok();
            if is_match || !first.exists() { Ok((Some(name), others)) } else { Ok((None, words)) }
        }
        (None, _) => Ok((None, words)),
    }
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
) -> Result<bool, Failure> {
    let maildir = Maildir::open(folder)?;
    let mails = maildir.mails()?;
    if mails.is_empty() {
        return Ok(false);
    }
    let mails = MailsToTake { only, maildir: Some(&maildir), mails, admit: &[], now_ms, is_late_left: true };
    take(mails, host, printed, context).map(|(_, is_left)| is_left)
}

/// Takes mails. Also returns whether one was left because it came after the deadline.
fn take(
    from: MailsToTake<'_>,
    host: &HostArgs,
    printed: &mut BTreeSet<PathBuf>,
    context: &mut Context,
) -> Result<(ExitStatus, bool), Failure> {
    let MailsToTake { only, maildir, mails, admit, now_ms, is_late_left } = from;
    let room = host.post_room(context)?;
    let store = context.open_store()?;
    let registry = context.registry.clone();
    if let Some(name) = only {
        // Reports an error of this match, which the post office would only warn about.
        MailHost::of(&store, name, &registry, &room.signers, 0)?;
    }
    let mut office = PostOffice::open(&store, &registry, &room.signers, &room.folder, now_ms)?;
    for (name, error) in office.troubles.drain(..) {
        tracing::warn!("mails for `{name}` stay as they are: {error}");
    }
    let mut taken = Vec::new();
    let mut is_left = false;
    for (path, mail) in mails {
        let mut places = office.matches_of(&mail);
        if let Some(only) = only {
            let own = office.matches.iter().position(|hosted| hosted.name == *only);
            let is_own = places.iter().any(|place| Some(*place) == own);
            if maildir.is_some() && !places.is_empty() && !is_own {
                continue;
            }
            // If the host has chosen this mail for this match, the mail need not name the match.
            let is_taken = is_own || maildir.is_none();
            places = own.into_iter().filter(|_| is_taken).collect();
        } else if places.is_empty() && maildir.is_none() && office.matches.len() == 1 {
            places.push(0);
        }
        let mut hosts = places.iter().filter_map(|place| office.matches.get(*place));
        if let Some(now) = DeskTime::of_unix_ms(now_ms)
            && is_late_left
            && hosts.any(|hosted| hosted.host.is_after_deadline(&mail, now))
        {
            is_left = true;
            continue;
        }
        if places.is_empty() && mail.papers().is_empty() {
            let no_match = TakenMail::for_no_match(mail);
            taken.push(PrintedMail { path, match_name: None, taken: no_match });
            continue;
        }
        for place in &places {
            let Some(hosted) = office.matches.get_mut(*place) else { continue };
            let of_match = take_mail(&mut hosted.host, &hosted.addresses, &mail, admit)?;
            let match_name = Some(hosted.name.clone());
            taken.push(PrintedMail { path: path.clone(), match_name, taken: of_match });
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
            letters.extend(room.of(&store, &name, context)?.write(mails)?);
        }
    }
    drop(store);
    for mail in &taken {
        let is_done = taken.iter().filter(|other| other.path == mail.path).all(|other| other.taken.is_done());
        if let Some(maildir) = maildir.filter(|_| is_done) {
            maildir.mark_taken(&mail.path)?;
        }
        if printed.insert(mail.path.clone()) || is_done {
            mail.print(only.is_none(), context)?;
        }
    }
    context.output.note(letter_lines(&letters))?;
    exit_status(&taken, context).map(|status| (status, is_left))
}

/// Reads a mail. On standard input, a mail that is too long is an error, because it cannot be read again.
fn read(path: &Path) -> Result<ReceivedMail, InputError> {
    if is_standard(path) {
        return Ok(ReceivedMail::read(&read_input_or_stdin(path, &MAIL_LIMITS)?));
    }
    read_mail(path)
}

fn exit_status(taken: &[PrintedMail], context: &mut Context) -> Result<ExitStatus, Failure> {
    let papers = || taken.iter().flat_map(|mail| &mail.taken.papers);
    let forked = papers().find(|paper| paper.outcome == PaperOutcome::Fork);
    if let Some(seat) = forked.and_then(|paper| paper.paper.as_ref()).map(|paper| paper.head().seat) {
        context.output.flush()?;
        let message = format!("fork: {seat} has seen another history");
        return Err(Failure::negative(message).hint("keep that mail: it proves what the player was shown"));
    }
    let is_all = taken.iter().all(|mail| match &mail.taken.reply {
        Some(reply) => reply.seat.is_some() && reply.faults.is_empty(),
        None => !mail.taken.papers.is_empty() || mail.taken.mail.notice.is_some(),
    });
    Ok(ExitStatus::from(is_all && papers().all(|paper| paper.outcome.is_recorded())))
}

impl PrintedMail {
    /// Returns why a mail without a paper gets no answer or was not read; `None` if it is answered.
    fn no_answer(&self) -> Option<&'static str> {
        let TakenMail { mail, is_of_player, .. } = &self.taken;
        if mail.obstacle == Some(Obstacle::TooLong) {
            Some("it is longer than 1 MiB, so it was not read")
        } else if mail.notice.is_some() {
            Some("a program sent it, so it gets no answer")
        } else if mail.from.is_some() && !is_of_player {
            Some("`addresses` does not have its sender, so it gets no answer")
        } else {
            None
        }
    }

    fn match_name(&self) -> Option<&str> {
        self.match_name.as_ref().map(MatchName::as_str)
    }

    /// Returns the name of the mail to print.
    fn name(&self) -> String {
        input_name(&self.path).into_owned()
    }

    /// Prints the result for the mail, with the name of the match if `with_match`.
    fn print(&self, with_match: bool, context: &mut Context) -> Result<(), Failure> {
        if let Some(reply) = &self.taken.reply {
            self.print_reply(reply, with_match, context)?;
        } else if let Some(noticed) = &self.taken.noticed {
            let printed = json!({
                "file": self.name(),
                "match": self.match_name(),
                "seat": noticed.seat,
                "kind": "notice",
                "outcome": "noted",
                "message": noticed.in_words(),
            });
            let line = format!("{}noted: {}", self.place(None, with_match), noticed.in_words());
            context.output.show(&printed, || vec![line.into()])?;
        } else if self.taken.papers.is_empty() {
            self.print_paper(None, with_match, context)?;
        }
        for paper in &self.taken.papers {
            self.print_paper(Some(paper), with_match, context)?;
        }
        Ok(())
    }

    /// Returns the text before a result: the mail, the line, and the match if `with_match`.
    fn place(&self, line: Option<usize>, with_match: bool) -> String {
        let mut place = format!("{}:", self.name());
        if let Some(line) = line {
            place = format!("{place}{line}:");
        }
        match self.match_name() {
            Some(name) if with_match => format!("{place} {name} "),
            _ => place + " ",
        }
    }

    /// Prints the questions of a mail with a reply code, and why something was not taken. It never prints the code.
    fn print_reply(
        &self,
        reply: &TakenReply,
        with_match: bool,
        context: &mut Context,
    ) -> Result<(), Failure> {
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
            "file": self.name(),
            "match": self.match_name(),
            "line": line,
            "seat": seat,
            "kind": "reply",
            "outcome": outcome,
            "message": faults.first(),
        });
        context.output.show(&printed, || {
            let seat = seat.map(|seat| format!("{seat} ")).unwrap_or_default();
            let why = if faults.is_empty() { String::new() } else { format!(": {}", faults.join(" ")) };
            vec![format!("{}{seat}reply: {outcome}{why}", self.place(Some(*line), with_match)).into()]
        })?;
        Ok(())
    }

    /// Prints a paper with its outcome. Without a paper, prints that the mail has none and why it gets no answer.
    fn print_paper(
        &self,
        taken: Option<&TakenPaper>,
        with_match: bool,
        context: &mut Context,
    ) -> Result<(), Failure> {
        let no_answer = self.no_answer().filter(|_| taken.is_none());
        let paper = taken.and_then(|taken| taken.paper.as_ref());
        let message = taken.and_then(|taken| taken.outcome.message());
        let answered = json!({
            "file": self.name(),
            "match": self.match_name(),
            "line": taken.map(|taken| taken.line),
            "seat": paper.map(|paper| paper.head().seat),
            "kind": paper.map(|paper| paper.content().kind()),
            "number": paper.map(|paper| paper.head().number),
            "digest": paper.map(|paper| paper.digest().to_string()),
            "outcome": taken.map_or("no_paper", |taken| taken.outcome.name()),
            "reason": taken.and_then(|taken| taken.outcome.code()),
            "message": message.or(no_answer.map(Into::into)),
            "seq": taken.and_then(|taken| taken.seq),
            "is_new": taken.is_some_and(|taken| taken.is_new),
        });
        context.output.show(&answered, || {
            let Some(TakenPaper { line, outcome, seq, is_new, .. }) = taken else {
                let why = no_answer.map(|why| format!("; {why}")).unwrap_or_default();
                return vec![format!("{}no paper in it{why}", self.place(None, with_match)).into()];
            };
            let mut what = String::new();
            if let Some(paper) = paper {
                let head = paper.head();
                what = format!("{} {} {}: ", head.seat, paper.content().kind(), head.number);
            }
            let again = if seq.is_some() && !is_new { ", as before" } else { "" };
            let place = self.place(Some(*line), with_match);
            vec![format!("{place}{what}{outcome}{again}").into()]
        })?;
        Ok(())
    }
}
