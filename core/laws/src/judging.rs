//! `judge`, `legal` and the fold agree about each command, and only applied commands change anything.

use std::collections::BTreeSet;

use turnfold_core::admission::Refusal;
use turnfold_core::{AnyRules, AnyState, DicePolicy, FoldError, Outcome, Rejected, Seat, Verdict};

use super::law_report::{Law, LawReport};
use super::random_matches::{PlayedEntry, logged, roll_verb, verb};
use super::{Moment, commands, effects};

/// The rejections up to the check of who may give the command, including `wrong_seat`: all but `bad_roll`.
const FOREIGN: &[&str] = Refusal::CODES.split_at(4).0;

pub(super) fn check(
    report: &mut LawReport<'_>,
    rules: &dyn AnyRules,
    moment: &Moment<'_>,
    round_tripped: &mut BTreeSet<String>,
) {
    let mut trial = Trial {
        rules,
        state: moment.state,
        scratch: moment.state.fork(),
        bytes: moment.state.state_bytes(),
        roll_verb: roll_verb(moment.state),
        over: BTreeSet::new(),
        round_tripped,
    };
    for (number, seat) in Seat::ALL.into_iter().enumerate() {
        report.doing(seat);
        let legal = trial.state.legal(seat);
        let candidates = trial.state.candidates(seat);
        check_lists(report, &candidates, &legal);
        check_choices(report, trial.state, seat, &candidates, &legal);
        // All seats outside the match get the same answer, so they try commands in turn.
        let outside = seat != Seat::Host && !trial.state.players().contains(&seat);
        let (start, stride) = if outside { ((moment.step + number) % 8, 8) } else { (0, 1) };
        let some_legal = legal.iter().step_by(legal.len() / 8 + 1).map(String::as_str);
        for command in moment.tried.iter().copied().skip(start).step_by(stride).chain(some_legal) {
            report.doing(format_args!("{seat} `{command}`"));
            trial.check(report, seat, command, &legal);
        }
    }
    report.doing("any seat");
    let over = moment.state.over();
    report.expect(Law::MatchOver, trial.over.iter().all(|rejected| *rejected == over), || {
        format!("the state says over={over}, and not every command is answered accordingly")
    });
}

fn check_lists(report: &mut LawReport<'_>, candidates: &[String], legal: &[String]) {
    let known: BTreeSet<&String> = candidates.iter().collect();
    report.expect(Law::LegalIsWhatApplies, known.len() == candidates.len(), || {
        "a candidate is listed twice".into()
    });
    report.expect(
        Law::LegalIsWhatApplies,
        legal.iter().collect::<BTreeSet<_>>().len() == legal.len(),
        || "a legal command is listed twice".into(),
    );
    if let Some(surplus) = legal.iter().find(|command| !known.contains(command)) {
        report.broke(Law::LegalIsWhatApplies, format!("`{surplus}` is legal and no candidate"));
    }
}

/// Random play chooses from candidates in their order. The choices mark the legal ones, and number the kinds in order.
fn check_choices(
    report: &mut LawReport<'_>,
    state: &dyn AnyState,
    seat: Seat,
    candidates: &[String],
    legal: &[String],
) {
    let choices = state.choices(seat);
    let mut rest = candidates.iter();
    let mut kinds = 0;
    for choice in &choices {
        let is_in_order = rest.any(|candidate| *candidate == choice.command);
        report.expect(Law::Choices, is_in_order, || {
            format!("`{}` is not listed once and in the order of the candidates", choice.command)
        });
        let is_legal = legal.contains(&choice.command);
        report.expect(Law::Choices, choice.legal == is_legal, || {
            format!("of `{}` it says legal={}, the list says {is_legal}", choice.command, choice.legal)
        });
        report.expect(Law::Choices, choice.kind <= kinds, || {
            format!("`{}` is of kind {} before any is of kind {kinds}", choice.command, choice.kind)
        });
        kinds = kinds.max(choice.kind.saturating_add(1));
    }
    let named: Vec<&String> =
        choices.iter().filter(|choice| choice.legal).map(|choice| &choice.command).collect();
    let at_random = state.legal_at_random(seat);
    report.expect(Law::Choices, named.iter().copied().eq(&at_random), || {
        format!("the legal ones are {at_random:?}, the choices name {named:?}")
    });
}

struct Trial<'a> {
    rules: &'a dyn AnyRules,
    state: &'a dyn AnyState,
    /// A copy that equals `state` before each command.
    scratch: Box<dyn AnyState>,
    bytes: Vec<u8>,
    roll_verb: Option<String>,
    /// Whether commands were rejected because the match is over: has both values if only some were.
    over: BTreeSet<bool>,
    /// The commands whose round trip was tested, in this state or earlier.
    round_tripped: &'a mut BTreeSet<String>,
}

