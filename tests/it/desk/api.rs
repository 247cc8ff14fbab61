//! The functions for a host or auditor that folds the state itself, the view, and `who` (PM-19, PM-24, FD-9).

use serde_json::json;
use turnfold_core::rules::desk::Desk;
use turnfold_core::{Rules, Seat};

use super::scene::Scene;

type State = <Desk as Rules>::State;

fn played(setup: &'static str, script: &'static str) -> State {
    let scene = Scene { name: "api", title: "", setup, script };
    scene.play();
    let mut state = Desk::start(&toml::from_str(&scene.toml()).unwrap()).unwrap();
    for given in scene.given() {
        Desk::apply(&mut state, given.seat, &given.command.parse().unwrap(), &mut ()).unwrap();
    }
    state
}

const OPEN: &str = "
    p1 join
    p2 join
    host clock 2026-12-01T18:00:00Z
    host stand main 4 L1 - p1,p2 => stood turn=1
    p1 offer @draw : end draw => offered
    p1 order @a : stand => ordered
";

#[test]
fn pm_24_the_view_has_status_and_offers_and_no_order() {
    let state = played("", OPEN);
    let view = serde_json::to_value(Desk::view(&state, Seat::P2.into())).unwrap();
    assert_eq!(view["phase"], "open");
    assert_eq!(view["deadline"], "2026-12-04T18:00:00Z");
    assert_eq!((&view["stand"]["line"], &view["stand"]["seq"]), (&json!("main"), &json!(4)));
    assert_eq!(view["stand"]["state"], json!(null));
    let seat = |seat: &str, status: &str| json!({"seat": seat, "name": format!("{seat}.example"), "status": status, "misses": 0, "gone": false, "plain": false, "absent": null});
    assert_eq!(view["seats"], json!([seat("p1", "ordered"), seat("p2", "none")]));
    assert_eq!(
        (&view["offers"][0]["offer"], &view["offers"][0]["agreed"]),
        (&json!("end draw"), &json!(["p1"]))
    );
    assert_eq!(view["result"], json!(null));
    let answer = Desk::query(&state, Seat::P1.into(), "who").unwrap().unwrap();
    assert_eq!(answer.text, "p2 since 2026-12-01T18:00:00Z until 2026-12-04T18:00:00Z");
    assert!(state.is_open() && !state.is_ready());
    assert_eq!(state.last_number(Seat::P1), 2);
    assert_eq!(state.key_of(Seat::P2).unwrap().name(), "p2.example");
}

#[test]
fn pm_24_who_is_waited_for_in_every_phase() {
    let who =
        |setup, script| Desk::query(&played(setup, script), Seat::P1.into(), "who").unwrap().unwrap().text;
    assert_eq!(who("seats = 3", "p2 join"), "p1, p3");
    assert_eq!(who("seats = 1", "p1 join"), "host");
    let stand = "p1 join\np2 join\nhost clock 2026-12-01T18:00:00Z\nhost stand main 0 L1 - p1,p2 => stood";
    let until = "since 2026-12-01T18:00:00Z until 2026-12-04T18:00:00Z";
    assert_eq!(who("hosted = [\"p1\"]", stand), format!("p1 {until}"));
    assert_eq!(who("seats = 1", "host close draw over"), "no one");
}

#[test]
fn pm_19_orders_are_settled_in_the_order_of_seats() {
    let script = "
        p1 join
        p2 join
        p3 join
        host clock 2026-12-01T18:00:00Z
        host stand main 0 L1 - p1,p2,p3 => stood
        p3 order @c : stand => ordered
        p1 order @a : stand => ordered
        host clock 2026-12-04T18:00:00Z => clocked at=2026-12-04T18:00:00Z; missed seat=p2
    ";
    let state = played("seats = 3", script);
    assert!(state.is_ready());
    assert_eq!(state.orders_due().iter().map(|(seat, _)| *seat).collect::<Vec<_>>(), [Seat::P1, Seat::P3]);
    assert_eq!(state.defaulted(), [Seat::P2]);
    assert!(state.gone().is_empty() && state.agreed_takeback().is_none());
    assert_eq!(state.stands_on().map(|(line, seq)| (line.as_str(), seq)), Some(("main", 0)));
}

/// FD-9: when a turn is ready, the chosen orders renew the contributions; a seat without an order keeps its
/// contribution.
#[test]
fn fd_9_contributions_come_from_the_orders_chosen() {
    let indices = |script: &'static str| {
        let state = played("hours = 24\nfair = true", script);
        state.contributions().iter().map(|part| (part.seat, part.index)).collect::<Vec<_>>()
    };
    let joined = "p1 join\np2 join";
    assert_eq!(indices(joined), [(Seat::P1, 0), (Seat::P2, 0)]);
    let script = "
        p1 join
        p2 join
        host clock 2026-12-01T18:00:00Z
        host stand main 0 L1 - p1,p2 => stood
        p1 order : stand => ordered
    ";
    assert_eq!(indices(script), [(Seat::P1, 0), (Seat::P2, 0)], "before the turn is ready");
    let script = "
        p1 join
        p2 join
        host clock 2026-12-01T18:00:00Z
        host stand main 0 L1 - p1,p2 => stood
        p1 order @a : stand => ordered
        host clock 2026-12-02T18:00:00Z => clocked at=2026-12-02T18:00:00Z; missed seat=p2 misses=1; ready turn=1
        host rolled 1 E1 main 1 => rolled
        host carried @a 1
        host stand main 2 L2 - p2 => stood
        p2 order : stand => ordered seat=p2 number=1; ready turn=2
    ";
    assert_eq!(indices(script), [(Seat::P1, 1), (Seat::P2, 2)]);
    let state = played("hours = 24\nfair = true", script);
    assert_eq!(state.last_roll(), Some(1));
    assert!(state.has_chain(Seat::P1));
}
