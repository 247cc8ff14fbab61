//! LC-11 to LC-13: what the active unit does, and how its turn and the match end.

use super::{check, units};

/// A hero with 4 action points and a skill of each kind, a friend and two foes.
const PARTY: &str = r#"
    hero player 20 5
    charge = 115
    attack = 4
    skills = [{ id = "drain", ap = 1, cooldown = 2, target = "enemy", damage = 6, heal = 2, status = { id = "weak", kind = "mark", duration = 2 } }, { id = "heal", ap = 1, cooldown = 0, target = "ally", heal = 5 }, { id = "pray", ap = 0, cooldown = 1, target = "self", heal = 1 }, { id = "bomb", ap = 1, cooldown = 0, target = "any", damage = 50 }, { id = "ritual", ap = 5, cooldown = 0, target = "any" }]
    friend player 20 0
    foe enemy 10 0
    fiend enemy 5 0
"#;

const HERO_ACTS: &str =
    "host advance => ticked ticks=0; turn_change previous=none next=hero is_new_round=true; ap_set ap=4\n";

fn check_hero(script: &str) {
    check(&units(PARTY), &[HERO_ACTS, script].concat());
}

#[test]
fn lc_11_moving_costs_1_and_goes_once() {
    let script = "
        p1 move => moved
        units ap => 3 | 0 | 0 | 0
        units has_moved => true | false | false | false
        units standard_action_used => false | false | false | false
        p1 move => ignored already_moved
        p1 bogus => rejected malformed
    ";
    check_hero(script);
}

#[test]
fn lc_11_attacking_costs_1_and_goes_once_and_forbids_no_skill() {
    let script = "
        p1 attack foe => damaged unit=foe amount=4 hp=6
        units ap => 3 | 0 | 0 | 0
        units has_attacked => true | false | false | false
        units standard_action_used => true | false | false | false
        p1 attack fiend => ignored already_attacked
        p1 skill pray => skill_used unit=hero skill=pray target=hero; healed unit=hero amount=1 hp=20
        p1 skill drain foe => skill_used unit=hero skill=drain target=foe; damaged unit=foe amount=6 hp=0; died unit=foe
        p1 move => moved
    ";
    check_hero(script);
}

#[test]
fn lc_11_a_skill_takes_then_gives_hp_then_gives_its_status() {
    let script = r#"
        p1 skill drain foe => skill_used unit=hero skill=drain target=foe; damaged unit=foe amount=6 hp=4; healed unit=foe amount=2 hp=6; status_gained unit=foe status=weak
        units hp => 20 | 20 | 6 | 5
        units ap => 3 | 0 | 0 | 0
        units statuses => [] | [] | [{"id":"weak","kind":"mark","value":0,"duration":2}] | []
        units standard_action_used => true | false | false | false
        units has_attacked => false | false | false | false
        p1 skill heal hero => skill_used unit=hero skill=heal target=hero; healed unit=hero amount=5 hp=20
        p1 skill heal friend => skill_used unit=hero skill=heal target=friend; healed unit=friend amount=5 hp=20
        p1 skill pray hero => skill_used unit=hero skill=pray target=hero; healed unit=hero amount=1 hp=20
        p1 skill heal foe => ignored bad_target
    "#;
    check_hero(script);
}

#[test]
fn lc_11_a_deadly_skill_is_paid_but_heals_nobody_and_gives_no_status() {
    let script = "
        p1 skill drain fiend => skill_used unit=hero skill=drain target=fiend; damaged unit=fiend amount=6 hp=0; died unit=fiend
        units hp => 20 | 20 | 10 | 0
        units ap => 3 | 0 | 0 | 0
        units statuses => [] | [] | [] | []
        p1 skill drain foe => ignored on_cooldown
        p1 attack fiend => ignored bad_target
    ";
    check_hero(script);
}

#[test]
fn lc_11_an_action_is_ignored_for_the_first_reason_that_applies() {
    let script = "
        p1 skill nope nobody => ignored unknown_skill
        p1 skill ritual nobody => ignored not_enough_ap
        p1 skill drain nobody => ignored unknown_unit
        p1 skill drain => ignored bad_target
        p1 skill drain hero => ignored bad_target
        p1 skill heal => ignored bad_target
        p1 skill bomb => ignored bad_target
        p1 skill pray friend => ignored bad_target
        p1 skill pray nobody => ignored unknown_unit
        p1 attack nobody => ignored unknown_unit
        p1 attack friend => ignored bad_target
        p1 attack hero => ignored bad_target
        p1 skill drain foe => skill_used unit=hero skill=drain target=foe; damaged unit=foe amount=6 hp=4; healed unit=foe amount=2 hp=6; status_gained unit=foe status=weak
        p1 skill drain nobody => ignored on_cooldown
        p1 attack foe => damaged unit=foe amount=4 hp=2
        p1 attack nobody => ignored already_attacked
        p1 move => moved
        p1 move => ignored already_moved
        p1 skill heal hero => skill_used unit=hero skill=heal target=hero; healed unit=hero amount=5 hp=20
        # without points that comes before all but an unknown skill
        units ap => 0 | 0 | 0 | 0
        p1 skill nope => ignored unknown_skill
        p1 skill drain nobody => ignored not_enough_ap
        p1 attack nobody => ignored not_enough_ap
        p1 move => ignored not_enough_ap
        # a skill that costs nothing needs none
        p1 skill pray => skill_used unit=hero skill=pray target=hero; healed unit=hero amount=1 hp=20
    ";
    check_hero(script);
}

