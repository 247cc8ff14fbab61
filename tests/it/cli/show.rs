//! `turnfold show`, `legal` and `ask`.

use snapbox::str;

use super::{check, duel};

#[test]
fn the_board_is_drawn_with_characters() {
    check(
        &duel(),
        "show duel
         show duel:0
         show duel:9",
        str![[""]],
    );
}

#[test]
fn the_view_is_one_json_document() {
    check(&duel(), "--format json show duel --as p2", str![[""]]);
}

#[test]
fn the_picture_is_well_formed_svg() {
    let svg = duel().ok("show duel --format svg");
    assert!(svg.starts_with("<svg ") || svg.starts_with("<?xml "), "{svg}");
    assert!(svg.trim_end().ends_with("</svg>"), "{svg}");
    assert!(svg.contains("Kit Fox Prime"), "{svg}");
}

#[test]
fn legal_lists_what_may_be_played() {
    check(
        &duel(),
        "legal duel:0
         legal duel
         legal duel:2 --as p1
         --format json legal duel --as p2
         --format svg legal duel",
        str![[""]],
    );
}

#[test]
fn queries_are_answered_or_refused() {
    check(
        &duel(),
        "ask duel order 3 5
         --format json ask duel order 3 5
         ask duel reach turret
         ask duel reach atlas
         ask duel reach nobody
         ask duel order 3
         ask duel weather",
        str![[""]],
    );
}
