//! The exact view, and the query.

use turnfold_core::Seat;

use super::{check, play, setup, start};

const UNITS: &str = r#""units":[{"id":"u1","owner":"p1","kind":"officer","at":[0,0],"strength":1},{"id":"u2","owner":"p1","kind":"captain","at":[0,2],"strength":2},{"id":"u3","owner":"p2","kind":"officer","at":[0,-2],"strength":1}],"#;

fn ground() -> String {
    setup("radius = 3\nwater = [[1, 2], [-1, 2]]", "p1 officer 0,0; p1 captain 0,2; p2 officer 0,-2")
}

#[test]
fn the_view_has_the_fields_of_the_contract_in_their_order() {
    let mut state = start(&ground());
    play(&mut *state, Seat::P1, "0,2 0,1 0,2 0,0 -1,0 0,0 0,0 0,0 1,0 1,0");
    let tap = r#"{"state":"path_building","origin":[0,0],"path":[[1,0]],"kind":"movement"}"#;
    let planning = |tap: &str, pools: &str, orders: &str| {
        [
            r#"{"ruleset":"cycletap","turn":1,"phase":"planning","planning":"p1","winner":null,"tap":"#,
            tap,
            r#","pools":"#,
            pools,
            ",",
            UNITS,
            r#""orders":"#,
            orders,
            r#","water":[[-1,2],[1,2]]}"#,
        ]
        .concat()
    };
    let own = r#"{"p1":{"total":4,"used":0,"available":4},"p2":null}"#;
    let defense = r#"[{"seat":"p1","number":2,"unit":"u2","kind":"defense","from":[0,2],"path":[]}]"#;
    assert_eq!(state.view(Seat::P1).to_string(), planning(tap, own, defense));
    // CT-19
    let other = r#"{"p1":null,"p2":{"total":1,"used":0,"available":1}}"#;
    assert_eq!(state.view(Seat::P2).to_string(), planning("null", other, "[]"));
    let both = r#"{"p1":{"total":4,"used":0,"available":4},"p2":{"total":1,"used":0,"available":1}}"#;
    assert_eq!(state.view(Seat::Host).to_string(), planning(tap, both, defense));
    // Who sits elsewhere sees what neither player hides.
    assert_eq!(state.view(Seat::P3).to_string(), planning("null", r#"{"p1":null,"p2":null}"#, "[]"));
}

#[test]
fn ct_13_orders_stand_by_seat_then_number_one_for_each_target() {
    let mut state = start(&ground());
    play(&mut *state, Seat::P1, "0,2 0,1 0,0 1,0 0,2 1,1 switch");
    play(&mut *state, Seat::P2, "0,-2 0,-1 0,-1 1,-1 0,-2 switch");
    let expected = concat!(
        r#""orders":[{"seat":"p1","number":1,"unit":"u2","kind":"attack","from":[0,2],"path":[[0,1]]},"#,
        r#"{"seat":"p1","number":2,"unit":"u1","kind":"attack","from":[0,0],"path":[[1,0]]},"#,
        r#"{"seat":"p1","number":3,"unit":"u2","kind":"attack","from":[0,2],"path":[[1,1]]},"#,
        r#"{"seat":"p2","number":2,"unit":"u3","kind":"movement","from":[0,-2],"path":[[0,-1],[1,-1]]}],"#,
    );
    // CT-19: in execution all is in the open.
    for viewer in Seat::ALL {
        let view = state.view(viewer);
        assert!(view.contains(expected), "{view}");
        assert!(view.contains(r#""phase":"execution","planning":null,"winner":null,"tap":null,"pools":{"p1":{"total":4,"used":3,"available":1},"p2":{"total":1,"used":1,"available":0}}"#), "{view}");
    }
}

#[test]
fn suggest_answers_by_the_distance_from_the_origin() {
    let script = r#"
        ask p1 suggest 0,1 => no origin is selected
        p1: 0,0
        ask p1 suggest 0,1 => deploy
        ask p1 suggest 0,2 => movement
        ask host suggest -3,0 => movement
        json p1 suggest 1,0 => "deploy"
        json p1 suggest 3,0 => "movement"
        # water and enemies do not matter
        ask p1 suggest 1,2 => movement
        ask p1 suggest 0,0 => hex 0,0 is the origin itself
        ask p1 suggest 4,0 => hex 4,0 is off the board of radius 3
        ask p1 suggest 1 => expected a hex `q,r`, found `1`
        # on a path it is still the origin that counts
        p1: 1,0 1,0 2,0
        ask p1 suggest 1,1 => movement
        p1: switch
        ask p2 suggest 0,1 => no origin is selected
        p2: switch
        ask p1 suggest 0,1 => no origin is selected
        ask host suggest 0,1 => no origin is selected
        ask p1 reach => unknown query `reach`: `cycletap` answers `suggest Q,R`
        ask p1 suggest => unknown query `suggest`: `cycletap` answers `suggest Q,R`
    "#;
    check(&ground(), script);
}

#[test]
fn ct_19_suggest_tells_nothing_to_who_may_not_see_the_origin() {
    for taps in ["0,2", "0,0", "0,0 1,0 1,0"] {
        for seat in [Seat::P2, Seat::P3] {
            let mut state = start(&ground());
            play(&mut *state, Seat::P1, taps);
            let ask = |hex: &str| state.query(seat, &format!("suggest {hex}")).unwrap_err().to_string();
            let hidden = format!("{seat} may not see what is selected: only the planning seat and `host` do");
            assert_eq!(ask("0,1"), hidden);
            assert_eq!(ask("0,0"), hidden);
            assert_eq!(ask("9,9"), "hex 9,9 is off the board of radius 3");
        }
    }
}
