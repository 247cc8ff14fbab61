//! A match by mail, hosted and played by hand, in a store in memory.

use std::path::PathBuf;

use turnfold_core::dice::DicePolicy;
use turnfold_core::paper::{
    Join, MatchId, Nonce, Order, Paper, PaperContent, PaperHead, SeatKey, SeenRoot, SignedPaper,
};
use turnfold_core::rules::desk::{Desk, State};
use turnfold_core::trust::{KeyKind, PrivateKey, TreeHash};
use turnfold_core::{AnyState, CommandSource, Digest, Logged, Registry, Rules, Seat};
use turnfold_replay::LineOfPlay;
use turnfold_replay::Revision;
use turnfold_replay::mail::{Addresses, DeskOf, GameTurn, MailRoom, OrderEnd, Outbox, TurnKey};
use turnfold_replay::record::Record;
use turnfold_replay::signing::{KeyFile, Signers};
use turnfold_store::{BranchName, Genesis, MatchName, NewEntry, Seq, Store};

/// When everything is recorded.
const NOW_MS: i64 = 1_796_148_000_000;

pub(super) struct Table {
    pub(super) store: Store,
    pub(super) registry: Registry,
    pub(super) game: MatchName,
    pub(super) desk: MatchName,
    pub(super) signers: Signers,
    pub(super) folder: tempfile::TempDir,
    match_id: [u8; 16],
    papers: u32,
}

fn private_key(label: &str) -> PrivateKey {
    let seed = blake3::derive_key("turnfold tests mail key", label.as_bytes());
    PrivateKey::of_seed(format!("{label}.example").parse().unwrap(), KeyKind::Signer, &seed)
}

