//! A match by mail written by hand, entry by entry, with real keys and dice. It is as honest as its test. Links, trees
//! and signatures always match.

use std::collections::BTreeMap;
use std::sync::Mutex;

use turnfold_core::any::erase;
use turnfold_core::dice::fair::{Owner, RollKey};
use turnfold_core::paper::{
    Join, MatchId, Nonce, Order, Paper, PaperContent, PaperHead, SeatKey, SeenRoot, SignedPaper,
};
use turnfold_core::rules::desk;
use turnfold_core::trust::{KeyKind, PrivateKey, Tree, TreeHash};
use turnfold_core::{AnyState, CommandSource, DicePolicy, Digest, Logged, Registry, Rules, Seat};
use turnfold_mail::audit::FairRoll;
use turnfold_proof::audit::{AuditRow, RowName, RowResult};
use turnfold_proof::bundle::{BundleOutline, BundledBranch, BundledMatch};
use turnfold_store::{Entry, Genesis, Linker};

use super::bundled::{Bundled, expect};
use super::siege::Siege;

pub(super) const MATCH_ID: [u8; 16] = [0x5f; 16];

pub(super) fn registry() -> Registry {
    turnfold_games::standard().with(erase::<Siege>())
}

fn secret(party: Seat) -> [u8; 32] {
    blake3::derive_key("turnfold tests correspondence", party.name().as_bytes())
}

pub(super) fn private_key(party: Seat) -> PrivateKey {
    PrivateKey::of_seed(format!("{party}.example").parse().unwrap(), KeyKind::Signer, &secret(party))
}

/// Returns an element of a chain. The first call takes up to 65,535 hashes.
pub(super) fn element(party: Seat, index: u32) -> Digest {
    static KNOWN: Mutex<BTreeMap<(Seat, u32), Digest>> = Mutex::new(BTreeMap::new());
    let chain = || Owner { match_id: MATCH_ID, party }.chain(&secret(party));
    let mut known = KNOWN.lock().unwrap();
    *known.entry((party, index)).or_insert_with(|| chain().element(index.try_into().unwrap()))
}

/// A branch of the game or of the desk.
#[derive(Clone)]
struct Log {
    branch: &'static str,
    /// The index of the parent, and the entry after which the branch begins.
    parent: Option<(usize, usize)>,
    entries: Vec<Entry>,
    left_out: Vec<usize>,
}

/// A match by mail of `siege`.
pub(super) struct Correspondence {
    game: Genesis,
    desk: Genesis,
    lines: Vec<Log>,
    /// The index of the current branch.
    line: usize,
    letters: Vec<Entry>,
    letters_left_out: Vec<usize>,
    state: Box<dyn AnyState>,
    at_desk: desk::State,
    numbers: BTreeMap<Seat, u32>,
    orders: BTreeMap<Digest, Paper>,
    /// The last order of each seat.
    last_orders: BTreeMap<Seat, Digest>,
    /// The entry that a script marks.
    pub(super) here: u64,
    /// The rolls of this turn that have no `rolled` yet.
    unrolled: Vec<u64>,
    pub(super) rolls: u16,
    papers: u32,
    minutes: u32,
}

impl Correspondence {
    /// Begins a match in which all seats have joined, with the clock at midnight.
    pub(super) fn new(setup: &str, terms: &str, is_fair: bool) -> Self {
        let head = is_fair.then(|| element(Seat::Host, 0));
        Self::begin(setup, terms, head, head)
    }

    /// Begins a match whose desk names another head of the host's chain.
    pub(super) fn with_head(setup: &str, terms: &str, head: Digest) -> Self {
        Self::begin(setup, terms, Some(element(Seat::Host, 0)), Some(head))
    }

