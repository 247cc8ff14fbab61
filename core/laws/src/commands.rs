//! Commands can be read back from their text and bytes, and nothing else is read as a command.

use std::ops::Range;

use turnfold_core::decode::DecodeError;
use turnfold_core::{AnyRules, AnyState, CommandSource, DicePolicy, FoldError, Logged, Seat, Targets};

use super::Moment;
use super::judging::described;
use super::law_report::{Law, LawReport};
use super::random_matches::{Choices, PlayedEntry, logged};

const NEVER_COMMANDS: [&str; 16] = [
    "",
    " ",
    "  ",
    "\t",
    "\n",
    "\0",
    "frobnicate",
    "frobnicate 1,2",
    "-",
    "=>",
    "#",
    "p1: roll 1",
    "1",
    "1,2",
    "зуг 1,2",
    "🎲",
];

/// Numbers at and beyond the limits of the numbers in commands.
const EXTREMES: [&str; 9] = [
    "0",
    "-1",
    "1000001",
    "2147483647",
    "-2147483648",
    "2147483648",
    "4294967296",
    "18446744073709551616",
    "-9223372036854775809",
];

/// A command accepted as `text` has the same meaning as canonical text and as bytes.
pub(super) fn check_round_trip(
    report: &mut LawReport<'_>,
    rules: &dyn AnyRules,
    state: &dyn AnyState,
    entry: &PlayedEntry,
    text: &str,
) {
    let canonical = &entry.command;
    let alone = rules.canonical(text);
    report.expect(Law::TextRoundTrip, alone.as_ref() == Ok(canonical), || {
        format!("without a state it is read as {alone:?}")
    });
    let written = rules.command_text(&entry.command_bytes);
    report.expect(Law::BytesRoundTrip, written.as_ref() == Ok(canonical), || {
        format!("its bytes are written as {written:?}")
    });
    report.expect(Law::TextRoundTrip, canonical == text, || format!("it is read as `{canonical}`"));
    let mut fork = state.fork();
    let mut again = None;
    let folded = fork.fold(&[entry.logged_bytes()], &DicePolicy::Recorded, &mut |step| {
        again = Some(PlayedEntry::of(step));
    });
    report.expect(Law::BytesRoundTrip, folded.is_ok() && again.as_ref() == Some(entry), || {
        format!("as text {entry:?}, as bytes {folded:?} {again:?}")
    });
    check_other_bytes(report, rules, state, entry);
}

/// Refuses truncated, surplus and overlong bytes; other bytes may be a command only in its canonical form.
fn check_other_bytes(
    report: &mut LawReport<'_>,
    rules: &dyn AnyRules,
    state: &dyn AnyState,
    entry: &PlayedEntry,
) {
    // For such rules turnfold itself decides which bytes are a command.
    if rules.takes_any_line() {
        return;
    }
    let bytes = &entry.command_bytes;
    let mut all_refused = Vec::new();
    for length in 0..bytes.len() {
        all_refused.push(bytes[..length].to_vec());
    }
    for surplus in [0, 1, 0xff] {
        all_refused.push([bytes.as_slice(), &[surplus]].concat());
    }
    if let Some((first, rest)) = bytes.split_first()
        && *first < 0x80
    {
        all_refused.push([&[first | 0x80, 0], rest].concat());
    }
    let before = state.state_bytes();
    let mut scratch = state.fork();
    for refused in all_refused {
        let folded = fold_bytes(&mut *scratch, entry.seat, &refused).map(|_| ());
        report.expect(Law::BytesRoundTrip, matches!(folded, Err(FoldError::Undecodable { .. })), || {
            format!("the bytes {refused:?} are not {bytes:?} and give {folded:?}")
        });
        report.expect(Law::NothingElseChanges, scratch.state_bytes() == before, || {
            format!("the refused bytes {refused:?} changed the state")
        });
        let written = rules.command_text(&refused);
        report.expect(Law::BytesRoundTrip, written.is_err(), || {
            format!("the bytes {refused:?} are not {bytes:?} and are written as {written:?}")
        });
    }
    for (place, byte) in bytes.iter().enumerate() {
        for bit in 0..8 {
            let mut other = bytes.clone();
            other[place] = byte ^ (1 << bit);
            let folded = fold_bytes(&mut *state.fork(), entry.seat, &other);
            let strict = match &folded {
                Ok(written) => *written == other,
                Err(FoldError::Undecodable { cause, .. }) => !matches!(cause, DecodeError::Surplus(0)),
                Err(_) => true,
            };
            report.expect(Law::BytesRoundTrip, strict, || format!("the bytes {other:?} give {folded:?}"));
            let is_command = !matches!(folded, Err(FoldError::Undecodable { .. }));
            let written = rules.command_text(&other);
            report.expect(Law::BytesRoundTrip, written.is_ok() == is_command, || {
                format!("the bytes {other:?} give {folded:?} and are written as {written:?}")
            });
        }
    }
}

/// Folds a command given as bytes and returns the bytes of the command in the entry.
fn fold_bytes(state: &mut dyn AnyState, seat: Seat, bytes: &[u8]) -> Result<Vec<u8>, FoldError> {
    let mut written = Vec::new();
    let entry = Logged { seq: 1, seat, command: CommandSource::Bytes(bytes) };
    state.fold(&[entry], &DicePolicy::Recorded, &mut |step| written = step.command_bytes())?;
    Ok(written)
}

