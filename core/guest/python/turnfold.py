"""Serves the rules of a game to turnfold, as a child process: `serve(game)` (RF-19). `turnfold help referees` has an
example.

Answers follow from their request alone, because turnfold may start another child at any time: after each entry the
game goes on from what the JSON text of its state reads back as, so a batch of entries equals single ones.
"""

import copy
import inspect
import json
import math
import os
import re
import sys
import traceback

__all__ = ["Applied", "Ignored", "Invalid", "No", "Rejected", "answer", "serve", "words"]


class Applied:
    """The command applies, with these effects; without `state`, the state that the game was given and changed."""

    def __init__(self, effects=(), state=None, to=None, texts=None):
        self.effects = effects
        self.state = state
        self.to = to
        self.texts = texts


class Ignored(Exception):
    """The command is recorded and changes nothing. `code` is one of the game's `ignored`. Raise or return it."""

    def __init__(self, code, text=None):
        super().__init__(code)
        self.code = code
        self.text = text


class Rejected(Exception):
    """The command is not recorded. `code` is one of the game's `rejected`, or `malformed` or `wrong_seat`."""

    def __init__(self, code, message):
        super().__init__(code, message)
        self.code = code
        self.message = message


class No(Exception):
    """A text cannot be read, or a question cannot be answered."""

    def __init__(self, message):
        super().__init__(message)
        self.no = str(message)


class Invalid(No):
    """The setup is wrong at `field`, such as `units.0.hp`."""

    def __init__(self, field, message):
        super().__init__(message)
        self.no = {"field": field, "message": message}


def words(command):
    """Splits a command at its blanks; what stands in double quotes stays together, without them."""
    found = re.findall(r'"(?:[^"\\]|\\.)*"|[^ ]+', command)
    return [json.loads(word) if word.startswith('"') else word for word in found]


class _Asked(BaseException):
    """Raised out of the game where it wants a value that no entry has given yet; `except Exception` does not stop it."""


class _Fault(Exception):
    """A fault of the game or of the request: its text is the answer's `fault`."""


_SHUFFLED_AT_ONCE = 256
_GREATEST = 2**31 - 1
# So many questions that a start which repeats a roll until it fits is stopped.
_QUESTIONS_MAX = 10_000


class Chance:
    """Hands out the values of the rolls so far, then asks for the next one."""

    def __init__(self, rolls, owner=None):
        self._rolls = list(rolls)
        self._owner = owner
        self._command = self._values = None
        self.due = None
        # Who sees the command that waits, and the values.
        self.shown_to = None, None

    def roll(self, sides, count=None, purpose="roll"):
        """One value from 1 to `sides`; with `count`, a list of them."""
        values = self.values(1, sides, 1 if count is None else count, purpose)
        return values[0] if count is None else values

    def range(self, low, high, purpose="roll"):
        """A whole number from `low` to `high`, both included."""
        return self.values(low, high, 1, purpose)[0]

    def number(self, purpose="number"):
        """A number from 0 to below 1, of 31 bits."""
        return self.values(0, _GREATEST, 1, purpose)[0] / 2**31

    def pick(self, items, purpose="pick"):
        """One of `items`."""
        return items[self.range(0, len(items) - 1, purpose)]

    def weighted(self, weights, purpose="chance"):
        """The index of one of `weights`, which are whole numbers."""
        left = self.range(1, sum(weights), purpose)
        for index, weight in enumerate(weights):
            left -= weight
            if left <= 0:
                return index
        raise AssertionError("a value is at most the sum")

    def shuffle(self, items, purpose="shuffle"):
        """A shuffled copy of `items`: one roll of as many values, by which it is sorted."""
        keys = []
        while len(keys) < len(items):
            count = min(len(items) - len(keys), _SHUFFLED_AT_ONCE)
            keys += self.values(0, _GREATEST, count, purpose)
        return [items[index] for index in sorted(range(len(items)), key=lambda index: (keys[index], index))]

    def of(self, seat):
        """This chance, for values that `seat` alone learns."""
        owned = self.shown(self._command, [seat])
        owned._owner = seat
        return owned

    def shown(self, command=None, values=None):
        """This chance, for a game with secrets: who sees its `values`, else the host and whose own they are, and who
        sees the `command` that waits for them, else who gave it. Each is `"all"` or a list of seats."""
        shown = copy.copy(self)
        shown._of = getattr(self, "_of", self)
        shown._command = command
        shown._values = [self._owner] if values is None and self._owner else values
        return shown

    def values(self, low, high, count, purpose="roll"):
        """`count` values from `low` to `high`."""
        for number in (low, high, count):
            if not isinstance(number, int):
                raise TypeError(f"chance: {number!r} is no whole number")
        if low > high or count < 1:
            raise ValueError(f"chance: {count} of {low} to {high}")
        if self._rolls:
            return self._rolls.pop(0)
        asked = getattr(self, "_of", self)
        # Kept besides being raised, because the game may catch what it raises.
        if asked.due is None:
            asked.due = {"purpose": purpose, "count": count, "low": low, "high": high}
            if self._owner:
                asked.due["owner"] = self._owner
            asked.shown_to = self._command, self._values
        raise _Asked


