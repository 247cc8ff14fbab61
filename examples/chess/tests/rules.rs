//! The rules of chess: laws, published counts of moves, and each rule by its id.

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
    // Rooks elsewhere are Chess960, whose castling the moves of this game cannot name.
    let fen = "1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1".parse().unwrap();
    let error = Chess::start(&Setup { fen, ..Setup::default() }).unwrap_err().to_string();
    assert!(error.contains("a king castles with rooks on the files a and h"), "{error}");
}

/// A square that no pawn can capture on is no part of what is shown, as in the notation of most programs.
#[test]
fn a_view_has_the_en_passant_square_only_if_a_pawn_can_use_it() {
    let fen_after = |commands| {
        let mut state = start(START);
        play(&mut state, commands).unwrap();
        let view = Chess::view(&state, turnfold_core::Perspective::Seat(turnfold_core::Seat::P1));
        serde_json::to_value(view).unwrap()["fen"].as_str().unwrap().to_owned()
    };
    assert_eq!(fen_after("e4"), "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
    assert_eq!(fen_after("e4 a6 e5 d5"), "rnbqkbnr/1pp1pppp/p7/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3");
    // The pawn next to it is pinned.
    let pinned = "8/8/8/8/k2p3R/8/4P3/4K3 w - - 0 1";
    let mut state = start(pinned);
    play(&mut state, "e4").unwrap();
    let view = Chess::view(&state, turnfold_core::Perspective::Spectator);
    let fen = serde_json::to_value(view).unwrap()["fen"].as_str().unwrap().to_owned();
    assert_eq!(fen, "8/8/8/8/k2pP2R/8/8/4K3 b - - 0 1");
}

#[test]
fn cs_2_moves_are_legal_and_by_turns() {
    check(START, "e2e4 e7e5 g1f3", "moved san=Nf3");
    check(START, "e4 e5 Nf3 Nc6 Bc4 Bc5 O-O", "moved san=O-O");
    check(START, "e2e5", "illegal_move");
    check(START, "p2:e7e5", "not_your_turn");
    check(KIWIPETE, "e1g1", "moved san=O-O");
    check(KIWIPETE, "e1h1", "illegal_move");
    check(KIWIPETE, "Kxh1", "illegal_move");
    check(KIWIPETE, "Kxa1", "illegal_move");
    check(KIWIPETE, "O-O-O", "moved san=O-O-O");
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
    // By FIDE these may be draws: a knight against a queen, a bishop against a rook, and locked pawns.
    for fen in [
        "8/7k/3n4/8/2Q5/8/8/5K2 w - - 0 1",
        "6k1/3b4/8/8/2R5/8/8/5K2 w - - 0 1",
        "4k3/8/8/1p1p1p1p/1P1P1P1P/8/8/4K3 w - - 0 1",
    ] {
        assert_eq!(play(&mut timed(fen), "tick_10").unwrap().last().unwrap(), "match_over by=time winner=p2");
    }
}
