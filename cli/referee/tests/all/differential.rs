//! A ruleset that is built in and the same one as a module answer alike, to every question and with every error (RF-10).
//!
//! The modules come from the folder in `$TURNFOLD_PACKED`, otherwise from `fixtures/modules`; CONTRIBUTING.md has the
//! command that fills that folder. `$TURNFOLD_COMMANDS` is how many random commands are compared for each ruleset.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs, thread};

use turnfold_core::{
    AnyRules, AnyState, CommandSource, DicePolicy, Logged, Perspective, Seat, Seed, SetupError, Simulation,
    Step,
};
use turnfold_games::rulesets;
use turnfold_laws::{Fixture, PlayedEntry, questions};

/// How many random commands are compared, unless `TURNFOLD_COMMANDS` is another number.
const COMMANDS: u64 = 100;
/// How many entries a match has.
const ENTRIES: u64 = 200;

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Returns each ruleset that there is in both forms.
fn pairs() -> Vec<(Arc<dyn AnyRules>, Arc<dyn AnyRules>)> {
    let packed = env::var_os("TURNFOLD_PACKED").map(PathBuf::from);
    let folder = packed.unwrap_or_else(|| repository("fixtures/modules"));
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let modules = files.filter(|path| path.extension().is_some_and(|extension| extension == "wasm"));
    let loaded = modules.map(|path| turnfold_referee::load(&fs::read(path).unwrap()).unwrap());
    let native = |module: &Arc<dyn AnyRules>| {
        let is_same =
            |rules: &Arc<dyn AnyRules>| (rules.name(), rules.version()) == (module.name(), module.version());
        rulesets().into_iter().find(is_same)
    };
    let pairs: Vec<_> = loaded.filter_map(|module| Some((native(&module)?, module))).collect();
    assert!(!pairs.is_empty(), "no ruleset is there in both forms");
    pairs
}

/// All that is shown of an entry.
#[derive(PartialEq, Debug)]
struct Shown {
    entry: PlayedEntry,
    stand_in: String,
    flags: [bool; 2],
    status: String,
    state: Vec<u8>,
}

impl Shown {
    fn of(step: &mut dyn Step) -> Self {
        Self {
            entry: PlayedEntry::of(step),
            stand_in: step.stand_in(),
            flags: [step.concealed(), step.wholly_shown()],
            status: format!("{:?} {:?} {:?}", step.players(), step.result(), step.turn()),
            state: step.state_bytes(),
        }
    }
}

fn viewers(state: &dyn AnyState) -> Vec<Perspective> {
    let seats = state.players().iter().copied().map(Perspective::Seat);
    seats.chain([Perspective::Spectator, Perspective::HOST, Perspective::Seat(Seat::P16)]).collect()
}

/// Compares everything that states answer.
fn compare_states(native: &dyn AnyState, module: &dyn AnyState, setup: &[u8], dice: &DicePolicy) {
    let ask = |state: &dyn AnyState| {
        let viewers = viewers(state);
        let mut answers = vec![
            format!("{:?} {:?} {:?} {}", state.players(), state.result(), state.turn(), state.over()),
            format!("{:?} {:?} {}", state.due_roll(), state.seeded_roll(dice), state.rolls()),
            format!("{:?} {:?}", state.roll_command(vec![1]), state.roll_command(vec![0; 3])),
            format!("{:?} {}", state.state_bytes(), state.state_hash()),
        ];
        let mut commands =
            vec![String::new(), "x".into(), "roll 1".into(), "\u{1b}[2J".into(), "say \"\n".into()];
        for seat in state.players().iter().copied().chain([Seat::Host]) {
            let lists = [state.legal(seat), state.legal_at_random(seat), state.candidates(seat)];
            commands.extend(lists.iter().flat_map(|list| list.iter().step_by(list.len() / 3 + 1)).cloned());
            answers.push(format!("{lists:?} {:?}", state.choices(seat)));
        }
        for command in &commands {
            let judged = [Seat::Host, Seat::P1, Seat::P2].map(|seat| state.judge(seat, command));
            let seat = state.default_seat(command);
            answers.push(format!(
                "{command}: {judged:?} {seat:?} {:?} {:?}",
                state.read(command),
                state.targets(command)
            ));
        }
        let questions = questions(state);
        for viewer in viewers {
            let asked = questions.iter().map(String::as_str).chain(["", "nothing of this", "reach \u{7}"]);
            answers.extend(asked.map(|question| format!("{question}: {:?}", state.query(viewer, question))));
            answers.push(format!("{viewer}: {:?}", state.setup_seen(setup, viewer)));
            answers.push(state.view(viewer).to_string());
            answers.push(format!(
                "{:?} {:?}",
                state.view_at(viewer, "/turn"),
                state.view_at(viewer, "/ruleset")
            ));
            answers.push(format!("{:?}", state.picture(viewer)));
        }
        answers
    };
    for (native, module) in ask(native).into_iter().zip(ask(module)) {
        assert_eq!(native, module);
    }
}

