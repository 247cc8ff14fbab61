//! The rules of chess: laws, published counts of moves, each rule by its id, and famous games.

use std::fs;
use std::io::Write;
use std::process::{Command as Process, Stdio};

use chess::{Chess, Command, Setup, State};
use turnfold_core::prelude::{Rules, Ticks, erase};
use turnfold_laws::{Fixture, require_kept};

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

fn start(fen: &str) -> State {
    Chess::start(&Setup { fen: fen.parse().unwrap(), ..Setup::default() }).unwrap()
}

fn legal_moves(state: &State) -> Vec<Command> {
    let turn = Chess::active_seat(state).unwrap();
    let legal = Chess::legal(state, turn).into_iter();
    legal.filter(|command| matches!(command, Command::Move(_))).collect()
}

/// Plays commands, which may be in Standard Algebraic Notation; `p1:` or `p2:` names a seat. Returns all effects.
fn play(state: &mut State, commands: &str) -> Result<Vec<String>, String> {
    let mut effects = Vec::new();
    for word in commands.split(' ') {
        let (seat, text) =
            word.split_once(':').map_or((None, word), |(seat, text)| (Some(seat.parse().unwrap()), text));
        let command = Chess::read(state, &text.replace('_', " ")).map_err(|error| error.0)?;
        let seat = seat.unwrap_or_else(|| Chess::default_seat(state, &command));
        Chess::apply(state, seat, &command, &mut effects).map_err(|denied| denied.code().to_owned())?;
    }
    Ok(effects.iter().map(ToString::to_string).collect())
}

