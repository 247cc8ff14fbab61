//! What players settle among themselves, and how matches end (PM-20, PM-21).

use super::scene::Scene;

pub(super) fn scenes() -> Vec<Scene> {
    vec![
        Scene {
            name: "offers-of-an-end",
            title: "PM-20: a draw takes all living seats, whichever are left",
            setup: "hours = 24\nseats = 3",
            script: "
                p1 join
                p2 join
                p3 join
                host clock 2026-12-01T00:00:00Z
                p1 offer : end draw => rejected not_yet
                host stand main 0 L1 S1 p1 => stood turn=1
                p1 offer turn=2 : end draw => rejected not_yet
                p1 offer : end p4 => ignored no_such_seat
                p1 offer @draw : end draw => offered seat=p1 number=4 digest=@draw offer=\"end draw\"
                p2 answer @draw decline => declined seat=p2 number=1 digest=@draw
                p2 answer @draw agree => ignored no_such_offer
                p1 offer @again : end draw => offered seat=p1
                p1 offer @void : end void => offered seat=p1 number=6 digest=@void offer=\"end void\"; lapsed seat=p1 digest=@again
                p2 answer @again agree => ignored no_such_offer
                p2 answer @void agree => agreed seat=p2
                p1 order @a : stand => ordered seat=p1 number=7; ready turn=1
                host carried @a 1
                host stand main 1 L2 S2 p2 => stood turn=2 line=main seq=1 seats=p2 until=2026-12-02T00:00:00Z; lapsed seat=p1 digest=@void
                p3 answer @void agree => ignored no_such_offer
                p1 offer turn=1 : end draw => ignored late
                p1 offer @last : end draw => offered seat=p1
                p2 answer @last agree => agreed seat=p2
                # Two of three have agreed: the third decides, or leaves.
                p3 resign => gone seat=p3 number=2; over result=draw
            ",
        },
        Scene {
            name: "adjourned",
            title: "PM-20 PM-21: a deadline moves by consent, or by the host to a later time",
            setup: "hours = 24",
            script: "
                p1 join
                p2 join
                host clock 2026-12-01T00:00:00Z
                host stand main 0 L1 S1 p1 => stood turn=1
                host extend 2026-12-02T00:00:00Z too early => ignored not_later
                host extend 2026-12-02T12:00:00Z the mail was down => extended until=2026-12-02T12:00:00Z
                p1 offer : extend 2026-12-01T00:00:00Z => ignored not_later
                p1 offer @year : extend 2027-12-01T00:00:00Z => offered seat=p1
                p2 answer @year agree => agreed seat=p2 number=1 digest=@year; extended until=2027-12-01T00:00:00Z
                host clock 2027-11-30T00:00:00Z => clocked at=2027-11-30T00:00:00Z
                p1 offer @soon : extend 2027-11-30T12:00:00Z => offered seat=p1
                host clock 2027-11-30T18:00:00Z => clocked at=2027-11-30T18:00:00Z
                p2 answer @soon agree => agreed seat=p2 number=2 digest=@soon; lapsed seat=p1 digest=@soon
                host clock 2027-12-01T00:00:00Z => clocked at=2027-12-01T00:00:00Z; missed seat=p1 misses=1; ready turn=1
                host close p3 there is no such seat => ignored no_such_seat
                host close p2 p1 has left for good => over result=p2
                host close draw once more => rejected match_over
            ",
        },
        Scene {
            name: "takebacks",
            title: "PM-20 PM-13: all agree to go back, the old line stays, a new one goes on from there",
            setup: "hours = 24",
            script: "
                p1 join
                p2 join
                host clock 2026-12-01T00:00:00Z
                host stand main 3 L1 S1 p1 => stood turn=1
                p1 order @a : stand => ordered seat=p1 number=1; ready turn=1
                host carried @a 1
                host stand main 4 L2 S2 p1,p2 => stood turn=2
                p2 offer : takeback main 4 => ignored no_such_stand
                p2 offer : takeback branch 3 => ignored no_such_stand
                p2 order : stand => ordered seat=p2
                p2 offer @back : takeback main 3 => offered seat=p2
                p1 answer @back decline => declined seat=p1
                p2 offer @again : takeback main 3 => offered seat=p2
                p1 answer @again agree => agreed seat=p1 number=3 digest=@again; ready turn=2
                p1 order : stand => rejected not_yet
                host stand main 4 L3 S3 p1 => rejected line_change
                host stand takeback-1 2 L3 S3 p1 => rejected line_change
                host stand takeback-1 3 L1 S1 p1 => stood turn=3 line=takeback-1 seq=3 seats=p1
                p1 order @b : move 1,1 => ordered seat=p1 number=5; ready turn=3
                host carried @b 1
                host stand main 5 L4 S4 p1,p2 => rejected line_change
                host stand takeback-1 4 L4 S4 p1,p2 => stood turn=4
                # A second one, to a stand of the old line.
                p1 offer @third : takeback main 4 => offered seat=p1
                p2 answer @third agree => agreed seat=p2 number=6 digest=@third; ready turn=4
                host stand takeback-1 4 L5 S5 p1 => rejected line_change
                host stand takeback-2 4 L5 S5 p1 => stood turn=5 line=takeback-2 seq=4
            ",
        },
        Scene {
            name: "replaced",
            title: "PM-20 PM-22: all others agree to replace a player, who has no voice in it",
            setup: "hours = 24\nseats = 3\npatience = 1",
            script: "
                p1 join
                p2 join
                p3 join
                host clock 2026-12-01T00:00:00Z
                host stand main 0 L1 S1 p1,p3 => stood turn=1
                p1 offer : replace p4 KEY(new) => ignored no_such_seat
                p1 offer : replace p2 KEY(p3) => ignored key_in_use
                p1 offer : replace p2 KEY(host) => ignored key_in_use
                p1 offer @one : replace p2 KEY(new) => offered seat=p1
                p2 answer @one decline => ignored no_such_offer
                p2 answer @one agree => ignored no_such_offer
                p3 answer @one agree => agreed seat=p3 number=1 digest=@one; replaced seat=p2 name=new.example
                p2 resign by=p2 => rejected bad_signature
                p2 offer @two by=new : end draw => offered seat=p2
                p1 offer @three : replace p3 KEY(other) => offered seat=p1
                host clock 2026-12-02T00:00:00Z => clocked at=2026-12-02T00:00:00Z; missed seat=p1 misses=1; missed seat=p3 misses=1; gone seat=p1 number=none; gone seat=p3 number=none; over result=p2
            ",
        },
        Scene {
            name: "one-of-two-replaces-the-other",
            title: "PM-20: in a match of two the other one alone agrees; a gone seat lives again",
            setup: "hours = 24\nseats = 3",
            script: "
                p1 join
                p2 join
                p3 join
                host clock 2026-12-01T00:00:00Z
                host stand main 0 L1 S1 p1 => stood turn=1
                p3 resign => gone seat=p3 number=1
                p3 offer : end draw => ignored gone
                p1 offer @x : replace p3 KEY(new) => offered seat=p1
                p2 offer @y : replace p3 KEY(new) => offered seat=p2
                p2 answer @x agree => agreed seat=p2 number=2 digest=@x; replaced seat=p3 name=new.example
                p1 answer @y agree => agreed seat=p1 number=2 digest=@y; lapsed seat=p2 digest=@y
                p3 order by=new number=7 : stand => ignored not_due
                p1 order @a : stand => ordered seat=p1 number=3; ready turn=1
                host carried @a 1
                host stand main 1 L2 S2 p3 => stood turn=2
                p3 order @b by=new number=8 : stand => ordered seat=p3 number=8; ready turn=2
                host close void enough => over result=void
            ",
        },
        Scene {
            name: "resigned",
            title: "PM-21: of two players the other one wins; of three the match goes on and a default is played",
            setup: "hours = 24\nseats = 3",
            script: "
                p1 join
                p2 join
                p3 join
                host clock 2026-12-01T00:00:00Z
                host stand main 0 L1 S1 p1,p2 => stood turn=1
                p1 order : stand => ordered seat=p1
                p1 resign => gone seat=p1 number=2
                p1 order : stand => ignored gone
                p2 order @b : stand => ordered seat=p2 number=1; ready turn=1
                host carried @b 1
                host stand main 2 L2 S2 p2 => stood turn=2
                p3 resign => gone seat=p3 number=1; over result=p2
            ",
        },
    ]
}
