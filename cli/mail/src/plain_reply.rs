//! Reads what a player without a key writes in a mail: a reply code, and commands in lines of text around it (PM-43,
//! PM-90).

use std::fmt;

use turnfold_core::dice::fair::{Chain, Owner};
use turnfold_core::paper::SeatKey;
use turnfold_core::trust::PrivateKey;
use turnfold_core::{Digest, Seat};

use super::mail_text::PROGRAM_WORDS;

pub(super) const END: &str = "(end)";
/// The beginning of a letter's part with the code, which identifies a letter that is quoted without marks.
pub(super) const ANSWER: &str = "Answer this letter";

const OUTSIDE_MAX: usize = 2000;

/// The most codes of a mail that are read. A thread that quotes all its letters has far fewer.
pub(super) const CODES_MAX: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineMeaning {
    /// A command of the game, or a line for the desk.
    Command,
    /// Possibly a command with a mistake.
    Attempt,
    Words,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Own,
    /// It is quoted, with a mark or without.
    Quoted,
    /// It is from the mail program or the signature, and never a command.
    Program,
}

struct MailLine {
    text: String,
    depth: usize,
    origin: Origin,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundCode {
    /// The line of the mail on which the code stands, from 1.
    pub(super) line: usize,
    pub(super) code: ReplyCode,
    depth: usize,
    rest: String,
}

pub(super) struct PlainReply {
    lines: Vec<MailLine>,
    codes: Vec<FoundCode>,
}

impl PlainReply {
    pub(super) fn find(text: &str) -> Option<Self> {
        let mut lines: Vec<MailLine> = text.lines().map(MailLine::of).collect();
        find_origins(&mut lines);
        let mut codes = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            if codes.len() < CODES_MAX
                && let Some((code, rest)) = code_in(&line.text)
            {
                let depth = line.depth.max(usize::from(line.origin != Origin::Own));
                codes.push(FoundCode { line: at + 1, code, depth, rest });
            }
        }
        if codes.is_empty() { None } else { Some(Self { lines, codes }) }
    }

    pub(super) fn codes(&self) -> Vec<FoundCode> {
        let mut codes: Vec<FoundCode> = Vec::new();
        let mut sorted = self.codes.clone();
        sorted.sort_by_key(|found| found.depth);
        for found in sorted {
            if !codes.iter().any(|known| known.code == found.code) {
                codes.push(found);
            }
        }
        codes
    }

    /// Returns the commands that the sender wrote, one list for each place: above the quoted letter, between its code and
    /// `(end)`, and below it. The same commands in two places are one list.
    pub(super) fn commands(&self, code: &ReplyCode, reads: &dyn Fn(&str) -> LineMeaning) -> Vec<Vec<String>> {
        let mut places = Places::default();
        let mut at = 0;
        let mut is_ended = false;
        let mut outside = 0;
        while let Some(line) = self.lines.get(at) {
            let is_own = line.origin == Origin::Own;
            if let Ok(place) = self.codes.binary_search_by_key(&(at + 1), |found| found.line)
                && let Some(found) = self.codes.get(place)
            {
                let (block, end) = self.block(found, reads);
                at = end;
                let last = self.lines.get(end.saturating_sub(1));
                is_ended = is_own && last.is_some_and(MailLine::is_end);
                places.end_paragraph();
                let block = if found.code == *code { block } else { Vec::new() };
                if is_own {
                    places.here.extend(block);
                } else {
                    places.end_place();
                    places.add(block);
                }
                continue;
            }
            at += 1;
            match line.origin {
                Origin::Quoted if !line.text.is_empty() => {
                    places.end_place();
                    is_ended = false;
                }
                Origin::Own if is_ended || line.is_end() => is_ended = true,
                Origin::Own if !line.text.is_empty() && outside < OUTSIDE_MAX => {
                    outside += 1;
                    places.paragraph.push((line.text.clone(), reads(&line.text)));
                }
                _ => places.end_paragraph(),
            }
        }
        places.end_place();
        if places.all.is_empty() && !places.attempts.is_empty() {
            places.all.push(places.attempts);
        }
        places.all
    }

