//! The view and the queries of the contract, and what is secret (CH-17, CH-18).

use turnfold_core::Seat;

use super::{Table, check, fixture, start, view};

/// In the middle of channel 3: energy 7 was the first to move.
fn table() -> Table {
    Table::default()
        .with_white()
        .board("b1c5k4k5b2", "known = [\"purple\", \"red\"]")
        .board("b1b2b3b4b5", "known = [\"purple\"]\nyinyang_halves = 3")
        .energies("10 red p1 1 2, 1 blue p1 1 3, 7 yellow p1 2 2, 4 black p1 9 3, 300 white p2 4 1")
        .energies("20 red maya 1 1, 21 white maya 2 3, 30 red bag, 31 green bag, 32 red bag")
}

#[test]
fn the_view_has_the_fields_of_the_contract_in_their_order() {
    let mut state = table().start();
    let players = |tokens: &str, universe: &str, row_2: &str, row_4: &str| {
        format!(
            "\"players\":[{{\"seat\":\"p1\",\"rows\":[{universe},{row_2},[],{row_4},[],[],[],[],[0,0,4]],\
             \"tokens\":\"{tokens}\",\"score\":0,\"known\":{{\"purple\":1,\"darkblue\":null,\"blue\":null,\
             \"green\":null,\"yellow\":null,\"orange\":null,\"red\":3}},\"yinyang_halves\":0}},\
             {{\"seat\":\"p2\",\"rows\":[[],[],[],[300],[],[],[],[],[]],\"tokens\":\"b1b2b3b4b5\",\"score\":0,\
             \"known\":{{\"purple\":1,\"darkblue\":null,\"blue\":null,\"green\":null,\"yellow\":null,\
             \"orange\":null,\"red\":null}},\"yinyang_halves\":3}}],\"energies\":{{\"1\":\"blue\",\"4\":\"black\",\
             \"7\":\"yellow\",\"10\":\"red\",\"20\":\"red\",\"21\":\"white\",\"300\":\"white\"}},\"out\":[]}}"
        )
    };
    let table = "\"last_round\":false,\"winners\":null,\"plenitude\":null,\"maya\":[[20,0,0],[0,0,21],[0,0,0]],\
                 \"bag\":{\"total\":3,\"colors\":{\"green\":1,\"red\":2}},";
    let before = "{\"ruleset\":\"channel\",\"state\":\"take\",\"active\":\"p1\",\"channel\":null,\"step\":0,\
                  \"choice\":null,\"already_moved\":[],\"already_moved_code\":0,\"possibles\":{},\
                  \"channels\":[1,2,3,7,8],";
    assert_eq!(
        state.view(Seat::P1).to_string(),
        [before, table, &players("b1c5k4k5b2", "[0,10,1]", "[0,7]", "[]")].concat()
    );
    check(
        &mut *state,
        "p1 channel 3 => token token=5 to=c3; channel_opened channel=3\n\
         p1 move 7 4 => moved id=7 from=2 to=4 variant=0; step step=1",
    );
    let midway = "{\"ruleset\":\"channel\",\"state\":\"channel\",\"active\":\"p1\",\"channel\":3,\"step\":1,\
                  \"choice\":0,\"already_moved\":[7],\"already_moved_code\":7,\
                  \"possibles\":{\"1\":{\"0\":2},\"10\":{\"0\":2}},\"channels\":null,";
    assert_eq!(
        state.view(Seat::P1).to_string(),
        [midway, table, &players("b1c5k4k5c3", "[0,10,1]", "[]", "[7]")].concat()
    );
}

#[test]
fn ch_18_values_are_for_those_who_have_seen_them() {
    let state = table().start();
    let known = |viewer: Seat, player: usize, color: &str| {
        view(&*state, viewer)["players"][player]["known"][color].as_u64()
    };
    // p1 has seen purple and red, p2 purple.
    let cases = [
        (Seat::P1, 0, "red", Some(3)),
        (Seat::P1, 1, "purple", Some(1)),
        (Seat::P1, 1, "red", None),
        (Seat::P2, 0, "purple", Some(1)),
        (Seat::P2, 0, "red", Some(0)),
        (Seat::P2, 0, "blue", None),
        (Seat::P3, 0, "purple", Some(0)),
        (Seat::P3, 1, "red", None),
        (Seat::Host, 0, "red", Some(3)),
        (Seat::Host, 1, "red", None),
    ];
    for (viewer, player, color, value) in cases {
        assert_eq!(known(viewer, player, color), value, "{viewer} sees {color} of player {player}");
    }
    for seat in [Seat::P1, Seat::P2, Seat::P3] {
        assert!(view(&*state, seat)["plenitude"].is_null());
    }
    assert_eq!(view(&*state, Seat::Host)["plenitude"]["darkblue"], 4);
}

