//! Stateful play: any commands in any order, and the laws at one moment of the resulting match.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use turnfold_core::{AnyRules, AnyState, CommandSource, DicePolicy, FoldError, Logged, Seat, Seed};
use turnfold_games::{find, rulesets};

use turnfold_laws::{PlayedEntry, PlayedLaws, PlayedMatch, verbs};

use crate::fixtures;

/// The maximum number of commands in a match, so that a match takes milliseconds.
const COMMANDS_MAX: usize = 32;

/// A fixture by name, and the bytes of its setup.
type Setup = (String, Vec<u8>);

static SETUPS: LazyLock<BTreeMap<String, Vec<Setup>>> = LazyLock::new(|| {
    let read = |rules: &Arc<dyn AnyRules>| {
        let setups = fixtures(rules.name()).into_iter();
        let setups = setups.map(|fixture| (fixture.name, rules.read_setup(&fixture.toml).unwrap()));
        (rules.name().to_owned(), setups.collect())
    };
    rulesets().iter().map(read).collect()
});

/// Plays a match of a ruleset as the bytes choose.
pub fn play(ruleset: &str, bytes: &[u8]) {
    let rules = &*find(ruleset).unwrap();
    let mut choices = Unstructured::new(bytes);
    let mut laws = PlayedLaws::new(rules);
    // A match may end early because the choices are used up.
    if let Ok((setup_name, setup)) = choices.choose(&SETUPS[ruleset]) {
        let mut table = Table::new(rules, setup_name, setup, &mut choices);
        while !choices.is_empty() && table.submitted < COMMANDS_MAX {
            if table.submit(&mut choices, &mut laws).is_err() {
                break;
            }
        }
        laws.check_end(&*table.state, &table.played);
        // Checking all laws takes longer than playing a match, so only every eighth match is checked, at one moment.
        let sum = bytes.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
        if sum.is_multiple_of(8) {
            laws.check_moment(&table.played, usize::from(sum / 8) % (table.played.entries.len() + 1));
        }
    }
    laws.require_kept();
}

/// A match in progress.
struct Table {
    state: Box<dyn AnyState>,
    played: PlayedMatch,
    submitted: usize,
}

impl Table {
    fn new(rules: &dyn AnyRules, name: &str, setup: &[u8], choices: &mut Unstructured<'_>) -> Self {
        let seeded = choices.ratio(1, 3).unwrap_or_default();
        let dice = if seeded { DicePolicy::Seeded(Seed::new([3; 32])) } else { DicePolicy::Recorded };
        let (setup_name, setup) = (name.to_owned(), setup.to_vec());
        let state = rules.start(&setup).unwrap();
        let played =
            PlayedMatch { setup_name, setup, seed: 1, dice, entries: Vec::new(), commands: Vec::new() };
        Self { state, played, submitted: 0 }
    }

    fn next_seq(&self) -> u64 {
        self.played.entries.len() as u64 + 1
    }

    /// Gives a command to the match, mostly one that applies.
    fn submit(&mut self, choices: &mut Unstructured<'_>, laws: &mut PlayedLaws<'_>) -> Result<()> {
        self.submitted += 1;
        if self.state.due_roll().is_some() && choices.ratio(7, 8)? {
            let roll = self.roll(choices)?;
            self.fold(Seat::Host, CommandSource::Text(&roll), laws);
            return Ok(());
        }
        let seats = [self.state.players(), &[Seat::Host]].concat();
        match choices.int_in_range(0..=15)? {
            0..=8 => {
                let legal: Vec<_> = seats.iter().map(|seat| (*seat, self.state.legal(*seat))).collect();
                let legal: Vec<_> = legal.iter().filter(|(_, legal)| !legal.is_empty()).collect();
                let (seat, legal) = choices.choose(&legal)?;
                let command = some_command(choices, legal)?;
                self.fold(*seat, CommandSource::Text(command), laws);
            }
            9..=11 => {
                let seat = *choices.choose(&Seat::ALL)?;
                let candidates = self.state.candidates(*choices.choose(&seats)?);
                let command = some_command(choices, &candidates)?;
                self.played.commands.push(command.to_owned());
                self.fold(seat, CommandSource::Text(command), laws);
            }
            12 | 13 => {
                let seat = *choices.choose(&seats)?;
                let candidates = self.state.candidates(seat);
                let command = some_command(choices, &candidates)?;
                let command = mutated(choices, command)?;
                laws.check_harmless(&*self.state, seat, &command);
                self.fold(seat, CommandSource::Text(&command), laws);
            }
            14 => {
                let (seat, text) = (*choices.choose(&seats)?, choices.arbitrary::<String>()?);
                laws.check_harmless(&*self.state, seat, &text);
                self.fold(seat, CommandSource::Text(&text), laws);
            }
            _ => {
                let (seat, bytes) = (*choices.choose(&seats)?, choices.arbitrary::<Vec<u8>>()?);
                self.fold(seat, CommandSource::Bytes(&bytes), laws);
            }
        }
        Ok(())
    }

