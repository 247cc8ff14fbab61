//! Asking change by change whether to accept it.

use std::io::{self, BufRead};

use crate::output::{TextSpan, plain, strong};

/// What was answered so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Consent {
    /// Each change is asked about.
    #[default]
    Each,
    /// All others are accepted.
    All,
    /// No other is.
    NoMore,
}

const HELP: &str = "y: accept this change\nn: leave these lines as they are\n\
    a: accept this and all others, in the other files too\n\
    q: accept no more; what was accepted is written\n?: this help\n";

impl Consent {
    /// Asks about the change at a place, unless an earlier answer settles it; asks again until the answer is one. The end of the input
    /// is a `q`.
    pub(super) fn ask(
        &mut self,
        place: &str,
        input: &mut impl BufRead,
        say: &mut impl FnMut(TextSpan) -> io::Result<()>,
    ) -> io::Result<bool> {
        loop {
            match self {
                Self::All => return Ok(true),
                Self::NoMore => return Ok(false),
                Self::Each => {}
            }
            say(strong(format_args!("bless {place} [y,n,a,q,?]?")))?;
            say(plain(" "))?;
            let mut line = String::new();
            let is_end = input.read_line(&mut line)? == 0;
            match self.take(if is_end { "q" } else { line.trim() }) {
                Some(wanted) => return Ok(wanted),
                None => say(plain(HELP))?,
            }
        }
    }

    /// Returns `true` if nothing will be asked about any more.
    pub(super) fn is_settled(self) -> bool {
        self != Self::Each
    }

    /// Takes an answer; `None` when it is none.
    fn take(&mut self, answer: &str) -> Option<bool> {
        match answer {
            "y" => Some(true),
            "n" => Some(false),
            "a" => {
                *self = Self::All;
                Some(true)
            }
            "q" => {
                *self = Self::NoMore;
                Some(false)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers in turn, about as many changes as are expected to be accepted or not; counts how often is asked.
    fn check(answers: &str, expected: &[bool], asked: usize) {
        let mut consent = Consent::default();
        let mut input = answers.as_bytes();
        let mut said = String::new();
        let mut say = |span: TextSpan| {
            said.push_str(&span.text);
            Ok(())
        };
        let found: Vec<bool> =
            expected.iter().map(|_| consent.ask("x.tfl:3", &mut input, &mut say).unwrap()).collect();
        assert_eq!(found, expected, "{answers:?}");
        assert_eq!(said.matches("bless x.tfl:3 [y,n,a,q,?]?").count(), asked, "{said}");
    }

    #[test]
    fn each_change_is_asked_about() {
        check("y\nn\ny\n", &[true, false, true], 3);
    }

    #[test]
    fn all_and_no_more_settle_the_rest() {
        check("n\na\n", &[false, true, true, true], 2);
        check("y\nq\ny\n", &[true, false, false, false], 2);
    }

    #[test]
    fn what_is_no_answer_is_asked_again_and_the_end_is_a_no() {
        check("?\nyes\n\ny\n", &[true], 4);
        check("Y\n", &[false, false], 2);
        check("", &[false], 1);
    }
}
