//! Rows of the table of play by mail that tell how turns go on and end (PM-14, PM-16 to PM-21, PM-27).

use turnfold_core::Seat::{self, P1, P2};
use turnfold_core::paper::PaperContent;

use super::post::{Post, day, fixture, time};
use turnfold_tests::players::Unlike;

/// A match in which p1 and p2 order at once, whose first turn is open.
fn begun(terms: &str) -> Post {
    let terms = format!("default = [\"stay\"]\nbetween = [\"next\"]\n{terms}");
    let post = Post::begun("siege", "begins_with_roll = false", &terms);
    post.run(day(1), &[]);
    post
}

fn codes(effects: &[String]) -> Vec<&str> {
    effects.iter().filter_map(|effect| effect.split(' ').next()).collect()
}

fn give_waiting_order(post: &mut Post, seat: Seat) -> String {
    let order = post.players.order_with(&post.desk_view(), seat, &["stay"], true);
    post.hand_in(seat, PaperContent::Order(order))
}

#[test]
fn pm_19_an_order_that_the_game_rejects_is_refused_whole_and_asked_again() {
    let mut post = begun("");
    post.order(P1, &["attack", "stay", "stay"]);
    post.order(P2, &["stay", "stay", "stay"]);
    // FD-11a: behind a roll nothing is taken back.
    let effects = post.run(day(2), &[2]);
    assert!(
        effects.iter().any(|effect| effect.starts_with("carried seat=p1") && effect.ends_with("count=2"))
    );
    assert!(effects.iter().any(|effect| effect.ends_with("code=day_ended")), "{effects:?}");
    assert_eq!(post.game("main"), ["p1 attack (order 1)", "host roll 2 (order 1)", "p1 stay (order 1)"]);
    assert_eq!(post.stands(), "main:3 p2");
    post.audited();
}

#[test]
fn pm_27_a_run_every_minute_without_anything_to_do_appends_nothing() {
    let post = begun("");
    let head = post.desk().head();
    for minute in 1..60 {
        assert!(post.run(time(&format!("2026-12-01T12:{minute:02}:00Z")), &[]).is_empty());
    }
    assert_eq!(post.desk().head(), head);
    assert!(post.run(time("2026-12-04T11:59:59Z"), &[]).is_empty());
    assert!(!post.run(time("2026-12-04T12:00:00Z"), &[]).is_empty(), "the deadline");
    // Whose clock goes back tells the desk nothing.
    let head = post.desk().head();
    assert!(post.run(time("1970-01-01T00:00:00Z"), &[]).is_empty());
    assert_eq!(post.desk().head(), head);
}

#[test]
fn pm_17_and_18_deadlines() {
    // Terms, who orders (in capitals: and asks to wait), what stands when nothing is due yet and behind the deadline.
    for (terms, orders, before, behind) in [
        ("", "", "p1=none p2=none", "missed missed"),
        ("", "1", "p1=ordered p2=none", "missed"),
        ("", "12", "", ""),
        ("hurry = false", "12", "p1=ordered p2=ordered", ""),
        ("hurry = false", "1", "p1=ordered p2=none", "missed"),
        ("", "1W2", "p1=ordered p2=ordered", ""),
        ("missed = \"wait\"", "1", "p1=ordered p2=none", "missed extended"),
        ("missed = \"wait\"", "", "p1=none p2=none", "missed missed extended"),
    ] {
        let mut post = begun(terms);
        let what = format!("{terms} {orders}");
        if orders.contains("1W") {
            give_waiting_order(&mut post, P1);
        } else if orders.contains('1') {
            post.order(P1, &["stay"]);
        }
        if orders.contains('2') {
            post.order(P2, &["stay"]);
        }
        let stand = post.stands();
        post.run(day(3), &[]);
        if before.is_empty() {
            assert_ne!(post.stands(), stand, "{what}");
            post.audited();
            continue;
        }
        assert_eq!((post.asked().as_str(), post.stands()), (before, stand.clone()), "{what}");
        let effects = post.run(day(5), &[]);
        let found = codes(&effects);
        let found: Vec<_> = found.into_iter().filter(|code| ["missed", "extended"].contains(code)).collect();
        assert_eq!(found.join(" "), behind, "{what}: {effects:?}");
        assert_eq!(post.stands() == stand, terms.contains("wait"), "{what}");
        post.audited();
    }
}