def _plain(value):
    """What numpy, torch and jax give for JSON: their own `tolist` and `item`."""
    for method in ("tolist", "item"):
        if hasattr(value, method):
            return getattr(value, method)()
    hint = "; JSON needs a sorted list" if isinstance(value, (set, frozenset)) else ""
    raise _Fault(f"there is a {type(value).__name__}, which JSON cannot hold{hint}")


def _write(value, what):
    """Writes a state, and names what JSON would lose."""
    try:
        return json.dumps(value, default=_plain, allow_nan=False, separators=(",", ":"))
    except _Fault as fault:
        raise _Fault(f"{what}: {fault}") from None
    except ValueError as error:
        if "circular" not in str(error).lower():
            raise _Fault(f"{what} has {_not_finite(value) or 'a number that JSON cannot hold'}") from None
        raise _Fault(f"{what} holds itself") from None
    except (TypeError, RecursionError) as error:
        raise _Fault(f"{what} cannot be written as JSON: {error}") from None


def _not_finite(value, path=""):
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} at {path or '/'}, which JSON cannot hold"
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    return next(filter(None, (_not_finite(part, f"{path}/{key}") for key, part in parts)), None)


def _number_key(value, path=""):
    """A key that is no text: JSON gives it back as text, and the game would not find it."""
    if isinstance(value, dict):
        for key, part in value.items():
            if not isinstance(key, str):
                return f"the key {key!r} at {path or '/'}, which comes back from JSON as text: use str({key!r})"
            found = _number_key(part, f"{path}/{key}")
            if found:
                return found
    elif isinstance(value, (list, tuple)):
        return next(filter(None, (_number_key(part, f"{path}/{index}") for index, part in enumerate(value))), None)
    return None


def _clone(value):
    return json.loads(json.dumps(value))


def _is_waiting(state):
    return isinstance(state, dict) and state.get("turnfold") == "waiting"


def _shown(state):
    """Where a match waits for a roll, people still look at the state before the command."""
    return state.get("state") if _is_waiting(state) else state


def _values_of(shown_to):
    """What a state that waits holds of who sees the values."""
    return {} if shown_to is None else {"values": shown_to}


def _codes(declared):
    return dict(declared) if isinstance(declared, dict) else {code: [] for code in declared or ()}


def _blocks(picture):
    """A picture: blocks as PROTOCOL.md has them, or text, each line of which is one line."""
    blocks = []
    for block in picture if isinstance(picture, list) else [picture]:
        if isinstance(block, str):
            lines = block.split("\n")
            block = {"lines": [{"spans": [{"text": line, "tint": "plain"}]} for line in lines]}
        blocks.append(block)
    return blocks