/// Plays a match at random by both rulesets and looks at all of the state every so often; returns how many commands it had.
fn compare_match(
    native: &dyn AnyRules,
    module: &dyn AnyRules,
    setup: &[u8],
    seed: u64,
    look_every: u64,
) -> u64 {
    let dice = DicePolicy::Seeded(Seed::new([7; 32]));
    let play = Simulation::new(seed);
    let [mut one, mut other] = [native, module].map(|rules| rules.start(setup).unwrap());
    let mut entries = Vec::new();
    for seq in 1..=ENTRIES {
        let drawn = play.draw(&*one, &dice, seq);
        if seq % look_every == seed % look_every {
            assert_eq!(play.draw(&*other, &dice, seq), drawn);
            compare_states(&*one, &*other, setup, &dice);
        }
        let Some((seat, command)) = drawn else { break };
        let entry = [Logged { seq, seat, command: CommandSource::Text(&command) }];
        let [folded, again] = [&mut one, &mut other].map(|state| {
            let mut shown = None;
            state.fold(&entry, &dice, &mut |step| shown = Some(Shown::of(step))).unwrap();
            shown.unwrap()
        });
        assert_eq!(folded, again);
        entries.push(folded.entry);
    }
    let log: Vec<Logged<'_>> = entries.iter().map(PlayedEntry::logged_bytes).collect();
    for viewer in viewers(&*one) {
        let [shown, again] = [native, module].map(|rules| {
            let mut shown = Vec::new();
            let mut state = rules.start(setup).unwrap();
            state.fold_as(viewer, &log, &dice, &mut |step| shown.push(Shown::of(step))).unwrap();
            shown
        });
        assert_eq!(shown, again, "{viewer}");
    }
    log.len().try_into().unwrap()
}

/// Folds a golden log by both rulesets, and one that is spoilt in the middle.
fn compare_golden(native: &dyn AnyRules, module: &dyn AnyRules, text: &str) {
    let (header, body) = text.split_once("+++\n").unwrap().1.split_once("+++\n").unwrap();
    let setup = native.read_setup_of(header).unwrap();
    assert_eq!(module.read_setup_of(header).unwrap(), setup);
    let entries = body.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    let mut log = Vec::new();
    for (seq, line) in (1..).zip(entries) {
        let words = line.split(" => ").next().unwrap().split_once(' ').unwrap().1;
        let (seat, command) = words.split_once(' ').unwrap();
        log.push(Logged { seq, seat: seat.parse().unwrap(), command: CommandSource::Text(command) });
    }
    for spoilt in [None, Some(log.len() / 2)] {
        if let Some(entry) = spoilt.and_then(|middle| log.get_mut(middle)) {
            entry.command = CommandSource::Text("no command");
        }
        let [folded, again] = [native, module].map(|rules| {
            let mut shown = Vec::new();
            let mut state = rules.start(&setup).unwrap();
            let end = state.fold(&log, &DicePolicy::Recorded, &mut |step| shown.push(Shown::of(step)));
            (shown, end, state.state_bytes(), state.rolls())
        });
        assert_eq!(folded, again);
    }
}

