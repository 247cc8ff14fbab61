//! Blessing: writing what the rules say into a replay.

mod change;

use turnfold_core::{Outcome, Step};

use crate::compare::divergence::Divergence;
use crate::error::ReplayError;
use crate::history::entry::{Attempt, LogEntry};
use crate::tfl::{Replay, ReplayLine, TflError, Witness};

pub use change::{Change, RulesChange, change_lines, in_units};

/// Fills in every outcome, hash and the closing line, and writes commands canonically.
///
/// Header, comments, blank lines and order stay as they are. Blessing a blessed replay changes nothing. An entry
/// that the rules reject and an attempt that they accept are errors: such a file says what is not so.
///
/// # Errors
/// [`TflError`] with the line and column.
///
/// # Panics
/// Never: the fold shows every entry and attempt.
pub fn bless(replay: &Replay) -> Result<Replay, TflError> {
    let mut state = replay.start()?;
    let mut scribe = Scribe::default();
    replay.fold(state.as_mut(), &mut scribe).map_err(|error| replay.locate(&error))?;
    let Scribe { entries, attempts } = scribe;
    let (mut entries, mut attempts) = (entries.into_iter(), attempts.into_iter());
    let mut blessed =
        Replay { lines: Vec::with_capacity(replay.lines.len()), closing: None, ..replay.clone() };
    for (number, line) in replay.numbered_lines() {
        blessed.lines.push(match line {
            ReplayLine::Blank | ReplayLine::Comment(_) => line.clone(),
            ReplayLine::Entry(_) => ReplayLine::Entry(entries.next().expect("the fold showed every entry")),
            ReplayLine::Attempt(attempt) => {
                let outcome = Some(attempts.next().expect("the fold judged every attempt"));
                if !matches!(outcome, Some(Outcome::Rejected(_))) {
                    return Err(accepted(replay, number, attempt, outcome.as_ref()));
                }
                ReplayLine::Attempt(Attempt { outcome, ..attempt.clone() })
            }
        });
    }
    blessed.close(state.state_hash());
    Ok(blessed)
}

fn accepted(replay: &Replay, number: usize, attempt: &Attempt, outcome: Option<&Outcome>) -> TflError {
    let Attempt { seat, command, .. } = attempt;
    let outcome = outcome.map(Outcome::to_string).unwrap_or_default();
    let message = format!(
        "expected a command that is not accepted, found one that is ({outcome}); \
         if that is meant, write `SEQ {seat} {command}`"
    );
    TflError::new(&replay.file, (number, 1), message)
}

/// Fills in what a replay leaves out; whatever it records must be true.
///
/// # Errors
/// [`ReplayError::UntrueHeader`], [`ReplayError::UntrueEntry`] and [`ReplayError::UntrueClosing`], and what [`bless`] refuses.
pub fn bless_if_true(replay: &Replay) -> Result<Replay, ReplayError> {
    if replay.closing.is_some_and(|closing| closing.header != replay.header.mark()) {
        return Err(ReplayError::UntrueHeader { file: replay.file.clone() });
    }
    let blessed = bless(replay)?;
    for ((line, recorded), computed) in replay.numbered_entries().zip(blessed.entries()) {
        if Divergence::contradiction(recorded, computed).is_some() {
            return Err(ReplayError::UntrueEntry { file: replay.file.clone(), line, seq: recorded.seq });
        }
    }
    if replay.closing.is_some() && replay.closing != blessed.closing {
        return Err(ReplayError::UntrueClosing { file: replay.file.clone() });
    }
    Ok(blessed)
}

/// Records what the rules compute.
#[derive(Default)]
struct Scribe {
    entries: Vec<LogEntry>,
    attempts: Vec<Outcome>,
}

impl Witness for Scribe {
    fn entry(&mut self, step: &mut dyn Step) {
        self.entries.push(LogEntry::of(step));
    }

    fn attempt(&mut self, _line: usize, _attempt: &Attempt, outcome: Outcome) {
        self.attempts.push(outcome);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{FIRST, body, replay};

    /// Requires blessing to fail on the line `place` lines below the header.
    fn check_error(text: &str, place: usize, expected: &str) {
        let error = bless(&replay(text)).unwrap_err().to_string();
        assert_eq!(error, format!("x.tfl:{}:{expected}", FIRST + place));
    }

    #[test]
    fn blessing_fills_in_everything_and_keeps_comments() {
        let script = "# roll\n1 host roll 6 6 1 1 => wrong\n! p1 stand\n\n2 p2 click 0,0\n# done\n";
        let blessed = bless(&replay(script)).unwrap();
        let text = body(&blessed);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 7);
        assert_eq!([lines[0], lines[3], lines[5]], ["# roll", "", "# done"]);
        assert!(lines[1].starts_with("1 host roll 6 6 1 1 => rolled p1=12 p2=2; initiative p1=12 p2=2 "));
        assert_eq!(lines[2], "! p1 stand => rejected not_your_turn");
        assert!(lines[4].starts_with("2 p2 click 0,0 => ignored no_unit #"));
        let entries: String = text
            .lines()
            .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
            .fold(String::new(), |all, line| all + line + "\n");
        let header = &blessed.header;
        let log = blake3::hash((header.canonical() + &entries).as_bytes());
        let end = format!(" log {log} header {}", header.mark());
        assert!(lines[6].starts_with("= 2 state ") && lines[6].ends_with(&end));
    }

    #[test]
    fn blessing_again_changes_nothing() {
        for script in ["", "1 host roll 6 6 1 1\n! p1 stand\n2 p2 click 0,-3\n3 p2 stand\n", "! p1 fly\n"] {
            let blessed = bless(&replay(script)).unwrap();
            assert_eq!(bless(&blessed).unwrap(), blessed);
            assert_eq!(replay(&body(&blessed)), blessed);
        }
    }

    #[test]
    fn a_rejected_entry_is_an_error() {
        check_error(
            "# a roll first\n1 p1 stand\n",
            1,
            "6: entry 1: rejected roll_due: a roll is due first: 4 values in 1..=6 for initiative, by `host`; \
             if that is meant, write `! p1 stand`",
        );
    }

    #[test]
    fn a_malformed_entry_is_an_error_and_a_malformed_attempt_is_none() {
        let error = bless(&replay("1 host roll\n")).unwrap_err();
        assert_eq!((error.line, error.column), (FIRST, 8));
        assert!(error.message.starts_with("entry 1: malformed command: expected `roll A B C D`"), "{error}");
        assert_eq!(
            body(&bless(&replay("! host roll\n")).unwrap()).lines().next(),
            Some("! host roll => rejected malformed")
        );
    }

    #[test]
    fn an_accepted_attempt_is_an_error() {
        check_error(
            "1 host roll 6 6 1 1\n! p2 stand\n",
            1,
            "1: expected a command that is not accepted, found one that is (ignored nothing_selected); \
             if that is meant, write `SEQ p2 stand`",
        );
    }
}