    fn begin(setup: &str, terms: &str, head: Option<Digest>, desk_head: Option<Digest>) -> Self {
        let registry = registry();
        let rules = registry.find("siege").unwrap();
        let dice = head.map_or(DicePolicy::Recorded, DicePolicy::Fair);
        let genesis = |ruleset: &str, version, setup, dice, match_id| Genesis {
            format: Genesis::FORMAT,
            ruleset: ruleset.into(),
            ruleset_version: version,
            setup,
            dice,
            match_id,
            title: String::new(),
            created_at_ms: 0,
            module: None,
            played_by: None,
            origins: Vec::new(),
        };
        let setup = rules.read_setup(setup).unwrap();
        let state = rules.start(&setup).unwrap();
        let game = genesis("siege", 1, setup, dice, MATCH_ID);
        let head = desk_head.map(|head| format!("head = \"{head}\"\n")).unwrap_or_default();
        let terms = format!(
            "match = \"{}\"\ngame = \"{}\"\nhost = \"{}\"\n{head}{terms}",
            MatchId::new(MATCH_ID),
            game.link(),
            private_key(Seat::Host).verifier(),
        );
        let at_desk = desk::Desk::start(&toml::from_str(&terms).unwrap()).unwrap();
        // PM-37: matches of version 1 are audited by its rules.
        let terms = registry.resolve("desk", 1, None).unwrap().read_setup(&terms).unwrap();
        let id = blake3::derive_key("turnfold v1 desk", &MATCH_ID);
        let desk = genesis("desk", 1, terms, DicePolicy::Recorded, id[..16].try_into().unwrap());
        let main = Log { branch: "main", parent: None, entries: Vec::new(), left_out: Vec::new() };
        let mut found = Self {
            game,
            desk,
            lines: vec![main],
            line: 0,
            letters: Vec::new(),
            letters_left_out: Vec::new(),
            state,
            at_desk,
            numbers: BTreeMap::new(),
            orders: BTreeMap::new(),
            last_orders: BTreeMap::new(),
            here: 0,
            unrolled: Vec::new(),
            rolls: 0,
            papers: 0,
            minutes: 0,
        };
        let hosted = terms_hosted(&found.desk);
        let (first, others): (Vec<_>, Vec<_>) =
            desk::Desk::players(&found.at_desk).iter().copied().partition(|seat| hosted.contains(seat));
        for seat in first.into_iter().chain(others) {
            let dice = desk_head.map(|_| element(seat, 0));
            let key = SeatKey::of(&private_key(seat)).unwrap();
            found.paper(seat, PaperContent::Join(Join { key, dice }));
        }
        found.clock(0);
        found
    }

    /// Plays a script of actions with ` / ` between them:
    ///
    /// - `p1: attack; stay` hands in an order; `carry p1` executes it correctly, and `play p1` plays it in the game
    /// - `carried p1 1` and `refused p1 CODE` record it at the desk
    /// - `p1 KEY: stay` plays in the game with this key, `own` for the key of the order and `-` for none, and then
    ///   rolls what is due, or the value given after the key
    /// - `next` is a command of the host, and `clock HOURS` and `stand` or `stand SEATS` are commands of the desk;
    ///   `end` is all three, `turn` the last two
    /// - `here` marks the next entry
    pub(super) fn script(&mut self, script: &str) {
        for action in script.split(" / ").map(str::trim) {
            let (head, body) = action.split_once(": ").unwrap_or((action, ""));
            let seat = |name: &str| name.parse::<Seat>().unwrap();
            match head.split(' ').collect::<Vec<_>>()[..] {
                ["carry", name] => self.carry(self.last_orders[&seat(name)]),
                ["play", name] => drop(self.play_order(self.last_orders[&seat(name)])),
                [word @ ("carried" | "refused"), name, end] => {
                    self.give(Seat::Host, &format!("{word} {} {end}", self.last_orders[&seat(name)]));
                }
                ["next"] => self.between("next"),
                ["clock", hours] => self.clock(hours.parse().unwrap()),
                ["stand"] => self.stand(),
                ["stand", seats] => self.stand_asking(seats),
                ["turn"] => self.script("clock 1 / stand"),
                ["end"] => self.script("next / turn"),
                ["here"] => self.here = self.head() + 1,
                [name] => drop(self.order(seat(name), &body.split("; ").collect::<Vec<_>>())),
                [name, key, ref value @ ..] => {
                    let key = match key {
                        "own" => self.order_key(self.last_orders[&seat(name)]),
                        "-" => String::new(),
                        key => key.into(),
                    };
                    self.play(seat(name), body, &key);
                    match value.first() {
                        Some(value) => self.roll(&key, Some(value.parse().unwrap())),
                        None => self.roll_due(&key),
                    }
                }
                [] => unreachable!("there are words"),
            }
        }
    }

