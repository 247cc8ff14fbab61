//! Mails that programs send by themselves: undeliverable mails, and absences (PM-93).
//!
//! Such a mail is never answered, because two programs could answer each other forever (RFC 3834). `mail status` shows
//! it to the host. It is recognized by headers, sender or subject, because programs such as `vacation` set no header.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use mail_parser::{HeaderName, Message, MimeHeaders, PartType};
use turnfold_core::paper::{DeskTime, PaperContent};
use turnfold_core::rules::desk::Desk;
use turnfold_core::{Digest, Rules, Seat};
use turnfold_proof::signing::sync_folder_of;

use super::desk_history::DeskHistory;
use super::host::MailHost;
use super::letter::match_digits;
use super::letter_words::time;
use super::mail_text::{PROGRAM_WORDS, ProgramWords};
use super::post_folder::{Addresses, MailAddress};
use super::received_mail::ReceivedMail;
use super::take::{PaperOutcome, TakenPaper};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoticeKind {
    Bounce,
    Delay,
    Absence,
    /// Anything else, such as that a mail was read.
    Other,
    /// No program sent it: a player waits to be admitted (PM-26).
    Join,
}

const KINDS: [(NoticeKind, &str); 5] = [
    (NoticeKind::Bounce, "bounce"),
    (NoticeKind::Delay, "delay"),
    (NoticeKind::Absence, "absence"),
    (NoticeKind::Other, "other"),
    (NoticeKind::Join, "join"),
];

/// The report in a mail that a program sent by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    kind: NoticeKind,
    /// Why a mail was not delivered, in words.
    why: &'static str,
    pub(super) is_sure: bool,
    /// The mail as text, in lower case, with the mail that it is about.
    text: String,
}

const TEXT_MAX: usize = 1 << 16;

impl Notice {
    pub(super) fn of(mail: &Message<'_>, texts: &[String]) -> Option<Self> {
        let words: &'static ProgramWords = &PROGRAM_WORDS;
        let subject = mail.subject().unwrap_or_default().trim().to_lowercase();
        let sender = mail.from().and_then(|from| from.first()?.address()).unwrap_or_default().to_lowercase();
        let user = sender.split('@').next().unwrap_or_default();
        let is_daemon =
            user == "mailer-daemon" || ["postmaster", "mail-daemon"].contains(&user) && sender.contains('@');
        let is_failed =
            mail.headers().iter().any(|header| header.name().eq_ignore_ascii_case("X-Failed-Recipients"));
        let is_report =
            mail.content_type().is_some_and(|content_type| content_type.subtype() == Some("report"));
        let is_null = mail.header_raw(HeaderName::ReturnPath).is_some_and(|path| path.trim() == "<>");
        let is_absence =
            words.absences.iter().any(|begin| subject.starts_with(begin)) || words.absent.contains(&subject);
        let is_bounce = words.bounces.iter().any(|words| subject.contains(words));
        // `Re: Undelivered mail` is written by a person.
        let is_sent_back = is_bounce && !subject.starts_with("re:") && !subject.starts_with("aw:");
        let is_marked = is_marked(mail);
        let is_sure = is_daemon || is_failed || is_report || is_null || is_marked;
        if !is_sure && !is_absence && !is_sent_back {
            return None;
        }
        let mut text = format!("{subject}\n{}", status_of(mail));
        for part in texts {
            text.extend(part.to_lowercase().chars().take(TEXT_MAX.saturating_sub(text.len())));
            text.push('\n');
        }
        let kind = if text.contains("action: delayed")
            || is_daemon && words.delays.iter().any(|words| subject.contains(words))
        {
            NoticeKind::Delay
        } else if text.contains("action: failed") || is_failed || is_daemon || is_bounce {
            NoticeKind::Bounce
        } else if is_absence || is_marked && !is_report {
            NoticeKind::Absence
        } else {
            NoticeKind::Other
        };
        let mut why = "not delivered";
        for reason in words.reasons.iter().rev() {
            if reason.signs.iter().any(|sign| text.contains(sign)) {
                why = &reason.why;
            }
        }
        Some(Self { kind, why, is_sure, text })
    }

