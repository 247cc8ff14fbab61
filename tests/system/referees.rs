//! Rules as programs in other languages and from independent packages (RF-19 and the tests of the spec), with the real
//! program. Missing requirements are reported as SKIPPED by name.
//!
//! `npm ci --prefix fixtures/referees/npm` installs the packages of npm. `TURNFOLD_OPEN_SPIEL`, `TURNFOLD_PYTHON_CHESS`
//! and `TURNFOLD_CATANATRON` name the program folder of an environment with that package from `PyPI`. Otherwise the
//! package is installed. pgx is large, so it is used only with `TURNFOLD_PGX`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use turnfold_tests::document::Document;
use turnfold_tests::is_long;
use turnfold_tests::parts::{has, python, skipped};
use turnfold_tests::sandbox::{Sandbox, binary, workspace};
use turnfold_tests::service::Running;

const OPEN_SPIEL: &str = "open_spiel==2.0.2";
const PYTHON_CHESS: &str = "chess==1.11.2";
const CATANATRON: &str = "catanatron==3.2.1";

fn fixture(name: &str) -> PathBuf {
    workspace().join("fixtures/referees").join(name)
}

/// Returns `true` if a package of npm is installed.
fn npm(what: &str, package: &str) -> bool {
    let there = has("node") && fixture("npm/node_modules").join(package).exists();
    if !there {
        skipped(what, "`npm ci --prefix fixtures/referees/npm` installs what is missing");
    }
    there
}

/// Runs a program, requires it to succeed, and returns its output.
#[track_caller]
fn done(program: impl AsRef<Path>, args: &[&str]) -> String {
    let output = Command::new(program.as_ref()).args(args).current_dir(workspace()).output().unwrap();
    let [printed, messages] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{args:?}: {printed}\n{messages}");
    printed
}

/// A referee, and queries about a match of its game.
struct Engine<'a> {
    name: &'a str,
    command: String,
    dice: &'a str,
    /// A condition that becomes true in random play.
    condition: &'a str,
    /// A field of the view.
    field: &'a str,
}

