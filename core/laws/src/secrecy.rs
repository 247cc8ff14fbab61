//! What viewers see is well-formed, is the same when asked twice, and contains nothing concealed from them.

use std::collections::BTreeSet;

use serde_json::Value;
use turnfold_core::any::Choice;
use turnfold_core::picture::Picture;
use turnfold_core::{
    Answer, AnyRules, AnyState, DicePolicy, Json, MatchResult, Perspective, QueryError, Rejected, Seat, Step,
    Verdict,
};

use super::effects::Object;
use super::judging::described;
use super::law_report::{Law, LawReport};
use super::random_matches::{log_of, logged, verb};
use super::{Moment, not_hosts, viewers};

/// At every eighth moment, all that can be asked is asked twice.
const TWICE_EVERY: usize = 8;
/// A question that no ruleset has; its error lists the known questions.
const UNLISTED: &str = "?";

pub(super) fn check(report: &mut LawReport<'_>, rules: &dyn AnyRules, moment: &Moment<'_>) {
    let state = moment.state;
    for viewer in viewers(state) {
        report.doing(format_args!("the view of {viewer}"));
        check_view(report, rules.name(), &state.view(viewer));
    }
    if moment.step.is_multiple_of(TWICE_EVERY) {
        check_fields(report, state);
        check_twice(report, rules, moment);
        check_questions(report, moment);
    }
    // A match has a result only at its end.
    let is_end = moment.step == moment.played.entries.len();
    if is_end || moment.step.is_multiple_of(TWICE_EVERY) {
        check_seats_file(report, rules, moment);
    }
    let Some(entry) = moment.played.entries.get(moment.step) else { return };
    for viewer in viewers(state) {
        let mut after = state.fork();
        let mut hidden = false;
        let folded = after.fold_as(viewer, &[entry.logged()], &moment.played.dice, &mut |step| {
            hidden = step.concealed()
                && step.outcome().effects().next().is_none()
                && *step.effects_json() == *"[]";
        });
        if folded.is_err() || !hidden {
            continue;
        }
        let questions = questions(moment.state);
        let before = Sight::with_judged(state, viewer, &questions, moment);
        let after = Sight::with_judged(&*after, viewer, &questions, moment);
        report.doing(format_args!("{viewer} while {} does `{}`", entry.seat, entry.command));
        if let Some(difference) = before.difference(&after) {
            report.broke(Law::Secrecy, difference);
        }
    }
}

/// Requires each field to be the same in the whole view and when asked for alone with `Rules::view_with`.
fn check_fields(report: &mut LawReport<'_>, state: &dyn AnyState) {
    for viewer in viewers(state) {
        let Ok(Value::Object(view)) = serde_json::from_str::<Value>(&state.view(viewer)) else { continue };
        for (key, value) in view {
            let path = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
            report.expect(Law::Views, state.view_at(viewer, &path).as_ref() == Some(&value), || {
                format!("`{path}` alone is not what it is in the view of {viewer}")
            });
        }
    }
}

/// The ruleset answers only the questions that it lists. The list does not depend on the state or the viewer.
fn check_questions(report: &mut LawReport<'_>, moment: &Moment<'_>) {
    let listed = moment.start.query(Perspective::HOST, UNLISTED);
    let known = match &listed {
        Ok(answer) => {
            report.broke(Law::Questions, format!("`{UNLISTED}` is answered `{}`", answer.text));
            return;
        }
        Err(QueryError::Unknown { known, .. }) => known.as_str(),
        Err(QueryError::Arguments(_)) => "",
    };
    let words: BTreeSet<&str> = forms(known).map(verb).collect();
    // What else a ruleset might answer: fields of its view and words of commands.
    let mut others = BTreeSet::new();
    for command in &moment.tried {
        others.insert(verb(command).to_owned());
    }
    if let Ok(Value::Object(view)) = serde_json::from_str::<Value>(&moment.state.view(Perspective::HOST)) {
        others.extend(view.keys().cloned());
    }
    others.retain(|other| !words.contains(other.as_str()));
    for viewer in viewers(moment.state) {
        report.doing(viewer);
        let now = moment.state.query(viewer, UNLISTED);
        report.expect(Law::Questions, now == listed, || {
            format!("the questions are listed as {now:?}, and first were as {listed:?}")
        });
        for other in &others {
            let answer = moment.state.query(viewer, other);
            report.expect(Law::Questions, answer.is_err(), || {
                format!("`{other}` is not listed, and is answered {answer:?}")
            });
        }
    }
}