#[test]
fn pm_17_who_misses_three_times_in_a_row_is_gone() {
    let mut post = begun("");
    for turn in 1..=2 {
        assert_eq!(post.order(P1, &["stay"]), "applied");
        post.run(day(turn * 5), &[]);
    }
    assert_eq!(post.order(P2, &["stay"]), "applied", "and one that counts is forgiven all");
    post.order(P1, &["stay"]);
    post.run(day(11), &[]);
    post.audited();
    let mut post = begun("");
    for turn in 1..=3 {
        post.order(P1, &["stay"]);
        post.run(day(turn * 5), &[]);
    }
    assert_eq!(post.asked(), "p1");
}

#[test]
fn pm_27_default_is_played_for_who_is_gone_and_then_others_are_asked() {
    let terms =
        "default = [\"stand\", \"confirm\", \"cycle\"]\nbetween = [\"next-turn\"]\npatience = 1\nseats = 2";
    let mut post = Post::begun("initiative", &fixture("initiative/small-board.toml"), terms);
    post.run(day(1), &[1, 1, 2, 2]);
    assert_eq!(post.hand_in(P1, PaperContent::Resign), "applied");
    assert_eq!(post.asked(), "p2", "the last one has won");
}

#[test]
fn pm_16_a_hosted_seat_that_never_seals_is_gone_alone() {
    let terms = "together = true\nhosted = [\"p2\"]\ndefault = [\"switch\"]\nbetween = [\"resolve\"]";
    let post = Post::begun("cycletap", &fixture("cycletap/ford.toml"), terms);
    post.run(day(1), &[]);
    let mut missed = Vec::new();
    for turn in 1..=6 {
        let effects = post.run(day(1 + turn * 4), &[]);
        missed.extend(effects.into_iter().filter(|effect| effect.starts_with("missed")));
        if !post.desk().state().is_open() {
            break;
        }
    }
    assert!(missed.iter().filter(|effect| effect.contains("p2")).count() == 3, "{missed:?}");
}

#[test]
fn pm_16_seals() {
    let terms = "sealed = true";
    let mut post = begun(terms);
    let (own, other) = (post.write_order(P1, &["stay"]), post.write_order(P1, &["attack", "stay"]));
    assert_eq!(post.give(&other), "ignored seal_first");
    let link = post.desk().position().unwrap().link;
    let digest = own.paper().digest();
    let seal = post.write(P1, PaperContent::Seal { link, digest }, Unlike::default());
    assert_eq!(post.give(&seal), "applied");
    assert_eq!(post.give(&own), "rejected wait_for_seals");
    let theirs = post.write_order(P2, &["stay"]);
    let sealed = PaperContent::Seal { link, digest: theirs.paper().digest() };
    assert_eq!(post.hand_in(P2, sealed), "applied");
    let third = post.write_order(P1, &["attack", "stay"]);
    assert_eq!(post.give(&third), "ignored not_as_sealed");
    // It is taken afterwards; the other vanishes and misses.
    assert_eq!(post.give(&own), "applied");
    let effects = post.run(day(12), &[]);
    assert_eq!(codes(&effects).iter().filter(|code| **code == "missed").count(), 1, "{effects:?}");
    assert!(post.game("main").starts_with(&["p1 stay (order 1)".into(), "p2 stay (turn:1:p2)".into()]));
    post.audited();
}

#[test]
fn pm_20_takebacks() {
    let mut post = begun("");
    let (told, _) = post.offer(P1, "takeback main 0");
    assert_eq!(told, "ignored no_such_stand", "no earlier stand is there");
    for seat in [P1, P2] {
        post.order(seat, &["stay"]);
    }
    post.run(day(2), &[]);
    let before = post.game("main");
    let (_, declined) = post.offer(P1, "takeback main 0");
    assert_eq!(post.answer(P2, declined, false), "applied");
    assert_eq!(post.answer(P2, declined, true), "ignored no_such_offer");
    let (_, lapsed) = post.offer(P1, "takeback main 0");
    for seat in [P1, P2] {
        post.order(seat, &["stay"]);
    }
    post.run(day(3), &[]);
    assert_eq!(post.answer(P2, lapsed, true), "ignored no_such_offer");
    let line = post.game("main");
    assert!(line.starts_with(&before));
    for number in 1..=2 {
        let (_, agreed) = post.offer(P1, "takeback main 0");
        assert_eq!(post.answer(P2, agreed, true), "applied");
        post.run(day(3 + number), &[]);
        assert_eq!(post.stands(), format!("takeback-{number}:0 p1,p2"));
        assert_eq!(post.game("main"), line, "the old line stays");
        post.audited();
    }
    post.order(P1, &["attack", "stay"]);
    post.order(P2, &["stay"]);
    post.run(day(6), &[3]);
    assert!(post.game("takeback-2")[0].starts_with("p1 attack (order 5)"), "{:?}", post.game("takeback-2"));
    post.audited();
}

