//! The picture.

use turnfold_core::Seat;
use turnfold_core::picture::Picture;
use turnfold_replay::drawing::{Highlights, text};

use super::{start, told, units};

#[test]
fn the_picture_shows_the_queue_bars_for_each_unit_and_who_is_dead() {
    let mut state = start(&units("scout player 30 12\n attack = 50\n ogre enemy 50 9\n imp enemy 3 11"));
    told(&mut *state, 1, Seat::Host, "advance");
    told(&mut *state, 2, Seat::P1, "attack imp");
    let expected = "\
time 9, round 1: scout acts for p1

next: ogre scout ogre scout scout ogre scout ogre scout ogre

> player scout charge [####################] 108/100  ap 4  attacked
               hp     [####################]  30/30
  enemy  ogre  charge [################....]  81/100  ap 0
               hp     [####################]  50/50
x enemy  imp   charge [###################.]  99/100  dead
               hp     [....................]   0/3

> acts  x dead  a full charge takes a turn
";
    assert_eq!(drawn(&state.picture(Seat::P1.into())), expected);
}

/// Returns a picture as characters, without colors.
fn drawn(picture: &Picture) -> String {
    let lines = text::lines(picture, &Highlights::default(), text::WIDTH);
    lines.iter().flat_map(|line| line.spans.iter().map(|span| span.text.as_str()).chain(["\n"])).collect()
}