pub(super) fn check_view(report: &mut LawReport<'_>, ruleset: &str, view: &str) {
    match serde_json::from_str::<Object>(view) {
        Err(error) => report.broke(Law::Views, format!("{error} in {view}")),
        Ok(Object(members)) => {
            let begins = match members.first() {
                Some((key, value)) => key == "ruleset" && value == ruleset,
                None => false,
            };
            report
                .expect(Law::Views, begins, || format!("expected it to begin with `ruleset`, found {view}"));
            let keys: BTreeSet<&String> = members.iter().map(|(key, _)| key).collect();
            report
                .expect(Law::Views, keys.len() == members.len(), || format!("a key stands twice in {view}"));
        }
    }
}

/// What is seen depends only on the state, not on earlier questions or on how the state was reached.
fn check_twice(report: &mut LawReport<'_>, rules: &dyn AnyRules, moment: &Moment<'_>) {
    let state = moment.state;
    let Ok(resumed) = rules.resume(&state.state_bytes(), state.rolls()) else { return };
    let questions = questions(moment.state);
    let count = viewers(state).count();
    for (place, viewer) in viewers(state).enumerate() {
        // Questions can be slow, so only one viewer asks them at each moment.
        let mine = moment.step / TWICE_EVERY % count == place;
        let questions = if mine { questions.as_slice() } else { &[] };
        let first = Sight::of(state, viewer, questions);
        report.doing(viewer);
        for (how, other) in [("asked again", state), ("resumed", &*resumed)] {
            if let Some(difference) = first.difference(&Sight::of(other, viewer, questions)) {
                report.broke(Law::Stable, format!("{how}, {difference}"));
            }
        }
    }
}

/// The parts of a match that a viewer may know form a match that looks the same to the viewer.
fn check_seats_file(report: &mut LawReport<'_>, rules: &dyn AnyRules, moment: &Moment<'_>) {
    let Moment { played, state, step, .. } = *moment;
    let log = log_of(&played.entries[..step]);
    let questions = questions(state);
    for viewer in not_hosts(state) {
        report.doing(format_args!("what {viewer} may know of the match"));
        let mut known = Vec::new();
        let Ok(mut whole) = rules.start(&played.setup) else { return };
        let mut count = 0;
        let folded = whole.fold_as(viewer, &log, &played.dice, &mut |step| {
            if !step.concealed() {
                known.push((count, step.stand_in(), step.outcome().to_string()));
            }
            count += 1;
        });
        let setup = state.setup_seen(&played.setup, viewer);
        let (Ok(()), Ok(setup)) = (folded, setup) else { continue };
        let mut entries = Vec::new();
        for (seq, (place, command, _)) in (1..).zip(&known) {
            entries.push(logged(seq, log[*place].seat, command));
        }
        let mut outcomes = Vec::new();
        let mut file = match rules.start(&setup) {
            Ok(file) => file,
            Err(error) => {
                report.broke(Law::SeatsFile, error);
                continue;
            }
        };
        let observe = &mut |step: &mut dyn Step| outcomes.push(step.outcome().to_string());
        if let Err(error) = file.fold_as(viewer, &entries, &DicePolicy::Recorded, observe) {
            report.broke(Law::SeatsFile, error);
            continue;
        }
        if !outcomes.iter().eq(known.iter().map(|(.., outcome)| outcome)) {
            report.broke(Law::SeatsFile, format!("the outcomes {known:?} become {outcomes:?}"));
            continue;
        }
        let whole = Sight::with_judged(state, viewer, &questions, moment);
        if let Some(difference) = whole.difference(&Sight::with_judged(&*file, viewer, &questions, moment)) {
            report.broke(Law::SeatsFile, difference);
        }
    }
}

/// Everything that a viewer can learn about a state.
struct Sight<'a> {
    view: Json,
    legal: Vec<String>,
    candidates: Vec<String>,
    picture: Picture,
    answers: Vec<(&'a str, Result<Answer, QueryError>)>,
    turn: Option<u64>,
    result: Option<MatchResult>,
    choices: Vec<Choice>,
    judged: Vec<Judged<'a>>,
}

/// The viewer's answer to a command, and the seat that gives the command if none is named.
#[derive(PartialEq)]
struct Judged<'a> {
    command: &'a str,
    verdict: Result<Verdict, Rejected>,
    by: Option<Seat>,
}

