//! Games in Portable Game Notation, as programs and people write them, become replay files.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

/// What the importer did with an input.
struct Made {
    code: Option<i32>,
    replay: String,
    messages: String,
}

impl Made {
    /// Returns the commands of the replay file without their numbers.
    fn commands(&self) -> String {
        let (_, log) = self.replay.rsplit_once("+++\n").unwrap_or_default();
        let commands = log.lines().filter_map(|line| line.split_once(' '));
        commands.map(|(_, command)| command).collect::<Vec<_>>().join(", ")
    }
}

fn pgn(text: impl AsRef<[u8]>) -> Made {
    let mut importer = Command::new(env!("CARGO_BIN_EXE_pgn"));
    let importer = importer.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut importer = importer.spawn().unwrap();
    importer.stdin.take().unwrap().write_all(text.as_ref()).unwrap();
    let output = importer.wait_with_output().unwrap();
    let [replay, messages] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    Made { code: output.status.code(), replay, messages }
}

/// Requires the commands that a game has, and no message.
#[track_caller]
fn check(text: impl AsRef<[u8]>, commands: &str) {
    let made = pgn(text);
    assert_eq!((made.code, made.messages.as_str(), made.commands().as_str()), (Some(0), "", commands));
}

/// Requires the commands that a game has, and a warning.
#[track_caller]
fn check_warned(text: &str, commands: &str, warning: &str) {
    let made = pgn(text);
    assert_eq!((made.code, made.commands().as_str()), (Some(0), commands), "{}", made.messages);
    assert_eq!(made.messages, format!("warning: {warning}\n"));
}

/// Requires that a game is refused.
#[track_caller]
fn check_refused(text: impl AsRef<[u8]>, error: &str) {
    let made = pgn(text);
    assert_eq!(
        (made.code, made.replay.as_str(), made.messages.as_str()),
        (Some(2), "", &*format!("error: {error}\n"))
    );
}

const RUY: &str = "p1 e2e4, p2 e7e5, p1 g1f3, p2 b8c6, p1 f1b5";

#[test]
fn famous_games_become_replay_files() {
    for (game, entries, last) in
        [("opera", 33, "33 p1 d1d8"), ("immortal", 45, "45 p1 d6e7"), ("century", 82, "82 p2 a2c2")]
    {
        let path = format!("games/{game}.pgn");
        let named = Command::new(env!("CARGO_BIN_EXE_pgn")).arg(&path).output().unwrap();
        let made = pgn(fs::read(&path).unwrap());
        assert_eq!((made.code, made.messages.as_str()), (Some(0), ""));
        assert_eq!(String::from_utf8(named.stdout).unwrap(), made.replay, "as a file and as standard input");
        let (header, log) = made.replay.rsplit_once("+++\n").unwrap();
        assert!(header.contains("ruleset = \"chess\"\nversion = 1\n"), "{header}");
        assert_eq!((log.lines().count(), log.lines().last()), (entries, Some(last)), "{game}");
        // The golden log has the same title.
        let golden = fs::read_to_string(format!("replays/{game}.tfl")).unwrap();
        let title = header.lines().find(|line| line.starts_with("title")).unwrap();
        assert!(golden.lines().any(|line| line == title), "{title}");
    }
}

#[test]
fn comments_variations_and_signs_are_left_out() {
    check(
        "[FEN \"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\"]\n\n\
         1.e4! {the best (by test)} e5?! $6 ; a line\n(1...c5 2.Nf3) 2. Nf3 1/2-1/2\n",
        "p1 e2e4, p2 e7e5, p1 g1f3, p1 offer, p2 accept",
    );
    // A line of a comment begins with a bracket, as where the clock of lichess.org was wrapped.
    check(
        "1. e4 {\n[%clk 0:09:58]} e5 {[%emt 0:00:02]\n[%eval 0.2]} 2. Nf3 {[%clk\n0:09:51]} Nc6 3. Bb5 *",
        RUY,
    );
    // Brackets and braces in a comment are text.
    check("1. e4 {alas :-( } e5 {yes :-) } 2. Nf3 {as in {the book} Nc6 {a ; b} 3. Bb5 *", RUY);
    check("1. e4 e5 (1... c5 {not a) end} 2. Nf3 (2. c3) d6) 2. Nf3 Nc6 3. Bb5 *", RUY);
    // A line comment goes to the end of its line, in a variation, too.
    check("1. e4 e5 (1... c5 ; open ( here\n2. Nf3) 2. Nf3 Nc6 3. Bb5 *", RUY);
    check("1. e4 e5 (1... c5 ; closed ) there\n2. Nf3) 2. Nf3 ; {\nNc6 3. Bb5 *", RUY);
    check("1. e4 e5 ( {first} 1... c6 $2 {a} {b} ) $1 2. Nf3 Nc6 3. Bb5 *", RUY);
    check("1. e4 {one\n\ntwo} e5\n2. Nf3\n\nNc6 3. Bb5 *", RUY);
    check("% for another program\n1. e4 e5\n% (\n2. Nf3 Nc6 3. Bb5 *", RUY);
    check("1. e4 e5 2. Nf3 { 1-0 White wins. } Nc6 3. Bb5 {moves: 3\nmiddle: 0} *", RUY);
}