    /// Hands in orders of both seats, so that the turn is ready, and records a command that the desk would not accept.
    pub(super) fn roll_forged(&mut self, command: &str) {
        self.script("p1: stay / p2: stay");
        self.forge_letter(Seat::Host, &command.parse().unwrap());
    }

    fn is_fair(&self) -> bool {
        matches!(self.game.dice, DicePolicy::Fair(_))
    }

    pub(super) fn turn(&self) -> u32 {
        self.at_desk.turn()
    }

    // The desk.

    /// Gives a command to the desk, which must accept it.
    pub(super) fn give(&mut self, seat: Seat, command: &str) {
        let command: desk::Command = command.parse().unwrap();
        desk::Desk::apply(&mut self.at_desk, seat, &command, &mut ()).unwrap();
        self.forge_letter(seat, &command);
    }

    fn forge_letter(&mut self, seat: Seat, command: &desk::Command) {
        self.letters.push(Entry {
            seq: self.letters.len() as u64 + 1,
            seat,
            command: postcard::to_allocvec(command).unwrap(),
            recorded_at_ms: 0,
            idempotency_key: None,
        });
    }

    pub(super) fn clock(&mut self, hours: u32) {
        self.minutes += hours * 60 + 1;
        let (days, minutes) = (self.minutes / 1440, self.minutes % 1440);
        let (hour, minute) = (minutes / 60, minutes % 60);
        self.give(Seat::Host, &format!("clock 2026-12-{:02}T{hour:02}:{minute:02}:00Z", days + 1));
    }

    /// Returns the root of the desk at its full size.
    pub(super) fn desk_root(&self) -> SeenRoot {
        let mut tree = Tree::default();
        tree.push(TreeHash::of_record(&self.desk.encode()));
        self.letters.iter().for_each(|entry| tree.push(TreeHash::of_record(&entry.encode())));
        SeenRoot { size: tree.size(), root: tree.root() }
    }

    /// Signs a paper and hands it in.
    pub(super) fn paper(&mut self, seat: Seat, content: PaperContent) -> Paper {
        let seen = self.desk_root();
        self.paper_seeing(seat, content, seen)
    }

    /// Hands in a paper that states a different seen root.
    pub(super) fn paper_seeing(&mut self, seat: Seat, content: PaperContent, seen: SeenRoot) -> Paper {
        let signed = self.sign(seat, content, seen);
        self.give(seat, &format!("paper {signed}"));
        signed.paper().clone()
    }

    fn sign(&mut self, seat: Seat, content: PaperContent, seen: SeenRoot) -> SignedPaper {
        self.sign_for(self.turn(), seat, content, seen)
    }

    fn sign_for(&mut self, turn: u32, seat: Seat, content: PaperContent, seen: SeenRoot) -> SignedPaper {
        self.papers += 1;
        let next = self.numbers.entry(seat).or_default();
        let number = *next;
        *next += 1;
        let nonce = Nonce::new([self.papers.try_into().unwrap(); 16]);
        let head = PaperHead { match_id: MatchId::new(MATCH_ID), seat, number, turn, seen, nonce };
        SignedPaper::sign(Paper::new(head, content).unwrap(), &private_key(seat))
    }

