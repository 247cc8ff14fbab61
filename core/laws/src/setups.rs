//! A written setup reads back as the same setup. A spoiled setup gives an error or starts a match, but never panics.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use turnfold_core::{AnyRules, Fault, FaultKind, Seat};

use super::commands::{numbers, replaced};
use super::law_report::{Law, LawReport};

/// Numbers at and beyond the limits of the numbers in setups.
const EXTREMES: [&str; 12] = [
    "-1",
    "0",
    "1",
    "101",
    "256",
    "65536",
    "2147483647",
    "-2147483648",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
];

/// The maximum number of mutations of a setup; for a long setup only some are tried.
const MUTATIONS_MAX: usize = 600;

pub(super) fn check(report: &mut LawReport<'_>, rules: &dyn AnyRules, toml: &str) {
    match rules.read_setup(toml) {
        Err(error) => report.broke(Law::Setups, error),
        Ok(setup) => {
            check_accepted(report, rules, &setup);
            check_bytes(report, rules, &setup);
        }
    }
    let mutations = mutations(toml);
    for mutation in mutations.iter().step_by(mutations.len() / MUTATIONS_MAX + 1) {
        report.doing(format_args!("setup with {}", mutation.0));
        report.guard(|report| {
            if let Some(setup) = read_spoiled(rules, &mutation.1) {
                check_accepted(report, rules, &setup);
            }
        });
    }
    report.doing("");
}

/// Reads a spoiled setup, or returns `None` if that is an error. A fault of a referee also counts as a refusal, because
/// its author wrote it for valid setups (RF-22).
pub(super) fn read_spoiled(rules: &dyn AnyRules, toml: &str) -> Option<Vec<u8>> {
    let read = catch_unwind(AssertUnwindSafe(|| rules.read_setup(toml).ok()));
    read.unwrap_or_else(|panic| match panic.downcast_ref::<Fault>() {
        Some(fault) if rules.referee().is_some() && fault.kind == FaultKind::Broken => None,
        _ => resume_unwind(panic),
    })
}

/// A setup that was read starts a match, and is the same after being written and read again.
pub(super) fn check_accepted(report: &mut LawReport<'_>, rules: &dyn AnyRules, setup: &[u8]) {
    match rules.start(setup) {
        Err(error) => report.broke(Law::Setups, format!("it is read, but does not start: {error}")),
        Ok(state) => {
            for seat in Seat::ALL {
                state.view(seat.into());
            }
        }
    }
    let written = rules.write_setup(setup);
    if let Ok(written) = &written {
        let read = document(written).map(|document| rules.read_setup_of(&document));
        report.expect(Law::Setups, matches!(&read, Ok(Ok(again)) if again == setup), || {
            format!("in the table `setup` of a file, the bytes {setup:?} become {read:?}")
        });
    }
    match written.and_then(|written| rules.read_setup(&written)) {
        Err(error) => report.broke(Law::Setups, format!("what it is written as is refused: {error}")),
        Ok(again) => report.expect(Law::Setups, again == setup, || {
            format!("the bytes {setup:?} become {again:?} when written and read")
        }),
    }
}

/// Writes a setup as in the header of a replay file: in a table, after other keys.
fn document(setup: &str) -> Result<String, String> {
    let table: toml::Table = toml::from_str(setup).map_err(|error| error.to_string())?;
    let wrapped = toml::Table::from_iter([("setup".to_owned(), toml::Value::Table(table))]);
    let wrapped = toml::to_string(&wrapped).map_err(|error| error.to_string())?;
    Ok(format!("title = \"a match\"\nversion = 1\n\n{wrapped}"))
}

/// Refuses stored bytes that are not exactly a setup.
fn check_bytes(report: &mut LawReport<'_>, rules: &dyn AnyRules, setup: &[u8]) {
    let surplus = [setup, &[0]].concat();
    let mut all_refused = Vec::new();
    for length in 0..setup.len() {
        all_refused.push(&setup[..length]);
    }
    all_refused.push(surplus.as_slice());
    for refused in all_refused {
        let accepted = rules.start(refused).is_ok() || rules.write_setup(refused).is_ok();
        report.expect(Law::Setups, !accepted, || {
            format!("a setup of {} bytes is read from {}", setup.len(), refused.len())
        });
    }
}

/// Spoils a setup: drops or doubles each line, changes each number, and truncates the text.
fn mutations(toml: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = toml.lines().collect();
    let mut mutations = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let mut dropped = lines.clone();
        dropped.remove(place);
        mutations.push((format!("line {} dropped", place + 1), dropped.join("\n")));
        let mut doubled = lines.clone();
        doubled.insert(place, line);
        mutations.push((format!("line {} doubled", place + 1), doubled.join("\n")));
        mutations.push((format!("the text cut after line {}", place + 1), lines[..=place].join("\n")));
        let half: String = line.chars().take(line.chars().count() / 2).collect();
        let cut = [&lines[..place], &[half.as_str()]].concat().join("\n");
        mutations.push((format!("the text cut within line {}", place + 1), cut));
    }
    let in_word = |character: char| character.is_alphanumeric() || "_-+.".contains(character);
    for range in numbers(toml, in_word) {
        for extreme in EXTREMES {
            let what = format!("{extreme} for {} at byte {}", &toml[range.clone()], range.start);
            mutations.push((what, replaced(toml, &range, extreme)));
        }
    }
    mutations
}
