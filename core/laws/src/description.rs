//! How a ruleset describes itself, how it reads typed text, and when a match has a result.

use turnfold_core::AnyRules;

use super::Moment;
use super::law_report::{Law, LawReport};

pub(super) fn check(report: &mut LawReport<'_>, rules: &dyn AnyRules) {
    let name = rules.name();
    let is_plain = name.starts_with(|letter: char| letter.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    report.expect(Law::Description, is_plain, || format!("`NAME` is `{name}`, not `[a-z][a-z0-9]*`"));
    let summary = rules.summary();
    let book = rules.rulebook();
    let mut has_line = !summary.trim().is_empty() && !summary.contains(char::is_control);
    let mut has_book = book.starts_with("# ") && book.lines().count() > 1;
    // A referee may leave out both (RF-22).
    if report.is_referee() {
        has_line |= summary.is_empty();
        has_book |= book.is_empty();
    }
    report.expect(Law::Description, has_line, || "`SUMMARY` is not one line".into());
    report.expect(Law::Description, has_book, || {
        "`RULEBOOK` is not a Markdown page that begins with `# `; include `RULES.md`".into()
    });
}

pub(super) fn check_moment(report: &mut LawReport<'_>, rules: &dyn AnyRules, moment: &Moment<'_>) {
    let state = moment.state;
    for command in &moment.tried {
        let typed = state.read(command);
        let canonical = rules.canonical(command);
        // A referee may read only commands that can be played now.
        let may_refuse = report.is_referee()
            && typed.is_err()
            && !state.players().iter().any(|seat| state.legal(*seat).iter().any(|legal| legal == command));
        report.expect(Law::Typing, canonical.is_err() || typed == canonical || may_refuse, || {
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
