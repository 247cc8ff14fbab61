//! `recorded`: matches without rules, whose entries contain the move, its effects and the state after it (RF-18).
//!
//! The text of a command is the move, followed by its record as JSON: `strike bob {"state":…}`. A record has the whole
//! state, or the changes since the entry before. Only the move of a command is shown.

use std::sync::Arc;

use turnfold_core::any::{AnyRules, AnyState};
use turnfold_core::decode::DecodeError;
use turnfold_core::{Malformed, Seat, SetupError};

use crate::answers::{PLAYERS_MAX, RefereeStatus, StepAnswer, Stopped, read_step};
use crate::command::{LoggedCommand, is_plain};
use crate::fold::{FoldedEntries, FoldedEntry, end_of};
use crate::held::{HeldState, Reached};
use crate::hello::Secrecy;
use crate::json::{JsonNode, member, pointer, sent_text, unescaped};
use crate::referee::Referee;
use crate::rules::setup_of;
use crate::setup;
use crate::state::RefereeState;

pub(crate) const NAME: &str = "recorded";

const VERSION: u32 = 1;

const EXAMPLE: &str = "game = \"charge\"\nplayers = [\"ann\", \"bob\"]\n";

pub(crate) struct RecordedRules;

pub(crate) fn begin(setup: &JsonNode) -> Result<RefereeState, SetupError> {
    let Some(listed) = setup.list_in("players") else {
        return Err(SetupError::value("players", "expected a list of names"));
    };
    if listed.is_empty() || listed.len() > PLAYERS_MAX || listed.iter().any(|name| name.text().is_none()) {
        return Err(SetupError::value("players", "expected 1 to 16 names"));
    }
    let state = HeldState::Json(JsonNode::Object(vec![("state".into(), JsonNode::Object(Vec::new()))]));
    let status = RefereeStatus { players: Seat::players(listed.len()).into(), ..RefereeStatus::default() };
    Ok(RefereeState::new(stand_in(setup), Reached { state, status }, 0, None))
}

/// Returns the stand-in for a referee. Each match declares, in its setup and its state, whether it has secrets.
fn stand_in(declared: &JsonNode) -> Arc<Referee> {
    let secrets = if declared.text_in("secrets") == Some("none") { Secrecy::None } else { Secrecy::Closed };
    Arc::new(Referee::recording(NAME, EXAMPLE, secrets))
}

impl AnyRules for RecordedRules {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn has_rules(&self) -> bool {
        false
    }

    fn summary(&self) -> &'static str {
        "a game that was recorded elsewhere, without its rules"
    }

    fn example(&self) -> &str {
        EXAMPLE
    }

    fn rulebook(&self) -> &'static str {
        ""
    }

    fn mail_terms(&self) -> &'static str {
        ""
    }

    fn has_secrets(&self) -> bool {
        true
    }

    fn ignored_codes(&self) -> Vec<&str> {
        Vec::new()
    }

    fn rejected_codes(&self) -> Vec<&str> {
        Vec::new()
    }

    fn read_setup(&self, toml: &str) -> Result<Vec<u8>, SetupError> {
        let setup = setup::from_toml(toml)?;
        begin(&setup)?;
        Ok(setup.as_sent().into_bytes())
    }

    fn read_setup_of(&self, document: &str) -> Result<Vec<u8>, SetupError> {
        let setup = setup::from_document(document)?.unwrap_or_else(|| JsonNode::Object(Vec::new()));
        begin(&setup)?;
        Ok(setup.as_sent().into_bytes())
    }

    fn write_setup(&self, setup: &[u8]) -> Result<String, SetupError> {
        setup::to_toml(&setup_of(setup)?).map_err(SetupError::Bytes)
    }

    fn canonical(&self, command: &str) -> Result<String, Malformed> {
        Ok(read_command(command)?.text)
    }

    fn rule_ids(&self, _: &str) -> Vec<&str> {
        Vec::new()
    }

    fn command_text(&self, command: &[u8]) -> Result<String, DecodeError> {
        Ok(LoggedCommand::decode(command, read_command)?.text)
    }

    fn start(&self, setup: &[u8]) -> Result<Box<dyn AnyState>, SetupError> {
        Ok(Box::new(begin(&setup_of(setup)?)?))
    }

    fn resume(&self, state: &[u8], rolls: u64) -> Result<Box<dyn AnyState>, DecodeError> {
        match resumed(state, rolls) {
            Ok(state) => Ok(Box::new(state)),
            Err(why) => Err(DecodeError::Unreadable(why)),
        }
    }
}

