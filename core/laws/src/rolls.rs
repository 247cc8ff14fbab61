//! Due rolls: while a roll is due, only a roll of the required form is accepted.

use turnfold_core::dice::DueRoll;
use turnfold_core::{AnyState, DicePolicy, FoldError, Seat, Verdict};

use super::Moment;
use super::judging::described;
use super::law_report::{Law, LawReport};
use super::random_matches::{log_of, logged, roll_verb, verb};

/// The number of ignored and of rejected commands that are tried before a roll.
const PADDING_MAX: usize = 3;

pub(super) fn check(report: &mut LawReport<'_>, moment: &Moment<'_>) {
    check_padding(report, moment);
    // A game without dice has no roll. Another test checks that its roll texts are malformed.
    let Some(roll_verb) = roll_verb(moment.state) else {
        report.expect(Law::Rolls, moment.state.due_roll().is_none(), || {
            "a game without dice has one due".into()
        });
        return;
    };
    let Some(due) = moment.state.due_roll() else {
        check_none_due(report, moment.state);
        return;
    };
    for seat in Seat::ALL {
        for command in &moment.tried {
            if verb(command) != roll_verb && moment.state.default_seat(command).is_some() {
                expect_rejected(report, moment.state, seat, command, "roll_due");
            }
        }
    }
    let legal = moment.state.legal(Seat::Host);
    report.doing("host");
    // A referee lists no rolls, because turnfold handles them.
    let is_listed = report.is_referee() || legal.iter().any(|command| verb(command) == roll_verb);
    report.expect(Law::Rolls, is_listed, || {
        format!("no `{roll_verb}` is legal while it is due: `candidates` of `host` lists none")
    });
    check_values(report, moment.state, &due);
    check_seeded(report, moment, &due);
}

fn check_none_due(report: &mut LawReport<'_>, state: &dyn AnyState) {
    for values in [vec![1], vec![0], vec![1, 2, 3, 4], vec![i32::MIN, i32::MAX]] {
        let Some(roll) = state.roll_command(values) else { continue };
        for seat in Seat::ALL {
            let judged = state.judge(seat, &roll);
            if judged.as_ref().is_err_and(|rejected| rejected.code == "match_over") {
                continue;
            }
            expect_rejected(report, state, seat, &roll, "no_roll_due");
        }
    }
}

fn check_values(report: &mut LawReport<'_>, state: &dyn AnyState, due: &DueRoll) {
    let count = usize::try_from(due.count).unwrap();
    report.doing(format_args!("a roll of {due}"));
    report.expect(Law::Rolls, count > 0 && due.low <= due.high, || "no values answer it".into());
    for value in [due.low, due.high] {
        let Some(roll) = state.roll_command(vec![value; count]) else { continue };
        report.doing(format_args!("host `{roll}`"));
        let judged = state.judge(Seat::Host, &roll);
        report.expect(Law::Rolls, judged == Ok(Verdict::Applied(())), || {
            format!("expected `applied`, found {}", described(&judged))
        });
        for seat in Seat::ALL {
            if seat != Seat::Host {
                expect_rejected(report, state, seat, &roll, "wrong_seat");
            }
        }
    }
    let mut wrong = vec![vec![due.low; count + 1], vec![due.low; count + 1000]];
    if count > 1 {
        wrong.push(vec![due.low; count - 1]);
    }
    let beyond = [due.low.checked_sub(1), due.high.checked_add(1), Some(i32::MIN), Some(i32::MAX)];
    for value in beyond.into_iter().flatten() {
        if (due.low..=due.high).contains(&value) {
            continue;
        }
        for place in 0..count {
            let mut values = vec![due.low; count];
            values[place] = value;
            wrong.push(values);
        }
    }
    for values in wrong {
        if let Some(roll) = state.roll_command(values) {
            expect_rejected(report, state, Seat::Host, &roll, "bad_roll");
        }
    }
}

/// Ignored and rejected commands, of any seat, do not change the next roll of the match.
fn check_padding(report: &mut LawReport<'_>, moment: &Moment<'_>) {
    let Moment { played, step, state, .. } = *moment;
    let rest = &played.entries[step..];
    let roll_verb = roll_verb(state);
    let next_roll = rest.iter().position(|entry| roll_verb.as_deref() == Some(verb(&entry.command)));
    let mut padded = state.fork();
    let mut ignored = 0;
    let mut rejected = 0;
    for seat in Seat::ALL {
        for command in &moment.tried {
            let count = match padded.judge(seat, command) {
                Ok(Verdict::Applied(())) => continue,
                Ok(Verdict::Ignored(_)) => &mut ignored,
                Err(_) => &mut rejected,
            };
            *count += 1;
            if *count > PADDING_MAX {
                continue;
            }
            report.doing(format_args!("{seat} `{command}`"));
            let folded = padded.fold(&[logged(1, seat, command)], &played.dice, &mut |_| {});
            report.expect(Law::DiceCountRolls, padded.rolls() == state.rolls(), || {
                format!("{folded:?} makes it {} rolls after {}", padded.rolls(), state.rolls())
            });
        }
    }
    if let Some(next_roll) = next_roll {
        report.doing(format_args!("the roll after {} ignored commands", ignored.min(PADDING_MAX)));
        let folded = padded.fold(&log_of(&rest[..=next_roll]), &played.dice, &mut |_| {});
        report.expect(Law::DiceCountRolls, folded.is_ok(), || format!("it is refused: {folded:?}"));
    }
}

/// In a seeded match only the roll that the seed gives is accepted.
fn check_seeded(report: &mut LawReport<'_>, moment: &Moment<'_>, due: &DueRoll) {
    let seq = u64::try_from(moment.step).unwrap() + 1;
    let Some(values) = moment.state.seeded_roll(&moment.played.dice) else { return };
    let mut turned = values.clone();
    for value in &mut turned {
        *value = if *value == due.low { due.high } else { due.low };
    }
    if turned == values {
        return;
    }
    let Some(roll) = moment.state.roll_command(turned) else { return };
    report.doing(format_args!("host `{roll}`"));
    let mut fork = moment.state.fork();
    let folded = fork.fold(&[logged(seq, Seat::Host, &roll)], &moment.played.dice, &mut |_| {});
    let refused = matches!(folded, Err(FoldError::WrongRoll { .. }));
    report.expect(Law::Rolls, refused, || format!("the seed gives {values:?}, the fold answers {folded:?}"));
    report.expect(Law::NothingElseChanges, fork.state_bytes() == moment.state.state_bytes(), || {
        "a roll against the seed changed the state".into()
    });
}

fn expect_rejected(report: &mut LawReport<'_>, state: &dyn AnyState, seat: Seat, command: &str, code: &str) {
    report.doing(format_args!("{seat} `{command}`"));
    let mut fork = state.fork();
    let judged = fork.judge(seat, command);
    let rejected = judged.as_ref().is_err_and(|rejected| rejected.code == code);
    report
        .expect(Law::Rolls, rejected, || format!("expected `rejected {code}`, found {}", described(&judged)));
    if rejected {
        let folded = fork.fold(&[logged(1, seat, command)], &DicePolicy::Recorded, &mut |_| {});
        report.expect(Law::Rolls, folded.is_err(), || "judge rejects it, the fold accepts it".into());
    }
}
