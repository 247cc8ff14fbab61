//! The question a state answers: `predict N`.

use alloc::format;
use alloc::vec::Vec;

use super::state::State;
use super::view::projected_queue;
use turnfold_core::rules::Answer;
use turnfold_core::text::{Id, Malformed, number, split_verb};

pub(super) fn query(state: &State, question: &str) -> Result<Option<Answer>, Malformed> {
    match split_verb(question) {
        ("predict", Some(count)) => predict(state, count).map(Some),
        _ => Ok(None),
    }
}

/// LC-15 for a count of 1..=1000.
fn predict(state: &State, count: &str) -> Result<Answer, Malformed> {
    let Some(count) = number::<usize>(count).ok().filter(|count| (1..=1000).contains(count)) else {
        let message = format!("`predict` takes a count of 1 to 1000, found `{}`", count.escape_debug());
        return Err(Malformed(message));
    };
    let queue = projected_queue(state, count);
    let words: Vec<&str> = queue.iter().map(Id::as_str).collect();
    Ok(Answer::new(words.join(" "), &queue))
}
