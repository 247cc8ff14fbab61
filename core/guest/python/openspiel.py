"""Serves a game of OpenSpiel to turnfold: `python3 openspiel.py connect_four`. It needs the package `open_spiel`.

A state is the history of a match. A command is `act N`, with the number that OpenSpiel gives the action; player 0 is p1.
A setup has the parameters of the game, such as `board_size = 5`.
"""

import json
import math
import os
import random
import sys
from fractions import Fraction

import pyspiel

try:
    import open_spiel.python.games  # registers games that are written in Python
except ImportError:
    pass

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from turnfold import Applied, Invalid, No, Rejected, serve  # noqa: E402

# Six dice of six sides have so many outcomes in order of five; weights beyond that are rounded.
WEIGHT_MAX = 7776
TRIAL_STEPS = 300


def weights_of(chances):
    """Whole numbers in the proportion of the probabilities."""
    parts = [Fraction(chance).limit_denominator(WEIGHT_MAX) for chance in chances]
    whole = math.lcm(*(part.denominator for part in parts))
    if whole <= max(WEIGHT_MAX, len(parts)) and sum(parts) == 1:
        return [int(part * whole) for part in parts]
    return [max(1, round(chance * WEIGHT_MAX)) for chance in chances]


def last_line(error):
    return str(error).strip().splitlines()[-1]


def number(value):
    return int(value) if float(value).is_integer() else float(value)


def replay(state, history):
    """Applies the numbers of a flat history: one for a node, at a joint node one for each player."""
    history = list(history)
    while history:
        if state.is_simultaneous_node():
            count = state.num_players()
            state.apply_actions(history[:count])
            del history[:count]
        else:
            state.apply_action(history.pop(0))
    return state