/// Malformed text is rejected as malformed, and numbers at the ends of their range do no harm.
pub(super) fn check(report: &mut LawReport<'_>, rules: &dyn AnyRules, moment: &Moment<'_>) {
    let seat = Seat::ALL[moment.step % Seat::ALL.len()];
    let mut choices = Choices::new(moment.played.seed, u64::try_from(moment.step).unwrap() + 2);
    let commands = choices.sample(&moment.played.commands, 3);
    let mut scratch = moment.state.fork();
    let before = moment.state.state_bytes();
    let mut texts = Vec::from(NEVER_COMMANDS.map(String::from));
    for command in &commands {
        texts.extend(spoil(command));
    }
    if moment.step.is_multiple_of(16) {
        texts.extend(overlong(&commands));
    }
    for text in texts {
        report.doing(format_args!("{seat} {text:?}"));
        // RF-22: these rules may accept any text, and reject an unknown one with a code of their own.
        if rules.takes_any_line() && rules.canonical(&text).is_ok() {
            check_harmless(report, moment.state, seat, &text);
            continue;
        }
        let judged = scratch.judge(seat, &text);
        let rejected = judged.as_ref().is_err_and(|rejected| rejected.code == "malformed");
        report.expect(Law::Malformed, rejected, || format!("judge answers {}", described(&judged)));
        let folded = scratch.fold(&[logged(1, seat, &text)], &DicePolicy::Recorded, &mut |_| {});
        report.expect(Law::Malformed, matches!(folded, Err(FoldError::Malformed { .. })), || {
            format!("the fold answers {folded:?}")
        });
        if scratch.state_bytes() != before {
            report
                .expect(Law::NothingElseChanges, folded.is_ok(), || "refused text changed the state".into());
            scratch = moment.state.fork();
        }
        report
            .expect(Law::Malformed, scratch.default_seat(&text).is_none(), || "it has a default seat".into());
        let read = rules.canonical(&text);
        report.expect(Law::Malformed, read.is_err(), || format!("without a state it is read as {read:?}"));
        let targets = scratch.targets(&text);
        report.expect(Law::Malformed, targets == Targets::default(), || {
            format!("it is clicked as {targets:?}")
        });
    }
    let mut texts = Vec::new();
    for command in &commands {
        texts.extend(with_extremes(command));
    }
    texts.extend(moment.state.roll_command(vec![6; 2000]));
    for text in texts {
        report.doing(format_args!("{seat} `{text}`"));
        check_harmless(report, moment.state, seat, &text);
    }
}

/// Any command, known or not, changes nothing unless it is applied.
pub(super) fn check_harmless(report: &mut LawReport<'_>, state: &dyn AnyState, seat: Seat, text: &str) {
    let seat = state.default_seat(text).unwrap_or(seat);
    let mut fork = state.fork();
    let judged = fork.judge(seat, text);
    let mut entry = None;
    let folded = fork.fold(&[logged(1, seat, text)], &DicePolicy::Recorded, &mut |step| {
        entry = Some(PlayedEntry::of(step));
    });
    let verdict = entry.map(|entry| entry.verdict);
    report.expect(Law::LegalIsWhatApplies, judged.clone().ok() == verdict, || {
        format!("judge answers {}, the fold {folded:?} with {verdict:?}", described(&judged))
    });
    let applied = verdict == Some(turnfold_core::Verdict::Applied(()));
    report.expect(Law::NothingElseChanges, applied || fork.state_bytes() == state.state_bytes(), || {
        format!("folding it changed the state: {}", described(&judged))
    });
}

/// Returns malformed variants of a command.
///
/// Every word that is a number is treated as one, so ids in fixtures must not be numbers even where a ruling allows it.
fn spoil(command: &str) -> Vec<String> {
    let mut spoiled = vec![
        format!(" {command}"),
        format!("{command} "),
        format!("{command}\n"),
        format!("{command}\r"),
        format!("{command}\u{a0}"),
        format!("{command},"),
        format!("{command} é"),
        command.to_uppercase(),
        command.replace(' ', "  ") + if command.contains(' ') { "" } else { "  " },
        command.replace(' ', "\t") + if command.contains(' ') { "" } else { "\t" },
    ];
    for range in numbers(command, |character| !" ,".contains(character)) {
        let number = &command[range.clone()];
        let with_zero = match number.strip_prefix('-') {
            Some(digits) => format!("-0{digits}"),
            None => format!("0{number}"),
        };
        for other in [format!("+{number}"), with_zero, format!("{number}.0"), format!("-{number}-")] {
            spoiled.push(replaced(command, &range, &other));
        }
    }
    spoiled
}

/// Returns texts of about 10 kB. Some of them begin like a command.
fn overlong(commands: &[&str]) -> Vec<String> {
    let mut texts = vec!["a".repeat(10_000), "9".repeat(10_000), "é".repeat(5_000), " ".repeat(10_000)];
    for command in commands.iter().take(2) {
        texts.push(format!("{command}{}", " x".repeat(5_000)));
        texts.push(format!("{command} {}", "é".repeat(5_000)));
        texts.push(format!("{command}{}", " ".repeat(10_000)));
    }
    texts
}

fn with_extremes(command: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for range in numbers(command, |character| !" ,".contains(character)) {
        for extreme in EXTREMES {
            texts.push(replaced(command, &range, extreme));
        }
    }
    texts
}

/// Returns the ranges of the words in a text that are integers in canonical form.
pub fn numbers(text: &str, in_word: impl Fn(char) -> bool) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for (place, character) in text.char_indices().chain([(text.len(), ' ')]) {
        if place < text.len() && in_word(character) {
            continue;
        }
        let word = &text[start..place];
        if word.parse::<i64>().is_ok_and(|number| number.to_string() == word) {
            ranges.push(start..place);
        }
        start = place + character.len_utf8();
    }
    ranges
}

/// Replaces a part of a text.
#[must_use]
pub fn replaced(text: &str, range: &Range<usize>, by: &str) -> String {
    [&text[..range.start], by, &text[range.end..]].concat()
}
