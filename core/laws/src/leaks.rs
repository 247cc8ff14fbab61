//! What a viewer is shown does not depend on a field that its view conceals (`Law::Leaks`), and `SECRETS` states whether
//! anything is concealed at all (`Law::Secrets`).
//!
//! The test replaces a setup or the command of an entry and continues the match. As long as a viewer has the same view
//! of both matches, the host's views differ only in fields that are concealed from this viewer. So the viewer must also
//! be shown the same setup and the same entries; otherwise they reveal such a field.

use serde_json::Value;
use turnfold_core::{AnyRules, AnyState, DicePolicy, Logged, Perspective, Seat, Verdict};

use super::commands::{numbers, replaced};
use super::law_report::{Law, LawReport};
use super::random_matches::{Choices, PlayedEntry, PlayedMatch, log_of, logged, roll_verb, verb};
use super::setups::read_spoiled;
use super::{Moment, not_hosts, viewers};

/// The maximum number of entries of a match that are replaced.
const ENTRIES_MAX: usize = 16;
const OTHERS: usize = 2;
/// The maximum number of setups that replace a setup.
const SETUPS_MAX: usize = 40;
/// The number of entries that are played after a replacement.
const HORIZON: usize = 8;

/// Requires all views to be the same if `SECRETS` is `None`.
pub(super) fn check(report: &mut LawReport<'_>, rules: &dyn AnyRules, moment: &Moment<'_>) {
    if rules.has_secrets() {
        return;
    }
    if let Some(owner) = moment.state.due_roll().and_then(|due| due.owner) {
        report.broke(
            Law::Secrets,
            format!("a roll is due that {owner} alone learns, so `SECRETS` cannot be `None`"),
        );
    }
    let host = view(moment.state, Perspective::HOST);
    for viewer in viewers(moment.state) {
        if let Some(field) = differing_field(&host, &view(moment.state, viewer)) {
            report.doing(format_args!("the view of {viewer}"));
            report.broke(
                Law::Secrets,
                format!("`{field}` differs from the view of host, so `SECRETS` cannot be `None`"),
            );
        }
    }
}

/// Requires something to be concealed from a viewer in one of the matches, if `SECRETS` is not `None`.
///
/// Requires nothing if no player gave a command in any match, because these setups cannot reach a secret. In `desk`,
/// for example, players act only by papers that are signed elsewhere.
pub(super) fn check_all(report: &mut LawReport<'_>, rules: &dyn AnyRules, matches: &[PlayedMatch]) {
    let is_played = matches.iter().any(has_players_commands);
    if !rules.has_secrets() || !is_played || matches.iter().any(|played| conceals(rules, played)) {
        return;
    }
    let remedy = if report.is_referee() {
        "answer `\"secrets\":\"none\"`, or an example that reaches a secret"
    } else {
        "write `Secrets::None`, or add a setup that reaches a secret"
    };
    report.broke(Law::Secrets, format!("nothing was concealed from any seat in these matches: {remedy}"));
}

fn has_players_commands(played: &PlayedMatch) -> bool {
    played.entries.iter().any(|entry| entry.seat != Seat::Host)
}

fn conceals(rules: &dyn AnyRules, played: &PlayedMatch) -> bool {
    let Ok(start) = rules.start(&played.setup) else { return false };
    let log = log_of(&played.entries);
    for head in 0..=log.len() {
        for viewer in not_hosts(&*start) {
            let mut state = start.fork();
            let mut is_whole = true;
            let folded = state.fold_as(viewer, &log[..head], &played.dice, &mut |step| {
                is_whole &= step.wholly_shown();
            });
            let setup = state.setup_seen(&played.setup, viewer);
            if folded.is_ok() && (!is_whole || setup.is_ok_and(|setup| setup != played.setup)) {
                return true;
            }
        }
    }
    false
}