/// Compares what rulesets answer about themselves, and how they read setups and commands.
fn compare_rules(native: &dyn AnyRules, module: &dyn AnyRules, fixtures: &[Fixture]) {
    let ask = |rules: &dyn AnyRules| {
        let codes = [rules.ignored_codes(), rules.rejected_codes()];
        let ids: Vec<_> = codes.iter().flatten().map(|code| rules.rule_ids(code)).collect();
        let mut answers = vec![
            format!("{} {} {} {codes:?} {ids:?}", rules.name(), rules.version(), rules.summary()),
            [rules.example(), rules.rulebook(), rules.mail_terms()].join("\n"),
            format!("{} {:?}", rules.has_secrets(), rules.rule_ids("nothing")),
        ];
        for Fixture { toml, .. } in fixtures {
            let half = toml.get(..toml.len() / 2).unwrap_or_default();
            // One fault at most: which of several is named depends on how the build holds tables of TOML.
            let spoilt =
                [toml.clone(), half.into(), format!("{toml}\nother = 1"), toml.replacen('1', "-1", 1)];
            for toml in &spoilt {
                let setup = rules.read_setup(toml);
                answers.push(format!("{:?} {:?}", nearly(&setup), nearly(&rules.read_setup_of(toml))));
                answers.extend(setup.map(|setup| format!("{:?}", rules.write_setup(&setup))));
            }
        }
        for text in ["", "x", "roll 1", "roll 1 2 3", "\u{1b}", "end", "tick 3"] {
            answers.push(format!("{:?} {:?}", rules.canonical(text), rules.command_text(text.as_bytes())));
        }
        for bytes in [&[][..], &[0], &[255; 40]] {
            let state = rules.resume(bytes, 0).map(|state| state.state_bytes());
            let setup = rules.start(bytes).map(|state| state.state_bytes());
            answers.push(format!("{state:?} {setup:?} {:?}", rules.write_setup(bytes)));
        }
        answers
    };
    for (native, module) in ask(native).into_iter().zip(ask(module)) {
        assert_eq!(native, module);
    }
}

/// Leaves out where an error is: of a value in a list the host of a module knows the place, a built-in ruleset that of the list.
fn nearly(setup: &Result<Vec<u8>, SetupError>) -> Result<Vec<u8>, SetupError> {
    match setup {
        Err(SetupError::Text { message, .. }) => Err(SetupError::in_text("", 0, message)),
        other => other.clone(),
    }
}

#[test]
fn md_4_a_module_answers_as_the_ruleset_that_is_built_in() {
    thread::scope(|scope| {
        for (native, module) in pairs() {
            scope.spawn(move || compare(&*native, &*module));
        }
    });
}

/// Compares a ruleset with itself as a module: their descriptions, golden logs, and random play from every setup.
fn compare(native: &dyn AnyRules, module: &dyn AnyRules) {
    let commands = env::var("TURNFOLD_COMMANDS").map_or(COMMANDS, |count| count.parse().unwrap());
    let name = native.name();
    let mut fixtures = Fixture::read_all(&repository("fixtures").join(name)).unwrap();
    fixtures.push(Fixture::example(native));
    compare_rules(native, module, &fixtures);
    let goldens = fs::read_dir(repository("replays").join(name)).into_iter().flatten();
    let goldens: Vec<PathBuf> = goldens.map(|file| file.unwrap().path()).collect();
    for golden in &goldens {
        compare_golden(native, module, &fs::read_to_string(golden).unwrap());
    }
    let setups: Vec<Vec<u8>> =
        fixtures.iter().map(|fixture| native.read_setup(&fixture.toml).unwrap()).collect();
    // Nearly all of the time goes into looking at states.
    let look_every = if commands > COMMANDS { 101 } else { 9 };
    let (mut played, mut seeds) = (0, 1..);
    while played < commands {
        played += thread::scope(|scope| {
            let playing: Vec<_> = (setups.iter().zip(seeds.by_ref()))
                .map(|(setup, seed)| {
                    scope.spawn(move || compare_match(native, module, setup, seed, look_every))
                })
                .collect();
            playing.into_iter().map(|one| one.join().unwrap().max(1)).sum::<u64>()
        });
    }
}
