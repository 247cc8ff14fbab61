//! The folding speed of each ruleset, with and without a state hash after every entry.

use std::hint::black_box;

use turnfold_core::fold::fold;
use turnfold_core::hash::StateHasher;
use turnfold_core::{DicePolicy, Digest, Rules, Seat};
use turnfold_games::channel::Channel;
use turnfold_games::cycletap::Cycletap;
use turnfold_games::hexcapture::Hexcapture;
use turnfold_games::initiative::Initiative;
use turnfold_games::lifecycle::Lifecycle;

use crate::input::{Play, fixture};
use crate::measure::{Clock, fastest_of, take_turns};
use crate::report::{Rate, Table, Time, count, growth, ratio};
use crate::{Scale, row, setups, yardstick};

/// Plays of a ruleset in the form that the fold accepts.
struct Input<R: Rules> {
    plays: Vec<TypedPlay<R>>,
    /// The bytes of the state after each entry, including the name and version before it.
    state_bytes: Vec<usize>,
    /// The digests of all states from the type-erased fold.
    tally: Tally,
    source: Vec<Play>,
}

struct TypedPlay<R: Rules> {
    start: R::State,
    log: Vec<(Seat, R::Command)>,
    state_hash: Digest,
}

/// A value that depends on every digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally(u64);

impl Tally {
    fn add(&mut self, digest: &Digest) {
        let (head, _) = digest.as_bytes().split_first_chunk().expect("a digest has 32 bytes");
        self.0 = self.0.rotate_left(1) ^ u64::from_le_bytes(*head);
    }
}

impl<R: Rules> Input<R> {
    fn new(toml: &str, source: Vec<Play>) -> Self {
        let setup: R::Setup = toml::from_str(toml).expect("the setup is TOML");
        let start = R::start(&setup).expect("the setup can be played");
        let (mut state_bytes, mut tally) = (Vec::new(), Tally::default());
        for play in &source {
            let mut state = play.start();
            for logged in play.logged() {
                let fold =
                    state.fold(&[logged], &DicePolicy::Recorded, &mut |step| tally.add(&step.state_hash()));
                fold.expect("the play folds");
                state_bytes.push(state.state_bytes().len() + R::NAME.len() + 2);
            }
        }
        let plays = source.iter().map(|play| {
            let command = |text: &str| text.parse().expect("the text is a command");
            let log = play.entries.iter().map(|entry| (entry.seat, command(&entry.text))).collect();
            TypedPlay { start: start.clone(), log, state_hash: play.state_hash }
        });
        Self { plays: plays.collect(), state_bytes, tally, source }
    }

    fn entries(&self) -> u32 {
        count(self.state_bytes.len())
    }

    /// Folds everything this number of times, and hashes only the last state of each play.
    fn fold(&self, times: u32) {
        let mut hasher = StateHasher::default();
        for play in (0..times).flat_map(|_| &self.plays) {
            let mut state = play.start.clone();
            let log = play.log.iter().map(|(seat, command)| (*seat, command));
            fold::<R>(&mut state, log).expect("the play folds");
            assert_eq!(hasher.hash::<R>(&state), play.state_hash);
        }
    }

    /// Folds everything this number of times, and hashes every state.
    fn fold_and_hash(&self, times: u32) {
        let mut hasher = StateHasher::default();
        for _ in 0..times {
            let mut tally = Tally::default();
            for play in &self.plays {
                let mut state = play.start.clone();
                for (seat, command) in &play.log {
                    R::apply(&mut state, *seat, command, &mut ()).expect("the command is accepted");
                    tally.add(&hasher.hash::<R>(&state));
                }
            }
            assert_eq!(tally, self.tally);
        }
    }

    /// Folds like `verify`: from the bytes of the log, with a ruleset known only at run time.
    fn fold_log_and_hash(&self) {
        let mut tally = Tally::default();
        for play in &self.source {
            let observe = &mut |step: &mut dyn turnfold_core::Step| tally.add(&step.state_hash());
            play.start().fold(&play.logged(), &DicePolicy::Recorded, observe).expect("the play folds");
        }
        assert_eq!(tally, self.tally);
    }

    /// Hashes as many bytes as the states have, but no states. This is the minimum cost of a hash for every entry.
    fn hash_alone(&self) {
        let bytes = vec![7; self.state_bytes.iter().copied().max().unwrap_or_default()];
        let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 state");
        for &length in &self.state_bytes {
            hasher.reset();
            black_box(hasher.update(bytes.get(..length).expect("no state is longer")).finalize());
        }
    }