class _Referee:
    """Answers requests for one game: a class, an object, a module, or a dictionary such as `globals()`."""

    def __init__(self, game):
        game = game() if inspect.isclass(game) else game
        self._game = game if not isinstance(game, dict) else None
        self._names = game if isinstance(game, dict) else None
        self._takes = {}
        for method in ("start", "apply", "status"):
            if not callable(self.get(method)):
                raise TypeError(f"serve: the game has no function `{method}`")
        if not re.fullmatch("[a-z][a-z0-9]*", self.get("name") or ""):
            raise TypeError("serve: `name` must be a word of a-z and 0-9")
        if not isinstance(self.get("version"), int):
            raise TypeError("serve: `version` must be a whole number")
        if self.get("example") is None:
            raise TypeError("serve: `example` must be a setup")
        self.codes = {"ignored": _codes(self.get("ignored")), "rejected": _codes(self.get("rejected"))}

    def get(self, name):
        return self._names.get(name) if self._names is not None else getattr(self._game, name, None)

    def call(self, name, *args):
        """Calls a function of the game with as many arguments as it takes."""
        if name not in self._takes:
            parameters = inspect.signature(self.get(name)).parameters.values()
            every = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
            self._takes[name] = None if every else len(parameters)
        return self.get(name)(*args[: self._takes[name]])

    def answer(self, request):
        """Answers one request with the text of an answer."""
        number, op, args = json.dumps(request.get("id")), request.get("op"), request.get("args") or {}
        try:
            if op not in _OPERATIONS:
                raise _Fault(f"no operation `{op}`")
            return f'{{"id":{number},"ok":{_OPERATIONS[op](self, **args)}}}'
        except No as refusal:
            return f'{{"id":{number},"no":{json.dumps(refusal.no)}}}'
        except _Fault as fault:
            print(fault, file=sys.stderr, flush=True)
            text = str(fault)
        except Exception as error:
            traceback.print_exc()
            place = next((f" ({os.path.basename(frame.filename)}:{frame.lineno})"
                          for frame in reversed(traceback.extract_tb(error.__traceback__))
                          if frame.filename != __file__), "")
            text = f"{op}: {type(error).__name__}: {error}{place}"
        return f'{{"id":{number},"fault":{json.dumps(text.splitlines()[0])}}}'

    def hello(self, protocol=1, **_unknown):
        if protocol != 1:
            raise _Fault(f"this guest speaks protocol 1, not {protocol}")
        names = ("name", "version", "example", "summary", "rulebook", "queries", "mail", "secrets")
        about = {name: self.get(name) for name in names if self.get(name) is not None}
        can = [method for method in ("read", "query", "targets") if callable(self.get(method))]
        if callable(self.get("legal")) or callable(self.get("candidates")):
            can.append("legal")
        if callable(self.get("view")) or callable(self.get("picture")):
            can.append("see")
        return _write({**about, "can": can, **self.codes, "batches": True}, "hello")

    def ask(self, rolls, name, *args):
        """Calls the game where it may ask for chance: its outcome, and the roll that is due, if one is, with who sees the
        command and the values."""
        chance = Chance(rolls)
        try:
            outcome = self.call(name, *args, chance)
        except (Ignored, Rejected, No) as raised:
            outcome = raised
        except _Asked:
            outcome = None
        except Exception:
            if chance.due is None:
                raise
            outcome = None
        return outcome, chance.due, *chance.shown_to

    def start_with(self, setup, rolls):
        outcome, due, _, values = self.ask(rolls, "start", _clone(setup))
        if due:
            return {"turnfold": "waiting", "setup": setup, "players": self.players(setup, rolls), "rolls": rolls,
                    "due": due, **_values_of(values)}
        if isinstance(outcome, No) and not rolls:
            raise outcome
        if outcome is None or isinstance(outcome, (Applied, Exception)):
            raise _Fault(f"start answered {type(outcome).__name__}; expected a state")
        found = _number_key(outcome)
        if found:
            raise _Fault(f"the state has {found}")
        return outcome

    def players(self, setup, rolls):
        """The players of a match whose start still asks for chance: as if each value were the least."""
        values = list(rolls)
        for _ in range(_QUESTIONS_MAX):
            outcome, due, *_ = self.ask(values, "start", _clone(setup))
            if not due:
                return self.status(outcome)["players"]
            values.append([due["low"]] * due["count"])
        raise _Fault(f"start asks for more than {_QUESTIONS_MAX} rolls")

    def status(self, state):
        if _is_waiting(state):
            starting = "setup" in state
            before = {"players": state["players"], "over": False} if starting else self.status(state["state"])
            return {**before, "active": ["host"], "due": state["due"]}
        status = self.call("status", state)
        if not isinstance(status, dict):
            raise _Fault("status answered no dictionary")
        players = status.get("players")
        if isinstance(players, int):
            players = [f"p{index + 1}" for index in range(players)]
        if not players or not isinstance(players, (list, tuple)):
            raise _Fault('status: `players` must be a list of seats, such as ["p1", "p2"], or their number')
        over = status.get("over")
        return {**{key: value for key, value in status.items() if value is not None}, "players": players,
                "over": status.get("result") is not None if over is None else over}

    def entry(self, state, entry):
        """Applies one entry to a state; answers the outcome, and if the game asked the state that waits and who sees the
        entry."""
        roll = entry.get("roll")
        if roll is None:
            given = {"seat": entry["seat"], "command": entry["command"]}
            outcome, due, command, values = self.ask([], "apply", state, given["command"], given["seat"])
            waiting = due and {"turnfold": "waiting", "entry": given, "rolls": [], "due": due, **_values_of(values)}
            return outcome, waiting, command
        if not _is_waiting(state):
            if not callable(self.get("roll")):
                raise _Fault("a roll came, and the game has no function `roll`")
            return self.ask([], "roll", state, roll)[0], None, None
        rolls = state["rolls"] + [roll]
        # The values are shown to whom the game named when it asked, whoever may see the command.
        to = state.get("values")
        if "setup" in state:
            return Applied([], self.start_with(state["setup"], rolls), to), None, None
        given, before = state["entry"], state["state"]
        after = _clone(before)
        outcome, due, _, values = self.ask(rolls, "apply", after, given["command"], given["seat"])
        if due:
            waiting = {"turnfold": "waiting", "entry": given, "rolls": rolls, "due": due, **_values_of(values)}
            return None, {**waiting, "state": before}, to
        if isinstance(outcome, No):
            return outcome, None, None
        if isinstance(outcome, (Ignored, Rejected)):
            refused = {"effect": "refused", "code": outcome.code}
            if self.get("secrets") != "none":  # there `to` is a field like any other
                refused["to"] = [given["seat"]]
            return Applied([refused], before, to), None, None
        if not isinstance(outcome, Applied):
            outcome = Applied([], outcome)
        return Applied(outcome.effects, after if outcome.state is None else outcome.state, to, outcome.texts), None, None

    def fold(self, state=None, entries=(), want="all", **_unknown):
        text = _write(state, "the state")
        steps, stop, length = [], None, 0
        for entry in entries or ():
            outcome, waiting, to = self.entry(state, entry)
            if waiting:
                outcome = Applied([], {**waiting, "state": waiting.get("state", json.loads(text))}, to)
            if isinstance(outcome, (Ignored, Rejected, No)):
                self.check_code(outcome, entry)
                # The game may have changed the state before it saw that the command does not apply.
                state = json.loads(text)
                if isinstance(outcome, Rejected):
                    stop = {"code": outcome.code, "message": outcome.message}
                    break
                steps.append(json.dumps({"ignored": outcome.code, "text": outcome.text}))
                continue
            applied = outcome if isinstance(outcome, Applied) else Applied([], outcome)
            text = _write(state if applied.state is None else applied.state, "the state")
            state = json.loads(text)
            step = {"effects": _checked(applied.effects), "to": applied.to, "texts": applied.texts}
            written = _write({**step, "status": self.status(state)}, "an effect")
            steps.append(f'{written[:-1]},"state":{text}}}' if want == "all" else written)
            length += len(steps[-1])
            if length > 16_000_000:
                break
        tail = {"status": self.status(state)}
        if stop:
            tail["stop"] = stop
        return f'{{"steps":[{",".join(steps)}],"state":{text},{_write(tail, "the status")[1:]}'

    def check_code(self, outcome, entry):
        if isinstance(outcome, No):
            raise _Fault("apply answered `No` or `Invalid`; expected `Rejected(code, message)`")
        kind = "rejected" if isinstance(outcome, Rejected) else "ignored"
        always = kind == "rejected" and outcome.code in ("malformed", "wrong_seat")
        if not always and outcome.code not in self.codes[kind]:
            known = ", ".join(self.codes[kind]) or "none"
            raise _Fault(f"the game does not declare the code `{outcome.code}` in `{kind}` ({known});"
                         f" `{entry.get('command')}`")

    def legal_for(self, state, seat):
        """The commands that a seat may give: those that the game lists, or its candidates that apply."""
        if _is_waiting(state):
            return []
        if callable(self.get("legal")):
            return list(self.call("legal", _clone(state), seat) or ())
        commands = []
        for candidate in self.call("candidates", _clone(state), seat) or ():
            command = candidate["command"] if isinstance(candidate, dict) else candidate
            outcome, waiting, _ = self.entry(_clone(state), {"seat": seat, "command": command})
            if waiting or not isinstance(outcome, Exception):
                commands.append(candidate)
        return commands

    def start(self, setup, **_unknown):
        text = _write(self.start_with(setup, []), "the state")
        return f'{{"state":{text},"status":{_write(self.status(json.loads(text)), "the status")}}}'

    def legal(self, state, seats, **_unknown):
        return _write({seat: self.legal_for(state, seat) for seat in seats}, "the list of commands")

    def see(self, state, viewers, what=("view", "picture"), **_unknown):
        seen = {}
        for viewer in viewers:
            parts = seen[viewer] = {}
            if _shown(state) is None:
                continue
            if "view" in what and callable(self.get("view")):
                parts["view"] = self.call("view", _clone(_shown(state)), viewer)
            if "picture" in what and callable(self.get("picture")):
                parts["picture"] = _blocks(self.call("picture", _clone(_shown(state)), viewer))
        return _write(seen, "the view")

    def read(self, state, seat=None, text="", **_unknown):
        command = self.call("read", _shown(state), text, seat)
        if command is None:
            raise No(f"`{text}` is no command here")
        return _write(command, "the command")

    def query(self, state, question, viewer=None, **_unknown):
        found = self.call("query", _shown(state), question, viewer)
        return _write({"text": found} if isinstance(found, str) else found, "the answer")

    def targets(self, state, commands, **_unknown):
        found = [self.call("targets", command, _shown(state)) for command in commands]
        return _write([{"parts": target, "irreversible": False} if isinstance(target, list) else target
                       for target in found], "the targets")


