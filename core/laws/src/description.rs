//! How a ruleset describes itself, how it reads what people type, and when a match has a result.

use turnfold_core::AnyRules;

use super::Moment;
use super::law_report::{Law, Report};

pub(super) fn check(report: &mut Report<'_>, rules: &dyn AnyRules) {
    let name = rules.name();
    let mut letters = name.bytes();
    let is_plain = letters.next().is_some_and(|byte| byte.is_ascii_lowercase())
        && letters.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    report.expect(Law::Description, is_plain, || format!("`NAME` is `{name}`, not `[a-z][a-z0-9]*`"));
    let summary = rules.summary();
    let is_line = !summary.trim().is_empty() && !summary.contains(char::is_control);
    report.expect(Law::Description, is_line, || "`SUMMARY` is not one line".into());
    let book = rules.rulebook();
    report.expect(Law::Description, book.starts_with("# ") && book.lines().count() > 1, || {
        "`RULEBOOK` is not a Markdown page that begins with `# `; include `RULES.md`".into()
    });
}

pub(super) fn check_moment(report: &mut Report<'_>, rules: &dyn AnyRules, moment: &Moment<'_>) {
    let state = moment.state;
    for command in &moment.tried {
        let (typed, canonical) = (state.read(command), rules.canonical(command));
        report.expect(Law::Typing, canonical.is_err() || typed == canonical, || {
            format!("`{command}` is read as {typed:?}")
        });
    }
    if let Some(result) = state.result() {
        report.expect(Law::Result, state.over(), || format!("the match goes on, and its result is {result}"));
        let mut seats = result.winners.iter().chain(result.scores.keys());
        report.expect(Law::Result, seats.all(|seat| state.players().contains(seat)), || {
            format!("{result}, but the players are {:?}", state.players())
        });
        report.expect(Law::Result, !result.draw || result.winners.is_empty(), || {
            format!("a draw has winners: {result}")
        });
    }
}
