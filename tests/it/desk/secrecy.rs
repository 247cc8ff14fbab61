//! Who can read an order, and when (PM-23).

use turnfold_core::{CommandSource, DicePolicy, Logged, Seat};

use super::scene::{Given, Scene};

const SCRIPT: &str = "
    p1 join
    p2 join
    host clock 2026-12-01T18:00:00Z
    host stand main 0 L1 S1 p1,p2 => stood turn=1
    p1 order @a : move 1,1 => ordered seat=p1
    p2 order @b : move 2,2 => ordered seat=p2
    host carried @a 1
    host refused @b occupied
    host stand main 1 L2 - p2 => stood turn=2
    p2 order turn=1 link=L1 : move 3,3 => ignored late
    p2 order @c : move 4,4 => ordered seat=p2
    host carried @c 1
    host stand main 2 L3 S3 p1 => stood turn=3
    p1 order : move 5,5 => ordered seat=p1
    host close draw enough => over
";

/// Returns the orders that a viewer can read in the first entries: their first words after `play: move `, in order.
/// Requires that everything else and all effects are shown to every viewer.
fn read(scene: &Scene, given: &[Given], viewer: Seat) -> Vec<String> {
    let mut state = scene.start();
    let entries: Vec<_> = (1..)
        .zip(given)
        .map(|(seq, given)| Logged { seq, seat: given.seat, command: CommandSource::Text(&given.command) })
        .collect();
    let mut read = Vec::new();
    let observe = &mut |step: &mut dyn turnfold_core::Step| {
        let command = step.command();
        let play = command.split("play: move ").nth(1).map(|play| play.split(' ').next().unwrap().to_owned());
        assert!(play.is_some() || step.wholly_shown(), "{command} is hidden from {viewer}");
        let whole = step.outcome().to_string();
        assert!(whole.starts_with("ignored") || whole.contains('='), "{whole} is shown to {viewer}");
        read.extend(play.filter(|_| !step.concealed()));
    };
    state.fold_as(viewer.into(), &entries, &DicePolicy::Recorded, observe).unwrap();
    read
}

fn check(secret: &'static str, head: usize, viewer: Seat, expected: &[&str]) {
    let scene = Scene { name: "secrecy", title: "", setup: secret, script: SCRIPT };
    let given = scene.given();
    assert_eq!(read(&scene, &given[..head], viewer), expected, "{secret} {head} {viewer}");
}

#[test]
fn pm_23_orders_are_read_once_a_later_stand_had_a_state() {
    scene_comes_out();
    let turn = "secret = \"turn\"";
    check(turn, 8, Seat::P1, &["1,1"]);
    check(turn, 8, Seat::P2, &["2,2"]);
    check(turn, 8, Seat::P8, &[]);
    check(turn, 8, Seat::Host, &["1,1", "2,2"]);
    // Not at the next turn position, which has no STATE. A late order is not shown before its own turn is over.
    check(turn, 11, Seat::P1, &["1,1"]);
    check(turn, 11, Seat::P2, &["2,2", "3,3", "4,4"]);
    // PM-81: the late order stays concealed, and so does an order that came too late because the match ended.
    check(turn, 13, Seat::P1, &["1,1", "2,2", "4,4"]);
    check(turn, 14, Seat::P2, &["1,1", "2,2", "3,3", "4,4"]);
    check(turn, 14, Seat::P8, &["1,1", "2,2", "4,4"]);
    check(turn, 15, Seat::P8, &["1,1", "2,2", "4,4"]);
}

#[test]
fn pm_23_orders_are_read_at_the_end_or_at_once_where_the_setup_has_it_so() {
    let until_the_end = "secret = \"match\"";
    check(until_the_end, 14, Seat::P1, &["1,1", "5,5"]);
    check(until_the_end, 14, Seat::P8, &[]);
    check(until_the_end, 15, Seat::P8, &["1,1", "2,2", "4,4"]);
    check("secret = \"no\"", 6, Seat::P8, &["1,1", "2,2"]);
}

fn scene_comes_out() {
    Scene { name: "secrecy", title: "", setup: "", script: SCRIPT }.play();
}
