//! Compares a stepper with folding from the start.

use serde_json::Value;
use turnfold_core::picture::Picture;

use super::*;
use crate::example::random_play;

struct Plain {
    picture: Picture,
    view: Value,
}

/// Folds the first `count` entries from the start.
fn plain(seat_history: &SeatHistory, count: u64) -> Plain {
    let mut state = seat_history.start().unwrap();
    seat_history.advance(state.as_mut(), 0, count).unwrap();
    Plain {
        picture: seat_history.viewer().picture(state.as_ref()),
        view: seat_history.viewer().view(state.as_ref()),
    }
}

fn every_sight(entries: u64) -> impl Iterator<Item = (SeatHistory, SeatHistory)> {
    let viewer = ["host", "p2"].map(|seat| seat.parse::<Viewer>().unwrap());
    viewer.into_iter().flat_map(move |viewer| {
        let pair =
            move |(one, two)| (SeatHistory::of(viewer, one).unwrap(), SeatHistory::of(viewer, two).unwrap());
        random_play(3, entries).into_iter().zip(random_play(3, entries)).map(pair)
    })
}

#[test]
fn vw_8_every_position_is_what_folding_from_the_start_gives() {
    for (seat_history, stepped) in every_sight(140) {
        let mut stepper = Stepper::new(stepped).unwrap();
        // A short stride, so that states are kept and dropped even in logs this short.
        stepper.kept.stride = 2;
        let head = stepper.history().head();
        stepper.go(head).unwrap();
        let mut chance = 7_u64;
        for _ in 0..25 {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let to = (chance >> 33) % (head + 3);
            stepper.go(to).unwrap();
            let to = to.min(head);
            let Plain { picture, view } = plain(&seat_history, to);
            assert_eq!((stepper.at(), stepper.picture(), stepper.view()), (to, picture, view));
            let before = to.checked_sub(1).map(|before| plain(&seat_history, before));
            let expected = before.as_ref().map(|before| Difference::between(&before.view, &stepper.view()));
            assert_eq!(stepper.changes(), expected.unwrap_or_default());
            let is_changed = before.is_some_and(|before| before.picture != stepper.picture());
            assert_eq!(
                stepper.picture_before().is_some_and(|before| before != stepper.picture()),
                is_changed
            );
        }
        assert!(stepper.kept.states.len() <= KEPT_MAX && (head < 130 || stepper.kept.stride > 2));
    }
}

#[test]
fn vw_5_entries_are_shown_as_the_log_shows_them_to_this_viewer() {
    for (seat_history, stepped) in every_sight(90) {
        let mut expected = Vec::new();
        seat_history
            .fold(&mut |seen| {
                expected.push(format!("{} {}", seen.seq(), seen.record().text()));
            })
            .unwrap();
        let mut stepper = Stepper::new(stepped).unwrap();
        let shown = stepper.entries(0..u64::MAX).unwrap();
        let shown: Vec<_> = shown.iter().map(|entry| format!("{} {}", entry.seq, entry.text)).collect();
        assert_eq!(shown, expected);
        assert_eq!(stepper.entries(2..4).unwrap().len(), expected.len().saturating_sub(1).min(2));
    }
}