    /// Returns a roll: the seed's, or valid values for the due roll, or any values.
    fn roll(&self, choices: &mut Unstructured<'_>) -> Result<String> {
        let due = self.state.due_roll().ok_or(arbitrary::Error::IncorrectFormat)?;
        let seeded = self.state.seeded_roll(&self.played.dice).filter(|_| choices.ratio(7, 8) == Ok(true));
        let any: Result<Vec<i32>> =
            (0..due.count).map(|_| choices.int_in_range(due.low..=due.high)).collect();
        let values = if choices.ratio(1, 16)? { choices.arbitrary()? } else { seeded.map_or(any, Ok)? };
        self.state.roll_command(values).ok_or(arbitrary::Error::IncorrectFormat)
    }

    /// Folds a command, and requires the state to be unchanged unless the command is applied.
    fn fold(&mut self, seat: Seat, command: CommandSource<'_>, laws: &mut PlayedLaws<'_>) {
        let before = self.state.state_bytes();
        let entry = Logged { seq: self.next_seq(), seat, command };
        let mut shown = None;
        let folded =
            self.state.fold(&[entry], &self.played.dice, &mut |step| shown = Some(PlayedEntry::of(step)));
        match (folded, shown) {
            (Ok(()), Some(entry)) => {
                laws.check_entry(&*self.state, &before, &entry);
                self.played.entries.push(entry);
            }
            (Err(error), None) => {
                assert_eq!(error.seq(), self.next_seq());
                assert_eq!(self.state.state_bytes(), before, "{error}, and the state changed");
                if let FoldError::Undecodable { .. } = error {
                    assert!(matches!(command, CommandSource::Bytes(_)));
                }
            }
            (folded, shown) => panic!("the fold answers {folded:?} and shows {shown:?}"),
        }
    }
}

/// Chooses the verb first, because otherwise the many hexes of a board would crowd out other verbs.
fn some_command<'a>(choices: &mut Unstructured<'_>, commands: &'a [String]) -> Result<&'a str> {
    let groups = verbs(commands);
    let group = choices.choose(&groups)?;
    choices.choose(group).map(|command| command.as_str())
}

/// Replaces, removes or adds a word of a command.
fn mutated(choices: &mut Unstructured<'_>, command: &str) -> Result<String> {
    const WORDS: [&str; 12] = [
        "0",
        "1",
        "-1",
        "7",
        "100000",
        "2147483647",
        "-2147483648",
        "0,0",
        "1,-1",
        "n",
        "100000,-100000",
        "",
    ];
    let mut words: Vec<&str> = command.split(' ').collect();
    let place = choices.choose_index(words.len())?;
    match choices.int_in_range(0..=3)? {
        0 => words[place] = choices.choose(&WORDS)?,
        1 => _ = words.remove(place),
        2 => words.insert(place, choices.choose(&WORDS)?),
        _ => {
            let (number, end) = (choices.arbitrary::<i16>()?.to_string(), words[place].len());
            let cut = choices.int_in_range(0..=end)?;
            let (before, _) = words[place].split_at_checked(cut).unwrap_or_default();
            return Ok([&words[..place].join(" "), " ", before, &number].concat().trim_start().to_owned());
        }
    }
    Ok(words.join(" "))
}
