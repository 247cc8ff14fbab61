//! Folding by a referee: many entries in one request, walked entry by entry (RF-7, RF-8).

use turnfold_core::admission::{Issuer, Refusal};
use turnfold_core::any::{Logged, Step};
use turnfold_core::{DicePolicy, FoldError, Perspective, Rejected, Seat};

use super::answers::{Became, FoldAnswer, ShownTo, Status, code_of};
use super::child::NoAnswer;
use super::command::LoggedCommand;
use super::json::Node;
use super::recorded;
use super::referee::Referee;
use super::state::RefereeState;
use super::step::RefereeStep;

/// The most entries of one request.
const ENTRIES_MAX: usize = 128;

/// The most bytes of states that a request asks for (RF-7).
const ANSWER_BYTES_MAX: usize = 8 << 20;

/// An entry after it was folded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoldedEntry {
    pub(crate) became: Became,
    pub(crate) to: ShownTo,
    pub(crate) state: Node,
    pub(crate) status: Status,
}

/// What a request to fold came to: entries, and why the one after them is rejected.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoldedEntries {
    pub(crate) entries: Vec<FoldedEntry>,
    pub(crate) stop: Option<(String, String)>,
}

/// Asks a referee to fold entries, as they are sent, from a state.
pub(crate) fn ask_to_fold(
    referee: &Referee,
    state: &Node,
    status: &Status,
    entries: &[(Seat, LoggedCommand)],
) -> Result<FoldedEntries, NoAnswer> {
    if referee.is_recording() {
        return Ok(recorded::fold(referee, state, status, entries));
    }
    let sent: Vec<String> = entries.iter().map(|(seat, command)| command.as_sent(*seat)).collect();
    let args = format!("{{\"state\":{},\"entries\":[{}],\"want\":\"all\"}}", state.as_sent(), sent.join(","));
    let answer = referee.try_ask("fold", &args, entries.len())?;
    let answer = answer.map_err(|no| NoAnswer::Broke(format!("it refuses to fold: {}", no.canonical())))?;
    let FoldAnswer { steps, stop } =
        FoldAnswer::read(answer, &referee.hello, entries.len()).map_err(NoAnswer::Broke)?;
    let mut folded: Vec<FoldedEntry> = Vec::with_capacity(steps.len());
    for step in steps {
        let (state, status) = folded.last().map_or((state, status), |last| (&last.state, &last.status));
        let is_applied = matches!(step.became, Became::Applied(_));
        if is_applied && step.state.is_none() {
            return Err(NoAnswer::Broke("a step that was applied has no `state`".into()));
        }
        let next = FoldedEntry {
            state: step.state.unwrap_or_else(|| state.clone()),
            status: step.status.unwrap_or_else(|| status.clone()),
            became: step.became,
            to: step.to,
        };
        folded.push(next);
    }
    Ok(FoldedEntries { entries: folded, stop })
}

/// Returns why turnfold itself refuses an entry, whatever the referee says (RF-8).
pub(crate) fn refusal(status: &Status, seat: Seat, command: &LoggedCommand) -> Option<Refusal> {
    // What happened is not refused.
    if command.recorded.is_some() {
        return None;
    }
    if status.over {
        return Some(Refusal::MatchOver);
    }
    let Some(values) = &command.roll else {
        if let Some(due) = &status.due {
            return Some(Refusal::RollDue(due.clone()));
        }
        let plays = seat == Seat::Host || status.players.contains(&seat);
        return (!plays).then_some(Refusal::WrongSeat(Issuer::Player));
    };
    let Some(due) = &status.due else { return Some(Refusal::NoRollDue) };
    if seat != Seat::Host {
        return Some(Refusal::WrongSeat(Issuer::Host));
    }
    (!due.accepts(values)).then(|| Refusal::BadRoll(due.clone()))
}