/// Returns the engines of the guide's table, which answer every verb.
fn engines_of_the_guide() -> BTreeSet<String> {
    let guide = Document::read("docs/guide/referees.md");
    let (_, section) = guide.text.split_once("\n## Engines that were tried\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    let cells = rows.filter_map(|row| row.split('|').nth(2));
    let names = cells.flat_map(|cell| cell.split(',').map(|name| name.trim().trim_matches('`').to_owned()));
    names.collect()
}

/// Plays a random match, and runs each verb that folds it.
#[track_caller]
fn verbs(engine: &Engine<'_>) {
    let Engine { name, command, dice, condition, field } = engine;
    assert!(engines_of_the_guide().contains(*name), "the guide's table has `{name}`");
    let sandbox = Sandbox::new();
    let ok = |line: &str| {
        let output = sandbox.run(&format!("{line} --referee \"{command}\""));
        let [printed, messages] =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(output.status.success(), "{name}: turnfold {line}: {printed}{messages}");
        printed
    };
    std::fs::create_dir(sandbox.path("golden")).unwrap();
    let seeds = if *dice == "seeded" { " --dice seeded" } else { "" };
    for seed in [3, 4] {
        ok(&format!("simulate --rules {name}{seeds} --seed {seed} --steps 40 -o golden/{seed}.tfl"));
    }
    ok("check golden");
    ok("import golden/3.tfl --name game");
    let entries = ok("log game").lines().count();
    assert!(entries >= 2, "{name}: play went on for {entries} entries");
    ok("verify game");
    ok("show game");
    ok("legal game:0");
    ok("branch game:1 other");
    let parted = sandbox.run(&format!("diff game game@other --referee \"{command}\""));
    assert_eq!(parted.status.code(), Some(1), "{name}: a shorter history parts from the whole one");
    ok(&format!("bisect game --when \"{condition}\""));
    ok(&format!("blame game {field}"));
    ok(&format!("shrink game --when \"{condition}\" -o small.tfl"));
    ok("check small.tfl");
    ok(&format!("find --when \"{condition}\" golden"));
    ok(&format!("table fields --field {field} golden"));
    ok("table groups golden");
    ok("export game --html -o page.html");
    ok("bless golden");
    ok(&format!("new fresh --rules {name}{seeds}"));
    for _ in 0..10 {
        let legal = ok("legal fresh");
        if let Some(first) = legal.lines().next() {
            ok(&format!("play fresh \"{first}\""));
            break;
        }
        // A roll is due, and `play` executes it.
        ok("play fresh");
    }
    let is_of_player = |line: &str| line.split(' ').nth(1).is_some_and(|seat| seat.starts_with('p'));
    assert!(ok("log fresh").lines().any(is_of_player), "{name}: the first command is recorded");
    let service =
        Running::start_by(sandbox.command(["--referee", command, "serve", "--listen", "127.0.0.1:0"]));
    let grant = service.grant("game", &json!({ "kind": "seat", "seat": "p1" }).to_string());
    for what in ["view", "legal"] {
        let path = format!("/v1/matches/game/branches/main/{what}");
        let reply = service.send("GET", &path, grant["token"].as_str().unwrap(), "");
        assert_eq!(reply.status, 200, "{name}: {what}: {}", reply.body);
    }
}

/// RF-21: the tests run every engine that the table names.
#[test]
fn rf_21_the_engines_of_the_guide_are_those_of_these_tests() {
    let source = fs::read_to_string(workspace().join("tests/system/referees.rs")).unwrap();
    let engines = engines_of_the_guide();
    assert!(engines.len() >= 17, "{engines:?}");
    for name in engines {
        assert!(source.contains(&format!("\"{name}\"")), "no test asks `{name}`");
    }
}

#[test]
fn charge_in_javascript_and_in_python_is_one_game() {
    let commands = [
        ("node", format!("node {}", fixture("charge.js").display())),
        ("python3", format!("python3 {}", fixture("charge.py").display())),
    ];
    let mut recorded = Vec::new();
    for (program, command) in commands {
        if !has(program) {
            skipped("the charge meter", format_args!("`{program}` is not here"));
            continue;
        }
        let sandbox = Sandbox::new();
        let line = format!("simulate --rules charge --seed 7 --steps 60 -o game.tfl --referee \"{command}\"");
        assert!(sandbox.run(&line).status.success(), "{line}");
        recorded.push(sandbox.read("game.tfl"));
        verbs(&Engine {
            name: "charge",
            command,
            dice: "recorded",
            condition: "/units/0/charge > 0",
            field: "/turn",
        });
    }
    // Commands, effects and the hash of every state are equal.
    assert!(recorded.windows(2).all(|pair| pair[0] == pair[1]));
}

/// In a game with secrets, rolled values are shown to the seats that the game names in its request, whoever may see the
/// command.
#[test]
fn rf_13_values_are_shown_to_whom_the_game_names() {
    let mut logs = Vec::new();
    for (interpreter, name) in [("node", "hand.js"), ("python3", "hand.py")] {
        if !has(interpreter) {
            skipped(name, format_args!("`{interpreter}` is not here"));
            continue;
        }
        let sandbox = Sandbox::new();
        let run = |line: &str| {
            sandbox.ok(&format!("{line} --referee \"{interpreter} {}\"", fixture(name).display()))
        };
        run(
            "new game --rules hand --dice seeded --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
        );
        let played = run("play game \"p1: fight\" \"p2: draw\"");
        assert!(played.contains("3 host roll 1976545984 308307581 241271587 2025107238 => fought dice=2 #"));
        let open = "1 p1 fight => applied\n2 host roll 2 => applied\n3 host ? => fought dice=2\n";
        for viewer in ["p1", "spectator"] {
            assert_eq!(run(&format!("log game --as {viewer}")), open, "{name}, {viewer}");
        }
        let own = run("log game --as p2");
        assert_eq!(own, format!("{open}4 p2 draw => applied\n5 host roll 1 => applied\n"), "{name}");
        logs.push(run("log game"));
    }
    assert!(logs.windows(2).all(|pair| pair[0] == pair[1]), "{logs:?}");
}

#[test]
fn programs_in_php_and_c_without_a_library_of_ours_answer_every_verb() {
    if has("php") {
        verbs(&Engine {
            name: "phpnim",
            command: format!("php {}", fixture("nim.php").display()),
            dice: "recorded",
            condition: "/heap < 8",
            field: "/heap",
        });
    } else {
        skipped("nim in PHP", "`php` is not here");
    }
    let sandbox = Sandbox::new();
    let program = sandbox.path("nim");
    let built = Command::new("cc").arg(fixture("nim.c")).arg("-o").arg(&program).status();
    if built.is_ok_and(|status| status.success()) {
        verbs(&Engine {
            name: "cnim",
            command: program.display().to_string(),
            dice: "recorded",
            condition: "/heap < 8",
            field: "/heap",
        });
    } else {
        skipped("nim in C", "`cc` is not here");
    }
}

#[test]
fn chess_js_counts_the_published_moves_and_answers_every_verb() {
    if !npm("chess.js", "chess.js") {
        return;
    }
    let command = format!("node {}", fixture("npm/chess.js").display());
    let counted = Sandbox::new().ok(&format!("game perft --rules chessjs --depth 2 --referee \"{command}\""));
    assert!(
        counted.contains("depth 1 sequences 20 ") && counted.contains("depth 2 sequences 400 "),
        "{counted}"
    );
    verbs(&Engine { name: "chessjs", command, dice: "recorded", condition: "/moves > 3", field: "/fen" });
}

#[test]
fn games_of_boardgame_io_answer_every_verb() {
    if !npm("boardgame.io", "boardgame.io") {
        return;
    }
    let command = |file: &str| format!("node {}", fixture("npm").join(file).display());
    let [condition, field] = ["/ctx/turn > 1", "/ctx/turn"];
    verbs(&Engine {
        name: "tictactoe",
        command: command("tictactoe.js"),
        dice: "recorded",
        condition,
        field,
    });
    // Cards that are shuffled and hidden are the short form.
    let games: &[&str] = if is_long() { &["pig", "shuffle", "phases", "stages"] } else { &["shuffle"] };
    for name in games {
        let command = format!("{} {name}", command("games.js"));
        verbs(&Engine { name, command, dice: "seeded", condition, field });
    }
}

#[test]
fn games_of_boardgame_io_fold_as_its_own_client_plays_them() {
    if npm("boardgame.io's client", "boardgame.io") {
        let counted = done("node", &["fixtures/referees/npm/against-client.js"]);
        assert!(counted.contains(r#""games":360,"actions":14400"#), "{counted}");
    }
}

#[test]
fn battles_of_showdown_are_restored_before_each_choice() {
    if npm("@pkmn/sim", "@pkmn/sim") {
        let count = if is_long() { 100 } else { 2 };
        let counted = done("node", &["fixtures/referees/npm/pokemon-battles.js", &count.to_string()]);
        assert!(counted.contains(&format!(r#""battles":{count}"#)), "{counted}");
        verbs(&Engine {
            name: "pokemon",
            command: format!("node {}", fixture("npm/pokemon.js").display()),
            dice: "recorded",
            condition: "/turn > 1",
            field: "/turn",
        });
    }
}

#[test]
fn games_of_open_spiel_answer_every_verb() {
    let sandbox = Sandbox::new();
    let bin = match python(OPEN_SPIEL, "TURNFOLD_OPEN_SPIEL") {
        Ok(bin) => bin,
        Err(why) => return skipped("OpenSpiel", &why),
    };
    let script = workspace().join("core/guest/python/openspiel.py");
    let command = |game: &str| format!("{} {} {game}", bin.join("python3").display(), script.display());
    let counted = sandbox
        .ok(&format!("game perft --rules connectfour --depth 4 --referee \"{}\"", command("connect_four")));
    for (depth, count) in [(1, 7), (2, 49), (3, 343), (4, 2401)] {
        assert!(counted.contains(&format!("depth {depth} sequences {count} ")), "{counted}");
    }
    let games = [
        ("backgammon", "backgammon"),
        ("kuhnpoker", "kuhn_poker"),
        ("tictactoe", "tic_tac_toe"),
        ("connectfour", "connect_four"),
        ("goofspiel", "goofspiel"),
    ];
    // A game with dice and one with cards in hand are the short form.
    let count = if is_long() { games.len() } else { 2 };
    for (name, game) in games.into_iter().take(count) {
        let [condition, field] = ["count(/history/*) > 0", "/history"];
        verbs(&Engine { name, command: command(game), dice: "seeded", condition, field });
    }
    // Files from OpenSpiel's repository: open_spiel/integration_tests/playthroughs.
    match std::env::var("TURNFOLD_OPEN_SPIEL_PLAYTHROUGHS") {
        Ok(folder) => {
            let path = |file: &str| format!("{folder}/{file}.txt");
            let files = [
                "tic_tac_toe",
                "connect_four",
                "backgammon",
                "kuhn_poker_2p",
                "hex(board_size=5)",
                "amazons",
            ]
            .map(path);
            let script = workspace().join("core/guest/python/playthroughs.py");
            let args: Vec<&str> =
                std::iter::once(script.to_str().unwrap()).chain(files.iter().map(String::as_str)).collect();
            let counted = done(bin.join("python3"), &args);
            assert!(counted.contains(r#""files": 6, "failed": 0"#), "{counted}");
        }
        Err(_) => {
            skipped("playthroughs of OpenSpiel", "TURNFOLD_OPEN_SPIEL_PLAYTHROUGHS names their folder");
        }
    }
}

#[test]
fn python_chess_and_catanatron_answer_every_verb() {
    let engines = [
        (PYTHON_CHESS, "TURNFOLD_PYTHON_CHESS", "pychess", "/moves > 3", "/fen"),
        (CATANATRON, "TURNFOLD_CATANATRON", "catan", "/P0_VICTORY_POINTS > 0", "/P0_VICTORY_POINTS"),
    ];
    for (package, variable, name, condition, field) in engines {
        match python(package, variable) {
            Ok(bin) => verbs(&Engine {
                name,
                command: format!(
                    "{} {}",
                    bin.join("python3").display(),
                    fixture(&format!("pypi/{name}.py")).display()
                ),
                dice: "seeded",
                condition,
                field,
            }),
            Err(why) => skipped(name, &why),
        }
    }
}

/// pgx compiles for several seconds at its first step (RF-16).
#[test]
fn pgx_answers_every_verb() {
    let Ok(bin) = std::env::var("TURNFOLD_PGX") else {
        return skipped("pgx", "TURNFOLD_PGX names the programs of an environment with `pgx==2.6.0`");
    };
    verbs(&Engine {
        name: "pgxtictactoe",
        command: format!("{bin}/python3 {}", fixture("pypi/pgx_tic_tac_toe.py").display()),
        dice: "recorded",
        condition: "count(/actions/*) > 0",
        field: "/actions",
    });
}

/// Games that python-chess plays on its own board have the same positions as a recording (RF-18) and with a referee
/// (RF-7). In the long form, the referee plays all 200 games.
#[test]
fn python_chess_keeps_the_positions_of_200_games_of_its_own() {
    let sandbox = Sandbox::new();
    let bin = match python(PYTHON_CHESS, "TURNFOLD_PYTHON_CHESS") {
        Ok(bin) => bin.join("python3").display().to_string(),
        Err(why) => return skipped("games of python-chess", &why),
    };
    done(
        &bin,
        &[fixture("pypi/chess_games.py").to_str().unwrap(), "200", sandbox.path("").to_str().unwrap()],
    );
    sandbox.ok("--store recorded import --recording games.jsonl");
    let table = sandbox.ok("--store recorded table fields --matches --field /fen");
    let positions = |number: usize| sandbox.read(&format!("{number}.fen"));
    // The rows of one match, without the row of the setup, which has no position yet.
    for number in 1..=200 {
        let source = if number == 1 { "games,".to_owned() } else { format!("games-{number},") };
        let rows = table.lines().filter_map(|row| row.strip_prefix(&source)?.split_once(','));
        let found: Vec<&str> = rows.skip(1).map(|(_, fen)| fen).collect();
        assert_eq!(found, positions(number).lines().collect::<Vec<_>>(), "recorded game {number}");
    }
    let referee = format!("--referee \"{bin} {}\"", fixture("pypi/pychess.py").display());
    let played = if is_long() { 200 } else { 10 };
    for number in 1..=played {
        sandbox.ok(&format!("new g{number} --rules pychess {referee}"));
        sandbox.ok(&format!("play g{number} --script {number}.txt {referee}"));
    }
    let table = sandbox.ok(&format!("table fields --matches --field /fen {referee}"));
    for number in 1..=played {
        let rows = table.lines().filter_map(|row| row.strip_prefix(&format!("g{number},"))?.split_once(','));
        let found: Vec<&str> = rows.map(|(_, fen)| fen).collect();
        assert_eq!(found, positions(number).lines().collect::<Vec<_>>(), "game {number}");
    }
}

#[test]
fn one_small_game_keeps_its_states_in_every_language_that_is_here() {
    if !has("python3") {
        return skipped("languages", "`python3` is not here");
    }
    let languages = workspace().join("fixtures/referees/languages");
    let output =
        Command::new("python3").arg(languages.join("run.py")).env("TURNFOLD", binary()).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    let equal = printed.lines().filter(|line| line.contains(": ok: ")).count();
    assert!(equal >= 1, "{printed}");
    for line in printed.lines() {
        if let Some((language, why)) = line.split_once(": SKIPPED: ") {
            skipped(language, why);
        }
    }
}

/// RF-21: the examples that readers copy are short.
#[test]
fn rf_21_each_language_has_at_most_40_lines() {
    let mut count = 0;
    for folder in ["", "love", "godot"] {
        for file in fs::read_dir(fixture("languages").join(folder)).unwrap() {
            let path = file.unwrap().path();
            if path.is_dir() || path.ends_with("run.py") {
                continue;
            }
            let lines = fs::read_to_string(&path).unwrap().lines().count();
            assert!(lines <= 40, "{} has {lines} lines", path.display());
            count += 1;
        }
    }
    assert!(count > 30, "{count} files");
}

/// RF-21: the guide's table of languages has exactly the programs that the tests run.
#[test]
fn rf_21_the_languages_of_the_guide_are_those_of_the_run() {
    let guide = Document::read("docs/guide/referees.md");
    let (_, section) = guide.text.split_once("\n## If your language is …\n").unwrap();
    let rows = section.split("\n## ").next().unwrap().lines().filter(|line| line.starts_with("| "));
    let cells = rows.filter_map(|row| row.split('|').nth(2));
    let named: BTreeSet<String> =
        cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect();
    let run = fs::read_to_string(fixture("languages/run.py")).unwrap();
    for name in &named {
        assert!(fixture("languages").join(name).is_file(), "there is no `{name}`");
        let stem = name.rsplit_once('/').map_or(name.as_str(), |(folder, _)| folder);
        let word = stem.split('.').next().unwrap();
        assert!(run.contains(stem) || run.contains(&format!(" {word}")), "the run has no `{name}`");
    }
    for file in fs::read_dir(fixture("languages")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let is_program = name.to_lowercase().starts_with("seats.") || name.starts_with("Seats");
        assert!(!is_program || named.contains(&name), "the guide does not name `{name}`");
    }
}

/// A game of two computer players on the smallest map, saved after each turn.
const FREECIV: &str = "set compresstype PLAIN
set saveturns 1
set aifill 2
set minplayers 0
set mapsize PLAYER
set tilesperplayer 30
set endturn 6
set timeout -1
set gameseed 7
set mapseed 7
start
";

/// RF-18a: the records of five programs become matches. `examples/recordings` has the converters and a game for each.
#[test]
fn rf_18a_records_of_other_programs_are_imported_and_searched() {
    let sandbox = Sandbox::new();
    let converters = workspace().join("examples/recordings");
    let games = converters.join("games");
    let shell = |line: &str| {
        let output = sandbox.shell(line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let converter = |name: &str| converters.join(name).display().to_string();
    let game = |name: &str| games.join(name).display().to_string();
    if Path::new("/usr/games/gnubg").exists() {
        shell(&format!("cp {} match.sgf", game("backgammon.sgf")));
        shell(&format!("MATCH=match.sgf /usr/games/gnubg -t -q -p {} < /dev/null", converter("gnubg.py")));
        sandbox.ok("import --recording match.jsonl");
        assert!(sandbox.ok("bisect match-2 --when \"/cube > 2\"").contains(" take "));
        assert!(sandbox.ok("log match-2").contains(" resign "));
    } else {
        skipped("a recording of gnubg", "`gnubg` is not here");
    }
    if Path::new("/usr/games/gnugo").exists() {
        shell(&format!("python3 {} {} > go.jsonl", converter("gnugo.py"), game("go.sgf")));
        sandbox.ok("import --recording go.jsonl");
        assert!(sandbox.ok("show go").contains("p1 won (B+R)"));
        assert!(sandbox.ok("find go --when \"/captures/0 > 0\"").contains(" p1 "));
    } else {
        skipped("a recording of Go", "`gnugo` is not here");
    }
    if Path::new("/usr/games/freeciv-server").exists() {
        // Two runs of one seed differ only in wall-clock times, which the converter omits.
        sandbox.write("turns.serv", FREECIV);
        for run in ["first", "second"] {
            // The server refuses to run as root.
            shell(&format!(
                "mkdir -m 777 {run}; cd {run}; user=; \
                 test \"$(id -u)\" != 0 || {{ chmod 755 ..; user='setpriv --reuid=65534 --regid=65534 --clear-groups'; }}; \
                 HOME=$PWD $user /usr/games/freeciv-server --read ../turns.serv -q 1 -e > server.log 2>&1 < /dev/null; \
                 python3 {} freeciv-T*.sav > ../{run}.jsonl",
                converter("freeciv.py")
            ));
            sandbox.ok(&format!("import --recording {run}.jsonl"));
        }
        assert!(sandbox.ok("diff first second").contains("are equal: 6 entries"));
        assert!(sandbox.ok("bisect first --when \"/game/turn > 3\"").contains(" turn 4 "));
    } else {
        skipped("a recording of freeciv", "`freeciv-server` is not here");
    }
    if npm("a recording of boardgame.io", "boardgame.io") {
        let [program, stored] = [converter("boardgameio.mjs"), game("pig.json")];
        let rules = fixture("npm/pig.mjs");
        shell(&format!("node {program} {} {stored} > pig.jsonl", rules.display()));
        sandbox.ok("import --recording pig.jsonl");
        assert!(sandbox.ok("blame pig /G/total/0").contains(" hold"));
    }
    match python(OPEN_SPIEL, "TURNFOLD_OPEN_SPIEL") {
        Ok(bin) => {
            let program = bin.join("python3").display().to_string();
            shell(&format!("{program} {} kuhn_poker '0,1,1,1' > kuhn.jsonl", converter("openspiel.py")));
            sandbox.ok("import --recording kuhn.jsonl");
            assert!(sandbox.ok("log kuhn").contains(" p2 Bet "));
        }
        Err(why) => skipped("a recording of OpenSpiel", &why),
    }
}

/// RF-16: a child that breaks the protocol at one place causes one line of error and records nothing. RF-15: `check`
/// finds output that depends on the run.
#[test]
fn rf_16_hostile_children_end_in_one_line() {
    if !has("node") {
        return skipped("hostile children", "`node` is not here");
    }
    // Each of these children takes a minute, for which only the long form waits.
    let slow = ["deaf.js", "hang.js", "stubborn.js", "unflushed.js"];
    let keeps_the_protocol = ["banner.js", "calm.js"];
    let mut checked = 0;
    for file in std::fs::read_dir(fixture("hostile")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let program = match path.extension().and_then(|ending| ending.to_str()) {
            Some("js") => "node",
            Some("py") if has("python3") => "python3",
            _ => continue,
        };
        if slow.contains(&name.as_str()) && !is_long() {
            continue;
        }
        let sandbox = Sandbox::new();
        let referee = format!("--referee \"{program} '{}'\"", path.display());
        let run = |line: &str| {
            let output = sandbox.run(&format!("{line} {referee}"));
            let stderr = String::from_utf8(output.stderr).unwrap();
            (output.status.code(), String::from_utf8(output.stdout).unwrap(), stderr)
        };
        let (code, _, stderr) = run("simulate --rules count --seed 1 --steps 8 -o game.tfl");
        if code == Some(0) {
            let (code, printed, stderr) = run("check game.tfl");
            let passes = keeps_the_protocol.contains(&name.as_str());
            assert_eq!(code == Some(0), passes, "{name}: {code:?} {printed}{stderr}");
        } else {
            let errors: Vec<&str> = stderr.lines().filter(|line| !line.contains(" WARN ")).collect();
            assert!(errors.len() == 1 && errors[0].starts_with("error: "), "{name}: {stderr}");
            assert_eq!(code, Some(2), "{name}: {stderr}");
            assert!(!sandbox.path("game.tfl").exists() && !sandbox.path(".turnfold").exists(), "{name}");
        }
        checked += 1;
    }
    assert!(checked >= 24, "{checked} hostile children");
}