/// Compares the match with others that differ only in the setup or in one command.
pub(super) fn check_whole(report: &mut LawReport<'_>, rules: &dyn AnyRules, played: &PlayedMatch) {
    let Ok(mut state) = rules.start(&played.setup) else { return };
    let log = log_of(&played.entries);
    for setup in other_setups(rules, &played.setup) {
        let Ok(other) = rules.start(&setup) else { continue };
        for viewer in not_hosts(&*state) {
            let pair = Pair { viewer, states: [&*state, &*other] };
            report.step(0);
            check_setup(report, &pair, [&played.setup, &setup]);
            pair.check_entries(report, [&log, &log]);
        }
    }
    let mut choices = Choices::new(played.seed, 2);
    let stride = log.len() / ENTRIES_MAX + 1;
    for (place, entry) in played.entries.iter().enumerate() {
        let owner = state.due_roll().and_then(|due| due.owner);
        let mut others = Vec::new();
        if place % stride == 0 {
            others = other_commands(&*state, entry, &mut choices);
        }
        for command in others {
            let mut other = log[place..].to_vec();
            other[0] = logged(entry.seq, entry.seat, &command);
            for viewer in not_hosts(&*state) {
                // The seat of the entry and the owner of a roll may know what is replaced.
                if let Some(seat) = viewer.seat()
                    && (seat == entry.seat || Some(seat) == owner)
                {
                    continue;
                }
                report.step(place);
                let pair = Pair { viewer, states: [&*state, &*state] };
                pair.check_entries(report, [&log[place..], &other]);
            }
        }
        if state.fold(&log[place..=place], &played.dice, &mut |_| {}).is_err() {
            return;
        }
    }
}

/// Two states that must look the same to a viewer.
struct Pair<'a> {
    viewer: Perspective,
    states: [&'a dyn AnyState; 2],
}

impl Pair<'_> {
    /// Returns a field that differs and is concealed from the viewer, if both states look the same to the viewer.
    fn concealed_field(&self) -> Option<String> {
        let [one, other] = self.states;
        if view(one, self.viewer) != view(other, self.viewer)
            || one.picture(self.viewer) != other.picture(self.viewer)
        {
            return None;
        }
        differing_field(&view(one, Perspective::HOST), &view(other, Perspective::HOST))
    }

    /// Folds both logs, and requires the viewer to be shown the same as long as its views are the same.
    fn check_entries(&self, report: &mut LawReport<'_>, logs: [&[Logged<'_>]; 2]) {
        let Self { viewer, states } = self;
        let mut ends = states.map(AnyState::fork);
        let most = logs[0].len().min(logs[1].len()).min(HORIZON);
        for count in 1..=most {
            for (end, log) in ends.iter_mut().zip(logs) {
                if end.fold(&log[count - 1..count], &DicePolicy::Recorded, &mut |_| {}).is_err() {
                    return;
                }
            }
            let [one, other] = &ends;
            if view(&**one, *viewer) != view(&**other, *viewer) {
                return;
            }
            let Some(field) = (Pair { viewer: *viewer, states: [&**one, &**other] }).concealed_field() else {
                continue;
            };
            let one = shown(states[0], *viewer, &logs[0][..count]);
            let other = shown(states[1], *viewer, &logs[1][..count]);
            for (place, (one, other)) in one.iter().zip(&other).enumerate() {
                if one == other {
                    continue;
                }
                report.doing(format_args!("entry {}", logs[0][place].seq));
                let shown = format!("{viewer} is shown {one}, else {other}");
                report.broke(Law::Leaks, format!("{shown}; so it learns `{field}`, which its view conceals"));
                return;
            }
        }
    }
}

fn check_setup(report: &mut LawReport<'_>, pair: &Pair<'_>, setups: [&[u8]; 2]) {
    let viewer = pair.viewer;
    let Some(field) = pair.concealed_field() else { return };
    let one = pair.states[0].setup_seen(setups[0], viewer).ok();
    let other = pair.states[1].setup_seen(setups[1], viewer).ok();
    report.doing("the setup");
    report.expect(Law::Leaks, one == other, || {
        format!("the setup that {viewer} is shown reveals `{field}`, which its view conceals")
    });
}

