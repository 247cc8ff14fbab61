//! Finds the smallest log that shows something.

use super::goal::Goal;
use super::shrinker::Shrinker;
use crate::error::ReplayError;
use crate::history::{History, require_rules};
use crate::search::bisect::Question;
use crate::search::condition::Survey;
use crate::tfl::Replay;
use crate::viewer::Viewer;

/// The result of shrinking.
pub enum Shrinking {
    /// The whole log does not show it.
    Never,
    /// The setup shows it already, so no entry is needed.
    InSetup,
    /// The smallest log that was found.
    Least(Box<Least>),
}

/// The smallest replay that shows something.
pub struct Least {
    /// The replay.
    pub replay: Replay,
    /// Remarks for the reader of the replay.
    pub remarks: Vec<String>,
    /// The number of entries before shrinking.
    pub before: u64,
    /// The number of logs that were tried.
    pub tries: u64,
}

/// Shrinks a log while it shows something. A condition must become true in the view of `viewer`; a judge must rule yes.
///
/// # Errors
/// [`ReplayError::Refused`] for a recording, [`ReplayError::Condition`] for a condition that makes no sense in the
/// view, any error of folding the history, and the errors of the judge.
pub fn shrink<E: From<ReplayError>>(
    history: &History,
    question: Question<'_, E>,
    viewer: Viewer,
    progress: &mut dyn FnMut(usize, u64),
) -> Result<Shrinking, E> {
    require_rules(&*history.rules)?;
    let mut goal = match question {
        Question::Holds(condition) => Goal::Holds { condition, viewer, survey: Survey::default() },
        Question::Judged(judge) => Goal::Judged { source: history, judge },
    };
    let mut shrinking = Shrinking::Never;
    if let Some(mut shrinker) = Shrinker::new(history, history.entries.len(), &mut goal, progress)? {
        if !shrinker.needs_no_entry()? {
            return Ok(Shrinking::Least(Box::new(shrinker.shrink()?)));
        }
        shrinking = Shrinking::InSetup;
    }
    // Before a condition is reported as never true, it must make sense in some view.
    goal.seen_in(history.start()?.as_ref());
    if let Goal::Holds { condition, survey, .. } = goal {
        condition.check(&survey).map_err(ReplayError::from)?;
    }
    Ok(shrinking)
}