#[test]
fn pm_20_a_name_that_another_branch_has_is_not_taken() {
    let mut post = begun("");
    for seat in [P1, P2] {
        post.order(seat, &["stay"]);
    }
    post.run(day(2), &[]);
    let (main, name) = ("main".parse().unwrap(), post.name.clone());
    // One that begins elsewhere, and one that somebody played on.
    post.store.create_branch(&name, &"takeback-1".parse().unwrap(), &main, 1).unwrap();
    post.store.create_branch(&name, &"takeback-2".parse().unwrap(), &main, 0).unwrap();
    let entry = post.store.read(&name, &main, Some(1)).unwrap().entries.remove(0);
    let entry = turnfold_store::NewEntry {
        seat: entry.seat,
        command: entry.command,
        recorded_at_ms: entry.recorded_at_ms,
    };
    post.store.append(&name, &"takeback-2".parse().unwrap(), 0, vec![entry], None).unwrap();
    let (_, agreed) = post.offer(P1, "takeback main 0");
    post.answer(P2, agreed, true);
    post.run(day(3), &[]);
    assert_eq!(post.stands(), "takeback-3:0 p1,p2");
    post.audited();
}

#[test]
fn pm_20_draws_and_adjourning() {
    let mut post = begun("");
    let (_, draw) = post.offer(P2, "end draw");
    assert_eq!(post.answer(P1, draw, true), "applied");
    assert_eq!(post.asked(), "draw");
    assert!(post.run(day(9), &[]).is_empty());
    assert_eq!(post.order(P1, &["stay"]), "rejected match_over");
    let mut post = begun("");
    let (_, year) = post.offer(P2, "extend 2027-12-01T12:00:00Z");
    assert_eq!(post.answer(P1, year, true), "applied");
    assert!(post.run(time("2027-12-01T11:59:59Z"), &[]).is_empty(), "nobody misses before it");
    let effects = post.run(time("2027-12-01T12:00:00Z"), &[]);
    assert_eq!(codes(&effects).iter().filter(|code| **code == "missed").count(), 2);
    post.audited();
}

#[test]
fn pm_27_somebody_elses_entry_on_the_line_stops_the_run() {
    let mut post = begun("");
    for seat in [P1, P2] {
        post.order(seat, &["stay"]);
    }
    let rules = post.mail_match().rules;
    let state = rules.start(&post.mail_match().genesis.setup).unwrap();
    assert!(state.judge(P1, "attack").is_ok());
    let entry =
        turnfold_store::NewEntry { seat: P1, command: post_card_of(&post, "attack"), recorded_at_ms: 1 };
    post.store.append(&post.name, &"main".parse().unwrap(), 0, vec![entry], None).unwrap();
    let error = post.try_run(day(2), &[]).unwrap_err();
    assert!(error.to_string().contains("another program played on this line"), "{error}");
    assert_eq!(post.game("main").len(), 1);
}

/// The bytes of a command as the log has them.
fn post_card_of(post: &Post, command: &str) -> Vec<u8> {
    let of = post.mail_match();
    let mut state = of.rules.start(&of.genesis.setup).unwrap();
    let mut bytes = Vec::new();
    let entry =
        turnfold_core::Logged { seq: 1, seat: P1, command: turnfold_core::CommandSource::Text(command) };
    let dice = turnfold_core::DicePolicy::Recorded;
    state.fold(&[entry], &dice, &mut |step| bytes = step.command_bytes()).unwrap();
    bytes
}