    /// Hands in an order.
    pub(super) fn order(&mut self, seat: Seat, plays: &[&str]) -> Digest {
        let content = self.order_of(seat, plays);
        let paper = self.paper(seat, content);
        self.orders.insert(paper.digest(), paper.clone());
        self.last_orders.insert(seat, paper.digest());
        paper.digest()
    }

    /// Seals an order of a seat that must seal, and hands it in at once.
    pub(super) fn sealed_order(&mut self, seat: Seat, plays: &[&str]) {
        let (order, content) = (self.order_of(seat, plays), self.link());
        let seen = self.desk_root();
        let order = self.sign(seat, order, seen);
        let digest = order.paper().digest();
        self.paper(seat, PaperContent::Seal { link: content, digest });
        self.give(seat, &format!("paper {order}"));
        self.orders.insert(digest, order.paper().clone());
        self.last_orders.insert(seat, digest);
    }

    /// Hands in an order for a turn that is over.
    pub(super) fn late_order(&mut self, seat: Seat, turn: u32) {
        let content = self.order_of(seat, &["stay"]);
        let seen = self.desk_root();
        let signed = self.sign_for(turn, seat, content, seen);
        self.give(seat, &format!("paper {signed}"));
    }

    /// Returns `true` if a seat may give a command now.
    pub(super) fn may(&self, seat: Seat, command: &str) -> bool {
        self.state.legal(seat).iter().any(|legal| legal == command)
    }

    /// Returns the last command of the game.
    pub(super) fn last_command(&self) -> String {
        registry().find("siege").unwrap().command_text(&self.entries().last().unwrap().command).unwrap()
    }

    pub(super) fn order_of(&self, seat: Seat, plays: &[&str]) -> PaperContent {
        let dice = self.is_fair().then(|| element(seat, self.turn()));
        let plays = plays.iter().map(|play| play.parse().unwrap()).collect();
        PaperContent::Order(Order::new(self.link(), false, dice, plays).unwrap())
    }

    /// Lets p1 make an offer and all seats agree.
    pub(super) fn agree(&mut self, offer: &str) {
        let to = self.paper(Seat::P1, PaperContent::Offer(offer.parse().unwrap())).digest();
        self.paper(Seat::P2, PaperContent::Answer { to, agree: true });
    }

    // The game.

    fn entries(&self) -> Vec<Entry> {
        self.entries_of(self.line, usize::MAX)
    }

    pub(super) fn head(&self) -> u64 {
        self.entries().len() as u64
    }

    /// Returns the link after the last entry of the game.
    pub(super) fn link(&self) -> Digest {
        let mut linker = Linker::new();
        self.entries().iter().fold(self.game.link(), |link, entry| linker.link(&link, &entry.encode()))
    }

    /// Records a command of the game, which its rules must accept.
    pub(super) fn play(&mut self, seat: Seat, command: &str, key: &str) {
        let seq = self.head() + 1;
        let logged = Logged { seq, seat, command: CommandSource::Text(command) };
        let mut bytes = Vec::new();
        self.state
            .fold(&[logged], &DicePolicy::Recorded, &mut |step| bytes = step.command_bytes())
            .unwrap_or_else(|error| panic!("{command}: {error}"));
        let key = (!key.is_empty()).then(|| key.parse().unwrap());
        let entry = Entry { seq, seat, command: bytes, recorded_at_ms: 0, idempotency_key: key };
        self.lines[self.line].entries.push(entry);
    }

    /// Rolls what is due, with the values of the dice or with this value.
    pub(super) fn roll(&mut self, key: &str, values: Option<i32>) {
        let due = self.state.due_roll().unwrap();
        let number = self.rolls + 1 + u16::try_from(self.unrolled.len()).unwrap();
        let opened = element(Seat::Host, number.into());
        let roll = RollKey::new(&MATCH_ID, number, &opened, &self.at_desk.contributions());
        let values = values.map_or_else(|| roll.values(&due), |value| vec![value]);
        let command = self.state.roll_command(values).unwrap();
        self.play(Seat::Host, &command, key);
        self.unrolled.push(self.head());
    }

