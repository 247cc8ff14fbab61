//! Turns: stands, deadlines, misses, seals and fair dice (PM-12 to PM-19, FD-8 to FD-10).

use super::scene::Scene;

/// Two players have joined and it is 18:00.
macro_rules! begun {
    ($script:literal) => {
        concat!("p1 join\np2 join\nhost clock 2026-12-01T18:00:00Z\n", $script)
    };
}

fn deadlines() -> Vec<Scene> {
    vec![
        Scene {
            name: "deadlines",
            title: "PM-12 PM-13 PM-14 PM-17 PM-18 PM-19: who missed, what is late, and when a turn is ready",
            setup: "hours = 24",
            script: begun!(
                "
                host clock 2026-12-01T18:00:00Z => rejected clock_back
                host clock 2026-11-30T18:00:00Z => rejected clock_back
                host stand other 0 L1 S1 p1,p2 => rejected line_change
                host stand main 0 L1 S1 p3 => rejected not_asked
                host stand main 4 L1 S1 p1,p2 => stood turn=1 line=main seq=4 seats=p1|p2 until=2026-12-02T18:00:00Z
                host stand main 4 L1 S1 p1,p2 => rejected unsettled
                host carried L1 1 => rejected wrong_phase
                host refused L1 not_your_turn => rejected wrong_phase
                host rolled 1 L1 main 5 => rejected wrong_phase
                host clock 2026-12-02T17:59:59Z => clocked at=2026-12-02T17:59:59Z
                p2 order @late : move 1,1 => ordered seat=p2 number=1
                host clock 2026-12-02T18:00:00Z => clocked at=2026-12-02T18:00:00Z; missed seat=p1 misses=1; ready turn=1
                p1 order @p1 : stand => rejected not_yet
                host rolled 1 L1 main 5 => rejected wrong_roll
                host refused @late out_of_reach => refused seat=p2 digest=@late code=out_of_reach
                host stand main 3 L2 S2 p1,p2 => rejected line_change
                host stand branch 5 L2 S2 p1,p2 => rejected line_change
                host stand main 5 L2 S2 p1,p2 => stood turn=2
                p1 order turn=1 link=L1 : stand => ignored late
                p1 order @one : stand => ordered seat=p1
                p2 order @two : stand => ordered seat=p2 number=2; ready turn=2
                host clock 2026-12-09T18:00:00Z => clocked at=2026-12-09T18:00:00Z
                host carried @two 1 => rejected unknown_order
                host carried @one 1 => carried seat=p1
                host carried @two 1 => carried seat=p2
                host stand main 7 L3 S3 none => stood turn=3 line=main seq=7 seats= until=2026-12-10T18:00:00Z; over result=played
                host clock 2027-01-01T00:00:00Z => rejected match_over
                p1 order : stand => rejected match_over
                "
            ),
        },
        Scene {
            name: "patience",
            title: "PM-17 PM-21: an order that counts forgives misses, the third in a row does not",
            setup: "hours = 24\nseats = 3",
            script: "
                p1 join
                p2 join
                p3 join
                host clock 2026-12-01T00:00:00Z
                host stand main 0 L1 S1 p1,p2 => stood turn=1
                host clock 2026-12-02T00:00:00Z => clocked at=2026-12-02T00:00:00Z; missed seat=p1 misses=1; missed seat=p2 misses=1; ready turn=1
                host stand main 2 L2 S2 p1,p2 => stood turn=2
                # A tick years ahead: everybody misses once.
                host clock 2031-12-02T00:00:00Z => clocked at=2031-12-02T00:00:00Z; missed seat=p1 misses=2; missed seat=p2 misses=2; ready turn=2
                host stand main 4 L3 S3 p1,p2 => stood turn=3
                p1 order @a : stand => ordered seat=p1
                host clock 2031-12-03T00:00:00Z => clocked at=2031-12-03T00:00:00Z; missed seat=p2 misses=3; gone seat=p2 number=none; ready turn=3
                host carried @a 1
                host stand main 6 L4 S4 p1,p2 => rejected not_asked
                host stand main 6 L4 S4 p1,p3 => stood turn=4
                p2 order : stand => ignored gone
                p3 resign => gone seat=p3 number=1; over result=p1
            ",
        },
        Scene {
            name: "all-are-gone",
            title: "PM-21: seats that miss at one tick go together, and without any the match is void",
            setup: "hours = 24\npatience = 1",
            script: begun!(
                "
                host stand main 0 L1 S1 p1,p2 => stood turn=1
                host clock 2026-12-05T00:00:00Z => clocked at=2026-12-05T00:00:00Z; missed seat=p1 misses=1; missed seat=p2 misses=1; gone seat=p1 number=none; gone seat=p2 number=none; over result=void
                "
            ),
        },
        Scene {
            name: "no-hurry",
            title: "PM-18: without hurry a turn is ready at its deadline",
            setup: "hours = 24\nhurry = false",
            script: begun!(
                "
                host stand main 0 L1 S1 p1,p2 => stood turn=1
                p1 order @a : stand => ordered seat=p1
                p2 order @b : stand => ordered seat=p2
                p1 order @c : move 0,1 => ordered seat=p1
                host clock 2026-12-02T12:00:00Z => clocked
                host clock 2026-12-02T18:00:00Z => clocked at=2026-12-02T18:00:00Z; ready turn=1
                host carried @a 1 => rejected unknown_order
                host carried @c 1 => carried seat=p1
                "
            ),
        },
        Scene {
            name: "orders-that-wait",
            title: "PM-15 PM-18: an order may ask to wait until the deadline, and another one take that back",
            setup: "hours = 24",
            script: begun!(
                "
                host stand main 0 L1 S1 p1,p2 => stood turn=1
                p1 order wait : stand => ordered seat=p1
                p2 order wait : stand => ordered seat=p2
                p1 order @a : stand => ordered seat=p1
                p2 order @b : stand => ordered seat=p2 number=2; ready turn=1
                host carried @a 1
                host carried @b 1
                host stand main 2 L2 S2 p1 => stood turn=2
                p1 order @c wait : stand => ordered seat=p1
                host clock 2026-12-02T18:00:00Z => clocked at=2026-12-02T18:00:00Z; ready turn=2
                host carried @c 1
                "
            ),
        },
        Scene {
            name: "who-missed-is-waited-for",
            title: "PM-17: with the policy wait the hours begin anew",
            setup: "hours = 24\nmissed = \"wait\"\npatience = 2",
            script: begun!(
                "
                host stand main 0 L1 S1 p1,p2 => stood turn=1
                p2 order @b : stand => ordered seat=p2
                host clock 2026-12-03T00:00:00Z => clocked at=2026-12-03T00:00:00Z; missed seat=p1 misses=1; extended until=2026-12-04T00:00:00Z
                p1 order @a : stand => ordered seat=p1 number=1; ready turn=1
                host carried @a 1
                host carried @b 1
                host stand main 2 L2 S2 p1 => stood turn=2
                host clock 2026-12-05T00:00:00Z => clocked at=2026-12-05T00:00:00Z; missed seat=p1 misses=1; extended
                host clock 2026-12-06T00:00:00Z => clocked at=2026-12-06T00:00:00Z; missed seat=p1 misses=2; gone seat=p1 number=none; over result=p2
                "
            ),
        },
    ]
}

