//! A tick's steps in their order, and how many of them a command runs.

use super::{TWO_HEXES, check};

#[test]
fn ticks_stop_at_a_roll_whose_tick_still_runs_to_its_end() {
    let setup = format!("ticks_per_second = 7\nflash = 7\n{TWO_HEXES}");
    let script = r#"
        p1 move s => cursor at=0,1; turtle at=0,0 facing=3
        p1 act => action held=true
        host tick 100 => charge_started at=0,1; roll_due purpose=capture chance=50; ticked ticks=7
        # step 7: the second of the seventh tick is counted
        view remaining_seconds => 299
        host roll 50 => capture_failed cause=roll; cooldown ticks=12
        host tick 6 => ticked ticks=6
        view flash => {"kind":"failure","since":7}
        host tick => ticked ticks=1
        # step 6: the flash of seven ticks is over
        view flash => null
        host tick 100 => charge_started at=0,1; roll_due purpose=capture chance=50; ticked ticks=11
        view tick => 25
        view remaining_seconds => 297
    "#;
    check(&setup, script);
}

#[test]
fn a_flash_of_no_ticks_is_cleared_in_its_own_tick() {
    let script = r#"
        p1 move se => cursor at=1,0; turtle at=0,0 facing=2
        p1 act => action held=true
        host tick => charge_started at=1,0; ticked ticks=1
        p1 move se => cursor at=2,0
        p1 move se => cursor at=3,0
        host tick 6 => turtle at=1,0 facing=2; turtle at=2,0 facing=2; charge_lapsed; ticked ticks=6
    "#;
    check(&format!("flash = 0\n{TWO_HEXES}"), script);
    let script = r#"
        p1 toggle => field field=inventory
        p1 act => action held=true; charge_started at=0,0
        host tick => captured field=inventory at=0,0 color=1; ticked ticks=1
        view flash => null
    "#;
    check("flash = 0\ninventory = [{ at = [0, 0], color = 1 }]", script);
}

#[test]
fn the_seconds_run_down_to_0_and_the_game_goes_on() {
    let script = r#"
        host tick 11 => ticked ticks=11
        view remaining_seconds => 2
        host tick => ticked ticks=1
        view remaining_seconds => 1
        host tick 12 => ticked ticks=12
        view remaining_seconds => 0
        host tick 100000 => ticked ticks=100000
        view remaining_seconds => 0
        view tick => 100024
        p1 move se => cursor at=1,0; turtle at=0,0 facing=2
        p1 act => action held=true
        host tick 7 => charge_started at=1,0; roll_due purpose=capture chance=100; ticked ticks=7
    "#;
    check(&format!("timer_seconds = 2\n{TWO_HEXES}"), script);
}

#[test]
fn the_longest_times_do_no_harm() {
    let setup = format!(
        "radius = 40\ntimer_seconds = 1000000\nhold = 100000\nfail_cooldown = 100000\ndrop_cooldown = 100000\n\
         flash = 100000\nticks_per_second = 100000\napproach_period = 100000\ncarry_period = 100000\n\
         stick_period = 100000\nmin_chance = 100\n{TWO_HEXES}"
    );
    let script = r#"
        p1 stick se => cursor at=1,0; turtle at=0,0 facing=2
        p1 act => action held=true
        host tick 100000 => charge_started at=1,0; ticked ticks=100000
        p1 stick sw => cursor at=0,1; turtle at=0,0 facing=4
        host tick 100000 => roll_due purpose=capture chance=100; ticked ticks=1
        host roll 99 => captured field=world at=0,1 color=2
        p1 move s => cursor at=0,2; turtle at=0,0 facing=3
        p1 move s => ignored throttled
        host tick 99999 => release_started; turtle at=0,0 facing=0; carried_to at=0,-1; ticked ticks=99999
        view remaining_seconds => 999998
    "#;
    check(&setup, script);
}