    pub(super) fn roll_due(&mut self, key: &str) {
        while self.state.due_roll().is_some() {
            self.roll(key, None);
        }
    }

    /// Reports the rolls of the last append to the desk.
    pub(super) fn report_rolls(&mut self) {
        for seq in std::mem::take(&mut self.unrolled) {
            self.report_roll(seq);
        }
    }

    pub(super) fn report_roll(&mut self, seq: u64) {
        if self.is_fair() {
            self.rolls += 1;
            let (number, line) = (self.rolls, self.lines[self.line].branch);
            let opened = element(Seat::Host, number.into());
            self.give(Seat::Host, &format!("rolled {number} {opened} {line} {seq}"));
        }
    }

    /// Forgets the rolls of the last append, and returns their entries.
    pub(super) fn forget_rolls(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.unrolled)
    }

    pub(super) fn order_key(&self, order: Digest) -> String {
        format!("order:{}:{}", self.orders[&order].order_tag(), self.turn())
    }

    /// Plays the commands of an order, with the due rolls.
    pub(super) fn play_order(&mut self, order: Digest) -> usize {
        let (paper, key) = (self.orders[&order].clone(), self.order_key(order));
        let PaperContent::Order(content) = paper.content() else { unreachable!() };
        for play in content.plays() {
            self.play(paper.head().seat, play.as_str(), &key);
            self.roll_due(&key);
        }
        content.plays().len()
    }

    /// Executes an order correctly.
    pub(super) fn carry(&mut self, order: Digest) {
        let count = self.play_order(order);
        self.report_rolls();
        self.give(Seat::Host, &format!("carried {order} {count}"));
    }

    pub(super) fn host_key(&self) -> String {
        format!("turn:{}:host", self.turn())
    }

    /// Plays a command of the host.
    pub(super) fn between(&mut self, command: &str) {
        let key = self.host_key();
        self.play(Seat::Host, command, &key);
    }

    /// Begins a turn for the seats that have a legal command.
    pub(super) fn stand(&mut self) {
        let players = desk::Desk::players(&self.at_desk);
        let gone = self.at_desk.gone();
        let asked: Vec<_> = players
            .iter()
            .filter(|seat| !gone.contains(seat) && !self.state.legal(**seat).is_empty())
            .map(|seat| seat.name())
            .collect();
        let asked = if asked.is_empty() { "none".into() } else { asked.join(",") };
        self.stand_asking(&asked);
    }

    pub(super) fn stand_asking(&mut self, seats: &str) {
        let (seq, link, state) = (self.head(), self.link(), self.state.state_hash().to_string());
        self.stand_at(seq, link, &state, seats);
    }

    pub(super) fn stand_at(&mut self, seq: u64, link: Digest, state: &str, seats: &str) {
        let branch = self.lines[self.line].branch;
        self.give(Seat::Host, &format!("stand {branch} {seq} {link} {state} {seats}"));
    }

    pub(super) fn state_hash(&self) -> String {
        self.state.state_hash().to_string()
    }

    /// Continues on a new branch of the game from an entry of the current branch.
    pub(super) fn branch(&mut self, name: &'static str, seq: u64) {
        let parent = Some((self.line, seq.try_into().unwrap()));
        self.line = self.lines.len();
        self.lines.push(Log { branch: name, parent, entries: Vec::new(), left_out: Vec::new() });
        self.refold();
    }

    /// Adds a branch for analysis, without leaving the current branch.
    pub(super) fn analysis(&mut self, name: &'static str, commands: &[(Seat, &str)]) {
        let (line, head) = (self.line, self.head());
        self.branch(name, head);
        for (seat, command) in commands {
            self.play(*seat, command, "");
        }
        self.line = line;
        self.refold();
    }

    fn refold(&mut self) {
        self.state = registry().find("siege").unwrap().start(&self.game.setup).unwrap();
        for entry in self.entries() {
            let command = CommandSource::Bytes(&entry.command);
            let logged = Logged { seq: entry.seq, seat: entry.seat, command };
            self.state.fold(&[logged], &DicePolicy::Recorded, &mut |_| {}).unwrap();
        }
    }

    // The audit.

    /// Redacts a record of the desk, as a seat's bundle does.
    pub(super) fn leave_out_letter(&mut self, seq: usize) {
        self.letters_left_out.push(seq);
    }

    /// Redacts a record of the current branch.
    pub(super) fn leave_out_entry(&mut self, seq: usize) {
        self.lines[self.line].left_out.push(seq);
    }

    pub(super) fn audit_with(&self, report: &mut dyn FnMut(&FairRoll)) -> Vec<AuditRow> {
        self.records(true).audit(report)
    }

    pub(super) fn audit(&self) -> Vec<AuditRow> {
        self.audit_with(&mut |_| {})
    }

    /// Requires this result of a row, and returns its reason.
    pub(super) fn expect(&self, row: RowName, result: RowResult, reason: &str) -> String {
        expect(&self.audit(), row, result, reason)
    }

    /// Returns the match as in a bundle, with or without its desk.
    pub(super) fn records(&self, with_desk: bool) -> Bundled {
        let outline_of = |name: &str, genesis: &Genesis, lines: Vec<BundledBranch>| BundledMatch {
            name: name.parse().unwrap(),
            genesis: genesis.clone(),
            branches: lines,
        };
        let mut records = Vec::new();
        let mut lines = Vec::new();
        for (index, log) in self.lines.iter().enumerate() {
            let parts = Correspondence::parts(&self.game, log);
            let all = self.entries_of(index, usize::MAX);
            let parent = log.parent.map(|(parent, _)| parent);
            let first = log.parent.map_or(0, |(_, fork)| fork as u64 + 1);
            lines.push(line_of(log, parent, first, &parts, &self.game, &all));
            records.push(((0, index), parts, log.left_out.clone()));
        }
        let mut matches = vec![outline_of("duel", &self.game, lines)];
        if with_desk {
            let log = Log {
                branch: "main",
                parent: None,
                entries: self.letters.clone(),
                left_out: self.letters_left_out.clone(),
            };
            let parts = Correspondence::parts(&self.desk, &log);
            let line = line_of(&log, None, 0, &parts, &self.desk, &self.letters);
            matches.push(outline_of("duel.desk", &self.desk, vec![line]));
            records.push(((1, 0), parts, log.left_out));
        }
        Bundled { outline: BundleOutline { matches, ..BundleOutline::default() }, records }
    }

    fn entries_of(&self, line: usize, to: usize) -> Vec<Entry> {
        let log = &self.lines[line];
        let mut entries = log.parent.map_or(Vec::new(), |(parent, fork)| self.entries_of(parent, fork));
        entries.extend(log.entries.iter().cloned());
        entries.truncate(to);
        entries
    }

    /// Returns the own records of a branch.
    fn parts(genesis: &Genesis, log: &Log) -> Vec<Vec<u8>> {
        let first = log.parent.is_none().then(|| genesis.encode());
        first.into_iter().chain(log.entries.iter().map(Entry::encode)).collect()
    }
}

fn line_of(
    log: &Log,
    parent: Option<usize>,
    first: u64,
    parts: &[Vec<u8>],
    genesis: &Genesis,
    all: &[Entry],
) -> BundledBranch {
    let mut linker = Linker::new();
    BundledBranch {
        name: log.branch.parse().unwrap(),
        parent,
        first,
        count: parts.len() as u64,
        link: all.iter().fold(genesis.link(), |link, entry| linker.link(&link, &entry.encode())),
        left_out: log.left_out.len() as u64,
    }
}

fn terms_hosted(desk: &Genesis) -> Vec<Seat> {
    desk::Setup::decode(desk.ruleset_version, &desk.setup).unwrap().hosted
}