fn seals() -> Vec<Scene> {
    vec![
        Scene {
            name: "seals",
            title: "PM-16: with sealed every seat commits itself before any order is taken",
            setup: "hours = 24\nsealed = true",
            script: begun!(
                "
                host stand main 0 L1 S1 p1,p2 => stood turn=1
                let p1 order @a : move 1,0; stand
                let p1 order @other : stand
                let p2 order @b : stand
                p1 order number=9 : stand => ignored seal_first
                p1 seal @a turn=2 => rejected not_yet
                p1 seal @a link=L9 => ignored stale_link
                p1 seal @a => sealed seat=p1 number=12 digest=@a
                p1 seal @other => ignored not_due
                p1 send @a => rejected wait_for_seals
                p2 seal @b => sealed seat=p2 number=2 digest=@b; extended until=2026-12-03T18:00:00Z
                p1 send @other => ignored outdated
                p1 order number=20 : stand => ignored not_as_sealed
                p1 send @a => ordered seat=p1 number=1
                p1 send @a => ordered seat=p1 number=1
                host clock 2026-12-02T18:00:00Z => clocked at=2026-12-02T18:00:00Z
                p2 send @b => ordered seat=p2 number=1; ready turn=1
                host carried @a 2
                host carried @b 1
                # One seat alone need not seal, and may.
                host stand main 3 L2 S2 p1 => stood turn=2
                let p1 order @c : stand
                p1 seal @c => sealed seat=p1
                p1 order : move 9,9 => ignored not_as_sealed
                p1 send @c => ordered seat=p1 number=21; ready turn=2
                host carried @c 1
                # Who has sealed and keeps the order back misses.
                host stand main 4 L3 S3 p1,p2 => stood turn=3
                let p1 order @d : stand
                let p2 order @e : stand
                p1 seal @d => sealed seat=p1
                p2 seal @e => sealed seat=p2 number=4 digest=@e; extended until=2026-12-04T18:00:00Z
                p2 send @e => ordered seat=p2 number=3
                host clock 2026-12-04T18:00:00Z => clocked at=2026-12-04T18:00:00Z; missed seat=p1 misses=1; ready turn=3
                host carried @e 1 => carried seat=p2
                "
            ),
        },
        Scene {
            name: "the-hosted-seat-seals",
            title: "PM-16 PM-17: who plays and hosts must seal first; while it does not, it alone misses, and is gone",
            setup: "hours = 24\nhosted = [\"p1\"]\nseats = 3",
            script: "
                p1 join
                p2 join
                p3 join
                host clock 2026-12-01T00:00:00Z
                host stand main 0 L1 S1 p1,p2 => stood turn=1
                p1 order : stand => ignored seal_first
                p2 order : stand => rejected wait_for_seals
                host clock 2026-12-02T00:00:00Z => clocked at=2026-12-02T00:00:00Z; missed seat=p1 misses=1; extended until=2026-12-03T00:00:00Z
                let p1 order @x : stand
                p1 seal @x => ignored not_due
                p2 order @a : stand => ordered seat=p2 number=2; ready turn=1
                host carried @a 1
                host stand main 2 L2 S2 p1,p2 => stood turn=2
                host clock 2026-12-03T00:00:00Z => clocked at=2026-12-03T00:00:00Z; missed seat=p1 misses=2; extended until=2026-12-04T00:00:00Z
                p2 order @b : stand => ordered seat=p2 number=3; ready turn=2
                host carried @b 1
                host stand main 4 L3 S3 p1,p2 => stood turn=3
                host clock 2026-12-04T00:00:00Z => clocked at=2026-12-04T00:00:00Z; missed seat=p1 misses=3; gone seat=p1 number=none; extended until=2026-12-05T00:00:00Z
                p2 order @c : stand => ordered seat=p2 number=4; ready turn=3
            ",
        },
    ]
}

