//! Matches for testing the laws: seeded random play, with some commands that the rules ignore.

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::dice::DiceStream;
use turnfold_core::{
    AnyRules, AnyState, CommandSource, DicePolicy, Digest, FoldError, Json, Logged, Outcome, Seat, Seed,
    Step, Verdict,
};

use super::law_report::{Law, LawReport};
use super::{ENTRIES_MAX, Fixture};

/// Seeded choices that are the same on every machine.
pub(super) struct Choices(DiceStream);

impl Choices {
    pub(super) fn new(seed: u8, number: u64) -> Self {
        Self(DiceStream::new(&[seed; 32], number))
    }

    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let last = i32::try_from(items.len()).unwrap() - 1;
        let place = usize::try_from(self.0.draw(0, last.max(0))).unwrap();
        items.get(place)
    }

    /// Picks `count` of `items`, with possible repetitions.
    pub(super) fn sample<'a>(&mut self, items: &'a [String], count: usize) -> Vec<&'a str> {
        let mut sample = Vec::new();
        for _ in 0..count {
            if let Some(item) = self.pick(items) {
                sample.push(item.as_str());
            }
        }
        sample
    }
}

/// A played match with the results of its entries.
#[derive(Debug)]
pub struct PlayedMatch {
    /// The name of its setup in reports.
    pub setup_name: String,
    /// The setup as bytes.
    pub setup: Vec<u8>,
    /// The seed of the choices.
    pub seed: u8,
    /// The source of the rolls.
    pub dice: DicePolicy,
    /// The entries.
    pub entries: Vec<PlayedEntry>,
    /// Every command that was a candidate of any seat at any moment, sorted.
    pub commands: Vec<String>,
}

impl PlayedMatch {
    pub(super) fn every_command(&self) -> Vec<&str> {
        self.commands.iter().map(String::as_str).collect()
    }
}

/// An entry, and its result from the fold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlayedEntry {
    /// The number of the entry, from 1.
    pub seq: u64,
    /// The seat that gave the command.
    pub seat: Seat,
    /// The command's canonical text.
    pub command: String,
    /// The command's canonical bytes.
    pub command_bytes: Vec<u8>,
    /// The verdict.
    pub verdict: Verdict,
    /// The outcome, including effects.
    pub outcome: Outcome,
    /// The effects as a JSON array.
    pub effects_json: Json,
    /// The hash of the state after the entry.
    pub hash: Digest,
}

impl PlayedEntry {
    /// Returns the entry that was just folded.
    pub fn of(step: &mut dyn Step) -> Self {
        Self {
            seq: step.seq(),
            seat: step.seat(),
            command: step.command(),
            command_bytes: step.command_bytes(),
            verdict: step.verdict(),
            outcome: step.outcome(),
            effects_json: step.effects_json(),
            hash: step.state_hash(),
        }
    }

    /// Returns the entry in the form that the fold takes, with its command as text.
    #[must_use]
    pub fn logged(&self) -> Logged<'_> {
        logged(self.seq, self.seat, &self.command)
    }

    /// Returns the entry in the form that the fold takes, with its command as bytes.
    #[must_use]
    pub fn logged_bytes(&self) -> Logged<'_> {
        Logged { seq: self.seq, seat: self.seat, command: CommandSource::Bytes(&self.command_bytes) }
    }
}

/// Returns entries in the form that the fold takes, with their commands as text.
pub(super) fn log_of(entries: &[PlayedEntry]) -> Vec<Logged<'_>> {
    entries.iter().map(PlayedEntry::logged).collect()
}

/// Returns an entry in the form that the fold takes.
#[must_use]
pub fn logged(seq: u64, seat: Seat, command: &str) -> Logged<'_> {
    Logged { seq, seat, command: CommandSource::Text(command) }
}

pub(super) fn verb(command: &str) -> &str {
    command.split(' ').next().unwrap_or_default()
}

/// Returns the first word of roll commands, if the game has dice.
pub(super) fn roll_verb(state: &dyn AnyState) -> Option<String> {
    Some(verb(&state.roll_command(vec![1])?).to_owned())
}

/// Plays a match, or returns `None` if the setup does not start one.
pub(super) fn play(
    report: &mut LawReport<'_>,
    rules: &dyn AnyRules,
    fixture: &Fixture,
    seed: u8,
) -> Option<PlayedMatch> {
    let setup = rules.read_setup(&fixture.toml).ok()?;
    let mut state = rules.start(&setup).ok()?;
    let dice = DicePolicy::Seeded(Seed::new([seed; 32]));
    let mut choices = Choices::new(seed, 0);
    let mut commands = BTreeSet::new();
    let mut entries = Vec::new();
    while entries.len() < ENTRIES_MAX {
        report.step(entries.len());
        for seat in Seat::ALL {
            commands.extend(state.candidates(seat));
        }
        let seq = u64::try_from(entries.len()).unwrap() + 1;
        let Some((seat, command)) = choose(&*state, &mut choices, &dice) else { break };
        report.doing(format_args!("{seat} `{command}`"));
        let mut entry = None;
        let folded = state
            .fold(&[logged(seq, seat, &command)], &dice, &mut |step| entry = Some(PlayedEntry::of(step)));
        if let Err(error) = folded {
            let malformed = matches!(error, FoldError::Malformed { .. });
            let law = if malformed { Law::TextRoundTrip } else { Law::LegalIsWhatApplies };
            report.broke(law, format!("the fold refuses it: {error}"));
            break;
        }
        entries.extend(entry);
    }
    let commands = commands.into_iter().collect();
    Some(PlayedMatch { setup_name: fixture.name.clone(), setup, seed, dice, entries, commands })
}

/// Chooses the due roll, or a legal command, or occasionally a command that is ignored.
///
/// The verb is chosen first, because otherwise the many hexes of a board would crowd out other verbs.
fn choose(state: &dyn AnyState, choices: &mut Choices, dice: &DicePolicy) -> Option<(Seat, String)> {
    if state.due_roll().is_some() {
        return Some((Seat::Host, state.roll_command(state.seeded_roll(dice)?)?));
    }
    let mut lists: Vec<(Seat, Vec<String>)> = Vec::new();
    for seat in Seat::ALL {
        let legal = state.legal(seat);
        if !legal.is_empty() {
            lists.push((seat, legal));
        }
    }
    let (seat, legal) = choices.pick(&lists)?;
    if choices.pick(&[true, false, false, false])? == &true {
        let mut candidates = state.candidates(*seat);
        candidates.retain(|command| matches!(state.judge(*seat, command), Ok(Verdict::Ignored(_))));
        if let Some(ignored) = by_verb(choices, &candidates) {
            return Some((*seat, ignored));
        }
    }
    Some((*seat, by_verb(choices, legal)?))
}

fn by_verb(choices: &mut Choices, commands: &[String]) -> Option<String> {
    let groups = verbs(commands);
    let group = choices.pick(&groups)?;
    Some((*choices.pick(group)?).clone())
}

/// Groups commands by their verbs.
#[must_use]
pub fn verbs(commands: &[String]) -> Vec<Vec<&String>> {
    let mut verbs: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for command in commands {
        verbs.entry(verb(command)).or_default().push(command);
    }
    verbs.into_values().collect()
}