impl Trial<'_> {
    fn check(&mut self, report: &mut LawReport<'_>, seat: Seat, command: &str, legal: &[String]) {
        let default = self.state.default_seat(command);
        // If a referee waits for several seats, a seat must be named (RF-11).
        if default.is_none() && !report.is_referee() {
            report.broke(Law::TextRoundTrip, "this text of a candidate is malformed");
            return;
        }
        let judged = self.scratch.judge(seat, command);
        // If the fold does not apply it, the bytes must stay equal too, so they are compared once, after it.
        let applied = judged == Ok(Verdict::Applied(()));
        if applied && self.scratch.state_bytes() != self.bytes {
            report.broke(Law::NothingElseChanges, "judging it changed the state");
            self.scratch = self.state.fork();
        }
        self.over.insert(is_rejected(&judged, &["match_over"]));
        self.check_legal(report, &judged, command, legal);
        self.check_seat(report, &judged, seat, default);
        self.check_fold(report, &judged, seat, command);
    }

    fn check_legal(
        &self,
        report: &mut LawReport<'_>,
        judged: &Result<Verdict, Rejected>,
        command: &str,
        legal: &[String],
    ) {
        let listed = legal.iter().any(|other| other == command);
        let applied = *judged == Ok(Verdict::Applied(()));
        // Rolls are sampled: a candidate of another moment may be right for the roll that is due now.
        let sampled = self.roll_verb.as_deref() == Some(verb(command));
        report.expect(Law::LegalIsWhatApplies, applied || !listed, || {
            format!("legal lists it, judge answers {}", described(judged))
        });
        report.expect(Law::LegalIsWhatApplies, listed || !applied || sampled, || {
            "judge would apply it, legal does not list it".into()
        });
    }

    fn check_seat(
        &self,
        report: &mut LawReport<'_>,
        judged: &Result<Verdict, Rejected>,
        seat: Seat,
        default: Option<Seat>,
    ) {
        let players = self.state.players();
        if let Some(default) = default {
            report.expect(Law::Seats, default == Seat::Host || players.contains(&default), || {
                format!("by default it comes from {default}, who is no player")
            });
        }
        let entitled = match seat {
            // A referee decides itself which commands it accepts from players and from the host.
            seat if report.is_referee() => seat == Seat::Host || players.contains(&seat),
            Seat::Host => default == Some(Seat::Host),
            player => default != Some(Seat::Host) && players.contains(&player),
        };
        report.expect(Law::Seats, entitled || is_rejected(judged, FOREIGN), || {
            format!("expected `wrong_seat` or an earlier rejection, found {}", described(judged))
        });
    }

    fn check_fold(
        &mut self,
        report: &mut LawReport<'_>,
        judged: &Result<Verdict, Rejected>,
        seat: Seat,
        command: &str,
    ) {
        let mut entry = None;
        let observe = &mut |step: &mut dyn turnfold_core::Step| entry = Some(PlayedEntry::of(step));
        let folded = self.scratch.fold(&[logged(1, seat, command)], &DicePolicy::Recorded, observe);
        let same = match (judged, &folded, &entry) {
            (Ok(verdict), Ok(()), Some(entry)) => entry.verdict == *verdict,
            (Err(judged), Err(FoldError::Rejected { rejected, .. }), None) => *judged == **rejected,
            _ => false,
        };
        report.expect(Law::LegalIsWhatApplies, same, || {
            format!("judge answers {}, the fold {folded:?} with {entry:?}", described(judged))
        });
        let applied = entry.as_ref().is_some_and(|entry| entry.verdict == Verdict::Applied(()));
        if !applied && self.scratch.state_bytes() != self.bytes {
            report.broke(
                Law::NothingElseChanges,
                format!("judging or folding it changed the state: {}", described(judged)),
            );
            self.scratch = self.state.fork();
        }
        if let Some(entry) = entry {
            effects::check(report, &entry);
            if self.round_tripped.insert(command.to_owned()) {
                commands::check_round_trip(report, self.rules, self.state, &entry, command);
            }
        }
        if applied {
            self.scratch = self.state.fork();
        }
    }
}

fn is_rejected(judged: &Result<Verdict, Rejected>, codes: &[&str]) -> bool {
    judged.as_ref().is_err_and(|rejected| codes.contains(&rejected.code.as_str()))
}

/// Describes the answer of `judge`.
pub(super) fn described(judged: &Result<Verdict, Rejected>) -> String {
    format!("`{}`", Outcome::from(judged))
}
