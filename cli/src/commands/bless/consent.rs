//! Asking file by file whether to write.

use std::io::{self, BufRead};

use crate::output::{Tone, paint};

/// What was answered so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Consent {
    /// Each file is asked about.
    #[default]
    Each,
    /// All others are to be written.
    All,
    /// No other is.
    NoMore,
}

impl Consent {
    /// Asks about a file, unless an earlier answer settles it; asks again until the answer is one. The end of the input
    /// is a `q`.
    pub(super) fn ask(
        &mut self,
        file: &str,
        input: &mut impl BufRead,
        say: &mut impl FnMut(&str) -> io::Result<()>,
    ) -> io::Result<bool> {
        loop {
            match self {
                Self::All => return Ok(true),
                Self::NoMore => return Ok(false),
                Self::Each => {}
            }
            say(&format!("{} ", paint(Tone::Strong, format_args!("bless {file} [y,n,a,q,?]?"))))?;
            let mut line = String::new();
            let is_end = input.read_line(&mut line)? == 0;
            match self.take(if is_end { "q" } else { line.trim() }) {
                Some(wanted) => return Ok(wanted),
                None => say("y: this file, n: not this one, a: this and all others, q: no more\n")?,
            }
        }
    }

    /// Tells whether no file will be asked about any more.
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

    /// Answers in turn, about as many files as are expected to be written or not; counts how often is asked.
    fn check(answers: &str, expected: &[bool], asked: usize) {
        let mut consent = Consent::default();
        let mut input = answers.as_bytes();
        let mut said = String::new();
        let mut say = |text: &str| {
            said.push_str(text);
            Ok(())
        };
        let found: Vec<bool> =
            expected.iter().map(|_| consent.ask("x.tfl", &mut input, &mut say).unwrap()).collect();
        assert_eq!(found, expected, "{answers:?}");
        assert_eq!(said.matches("bless x.tfl [y,n,a,q,?]?").count(), asked, "{said}");
    }

    #[test]
    fn each_file_is_asked_about() {
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
