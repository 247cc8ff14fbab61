//! The mailbox of all matches (PM-100), mails that overtake each other (PM-92), and a mailer that fails around some
//! deadlines (PM-101).

use std::path::Path;

use turnfold_core::Seat;
use turnfold_core::paper::SignedPaper;
use turnfold_core::trust::PrivateKey;
use turnfold_mail::{
    Addresses, HostedMatch, MailHost, MailRoom, MailedPaper, Outbox, PostOffice, ReceivedMail, TakenMail,
    UnsentLetter, take_mail,
};

use super::driver::{Correspondence, House, MATCHES, time};
use super::replies::date;
use super::turns::Model;

/// The matches of a store, and the recorded signed papers, each with its match and outcome.
pub(super) struct Club<'a> {
    pub(super) office: PostOffice<'a>,
    recorded: Vec<(usize, String, String)>,
}

/// The mailer of a match.
pub(super) struct Mailer {
    _folder: tempfile::TempDir,
    outbox: Outbox,
    is_down: bool,
    /// The seat whose address it refuses.
    refused: Option<usize>,
    may_fail: bool,
}

/// The headers of a mail, the time it was sent, and its match.
pub(super) struct Envelope {
    pub(super) head: String,
    pub(super) sent: Option<u64>,
    pub(super) place: Option<usize>,
}