#[test]
fn spellings_of_other_programs_are_read() {
    check("1. e4 1. ... e5 2.Nf3 2....Nc6 3.Bb5*", RUY);
    check("e2-e4 e7-e5 Ng1-f3 Nb8c63. Bf1-b5 *", RUY);
    check("1. e4 +/- e5 = 2. Nf3 N Nc6?! ± 3. Bb5$14 *", RUY);
    check("1. e2e4 f7f5 2. d1h5+ g7g6 *", "p1 e2e4, p2 f7f5, p1 d1h5, p2 g7g6");
    check("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. 0-0 *", &format!("{RUY}, p2 a7a6, p1 e1g1"));
    check("1. e4 a6 2. e5 d5 3. exd6e.p. *", "p1 e2e4, p2 a7a6, p1 e4e5, p2 d7d5, p1 e5d6");
    check("1. e4 a6 2. e5 d5 3. e5:d6 e.p. *", "p1 e2e4, p2 a7a6, p1 e4e5, p2 d7d5, p1 e5d6");
    check("1. f3 e5 2. g4 Qh4++ 0-1", "p1 f2f3, p2 e7e5, p1 g2g4, p2 d8h4");
    for queen in ["a8(Q)", "a8/Q", "a8Q", "a8=q", "a7a8q"] {
        let fen = "[FEN \"8/P6k/8/8/8/8/8/K7 w - - 0 1\"]\n\n1. ";
        check(format!("{fen}{queen} *"), "p1 a7a8q");
    }
    for draw in ["1/2", "1/2-1/2", "½-½"] {
        check(format!("1. e4 {draw}"), "p1 e2e4, p1 offer, p2 accept");
    }
}

#[test]
fn tags_are_read_wherever_they_stand() {
    let title = |tags: &str| {
        let made = pgn(format!("{tags}\n\n1. e4 *"));
        let line = made.replay.lines().find(|line| line.starts_with("title"));
        line.unwrap_or(&made.messages).to_owned()
    };
    assert_eq!(title("[White \"Ann\"] [Black \"Bo\"][Site \"?\"]"), "title = \"Ann against Bo\"");
    assert_eq!(
        title("[White \"\"]\n[Site \"\"]\n[Date \"2001.02.03\"]"),
        "title = \"unknown against unknown, 2001.02.03\""
    );
    assert_eq!(
        title("[White \"A \\\"B\\\" C\"]\n[Black \"the \"one\"\"]"),
        "title = \"A 'B' C against the 'one'\""
    );
    // A byte order mark, and Latin-1, which the standard of 1994 has.
    check(b"\xef\xbb\xbf[White \"A\"]\r\n\r\n1. e4\r\n*\r\n", "p1 e2e4");
    let made = pgn(b"[White \"J\xf6rg\"]\n\n1. e4 *");
    assert!(made.replay.contains("title = \"J\u{f6}rg against unknown\""), "{}", made.replay);
    check_refused(b"\xff\xfe1\0.\0", "standard input: the file is UTF-16; save it as UTF-8");
}

