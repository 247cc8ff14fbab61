//! Papers: who may give which, and which of them count (PM-10, PM-11, PM-22).

use super::scene::Scene;

pub(super) fn scenes() -> Vec<Scene> {
    vec![
        Scene {
            name: "joining",
            title: "PM-1 PM-11: seats are taken once, with names and keys that nobody has, hosted seats first",
            setup: "seats = 3\nhosted = [\"p2\"]",
            script: "
                p1 join => rejected hosted_first
                p2 join key=host => rejected key_in_use
                p2 join => joined seat=p2 name=p2.example
                p2 join key=another => rejected not_asked
                p1 join key=p2 => rejected key_in_use
                p1 join by=p3 => rejected bad_signature
                p1 join as=p3 => rejected wrong_seat
                p1 join match=other => rejected other_match
                p4 join => rejected wrong_seat
                p1 resign => rejected bad_signature
                p1 join key=ann => joined seat=p1 name=ann.example
                p1 resign number=1 => rejected not_yet
                host clock 2026-12-01T18:00:00Z => clocked at=2026-12-01T18:00:00Z
                host stand main 0 L0 S0 p1 => rejected unsettled
                p3 join => joined seat=p3 name=p3.example; complete
                p3 join key=late => rejected not_yet
            ",
        },
        Scene {
            name: "who-gives-which-paper",
            title: "PM-8 PM-9 PM-10: the first reason that holds, and the newest of several papers counts",
            setup: "seats = 2",
            script: "
                p1 join
                p2 join => joined seat=p2 name=p2.example; complete
                p1 order number=1 turn=1 link=L1 : stand => rejected not_yet
                host stand main 0 L1 S1 p1 => rejected no_clock
                host clock 2026-12-01T18:00:00Z
                host stand main 0 L1 S1 p1 => stood turn=1 line=main seq=0 seats=p1 until=2026-12-04T18:00:00Z
                p1 order as=p2 : stand => rejected wrong_seat
                p1 order as=host : stand => rejected wrong_seat
                p1 order match=other : stand => rejected other_match
                p1 order by=host : stand => rejected bad_signature
                p1 order by=p2 : stand => rejected bad_signature
                p1 order number=9 turn=2 : stand => rejected not_yet
                p1 order number=9 link=L7 : stand => ignored stale_link
                p2 order : stand => ignored not_due
                p1 order number=0 : stand => ignored outdated
                let p1 order @older number=9 : stand
                p1 order @newer number=10 wait : move 2,-3; stand => ordered seat=p1 number=10
                p1 send @older => ignored outdated
                p1 order number=10 wait : stand => ignored outdated
                p1 send @newer => ignored outdated
                p1 order @newest number=20 : move 0,0 => ordered seat=p1 number=20; ready turn=1
                p1 order : stand => rejected not_yet
                host carried @newer 1 => rejected unknown_order
                host carried @newest 2 => rejected unknown_order
                host extend 2027-01-01T00:00:00Z for the holidays => rejected wrong_phase
                host stand main 1 L2 S2 p2 => rejected unsettled
                host carried @newest 1 => carried seat=p1 digest=@newest count=1
                host refused @newest not_your_turn => rejected unknown_order
                host stand main 1 L2 S2 p2 => stood turn=2
                p1 order number=21 turn=1 link=L1 : stand => ignored late
                p2 order number=2 turn=1 link=L1 : stand => ignored late
                p2 order : stand => ordered seat=p2 number=3; ready turn=2
            ",
        },
        Scene {
            name: "rekey",
            title: "PM-22: the new key signs at once, the old one no more, and no key or name is used twice",
            setup: "seats = 2",
            script: "
                p1 join
                p2 join
                host clock 2026-12-01T18:00:00Z
                host stand main 0 L1 S1 p1,p2 => stood turn=1
                p1 rekey key=p2 by=p1 => ignored key_in_use
                p1 rekey key=host by=p1 => ignored key_in_use
                p1 rekey key=fresh by=fresh => rejected bad_signature
                p1 rekey key=fresh by=p1 => rekeyed seat=p1 number=4 name=fresh.example
                p1 order by=p1 : stand => rejected bad_signature
                p1 order : stand => ordered seat=p1 number=6
                p1 rekey key=p1 by=fresh => ignored key_in_use
                p2 rekey key=fresh by=p2 => ignored key_in_use
            ",
        },
    ]
}