/// Reads the bytes of a state, which also contain its status and whether the match has secrets.
fn resumed(state: &[u8], rolls: u64) -> Result<RefereeState, String> {
    let Ok(text) = std::str::from_utf8(state) else { return Err("it is not UTF-8".into()) };
    let mut kept = JsonNode::read(text)?;
    let (Some(node), Some(status)) = (kept.take("node"), kept.take("status")) else {
        return Err("it is no state of a recording".into());
    };
    let now = Reached { state: HeldState::Json(node), status: RefereeStatus::read(&status)? };
    let resumed = RefereeState::new(stand_in(&kept), now, rolls, None);
    if resumed.state_bytes() != state {
        return Err("it is written otherwise".into());
    }
    Ok(resumed)
}

pub(crate) fn state_text(node: &JsonNode, status: &RefereeStatus, secrets: Secrecy) -> String {
    let secrets = if secrets == Secrecy::None { "none" } else { "closed" };
    format!("{{\"node\":{},\"status\":{},\"secrets\":\"{secrets}\"}}", node.as_sent(), status.as_sent())
}

pub(crate) fn read_command(text: &str) -> Result<LoggedCommand, Malformed> {
    move_and_record(text)
        .map_err(|why| Malformed(format!("expected a move and behind it what was recorded, as JSON: {why}")))
}

fn move_and_record(text: &str) -> Result<LoggedCommand, String> {
    let mut shown = String::new();
    let mut record = None;
    if text.starts_with('"') {
        let mut stream = serde_json::Deserializer::from_str(text).into_iter::<String>();
        let Some(Ok(quoted)) = stream.next() else { return Err("a quote that is not closed".into()) };
        shown = quoted;
        record = text.get(stream.byte_offset()..).unwrap_or_default().strip_prefix(' ');
    } else if let Some(place) = text.find(" {") {
        text.get(..place).unwrap_or_default().clone_into(&mut shown);
        record = text.get(place + 1..);
    }
    let Some(record) = record else { return Err("nothing was recorded".into()) };
    let record = JsonNode::read(record)?;
    if !matches!(record, JsonNode::Object(_)) {
        return Err("it is no object".into());
    }
    Ok(command_of(&shown, record))
}

pub(crate) fn command_of(shown: &str, record: JsonNode) -> LoggedCommand {
    // A move that a line of a replay file cannot contain, or that would end too early, is quoted.
    let shown = if is_plain(shown) && !shown.contains(" {") && !shown.starts_with('"') {
        shown.to_owned()
    } else {
        sent_text(shown)
    };
    LoggedCommand {
        text: format!("{shown} {}", record.as_sent()),
        recorded: Some((shown, record)),
        ..LoggedCommand::default()
    }
}

pub(crate) fn fold(referee: &Referee, before: &Reached, entries: &[(Seat, LoggedCommand)]) -> FoldedEntries {
    let mut folded = FoldedEntries { entries: Vec::with_capacity(entries.len()), stop: None };
    for (_, command) in entries {
        let before = end_of(&folded.entries, before);
        match fold_one(referee, before, command) {
            Ok(entry) => folded.entries.push(entry),
            Err(why) => {
                folded.stop = Some(Stopped::Rejected("malformed".into(), why));
                break;
            }
        }
    }
    folded
}

pub(crate) fn fold_one(
    referee: &Referee,
    before: &Reached,
    command: &LoggedCommand,
) -> Result<FoldedEntry, String> {
    let Some((_, record)) = &command.recorded else { return Err("nothing was recorded".into()) };
    let mut record = record.clone();
    let HeldState::Json(mut node) = before.state.clone() else {
        return Err("a recorded state is JSON".into());
    };
    if let Some(whole) = record.take("state") {
        node = JsonNode::Object(vec![("state".into(), whole)]);
    } else if let Some(changes) = record.take("changed") {
        for change in changes.list().ok_or("`changed` is no list")? {
            apply(&mut node, change)?;
        }
    }
    let (step, status) = read_record(referee, record, &before.status)?;
    let after = Reached { state: HeldState::Json(node), status };
    Ok(FoldedEntry { became: step.became, to: step.to, after, rolled: None })
}

pub(crate) fn read_record(
    referee: &Referee,
    mut record: JsonNode,
    before: &RefereeStatus,
) -> Result<(StepAnswer, RefereeStatus), String> {
    // The players do not change, so a status need not repeat them.
    let status = match record.take("status") {
        Some(now) => RefereeStatus { players: before.players.clone(), ..RefereeStatus::read(&now)? },
        None => before.clone(),
    };
    Ok((read_step(record, &referee.hello)?, status))
}

