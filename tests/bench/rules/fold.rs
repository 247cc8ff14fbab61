//! How fast every ruleset folds simulated play: in silence, with a state hash after every entry, and from a log's bytes.

use divan::Bencher;
use divan::counter::ItemsCount;
use turnfold_core::fold::fold;
use turnfold_core::hash::StateHasher;
use turnfold_core::rules::channel::Channel;
use turnfold_core::rules::cycletap::Cycletap;
use turnfold_core::rules::hexcapture::Hexcapture;
use turnfold_core::rules::initiative::Initiative;
use turnfold_core::rules::lifecycle::Lifecycle;
use turnfold_core::simulate::Simulation;
use turnfold_core::{AnyState, CommandSource, DicePolicy, Digest, Logged, Rules, Seat, registry};

fn main() {
    divan::main();
}

/// A ruleset and a setup to measure it on.
trait Measured: Rules {
    const SETUP: &'static str;
}

impl Measured for Channel {
    const SETUP: &'static str = include_str!("../../../fixtures/channel/dealt-for-four-with-yinyang.toml");
}

impl Measured for Cycletap {
    const SETUP: &'static str = include_str!("../../../fixtures/cycletap/ford.toml");
}

impl Measured for Hexcapture {
    const SETUP: &'static str = include_str!("../../../fixtures/hexcapture/thirty-two-colours.toml");
}

impl Measured for Initiative {
    const SETUP: &'static str = include_str!("../../../fixtures/initiative/lance-against-star.toml");
}

impl Measured for Lifecycle {
    const SETUP: &'static str = include_str!("../../../fixtures/lifecycle/skirmish.toml");
}

/// A simulated match.
struct Play<R: Rules> {
    start: R::State,
    log: Vec<(Seat, R::Command)>,
    bytes: Vec<Vec<u8>>,
    /// The hash of the state after the last entry.
    end: Digest,
}

fn start<R: Measured>() -> Box<dyn AnyState> {
    let rules = registry::find(R::NAME).expect("the ruleset is registered");
    let setup = rules.read_setup(R::SETUP).expect("the setup can be played");
    rules.start(&setup).expect("the setup can be played")
}

impl<R: Measured> Play<R> {
    /// At most 5,000 entries; some matches are over before.
    fn simulate() -> Self {
        let (mut log, mut bytes) = (Vec::new(), Vec::new());
        let mut state = start::<R>();
        let played = Simulation::new(1).play(state.as_mut(), &DicePolicy::Recorded, 1, 5_000, &mut |step| {
            log.push((step.seat(), step.command().parse().expect("the text is a command")));
            bytes.push(step.command_bytes());
        });
        played.expect("simulated play is accepted");
        let setup: R::Setup = toml::from_str(R::SETUP).expect("the setup is TOML");
        let start = R::start(&setup).expect("the setup can be played");
        Self { start, log, bytes, end: state.state_hash() }
    }

    fn count(&self) -> ItemsCount {
        ItemsCount::new(self.log.len())
    }
}

#[divan::bench(types = [Channel, Cycletap, Hexcapture, Initiative, Lifecycle])]
fn in_silence<R: Measured>(bencher: Bencher) {
    let play = Play::<R>::simulate();
    bencher.counter(play.count()).bench_local(|| {
        let mut state = play.start.clone();
        fold::<R>(&mut state, play.log.iter().map(|(seat, command)| (*seat, command))).expect("it folds");
        assert_eq!(StateHasher::default().hash::<R>(&state), play.end);
    });
}

#[divan::bench(types = [Channel, Cycletap, Hexcapture, Initiative, Lifecycle])]
fn with_a_hash_each<R: Measured>(bencher: Bencher) {
    let play = Play::<R>::simulate();
    let mut hasher = StateHasher::default();
    bencher.counter(play.count()).bench_local(|| {
        let mut state = play.start.clone();
        let hash = |(seat, command): &(Seat, R::Command)| {
            R::apply(&mut state, *seat, command, &mut ()).expect("the command is accepted");
            divan::black_box(hasher.hash::<R>(&state))
        };
        assert_eq!(play.log.iter().map(hash).last(), Some(play.end));
    });
}

#[divan::bench(types = [Channel, Cycletap, Hexcapture, Initiative, Lifecycle])]
fn from_the_log_with_a_hash_each<R: Measured>(bencher: Bencher) {
    let play = Play::<R>::simulate();
    let logged = (1..).zip(&play.log).zip(&play.bytes).map(|((seq, (seat, _)), bytes)| {
        let command = CommandSource::Bytes(bytes);
        Logged { seq, seat: *seat, command }
    });
    let logged: Vec<_> = logged.collect();
    bencher.counter(play.count()).bench_local(|| {
        let mut last = None;
        let observe = &mut |step: &mut dyn turnfold_core::Step| last = Some(step.state_hash());
        start::<R>().fold(&logged, &DicePolicy::Recorded, observe).expect("it folds");
        assert_eq!(last, Some(play.end));
    });
}
