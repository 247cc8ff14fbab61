//! Whole games, step by step.

use super::*;
use crate::channel::{Table, play};

/// A game as it is played again.
struct Game {
    state: Box<dyn AnyState>,
    /// As it was when the turn began.
    turn: Box<dyn AnyState>,
}

fn table(game: &Value) -> Table {
    let places = (1..=3).flat_map(|row| (1..=3).map(move |col| format!("maya {row} {col}")));
    let places = places.chain(std::iter::repeat("bag".to_owned()));
    let energies = (1..).zip(array(&game["energies"])).zip(places);
    let energies: Vec<String> =
        energies.map(|((id, color), place): ((u16, _), _)| format!("{id} {} {place}", text(color))).collect();
    let mut table = Table { yinyang: game["yinyang"] == json!(true), ..Table::default() };
    for (tokens, known) in array(&game["start"]["insp"]).iter().zip(array(&game["start"]["known"])) {
        let seen = text(known).chars().zip(COLORS).filter(|(digit, _)| *digit != '0');
        let seen: Vec<&str> = seen.map(|(_, color)| color).collect();
        table = table.board(text(tokens), &format!("known = {seen:?}"));
    }
    table.energies(&energies.join(", "))
}

const COLORS: [&str; 7] = ["purple", "darkblue", "blue", "green", "yellow", "orange", "red"];

/// The setup with the plenitude of the recording.
fn setup(game: &Value) -> String {
    let values = COLORS.map(|color| format!("{color} = {}", game["plenitude"][color]));
    let toml = table(game).toml();
    let (before, rest) = toml.split_once("plenitude = {").unwrap();
    let (_, after) = rest.split_once('}').unwrap();
    format!("{before}plenitude = {{ {} }}{after}", values.join(", "))
}

#[test]
fn ch_4_to_ch_15_recorded_games_go_the_same_way() {
    let mut counts = Counts::default();
    for game in lines("games.jsonl") {
        let id = text(&game["id"]);
        let state = crate::channel::start(&setup(&game));
        compare_table(&*state, &game["start"], id);
        let mut played = Game { turn: state.fork(), state };
        counts.add("games", 1);
        for (number, step) in array(&game["steps"]).iter().enumerate() {
            compare_step(&mut counts, &mut played, step, &format!("{id}, step {number}"));
        }
        if game["end"] == json!("finished") {
            compare_final(&mut counts, &*played.state, &game, id);
        }
    }
    counts.check(&[
        ("CH-11 undone midway", 54),
        ("CH-4 takes of black and white", 1_421),
        ("CH-4 takes of the last token", 17_485),
        ("CH-9 channels not offered", 0),
        ("CH-9 dead moves", 0),
        ("CH-9 moves into a full earth", 0),
        ("CH-9 moves that only such a move completes", 0),
        ("final scores", 90),
        ("games", 41),
        ("games to the end", 36),
        ("lists of channels", 4_057),
        ("moves", 27_343),
        ("refusals", 3_891),
        ("sets of moves", 2_948),
        ("steps", 8_679),
        ("takes", 111_374),
    ]);
}

fn compare_step(counts: &mut Counts, game: &mut Game, step: &Value, place: &str) {
    let player = seat(&step["player"]);
    let (args, command) = (&step["args"], command(&step["do"]));
    counts.add("steps", 1);
    match text(&step["state"]) {
        "take" => {
            game.turn = game.state.fork();
            compare_choices(counts, &*game.state, player, args, place);
        }
        "channel" => {
            let done = args["undo"] == json!(1);
            let expected = if done { "confirm" } else { "channel" };
            assert_eq!(view(&*game.state, player)["state"], json!(expected), "{place}");
            if !done {
                compare_moves(counts, &*game.state, args, place);
            }
        }
        "pickColor" => {
            for color in array(&args["accepted"]) {
                assert_eq!(
                    rejection(&*game.state, player, &format!("pick {}", text(color))),
                    None,
                    "{place}"
                );
            }
        }
        other => panic!("{place}: unknown state {other}"),
    }
    for refused in array(&step["refused"]) {
        compare_refusal(counts, &*game.state, player, &refused["do"], place);
    }
    if command == "undo" && args["undo"] == json!(0) {
        // CH-11: the recording goes back to the start of the turn midway, too.
        assert_eq!(rejection(&*game.state, player, &command).as_deref(), Some("wrong_phase"), "{place}");
        game.state = game.turn.fork();
        counts.add("CH-11 undone midway", 1);
    } else {
        play(&mut *game.state, player, &command);
        let undone = command == "undo" || command == "cancel";
        assert!(!undone || game.state.state_hash() == game.turn.state_hash(), "{place}");
    }
    compare_table(&*game.state, &step["after"], place);
}

