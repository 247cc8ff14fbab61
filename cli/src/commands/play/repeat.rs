//! A call repeated with its key: nothing is played, and what the first call did is printed again.

use std::ops::RangeInclusive;

use turnfold_core::AnyRules;
use turnfold_replay::{
    Eyes, LineOfPlay, Position, Record, Revision, ScriptLine, Sight, Sources, Tail, session::is_roll,
};
use turnfold_store::Store;

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::record;

/// Prints what the first call with this key did.
pub(super) fn repeat(
    revision: &Revision,
    eyes: Eyes,
    lines: &[ScriptLine],
    store: &Store,
    range: RangeInclusive<u64>,
    context: &mut Context,
) -> Result<Answer, Failure> {
    let (first, last) = range.into_inner();
    let revision = revision.at(last);
    let count = last.saturating_sub(first).saturating_add(1);
    let mut position = Position::before_entries_of(
        Tail::last(count),
        &revision,
        &context.registry,
        store,
        context.build().as_ref(),
        Some(store),
    )?;
    let mut records = Vec::new();
    position.fold(&mut |seen| records.push(seen.record()))?;
    if !is_same_request(lines, &records, position.rules) {
        let whole = Revision { seq: None, ..revision };
        // Whose commands they were, and so how many, may be a secret.
        let entries = if eyes.see_all() { format!(", entries {first} to {last}") } else { String::new() };
        let failure = Failure::negative(format!("the key was used for other commands{entries} of `{whole}`"));
        return Err(failure.hint("choose a new key"));
    }
    if eyes.see_all() {
        tracing::info!(first, last, "the key was used before; these entries were recorded then");
    } else {
        let line = LineOfPlay::of_log(
            &revision,
            store.read(&revision.match_name, &revision.branch, None)?,
            &context.registry,
        )?;
        let until = |seq: u64| usize::try_from(seq).unwrap_or(usize::MAX);
        records = Sight::of(eyes, line)?.cut(until(last)).records_after(until(first - 1))?;
    }
    for record in &records {
        record::print(record, &mut context.output)?;
    }
    Ok(Answer::Yes)
}

/// Returns `true` if the recorded entries are the commands asked for, with nothing but rolls between them.
fn is_same_request(lines: &[ScriptLine], records: &[Record], rules: &dyn AnyRules) -> bool {
    let mut asked = lines.iter().peekable();
    for record in records {
        let matches = asked.peek().is_some_and(|line| {
            let same_command = rules.canonical(&line.command).is_ok_and(|command| command == record.command);
            same_command && line.seat.is_none_or(|named| Some(named) == record.seat)
        });
        if matches {
            asked.next();
        } else if !is_roll(&record.command) {
            return false;
        }
    }
    asked.next().is_none()
}
