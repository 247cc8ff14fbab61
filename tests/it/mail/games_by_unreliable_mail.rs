//! Whole matches only by letters and replies, with mails that are lost, late, doubled, reordered, quoted and wrapped.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use turnfold_core::dice::DiceStream;
use turnfold_core::dice::fair::Owner;
use turnfold_core::paper::{DeskTime, PaperContent};
use turnfold_core::rules::desk::Desk;
use turnfold_core::trust::TrustPolicy;
use turnfold_core::{AnyState, CommandSource, DicePolicy, DueRoll, Logged, Rules, Seat};
use turnfold_history::{History, Revision};
use turnfold_mail::audit::audit;
use turnfold_mail::{LetterName, PaperWords, ReceivedMail, TableDice, TakenPaper};
use turnfold_proof::audit::{AuditQuestion, RowName, RowResult, read_held};
use turnfold_proof::bundle::{BundleFile, StoreRecords};
use turnfold_proof::signing::write_signed_bundle;
use turnfold_store::BranchName;

use super::mailer_changes::mailers;
use super::post::Post;
use super::writing::Player;
use turnfold_tests::mailbox::opened;
use turnfold_tests::players::key;
use turnfold_tests::sandbox::workspace;

/// Noon of the first day, in Unix seconds.
const FIRST_NOON: u64 = 1_796_126_400;
/// The day after which the players agree to end.
const DAYS_MAX: u64 = 6;

struct Correspondence {
    post: Post,
    /// The players, each with the size of the desk in its newest letter.
    players: BTreeMap<Seat, (Player, u64)>,
    /// The sent letters.
    sent: BTreeSet<String>,
    /// Undelivered replies, and the day on which each arrives.
    replies: Vec<(u64, String)>,
    chance: DiceStream,
    day: u64,
    /// The number of mishaps with mails.
    mishaps: usize,
}

impl Correspondence {
    fn of(rules: &str, setup: &str, terms: &str, seed: u8) -> Self {
        let setup = fs::read_to_string(workspace().join("fixtures").join(rules).join(setup)).unwrap();
        let post = Post::new();
        post.open(rules, &setup, &format!("{terms}hours = 48\npatience = 0\n")).unwrap();
        let players = [Seat::P1, Seat::P2].map(|seat| (seat, (Player::of(seat), 0)));
        Self {
            post,
            players: players.into(),
            sent: BTreeSet::new(),
            replies: Vec::new(),
            chance: DiceStream::new(&[seed; 32], 0),
            day: 0,
            mishaps: 0,
        }
    }

    /// Returns `true` in one of `times` cases, at random.
    fn one_in(&mut self, times: i32) -> bool {
        self.chance.draw(1, times) == 1
    }

    fn mishap(&mut self, times: i32) -> bool {
        let is_one = self.one_in(times);
        self.mishaps += usize::from(is_one);
        is_one
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        let last = i32::try_from(from.len()).unwrap() - 1;
        if last < 0 {
            return None;
        }
        from.get(usize::try_from(self.chance.draw(0, last)).unwrap()).cloned()
    }

    fn now(&self) -> DeskTime {
        DeskTime::of_unix_seconds(FIRST_NOON + self.day * 86_400).unwrap()
    }

    /// Plays day after day until the match is over at the desk.
    fn play(mut self) -> Self {
        self.write_letters(&[]);
        while !Desk::over(self.post.desk().state()) {
            self.day += 1;
            assert!(self.day < DAYS_MAX + 30, "it ends by consent at the latest");
            self.deliver_letters();
            for seat in [Seat::P1, Seat::P2] {
                self.reply(seat);
            }
            self.host();
        }
        self
    }

