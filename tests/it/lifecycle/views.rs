//! The view, the query's errors and the picture.

use turnfold_core::Seat;
use turnfold_core::picture::Picture;
use turnfold_replay::drawing::{Highlights, text};

use super::{start, told, units};

const DUEL: &str = r#"
    scout player 30 12
    attack = 5
    skills = [{ id = "venom", ap = 2, cooldown = 2, target = "enemy", status = { id = "poison", kind = "dot", value = 3, duration = 2 } }]
    ogre enemy 50 13
    statuses = [{ id = "rage", kind = "mark", duration = "permanent" }]
"#;

#[test]
fn the_view_has_the_fields_of_the_contract_in_their_order() {
    let mut state = start(&units(DUEL));
    let before = concat!(
        r#"{"ruleset":"lifecycle","global_time":0,"round":0,"active":null,"winner":null,"#,
        r#""projected_queue":["ogre","scout","ogre","scout","ogre"],"#,
        r#""units":[{"id":"scout","team":"player","hp":30,"max_hp":30,"speed":12,"attack":5,"charge":0,"ap":0,"alive":true,"#,
        r#""has_moved":false,"has_attacked":false,"standard_action_used":false,"#,
        r#""skills":[{"id":"venom","ap":2,"cooldown":2,"cooldown_left":0}],"statuses":[]},"#,
        r#"{"id":"ogre","team":"enemy","hp":50,"max_hp":50,"speed":13,"attack":1,"charge":0,"ap":0,"alive":true,"#,
        r#""has_moved":false,"has_attacked":false,"standard_action_used":false,"#,
        r#""skills":[],"statuses":[{"id":"rage","kind":"mark","value":0,"duration":null}]}]}"#,
    );
    assert_eq!(state.view(Seat::P1).to_string(), before);

    for (seq, (seat, command)) in (1..).zip([
        (Seat::Host, "advance"),
        (Seat::P2, "attack scout"),
        (Seat::P2, "end"),
        (Seat::Host, "advance"),
        (Seat::P1, "move"),
        (Seat::P1, "skill venom ogre"),
    ]) {
        let told = told(&mut *state, seq, seat, command);
        assert!(!told.starts_with("rejected") && !told.starts_with("ignored"), "{command}: {told}");
    }
    let later = concat!(
        r#"{"ruleset":"lifecycle","global_time":9,"round":1,"active":"scout","winner":null,"#,
        r#""projected_queue":["ogre","scout","ogre","scout","ogre"],"#,
        r#""units":[{"id":"scout","team":"player","hp":29,"max_hp":30,"speed":12,"attack":5,"charge":108,"ap":2,"alive":true,"#,
        r#""has_moved":true,"has_attacked":false,"standard_action_used":true,"#,
        r#""skills":[{"id":"venom","ap":2,"cooldown":2,"cooldown_left":2}],"statuses":[]},"#,
        r#"{"id":"ogre","team":"enemy","hp":50,"max_hp":50,"speed":13,"attack":1,"charge":17,"ap":4,"alive":true,"#,
        r#""has_moved":false,"has_attacked":false,"standard_action_used":false,"#,
        r#""skills":[],"statuses":[{"id":"rage","kind":"mark","value":0,"duration":null},"#,
        r#"{"id":"poison","kind":"dot","value":3,"duration":2}]}]}"#,
    );
    assert_eq!(state.view(Seat::P1).to_string(), later);
    for viewer in Seat::ALL {
        assert_eq!(state.view(viewer).to_string(), later);
        assert_eq!(state.picture(viewer), state.picture(Seat::Host));
    }
}

#[test]
fn queries_that_cannot_be_answered_say_why() {
    let known = "`lifecycle` answers `predict N`";
    let count = |found: &str| format!("`predict` takes a count of 1 to 1000, found `{found}`");
    let cases = [
        ("predict 0", count("0")),
        ("predict 1001", count("1001")),
        ("predict -1", count("-1")),
        ("predict 05", count("05")),
        ("predict 5 5", count("5 5")),
        ("predict", format!("unknown query `predict`: {known}")),
        ("order 1", format!("unknown query `order`: {known}")),
        ("", format!("unknown query ``: {known}")),
    ];
    let state = start(&units(DUEL));
    for (question, message) in cases {
        assert_eq!(state.query(Seat::P1, question).unwrap_err().to_string(), message);
    }
    let longest = state.query(Seat::P1, "predict 1000").unwrap();
    assert_eq!(longest.text.split(' ').count(), 1000);
}

#[test]
fn the_picture_shows_the_queue_bars_for_each_unit_and_who_is_dead() {
    let mut state = start(&units("scout player 30 12\n attack = 50\n ogre enemy 50 9\n imp enemy 3 11"));
    told(&mut *state, 1, Seat::Host, "advance");
    told(&mut *state, 2, Seat::P1, "attack imp");
    let expected = "\
time 9, round 1: scout acts for p1

next: ogre scout ogre scout scout ogre scout ogre scout ogre

> player scout charge [####################] 108/100  ap 4  attacked
               hp     [####################]  30/30
  enemy  ogre  charge [################....]  81/100  ap 0
               hp     [####################]  50/50
x enemy  imp   charge [###################.]  99/100  dead
               hp     [....................]   0/3

> acts  x dead  a full charge takes a turn
";
    assert_eq!(drawn(&state.picture(Seat::P1)), expected);
}

/// Returns a picture as characters, without colors.
fn drawn(picture: &Picture) -> String {
    let lines = text::lines(picture, &Highlights::default(), text::WIDTH);
    lines.iter().flat_map(|line| line.spans.iter().map(|span| span.text.as_str()).chain(["\n"])).collect()
}