#[test]
fn vw_7_a_search_finds_the_next_and_the_previous_and_wraps() {
    for (_, stepped) in every_sight(60) {
        let mut stepper = Stepper::new(stepped).unwrap();
        stepper.kept.stride = 8;
        let all = stepper.entries(0..u64::MAX).unwrap();
        for text in ["P1", "move", "IGNORED", "=", "nowhere"] {
            let hits: Vec<u64> = all
                .iter()
                .filter(|entry| entry.text.to_lowercase().contains(&text.to_lowercase()))
                .map(|entry| entry.seq)
                .collect();
            for at in [0, 1, stepper.history().head() / 2, stepper.history().head()] {
                stepper.go(at).unwrap();
                let at = stepper.at();
                let next = hits.iter().find(|seq| **seq > at).map(|seq| Hit { seq: *seq, wrapped: false });
                let first = hits.first().map(|seq| Hit { seq: *seq, wrapped: true });
                assert_eq!(
                    stepper.search(text, SearchDirection::Forward).unwrap(),
                    next.or(first),
                    "{text} {at}"
                );
                let previous =
                    hits.iter().rfind(|seq| **seq < at).map(|seq| Hit { seq: *seq, wrapped: false });
                let last = hits.last().map(|seq| Hit { seq: *seq, wrapped: true });
                assert_eq!(
                    stepper.search(text, SearchDirection::Back).unwrap(),
                    previous.or(last),
                    "{text} {at}"
                );
            }
        }
    }
}

#[test]
fn vw_7_the_next_change_of_a_field_and_the_next_entry_that_makes_a_condition_true_are_found() {
    let mut found = 0;
    for (seat_history, stepped) in every_sight(70) {
        let mut stepper = Stepper::new(stepped).unwrap();
        stepper.kept.stride = 8;
        let mut views = vec![plain(&seat_history, 0).view];
        seat_history.fold(&mut |seen| views.push(seen.view())).unwrap();
        let seqs = |fits: &dyn Fn(&Value, &Value) -> bool| -> Vec<u64> {
            let pairs = (1..).zip(views.windows(2));
            pairs.filter(|(_, pair)| fits(&pair[0], &pair[1])).map(|(seq, _)| seq).collect()
        };
        for path in ["/turn", "/tick", "/units/0/at", "/active", "/cursor", "/nowhere"] {
            let changes = seqs(&|one, two| one.pointer(path) != two.pointer(path));
            found += changes.len();
            for at in [0, stepper.history().head() / 2, stepper.history().head()] {
                stepper.go(at).unwrap();
                let next = changes.iter().copied().find(|seq| *seq > at);
                assert_eq!(stepper.change_of(path, SearchDirection::Forward).unwrap(), next, "{path} {at}");
                let previous = changes.iter().copied().rfind(|seq| *seq < at);
                assert_eq!(stepper.change_of(path, SearchDirection::Back).unwrap(), previous, "{path} {at}");
            }
        }
        stepper.go(0).unwrap();
        let condition = "/ruleset != nothing".parse().unwrap();
        assert_eq!(stepper.first_true(&condition).unwrap(), None, "it holds all along");
        if let Some(turn) =
            views.last().and_then(|view| view.get("turn")).filter(|turn| **turn != views[0]["turn"])
        {
            let condition = format!("/turn == {turn}").parse().unwrap();
            let is = |view: &Value| view["turn"] == *turn;
            let expected = seqs(&|one, two| !is(one) && is(two)).first().copied();
            assert_eq!(stepper.first_true(&condition).unwrap(), expected);
            found += 1;
        }
        assert!(stepper.first_true(&"/nowhere == 1".parse().unwrap()).is_err());
    }
    assert!(found > 100, "{found}");
}

#[test]
fn vw_7_only_a_viewer_who_may_see_all_looks_through_the_eyes_of_others() {
    for (seat_history, _) in every_sight(40) {
        let mut stepper = Stepper::new(seat_history).unwrap();
        if !stepper.history().viewer().sees_all() {
            assert_eq!(stepper.all_viewers().len(), 1);
            assert!(stepper.through(Viewer::HOST).is_err());
            continue;
        }
        let at = stepper.history().head().min(7);
        stepper.go(at).unwrap();
        let viewer = stepper.all_viewers();
        assert_eq!(viewer.first(), Some(&Viewer::HOST));
        for viewer in viewer.into_iter().rev() {
            stepper = stepper.through(viewer).unwrap();
            assert_eq!(stepper.history().viewer(), viewer);
        }
        assert_eq!(stepper.at(), at);
    }
}