/// Folds entries into a state and passes each to `observe`, as `viewer` may know it.
pub(crate) fn fold(
    state: &mut RefereeState,
    log: &[Logged<'_>],
    dice: &DicePolicy,
    viewer: Option<Perspective>,
    observe: &mut dyn FnMut(&mut dyn Step),
) -> Result<(), FoldError> {
    let referee = state.referee.clone();
    let mut rest = log;
    let mut most = if referee.hello.batches { ENTRIES_MAX } else { 1 };
    while let Some(first) = rest.first() {
        let command = LoggedCommand::of_log(first, referee.reader())?;
        if let Some(refusal) = refusal(&state.status, first.seat, &command) {
            return Err(rejected(first.seq, refusal.code(), refusal.to_string()));
        }
        let mut entries = vec![(first.seat, command)];
        let room = (ANSWER_BYTES_MAX / state.sent().len().max(1)).clamp(1, most);
        for logged in rest.iter().take(room).skip(1) {
            // What is no command ends the batch, and is an error once the entries before it are folded.
            let Ok(command) = LoggedCommand::of_log(logged, referee.reader()) else { break };
            entries.push((logged.seat, command));
        }
        let mut folded = match ask_to_fold(&referee, &state.node, &state.status, &entries) {
            Ok(folded) => folded,
            // Which entry it was shows when each is asked for alone (RF-8).
            Err(NoAnswer::Ended(_) | NoAnswer::Broke(_)) if entries.len() > 1 => {
                most = 1;
                continue;
            }
            Err(stop) => referee.stop(&stop),
        };
        let refused = drop_refused(&state.status, &entries, &mut folded);
        if let Some(checked) = &mut state.checked {
            entries.truncate(folded.entries.len() + usize::from(folded.stop.is_some()));
            checked.second.fold(&mut checked.state, &state.status, &entries, &folded, first.seq);
        }
        let count = folded.entries.len();
        for ((logged, (_, command)), entry) in rest.iter().zip(entries).zip(folded.entries) {
            check_dice(state, logged.seq, &command, dice)?;
            if command.roll.is_some() && matches!(entry.became, Became::Applied(_)) {
                state.rolls = state.rolls.saturating_add(1);
            }
            let FoldedEntry { became, to, state: node, status } = entry;
            state.go_to(node, status);
            observe(&mut RefereeStep { state, logged, command, became, to, viewer });
        }
        rest = rest.get(count..).unwrap_or_default();
        let seq = rest.first().map_or(0, |next| next.seq);
        if let Some(refusal) = refused {
            return Err(rejected(seq, refusal.code(), refusal.to_string()));
        }
        if let Some((code, message)) = folded.stop {
            return Err(rejected(seq, &code, message));
        }
    }
    Ok(())
}

/// Drops the first entry that turnfold itself refuses and what follows it, whatever the referee made of them (RF-8).
fn drop_refused(
    before: &Status,
    entries: &[(Seat, LoggedCommand)],
    folded: &mut FoldedEntries,
) -> Option<Refusal> {
    for (index, (seat, command)) in entries.iter().enumerate().take(folded.entries.len() + 1) {
        let status = match index.checked_sub(1).and_then(|last| folded.entries.get(last)) {
            Some(last) => &last.status,
            None => before,
        };
        if let Some(refusal) = refusal(status, *seat, command) {
            folded.entries.truncate(index);
            folded.stop = None;
            return Some(refusal);
        }
    }
    None
}

fn rejected(seq: u64, code: &str, message: String) -> FoldError {
    FoldError::Rejected { seq, rejected: Box::new(Rejected::new(code_of(code), message)) }
}

/// Requires a roll that the referee took to be the one that the dice of the match give.
fn check_dice(
    state: &RefereeState,
    seq: u64,
    command: &LoggedCommand,
    dice: &DicePolicy,
) -> Result<(), FoldError> {
    let (Some(found), Some(due)) = (&command.roll, &state.status.due) else { return Ok(()) };
    if let (DicePolicy::Fair(_), Some(owner)) = (dice, due.owner) {
        return Err(FoldError::OwnedFairRoll { seq, owner });
    }
    match dice.values(state.rolls.saturating_add(1), due) {
        Some(expected) if expected != *found => {
            Err(FoldError::WrongRoll { seq, expected, found: found.clone() })
        }
        _ => Ok(()),
    }
}