#[test]
fn a_result_that_contradicts_the_board_is_named() {
    check_warned(
        "[Result \"1-0\"]\n\n1. f3 e5 2. g4 Qh4# 1-0",
        "p1 f2f3, p2 e7e5, p1 g2g4, p2 d8h4",
        "line 3: the result `1-0` is not that of the board, which is taken: p2 won (checkmate)",
    );
    check_warned(
        "[FEN \"7k/5Q2/8/8/8/8/8/K7 w - - 0 1\"]\n1. Ka2\n0-1",
        "p1 a1a2",
        "line 3: the result `0-1` is not that of the board, which is taken: draw (stalemate)",
    );
    let around = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1";
    let made = pgn(format!("{around} Ng8 0-1"));
    let warning =
        "warning: line 1: the result `0-1` is not that of the board, which is taken: draw (repetition)\n";
    assert_eq!((made.code, made.messages.as_str()), (Some(0), warning));
    check_warned(
        "[Result \"0-1\"]\n\n1. e4 e5\n",
        "p1 e2e4, p2 e7e5, p1 resign",
        "line 1: no result is behind the moves; `0-1` is taken from the tag",
    );
    check_warned(
        "[Result \"0-1\"]\n\n1. e4 1-0\n",
        "p1 e2e4, p2 resign",
        "line 3: the tag has the result `0-1`, and `1-0` behind the moves is taken",
    );
    check_warned("[Result \"\"]\n[Round \"\"]\n\nNf3", "p1 g1f3", "line 1: the game has no result");
    check_refused(
        format!("[Result \"1-0\"]\n\n{around} Ng8\n5. e4 e5 1-0"),
        "line 4: `5. e4`: behind `4... Ng8` the match is over: draw (repetition); by CS-4 no player has to claim it",
    );
}

/// No player gave up in these games.
#[test]
fn a_forfeit_is_no_resignation() {
    for (tags, comment, reason) in [
        ("[Termination \"time forfeit\"]\n", "", "time forfeit"),
        (
            "",
            "{[%clk 0:01] 0.3/5} {[%clk 0:00] Xboard: Forfeit due to invalid move}",
            "Xboard: Forfeit due to invalid move",
        ),
        ("[Termination \"Ann won on time\"]\n", "", "Ann won on time"),
    ] {
        let made = pgn(format!("[White \"Ann\"]\n{tags}\n1. e4 e5 {comment} 1-0"));
        assert_eq!((made.code, made.commands().as_str()), (Some(0), "p1 e2e4, p2 e7e5"));
        assert!(
            made.replay.contains(&format!("title = \"Ann against unknown (1-0, {reason})\"")),
            "{}",
            made.replay
        );
        assert!(
            made.messages.contains(&format!("`1-0` by `{reason}`, which is no command")),
            "{}",
            made.messages
        );
    }
    check(
        "[Termination \"Normal\"]\n\n1. e4 {he is not on time} e5 {good} 1-0",
        "p1 e2e4, p2 e7e5, p2 resign",
    );
}

