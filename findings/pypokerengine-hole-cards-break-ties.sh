#!/bin/sh
# PyPokerEngine gives the pot to the higher hole card where the best hand lies on the board.
#
# In hold'em the best five of seven cards count, and equal fives share the pot. PyPokerEngine
# compares the kind of hand, one or two ranks of it, and then the two cards in the player's hand,
# also where neither is among the five. So with a royal flush on the board one player takes all, and
# of two flushes with the same top card the wrong one may win. A straight from ace to five, which
# the rules know, counts as no straight. The engine is made for training poker programs, and with
# random cards one showdown of two players in 24 has another result in `treys`. Most hands are
# right, so a few tests pass, and nothing warns. A log of hands that this engine played fails in any
# other program that judges the cards again. Open issues of the project describe both cases.
#
# PyPokerEngine 1.0.1, treys 0.1.8. Seen: the royal board leaves stacks of 80 and 120 instead of 100
# and 100, the ace to five 80 and 120 instead of 120 and 80, and 821 of 20000 random showdowns
# differ. Exits with 1 once that changes. Needs python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check --no-compile PyPokerEngine==1.0.1 treys==0.1.8
cat > showdown.py <<'PYTHON'
import random

from pypokerengine.api.emulator import Emulator
from pypokerengine.engine.card import Card
from pypokerengine.engine.deck import Deck
from pypokerengine.engine.hand_evaluator import HandEvaluator
from pypokerengine.players import BasePokerPlayer
from treys import Card as TreysCard
from treys import Evaluator

evaluator = Evaluator()


class Caller(BasePokerPlayer):
    def declare_action(self, valid_actions, hole_card, round_state):
        return "call", valid_actions[1]["amount"]


def cards(text):
    return [Card.from_str(card) for card in text.split()]


def engine_compare(board, ann, bo):
    ann_value, bo_value = (HandEvaluator.eval_hand(cards(hole), cards(board)) for hole in (ann, bo))
    return (ann_value > bo_value) - (ann_value < bo_value)


def treys_cards(text):
    return [TreysCard.new(card[1] + card[0].lower()) for card in text.split()]


def treys_compare(board, ann, bo):
    board = treys_cards(board)
    ann_rank, bo_rank = (evaluator.evaluate(board, treys_cards(hole)) for hole in (ann, bo))
    return (ann_rank < bo_rank) - (ann_rank > bo_rank)  # a lower rank is better


for name, board, ann, bo in (
    ("royal board", "SA SK SQ SJ ST", "H2 H3", "HA D3"),
    ("ace to five", "D2 D3 H4 S5 CK", "SA D9", "HK C8"),
):
    emulator = Emulator()
    emulator.set_game_rule(player_num=2, max_round=1, small_blind_amount=10, ante_amount=0)
    players = {player: {"name": player, "stack": 100} for player in ("ann", "bo")}
    for player in players:
        emulator.register_player(player, Caller())
    state = emulator.generate_initial_game_state(players)
    order = [card.to_id() for card in cards(f"{ann} {bo} {board}")]
    state["table"].deck = Deck(cheat=True, cheat_card_ids=order)
    state, _ = emulator.start_new_round(state)
    holes = [" ".join(map(str, player.hole_card)) for player in state["table"].seats.players]
    state, _ = emulator.run_until_round_finish(state)
    stacks = " ".join(str(player.stack) for player in state["table"].seats.players)
    winner = {1: "ann", 0: "shared", -1: "bo"}[treys_compare(board, ann, bo)]
    print(f"{name}: ann {holes[0]}, bo {holes[1]}, board {board}: stacks {stacks}; treys: {winner}")

deck = [suit + rank for suit in "SHDC" for rank in "23456789TJQKA"]
rng = random.Random(1)
differ = 0
for _ in range(20000):
    dealt = rng.sample(deck, 9)
    hands = " ".join(dealt[:5]), " ".join(dealt[5:7]), " ".join(dealt[7:])
    differ += engine_compare(*hands) != treys_compare(*hands)
print(f"random: {differ} of 20000 differ")
PYTHON
venv/bin/python showdown.py | tee seen
grep -qx 'royal board: ann H2 H3, bo HA D3, board SA SK SQ SJ ST: stacks 80 120; treys: shared' seen
grep -qx 'ace to five: ann SA D9, bo HK C8, board D2 D3 H4 S5 CK: stacks 80 120; treys: ann' seen
differ=$(sed -n 's/^random: \([0-9]*\) of 20000 differ$/\1/p' seen)
[ "$differ" -ge 700 ] && [ "$differ" -le 950 ]