#[test]
fn ch_18_the_order_of_the_bag_is_seen_by_nobody() {
    let with_bag = |bag: &str| Table::alone("b1b2b3b4b5", "1 red maya 1 1").energies(bag).start();
    let (one, other) = (with_bag("2 red bag, 3 blue bag"), with_bag("2 blue bag, 9 red bag"));
    for seat in Seat::ALL {
        assert_eq!(one.view(seat), other.view(seat), "{seat}");
        assert_eq!(one.picture(seat), other.picture(seat), "{seat}");
        assert_eq!(one.legal(seat), other.legal(seat), "{seat}");
    }
}

#[test]
fn ch_17_moved_energies_have_a_code_unless_an_id_has_three_digits() {
    let table = Table::alone("b1b2b3b4b5", "42 red p1 2 1, 17 blue p1 3 1, 9 green p1 4 1, 100 black p1 6 1");
    let script = r#"
        p1 channel 2 => token token=5 to=c2; channel_opened channel=2
        p1 move 42 3 => moved id=42 from=2 to=3 variant=0; step step=1
        view already_moved_code => 42
        p1 move 17 4 => moved id=17 from=3 to=4 variant=0; step step=2
        view already_moved_code => 4217
        p1 move 9 5 => moved id=9 from=4 to=5 variant=0; step step=3
        view already_moved => [42,17,9]
        view already_moved_code => 421709
        json decode 421709 => [9,17,42]
        ask decode 421709 => 9 17 42
        p1 undo => token token=5 to=b5; undone
        p1 channel 7 => token token=5 to=c7; channel_opened channel=7
        p1 move 100 7 => moved id=100 from=6 to=7 variant=0; step step=1
        view already_moved => [100]
        view already_moved_code => null
        json decode 0 => []
        ask decode 0 =>
        json decode 100 => [0,1]
        json decode 9007199254740992 => [92,9,74,54,92,19,7,90]
        ask decode 9007199254740993 => `decode` takes a number of 0 to 9007199254740992, found `9007199254740993`
        ask decode -1 => `decode` takes a number of 0 to 9007199254740992, found `-1`
        ask decode x => `decode` takes a number of 0 to 9007199254740992, found `x`
    "#;
    table.check(script);
}

#[test]
fn options_are_what_may_be_done_now() {
    let script = r#"
        json options => {"takes":[[1,[1]],[1,[2]],[1,[1,2]],[5,[1]]],"channels":[1,3,4,5,6,7],"moves":{}}
        ask options => takes 1>1 2>1 1|2>1 1>5; channels 1 3 4 5 6 7; moves
        p1 channel 7 => token token=5 to=c7; channel_opened channel=7
        json options => {"takes":[],"channels":[],"moves":{"30":{"0":6,"1":4},"31":{"0":6,"1":4}}}
        ask options => takes; channels; moves 30>6 30>4 31>6 31>4
    "#;
    // The last token may go to row 5 only, with the third green.
    let energies = "1 green maya 1 1, 2 blue maya 3 1, 30 green p1 5 1, 31 green p1 5 3";
    Table::alone("k1k2k3k5b1", energies).check(script);
}

#[test]
fn queries_that_cannot_be_answered_say_why() {
    let known = "`channel` answers `options`, `possible N` and `decode CODE`";
    let script = format!(
        "ask possible 9 => `possible` takes a channel of 1 to 8, found `9`\n\
         ask possible 01 => `possible` takes a channel of 1 to 8, found `01`\n\
         ask possible => unknown query `possible`: {known}\n\
         ask options 1 => unknown query `options`: {known}\n\
         ask hint 1 => unknown query `hint`: {known}"
    );
    let mut state = start(&fixture("small-table"));
    for line in script.lines() {
        let (question, message) = line.strip_prefix("ask ").unwrap().split_once(" => ").unwrap();
        assert_eq!(state.query(Seat::P1, question).unwrap_err().to_string(), message);
    }
    check(&mut *state, "json possible 1 => true\nask possible 4 => true");
}