#[test]
fn a_position_is_read_as_programs_write_it() {
    let fen = |fen: &str| {
        let made = pgn(format!("[FEN \"{fen}\"]\n[SetUp \"1\"]\n\n*"));
        let line = made.replay.lines().find(|line| line.starts_with("fen"));
        format!("{}{}", line.unwrap_or_default(), made.messages)
    };
    assert_eq!(fen("4k3/8/8/8/8/8/4P3/4K3 w - - 1 0"), "fen = \"4k3/8/8/8/8/8/4P3/4K3 w - - 1 1\"");
    assert_eq!(fen("4k3/8/8/8/8/8/4P3/4K3 b - -"), "fen = \"4k3/8/8/8/8/8/4P3/4K3 b - - 0 1\"");
    assert_eq!(fen("4k3/8/8/8/8/8/8/R3K3 w QA - 0 1"), "fen = \"4k3/8/8/8/8/8/8/R3K3 w Q - 0 1\"");
    assert_eq!(
        fen("4k3/8/8/8/8/8/4P3/4K2R b Kq - 0 1"),
        "fen = \"4k3/8/8/8/8/8/4P3/4K2R b K - 0 1\"\
         warning: line 1: the right to castle `q` is dropped: king or rook is elsewhere\n"
    );
    assert_eq!(
        fen("4k3/8/8/8/8/8/4P3/4K3 b - e3 0 1"),
        "fen = \"4k3/8/8/8/8/8/4P3/4K3 b - - 0 1\"\
         warning: line 1: the en passant square `e3` is dropped: no pawn has passed it\n"
    );
    assert_eq!(fen("8/8/8 w"), "error: line 1: expected 4 to 6 fields in the FEN, found 2\n");
    assert_eq!(fen("4k3/8/8/8/8/8/8/8 w - - 0 1"), "error: line 1: the board is invalid\n");
    assert_eq!(
        fen("4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
        "error: line 1: setup: fen: the match would be over: draw (material)\n"
    );
}

#[test]
fn other_games_are_refused_by_name() {
    let refused = |tags: &str, error: &str| check_refused(format!("[White \"A\"]\n{tags}\n\n1. e4 *"), error);
    refused("[Variant \"Atomic\"]", "line 2: this is `Atomic`, and only standard chess can be replayed");
    let shuffled = "[FEN \"bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq - 0 1\"]";
    refused(shuffled, "line 2: this is Chess960, which begins with shuffled pieces");
    // As xboard writes it, without a tag for the variant.
    let files = "[FEN \"nrbbqknr/pppppppp/8/8/8/8/PPPPPPPP/NRBBQKNR w HBhb - 0 1\"]";
    refused(files, "line 2: this is Chess960, which begins with shuffled pieces");
    let files = "[FEN \"1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1\"]";
    refused(files, "line 2: this is Chess960, which has castling rights such as `G`");
    check("[Variant \"Standard\"]\n\n1. e4 *", "p1 e2e4");
    check("[Variant \"From Position\"]\n\n1. e4 *", "p1 e2e4");
}

#[test]
fn a_game_that_cannot_be_replayed_names_line_and_move() {
    check_refused("[White \"A\"]\n\n1. e4 e5\n2. Ke3 *", "line 4: `2. Ke3`: no legal move is written so");
    check_refused(
        "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5\n4. Kxh1 *",
        "line 2: `4. Kxh1`: this move is not legal here",
    );
    check_refused("1. e4 -- 2. d4 *", "line 1: `1... --`: a null move, which chess does not have");
    check_refused("1. e4 Z0 *", "line 1: `1... Z0`: a null move, which chess does not have");
    check_refused("1. e4 offer *", "line 1: `1... offer`: no legal move is written so");
    check_refused("1. e4 e5 {cut\n2. Nf3 *", "line 1: the comment behind `1... e5` is not closed");
    check_refused(
        "1. e4\n(1. d4 {c}\n2. Nf3 *",
        "line 2: the variation that begins here is not closed, before or behind `1. e4`",
    );
    check_refused("1. e4\n} *", "line 2: the bracket `}` behind `1. e4` has no counterpart");
    check_refused("1. e4 e5)\n*", "line 1: the bracket `)` behind `1... e5` has no counterpart");
    check_refused("", "standard input has no game");
    check_refused("\n{only a comment}\n", "standard input has no game");
    let missing = Command::new(env!("CARGO_BIN_EXE_pgn")).arg("missing.pgn").output().unwrap();
    assert_eq!(missing.status.code(), Some(3));
    assert!(String::from_utf8(missing.stderr).unwrap().starts_with("error: `missing.pgn`: "));
}

/// A game that cannot be read does not cost the others, whatever is wrong with it.
#[test]
fn many_games_give_a_file_each() {
    let folder = tempfile::tempdir().unwrap();
    let games = "[Event \"a\"]\n\n1. e4 1-0\n\n[Event \"b\"]\n\n1. e4 {open\n\n[Event \"c\"]\n\n1. d4 {closed} *\n\n\
                 [Event \"d\"]\n\n1. e5 *\n\n[Event \"e\"]\n\n1. c4\n\n[Event \"f\"]\n1. b4 (1. a4\n\n[Event \"g\"]\n1. b3 *";
    let file = folder.path().join("club.pgn");
    fs::write(&file, games).unwrap();
    let refused = Command::new(env!("CARGO_BIN_EXE_pgn")).arg(&file).output().unwrap();
    let error = "error: the input has 7 games; `-o FOLDER` writes a file for each\n";
    assert_eq!(
        (refused.status.code(), String::from_utf8(refused.stderr).unwrap().as_str()),
        (Some(2), error)
    );
    let out = folder.path().join("out");
    let made = Command::new(env!("CARGO_BIN_EXE_pgn")).arg(&file).arg("-o").arg(&out).output().unwrap();
    let messages = String::from_utf8(made.stderr).unwrap().replace(&format!("{}: ", file.display()), "");
    assert_eq!(
        messages.replace(&*out.to_string_lossy(), "OUT"),
        "error: line 7: the comment behind `1. e4` is not closed\n\
         error: line 15: `1. e5`: no legal move is written so\n\
         warning: line 17: the game has no result\n\
         error: line 22: the variation that begins here is not closed, before or behind `1. b4`\n\
         written: 4 of 7 games to `OUT`\n"
    );
    assert_eq!(made.status.code(), Some(2));
    let mut names: Vec<_> = fs::read_dir(&out).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["club-1.tfl", "club-3.tfl", "club-5.tfl", "club-7.tfl"]);
    let third = fs::read_to_string(out.join("club-3.tfl")).unwrap();
    assert!(third.ends_with("+++\n1 p1 d2d4\n"), "{third}");
    // Nothing is written over.
    let again = Command::new(env!("CARGO_BIN_EXE_pgn")).arg(&file).arg("-o").arg(&out).output().unwrap();
    assert_eq!(again.status.code(), Some(3));
}
