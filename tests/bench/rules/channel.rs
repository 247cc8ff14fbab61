//! What the look-ahead of `channel` costs, and how fast a whole game folds.

use divan::Bencher;
use divan::counter::ItemsCount;
use turnfold_core::dice::DiceStream;
use turnfold_core::fold::fold;
use turnfold_core::rules::channel::{Channel, Command, Setup, State};
use turnfold_core::{Rules, Seat};

fn main() {
    divan::main();
}

/// A board for p1, row by row; a letter for each energy, a dot for an empty column.
fn start(rows: [&str; 9]) -> State {
    let mut energies = String::new();
    let letters =
        rows.iter().zip(1..).flat_map(|(row, number)| row.chars().zip(1..).map(move |at| (number, at)));
    for (id, (row, (letter, col))) in (1..).zip(letters) {
        let color = match letter {
            'P' => "purple",
            'D' => "darkblue",
            'B' => "blue",
            'G' => "green",
            'Y' => "yellow",
            'O' => "orange",
            'R' => "red",
            'K' => "black",
            'W' => "white",
            _ => continue,
        };
        let energy =
            format!("[[energies]]\nid = {id}\ncolor = \"{color}\"\nat = \"p1\"\nrow = {row}\ncol = {col}\n");
        energies.push_str(&energy);
    }
    let plenitude = "purple = 1, darkblue = 1, blue = 1, green = 1, yellow = 1, orange = 1, red = 1";
    let setup = format!(
        "players = 1\nyinyang = true\nplenitude = {{ {plenitude} }}\n\
         [[boards]]\ntokens = \"b1b2b3b4b5\"\nknown = []\n{energies}"
    );
    let setup: Setup = toml::from_str(&setup).expect("the setup is TOML");
    Channel::start(&setup).expect("the setup can be played")
}

fn play(state: &mut State, command: &str) {
    let command = command.parse().expect("the text is a command");
    let seat = Channel::default_seat(state, &command);
    Channel::apply(state, seat, &command, &mut ()).expect("the command is accepted");
}

/// Every row but the last full, nothing harmonised: few moves, each with a long chain behind it.
const FULLEST: [&str; 9] = ["PDB", "DBG", "BGY", "GYO", "YOR", "ORP", "RPD", "KKK", ""];
/// Two energies in each row: nearly everything may move, nearly everywhere.
const LOOSEST: [&str; 9] = ["PDB", "DB.", "BG.", "GY.", "YO.", "OR.", "RP.", "KK.", ""];
/// Nothing but black in a full board above a nearly full earth: chains that fail late.
const DEAD_ENDS: [&str; 9] = ["KKK", "KKK", "KKK", "KKK", "KKK", "KKK", "KKK", "KKK", "KKKKKK"];

const BOARDS: [(&str, [&str; 9]); 3] = [("fullest", FULLEST), ("loosest", LOOSEST), ("dead ends", DEAD_ENDS)];

fn board(name: &str) -> State {
    let (_, rows) = BOARDS.into_iter().find(|(other, _)| *other == name).expect("the board has this name");
    start(rows)
}

/// The judgement of `channel 2` looks for one way through all three steps, or finds that there is none.
#[divan::bench(args = ["fullest", "loosest", "dead ends"])]
fn opening_channel_2(bencher: Bencher, name: &str) {
    let state = board(name);
    let command = "channel 2".parse().expect("the text is a command");
    bencher.bench(|| Channel::judge(&state, Seat::P1, &command).is_ok());
}

/// All that the first step offers, as the view lists it.
#[divan::bench(args = ["fullest", "loosest"])]
fn offering_the_moves_of_channel_2(bencher: Bencher, name: &str) {
    let mut state = board(name);
    play(&mut state, "channel 2");
    bencher.bench(|| Channel::legal(&state, Seat::P1));
}

#[divan::bench]
fn view_in_channel_2(bencher: Bencher) {
    let mut state = start(LOOSEST);
    play(&mut state, "channel 2");
    bencher.bench(|| Channel::view(&state, Seat::P1));
}

/// Random legal play of four players with white energies.
fn game(commands: usize) -> (State, Vec<(Seat, Command)>) {
    let setup: Setup = toml::from_str("players = 4\nyinyang = true\nseed = 1\n").expect("the setup is TOML");
    let start = Channel::start(&setup).expect("the setup can be played");
    let mut stream = DiceStream::new(&[1; 32], 0);
    let (mut state, mut log) = (start.clone(), Vec::new());
    while log.len() < commands {
        let seat = Channel::default_seat(&state, &Command::Confirm);
        let legal = Channel::legal(&state, seat);
        let last = i32::try_from(legal.len()).expect("few commands are legal") - 1;
        let chosen = usize::try_from(stream.draw(0, last)).expect("drawn from 0 up");
        let Some(command) = legal.into_iter().nth(chosen) else { break };
        Channel::apply(&mut state, seat, &command, &mut ()).expect("the command is legal");
        log.push((seat, command));
    }
    (start, log)
}

#[divan::bench(args = [100, 1000])]
fn fold_a_game(bencher: Bencher, commands: usize) {
    let (start, log) = game(commands);
    bencher.counter(ItemsCount::new(log.len())).bench(|| {
        let mut state = start.clone();
        fold::<Channel>(&mut state, log.iter().map(|(seat, command)| (*seat, command))).expect("it folds");
        state
    });
}