/// Judges all commands tried at a moment if the viewer is a player; all others get the same answer.
fn judged<'a>(state: &dyn AnyState, viewer: Perspective, moment: &Moment<'a>) -> Vec<Judged<'a>> {
    // A game that changes the state while judging breaks another law.
    let state = state.fork();
    let mut judged = Vec::new();
    if let Some(seat) = viewer.seat()
        && state.players().contains(&seat)
    {
        for &command in &moment.tried {
            let verdict = state.judge(seat, command);
            judged.push(Judged { command, verdict, by: state.default_seat(command) });
        }
    }
    judged
}

impl<'a> Sight<'a> {
    fn with_judged(
        state: &dyn AnyState,
        viewer: Perspective,
        questions: &'a [String],
        moment: &Moment<'a>,
    ) -> Self {
        Self { judged: judged(state, viewer, moment), ..Self::of(state, viewer, questions) }
    }

    fn of(state: &dyn AnyState, viewer: Perspective, questions: &'a [String]) -> Self {
        let mut answers = Vec::new();
        for question in questions {
            answers.push((question.as_str(), state.query(viewer, question)));
        }
        let view = state.view(viewer);
        let mut legal = Vec::new();
        let mut candidates = Vec::new();
        let mut choices = Vec::new();
        if let Some(seat) = viewer.seat() {
            legal = state.legal(seat);
            candidates = state.candidates(seat);
            choices = state.choices(seat);
        }
        Self {
            view,
            legal,
            candidates,
            choices,
            picture: state.picture(viewer),
            answers,
            turn: state.turn(),
            result: state.result(),
            judged: Vec::new(),
        }
    }

    fn difference(&self, other: &Self) -> Option<String> {
        if self.view != other.view {
            return Some(format!("the view {} becomes {}", self.view, other.view));
        }
        if self.legal != other.legal || self.candidates != other.candidates {
            return Some(format!("the commands {:?} become {:?}", self.legal, other.legal));
        }
        if self.choices != other.choices {
            return Some(format!("the choices {:?} become {:?}", self.choices, other.choices));
        }
        if self.picture != other.picture {
            return Some(format!("the picture {:?} becomes {:?}", self.picture, other.picture));
        }
        if self.turn != other.turn {
            return Some(format!("the turn {:?} becomes {:?}", self.turn, other.turn));
        }
        if self.result != other.result {
            return Some(format!("the result {:?} becomes {:?}", self.result, other.result));
        }
        for ((question, one), (_, two)) in self.answers.iter().zip(&other.answers) {
            if one != two {
                return Some(format!("`{question}` is answered {one:?}, then {two:?}"));
            }
        }
        for (one, two) in self.judged.iter().zip(&other.judged) {
            if one != two {
                return Some(format!(
                    "to `{}` judge answers {} by {:?}, then {} by {:?}",
                    one.command,
                    described(&one.verdict),
                    one.by,
                    described(&two.verdict),
                    two.by
                ));
            }
        }
        None
    }
}

/// Returns questions in the forms that the ruleset lists. Numbers, hexes and ids of this match replace the words in
/// capitals.
#[must_use]
pub fn questions(state: &dyn AnyState) -> Vec<String> {
    let Err(QueryError::Unknown { known, .. }) = state.query(Perspective::HOST, UNLISTED) else {
        return Vec::new();
    };
    let mut words: BTreeSet<String> = ["0", "1", "3", "0,0", "1,-1"].map(String::from).into();
    if let Ok(view) = serde_json::from_str::<Value>(&state.view(Perspective::HOST)) {
        let mut ids = Vec::new();
        collect_ids(&view, &mut ids);
        words.extend(ids.into_iter().take(3));
    }
    let mut filled = BTreeSet::new();
    for form in forms(&known) {
        for word in &words {
            let mut parts: Vec<&str> = form.split(' ').collect();
            for part in &mut parts {
                if part.chars().all(|character| character.is_ascii_uppercase() || character == '_') {
                    *part = word;
                }
            }
            filled.insert(parts.join(" "));
        }
    }
    filled.into_iter().collect()
}

/// Returns the forms of questions in a list, where each is in backticks.
fn forms(known: &str) -> impl Iterator<Item = &str> {
    known.split('`').skip(1).step_by(2)
}

fn collect_ids(value: &Value, ids: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            for item in items {
                collect_ids(item, ids);
            }
        }
        Value::Object(members) => {
            match members.get("id") {
                Some(Value::String(id)) => ids.push(id.clone()),
                Some(id) => ids.push(id.to_string()),
                None => {}
            }
            for member in members.values() {
                collect_ids(member, ids);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
