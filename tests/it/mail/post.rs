//! A match by mail in memory: a host with its key, and players who write papers from what they know of the desk.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use tempfile::TempDir;
use turnfold_core::any::erase;
use turnfold_core::paper::{DeskTime, PaperContent, SignedPaper};
use turnfold_core::rules::desk::{Command, Desk};
use turnfold_core::{DicePolicy, Digest, DueRoll, Registry, Rules, Seat};
use turnfold_mail::audit::audit;
use turnfold_mail::{
    Addresses, DeskHistory, MailError, MailHost, MailMatch, MailRoom, NewMailMatch, Outbox, PaperOutcome,
    RunReport, TableDice, TakenPaper,
};
use turnfold_proof::audit::{AuditQuestion, AuditRow, RowName, RowResult};
use turnfold_proof::bundle::StoreRecords;
use turnfold_proof::signing::{KeyFile, Signers};
use turnfold_store::backend::MemoryBackend;
use turnfold_store::{BranchName, MatchName, NewEntry, Store};

use super::model::rules::RelayRules;
use super::siege::Siege;
use turnfold_tests::players::{DeskView, Players, Unlike, key};

pub(super) const GAME_ID: [u8; 16] = [0x5f; 16];

pub(super) struct Post {
    /// The backend of the store.
    pub(super) memory: MemoryBackend,
    pub(super) store: Store,
    pub(super) registry: Registry,
    pub(super) signers: Signers,
    pub(super) name: MatchName,
    pub(super) players: Players,
    /// The papers named in a script.
    pub(super) named: BTreeMap<String, SignedPaper>,
    folder: TempDir,
}

pub(super) fn fixture(path: &str) -> String {
    std::fs::read_to_string(turnfold_tests::sandbox::workspace().join("fixtures").join(path)).unwrap()
}

pub(super) fn time(text: &str) -> DeskTime {
    text.parse().unwrap()
}

/// Returns noon of a day of December 2026.
pub(super) fn day(day: u32) -> DeskTime {
    time(&format!("2026-12-{day:02}T12:00:00Z"))
}

/// Dice that must not be rolled.
fn no_dice(due: &DueRoll) -> io::Result<Vec<i32>> {
    Err(io::Error::other(format!("no dice to roll {due}")))
}

