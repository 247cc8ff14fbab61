"""Writes random games as python-chess exports them: `games.py COUNT SEED GAMES.pgn POSITIONS.txt`.

Comments hold brackets, semicolons, clocks and arrows; there are variations and signs; lines are wrapped at any width, and
in some games at any space, as where a mailer wrapped them. A game ends when it is over by the rules of the example, or
before. POSITIONS has the last position of each game, a line each.
"""

import random
import sys

import chess
import chess.pgn

STARTS = [
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/PPPk4/8/8/8/8/4Kppp/8 w - - 0 1",
    "4k3/8/8/8/1p6/8/P7/4K2R w K - 3 20",
]
TEXTS = [
    "a move (of many)",
    "good :-)",
    "alas :-( ; or not",
    "see {the book",
    "[not a tag]",
    "1-0 was possible",
    "100 % sure",
    "Ünder-promotion 3... Nf6 * $5",
    "two\nlines",
]


def comment(choose: random.Random) -> str:
    parts = []
    if choose.random() < 0.5:
        parts.append(f"[%clk {choose.randrange(2)}:{choose.randrange(60):02}:{choose.randrange(60):02}]")
    if choose.random() < 0.2:
        parts.append(f"[%eval {choose.randrange(-900, 900) / 100}]")
    if choose.random() < 0.4:
        parts.append(choose.choice(TEXTS))
    return " ".join(parts)


def is_over(board: chess.Board) -> bool:
    return (
        not any(board.legal_moves)
        or board.is_insufficient_material()
        or board.is_repetition(3)
        or board.halfmove_clock >= 100
    )


def play(choose: random.Random, number: int) -> chess.pgn.Game:
    game = chess.pgn.Game()
    start = choose.choice(STARTS) if choose.random() < 0.3 else chess.STARTING_FEN
    if start != chess.STARTING_FEN:
        game.setup(start)
    game.headers["Event"] = f"game {number}"
    game.headers["White"] = choose.choice(["Ann", "O'Hara \"the rook\"", "Jörg", "?", "back\\slash"])
    node: chess.pgn.GameNode = game
    if choose.random() < 0.2:
        game.comment = choose.choice(TEXTS)
    board = game.board()
    for _ in range(choose.randrange(1, 160)):
        if is_over(board):
            break
        moves = list(board.legal_moves)
        move = choose.choice(moves)
        if choose.random() < 0.1 and len(moves) > 1:
            other = choose.choice([each for each in moves if each != move])
        else:
            other = None
        parent, node = node, node.add_main_variation(move)
        node.comment = comment(choose)
        if choose.random() < 0.1:
            node.nags.add(choose.randrange(1, 20))
        if other:
            line = parent.add_variation(other)
            line.comment = comment(choose)
            line.starting_comment = choose.choice(["", "or ("])
        board.push(move)
    drawn = "1/2-1/2"
    ended = board.result() if board.is_checkmate() else drawn
    game.headers["Result"] = ended if is_over(board) else choose.choice(["1-0", "0-1", drawn, "*"])
    return game


def main() -> None:
    count, seed, games, positions = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    choose = random.Random(seed)
    with open(games, "w", encoding="utf-8") as pgn, open(positions, "w", encoding="utf-8") as last:
        for number in range(1, count + 1):
            game = play(choose, number)
            columns = choose.choice([None, 80, choose.randrange(20, 120)])
            text = game.accept(chess.pgn.StringExporter(columns=columns))
            if choose.random() < 0.3:
                tags, moves = text.split("\n\n", 1)
                moves = "".join("\n" if each == " " and choose.random() < 0.2 else each for each in moves)
                text = f"{tags}\n\n{moves}"
            pgn.write(text + "\n\n")
            last.write(game.end().board().fen() + "\n")


main()