    /// Delivers new letters from the outbox in any order, except some that are lost.
    fn deliver_letters(&mut self) {
        let listed = fs::read_dir(self.post.outbox()).unwrap();
        let names: Vec<String> =
            listed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        let mut names: Vec<_> = names.into_iter().filter(|name| name.contains("-p")).collect();
        names.sort();
        names.retain(|name| self.sent.insert(name.clone()));
        while let Some(name) = self.pick(&names) {
            names.retain(|other| *other != name);
            // No letter is lost up to day 1, because the player would never learn of the match.
            if self.day > 1 && self.mishap(8) {
                continue;
            }
            let size: u64 = name[..8].parse().unwrap();
            let seat: Seat = name[9..11].parse().unwrap();
            let (player, newest) = self.players.get_mut(&seat).unwrap();
            if size >= *newest {
                *newest = size;
                let letter = fs::read_to_string(self.post.outbox().join(&name)).unwrap();
                fs::write(player.bundle(), opened(&letter).1).unwrap();
            }
        }
    }

    /// Lets a player answer its newest letter.
    fn reply(&mut self, seat: Seat) {
        let known = self.post.desk();
        let view = Desk::view(known.state(), seat.into());
        let has_joined = known.state().key_of(seat).is_some();
        let mut words = Vec::new();
        if !has_joined {
            words.push(PaperWords::Join(seat));
        } else if let Some(offer) = view.offers.iter().find(|offer| !offer.agreed.contains(&seat)) {
            let agree = self.day > DAYS_MAX;
            words.push(PaperWords::Answer { to: offer.digest.to_string(), agree });
        } else if self.day > DAYS_MAX {
            words.push(PaperWords::Announced(PaperContent::Offer("end draw".parse().unwrap())));
        }
        // Now and then, so that a turn waits for its deadline, and offers wait for answers.
        if has_joined && known.state().is_open() && self.day <= DAYS_MAX {
            let plays: Vec<_> = self.plays(seat).iter().map(|play| play.parse().unwrap()).collect();
            if !plays.is_empty() {
                words.push(PaperWords::Seal { plays: plays.clone() });
                words.push(PaperWords::Order { plays, wait: false });
            }
            // The sealed order.
            words.push(PaperWords::Order { plays: Vec::new(), wait: false });
        }
        for words in words {
            let (player, _) = self.players.get_mut(&seat).unwrap();
            // Nothing is written for an old letter, in another player's turn, or if a seal is required first.
            if let Ok(written) = player.write(&self.post, words) {
                self.send(&written.mail);
            }
        }
    }

    /// Chooses random legal commands for a seat, after the commands of the other seat if that plays first.
    fn plays(&mut self, seat: Seat) -> Vec<String> {
        let mut state = self.game();
        for default in ["switch", "end"] {
            let other = if seat == Seat::P1 { Seat::P2 } else { Seat::P1 };
            if state.legal(seat).is_empty() && state.legal(other).contains(&default.to_owned()) {
                fold(state.as_mut(), other, default);
            }
        }
        let (mut plays, wanted) = (Vec::new(), self.chance.draw(1, 5));
        for count in 1..=wanted {
            let mut legal = state.legal(seat);
            // The command that ends the turn comes last.
            if count < wanted && legal.len() > 1 {
                legal.retain(|play| play != "switch" && play != "end");
            } else if let Some(end) = legal.iter().find(|play| *play == "switch" || *play == "end") {
                legal = vec![end.clone()];
            }
            let Some(play) = self.pick(&legal).filter(|_| state.due_roll().is_none()) else { break };
            fold(state.as_mut(), seat, &play);
            plays.push(play);
        }
        plays
    }

    fn game(&self) -> Box<dyn AnyState> {
        let (name, branch) = (self.post.name.clone(), BranchName::main());
        let revision = Revision { match_name: name, branch, seq: None };
        History::of_branch(&revision, &self.post.store, &self.post.registry).unwrap().state().unwrap()
    }