/// Returns what a viewer is shown of entries once all are folded.
fn shown(start: &dyn AnyState, viewer: Perspective, log: &[Logged<'_>]) -> Vec<String> {
    let mut shown = Vec::new();
    let folded = start.fork().fold_as(viewer, log, &DicePolicy::Recorded, &mut |step| {
        let command =
            if step.concealed() { String::from("nothing") } else { format!("`{}`", step.command()) };
        let effects = step.effects_json();
        shown.push(if *effects == *"[]" { command } else { format!("{command} with {effects}") });
    });
    if folded.is_ok() { shown } else { Vec::new() }
}

fn view(state: &dyn AnyState, viewer: Perspective) -> Value {
    serde_json::from_str(&state.view(viewer)).unwrap_or_default()
}

/// Returns the path of the first field in which two views differ.
fn differing_field(one: &Value, other: &Value) -> Option<String> {
    if one == other {
        return None;
    }
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            for key in one.keys().chain(other.keys()) {
                if one.get(key) != other.get(key) {
                    return Some(below(key, one.get(key), other.get(key)));
                }
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            for place in 0..one.len().max(other.len()) {
                if one.get(place) != other.get(place) {
                    return Some(below(&place.to_string(), one.get(place), other.get(place)));
                }
            }
        }
        _ => {}
    }
    Some(String::new())
}

/// Returns the path to the difference within the member or element at a key.
fn below(key: &str, one: Option<&Value>, other: Option<&Value>) -> String {
    let mut path = format!("/{key}");
    if let (Some(one), Some(other)) = (one, other) {
        path += &differing_field(one, other).unwrap_or_default();
    }
    path
}

/// Returns setups that differ from this one in one number, or by an exchange of two numbers.
fn other_setups(rules: &dyn AnyRules, setup: &[u8]) -> Vec<Vec<u8>> {
    let Ok(text) = rules.write_setup(setup) else { return Vec::new() };
    let in_word = |character: char| character.is_alphanumeric() || "_-+.".contains(character);
    let places = numbers(&text, in_word);
    let mut texts = Vec::new();
    for (index, range) in places.iter().enumerate() {
        let number = &text[range.clone()];
        let value = number.parse::<i64>().unwrap_or_default();
        for other in [value.saturating_add(1), value.saturating_sub(1)] {
            texts.push(replaced(&text, range, &other.to_string()));
        }
        if let Some(next) = places.get(index + 1)
            && text[next.clone()] != *number
        {
            let later_first = replaced(&text, next, number);
            texts.push(replaced(&later_first, range, &text[next.clone()]));
        }
    }
    let stride = texts.len() / SETUPS_MAX + 1;
    let mut setups = Vec::new();
    for text in texts.iter().step_by(stride) {
        setups.extend(read_spoiled(rules, text));
    }
    setups
}

/// Returns commands that the same seat could give instead: rolls of other values, or commands with the same verb.
fn other_commands(state: &dyn AnyState, entry: &PlayedEntry, choices: &mut Choices) -> Vec<String> {
    let is_roll = roll_verb(state).as_deref() == Some(verb(&entry.command));
    let mut others = match state.due_roll() {
        Some(due) if is_roll => {
            let count = usize::try_from(due.count).unwrap_or_default();
            let mut rolls = Vec::new();
            for value in [due.low, due.high] {
                rolls.extend(state.roll_command(vec![value; count]));
            }
            rolls
        }
        _ => {
            let mut legal = state.legal(entry.seat);
            legal.retain(|other| verb(other) == verb(&entry.command));
            legal
        }
    };
    others.retain(|other| *other != entry.command);
    let mut sample = choices.sample(&others, OTHERS);
    sample.retain(|other| matches!(state.judge(entry.seat, other), Ok(Verdict::Applied(()))));
    sample.into_iter().map(String::from).collect()
}
