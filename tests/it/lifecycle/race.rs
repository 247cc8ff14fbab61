//! LC-2 to LC-5: how time passes and whose turn comes; LC-14: rounds; LC-15: the prediction.

use super::{check, units};

#[test]
fn lc_2_a_tick_adds_its_speed_to_each_living_units_charge() {
    let script = r#"
        host tick => ticked ticks=1
        view global_time => 1
        units charge => 12 | 7 | 0
        host tick 5 => ticked ticks=5
        view global_time => 6
        units charge => 72 | 42 | 0
        view active => null
        view round => 0
        # no cap, and no more ticks than the first unit needs
        host tick 100000 => ticked ticks=3; turn_change previous=none next=scout is_new_round=true; ap_set ap=5
        units charge => 108 | 63 | 0
        view global_time => 9
    "#;
    check(&units("scout player 10 12\n ogre enemy 10 7\n totem enemy 10 0"), script);
}

#[test]
fn lc_3_advance_passes_as_many_ticks_as_it_takes_and_none_if_somebody_is_ready() {
    let cases = [
        ("a player 10 1", 100, "charge=0"),
        ("a player 10 3", 34, "charge=2"),
        ("a player 10 99", 2, "charge=98"),
        ("a player 10 100", 1, "charge=0"),
        ("a player 10 10000", 1, "charge=9900"),
        ("a player 10 1\ncharge = 99", 1, "charge=0"),
        ("a player 10 1\ncharge = 100", 0, "charge=0"),
        ("a player 10 0\ncharge = 115", 0, "charge=15"),
        ("a player 10 10000\ncharge = 1000000", 0, "charge=999900"),
    ];
    for (unit, ticks, charge) in cases {
        let ap = 3 + unit.split([' ', '\n']).nth(3).unwrap().parse::<u32>().unwrap() / 5;
        let script = format!(
            "host advance => ticked ticks={ticks}; turn_change previous=none next=a is_new_round=true; ap_set ap={ap}
             view global_time => {ticks}
             p1 end => turn_ended unit=a {charge}"
        );
        check(&units(unit), &script);
    }
}

#[test]
fn lc_3_a_turn_that_is_over_at_once_is_the_only_one_that_starts() {
    let stunned =
        "a player 10 10\n charge = 100\n statuses = [{ id = \"s\", kind = \"stun\", duration = 5 }]";
    let dying = "b player 10 10\n charge = 100\n statuses = [{ id = \"d\", kind = \"dot\", value = 10, duration = 5 }]";
    let script = r#"
        host advance => ticked ticks=0; turn_change previous=none next=a is_new_round=true; ap_set ap=5; stunned unit=a; turn_ended unit=a charge=0
        view active => null
        host tick 100000 => ticked ticks=0; turn_change previous=a next=b is_new_round=false; ap_set ap=5; status_ticked unit=b status=d amount=10; died unit=b; turn_ended unit=b charge=100
        view active => null
        host tick => ticked ticks=0; turn_change previous=b next=c is_new_round=false; ap_set ap=5
        view active => "c"
    "#;
    check(&units(&format!("{stunned}\n{dying}\n c player 10 10\n charge = 100")), script);
}

#[test]
fn lc_4_the_highest_charge_then_the_player_then_setup_order() {
    let cases = [
        ("e enemy 9 0\ncharge = 101\n p player 9 0\ncharge = 100", "e p"),
        ("e enemy 9 0\ncharge = 100\n p player 9 0\ncharge = 100", "p e"),
        ("a enemy 9 0\ncharge = 100\n b enemy 9 0\ncharge = 100", "a b"),
        ("b player 9 0\ncharge = 100\n a player 9 0\ncharge = 100", "b a"),
        // A tie that comes of different ways to the same charge.
        ("x enemy 9 25\n y player 9 20\ncharge = 20", "y x x y"),
    ];
    for (text, order) in cases {
        let count = order.split(' ').count();
        check(&units(text), &format!("ask predict {count} => {order}"));
    }
}

