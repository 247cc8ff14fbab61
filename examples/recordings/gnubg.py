# Makes a recording of a match of gnubg: MATCH=match.sgf gnubg -t -q -p gnubg.py, which writes match.jsonl.
import json, os
import gnubg

path = os.environ["MATCH"]
gnubg.command(f"load match {path}")
match, seats = gnubg.match(analysis=0, boards=1), {"X": "p1", "O": "p2"}
players = [match["match-info"][side]["name"] for side in seats]
with open(os.path.splitext(path)[0] + ".jsonl", "w") as out:
    for game in match["games"]:
        info, actions = game["info"], game["game"]
        state = {"board": actions[0]["board"], "cube": 1, "score": [info["score-X"], info["score-O"]]}
        lines = [{"game": "backgammon", "secrets": "none", "players": players, "state": state}]
        for action, after in zip(actions, [*actions[1:], {}]):  # the board of each is the one before it
            points = [f"{a}/{b}".replace("25/", "bar/").replace("/0", "/off") for a, b in action.get("move") or []]
            command = " ".join([action["action"], *map(str, action.get("dice", [])), *points])
            board, cube = after.get("board") or state["board"], state["cube"] * (2 if command == "take" else 1)
            state = {**state, "board": board, "cube": cube}
            lines.append({"seat": seats[action["player"]], "command": command, "state": state})
        if info["winner"]:
            winner, reason = seats[info["winner"]], "resigned" if info["resigned"] else command.split()[0]
            result = {"winners": [winner], "reason": reason, "scores": {winner: info["points-won"]}}
            lines.append({"status": {"over": True, "result": result}})
        out.writelines(json.dumps(line) + "\n" for line in lines)