    fn row(&self, name: &str, targets: (Option<f64>, f64), scale: Scale) -> Vec<String> {
        let rounds = scale.rounds();
        let [plain, hashed, logged, alone] = take_turns(
            Clock::Thread,
            rounds,
            [
                &mut || self.fold(1),
                &mut || self.fold_and_hash(1),
                &mut || self.fold_log_and_hash(),
                &mut || self.hash_alone(),
            ],
        )
        .map(|times| times.fastest());
        let entries = self.entries();
        let (plain_rate, hashed_rate) = (Rate::of(entries, plain), Rate::of(entries, hashed));
        let grown = |times: u32, work: &dyn Fn(u32), base| {
            growth(
                (entries, base),
                (entries * times, fastest_of(Clock::Thread, scale.choose(1, 2), || work(times))),
            )
        };
        let [plain10, plain100] = [10, 100].map(|times| grown(times, &|times| self.fold(times), plain));
        let [hashed10, hashed100] =
            [10, 100].map(|times| grown(times, &|times| self.fold_and_hash(times), hashed));
        let bytes = self.state_bytes.iter().sum::<usize>() / self.state_bytes.len();
        row![
            name,
            plain_rate,
            format!("{:.2}", plain.as_secs_f64() / f64::from(entries) / yardstick().as_secs_f64()),
            targets.0.map_or_else(String::new, |target| plain_rate.at_least(target)),
            bytes,
            hashed_rate,
            ratio(hashed.as_secs_f64(), alone.as_secs_f64()),
            hashed_rate.at_least(targets.1),
            Rate::of(entries, logged),
            format!("{plain10} {plain100}"),
            format!("{hashed10} {hashed100}"),
        ]
    }
}

fn rows<R: Rules>(name: &str, toml: &str, target: f64, scale: Scale) -> Vec<String> {
    let plays = Play::simulate_many(R::NAME, toml, scale.fold_entries());
    Input::<R>::new(toml, plays).row(name, (None, target), scale)
}

/// The minimum rate with hashing, for every ruleset.
const HASHED_MIN: f64 = 300e3;

pub(crate) fn table(scale: Scale) -> Table {
    let ford = fixture("cycletap", "ford");
    let taps: Vec<Play> = Play::simulate_many("cycletap", &ford, scale.fold_entries());
    let taps = taps.iter().map(|play| play.only(Seat::P1, "tap ")).collect();
    let rows = vec![
        Input::<Cycletap>::new(&ford, taps).row("`cycletap` taps", (Some(5e6), 700e3), scale),
        rows::<Cycletap>("`cycletap` ford", &ford, HASHED_MIN, scale),
        rows::<Cycletap>("`cycletap` 40 units", &setups::cycletap(8, 40), HASHED_MIN, scale),
        rows::<Channel>(
            "`channel` four players",
            &fixture("channel", "dealt-for-four-with-yinyang"),
            HASHED_MIN,
            scale,
        ),
        rows::<Hexcapture>(
            "`hexcapture` generated world",
            &fixture("hexcapture", "generated-world"),
            HASHED_MIN,
            scale,
        ),
        rows::<Hexcapture>(
            "`hexcapture` 32 colours",
            &fixture("hexcapture", "thirty-two-colors"),
            HASHED_MIN,
            scale,
        ),
        rows::<Initiative>(
            "`initiative` lance against star",
            &fixture("initiative", "lance-against-star"),
            HASHED_MIN,
            scale,
        ),
        rows::<Lifecycle>("`lifecycle` skirmish", &fixture("lifecycle", "skirmish"), HASHED_MIN, scale),
    ];
    Table {
        title: "Fold",
        about: format!(
            "Simulated matches, {} entries together, folded from typed commands; the last state of every match is \
             compared, or with hashing the hash after every entry. One yard is a blake3 hash of 64 bytes, here {}. \
             *Over blake3* compares with hashing as many bytes and doing nothing else. *From the log* decodes stored \
             bytes under a ruleset known at run time, as `verify` does, and hashes. *Growth* is the time for each entry \
             at 10 and 100 times the work, over that at once the work.",
            scale.fold_entries(),
            Time(yardstick()),
        ),
        columns: &[
            "input",
            "fold",
            "yards an entry",
            "target",
            "bytes of state",
            "with a hash each",
            "over blake3",
            "target",
            "from the log",
            "growth of fold",
            "growth with hash",
        ],
        rows,
    }
}
