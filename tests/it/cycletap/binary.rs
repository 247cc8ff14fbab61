//! Long matches through the real binary.

use std::collections::BTreeSet;

use turnfold_core::Seat;

use super::random::{Chooser, armies};
use super::{outcome_of, start};
use turnfold_tests::sandbox::Sandbox;

#[test]
fn ct_18_twenty_turns_of_forty_units_a_side_are_recorded_checked_and_verified() {
    let toml = armies(12, 40);
    let mut state = start(&toml);
    let mut chooser = Chooser::new(40);
    let sandbox = Sandbox::new();
    sandbox.write("armies.toml", &toml);
    sandbox.ok("new armies --rules cycletap --setup armies.toml");
    let (mut turns, mut entries, mut words) = (0, 0, Vec::new());
    let mut happened = BTreeSet::new();
    while turns < 20 {
        let (seat, command) = chooser.choose(&*state, 24).unwrap();
        let outcome = outcome_of(&mut *state, seat, &command);
        happened.extend(outcome.split("; ").map(|effect| effect.split(' ').next().unwrap().to_owned()));
        words.push(format!("{seat}: {command}"));
        entries += 1;
        if seat == Seat::Host {
            turns += 1;
            let args = ["play", "armies"].into_iter().chain(words.iter().map(String::as_str));
            let output = sandbox.command(args).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            words.clear();
        }
    }
    assert!(entries > 600, "only {entries} entries");
    for effect in ["deployed", "moved", "blocked", "hex_won", "hex_held", "eliminated", "advanced"] {
        assert!(happened.contains(effect), "never {effect}: {happened:?}");
    }
    let view = sandbox.ok("--format json show armies");
    assert_eq!(view.trim_end(), &*state.view(Seat::Host.into()));
    sandbox.ok("export armies -o armies.tfl");
    let checked = sandbox.ok("check armies.tfl");
    assert_eq!(checked, format!("ok armies.tfl {entries} entries\n1 passed, 0 failed ({entries} entries)\n"));
    assert!(sandbox.read("armies.tfl").contains(&format!(" #{:.16}\n", state.state_hash())));
    let verified = sandbox.ok("verify");
    assert!(verified.contains(&format!("{entries} entries")), "{verified}");
}