    pub(super) fn letter(&self, match_digits: &str) -> Option<(Seat, u64)> {
        let mut own = None;
        let mut newest: Option<(Seat, u64)> = None;
        for (at, _) in self.text.match_indices(match_digits) {
            let Some((before, rest)) = self.text.split_at_checked(at) else { continue };
            let id = rest.split(['@', '>', '\n']).next().unwrap_or_default();
            let Some(letter) = id.split('.').find_map(letter_in) else { continue };
            if before.trim_end_matches([' ', '<', '\r', '\n']).ends_with("message-id:") {
                own = Some(letter);
            }
            if newest.is_none_or(|(_, size)| size <= letter.1) {
                newest = Some(letter);
            }
        }
        // The letter's own `Message-ID` counts more than headers that name the letters before it.
        own.or(newest)
    }
}

fn letter_in(part: &str) -> Option<(Seat, u64)> {
    let (size, rest) = part.split_once('-')?;
    Some((rest.split('-').next()?.parse().ok()?, size.parse().ok()?))
}

/// Returns `true` if a header marks a mail as sent by a program (RFC 3834). If a header is repeated, one mark is
/// enough.
fn is_marked(mail: &Message<'_>) -> bool {
    for header in mail.headers() {
        let text = header.value().as_text().unwrap_or_default().trim().to_ascii_lowercase();
        let is_mark = match header.name().to_ascii_lowercase().as_str() {
            "auto-submitted" => !text.starts_with("no"),
            "precedence" => ["bulk", "junk", "auto_reply", "auto-reply"].contains(&text.as_str()),
            "x-autoreply"
            | "x-autorespond"
            | "x-autoresponder"
            | "x-auto-reply"
            | "x-autoreply-from"
            | "x-fc-machinegenerated" => true,
            _ => false,
        };
        if is_mark && !text.is_empty() {
            return true;
        }
    }
    false
}

fn status_of(mail: &Message<'_>) -> String {
    let mut text = String::new();
    for part in &mail.parts {
        let bytes = match &part.body {
            PartType::Message(attached) => attached.raw_message.as_ref(),
            PartType::Binary(bytes) | PartType::InlineBinary(bytes) => bytes.as_ref(),
            _ => continue,
        };
        let head = bytes.get(..bytes.len().min(TEXT_MAX / 4)).unwrap_or_default();
        if let Some(content_type) = part.content_type()
            && ["message", "text"].contains(&content_type.ctype())
        {
            text.push_str(&String::from_utf8_lossy(head).to_lowercase());
            text.push('\n');
        }
    }
    text
}

/// A notice about a seat, as the host reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatNotice {
    pub(super) at: DeskTime,
    /// The seat.
    pub seat: Seat,
    pub(super) kind: NoticeKind,
    /// The desk size of the letter that it is about; for an offer that brings a new player, the turn of the offer.
    pub(super) letter: Option<u64>,
    address: Option<MailAddress>,
    /// The digest of the mail, so that it is stored once; for a waiting player, the digest of the paper.
    mail: Digest,
    /// Why a mail was not delivered, in words; for a waiting player, the name or the offer.
    why: String,
}

impl fmt::Display for SeatNotice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = KINDS.iter().find(|(kind, _)| *kind == self.kind).map_or("other", |(_, name)| name);
        let letter = self.letter.map_or_else(|| "-".into(), |letter| letter.to_string());
        let address = self.address.as_ref().map_or_else(|| "-".into(), ToString::to_string);
        let Self { at, seat, mail, why, .. } = self;
        write!(out, "{at} {seat} {name} {letter} {address} {mail} {why}")
    }
}

impl SeatNotice {
    /// Reads a line such as `TIME p1 bounce 7 ADDRESS DIGEST WHY`.
    fn read(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.splitn(7, ' ').collect();
        let [at, seat, name, letter, address, mail, why] = fields[..] else { return None };
        Some(Self {
            at: at.parse().ok()?,
            seat: seat.parse().ok()?,
            kind: KINDS.iter().find(|(_, known)| *known == name)?.0,
            letter: letter.parse().ok(),
            address: address.parse().ok(),
            mail: mail.parse().ok()?,
            why: why.into(),
        })
    }
}

/// The file with the notices of a match, next to its outbox. Like the addresses, it is in no log, bundle or backup.
const FILE: &str = "notices";

