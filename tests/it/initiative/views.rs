//! The view, the texts and the queries of the contract.

use turnfold_core::Seat;

use super::{TWO_AGAINST_ONE, check, start, told};

const UNITS: &str = concat!(
    r#""units":[{"id":"atlas","owner":"p1","name":"Atlas AS7-D","at":[0,2],"mp":2},"#,
    r#"{"id":"kit-fox","owner":"p2","name":"Kit Fox Prime","at":[0,-2],"mp":6},"#,
    r#"{"id":"locust","owner":"p1","name":"locust","at":[1,2],"mp":8}],"blocked":[[0,0]],"#,
);

#[test]
fn the_view_has_the_fields_of_the_contract_in_their_order() {
    let mut state = start(TWO_AGAINST_ONE);
    let before = concat!(
        r#"{"ruleset":"initiative","turn":1,"phase":"initiative","initiative":null,"movement_order":[],"#,
        r#""impulse":null,"active_player":null,"remaining_in_impulse":null,"moved":[],"cursor":[0,0],"selected":null,"#,
    );
    let due = r#""due_roll":{"purpose":"initiative","count":4,"low":1,"high":6},"prompt":"Roll for initiative","status":""}"#;
    assert_eq!(state.view(Seat::P1).to_string(), [before, UNITS, due].concat());

    told(&mut *state, 1, Seat::Host, "roll 1 1 6 6");
    told(&mut *state, 2, Seat::P1, "confirm");
    let moving = concat!(
        r#"{"ruleset":"initiative","turn":1,"phase":"movement","initiative":{"rolls":{"p1":2,"p2":12},"loser":"p1","winner":"p2"},"#,
        r#""movement_order":[{"player":"p1","units":2},{"player":"p2","units":1}],"#,
        r#""impulse":0,"active_player":"p1","remaining_in_impulse":2,"moved":[],"cursor":[0,2],"selected":"atlas","#,
    );
    let texts = r#""due_roll":null,"prompt":"Player 1: move Atlas AS7-D","status":"Player 1's turn — move 2 of 2 units"}"#;
    assert_eq!(state.view(Seat::P1).to_string(), [moving, UNITS, texts].concat());
}

#[test]
fn every_viewer_sees_the_same() {
    let mut state = start(TWO_AGAINST_ONE);
    for (seq, (seat, command)) in
        (1..).zip([(Seat::Host, "roll 1 1 6 6"), (Seat::P1, "confirm"), (Seat::P1, "move 1,1")])
    {
        told(&mut *state, seq, seat, command);
        for viewer in Seat::ALL {
            assert_eq!(state.view(viewer), state.view(Seat::Host));
            assert_eq!(state.picture(viewer), state.picture(Seat::Host));
        }
    }
}

#[test]
fn prompt_and_status_follow_the_turn() {
    let script = r#"
        view prompt => "Roll for initiative"
        view status => ""
        host roll 1 2 5 5 => rolled p1=3 p2=10; initiative p1=3 p2=10 loser=p1 winner=p2; movement_order impulses=p1:2|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 10 — P1 moves first"; cursor at=0,2
        view prompt => "Player 1: select a unit to move (2 remaining)"
        view status => "Player 1's turn — move 2 of 2 units"
        p1 confirm => selected unit=atlas
        view prompt => "Player 1: move Atlas AS7-D"
        view status => "Player 1's turn — move 2 of 2 units"
        p1 stand => stood unit=atlas
        view prompt => "Player 1: select a unit to move (1 remaining)"
        view status => "Player 1's turn — move 1 of 2 units"
        # a unit without a name is called by its id
        p1 click 1,2 => cursor at=1,2; selected unit=locust
        view prompt => "Player 1: move locust"
        p1 stand => stood unit=locust; impulse_advanced index=1 player=p2 units=1
        view prompt => "Player 2: select a unit to move (1 remaining)"
        view status => "Player 2's turn — move 1 of 1 units"
        p2 cycle => cursor at=0,-2
        p2 confirm => selected unit=kit-fox
        view prompt => "Player 2: move Kit Fox Prime"
        p2 stand => stood unit=kit-fox; movement_complete
        view prompt => "Turn complete"
        view status => ""
    "#;
    check(TWO_AGAINST_ONE, script);
}

#[test]
fn queries_that_cannot_be_answered_say_why() {
    let known = "`initiative` answers `order LOSER_COUNT WINNER_COUNT` and `reach UNIT`";
    let cases = [
        ("reach nobody", "no unit has the id `nobody`".to_owned()),
        ("reach Atlas AS7-D", "no unit has the id `Atlas AS7-D`".to_owned()),
        ("suggest 1 2", format!("unknown query `suggest`: {known}")),
        ("order", format!("unknown query `order`: {known}")),
        ("", format!("unknown query ``: {known}")),
    ];
    let state = start(TWO_AGAINST_ONE);
    for (question, message) in cases {
        assert_eq!(state.query(Seat::P1, question).unwrap_err().to_string(), message);
    }
}
