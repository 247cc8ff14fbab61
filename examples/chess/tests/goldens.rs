//! Famous games are what the rules compute, and the board is drawn from both sides.

use chess::{Chess, Setup};
use turnfold_core::prelude::{Registry, Rules, Seat, erase};
use turnfold_show::drawing::Highlights;

/// Each player sees the board from the own side.
#[test]
fn a_picture_has_the_pieces_and_the_attack_on_a_king() {
    let mut state = Chess::start(&Setup::default()).unwrap();
    for san in ["e4", "e5", "Qh5", "Nc6", "Qxf7"] {
        let command = Chess::read(&state, san).unwrap();
        let seat = Chess::default_seat(&state, &command);
        Chess::apply(&mut state, seat, &command, &mut ()).unwrap();
    }
    let text = |seat| {
        let lines = turnfold_show::render::picture(
            &Chess::picture(&state, turnfold_core::Perspective::Seat(seat)),
            &Highlights::default(),
        );
        lines.iter().map(|line| format!("{line}\n")).collect::<String>()
    };
    let expected = "\
move 3: p2 to move

  a  b  c  d  e  f  g  h
8 r  .  b  q  k! b  n  r  8
7 p  p  p  p  .  Q  p  p  7
6 .  .  n  .  .  .  .  .  6
5 .  .  .  .  p  .  .  .  5
4 .  .  .  .  P  .  .  .  4
3 .  .  .  .  .  .  .  .  3
2 P  P  P  P  .  P  P  P  2
1 R  N  B  .  K  B  N  R  1
  a  b  c  d  e  f  g  h

check by f7
";
    assert_eq!(text(Seat::P1), expected);
    assert!(text(Seat::P2).contains("\n1 R  N  B  K  .  B  N  R  1\n"), "{}", text(Seat::P2));
}

/// `pgn < games/GAME.pgn > replays/GAME.tfl`, then `chess bless replays/GAME.tfl`.
#[test]
fn every_golden_log_is_what_the_rules_compute() {
    // As a module, chess is the same game.
    let module = std::fs::read("../../fixtures/modules/chess.wasm").unwrap();
    for rules in [erase::<Chess>(), turnfold_referee::load(&module).unwrap()] {
        let report = turnfold_history::check(&Registry::default().with(rules), "replays").unwrap();
        assert!(report.is_good(), "{report}");
        assert_eq!(report.entries(), 33 + 45 + 82);
    }
}
