//! LC-6 to LC-10: the start of a turn.

use super::{check, units};

#[test]
fn lc_6_action_points_are_3_and_a_fifth_of_the_speed_and_replace_what_was_left() {
    for (speed, ap) in [(0, 3), (4, 3), (5, 4), (12, 5), (100, 23), (9999, 2002), (10000, 2003)] {
        let script = format!(
            "units ap => 0
             host advance => ticked ticks=0; turn_change previous=none next=a is_new_round=true; ap_set ap={ap}
             p1 move => moved
             units ap => {left}
             p1 end => turn_ended unit=a charge=900
             # what is left stays to be seen
             units ap => {left}
             host advance => ticked ticks=0; turn_change previous=a next=a is_new_round=true; ap_set ap={ap}
             units ap => {ap}",
            left = ap - 1
        );
        check(&units(&format!("a player 10 {speed}\n charge = 1000")), &script);
    }
}

#[test]
fn lc_7_cooldowns_above_0_drop_by_1_each_turn() {
    let toml = units(
        r#"a player 10 100
        skills = [{ id = "one", ap = 1, cooldown = 1, target = "self" }, { id = "two", ap = 1, cooldown = 2, target = "self" }, { id = "none", ap = 1, cooldown = 0, target = "self" }]"#,
    );
    let script = "
        host advance => ticked ticks=1; turn_change previous=none next=a is_new_round=true; ap_set ap=23
        p1 skill one => skill_used unit=a skill=one target=a
        p1 skill two => skill_used unit=a skill=two target=a
        p1 skill none => skill_used unit=a skill=none target=a
        p1 skill none => skill_used unit=a skill=none target=a
        p1 skill one => ignored on_cooldown
        p1 end => turn_ended unit=a charge=0
        host advance => ticked ticks=1; turn_change previous=a next=a is_new_round=true; ap_set ap=23; cooldown skill=one left=0; cooldown skill=two left=1
        p1 skill one => skill_used unit=a skill=one target=a
        p1 skill two => ignored on_cooldown
        p1 end => turn_ended unit=a charge=0
        host advance => ticked ticks=1; turn_change previous=a next=a is_new_round=true; ap_set ap=23; cooldown skill=one left=0; cooldown skill=two left=0
        p1 end => turn_ended unit=a charge=0
        host advance => ticked ticks=1; turn_change previous=a next=a is_new_round=true; ap_set ap=23
    ";
    check(&toml, script);
}

#[test]
fn lc_8_statuses_apply_in_order_then_shorten_then_go() {
    let toml = units(
        r#"a player 10 100
        statuses = [{ id = "burn", kind = "dot", value = 4, duration = 2 }, { id = "warm", kind = "hot", value = 9, duration = "permanent" }, { id = "note", kind = "mark", value = 7, duration = 1 }]"#,
    );
    let script = r#"
        # 10 - 4, then up to the maximum; the other way round it would be 6
        host advance => ticked ticks=1; turn_change previous=none next=a is_new_round=true; ap_set ap=23; status_ticked unit=a status=burn amount=4; status_ticked unit=a status=warm amount=9; status_expired unit=a status=note
        units hp => 10
        units statuses => [{"id":"burn","kind":"dot","value":4,"duration":1},{"id":"warm","kind":"hot","value":9,"duration":null}]
        p1 end => turn_ended unit=a charge=0
        host advance => ticked ticks=1; turn_change previous=a next=a is_new_round=true; ap_set ap=23; status_ticked unit=a status=burn amount=4; status_expired unit=a status=burn; status_ticked unit=a status=warm amount=9
        units statuses => [{"id":"warm","kind":"hot","value":9,"duration":null}]
        p1 end => turn_ended unit=a charge=0
        host advance => ticked ticks=1; turn_change previous=a next=a is_new_round=true; ap_set ap=23; status_ticked unit=a status=warm amount=9
    "#;
    check(&toml, script);
}

#[test]
fn lc_8_a_death_skips_the_rest_of_the_upkeep_and_takes_no_charge() {
    let toml = units(
        r#"a player 10 110
        statuses = [{ id = "burn", kind = "dot", value = 10, duration = 1 }, { id = "warm", kind = "hot", value = 9, duration = 9 }, { id = "s", kind = "stun", duration = 9 }]
        b player 10 100"#,
    );
    let script = "
        host advance => ticked ticks=1; turn_change previous=none next=a is_new_round=true; ap_set ap=25; status_ticked unit=a status=burn amount=10; died unit=a; turn_ended unit=a charge=110
        units hp => 0 | 10
        units alive => false | true
        units charge => 110 | 100
        units statuses => [] | []
        view active => null
        ask predict 3 => b b b
        host advance => ticked ticks=0; turn_change previous=a next=b is_new_round=false; ap_set ap=23
        p1 end => turn_ended unit=b charge=0
        # it gains nothing any more
        host advance => ticked ticks=1; turn_change previous=b next=b is_new_round=true; ap_set ap=23
        units charge => 110 | 100
    ";
    check(&toml, script);
}

#[test]
fn lc_9_only_a_stun_that_is_left_after_the_upkeep_costs_the_turn() {
    let starts = |previous: &str, rest: &str| {
        let start = "ticked ticks=1; turn_change";
        format!("host advance => {start} previous={previous} next=a is_new_round=true; ap_set ap=23; {rest}")
    };
    let lost = "stunned unit=a; turn_ended unit=a charge=0";
    let acts = "status_expired unit=a status=s";
    let cases = [
        ("1", vec![starts("none", acts)]),
        ("2", vec![starts("none", lost), starts("a", acts)]),
        ("3", vec![starts("none", lost), starts("a", lost), starts("a", acts)]),
        ("\"permanent\"", vec![starts("none", lost), starts("a", lost), starts("a", lost)]),
    ];
    for (duration, script) in cases {
        let stun = format!("{{ id = \"s\", kind = \"stun\", duration = {duration} }}");
        check(&units(&format!("a player 10 100\n statuses = [{stun}]")), &script.join("\n"));
    }
}

#[test]
fn lc_10_a_status_received_again_is_replaced_in_place() {
    let toml = units(
        r#"a player 10 100
        statuses = [{ id = "x", kind = "dot", value = 1, duration = 9 }, { id = "y", kind = "mark", duration = 9 }]
        skills = [{ id = "again", ap = 1, cooldown = 0, target = "self", status = { id = "x", kind = "hot", value = 5, duration = "permanent" } }, { id = "new", ap = 1, cooldown = 0, target = "self", status = { id = "z", kind = "stun", duration = 1 } }]"#,
    );
    let script = r#"
        host advance => ticked ticks=1; turn_change previous=none next=a is_new_round=true; ap_set ap=23; status_ticked unit=a status=x amount=1
        p1 skill new => skill_used unit=a skill=new target=a; status_gained unit=a status=z
        p1 skill again => skill_used unit=a skill=again target=a; status_gained unit=a status=x
        units statuses => [{"id":"x","kind":"hot","value":5,"duration":null},{"id":"y","kind":"mark","value":0,"duration":8},{"id":"z","kind":"stun","value":0,"duration":1}]
    "#;
    check(&toml, script);
}
