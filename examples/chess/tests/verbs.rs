//! Chess with the verbs of a store and of files.

mod program;

use std::fs;

use program::Program;

const FEN: &str = "8/P6k/8/8/8/8/8/K7 w - - 0 1";

#[test]
fn a_game_is_played_with_the_verbs_of_a_store() {
    let chess = Program::new();
    fs::write(chess.path().join("start.toml"), "clock = 100\nincrement = 2\n").unwrap();
    chess.check(0, "chess rules chess", "CS-4 REPETITION AND FIFTY MOVES");
    chess.check(0, "chess new duel --rules chess --setup start.toml --dice seeded", "created match duel");
    chess.check(0, "chess play duel e4 'tick 5' e7e5 Nf3", "4 p1 g1f3 => moved san=Nf3");
    chess.check(1, "chess play duel 'p1: e1e2'", "the other player");
    chess.check(1, "chess play duel b8b5", "this move is not legal here");
    chess.check(0, "chess show duel", "\n3 . . . . . N . . 3\n");
    chess.check(0, "chess show duel --as p2 --changed", "\n3 . . N*");
    chess.check(0, "chess show duel --reach", "\n6 .+.+.+.+. .+");
    chess.check(0, "chess --format svg show duel", "<text class=\"glyph\"");
    chess.check(0, "chess --format json show duel", "\"turn\":\"p2\"");
    chess.check(0, "chess legal duel --as p2", "p2: b8c6");
    chess.check(0, "chess --format json legal duel --as p2", r#""targets":[[0,"b8"],[0,"c6"]]"#);
    chess.check(0, "chess --format json legal duel --as p2", r#""command":"resign","irreversible":true"#);
    chess.check(0, "chess log duel", "san=Nf3");
    chess.check(0, "chess branch duel:3 other && chess play duel@other f1c4", "san=Bc4");
    chess.check(1, "chess diff duel duel@other", "/fen");
    chess.check(0, "chess bisect duel --when '/turn == \"p2\"'", "e2e4");
    chess.check(0, "chess blame duel /clock/left/p2", "e7e5");
    chess.check(0, "chess replay duel", "san=Nf3");
    chess.check(0, "chess matches", "duel");
    chess.check(0, "chess game perft --rules chess --setup start.toml --depth 1", "sequences 22");
    let published =
        "depth 1 sequences 20 states 20\ndepth 2 sequences 400 states 400\ndepth 3 sequences 8902 states";
    chess.check(0, "chess game perft --rules chess --setup start.toml --depth 3 --without-host", published);
    chess.check(0, "chess verify", "ok duel@main");
    chess.check(0, "chess export duel -o duel.tfl && chess check duel.tfl", "1 passed");
    chess.check(0, "chess export duel --html -o duel.html && chess check duel.html", "1 passed");
    chess.check(0, "chess amend duel:2 --drop --branch quick && chess show duel@quick", "p1: 104 ticks");
    chess.check(0, "chess bundle duel -o duel.bundle && chess --store copy import duel.bundle", "duel");
    chess.check(0, "chess game impact .", "folds the same");
    chess.check(
        0,
        "chess rename duel table && chess branch --delete --force table@other && chess delete table --force",
        "deleted",
    );
    chess.check(0, "chess verify duel.tfl --reload", "ok");
}

#[test]
fn random_games_are_checked_shrunk_and_stepped_through() {
    let chess = Program::new();
    fs::write(chess.path().join("queen.toml"), format!("fen = \"{FEN}\"\n")).unwrap();
    chess.check(
        0,
        "chess simulate --rules chess --setup queen.toml --seed 5 --steps 30 -o game.tfl",
        "played",
    );
    chess.check(0, "chess check game.tfl", "1 passed");
    chess.check(
        0,
        "chess new pawn --rules chess --setup queen.toml && chess play pawn a7a8q p2:resign",
        "winner=p1",
    );
    chess.check(1, "chess play pawn h7g7", "the match is over");
    // A move in SAN is read by the board, on which nothing can move any more.
    chess.check(1, "chess play pawn Kg7", "rejected match_over (the match is over)");
    chess.check(
        0,
        "chess export pawn -o pawn.tfl && chess shrink pawn.tfl --when '/result/winners/0 == \"p1\"' -o least.tfl",
        "",
    );
    chess.check(0, "chess check least.tfl", "(1 entry)");
    chess.check(0, "chess replay pawn.tfl --step", "san=a8=Q");
}