#[test]
fn lc_11_who_kills_itself_has_paid_and_keeps_its_charge() {
    let script = "
        p1 move => moved
        p1 skill bomb hero => skill_used unit=hero skill=bomb target=hero; damaged unit=hero amount=50 hp=0; died unit=hero; turn_ended unit=hero charge=115
        view active => null
        view winner => null
        units ap => 2 | 0 | 0 | 0
        units charge => 115 | 0 | 0 | 0
        units has_moved => false | false | false | false
        p1 end => rejected no_active_unit
        host advance => rejected stalemate
    ";
    check_hero(script);
}

#[test]
fn lc_12_the_end_of_a_turn_costs_100_charge_and_clears_the_flags() {
    let script = "
        p1 move => moved
        p1 attack foe => damaged unit=foe amount=4 hp=6
        p1 end => turn_ended unit=hero charge=15
        view active => null
        units charge => 15 | 0 | 0 | 0
        units ap => 2 | 0 | 0 | 0
        units has_moved => false | false | false | false
        units has_attacked => false | false | false | false
        units standard_action_used => false | false | false | false
        host advance => ticked ticks=17; turn_change previous=hero next=hero is_new_round=true; ap_set ap=4
    ";
    check_hero(script);
}

#[test]
fn lc_13_after_the_winning_action_the_turn_stays_as_it_is() {
    let script = r#"
        p1 attack foe => damaged unit=foe amount=4 hp=6
        p1 skill bomb foe => skill_used unit=hero skill=bomb target=foe; damaged unit=foe amount=50 hp=0; died unit=foe
        view winner => null
        p1 skill bomb fiend => skill_used unit=hero skill=bomb target=fiend; damaged unit=fiend amount=50 hp=0; died unit=fiend; match_over winner=player
        view winner => "player"
        view active => "hero"
        units charge => 115 | 0 | 0 | 0
        units has_attacked => true | false | false | false
        p1 end => rejected match_over
        host advance => rejected match_over
        p5 end => rejected match_over
        legal p1 =>
        legal host =>
    "#;
    check_hero(script);
}

#[test]
fn lc_13_who_dies_in_its_own_turn_ends_it_before_the_match() {
    let suicide =
        "a player 10 100\n skills = [{ id = \"x\", ap = 0, cooldown = 0, target = \"self\", damage = 10 }]";
    let sick = "a player 10 100\n statuses = [{ id = \"d\", kind = \"dot\", value = 99, duration = 1 }]";
    let starts =
        "host advance => ticked ticks=1; turn_change previous=none next=a is_new_round=true; ap_set ap=23";
    let by_skill = format!(
        "{starts}\np1 skill x => skill_used unit=a skill=x target=a; damaged unit=a amount=10 hp=0; died unit=a; turn_ended unit=a charge=100; match_over winner=enemy"
    );
    let in_upkeep = format!(
        "{starts}; status_ticked unit=a status=d amount=99; died unit=a; turn_ended unit=a charge=100; match_over winner=enemy"
    );
    for (unit, script) in [(suicide, by_skill), (sick, in_upkeep)] {
        let toml = units(&format!("{unit}\n b enemy 10 0"));
        check(&toml, &format!("{script}\nview active => null\nview winner => \"enemy\""));
    }
}

#[test]
fn lc_13_a_match_of_one_team_has_no_winner() {
    let toml = units(
        "a enemy 10 100\n skills = [{ id = \"x\", ap = 0, cooldown = 0, target = \"any\", damage = 10 }]\n b enemy 10 0",
    );
    let script = "
        host advance => ticked ticks=1; turn_change previous=none next=a is_new_round=true; ap_set ap=23
        p2 skill x b => skill_used unit=a skill=x target=b; damaged unit=b amount=10 hp=0; died unit=b
        view winner => null
        p2 skill x a => skill_used unit=a skill=x target=a; damaged unit=a amount=10 hp=0; died unit=a; turn_ended unit=a charge=100
        view winner => null
        host advance => rejected stalemate
    ";
    check(&toml, script);
}