    /// Returns the commands in the lines after a code, and the index of the line after them.
    ///
    /// The commands are all lines up to `(end)`, quoted or not. Without that line they end before an empty line that no
    /// command follows, before another code, before a signature, and where the sender's own lines end.
    fn block(&self, found: &FoundCode, reads: &dyn Fn(&str) -> LineMeaning) -> (Vec<String>, usize) {
        let until = match self.codes.iter().find(|other| other.line > found.line) {
            Some(next) => next.line - 1,
            None => self.lines.len(),
        };
        let mut lines = self.lines.get(found.line..until).unwrap_or_default();
        if found.depth == 0
            && let Some(end) =
                lines.iter().position(|line| line.origin != Origin::Own && !line.text.is_empty())
        {
            lines = lines.get(..end).unwrap_or_default();
        }
        let mut kept = Vec::new();
        if !found.rest.is_empty() {
            kept.push(found.rest.clone());
        }
        if let Some(end) = lines.iter().position(MailLine::is_end) {
            for line in lines.iter().take(end) {
                if line.origin != Origin::Program && !line.text.is_empty() {
                    kept.push(line.text.clone());
                }
            }
            return (kept, found.line + end + 1);
        }
        let mut end = found.line;
        let mut is_behind_gap = false;
        for (place, line) in lines.iter().enumerate() {
            if line.text.is_empty() {
                is_behind_gap |= !kept.is_empty();
                continue;
            }
            if line.origin == Origin::Program || is_behind_gap && reads(&line.text) != LineMeaning::Command {
                break;
            }
            kept.push(line.text.clone());
            end = found.line + place + 1;
        }
        (kept, end)
    }
}

#[derive(Default)]
struct Places {
    all: Vec<Vec<String>>,
    here: Vec<String>,
    paragraph: Vec<(String, LineMeaning)>,
    /// Possible commands in paragraphs without a sure one.
    attempts: Vec<String>,
}

impl Places {
    /// Keeps the commands of the paragraph. Next to a command, a line with a mistake counts as one, too.
    fn end_paragraph(&mut self) {
        let has_commands = self.paragraph.iter().any(|(_, reading)| *reading == LineMeaning::Command);
        let lines = if has_commands { &mut self.here } else { &mut self.attempts };
        for (line, reading) in self.paragraph.drain(..) {
            if reading != LineMeaning::Words {
                lines.push(line);
            }
        }
    }

    fn end_place(&mut self) {
        self.end_paragraph();
        let here = std::mem::take(&mut self.here);
        self.add(here);
    }

    fn add(&mut self, lines: Vec<String>) {
        if !lines.is_empty() && !self.all.contains(&lines) {
            self.all.push(lines);
        }
    }
}

impl MailLine {
    fn of(line: &str) -> Self {
        let line = line.replace('\u{a0}', " ");
        let rest = line.trim_start_matches(['>', ' ', '\t', '\u{feff}']);
        let marks = line.get(..line.len() - rest.len()).unwrap_or_default();
        let depth = marks.matches('>').count();
        let origin = if depth > 0 { Origin::Quoted } else { Origin::Own };
        Self { text: rest.split_whitespace().collect::<Vec<_>>().join(" "), depth, origin }
    }

    fn is_end(&self) -> bool {
        self.text.eq_ignore_ascii_case(END)
    }
}

const ATTRIBUTION_MAX: usize = 4;

