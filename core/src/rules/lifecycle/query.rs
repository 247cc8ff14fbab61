//! The question a state answers: `predict N`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::state::State;
use super::view::projected_queue;
use crate::rules::{Answer, QueryError};
use crate::text::{Id, number, split_verb};

pub(super) fn query(state: &State, question: &str) -> Result<Answer, QueryError> {
    match split_verb(question) {
        ("predict", Some(count)) => predict(state, count),
        (verb, _) => {
            Err(QueryError::Unknown { ruleset: "lifecycle", found: String::from(verb), known: "`predict N`" })
        }
    }
}

/// LC-15 for a count of 1..=1000.
fn predict(state: &State, count: &str) -> Result<Answer, QueryError> {
    let Some(count) = number::<usize>(count).ok().filter(|count| (1..=1000).contains(count)) else {
        let message = format!("`predict` takes a count of 1 to 1000, found `{}`", count.escape_debug());
        return Err(QueryError::Arguments(message));
    };
    let queue = projected_queue(state, count);
    let words: Vec<&str> = queue.iter().map(Id::as_str).collect();
    Ok(Answer::new(words.join(" "), &queue))
}