/// Writes a recorded command as ours.
fn command(recorded: &Value) -> String {
    let words = array(recorded);
    match (text(&words[0]), &words[1..]) {
        ("take", [ids, row]) => take_command(&(row.as_u64().unwrap(), numbers(ids))),
        (verb, words) => {
            let words = words.iter().map(|word| word.as_str().map_or_else(|| word.to_string(), String::from));
            std::iter::once(verb.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
        }
    }
}

fn compare_refusal(counts: &mut Counts, state: &dyn AnyState, player: Seat, refused: &Value, place: &str) {
    let code = rejection(state, player, &command(refused));
    assert!(code.is_some(), "{place}: `{}` was refused", command(refused));
    counts.add("refusals", 1);
}

fn compare_table(state: &dyn AnyState, after: &Value, place: &str) {
    let view = view(state, Seat::Host);
    let phase = match text(&after["state"]) {
        "gameEnd" => "over",
        "pickColor" => "pick_color",
        "channel" if view["state"] == json!("confirm") => "confirm",
        other => other,
    };
    assert_eq!(view["state"], json!(phase), "{place}");
    if phase != "over" {
        assert_eq!(view["active"], json!(seat(&after["player"]).name()), "{place}");
    }
    assert_eq!(view["maya"], after["maya"], "{place}");
    assert_eq!(view["bag"]["total"], after["bag"], "{place}");
    assert_eq!(view["out"], after["out"], "{place}");
    for (number, player) in array(&view["players"]).iter().enumerate() {
        assert_eq!(player["rows"], after["boards"][number], "{place}");
        assert_eq!(player["tokens"], after["insp"][number], "{place}");
        assert_eq!(player["score"], after["score"][number], "{place}");
        assert_eq!(player["yinyang_halves"], after["yinyang"][number], "{place}");
        let known: Vec<String> =
            COLORS.map(|color| player["known"][color].as_u64().unwrap_or(0).to_string()).into();
        assert_eq!(known.concat(), text(&after["known"][number]), "{place}");
    }
    if phase == "channel" || phase == "confirm" {
        // CH-17; the recording writes a choice of 0 before the first move, too.
        let globals = numbers(&after["globals"]);
        let choice = view["choice"].as_u64().unwrap_or(0);
        let found = [&view["channel"], &view["step"], &json!(choice), &view["already_moved_code"]];
        assert_eq!(found.map(|number| number.as_u64().unwrap()), globals[..4], "{place}");
    }
}

/// CH-15
fn compare_final(counts: &mut Counts, state: &dyn AnyState, game: &Value, place: &str) {
    let view = view(state, Seat::P1);
    let scores: Vec<u64> = array(&game["final"]).iter().map(|last| last["score"].as_u64().unwrap()).collect();
    let highest = scores.iter().max();
    let winners = (1..).zip(&scores).filter(|(_, score)| Some(*score) == highest);
    let winners: Vec<String> = winners.map(|(number, _): (u8, _)| format!("p{number}")).collect();
    assert_eq!(view["winners"], json!(winners), "{place}");
    for (player, score) in array(&view["players"]).iter().zip(&scores) {
        assert_eq!(player["score"], json!(score), "{place}");
        counts.add("final scores", 1);
    }
    counts.add("games to the end", 1);
}
