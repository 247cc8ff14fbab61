//! Commands tried on the position of the game before they are written, where nothing of it is left out (PM-28).

use turnfold_core::{Outcome, Registry, Seat};
use turnfold_store::Entry;

use super::delivery::ReceivedBundle;
use super::turn::DeliveredStand;
use crate::bundle::{BundledRecord, LineRecords};
use crate::entry::{LogEntry, logged};
use crate::error::ReplayError;
use crate::history::rules_of;
use crate::mail::error::MailError;
use crate::mail::turn::{GameTurn, OrderEnd};
use crate::record::Record;
use crate::revision::Revision;

/// Tries commands as the host would play them, up to a roll, whose values are not known yet. Returns the commands that
/// would change nothing, and why. Nothing is tried where the seat has nothing legal before others have played.
pub(super) fn try_plays(
    delivery: &ReceivedBundle,
    stand: &DeliveredStand,
    seat: Seat,
    plays: &[String],
    registry: &Registry,
) -> Result<Vec<String>, MailError> {
    let of = delivery.of_game()?;
    let line = of.lines.iter().position(|line| line.branch.as_str() == stand.line.as_str());
    let Some(line) = line.filter(|line| !of.left_out(*line)) else { return Ok(Vec::new()) };
    let branch = of.lines.get(line).map(|line| line.branch.clone());
    let Some(branch) = branch else { return Ok(Vec::new()) };
    let revision = Revision { match_name: of.name.clone(), branch, seq: None };
    let rules = rules_of(&of.genesis, &revision, registry)?;
    let mut state = rules.start(&of.genesis.setup).map_err(ReplayError::from)?;
    let entries = entries(delivery, line, stand.game_seq)?;
    let folded = state.fold(&logged(&entries), &of.genesis.dice, &mut |_| {});
    folded.map_err(ReplayError::from)?;
    if state.legal(seat).is_empty() {
        return Ok(Vec::new());
    }
    let unknown = |_: &_| Err(ReplayError::Chance(std::io::Error::other("the roll is not known yet")));
    let mut turn = GameTurn::new(state, stand.game_seq, Box::new(unknown));
    match turn.order(seat, plays.iter().map(String::as_str)) {
        Ok(OrderEnd::Refused(rejected)) => Err(MailError::Refused(format!(
            "the game would refuse the order: {}: {}",
            rejected.code, rejected.message
        ))),
        Ok(OrderEnd::Carried { played, .. }) => Ok(played.iter().filter_map(without_effect).collect()),
        Err(_) => Ok(Vec::new()),
    }
}

fn without_effect(record: &Record) -> Option<String> {
    let Outcome::Ignored(code) = &record.outcome else { return None };
    let why = record.message.as_ref().map_or_else(String::new, |message| format!(", {message}"));
    Some(format!("`{}` would change nothing: {}{why}", record.command, code.as_str()))
}

/// Reads the first entries of a line, those that it shares with its parents included.
fn entries(delivery: &ReceivedBundle, line: usize, to: u64) -> Result<Vec<LogEntry>, MailError> {
    let lines = &delivery.of_game()?.lines;
    // From the line itself up to `main`: each, and the last entry of it that counts.
    let (mut parts, mut next, mut last) = (Vec::new(), Some(line), to);
    while let Some((index, found)) = next.and_then(|index| Some((index, lines.get(index)?))) {
        parts.push((index, last));
        last = last.min(found.first.saturating_sub(1));
        next = found.parent;
    }
    let mut entries = Vec::new();
    delivery.bundle.each(&mut |(of, line), record| {
        let part = parts.iter().find(|(index, _)| of == delivery.game && *index == line);
        if let (Some((_, last)), BundledRecord::Shown(bytes)) = (part, record)
            && let Ok(entry) = Entry::decode(bytes)
            && entry.seq <= *last
        {
            entries.push(LogEntry::from(entry));
        }
        Ok(())
    })?;
    entries.sort_by_key(|entry| entry.seq);
    Ok(entries)
}