_OPERATIONS = {name: getattr(_Referee, name)
               for name in ("hello", "start", "fold", "legal", "see", "read", "query", "targets")}


def _checked(effects):
    effects = list(effects)
    for effect in effects:
        if not (isinstance(effect, dict) and isinstance(effect.get("effect"), str)):
            raise _Fault(f"an effect needs its name in `effect`; found {effect!r}")
    return effects


def answer(game, request):
    """Answers one request, a dictionary, with an answer: for tests of a game."""
    return json.loads(_Referee(game).answer(_clone(request)))


def serve(game):
    """Answers turnfold's requests on standard input until it ends."""
    # Standard output carries answers only: C extensions print to descriptor 1, Python to `sys.stdout`.
    sys.stdout.flush()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))
    referee = _Referee(game)
    try:
        for line in sys.stdin.buffer:
            text = line.decode("utf-8-sig").strip()
            if not text:
                continue
            try:
                request = json.loads(text)
            except ValueError as error:
                print(f"a request is no JSON: {error}", file=sys.stderr, flush=True)
                answers.write('{"id":null,"fault":"a request is no JSON"}\n')
            else:
                answers.write(referee.answer(request) + "\n")
            answers.flush()
    except BrokenPipeError:
        os._exit(0)  # turnfold is gone