/// Finds the lines that are quoted without marks, and the lines of mail programs and signatures.
fn find_origins(lines: &mut [MailLine]) {
    let mut at = 0;
    let mut is_signature = false;
    let answer = lines.iter().rposition(|line| line.depth == 0 && line.text.starts_with(ANSWER));
    while let Some(line) = lines.get(at) {
        if line.origin != Origin::Own {
            is_signature &= line.text.is_empty();
            at += 1;
            continue;
        }
        if begins_unmarked(lines, at, answer) {
            for line in lines.iter_mut().skip(at) {
                if line.depth == 0 {
                    line.origin = Origin::Quoted;
                }
            }
            return;
        }
        let attribution = attribution(lines, at).unwrap_or(1);
        is_signature = (is_signature || line.text == "--") && code_in(&line.text).is_none();
        if is_signature || attribution > 1 || is_footer(&line.text) || is_attribution(&line.text) {
            for line in lines.iter_mut().skip(at).take(attribution) {
                line.origin = Origin::Program;
            }
        }
        at += attribution;
    }
}

fn begins_unmarked(lines: &[MailLine], at: usize, answer: Option<usize>) -> bool {
    let rest = lines.get(at..).unwrap_or_default();
    let Some(first) = rest.first().map(|line| line.text.as_str()) else { return false };
    if first.starts_with("--") && first.ends_with("--") && first.chars().any(char::is_alphabetic) {
        return true;
    }
    // A letter of ours that is quoted without any sign.
    if first.starts_with("Dear ") && first.ends_with(',') && answer.is_some_and(|answer| answer > at) {
        return true;
    }
    if is_header(first, &PROGRAM_WORDS.from)
        && rest.iter().take(8).any(|line| is_header(&line.text, &PROGRAM_WORDS.subject))
    {
        return true;
    }
    let Some(count) = attribution(lines, at) else { return false };
    let next = rest.iter().skip(count).find(|line| !line.text.is_empty());
    if let Some(next) = next { next.depth == 0 } else { false }
}

fn is_header(line: &str, names: &[String]) -> bool {
    let Some((name, _)) = line.trim_start_matches('*').split_once(':') else { return false };
    names.contains(&name.trim().to_lowercase())
}

fn attribution(lines: &[MailLine], at: usize) -> Option<usize> {
    let mut joined = String::new();
    for (before, line) in lines.get(at..)?.iter().take(ATTRIBUTION_MAX).enumerate() {
        if line.depth > 0 || line.text.is_empty() {
            return None;
        }
        joined.push_str(&line.text);
        if is_attribution(&joined) {
            return Some(before + 1);
        }
        joined.push(' ');
    }
    None
}

fn is_attribution(line: &str) -> bool {
    let line = line.to_lowercase();
    let is_dated = line.contains('@') || line.chars().any(|sign| sign.is_ascii_digit());
    is_dated && line.ends_with([':', '：']) && PROGRAM_WORDS.wrote.iter().any(|word| line.contains(word))
}

fn is_footer(line: &str) -> bool {
    let line = line.to_lowercase();
    PROGRAM_WORDS.footers.iter().any(|footer| line.starts_with(footer))
}

/// Returns the code with which a line begins, and the text after it. The code has hyphens; it may have any form after
/// the word `code` or alone on its line.
fn code_in(line: &str) -> Option<(ReplyCode, String)> {
    const MARKUP: [char; 4] = ['*', '_', '`', ' '];
    let line = line.replace(is_dash, "-").replace(" - ", "-");
    let line = line.trim_matches(MARKUP);
    let mut from = line;
    let mut is_marked = false;
    if let Some((word, rest)) = line.split_at_checked(4)
        && word.eq_ignore_ascii_case("code")
        && rest.starts_with([' ', ':', '*'])
    {
        from = rest.trim_start_matches([' ', ':', '*']);
        is_marked = true;
    }
    // With two separators between its three parts, and without.
    for length in [ReplyCode::LENGTH + 2, ReplyCode::LENGTH] {
        let Some((word, rest)) = from.split_at_checked(length) else { continue };
        let is_hyphened = is_marked || word.contains('-');
        if rest.starts_with(char::is_alphanumeric) || !is_hyphened && !rest.is_empty() {
            continue;
        }
        let groups: Vec<&str> = word.split(['-', ' ']).collect();
        if groups.len() != 1 && groups.iter().any(|group| group.len() != 4) {
            continue;
        }
        if let Some(code) = ReplyCode::read(&groups.join(if is_hyphened { "-" } else { "" })) {
            return Some((code, rest.trim_start_matches([':', ';', ',']).trim_matches(MARKUP).to_owned()));
        }
    }
    None
}

