//! The laws for a match that a caller plays command by command.

use std::collections::BTreeSet;

use turnfold_core::{AnyRules, AnyState, Seat, Verdict};

use super::law_report::{Law, LawReport};
use super::random_matches::{PlayedEntry, PlayedMatch};
use super::{Moment, SAMPLE, check_moment, commands, effects, leaks, replaying, secrecy, shown, viewers};

/// Checks that a ruleset keeps the laws while a caller plays, such as a fuzzer.
pub struct PlayedLaws<'a> {
    rules: &'a dyn AnyRules,
    report: LawReport<'static>,
}

impl<'a> PlayedLaws<'a> {
    /// Starts a report on these rules.
    #[must_use]
    pub fn new(rules: &'a dyn AnyRules) -> Self {
        Self { rules, report: LawReport::new(rules) }
    }

    /// Panics with the laws that were broken, if any were.
    pub fn require_kept(self) {
        self.report.require_nothing_broken();
    }

    /// Requires that a command, malformed or not, changes nothing unless it is applied.
    pub fn check_harmless(&mut self, state: &dyn AnyState, seat: Seat, text: &str) {
        self.report.doing(format_args!("{seat} {text:?}"));
        self.report.guard(|report| commands::check_harmless(report, state, seat, text));
    }

    /// Requires a sound result of an entry that was just folded.
    pub fn check_entry(&mut self, after: &dyn AnyState, before: &[u8], entry: &PlayedEntry) {
        let Self { rules, report } = self;
        report.doing(format_args!("{} `{}`", entry.seat, entry.command));
        report.expect(
            Law::TextRoundTrip,
            rules.canonical(&entry.command).as_ref() == Ok(&entry.command),
            || "its canonical text does not read back".into(),
        );
        let text = rules.command_text(&entry.command_bytes);
        report.expect(Law::BytesRoundTrip, text.as_ref() == Ok(&entry.command), || {
            format!("its bytes stand for {text:?}")
        });
        let changed = after.state_bytes() != before;
        report.expect(Law::NothingElseChanges, entry.verdict == Verdict::Applied(()) || !changed, || {
            "it is ignored and changes the state".into()
        });
        report.guard(|report| effects::check(report, entry));
    }

    /// Requires the match to be the same after its state is resumed and after its log is folded again, and its views to
    /// be well-formed.
    pub fn check_end(&mut self, state: &dyn AnyState, played: &PlayedMatch) {
        let Self { rules, report } = self;
        report.enter(&played.setup_name, Some(played.seed));
        report.step(played.entries.len());
        let bytes = state.state_bytes();
        let resumed =
            rules.resume(&bytes, state.rolls()).map(|resumed| (resumed.state_bytes(), resumed.state_hash()));
        report.expect(Law::Resuming, resumed.as_ref() == Ok(&(bytes, state.state_hash())), || {
            format!("resumed, it is {resumed:?}")
        });
        let mut again = rules.start(&played.setup).unwrap();
        let log: Vec<_> = played.entries.iter().map(PlayedEntry::logged_bytes).collect();
        let folded = again.fold(&log, &played.dice, &mut |_| {});
        report.expect(Law::Resuming, folded.is_ok() && again.state_hash() == state.state_hash(), || {
            format!("folded again from bytes, it gives {folded:?} and {:.16}", again.state_hash())
        });
        for viewer in viewers(state) {
            report.doing(format_args!("the view of {viewer}"));
            secrecy::check_view(report, rules.name(), &state.view(viewer));
        }
    }

    /// Checks every law after this number of entries, and the match as a whole.
    pub fn check_moment(&mut self, played: &PlayedMatch, step: usize) {
        self.report.enter(&played.setup_name, Some(played.seed));
        let mut state = self.rules.start(&played.setup).unwrap();
        for entry in &played.entries[..step] {
            state.fold(&[entry.logged()], &played.dice, &mut |_| {}).unwrap();
        }
        let tried = played.commands.iter().map(String::as_str).take(SAMPLE).collect();
        let start = self.rules.start(&played.setup).unwrap();
        let moment = Moment { played, step, start: &*start, state: &*state, tried };
        check_moment(&mut self.report, self.rules, &moment, &mut BTreeSet::new());
        self.report.guard(|report| replaying::check_whole(report, self.rules, played));
        self.report.guard(|report| shown::check_whole(report, self.rules, played));
        self.report.guard(|report| leaks::check_whole(report, self.rules, played));
    }
}