/// Returns the changes from one state to the next: `[PATH, VALUE]`, or `[PATH]` for a member that was removed.
pub(crate) fn changes(before: &JsonNode, after: &JsonNode) -> Vec<JsonNode> {
    let mut changes = Vec::new();
    compare(before, after, "", &mut changes);
    changes
}

fn compare(before: &JsonNode, after: &JsonNode, path: &str, changes: &mut Vec<JsonNode>) {
    if before == after {
        return;
    }
    match (before, after) {
        (JsonNode::List(old), JsonNode::List(new)) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                compare(old, new, &pointer(path, &index.to_string()), changes);
            }
        }
        (JsonNode::Object(old), JsonNode::Object(new)) if keys_follow(old, new) => {
            for (key, _) in old {
                if member(new, key).is_none() {
                    changes.push(JsonNode::List(vec![JsonNode::Text(pointer(path, key))]));
                }
            }
            for (key, now) in new {
                let path = pointer(path, key);
                match member(old, key) {
                    Some(old) => compare(old, now, &path, changes),
                    None => changes.push(JsonNode::List(vec![JsonNode::Text(path), now.clone()])),
                }
            }
        }
        _ => changes.push(JsonNode::List(vec![JsonNode::Text(path.into()), after.clone()])),
    }
}

/// Returns `true` if the kept keys stay in order and new ones come last, so that changes lead to the same order.
fn keys_follow(old: &[(String, JsonNode)], new: &[(String, JsonNode)]) -> bool {
    let mut first = new.iter();
    for (key, _) in old {
        if member(new, key).is_some()
            && let Some((next, _)) = first.next()
            && next != key
        {
            return false;
        }
    }
    true
}

fn apply(node: &mut JsonNode, change: &JsonNode) -> Result<(), String> {
    let Some([path, value @ ..]) = change.list() else { return Err("a change is no list".into()) };
    let path = path.text().ok_or("a change has no path")?;
    let lost = format!("there is no {path:.60} to change");
    let Some(mut place) = node.part_mut("state") else { return Err(lost) };
    let mut names: Vec<String> = path.split('/').skip(1).map(unescaped).collect();
    let name = names.pop();
    for parent in &names {
        let Some(part) = place.part_mut(parent) else { return Err(lost) };
        place = part;
    }
    match (name, value.first()) {
        (None, Some(value)) => *place = value.clone(),
        (Some(name), Some(value)) => {
            if let Some(old) = place.part_mut(&name) {
                *old = value.clone();
            } else if let JsonNode::Object(members) = place {
                members.push((name, value.clone()));
            } else {
                return Err(lost);
            }
        }
        (Some(name), None) => {
            let JsonNode::Object(members) = place else { return Err(lost) };
            members.retain(|(key, _)| *key != name);
        }
        (None, None) => return Err(lost),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rf_18a_changes_lead_to_the_same_state_in_the_same_order() {
        let states = [
            r#"{"a":1,"b":[1,2,{"c":null}],"d/e":{"~":1}}"#,
            r#"{"a":1.0,"b":[1,2,{"c":3,"d":4}],"d/e":{"~":2},"new":[]}"#,
            r#"{"b":[1,2],"d/e":{"~":2},"new":{}}"#,
            r#"{"new":{},"b":[1,2],"d/e":{"~":2}}"#,
            "[1]",
            "7",
        ];
        for before in states {
            for after in states {
                let [before, after] = [before, after].map(|text| JsonNode::read(text).unwrap());
                let mut node = JsonNode::Object(vec![("state".into(), before.clone())]);
                for change in changes(&before, &after) {
                    apply(&mut node, &change).unwrap();
                }
                assert_eq!(node, JsonNode::Object(vec![("state".into(), after)]));
            }
        }
        let mut node = JsonNode::Object(vec![("state".into(), JsonNode::read(states[0]).unwrap())]);
        for wrong in ["7", "[]", "[7]", r#"["/x/y",1]"#, r#"["/b/9",1]"#, r#"["/b/0"]"#, r#"[""]"#] {
            assert!(apply(&mut node, &JsonNode::read(wrong).unwrap()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn rf_18_any_move_is_one_line_that_reads_back() {
        for shown in ["strike bob", "", "a => b", "\"x\" {", "  two  blanks", "a\nb", "roll 3", "a #b", "{"] {
            let record = JsonNode::read(r#"{"state":{"a":" => "}}"#).unwrap();
            let command = command_of(shown, record);
            assert_eq!(read_command(&command.text).unwrap(), command, "{shown:?}");
            assert!(!command.text.contains('\n'));
        }
    }
}