const SIGNS: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/// A reply code, written `ABCD-EFGH-JKMN`, which the player of a seat without a key sends along. It is good for one turn
/// (PM-38).
#[derive(Clone, PartialEq, Eq)]
pub(super) struct ReplyCode(String);

impl ReplyCode {
    const LENGTH: usize = 12;

    /// Returns the code of a seat and turn; turn 0 is for joining. It follows from the host's signing key, so it is
    /// stored nowhere, and no one else can compute it. `link` is the link of the position with which the turn began. So
    /// after a restored backup the code of the same turn at another position differs (PM-102).
    pub(super) fn of(
        signing: &PrivateKey,
        match_id: [u8; 16],
        (seat, turn): (Seat, u32),
        link: Option<Digest>,
    ) -> Self {
        // With fair dice no seat is plain, so this element is never opened.
        let secret = signing.dice_chain(Owner { match_id, party: Seat::Host }).element(Chain::LAST);
        let mut hasher = blake3::Hasher::new_derive_key("turnfold v3 reply code of a turn");
        hasher.update(secret.as_bytes()).update(format!("{seat} {turn}").as_bytes());
        if let Some(link) = &link {
            hasher.update(link.as_bytes());
        }
        Self::of_hash(&hasher)
    }

    /// Returns the code of the page of a seat and turn (PM-70). It changes with the key of the seat.
    pub(super) fn of_page(
        signing: &PrivateKey,
        match_id: [u8; 16],
        page: (Seat, u32),
        link: Option<Digest>,
        key: Option<&SeatKey>,
    ) -> Self {
        let code = Self::of(signing, match_id, page, link);
        let Some(key) = key else { return code };
        let mut hasher = blake3::Hasher::new_derive_key("turnfold v2 code of the page of a key");
        hasher.update(code.as_str().as_bytes()).update(key.to_base64().as_bytes());
        Self::of_hash(&hasher)
    }

    fn of_hash(hasher: &blake3::Hasher) -> Self {
        let mut signs = String::new();
        for byte in hasher.finalize().as_bytes().iter().take(Self::LENGTH) {
            if let Some(sign) = SIGNS.get(usize::from(byte % 32)) {
                signs.push(char::from(*sign));
            }
        }
        Self(signs)
    }

    pub(super) fn read(word: &str) -> Option<Self> {
        let plain = word.replace('-', "").to_ascii_uppercase();
        let is_code = plain.len() == Self::LENGTH && plain.bytes().all(|sign| SIGNS.contains(&sign));
        // A code of letters alone could be an ordinary word.
        let is_marked = word.contains('-') || plain.bytes().any(|sign| sign.is_ascii_digit());
        if is_code && is_marked { Some(Self(plain)) } else { None }
    }

    /// Finds possible codes anywhere in a text, with any dashes, spaces or nothing in the place of hyphens. They show
    /// which match a mail is for, even if no command after the code can be read.
    pub(super) fn all_in(text: &str) -> Vec<Self> {
        let text = text.replace(is_dash, "-");
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut found = Vec::new();
        for word in &words {
            found.extend(Self::read(word));
        }
        for spaced in words.windows(3) {
            found.extend(Self::read(&spaced.join("-")));
        }
        found
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ReplyCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, sign) in self.0.chars().enumerate() {
            out.write_str(if place > 0 && place % 4 == 0 { "-" } else { "" })?;
            write!(out, "{sign}")?;
        }
        Ok(())
    }
}

/// Conceals the code.
impl fmt::Debug for ReplyCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ReplyCode(…)")
    }
}