pub(super) fn read(folder: &Path) -> io::Result<Vec<SeatNotice>> {
    match fs::read_to_string(folder.join(FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        text => Ok(text?.lines().filter_map(SeatNotice::read).collect()),
    }
}

pub(super) fn write(folder: &Path, notice: &SeatNotice) -> io::Result<()> {
    if read(folder)?.iter().any(|known| known.mail == notice.mail && known.seat == notice.seat) {
        return Ok(());
    }
    let path = folder.join(FILE);
    let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
    // The line break comes first, because a crash may have cut the last line short.
    writeln!(file, "\n{notice}")?;
    file.sync_all()?;
    sync_folder_of(&path)
}

/// Returns sentences that the host should read about each seat: the mails that bounced from the seat's current address,
/// and the newest delay and absence.
#[must_use]
pub fn notices_in_words(notices: &[SeatNotice], addresses: &Addresses) -> Vec<String> {
    let mut sentences = Vec::new();
    for (seat, address) in addresses.players() {
        let mut of_seat = notices.to_vec();
        of_seat.retain(|notice| notice.seat == seat && notice.address.as_ref() == Some(address));
        let mut bounced = of_seat.clone();
        bounced.retain(|notice| notice.kind == NoticeKind::Bounce);
        match bounced.as_slice() {
            [] => {}
            [only] => sentences.push(only.in_words()),
            [first, .., last] => {
                let since = time(first.at, "");
                sentences.push(format!("{seat}'s mail bounces since {since}: {}", last.why));
            }
        }
        for kind in [NoticeKind::Delay, NoticeKind::Absence] {
            let of_kind = of_seat.iter().filter(|notice| notice.kind == kind);
            if let Some(newest) = of_kind.max_by_key(|notice| notice.at) {
                sentences.push(format!("{}, {}", newest.in_words(), time(newest.at, "")));
            }
        }
    }
    sentences
}

impl SeatNotice {
    /// Writes it as a sentence without a full stop.
    #[must_use]
    pub fn in_words(&self) -> String {
        let Self { seat, why, .. } = self;
        let letter = self.letter.map_or_else(|| "letter".into(), |letter| format!("letter {letter}"));
        match self.kind {
            NoticeKind::Bounce => format!("{seat}'s {letter} bounced: {why}"),
            NoticeKind::Delay => format!("{seat}'s {letter} is delayed"),
            NoticeKind::Absence => format!("{seat}'s mail program sent a notice of absence"),
            NoticeKind::Other => format!("{seat}'s mail program sent a notice"),
            NoticeKind::Join => {
                let mut who = why.clone();
                if let Some(from) = &self.address {
                    who = format!("{why} <{from}>");
                }
                format!("{who} waits to be admitted to {seat}: `mail take` with `--admit {seat}`")
            }
        }
    }

    pub(super) fn waits(&self, desk: &DeskHistory) -> bool {
        let state = desk.state();
        let may_come = match self.letter {
            None => state.name_of(self.seat).is_none() && !Desk::over(state),
            Some(turn) => state.is_open() && turn == u64::from(state.turn()),
        };
        self.kind == NoticeKind::Join && may_come && desk.paper(&self.mail).is_none()
    }
}

impl MailHost<'_> {
    pub(super) fn waiting(&self, mail: &ReceivedMail, taken: &TakenPaper) -> Option<SeatNotice> {
        let (paper, PaperOutcome::NeedsAdmit(seat)) = (taken.paper.as_ref()?, &taken.outcome) else {
            return None;
        };
        let (letter, why) = match paper.content() {
            PaperContent::Join(join) => (None, join.key.name().to_string()),
            PaperContent::Offer(offer) => (Some(paper.head().turn.into()), offer.to_string()),
            _ => return None,
        };
        Some(SeatNotice {
            at: DeskTime::of_unix_ms(self.recorded_at_ms)?,
            seat: *seat,
            kind: NoticeKind::Join,
            letter,
            address: mail.from.clone(),
            mail: paper.digest(),
            why,
        })
    }

    pub(super) fn noticed(&self, mail: &ReceivedMail, addresses: &Addresses) -> Option<SeatNotice> {
        let notice = mail.notice.as_ref()?;
        let letter = notice.letter(match_digits(&self.game.terms));
        let mut players = addresses.players();
        let seat = match (letter, addresses.seat_of(mail.from.as_ref())) {
            (Some((seat, _)), _) | (None, Some(seat)) => seat,
            _ => players.find(|(_, address)| notice.text.contains(&address.to_string().to_lowercase()))?.0,
        };
        let now = DeskTime::of_unix_ms(self.recorded_at_ms)?;
        Some(SeatNotice {
            at: mail.sent.map_or(now, |sent| sent.min(now)),
            seat,
            kind: notice.kind,
            letter: letter.map(|(_, size)| size),
            address: addresses.of(seat).cloned(),
            mail: mail.digest,
            why: notice.why.into(),
        })
    }
}