fn host_of(house: House<'_>, place: usize, recorded_at_ms: i64) -> MailHost<'_> {
    let name = MATCHES[place].0.parse().unwrap();
    MailHost::of(house.store, &name, house.registry, house.signers, recorded_at_ms).unwrap()
}

impl<'a> Club<'a> {
    pub(super) fn of(house: House<'a>, models: &[Model]) -> Self {
        let matches = models.iter().enumerate().map(|(place, model)| {
            let seats =
                (1..=model.players.len()).map(|seat| format!("p{seat} = {}\n", address(place, seat - 1)));
            let addresses: Addresses =
                seats.chain(["host = host@club.example\n".into()]).collect::<String>().parse().unwrap();
            HostedMatch { name: MATCHES[place].0.parse().unwrap(), host: host_of(house, place, 1), addresses }
        });
        let office = PostOffice { matches: matches.collect(), troubles: Vec::new() };
        Self { office, recorded: Vec::new() }
    }
}

/// Returns the address of a seat. The first player plays in all matches.
fn address(place: usize, seat: usize) -> String {
    if seat == 0 { "ann@example.org".into() } else { format!("player{seat}@{}.example", MATCHES[place].0) }
}

/// Creates a folder, in memory if possible, because thousands of files are synced and no test here needs them to
/// survive.
pub(super) fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

impl Mailer {
    pub(super) fn new() -> Self {
        let folder = folder();
        Self {
            outbox: Outbox::at(&folder.path().join("outbox")),
            _folder: folder,
            is_down: false,
            refused: None,
            may_fail: true,
        }
    }

    /// Makes the mailer accept every letter from now on.
    pub(super) fn works(&mut self) {
        (self.is_down, self.refused, self.may_fail) = (false, None, false);
    }

    fn takes(&self, seat: usize) -> bool {
        !self.is_down && self.refused != Some(seat)
    }
}

impl Correspondence<'_> {
    /// Takes a mail for each of these matches, and requires that they are exactly its matches. Returns what was taken
    /// for this match.
    pub(super) fn deliver(&self, mail: &str, expected: &[usize]) -> Option<TakenMail> {
        let mail = ReceivedMail::read(mail.as_bytes());
        let mut taken = self.deliver_to(&mail, expected);
        let own = expected.iter().position(|place| *place == self.place)?;
        let taken = taken.swap_remove(own);
        if let Some(mailer) = &self.mailer {
            self.with_room(mailer, |room| room.answer_taken(&taken).unwrap());
        }
        Some(taken)
    }

    fn deliver_to(&self, mail: &ReceivedMail, expected: &[usize]) -> Vec<TakenMail> {
        let mut club = self.club.borrow_mut();
        let found = club.office.matches_of(mail);
        assert_eq!(found, expected, "case {}: {mail:?}", self.case);
        let take = |place: &usize| {
            let HostedMatch { host, addresses, .. } = &mut club.office.matches[*place];
            take_mail(host, addresses, mail, Seat::players(8)).unwrap()
        };
        expected.iter().map(take).collect()
    }

    /// Delivers a signed paper by mail, sometimes together with a recorded paper of another match (PM-100). Returns its
    /// outcome.
    pub(super) fn deliver_paper(&mut self, signed: &SignedPaper, key: &PrivateKey) -> String {
        let text = MailedPaper { signed: signed.clone(), name: key.name().clone() }.write().unwrap();
        let again = self.one_in(3);
        let other = self.club.borrow().recorded.iter().rfind(|(place, ..)| *place != self.place).cloned();
        let other = other.filter(|_| again);
        let (mut mail, mut places) = (format!("Subject: my papers\n\n{text}"), vec![self.place]);
        if let Some((place, text, _)) = &other {
            mail = format!("{mail}\nand\n\n{text}");
            places.push(*place);
            places.sort_unstable();
        }
        self.count("mail: for two matches", places.len() == 2);
        let taken = self.deliver_to(&ReceivedMail::read(mail.as_bytes()), &places);
        for (place, taken) in places.iter().zip(&taken) {
            let [paper] = taken.papers.as_slice() else { panic!("case {}: {:?}", self.case, taken.papers) };
            if let Some((other, _, outcome)) = other.as_ref().filter(|(other, ..)| other == place) {
                assert_eq!(paper.outcome.to_string(), *outcome, "case {}: as before, in {other}", self.case);
                assert!(!paper.is_new, "case {}", self.case);
            }
        }
        let own = places.iter().position(|place| *place == self.place).unwrap();
        if let Some(mailer) = &self.mailer {
            self.with_room(mailer, |room| room.answer_taken(&taken[own]).unwrap());
        }
        let outcome = &taken[own].papers[0].outcome;
        if outcome.is_recorded() {
            self.club.borrow_mut().recorded.push((self.place, text, outcome.to_string()));
        }
        outcome.to_string()
    }

    /// Returns the headers of a mail without a key. If its code belongs to no match, other marks decide (PM-100): the
    /// letter it answers, its subject, or its sender.
    pub(super) fn envelope(&mut self, seat: usize, has_known_code: bool) -> Envelope {
        let count = i32::try_from(self.club.borrow().office.matches.len()).unwrap();
        let mut any = || usize::try_from(self.chance.draw(1, count) - 1).unwrap();
        let (thread, subject) = (any(), any());
        let answers = self.one_in(3);
        let names_match = self.one_in(3);
        // The sender does not identify a match if the player plays in both.
        let has_sender = self.one_in(3) && (seat > 0 || count == 1);
        let mut head = String::from("Subject: my move\n");
        if names_match {
            head = format!("Subject: Re: [{}] your move\n", MATCHES[subject].0);
        }
        if answers {
            let digits = u64::from_be_bytes(*MATCHES[thread].1.first_chunk().unwrap());
            head = format!("{head}In-Reply-To: <{digits:016x}.00000001-p1@club.example>\n");
        }
        if has_sender {
            head = format!("{head}From: {}\n", address(self.place, seat));
        }
        let place = if has_known_code {
            Some(self.place)
        } else if answers {
            Some(thread)
        } else if names_match {
            Some(subject)
        } else {
            has_sender.then_some(self.place)
        };
        self.count("mail: another match by its marks", place.is_some_and(|place| place != self.place));
        // Between four hours ago and two hours from now.
        let now = time(self.now).unix_seconds() + 1800 * u64::from(self.chance.draw(2, 14).unsigned_abs());
        let at = Some(now - 1800 * 10).filter(|_| !self.one_in(8));
        head.extend(at.map(date));
        Envelope { head, sent: at, place }
    }

    fn count(&mut self, what: &str, is_so: bool) {
        if is_so {
            *self.tally.outcomes.entry(what.into()).or_default() += 1;
        }
    }

    /// Continues with another process, at the current time.
    pub(super) fn reopen(&mut self) {
        let now = time(self.now).unix_seconds();
        let host = host_of(self.house, self.place, i64::try_from(now).unwrap() * 1000);
        self.club.borrow_mut().office.matches[self.place].host = host;
        self.received = now;
    }

    fn with_room<T>(&self, mailer: &Mailer, work: impl FnOnce(&MailRoom<'_>) -> T) -> T {
        let addresses = self.club.borrow().office.matches[self.place].addresses.clone();
        let House { store, registry, signers } = self.house;
        let game = MATCHES[self.place].0.parse().unwrap();
        let (addresses, outbox, game) = (&addresses, &mailer.outbox, &game);
        work(&MailRoom {
            store,
            registry,
            signers,
            addresses,
            outbox,
            game,
            pages: None,
            program: "turnfold",
        })
    }

    /// Writes the due letters, and requires the model to agree about the seats whose letters wait.
    pub(super) fn write_letters(&self) {
        let Some(mailer) = &self.mailer else { return };
        let unsent = self.with_room(mailer, |room| {
            room.write_reports().unwrap();
            room.unsent_turn().unwrap()
        });
        let expected: Vec<Seat> =
            self.model.unsent().into_iter().map(|seat| Seat::players(8)[seat]).collect();
        assert_eq!(unsent, expected, "case {}: {:#?}", self.case, self.model);
    }

    /// Passes all letters to the mailer, which may be down for some runs or refuse an address.
    pub(super) fn send_letters(&mut self) {
        let (changes, refused) = (self.one_in(4), Some(self.any_seat()).filter(|_| self.one_in(3)));
        let Some(mailer) = self.mailer.as_mut() else { return };
        if changes && mailer.may_fail {
            (mailer.is_down, mailer.refused) = (!mailer.is_down, refused);
        }
        self.write_letters();
        let mailer = self.mailer.as_ref().unwrap();
        self.model.send(self.now, |seat| mailer.takes(seat));
        let mut give = |letter: &UnsentLetter| {
            let seat = Seat::players(8).iter().position(|seat| *seat == letter.seat).unwrap();
            Ok((!mailer.takes(seat)).then(|| String::from("it is down")))
        };
        let report =
            self.with_room(mailer, |room| room.send(&mut self.host(), time(self.now), &mut give).unwrap());
        self.count("mail: a late letter moved the deadline", !report.written.is_empty());
        self.count("mail: a letter waits", !report.not_sent.is_empty());
        // Of several reports to a seat, only the newest is sent, and one more if the deadline moved. The invitation is
        // kept.
        let most = 1 + usize::from(!report.written.is_empty());
        for seat in Seat::players(self.model.players.len()) {
            let end = format!("-{seat}.eml");
            let is_report = |name: &&String| name.ends_with(&end) && !name.starts_with("00000001-");
            let sent = report.sent.iter().filter(is_report).count();
            assert!(sent <= most, "case {}: {:?}", self.case, report.sent);
        }
    }
}