fn dice() -> Vec<Scene> {
    vec![Scene {
        name: "fair-dice",
        title: "PM-8 PM-11 PM-15: heads, elements of turns and elements of rolls follow, or do not count",
        setup: "hours = 24\nfair = true",
        script: begun_fair(),
    }]
}

fn begun_fair() -> &'static str {
    "
    p1 join dice=none => ignored wrong_dice
    p1 join => joined seat=p1
    p2 join => joined seat=p2
    host clock 2026-12-01T18:00:00Z
    host rolled 2 E2 main 1 => rejected wrong_roll
    host rolled 1 E2 main 1 => rejected wrong_roll
    host rolled 0 E0 main 1 => rejected wrong_roll
    host rolled 65536 E1 main 1 => rejected dice_exhausted
    host rolled 1 E1 main 1 => rolled number=1 line=main seq=1
    host rolled 1 E1 main 1 => rejected wrong_roll
    host rolled 2 E2 main 2 => rolled number=2 line=main seq=2
    host stand main 2 L1 S1 p1,p2 => stood turn=1
    p1 order dice=none : stand => ignored wrong_dice
    p1 order dice=2 : stand => ignored wrong_dice
    p1 order dice=0 : stand => ignored wrong_dice
    p1 order wait : stand => ordered seat=p1
    # The same element again, for the same turn.
    p1 order @a : stand => ordered seat=p1
    p2 order @b : stand => ordered seat=p2 number=1; ready turn=1
    host carried @a 1
    host carried @b 1
    host stand main 4 L2 S2 p1 => stood turn=2
    p1 order @c : stand => ordered seat=p1
    host carried @c 1
    host stand main 5 L3 S3 p1 => stood turn=3
    p1 order dice=2 : stand => ignored wrong_dice
    p1 order @d : stand => ordered seat=p1
    host carried @d 1
    # p2 was silent in two turns.
    host stand main 6 L4 S4 p2 => stood turn=4
    p2 rekey key=new => rekeyed seat=p2 number=2 name=new.example
    p2 order : stand => ignored wrong_dice
    p2 order @e dice=none : stand => ordered seat=p2 number=4; ready turn=4
    host carried @e 1
    host rolled 3 E3 main 7 => rolled number=3 line=main seq=7
    host stand main 7 L5 S5 p1 => stood turn=5
    p1 order @f : stand => ordered seat=p1
    "
}

pub(super) fn scenes() -> Vec<Scene> {
    [deadlines(), seals(), dice()].concat()
}
