# Makes a recording of a history of OpenSpiel: python3 openspiel.py 'connect_four' '3, 3, 2' > game.jsonl
import json, sys
import pyspiel
game = pyspiel.load_game(sys.argv[1])
history, state = json.loads(f"[{sys.argv[2]}]"), game.new_initial_state()
players = [f"player {player}" for player in range(game.num_players())]

seen = lambda: {"history": state.history(), "text": str(state).split("\n")}
print(json.dumps({"game": game.get_type().short_name, "secrets": "none", "players": players, "state": seen()}))
while history:
    if state.is_simultaneous_node():  # one number for each player
        joint, history = history[:len(players)], history[len(players):]
        text = " ".join(state.action_to_string(player, action) for player, action in enumerate(joint))
        line = {"seats": [f"p{player + 1}" for player in range(len(players))], "command": text}
        state.apply_actions(joint)
    else:
        action, player = history.pop(0), state.current_player()
        seat = "host" if state.is_chance_node() else f"p{player + 1}"
        line = {"seat": seat, "command": state.action_to_string(player, action)}
        state.apply_action(action)
    if state.is_terminal():
        scores = {f"p{player + 1}": value for player, value in enumerate(state.returns())}
        winners = [seat for seat, value in scores.items() if value == max(scores.values())]
        line["status"] = {"over": True, "result": {"winners": winners, "scores": scores}}
    print(json.dumps({**line, "state": seen()}))