class OpenSpiel:
    """The referee of a game, by its name or as `hex(board_size=5)`; hidden information makes it `closed`."""

    rejected = {"illegal": []}

    def __init__(self, name, version=None, example=None):
        self.game_name = name
        try:
            game = self.load({})
        except (pyspiel.SpielError, IndexError) as error:
            raise SystemExit(f"{name} cannot be loaded: {last_line(error)}") from None
        kind = game.get_type()
        if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
            raise SystemExit(f"{name} is a mean-field game, which has no players")
        if game.num_players() > 16:
            raise SystemExit(f"{name} has more than 16 players")
        self.name = "".join(letter for letter in kind.short_name.lower() if letter.isalnum())
        if not self.name[0].isalpha():
            self.name = f"game{self.name}"
        # The number of an action may mean another action in another version of the package.
        self.version = package_version() if version is None else version
        self.example = {} if example is None else example
        self.summary = f"{kind.long_name} of OpenSpiel"
        is_open = kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
        is_joint = kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
        self.secrets = "none" if is_open and not is_joint else "closed"
        self.walked = None
        self.try_history(game)

    def load(self, setup):
        if "(" not in self.game_name:
            return pyspiel.load_game(self.game_name, setup)
        if setup:
            raise TypeError("this game has its parameters in its name")
        return pyspiel.load_game(self.game_name)

    def try_history(self, game):
        """Some games have a history that does not lead to the same state again."""
        try:
            is_restored = self.is_restored(game)
        except pyspiel.SpielError as error:
            raise SystemExit(f"{self.game_name} cannot be replayed from a history: {last_line(error)}") from None
        if not is_restored:
            raise SystemExit(f"a history of {self.game_name} does not lead to the same state again")

    def is_restored(self, game):
        chooser = random.Random(1)
        for _ in range(3):
            state = game.new_initial_state()
            for _ in range(TRIAL_STEPS):
                if state.is_terminal():
                    break
                if state.is_simultaneous_node():
                    choices = [state.legal_actions(player) or [0] for player in range(game.num_players())]
                    state.apply_actions([chooser.choice(actions) for actions in choices])
                else:
                    state.apply_action(chooser.choice(state.legal_actions()))
            again = replay(game.new_initial_state(), state.history())
            if str(again) != str(state) or list(again.returns()) != list(state.returns()):
                return False
        return True

    def at(self, state):
        """The state of OpenSpiel: the last one walked on, if it is on the way. `undo_action` is not used: it has bugs."""
        setup, history = json.dumps(state["setup"], sort_keys=True), state["history"]
        walked = self.walked
        if walked is None or walked[0] != setup or walked[1] != history[: len(walked[1])]:
            walked = (setup, [], self.load(state["setup"]).new_initial_state())
        reached = replay(walked[2], history[len(walked[1]):])
        self.walked = (setup, list(history), reached)
        return reached

    def start(self, setup):
        try:
            game = self.load(setup)
        except (pyspiel.SpielError, TypeError) as error:
            raise Invalid(next(iter(setup), "setup"), last_line(error)) from None
        if game.num_players() > 16:
            raise Invalid("players", "expected at most 16")
        return {"setup": setup, "history": []}

    def waiting(self, spiel, state):
        """The players that a node waits for."""
        if spiel.is_terminal() or spiel.is_chance_node():
            return []
        if not spiel.is_simultaneous_node():
            return [spiel.current_player()]
        given = state.get("given", {})
        return [player for player in range(spiel.num_players())
                if f"p{player + 1}" not in given and spiel.legal_actions(player)]

    def apply(self, state, command, seat):
        spiel = self.at(state)
        word, _, digits = command.partition(" ")
        if word != "act" or not digits.isdecimal() or str(int(digits)) != digits:
            raise Rejected("malformed", "expected `act N`")
        player, action = int(seat[1:]) - 1 if seat != "host" else -1, int(digits)
        if player not in self.waiting(spiel, state):
            raise Rejected("wrong_seat", f"the match does not wait for {seat}")
        if action not in spiel.legal_actions(player):
            raise Rejected("illegal", f"action {action} is not legal here")
        effects = [{"effect": "acted", "action": action, "text": spiel.action_to_string(player, action)}]
        if not spiel.is_simultaneous_node():
            return Applied(effects, self.played(state, [action]))
        # Each player commits; the last one resolves the joint action.
        given = {**state.get("given", {}), seat: action}
        state = {**state, "given": given}
        if self.waiting(spiel, state):
            return Applied(effects, state)
        joint = [given.get(f"p{index + 1}", 0) for index in range(spiel.num_players())]
        del state["given"]
        return Applied(effects + [{"effect": "resolved", "actions": joint}], self.played(state, joint))

    def played(self, state, actions):
        return {**state, "history": state["history"] + actions}

    def roll(self, state, values):
        spiel = self.at(state)
        outcomes, chances = zip(*spiel.chance_outcomes())
        left = values[0]
        for outcome, weight in zip(outcomes, weights_of(chances)):
            left -= weight
            if left <= 0:
                break
        text = spiel.action_to_string(pyspiel.PlayerId.CHANCE, outcome)
        return Applied([{"effect": "chance", "action": outcome, "text": text}], self.played(state, [outcome]))

    def status(self, state):
        spiel = self.at(state)
        status = {"players": spiel.num_players(), "active": [f"p{player + 1}" for player in self.waiting(spiel, state)]}
        if spiel.is_chance_node():
            weights = weights_of([chance for _, chance in spiel.chance_outcomes()])
            due = {"purpose": "chance", "count": 1, "low": 1, "high": sum(weights)}
            return {**status, "active": ["host"], "due": due}
        if spiel.is_terminal():
            returns = [number(value) for value in spiel.returns()]
            scores = {f"p{player + 1}": value for player, value in enumerate(returns)}
            winners = [seat for seat, value in scores.items() if value == max(returns)]
            if len(returns) > 1 and min(returns) == max(returns):
                return {**status, "result": {"draw": True, "scores": scores}}
            return {**status, "result": {"winners": winners, "scores": scores}}
        return status

    def legal(self, state, seat):
        spiel = self.at(state)
        player = int(seat[1:]) - 1 if seat != "host" else -1
        if player not in self.waiting(spiel, state):
            return []
        return [f"act {action}" for action in spiel.legal_actions(player)]

    def read(self, state, text, seat):
        spiel = self.at(state)
        for player in self.waiting(spiel, state):
            if seat in (None, f"p{player + 1}"):
                for action in spiel.legal_actions(player):
                    if text in (f"act {action}", str(action), spiel.action_to_string(player, action)):
                        return {"command": f"act {action}", "seat": f"p{player + 1}"}
        raise No(f"`{text}` is no legal action here")

    def text(self, state, viewer):
        """What a viewer sees, as OpenSpiel writes it."""
        spiel = self.at(state)
        kind = spiel.get_game().get_type()
        if viewer == "host" or self.secrets == "none":
            return str(spiel)
        if viewer == "spectator" or int(viewer[1:]) > spiel.num_players():
            return ""
        player = int(viewer[1:]) - 1
        if kind.provides_observation_string:
            return spiel.observation_string(player)
        return spiel.information_state_string(player) if kind.provides_information_state_string else ""

    def view(self, state, viewer):
        view = {"text": self.text(state, viewer).split("\n")}
        if viewer == "host" or self.secrets == "none":
            view["history"] = state["history"]
        return view

    def picture(self, state, viewer):
        return self.text(state, viewer)


def package_version():
    from importlib.metadata import version
    major, minor, *rest = (int("".join(filter(str.isdigit, part)) or 0) for part in version("open_spiel").split("."))
    return major * 10_000 + minor * 100 + (rest[0] if rest else 0)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("expected the name of a game, such as `connect_four`")
    serve(OpenSpiel(sys.argv[1]))