#[test]
fn lc_5_without_speed_and_charge_time_stands_still() {
    let script = r#"
        host advance => ticked ticks=0; turn_change previous=none next=a is_new_round=true; ap_set ap=3
        # while a unit is active that is the reason
        host advance => rejected unit_active
        p1 end => turn_ended unit=a charge=50
        host advance => rejected stalemate
        host tick => rejected stalemate
        host tick 100000 => rejected stalemate
        legal host =>
        view projected_queue => []
        ask predict 1000 =>
        json predict 1000 => []
        p1 end => rejected no_active_unit
    "#;
    check(&units("a player 10 0\n charge = 150\n b enemy 10 0\n charge = 99"), script);
}

#[test]
fn lc_5_the_speed_of_the_dead_does_not_count() {
    let statuses = r#"statuses = [{ id = "d", kind = "dot", value = 10, duration = "permanent" }]"#;
    let script = "
        host advance => ticked ticks=1; turn_change previous=none next=fast is_new_round=true; ap_set ap=23; status_ticked unit=fast status=d amount=10; died unit=fast; turn_ended unit=fast charge=100
        host advance => rejected stalemate
        ask predict 3 =>
    ";
    check(&units(&format!("fast player 10 100\n {statuses}\n slow player 10 0")), script);
}

#[test]
fn lc_14_a_round_ends_when_a_turn_starts_and_all_who_can_race_have_started_one() {
    let script = "
        host advance => ticked ticks=0; turn_change previous=none next=statue is_new_round=true; ap_set ap=3
        view round => 1
        p2 end => turn_ended unit=statue charge=100
        # with 100 it can still race and is in the set already
        host advance => ticked ticks=0; turn_change previous=statue next=statue is_new_round=false; ap_set ap=3
        p2 end => turn_ended unit=statue charge=0
        host advance => ticked ticks=2; turn_change previous=statue next=fast is_new_round=false; ap_set ap=13
        p1 end => turn_ended unit=fast charge=0
        host advance => ticked ticks=2; turn_change previous=fast next=fast is_new_round=false; ap_set ap=13
        p1 end => turn_ended unit=fast charge=0
        view round => 1
        # the slow one is the last of round 1
        host advance => ticked ticks=1; turn_change previous=fast next=slow is_new_round=false; ap_set ap=7
        p2 end => turn_ended unit=slow charge=0
        view round => 1
        host advance => ticked ticks=1; turn_change previous=slow next=fast is_new_round=true; ap_set ap=13
        view round => 2
        p1 end => turn_ended unit=fast charge=0
        # alone in the set
        host advance => ticked ticks=2; turn_change previous=fast next=fast is_new_round=false; ap_set ap=13
        view round => 2
    ";
    check(&units("fast player 10 50\n slow enemy 10 20\n statue enemy 10 0\n charge = 200"), script);
}

#[test]
fn lc_15_the_prediction_ends_the_active_units_turn_first_and_changes_nothing() {
    let script = r#"
        ask predict 4 => a a b a
        json predict 4 => ["a","a","b","a"]
        view projected_queue => ["a","a","b","a","a"]
        host advance => ticked ticks=2; turn_change previous=none next=a is_new_round=true; ap_set ap=13
        # its own turn is not among those to come
        ask predict 3 => a b a
        ask predict 3 => a b a
        units charge => 100 | 50
        view global_time => 2
        p1 end => turn_ended unit=a charge=0
        ask predict 3 => a b a
    "#;
    check(&units("a player 10 50\n b enemy 10 25"), script);
}

#[test]
fn lc_15_deaths_and_stuns_are_not_foreseen() {
    let toml = units(
        r#"a player 10 50
        statuses = [{ id = "d", kind = "dot", value = 10, duration = "permanent" }]
        b player 10 25
        statuses = [{ id = "s", kind = "stun", duration = "permanent" }]"#,
    );
    check(&toml, "ask predict 3 => a a b");
}