    /// Sends a reply through the mailers.
    fn send(&mut self, paper: &str) {
        let mut mail = paper.to_owned();
        if self.mishap(3) {
            mail = mailers::wrapped(&mail, 50);
        }
        if self.mishap(3) {
            mail = mailers::quoted(&mail, "> ");
        }
        if self.mishap(4) {
            mail = mailers::doubled(&mailers::no_break(&mail));
        }
        mail = mailers::greeted(&mail);
        if self.mishap(2) {
            mail = mailers::crlf(&mail);
        }
        if self.mishap(10) {
            return;
        }
        let copies = 1 + usize::from(self.mishap(4));
        for _ in 0..copies {
            let late = if self.mishap(6) { self.chance.draw(1, 3) } else { 0 };
            self.replies.push((self.day + u64::try_from(late).unwrap(), mail.clone()));
        }
    }

    /// Lets the host take the arrived mails in any order, run the turn, and write letters.
    fn host(&mut self) {
        let day = self.day;
        let (mut came, waiting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.replies).into_iter().partition(|(due, _)| *due <= day);
        self.replies = waiting;
        let mut taken = Vec::new();
        while let Some(mail) = self.pick(&came) {
            let place = came.iter().position(|other| *other == mail).unwrap();
            came.remove(place);
            let mut host = self.post.host().unwrap();
            taken.extend(host.take(&ReceivedMail::read(mail.1.as_bytes()), &[Seat::P1, Seat::P2]).unwrap());
        }
        let mut chance = DiceStream::new(&[7; 32], self.day);
        let mut roll = |due: &DueRoll| -> io::Result<Vec<i32>> {
            Ok((0..due.count).map(|_| chance.draw(due.low, due.high)).collect())
        };
        let now = self.now();
        self.post.host().unwrap().run(now, &mut TableDice::new(Vec::new(), &mut roll)).unwrap();
        self.write_letters(&taken);
    }

    fn write_letters(&self, taken: &[TakenPaper]) -> Vec<LetterName> {
        let written = self.post.mail(|room| {
            room.write_answers(taken).unwrap();
            room.write_reports().unwrap()
        });
        self.require_unopened(&written);
        written
    }

    /// Requires that letters contain no unopened element of fair dice and no key.
    fn require_unopened(&self, written: &[LetterName]) {
        let (desk, known) = (self.post.desk(), self.post.desk_view());
        let Some(rolls) = desk.state().last_roll() else { return };
        let turn = u16::try_from(desk.state().turn()).unwrap();
        let host = Owner { match_id: known.match_id, party: Seat::Host };
        let mut unopened = vec![key("host").dice_chain(host).element(rolls + 1)];
        for seat in self.players.keys().filter(|seat| desk.state().key_of(**seat).is_some()) {
            let owner = Owner { match_id: known.match_id, party: *seat };
            unopened.push(key(seat.name()).dice_chain(owner).element(turn + 1));
        }
        for name in written {
            let letter = fs::read_to_string(self.post.outbox().join(name.to_string())).unwrap();
            let (text, bundle) = opened(&letter);
            let records = bundle.lines().filter_map(|line| STANDARD.decode(line.strip_prefix('+')?).ok());
            for shown in records.chain([text.into_bytes()]) {
                for element in &unopened {
                    let has = |what: &[u8]| shown.windows(what.len()).any(|window| window == what);
                    assert!(!has(element.as_bytes()) && !has(element.to_string().as_bytes()), "{name}");
                }
            }
        }
    }

    /// Audits everything at the end.
    fn audited(&self) -> BTreeMap<RowName, (RowResult, String)> {
        let path = self.post.outbox().join("whole.bundle");
        let desk = self.post.mail_match().desk;
        let records = StoreRecords::of(&self.post.store, &[self.post.name.clone(), desk]).unwrap();
        let mut file = File::create(&path).unwrap();
        write_signed_bundle(&mut file, &records, &self.post.signers, Vec::new()).unwrap();
        let host = self.post.mail_match().terms.host;
        let policy = TrustPolicy::read(&format!("log {host}\nquorum none\n")).unwrap();
        let held: Vec<_> =
            self.players.values().flat_map(|(player, _)| read_held(&player.bundle()).unwrap()).collect();
        let question = AuditQuestion {
            policy: Some(&policy),
            held: &held,
            registry: &self.post.registry,
            accepts_brought_rules: false,
        };
        let rows = audit(&BundleFile::read(&path).unwrap(), question).unwrap();
        rows.into_iter().map(|row| (row.row, (row.result, row.reason))).collect()
    }
}