impl Post {
    /// Opens a match and lets every seat be taken, hosted seats first.
    pub(super) fn begun(rules: &str, setup: &str, terms: &str) -> Self {
        let mut post = Self::new();
        post.open(rules, setup, terms).unwrap();
        post.all_join();
        post
    }

    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("host.key");
        KeyFile::create(&path, key("host")).unwrap();
        let memory = MemoryBackend::new();
        Self {
            store: Store::with_backend(Box::new(memory.clone())).unwrap(),
            memory,
            registry: turnfold_games::standard().with(erase::<Siege>()).with(erase::<RelayRules>()),
            signers: Signers::open(&[path]).unwrap(),
            name: "duel".parse().unwrap(),
            players: Players::default(),
            named: BTreeMap::new(),
            folder,
        }
    }

    /// Creates the match. Terms that begin with `fair` use fair dice.
    pub(super) fn open(&self, rules: &str, setup: &str, terms: &str) -> Result<(), MailError> {
        let rules = self.registry.find(rules).unwrap();
        let (is_fair, terms) = terms.strip_prefix("fair\n").map_or((false, terms), |terms| (true, terms));
        let terms =
            if terms.contains("hosted") { terms.to_owned() } else { format!("{terms}\nhosted = []\n") };
        let new = NewMailMatch {
            name: &self.name,
            rules: rules.clone(),
            setup: rules.read_setup(setup).unwrap(),
            terms: &terms,
            is_fair,
            is_tried: false,
            match_id: GAME_ID,
            created_at_ms: 1,
        };
        new.open(&self.store, &key("host"))
    }

    fn all_join(&mut self) {
        let of = self.mail_match();
        let players = Seat::players(of.terms.seats.into());
        let (hosted, others): (Vec<_>, Vec<_>) =
            players.iter().partition(|seat| of.terms.hosted.contains(seat));
        for seat in [hosted, others].concat() {
            assert_eq!(self.join(seat).outcome, PaperOutcome::Applied, "{seat}");
        }
    }

    pub(super) fn mail_match(&self) -> MailMatch {
        MailMatch::find(&self.store, &self.name, &self.registry).unwrap()
    }

    pub(super) fn desk(&self) -> DeskHistory {
        DeskHistory::read(&self.store, &self.mail_match()).unwrap()
    }

    pub(super) fn host(&self) -> Result<MailHost<'_>, MailError> {
        MailHost::of(&self.store, &self.name, &self.registry, &self.signers, 1)
    }

    fn is_fair(&self) -> bool {
        matches!(self.mail_match().genesis.dice, DicePolicy::Fair(_))
    }

    pub(super) fn desk_view(&self) -> DeskView {
        DeskView { desk: self.desk(), match_id: GAME_ID, is_fair: self.is_fair() }
    }

    pub(super) fn outbox(&self) -> PathBuf {
        self.folder.path().join("outbox")
    }

    /// Calls `work` with the mail room of the match.
    pub(super) fn mail<T>(&self, work: impl FnOnce(&MailRoom<'_>) -> T) -> T {
        work(&MailRoom {
            store: &self.store,
            registry: &self.registry,
            signers: &self.signers,
            addresses: &"p1 = ann@example.org\np2 = ben@example.org".parse::<Addresses>().unwrap(),
            outbox: &Outbox::at(&self.outbox()),
            game: &self.name,
            pages: None,
            program: "turnfold",
        })
    }

    /// Writes the due reports, and returns the names of those written now.
    pub(super) fn report(&self) -> Vec<String> {
        let written = self.mail(|room| room.write_reports().unwrap());
        written.iter().map(ToString::to_string).collect()
    }

    /// Lets the host give a command at the desk.
    pub(super) fn decide(&self, command: &str) {
        let command: Command = command.parse().unwrap();
        let entry = NewEntry { seat: Seat::Host, command: command.to_bytes(), recorded_at_ms: 1 };
        let (desk, head) = (self.mail_match().desk, self.desk().head());
        self.store.append(&desk, &BranchName::main(), head, vec![entry], None).unwrap();
    }

    /// Writes a paper of a seat from what its player now knows of the desk.
    pub(super) fn write(&mut self, seat: Seat, content: PaperContent, unlike: Unlike) -> SignedPaper {
        self.players.write(&self.desk_view(), seat, content, unlike)
    }

    pub(super) fn write_order(&mut self, seat: Seat, plays: &[&str]) -> SignedPaper {
        self.players.order(&self.desk_view(), seat, plays)
    }

    pub(super) fn join(&mut self, seat: Seat) -> TakenPaper {
        let paper = self.players.join(&self.desk_view(), seat);
        self.host().unwrap().take_paper(paper, &[seat]).unwrap()
    }

    pub(super) fn take(&self, paper: &SignedPaper) -> TakenPaper {
        self.host().unwrap().take_paper(paper.clone(), &[]).unwrap()
    }

    /// Takes a paper and returns its outcome.
    pub(super) fn give(&self, paper: &SignedPaper) -> String {
        self.take(paper).outcome.to_string()
    }

    /// Hands in an order of a seat and returns the outcome.
    pub(super) fn order(&mut self, seat: Seat, plays: &[&str]) -> String {
        let order = self.write_order(seat, plays);
        self.give(&order)
    }

    /// Hands in another paper of a seat and returns the outcome.
    pub(super) fn hand_in(&mut self, seat: Seat, content: PaperContent) -> String {
        let paper = self.write(seat, content, Unlike::default());
        self.give(&paper)
    }

    /// Hands in an offer. Returns the outcome, and the digest for answers to it.
    pub(super) fn offer(&mut self, seat: Seat, offer: &str) -> (String, Digest) {
        let offer = PaperContent::Offer(offer.parse().unwrap());
        let paper = self.write(seat, offer, Unlike::default());
        (self.give(&paper), paper.paper().digest())
    }

    pub(super) fn answer(&mut self, seat: Seat, to: Digest, agree: bool) -> String {
        self.hand_in(seat, PaperContent::Answer { to, agree })
    }

    /// Lists the statuses of the asked seats, as `p1=ordered p2=none`, or the result of the match.
    pub(super) fn asked(&self) -> String {
        let view = Desk::view(self.desk().state(), Seat::Host.into());
        let asked = view.seats.iter().filter_map(|seat| Some(format!("{}={}", seat.seat, seat.status?)));
        let asked: Vec<_> = asked.collect();
        view.result.unwrap_or_else(|| asked.join(" "))
    }

    pub(super) fn try_run(&self, at: DeskTime, values: &[i32]) -> Result<RunReport, MailError> {
        let mut source = no_dice;
        self.host()?.run(at, &mut TableDice::new(values.to_vec(), &mut source))
    }

    /// Runs and lists what happened at the desk.
    pub(super) fn run(&self, at: DeskTime, values: &[i32]) -> Vec<String> {
        let report = self.try_run(at, values).unwrap();
        report.effects.iter().map(ToString::to_string).collect()
    }

    /// Lists the entries of a branch of the game: number, seat, command and the beginning of the key.
    pub(super) fn game(&self, line: &str) -> Vec<String> {
        let branch: BranchName = line.parse().unwrap();
        let log = self.store.read(&self.name, &branch, None).unwrap();
        let rules = self.mail_match().rules;
        let entries = log.entries.into_iter().map(|entry| {
            let key = entry.idempotency_key.map(|key| key.to_string()).unwrap_or_default();
            let key = match key.split(':').collect::<Vec<_>>()[..] {
                ["order", _, turn] => format!("order {turn}"),
                _ => key,
            };
            format!("{} {} ({key})", entry.seat, rules.command_text(&entry.command).unwrap())
        });
        entries.collect()
    }

    /// Returns the last turn position: its branch and entry, and the asked seats.
    pub(super) fn stands(&self) -> String {
        let desk = self.desk();
        let stand = desk.position().unwrap();
        let seats: Vec<_> = stand.seats.iter().map(|seat| seat.name()).collect();
        format!("{}:{} {}", stand.branch, stand.game_seq, seats.join(","))
    }

    /// Audits game and desk. Requires that no row fails and that the author of each command is known.
    pub(super) fn audited(&self) -> Vec<AuditRow> {
        let records = StoreRecords::of_all(&self.store).unwrap();
        let question =
            AuditQuestion { policy: None, held: &[], registry: &self.registry, accepts_brought_rules: false };
        let rows = audit(&records, question).unwrap();
        assert!(rows.iter().all(|row| row.result != RowResult::Fail), "{rows:#?}");
        let of = |name| rows.iter().find(|row| row.row == name).unwrap();
        assert_eq!(of(RowName::Authorship).result, RowResult::Pass, "{rows:#?}");
        assert!(of(RowName::Consistency).reason.contains("named is this one"), "{rows:#?}");
        assert_eq!(of(RowName::Dice).result == RowResult::Pass, self.is_fair(), "{rows:#?}");
        rows
    }
}