impl Table {
    /// Opens a game of two under these terms; keys of both and the host's are made of their names.
    pub(super) fn open(ruleset: &str, setup: &str, terms: &str) -> Self {
        let registry = Registry::standard();
        let (game, match_id): (MatchName, _) = ("duel".parse().unwrap(), [7; 16]);
        let desk = DeskOf::game(&game, &match_id).unwrap();
        let store = Store::in_memory();
        let genesis = |ruleset: &str, setup: &str, match_id| {
            let rules = registry.find(ruleset).unwrap();
            Genesis {
                format: Genesis::FORMAT,
                ruleset: ruleset.into(),
                ruleset_version: rules.version(),
                setup: rules.read_setup(setup).unwrap(),
                dice: DicePolicy::Recorded,
                match_id,
                title: String::new(),
                created_at_ms: NOW_MS,
            }
        };
        let of_game = genesis(ruleset, setup, match_id);
        store.create_match(&game, &of_game, Vec::new()).unwrap();
        let (id, link, host) = (MatchId::new(match_id), of_game.link(), private_key("host").verifier());
        let terms = format!("match = \"{id}\"\ngame = \"{link}\"\nhost = \"{host}\"\n{terms}");
        store.create_match(&desk.name, &genesis("desk", &terms, desk.match_id), Vec::new()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let key = KeyFile::create(&folder.path().join("host.key"), private_key("host")).unwrap();
        let signers = Signers::open(&[key.path]).unwrap();
        Self { store, registry, game, desk: desk.name, signers, folder, match_id, papers: 0 }
    }

    pub(super) fn outbox(&self) -> PathBuf {
        self.folder.path().join("outbox")
    }

    /// Does something with the mail room of the match.
    pub(super) fn mail<T>(&self, work: impl FnOnce(&MailRoom<'_>) -> T) -> T {
        let addresses: Addresses = "p1 = ann@example.org\np2 = ben@example.org".parse().unwrap();
        work(&MailRoom {
            store: &self.store,
            registry: &self.registry,
            signers: &self.signers,
            addresses: &addresses,
            outbox: &Outbox::at(&self.outbox()),
            game: &self.game,
        })
    }

    /// Writes the reports that are due; returns the names of those written now.
    pub(super) fn report(&self) -> Vec<String> {
        let written = self.mail(|mail| mail.write_reports().unwrap());
        written.iter().map(ToString::to_string).collect()
    }

    /// Returns the game at its end.
    pub(super) fn state(&self) -> Box<dyn AnyState> {
        self.line_of(&self.game).state().unwrap()
    }

    fn line_of(&self, name: &MatchName) -> LineOfPlay {
        let branch = BranchName::main();
        let log = self.store.read(name, &branch, None).unwrap();
        LineOfPlay::of_log(&Revision { match_name: name.clone(), branch, seq: None }, log, &self.registry)
            .unwrap()
    }

    /// Returns the desk at its end.
    pub(super) fn desk_state(&self) -> State {
        let log = self.store.read(&self.desk, &BranchName::main(), None).unwrap();
        let mut state = Desk::start(&postcard::from_bytes(&log.genesis.setup).unwrap()).unwrap();
        for entry in &log.entries {
            let command = postcard::from_bytes(&entry.command).unwrap();
            Desk::apply(&mut state, entry.seat, &command, &mut ()).unwrap();
        }
        state
    }

    fn head(&self, name: &MatchName) -> Seq {
        self.store.head(name, &BranchName::main()).unwrap()
    }

    /// Gives a command to the desk; returns its entry.
    pub(super) fn give(&self, seat: Seat, command: &str, key: Option<&str>) -> Seq {
        let mut state = self.line_of(&self.desk).state().unwrap();
        let logged = Logged { seq: self.head(&self.desk) + 1, seat, command: CommandSource::Text(command) };
        let mut bytes = Vec::new();
        let folded = state.fold(&[logged], &DicePolicy::Recorded, &mut |step| bytes = step.command_bytes());
        folded.unwrap_or_else(|error| panic!("{command}: {error}"));
        let entry = NewEntry { seat, command: bytes, recorded_at_ms: NOW_MS };
        let key = key.map(|key| key.parse().unwrap());
        let head = self.head(&self.desk);
        self.store.append(&self.desk, &BranchName::main(), head, vec![entry], key.as_ref()).unwrap();
        head + 1
    }

    pub(super) fn host(&self, command: &str) {
        self.give(Seat::Host, command, None);
    }

    /// Writes a paper of a seat; its nonce follows from how many there were.
    pub(super) fn paper(&mut self, seat: Seat, content: PaperContent) -> SignedPaper {
        self.papers += 1;
        let is_join = matches!(content, PaperContent::Join(_));
        let head = PaperHead {
            match_id: MatchId::new(self.match_id),
            seat,
            number: if is_join { 0 } else { self.papers },
            turn: if is_join { 0 } else { self.desk_state().turn() },
            seen: SeenRoot { size: self.head(&self.desk) + 1, root: TreeHash::new([9; 32]) },
            nonce: Nonce::new([u8::try_from(self.papers).unwrap(); 16]),
        };
        SignedPaper::sign(Paper::new(head, content).unwrap(), &private_key(seat.name()))
    }

    /// Hands in a paper; returns its entry.
    pub(super) fn hand_in(&self, paper: &SignedPaper) -> Seq {
        let key = format!("paper:{}", paper.paper().digest());
        self.give(paper.paper().head().seat, &format!("paper {paper}"), Some(&key))
    }

    pub(super) fn send(&mut self, seat: Seat, content: PaperContent) -> SignedPaper {
        let paper = self.paper(seat, content);
        self.hand_in(&paper);
        paper
    }

    pub(super) fn join(&mut self, seat: Seat) {
        let key = SeatKey::of(&private_key(seat.name())).unwrap();
        self.send(seat, PaperContent::Join(Join { key, dice: None }));
    }

    pub(super) fn order_of(&self, plays: &[&str]) -> Order {
        let plays = plays.iter().map(|play| play.parse().unwrap()).collect();
        Order::new(self.link(), false, None, plays).unwrap()
    }

    pub(super) fn order(&mut self, seat: Seat, plays: &[&str]) -> SignedPaper {
        let order = self.order_of(plays);
        self.send(seat, PaperContent::Order(order))
    }

    pub(super) fn link(&self) -> Digest {
        let seq = self.head(&self.game);
        self.store.links(&self.game, &BranchName::main(), seq..=seq).unwrap()[0]
    }

    /// Begins a turn where the game stands, with its state hash or without.
    pub(super) fn stand(&self, with_state: bool, seats: &str) {
        let hash = if with_state { self.state().state_hash().to_string() } else { "-".into() };
        let (seq, link) = (self.head(&self.game), self.link());
        self.host(&format!("stand main {seq} {link} {hash} {seats}"));
    }

    /// Carries out the orders of a turn that is ready, then `between`.
    pub(super) fn carry_out(&self, between: &[&str]) {
        let desk = self.desk_state();
        assert!(desk.is_ready());
        let head = self.head(&self.game);
        let mut turn =
            GameTurn::new(self.state(), head, Box::new(|due| Ok((0..due.count).map(|_| 3).collect())));
        self.append(&turn.roll_due().unwrap(), TurnKey::Host { turn: desk.turn() });
        for (seat, digest) in desk.orders_due() {
            let order = self.order_paper(&digest);
            let PaperContent::Order(content) = order.content() else { unreachable!("it is an order") };
            match turn
                .order(seat, content.plays().iter().map(turnfold_core::paper::PaperLine::as_str))
                .unwrap()
            {
                OrderEnd::Carried { count, played } => {
                    self.append(&played, TurnKey::Order { tag: order.order_tag(), turn: desk.turn() });
                    self.host(&format!("carried {digest} {count}"));
                }
                OrderEnd::Refused(rejected) => self.host(&format!("refused {digest} {}", rejected.code)),
            }
        }
        for seat in desk.defaulted() {
            let played = turn.default(seat, &["switch".into(), "stand".into()]).unwrap();
            self.append(&played, TurnKey::Missed { turn: desk.turn(), seat });
        }
        let between: Vec<String> = between.iter().map(ToString::to_string).collect();
        let played = turn.between((&[Seat::P1, Seat::P2], &[]), (&[], &between)).unwrap();
        self.append(&played.played, TurnKey::Host { turn: desk.turn() });
    }

    fn append(&self, played: &[Record], key: TurnKey) {
        if played.is_empty() {
            return;
        }
        let entries = played.iter().map(|record| record.to_store(NOW_MS).unwrap()).collect();
        let key = key.to_string().parse().unwrap();
        let head = self.head(&self.game);
        self.store.append(&self.game, &BranchName::main(), head, entries, Some(&key)).unwrap();
    }

    fn order_paper(&self, digest: &Digest) -> Paper {
        let log = self.store.read(&self.desk, &BranchName::main(), None).unwrap();
        let papers = log.entries.iter().filter_map(|entry| match postcard::from_bytes(&entry.command) {
            Ok(turnfold_core::rules::desk::Command::Paper(paper)) => Some(paper.paper().clone()),
            _ => None,
        });
        papers.into_iter().find(|paper| paper.digest() == *digest).unwrap()
    }
}
