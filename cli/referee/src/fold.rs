//! Folding by a referee: many entries in one request, walked entry by entry (RF-7, RF-8).

use std::cell::OnceCell;

use turnfold_core::admission::{Issuer, Refusal};
use turnfold_core::any::{Logged, Step};
use turnfold_core::decode::DecodeError;
use turnfold_core::{DicePolicy, FoldError, Perspective, Rejected, Seat};

use crate::answers::{
    Became, FoldAnswer, RefereeEffect, RefereeStatus, ShownTo, Stopped, code_of, decode_error, read_effects,
};
use crate::carrier::{Effort, NoAnswer};
use crate::command::LoggedCommand;
use crate::held::{HeldState, Reached, sent_bytes};
use crate::hello::Secrecy;
use crate::json::{JsonNode, sent_text};
use crate::laws;
use crate::recorded;
use crate::referee::{EncodedCommand, Referee};
use crate::state::RefereeState;
use crate::step::RefereeStep;

/// The most entries of one request, and of one that is checked (MD-7).
const ENTRIES_MAX: usize = 128;
const ENTRIES_CHECKED: usize = 64;

/// The most bytes of states that a request asks for (RF-7).
const ANSWER_BYTES_MAX: usize = 8 << 20;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoldedEntry {
    pub(crate) became: Became,
    pub(crate) to: ShownTo,
    pub(crate) after: Reached,
    pub(crate) rolled: Option<Vec<i32>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoldedEntries {
    pub(crate) entries: Vec<FoldedEntry>,
    pub(crate) stop: Option<Stopped>,
}

fn sent_entries(entries: &[(Seat, LoggedCommand)]) -> String {
    let mut sent = String::from("[");
    for (seat, command) in entries {
        sent.push_str(if sent.len() > 1 { "," } else { "" });
        sent.push_str(&command.as_sent(*seat));
    }
    sent + "]"
}

pub(crate) fn ask_to_fold(
    referee: &Referee,
    before: &Reached,
    entries: &[(Seat, LoggedCommand)],
    is_new: bool,
) -> Result<FoldedEntries, NoAnswer> {
    if referee.is_recording() {
        return Ok(recorded::fold(referee, before, entries));
    }
    let sent = sent_entries(entries);
    let args = format!("{{\"state\":{},\"entries\":{sent},\"want\":\"all\"}}", before.state.as_sent());
    let answer = referee.try_ask("fold", &args, Effort { entries: entries.len(), is_new })?;
    let answer = answer.map_err(|no| NoAnswer::Broke(format!("it refuses to fold: {}", no.canonical())))?;
    let answer = FoldAnswer::read(answer, &referee.hello, entries.len()).map_err(NoAnswer::Broke)?;
    let mut folded: Vec<FoldedEntry> = Vec::with_capacity(answer.steps.len());
    for (step, (_, command)) in answer.steps.into_iter().zip(entries) {
        if step.state.is_none() && matches!(step.became, Became::Applied(_)) {
            return Err(NoAnswer::broke("a step that was applied has no `state`"));
        }
        // A state or status that a step omits is the one before the step.
        let before = end_of(&folded, before);
        let after = Reached {
            state: step.state.unwrap_or_else(|| before.state.clone()),
            status: step.status.unwrap_or_else(|| before.status.clone()),
        };
        let rolled = step.rolled.or_else(|| command.roll.clone());
        folded.push(FoldedEntry { became: step.became, to: step.to, after, rolled });
    }
    let last = end_of(&folded, before);
    if last.state.difference(&answer.state).is_some() {
        return Err(NoAnswer::broke("the state after all entries is not the state after the last one"));
    }
    Ok(FoldedEntries { entries: folded, stop: answer.stop })
}

/// Returns the state after these entries, which were folded from `before`.
pub(crate) fn end_of<'a>(folded: &'a [FoldedEntry], before: &'a Reached) -> &'a Reached {
    folded.last().map_or(before, |last| &last.after)
}

/// Returns why turnfold itself refuses an entry, whatever the referee answers (RF-8).
pub(crate) fn refusal(
    referee: &Referee,
    status: &RefereeStatus,
    seat: Seat,
    command: &LoggedCommand,
) -> Option<Refusal> {
    // A recorded move has happened, so it is not refused. A guest of bytes contains the core's admission (RF-10).
    if referee.hello.is_bytes || command.recorded.is_some() {
        return None;
    }
    if status.over {
        return Some(Refusal::MatchOver);
    }
    let Some(values) = &command.roll else {
        if let Some(due) = &status.due {
            return Some(Refusal::RollDue(due.clone()));
        }
        if seat != Seat::Host && !status.players.contains(&seat) {
            return Some(Refusal::WrongSeat(Issuer::Player));
        }
        return None;
    };
    let Some(due) = &status.due else { return Some(Refusal::NoRollDue) };
    if seat != Seat::Host {
        return Some(Refusal::WrongSeat(Issuer::Host));
    }
    if !due.accepts(values) {
        return Some(Refusal::BadRoll(due.clone()));
    }
    None
}

#[derive(Clone)]
pub(crate) struct FoldAudience {
    pub(crate) viewer: Perspective,
    /// The present state of the match, which decides what a game with kept secrets shows.
    pub(crate) now: HeldState,
}

pub(crate) fn fold(
    state: &mut RefereeState,
    log: &[Logged<'_>],
    dice: &DicePolicy,
    audience: Option<&FoldAudience>,
    observe: &mut dyn FnMut(&mut dyn Step),
) -> Result<(), FoldError> {
    let referee = state.referee.clone();
    let mut rest = log;
    let mut most = if state.checked.is_some() { ENTRIES_CHECKED } else { ENTRIES_MAX };
    let mut count = if referee.hello.batches { most } else { 1 };
    while let Some(first) = rest.first() {
        let command = referee.logged(first)?;
        if let Some(refusal) = refusal(&referee, state.status(), first.seat, &command) {
            return Err(rejected(first.seq, refusal.code(), refusal.to_string()));
        }
        let mut entries = vec![(first.seat, command)];
        let room = (ANSWER_BYTES_MAX / state.sent().len().max(1)).clamp(1, count);
        for logged in rest.iter().take(room).skip(1) {
            // A malformed command ends the batch. It is an error once the entries before it are folded.
            let Ok(command) = referee.logged(logged) else { break };
            entries.push((logged.seat, command));
        }
        let mut folded = match ask_to_fold(&referee, &state.now, &entries, state.is_new) {
            Ok(folded) => folded,
            // Asking for each entry alone shows which one failed (RF-8). Each one alone was within the limits when it
            // was recorded.
            Err(NoAnswer::Ended(_) | NoAnswer::Exhausted(_) | NoAnswer::OutOfMemory | NoAnswer::Broke(_))
                if entries.len() > 1 =>
            {
                count = 1;
                most = (entries.len() / 4).max(1);
                continue;
            }
            Err(stop) => referee.stop(&stop),
        };
        if referee.hello.batches {
            count = (count * 4).min(most);
        }
        let refused = drop_refused(&referee, state.status(), &entries, &mut folded);
        if let Some(checked) = &mut state.checked {
            entries.truncate(folded.entries.len() + usize::from(folded.stop.is_some()));
            checked.second.fold(&mut checked.held, &state.now.status, &entries, &folded, first.seq);
        }
        let done = folded.entries.len();
        entries.truncate(done);
        let batch = Batch::of(&referee, state, &folded, entries, audience)?;
        for (index, (logged, entry)) in rest.iter().zip(folded.entries).enumerate() {
            check_dice(state, logged.seq, entry.rolled.as_deref(), dice)?;
            if entry.rolled.is_some() && matches!(entry.became, Became::Applied(_)) {
                state.rolls = state.rolls.saturating_add(1);
            }
            let FoldedEntry { became, to, after, .. } = entry;
            state.go_to(after);
            observe(&mut RefereeStep { state, logged, batch: &batch, index, became, to });
        }
        rest = rest.get(done..).unwrap_or_default();
        let seq = rest.first().map_or(0, |next| next.seq);
        if let Some(refusal) = refused {
            return Err(rejected(seq, refusal.code(), refusal.to_string()));
        }
        match folded.stop {
            None => {}
            Some(Stopped::Rejected(code, message)) => return Err(rejected(seq, &code, message)),
            Some(Stopped::Malformed(message)) => return Err(FoldError::Malformed { seq, message }),
            Some(Stopped::Undecodable(cause)) => return Err(FoldError::Undecodable { seq, cause }),
        }
    }
    Ok(())
}

/// Drops the first entry that turnfold itself refuses and all later ones, whatever the referee answered (RF-8).
fn drop_refused(
    referee: &Referee,
    before: &RefereeStatus,
    entries: &[(Seat, LoggedCommand)],
    folded: &mut FoldedEntries,
) -> Option<Refusal> {
    let mut status = before;
    for (index, (seat, command)) in entries.iter().enumerate() {
        if let Some(refusal) = refusal(referee, status, *seat, command) {
            folded.entries.truncate(index);
            folded.stop = None;
            return Some(refusal);
        }
        status = &folded.entries.get(index)?.after.status;
    }
    None
}

fn rejected(seq: u64, code: &str, message: String) -> FoldError {
    FoldError::Rejected { seq, rejected: Box::new(Rejected::new(code_of(code), message)) }
}

/// Requires that a roll which the referee accepted is the one that the dice of the match give.
fn check_dice(
    state: &RefereeState,
    seq: u64,
    rolled: Option<&[i32]>,
    dice: &DicePolicy,
) -> Result<(), FoldError> {
    let (Some(found), Some(due)) = (rolled, &state.status().due) else { return Ok(()) };
    if let (DicePolicy::Fair(_), Some(owner)) = (dice, due.owner) {
        return Err(FoldError::OwnedFairRoll { seq, owner });
    }
    match dice.values(state.rolls.saturating_add(1), due) {
        Some(expected) if expected != found => {
            Err(FoldError::WrongRoll { seq, expected, found: found.to_vec() })
        }
        _ => Ok(()),
    }
}

pub(crate) struct RefereeEntry {
    pub(crate) command: String,
    pub(crate) stand_in: Option<String>,
    pub(crate) is_concealed: bool,
    pub(crate) is_partly_shown: bool,
    pub(crate) effects: Vec<RefereeEffect>,
}

/// Entries that were folded together. A question about one of them is asked for all of them at once.
pub(crate) struct Batch<'a> {
    referee: &'a Referee,
    pub(crate) entries: Vec<(Seat, LoggedCommand)>,
    states: Vec<HeldState>,
    pub(crate) audience: Option<&'a FoldAudience>,
    commands: OnceCell<Vec<EncodedCommand>>,
    shown: OnceCell<Vec<RefereeEntry>>,
}

impl<'a> Batch<'a> {
    fn of(
        referee: &'a Referee,
        before: &RefereeState,
        folded: &FoldedEntries,
        entries: Vec<(Seat, LoggedCommand)>,
        audience: Option<&'a FoldAudience>,
    ) -> Result<Self, FoldError> {
        let mut states = Vec::new();
        if referee.hello.can("show") {
            states.push(before.now.state.clone());
            for entry in &folded.entries {
                states.push(entry.after.state.clone());
            }
        }
        let mut batch =
            Self { referee, entries, states, audience, commands: OnceCell::new(), shown: OnceCell::new() };
        if batch.is_asked_what_is_shown() {
            let shown = batch.ask_what_is_shown();
            batch.shown = shown.map_err(|cause| FoldError::Undecodable { seq: 0, cause })?.into();
        }
        Ok(batch)
    }

    pub(crate) fn is_asked_what_is_shown(&self) -> bool {
        self.audience.is_some() && self.referee.hello.secrets == Secrecy::Kept
    }

    /// Returns what is shown of an entry; everything if there is no audience.
    pub(crate) fn shown(&self, index: usize) -> &RefereeEntry {
        let shown = self.shown.get_or_init(|| match self.ask_what_is_shown() {
            Ok(shown) => shown,
            Err(cause) => self.referee.broke(cause.to_string()),
        });
        match shown.get(index) {
            Some(shown) => shown,
            None => self.referee.broke("it shows fewer entries than it folded"),
        }
    }

    fn ask_what_is_shown(&self) -> Result<Vec<RefereeEntry>, DecodeError> {
        let viewer = match self.audience {
            Some(FoldAudience { viewer, now }) if self.is_asked_what_is_shown() => {
                format!(",\"viewer\":\"{viewer}\",\"now\":{}", now.as_sent())
            }
            _ => String::new(),
        };
        let mut shown = Vec::new();
        while let (Some(state), Some(rest)) = (self.states.get(shown.len()), self.entries.get(shown.len()..))
            && !rest.is_empty()
        {
            let entries = sent_entries(rest);
            let args = format!("{{\"state\":{},\"entries\":{entries}{viewer}}}", state.as_sent());
            let answer =
                match self.referee.try_ask("show", &args, Effort { entries: rest.len(), is_new: false }) {
                    Ok(Ok(answer)) => answer,
                    Ok(Err(no)) => return Err(decode_error(&no)),
                    Err(stop) => self.referee.stop(&stop),
                };
            let listed = answer.items();
            if listed.is_empty() || listed.len() > rest.len() {
                self.referee.broke("it shows another number of entries than it folded");
            }
            for node in listed {
                shown.push(self.referee.require(self.read_shown(node)));
            }
        }
        Ok(shown)
    }

    fn read_shown(&self, node: &JsonNode) -> Result<RefereeEntry, String> {
        let command = node.text_in("command").ok_or("an entry is shown without its `command`")?;
        let stand_in = node.text_in("stand_in");
        laws::plain(command, "")?;
        laws::plain(stand_in.unwrap_or_default(), "")?;
        Ok(RefereeEntry {
            command: command.into(),
            stand_in: stand_in.map(String::from),
            is_concealed: node.bool_in("concealed") == Some(true),
            is_partly_shown: node.bool_in("partly") == Some(true),
            effects: read_effects(node, &self.referee.hello)?,
        })
    }

    pub(crate) fn command(&self, index: usize) -> &EncodedCommand {
        match self.commands.get_or_init(|| self.ask_for_commands()).get(index) {
            Some(command) => command,
            None => self.referee.broke("it answers with fewer commands than it was given"),
        }
    }

    fn ask_for_commands(&self) -> Vec<EncodedCommand> {
        let mut commands = Vec::new();
        // All commands of a log have the same form, so this is one request.
        for part in
            self.entries.chunk_by(|(_, one), (_, other)| one.encoded.is_some() == other.encoded.is_some())
        {
            let mut name = "commands";
            let mut sent = Vec::new();
            for (_, command) in part {
                match &command.encoded {
                    Some(bytes) => {
                        name = "bytes";
                        sent.push(sent_bytes(bytes));
                    }
                    None => sent.push(sent_text(&command.text)),
                }
            }
            let answered = self.referee.commands(&format!("{{\"{name}\":[{}]}}", sent.join(",")));
            for ((_, given), command) in part.iter().zip(answered) {
                let Ok(command) = command else { self.referee.broke("a command that it folded is none") };
                if given.encoded.as_ref().is_some_and(|bytes| *bytes != command.bytes) {
                    self.referee.broke("a command has other bytes than it was given with");
                }
                commands.push(command);
            }
        }
        commands
    }
}