pub(super) fn is_dash(sign: char) -> bool {
    matches!(sign, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(&str, &[&[&str]])>) {
        let reads = |line: &str| match line {
            "stand" => LineMeaning::Command,
            line if line.starts_with("move ") && line.contains(',') => LineMeaning::Command,
            line if line.starts_with("move ") => LineMeaning::Attempt,
            _ => LineMeaning::Words,
        };
        let found = PlainReply::find(text).and_then(|reply| {
            let codes = reply.codes();
            let with = codes.iter().find(|found| !reply.commands(&found.code, &reads).is_empty());
            let found = with.or(codes.first())?;
            Some((found.code.to_string(), reply.commands(&found.code, &reads)))
        });
        let expected = expected.map(|(code, places)| {
            let lines = |lines: &&[&str]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
            (code.to_owned(), places.iter().map(lines).collect::<Vec<_>>())
        });
        assert_eq!(found, expected, "{text}");
    }

    const CODE: &str = "ABCD-EFG2-JKMN";
    const OLD: &str = "2222-3333-4444";

    #[test]
    fn pm_43_a_code_and_commands_are_found_at_the_top_and_at_the_bottom_quoted_or_not() {
        let order: Option<(&str, &[&[&str]])> = Some((CODE, &[&["move 2,-3", "stand"]]));
        let letter = format!("> Dear Ben,\n>\n>     code {CODE}\n>\n>     {END}\n> The host\n");
        for text in [
            format!("code {CODE}\nmove 2,-3\nstand\n"),
            format!("Code: {CODE}\r\nmove 2,-3\r\nstand\r\n\r\nGreetings, Ben\r\n"),
            format!("{CODE}\n\nmove  2,-3\n\nstand\n\nGreetings, Ben\n"),
            format!("Hello Ann!\n\n{}\nmove 2,-3\nstand\n--\nBen\nstand\n", CODE.to_lowercase()),
            format!("code {CODE}\nmove 2,-3\nstand\n\nOn Monday, 1 Dec Ann wrote:\n{letter}"),
            format!("On Monday Ann wrote:\n{letter}\ncode {CODE}\nmove 2,-3\nstand\n"),
            format!("> code {CODE}\n> \n> move 2,-3\n> stand\n> {END}\n> more"),
            format!("> > code {CODE}\nmove 2,-3\n> stand\n> > {END}\n> more"),
            format!("code {CODE}\nmove 2,-3\nstand\n\n> code {OLD}\n> stand\n> {END}\n"),
            format!("> code {OLD}\n> stand\n> {END}\n\ncode {CODE}\nmove 2,-3\nstand\n"),
            format!("*code {CODE}*\nmove 2,-3\nstand\n"),
            format!("code {}\nmove 2,-3\nstand\n", CODE.replace('-', " ")),
            format!("code {}\nmove 2,-3\nstand\n", CODE.replace('-', "\u{2013}")),
            format!("code: {CODE}  move 2,-3\nstand\nSent from my iPhone\n"),
            format!("move 2,-3\nstand\ncode {CODE}\n"),
            format!("move 2,-3\ncode {CODE}\nstand\n{END}\nstand\n"),
        ] {
            check(&text, order);
        }
        check(&letter, Some((CODE, &[])));
        check(&format!("code {CODE}\nmarch on\nstand\n"), Some((CODE, &[&["march on", "stand"]])));
        check(&format!("my code is {CODE}\nstand\n"), None);
        check("stand\n", None);
        check("code of conduct made easy\nstand\n", None);
    }

    #[test]
    fn pm_90_what_a_person_wrote_above_or_below_the_quoted_code_is_the_order() {
        let order: Option<(&str, &[&[&str]])> = Some((CODE, &[&["move 2,-3", "stand"]]));
        let plain = format!("Dear Ben,\n\n{ANSWER}. Write\n\n    code {CODE}\n\n    {END}\n\n    stand\n");
        let marked: String = plain.lines().flat_map(|line| ["> ", line, "\n"]).collect();
        let outlook = "________________________________\nVon: Ann <ann@example.org>\nGesendet: Montag\nAn: Ben\nBetreff: [duel]\n";
        for text in [
            format!("Hi Ann,\n\nmove 2,-3\nstand\n\nOn Fri, Nov 27, 2026 at 03:18 Ann wrote:\n{marked}"),
            format!(
                "Hi Ann,\nmove 2,-3\nstand\nBen\n\nAm 27.11.26 um 03:18 schrieb\nAnn <ann@example.org>:\n\n{marked}"
            ),
            format!("On Fri, 27 Nov 2026, ann@example.org wrote:\n\n{marked}move 2,-3\nstand\n\n"),
            format!("move 2,-3\nstand\n\n-- \nBen\nstand\n\nOn 1 Dec Ann wrote:\n{marked}"),
            format!("move 2,-3\nstand\n\n-----Original Message-----\n{plain}"),
            format!("move 2,-3\nstand\n\n{outlook}\n{plain}"),
            format!("move 2,-3\nstand\n\n On Tuesday, December 1, 2026, ann@example.org wrote:\n{plain}"),
            format!("move 2,-3\nstand\n\n{plain}"),
            format!("move 2,-3\nstand\nGet Outlook for iOS<https://aka.ms/o0ukef>\n{outlook}\n{plain}"),
            format!(
                "move 2,-3\nstand\n\n{}",
                marked.replace(&format!("> \n>     {END}"), &format!("move 2,-3\nstand\n> {END}"))
            ),
        ] {
            check(&text, order);
        }
        check(&plain, Some((CODE, &[])));
        check(&format!("I am away until 3 December.\n\n{plain}"), Some((CODE, &[])));
        let inside = marked.replace(&format!("> \n>     {END}"), &format!("> stand\n>     {END}"));
        check(&format!("move 2,-3\n\n{inside}"), Some((CODE, &[&["move 2,-3"], &["stand"]])));
        check(&format!("stand\n\n{marked}\nmove 2,-3\n"), Some((CODE, &[&["stand"], &["move 2,-3"]])));
        check(&format!("stand\nmove 2\n\n{marked}"), Some((CODE, &[&["stand", "move 2"]])));
        check(&format!("move 2\n\n{marked}"), Some((CODE, &[&["move 2"]])));
        check(&format!("move 2\n\nstand\n{marked}"), Some((CODE, &[&["stand"]])));
    }

    #[test]
    fn pm_38_a_code_reads_back_with_hyphens_or_without() {
        let key = PrivateKey::of_seed(
            "ann.example".parse().unwrap(),
            turnfold_core::trust::KeyKind::Signer,
            &[7; 32],
        );
        let code = ReplyCode::of(&key, [1; 16], (Seat::P2, 3), None);
        let text = code.to_string();
        assert_eq!((text.len(), text.matches('-').count()), (14, 2));
        assert_eq!(ReplyCode::read(&text).as_ref(), Some(&code));
        assert_eq!(ReplyCode::read(&text.to_lowercase()).as_ref(), Some(&code));
        assert!(code != ReplyCode::of(&key, [1; 16], (Seat::P2, 4), None));
        assert!(code != ReplyCode::of(&key, [1; 16], (Seat::P1, 3), None));
        assert!(code != ReplyCode::of(&key, [2; 16], (Seat::P2, 3), None));
        assert!(code != ReplyCode::of(&key, [1; 16], (Seat::P2, 3), Some(Digest::new([4; 32]))));
        for word in ["", "greetings", "ABCD-EFGH-JKM", "ABCD-EFGH-JKM0", "CONTRACTUALS", "ABCDEFGHJKMN"] {
            assert!(ReplyCode::read(word).is_none(), "{word}");
        }
        assert!(!format!("{code:?}").contains(code.as_str()));
    }
}