/// Plays commands and requires the last effect, or the code of a rejection.
#[track_caller]
fn check(fen: &str, commands: &str, expected: &str) {
    let played = play(&mut start(fen), commands);
    assert_eq!(played.map_or_else(|code| code, |effects| effects.last().unwrap().clone()), expected);
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[test]
fn chess_keeps_every_law() {
    let rules = erase::<Chess>();
    let fixture = |name: &str, toml: &str| Fixture { name: name.into(), toml: toml.into() };
    let kiwipete = fixture("kiwipete", &format!("fen = \"{KIWIPETE}\""));
    let promotion = fixture("promotion", "fen = \"8/PPPk4/8/8/8/8/4Kppp/8 w - - 0 1\"");
    let hurry = fixture("hurry", "clock = 40\nincrement = 1");
    require_kept(&*rules, &[Fixture::example(&*rules), kiwipete, promotion, hurry]);
}

/// CS-2: the published numbers of move sequences.
#[test]
fn as_many_moves_are_legal_as_are_published() {
    for (fen, counts) in [(START, [20, 400, 8902, 197_281].as_slice()), (KIWIPETE, &[48, 2039, 97_862])] {
        let mut states = vec![start(fen)];
        for (depth, count) in counts.iter().enumerate() {
            let moves: Vec<Vec<Command>> = states.iter().map(legal_moves).collect();
            assert_eq!(moves.iter().map(Vec::len).sum::<usize>(), *count, "{fen}");
            if depth + 1 == counts.len() {
                break;
            }
            let after = |(state, command): (&State, &Command)| {
                let mut state = state.clone();
                let seat = Chess::active_seat(&state).unwrap();
                Chess::apply(&mut state, seat, command, &mut ()).unwrap();
                state
            };
            let pairs = states
                .iter()
                .zip(&moves)
                .flat_map(|(state, moves)| moves.iter().map(move |command| (state, command)));
            states = pairs.map(after).collect();
        }
    }
}

#[test]
fn cs_1_a_setup_is_a_position_that_can_be_played() {
    for (fen, expected) in [
        ("", "setup:1:7: The board is invalid"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "setup:1:7: The board is invalid"),
        ("4k3/8/8/8/8/8/8/1R2K3 w Q - 0 1", "setup:1:7: The castling rights are invalid"),
        ("4k3/8/8/8/8/8/8/4K2R w H - 0 1", "setup:1:7: expected `4k3/8/8/8/8/8/8/4K2R w K - 0 1`"),
        ("4k3/8/8/8/8/8/8/R4K2 w Q - 0 1", "setup: fen: a king castles from the file e"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "setup: fen: the match would be over: draw (stalemate)"),
        ("8/8/4k3/8/8/4K3/8/8 w - - 0 1", "setup: fen: the match would be over: draw (material)"),
    ] {
        let error = erase::<Chess>().read_setup(&format!("fen = \"{fen}\"")).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{fen}: {error}");
    }
}

#[test]
fn cs_2_moves_are_legal_and_by_turns() {
    check(START, "e2e4 e7e5 g1f3", "moved san=Nf3");
    check(START, "e4 e5 Nf3 Nc6 Bc4 Bc5 O-O", "moved san=O-O");
    check(START, "e2e5", "illegal_move");
    check(START, "p2:e7e5", "not_your_turn");
    check(KIWIPETE, "e1g1", "moved san=O-O");
    check(KIWIPETE, "e1h1", "illegal_move");
    check(START, "e4 a6 e5 d5 exd6", "moved san=exd6");
    check(START, "e4 a6 e5 d5 a3 a5 e5d6", "illegal_move");
    check("8/P6k/8/8/8/8/7P/K7 w - - 0 1", "a8=N", "moved san=a8=N");
    check("8/P6k/8/8/8/8/8/K7 w - - 0 1", "a7a8", "illegal_move");
    let malformed = play(&mut start(START), "Nf4").unwrap_err();
    assert!(malformed.starts_with("expected a move such as `e2e4`"), "{malformed}");
}

#[test]
fn cs_3_checkmate_stalemate_and_too_few_pieces_end_the_match() {
    check(START, "f3 e5 g4 Qh4#", "match_over by=checkmate winner=p2");
    check("7k/8/6K1/8/8/5Q2/8/8 w - - 0 1", "Qf7", "match_over by=stalemate winner=none");
    check("7k/8/8/8/8/8/6p1/6K1 w - - 0 1", "Kxg2", "match_over by=material winner=none");
    check("7k/8/8/8/8/b7/6pB/6K1 w - - 0 1", "Kxg2", "match_over by=material winner=none");
    check("7k/8/8/8/8/b7/B5p1/6K1 w - - 0 1", "Kxg2", "moved san=Kxg2");
    check("7k/8/8/8/1B6/b7/6p1/6K1 w - - 0 1", "Kxg2", "match_over by=material winner=none");
    let mut state = start(START);
    play(&mut state, "f3 e5 g4 Qh4#").unwrap();
    assert_eq!(play(&mut state, "e2e4"), Err("match_over".into()));
}

#[test]
fn cs_4_a_third_time_or_fifty_moves_is_a_draw() {
    let around = "Nf3 Nf6 Ng1 Ng8";
    check(START, around, "moved san=Ng8");
    check(START, &format!("{around} {around}"), "match_over by=repetition winner=none");
    check(START, &format!("{around} Nc3 Nc6 {around}"), "moved san=Ng8");
    // With the right to castle lost, the position after it is another one.
    check(KIWIPETE, "Kd1 Kd8 Ke1 Ke8 Kd1 Kd8 Ke1 Ke8", "moved san=Ke8");
    check(KIWIPETE, "Kd1 Kd8 Ke1 Ke8 Kd1 Kd8 Ke1 Ke8 Kd1", "moved san=Kd1");
    check(KIWIPETE, "Kd1 Kd8 Ke1 Ke8 Kd1 Kd8 Ke1 Ke8 Kd1 Kd8", "match_over by=repetition winner=none");
    // A pawn that can be captured en passant makes another position, one that cannot does not.
    check("4k3/8/8/8/1p6/8/P7/4K3 w - - 0 1", "a4 Ke7 Ke2 Ke8 Ke1 Ke7 Ke2 Ke8", "moved san=Ke8");
    check(
        "4k3/8/8/8/1p6/8/P7/4K3 w - - 0 1",
        "a4 Ke7 Ke2 Ke8 Ke1 Ke7 Ke2 Ke8 Ke1 Ke7",
        "match_over by=repetition winner=none",
    );
    check(
        "4k3/8/8/8/2p5/8/P7/4K3 w - - 0 1",
        "a4 Ke7 Ke2 Ke8 Ke1 Ke7 Ke2 Ke8 Ke1",
        "match_over by=repetition winner=none",
    );
    check("4k3/8/8/8/8/8/4P3/R3K3 w - - 98 80", "Ra2 Ke7", "match_over by=fifty moves winner=none");
    check("4k3/8/8/8/8/8/4P3/R3K3 w - - 98 80", "e3 Ke7", "moved san=Ke7");
    check("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "Ra8#", "match_over by=checkmate winner=p1");
}

#[test]
fn cs_5_a_draw_is_offered_and_accepted() {
    check(START, "p2:offer p1:accept", "match_over by=agreed winner=none");
    check(START, "p1:offer p1:accept", "no_offer");
    check(START, "p1:offer p2:offer", "offered");
    check(START, "p1:offer p2:decline p2:accept", "no_offer");
    check(START, "p1:offer e4 p2:accept", "match_over by=agreed winner=none");
    check(START, "p1:offer e4 e5 p2:accept", "no_offer");
}

#[test]
fn cs_6_a_player_may_resign_at_any_time() {
    check(START, "p2:resign", "match_over by=resignation winner=p1");
}

#[test]
fn cs_7_time_runs_out_for_the_player_to_move() {
    check(START, "tick_5", "no_clock");
    let timed = |fen: &str| {
        let clock = Some(Ticks::try_from(10).unwrap());
        Chess::start(&Setup { fen: fen.parse().unwrap(), clock, increment: 3 }).unwrap()
    };
    let mut state = timed(START);
    play(&mut state, "tick_9 e4 tick_10").unwrap();
    assert_eq!(play(&mut state, "e5"), Err("match_over".into()));
    assert_eq!(
        play(&mut timed(START), "tick_9 e4 tick_9 e5 tick_4").unwrap().last().unwrap(),
        "match_over by=time winner=p2"
    );
    let alone = timed("7k/8/8/8/8/8/P7/K7 w - - 0 1");
    assert_eq!(
        play(&mut alone.clone(), "tick_10").unwrap().last().unwrap(),
        "match_over by=time winner=none"
    );
}

#[test]
fn a_game_in_pgn_becomes_a_replay_file() {
    for (game, entries, last) in
        [("opera", 33, "33 p1 d1d8"), ("immortal", 45, "45 p1 d6e7"), ("century", 82, "82 p2 a2c2")]
    {
        let pgn = fs::File::open(format!("games/{game}.pgn")).unwrap();
        let made = Process::new(env!("CARGO_BIN_EXE_pgn")).stdin(pgn).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let made = String::from_utf8(made.stdout).unwrap();
        let (header, log) = made.rsplit_once("+++\n").unwrap();
        assert!(header.contains("ruleset = \"chess\"\nversion = 1\n"), "{header}");
        assert_eq!((log.lines().count(), log.lines().last()), (entries, Some(last)), "{game}");
    }
}

#[test]
fn comments_variations_and_signs_of_a_game_are_left_out() {
    let text = "[FEN \"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\"]\n\n\
                1.e4! {the best (by test)} e5?! $6 ; a line\n(1...c5 2.Nf3) 2. Nf3 1/2-1/2\n";
    let (made, error) = pgn(text);
    assert!(made.ends_with("1 p1 e2e4\n2 p2 e7e5\n3 p1 g1f3\n4 p1 offer\n5 p2 accept\n"), "{made}{error}");
}

fn pgn(text: &str) -> (String, String) {
    let mut made = Process::new(env!("CARGO_BIN_EXE_pgn"));
    let made = made.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut made = made.spawn().unwrap();
    made.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = made.wait_with_output().unwrap();
    [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).into()
}

#[test]
fn a_game_that_cannot_be_replayed_names_the_move() {
    for (pgn, expected) in
        [("1. e4 e5 2. Ke3 *", "Ke3"), ("1. e4 } *", "bracket"), ("[FEN \"x\"]\n\n*", "fen")]
    {
        let (made, error) = self::pgn(pgn);
        assert!(made.is_empty() && error.contains(expected), "{pgn}: {made}{error}");
    }
}