fn fold(state: &mut dyn AnyState, seat: Seat, play: &str) {
    let logged = Logged { seq: 1, seat, command: CommandSource::Text(play) };
    state.fold(&[logged], &DicePolicy::Recorded, &mut |_| {}).unwrap();
}

/// Plays matches from several seeds to their end, and audits each. `TURNFOLD_WEEKS` sets the number of seeds.
fn check(rules: &str, setup: &str, terms: &str, ends: &[&str]) {
    let count = std::env::var("TURNFOLD_WEEKS").ok().and_then(|count| count.parse().ok()).unwrap_or(1);
    for seed in 1..=count {
        let played = Correspondence::of(rules, setup, terms, seed).play();
        let desk = played.post.desk();
        let result = Desk::view(desk.state(), Seat::Host.into()).result.unwrap();
        assert!(ends.contains(&result.as_str()), "seed {seed}: {result}");
        assert!(played.mishaps > 10, "seed {seed}: {} mishaps", played.mishaps);
        let orders = played.post.store.read(&played.post.mail_match().desk, &BranchName::main(), None);
        assert!(orders.unwrap().entries.len() > 10, "seed {seed}");
        for (row, (found, reason)) in played.audited() {
            let is_open = match row {
                RowName::Cosignatures => true,
                RowName::Dice => !terms.contains("fair"),
                _ => false,
            };
            let has_nothing = matches!(found, RowResult::NotChecked | RowResult::NotApplicable);
            let is_fine = found == RowResult::Pass || is_open && has_nothing;
            assert!(is_fine, "seed {seed}: {row} {found} {reason}");
        }
        // Every lost letter is written again unchanged.
        let kept = |name: &str| fs::read(played.post.outbox().join(name)).ok();
        let is_report = |name: &&String| name.len() == "00000001-p1.eml".len();
        let names: Vec<_> = played.sent.iter().filter(is_report).rev().step_by(5).cloned().collect();
        let before: Vec<_> = names.iter().map(|name| kept(name)).collect();
        for name in &names {
            fs::remove_file(played.post.outbox().join(name)).unwrap();
        }
        played.write_letters(&[]);
        let after: Vec<_> = names.iter().map(|name| kept(name)).collect();
        assert!(before == after, "seed {seed}: the same letters");
    }
}

const CYCLETAP: &str = "together = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n";

#[test]
fn pm_28_to_30_a_match_of_cycletap_by_files_alone() {
    check("cycletap", "small-board.toml", CYCLETAP, &["played", "draw"]);
}

#[test]
fn pm_16_a_match_of_cycletap_with_sealed_orders_by_files_alone() {
    check("cycletap", "small-board.toml", &format!("sealed = true\n{CYCLETAP}"), &["played", "draw"]);
}

#[test]
fn pm_28_to_30_a_match_of_initiative_by_files_alone() {
    let terms = "default = [\"cycle\", \"confirm\", \"stand\"]\nbetween = [\"next-turn\"]\n";
    check("initiative", "small-board.toml", terms, &["played", "draw"]);
}

#[test]
fn fd_8_a_match_of_initiative_with_fair_dice_by_files_alone() {
    let terms = "fair\ndefault = [\"cycle\", \"confirm\", \"stand\"]\nbetween = [\"next-turn\"]\n";
    check("initiative", "small-board.toml", terms, &["played", "draw"]);
}

#[test]
fn pm_28_to_30_a_match_of_lifecycle_by_files_alone() {
    check("lifecycle", "duel.toml", "default = [\"end\"]\nbetween = [\"advance\"]\n", &["played", "draw"]);
}
