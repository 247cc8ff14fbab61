//! Files of recordings: a line for each move, with the state after it (RF-18, RF-18a).

use std::io::{BufRead, Read as _};
use std::sync::Arc;

use turnfold_core::any::{AnyRules, AnyState as _};
use turnfold_core::text::in_one_line;
use turnfold_core::{Digest, Seat};

use crate::command::LoggedCommand;
use crate::held::{HeldState, Reached};
use crate::json::JsonNode;
use crate::recorded::{self, RecordedRules, changes, command_of};
use crate::referee::Referee;
use crate::setup;
use crate::state::RefereeState;

/// The most bytes of an entry in a log and a replay file, and of a line of the recording.
const ENTRY_BYTES_MAX: usize = 64 << 10;
const LINE_BYTES_MAX: u64 = 64 << 20;

/// After how many entries a state is recorded whole again (RF-18a).
const WHOLE_EVERY: u64 = 64;

/// The text of a command without one, such as dice, stones or a cube set by hand.
const SET: &str = "(set)";

const FIRST: [&str; 8] = ["game", "players", "state", "status", "secrets", "ignore", "drop", "title"];
const FIELDS: [&str; 12] = [
    "seat", "seats", "command", "effects", "texts", "to", "state", "status", "branch", "after", "took_ms",
    "at_ms",
];

/// A match that was recorded elsewhere, checked and ready to be stored.
pub struct Recording {
    /// The ruleset of recordings.
    pub rules: Arc<dyn AnyRules>,
    /// The setup for the log.
    pub setup: Vec<u8>,
    /// The title from the first line.
    pub title: String,
    /// The main branch, then the others in the order in which they begin.
    pub branches: Vec<RecordingBranch>,
    /// Whether the last entry of the main branch records that the match is over.
    pub has_end: bool,
}

/// A branch of a recording.
pub struct RecordingBranch {
    /// Its name.
    pub name: String,
    /// The entry of the main branch after which it begins; `None` for the main branch.
    pub begins_after: Option<u64>,
    /// Its entries: the seat, the command's bytes and when it was given, in Unix milliseconds.
    pub entries: Vec<(Seat, Vec<u8>, Option<i64>)>,
    /// The hash of the last state.
    pub state_hash: Digest,
}

struct BranchReader {
    name: String,
    begins_after: Option<u64>,
    entries: Vec<(Seat, Vec<u8>, Option<i64>)>,
    now: Reached,
}

impl BranchReader {
    fn next(&self) -> u64 {
        self.begins_after.unwrap_or(0) + self.entries.len() as u64 + 1
    }
}

impl Recording {
    /// Reads the matches of a file.
    ///
    /// # Errors
    /// The number of the line and what is wrong with it.
    pub fn read_all(mut file: impl BufRead) -> Result<Vec<Self>, (u64, String)> {
        let mut readers: Vec<MatchReader> = Vec::new();
        for number in 1.. {
            let mut line = Vec::new();
            let taken = match file.by_ref().take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(_) => take_line(&mut readers, &line),
                Err(error) => Err(error.to_string()),
            };
            taken.map_err(|why| (number, in_one_line(&why)))?;
        }
        Ok(readers.into_iter().map(MatchReader::end).collect())
    }
}

fn take_line(readers: &mut Vec<MatchReader>, line: &[u8]) -> Result<(), String> {
    if line.len() as u64 > LINE_BYTES_MAX {
        return Err("it is longer than 64 MiB".into());
    }
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    let Ok(text) = std::str::from_utf8(line) else { return Err("it is not UTF-8".into()) };
    if text.trim().is_empty() {
        return Ok(());
    }
    let node = JsonNode::read(text.trim())?;
    if node.field("game").is_some() {
        readers.push(MatchReader::begin(node)?);
        return Ok(());
    }
    let Some(reader) = readers.last_mut() else {
        let example = r#"{"game":"…","players":["ann","bob"],"state":{…}}"#;
        return Err(format!("the first line names the game: {example}"));
    };
    reader.take(node)
}

struct MatchReader {
    setup: Vec<u8>,
    title: String,
    players: Vec<String>,
    drop: Vec<String>,
    referee: Arc<Referee>,
    start: Reached,
    branches: Vec<BranchReader>,
}

impl MatchReader {
    fn begin(mut line: JsonNode) -> Result<Self, String> {
        known_fields(&line, &FIRST)?;
        let state = line.take("state");
        let status = line.take("status");
        let title = line.text_in("title").unwrap_or_default().to_owned();
        line.take("title");
        let drop = paths(line.take("drop").as_ref())?;
        paths(line.field("ignore"))?;
        // Read the setup from TOML, so that it has the same bytes as after an import from a replay file.
        let setup = setup::from_toml(&setup::to_toml(&line)?).map_err(|error| error.to_string())?;
        let RefereeState { referee, now: start, .. } =
            recorded::begin(&setup).map_err(|error| error.to_string())?;
        let mut players = Vec::new();
        for name in line.items_in("players") {
            players.push(name.text().unwrap_or_default().to_owned());
        }
        let mut reader = Self {
            setup: setup.as_sent().into_bytes(),
            title,
            players,
            drop,
            referee,
            branches: vec![BranchReader {
                name: "main".into(),
                begins_after: None,
                entries: Vec::new(),
                now: start.clone(),
            }],
            start,
        };
        // The first state is entry 1 (RF-18).
        if let Some(state) = state {
            let mut members = vec![("state".into(), state)];
            if let Some(status) = status {
                members.push(("status".into(), status));
            }
            reader.take(JsonNode::Object(members))?;
        } else if status.is_some() {
            return Err("a `status` in the first line needs a `state`".into());
        }
        Ok(reader)
    }

    fn take(&mut self, mut line: JsonNode) -> Result<(), String> {
        known_fields(&line, &FIELDS)?;
        let branch = self.branch(&line)?;
        let mut shown = match line.field("command") {
            Some(command) => command.text().ok_or("`command` is no text")?.trim().to_owned(),
            None => String::new(),
        };
        let seat = match line.field("seat") {
            Some(name) => self.seat(name)?,
            None => Seat::Host,
        };
        if let Some(joint) = line.list_in("seats") {
            let mut names = Vec::new();
            for name in joint {
                names.push(self.seat(name)?.name());
            }
            shown = format!("{} {shown}", names.join("+"));
        }
        if shown.is_empty() {
            shown = if line.field("state").is_some() { SET.into() } else { "(end)".into() };
        }
        let at_ms = line.integer_in("at_ms");
        let mut record = Vec::new();
        for name in ["effects", "texts", "to", "status", "took_ms"] {
            if let Some(value) = line.take(name) {
                record.push((name.to_owned(), self.with_seats(name, value)?));
            }
        }
        let branch = self.branches.get_mut(branch).ok_or("there is no such branch")?;
        let record_read = JsonNode::Object(record.clone());
        (_, branch.now.status) = recorded::read_record(&self.referee, record_read, &branch.now.status)?;
        if let Some(mut state) = line.take("state") {
            for path in &self.drop {
                state.remove(path);
            }
            let whole = state.as_sent().len();
            let state = JsonNode::Object(vec![("state".into(), state)]);
            let HeldState::Json(before) = &branch.now.state else {
                return Err("a recorded state is JSON".into());
            };
            let (Some(before), Some(now)) = (before.field("state"), state.field("state")) else {
                return Err("a state is not null".into());
            };
            let is_whole = branch.entries.is_empty() || branch.next() % WHOLE_EVERY == 1;
            let change = JsonNode::List(if is_whole { Vec::new() } else { changes(before, now) });
            if is_whole || change.as_sent().len() > whole {
                record.push(("state".into(), now.clone()));
            } else {
                record.push(("changed".into(), change));
            }
            branch.now.state = HeldState::Json(state);
        }
        let command = command_of(&shown, JsonNode::Object(record));
        if command.text.len() >= ENTRY_BYTES_MAX {
            return Err(format!(
                "it takes {} bytes, and an entry at most 64 KiB; leave fields of the state out with \
                 `\"drop\":[\"/log\"]` in the first line",
                command.text.len()
            ));
        }
        branch.entries.push((seat, command.bytes(), at_ms));
        Ok(())
    }

    /// Returns the index of the branch that a line names. A new branch begins after the entry in the line's `after`.
    fn branch(&mut self, line: &JsonNode) -> Result<usize, String> {
        let Some(name) = line.field("branch") else { return Ok(0) };
        let name = name.text().ok_or("`branch` is no text")?;
        if let Some(known) = self.branches.iter().position(|branch| branch.name == name) {
            return Ok(known);
        }
        let Some(Ok(after)) = line.integer_in("after").map(u64::try_from) else {
            return Err(format!("`{name}` is a new branch; `after` says after which entry it begins"));
        };
        let mut shared = None;
        if let Some(main) = self.branches.first()
            && let Ok(after) = usize::try_from(after)
        {
            shared = main.entries.get(..after);
        }
        let Some(shared) = shared else { return Err(format!("there is no entry {after} to branch from")) };
        let mut now = self.start.clone();
        for (_, bytes, _) in shared {
            let command = LoggedCommand::decode(bytes, recorded::read_command);
            let command = command.map_err(|error| error.to_string())?;
            now = recorded::fold_one(&self.referee, &now, &command)?.after;
        }
        let begins_after = Some(after);
        self.branches.push(BranchReader { name: name.into(), begins_after, entries: Vec::new(), now });
        Ok(self.branches.len() - 1)
    }

    /// Reads a seat: a name of the first line, `p1` and so on, or `host`.
    fn seat(&self, node: &JsonNode) -> Result<Seat, String> {
        let name = node.text().ok_or("a seat is text")?;
        let seats = Seat::players(self.players.len());
        let mut named = None;
        for (player, seat) in self.players.iter().zip(seats) {
            if player == name && named.replace(*seat).is_some() {
                return Err(format!("two players are called {name:?}; write `p1` and `p2`"));
            }
        }
        if let Some(seat) = named {
            return Ok(seat);
        }
        let Ok(seat) = name.parse() else {
            return Err(format!("{name:?} is no player; the first line names them"));
        };
        if seat != Seat::Host && !seats.contains(&seat) {
            return Err(format!("the match has no {seat}"));
        }
        Ok(seat)
    }

    fn seats(&self, field: &str, listed: &JsonNode) -> Result<JsonNode, String> {
        let Some(listed) = listed.list() else { return Err(format!("`{field}` lists seats")) };
        let mut seats = Vec::new();
        for name in listed {
            seats.push(JsonNode::Text(self.seat(name)?.to_string()));
        }
        Ok(JsonNode::List(seats))
    }

    fn with_seats(&self, field: &str, mut value: JsonNode) -> Result<JsonNode, String> {
        if field == "to" && value.list().is_some() {
            return self.seats(field, &value);
        }
        if field != "status" {
            return Ok(value);
        }
        if let Some(active) = value.part_mut("active") {
            *active = self.seats(field, active)?;
        }
        if let Some(result) = value.part_mut("result") {
            if let Some(winners) = result.part_mut("winners") {
                *winners = self.seats(field, winners)?;
            }
            if let Some(JsonNode::Object(scores)) = result.part_mut("scores") {
                for (name, _) in scores {
                    *name = self.seat(&JsonNode::Text(name.clone()))?.to_string();
                }
            }
        }
        Ok(value)
    }

    fn end(self) -> Recording {
        let mut branches = Vec::new();
        let mut has_end = false;
        for (index, branch) in self.branches.into_iter().enumerate() {
            let status = &branch.now.status;
            has_end |= index == 0 && (status.over || status.result.is_some());
            let end = RefereeState::new(self.referee.clone(), branch.now, 0, None);
            branches.push(RecordingBranch {
                name: branch.name,
                begins_after: branch.begins_after,
                entries: branch.entries,
                state_hash: end.state_hash(),
            });
        }
        let rules = Arc::new(RecordedRules);
        Recording { rules, setup: self.setup, title: self.title, branches, has_end }
    }
}

fn paths(listed: Option<&JsonNode>) -> Result<Vec<String>, String> {
    let mut paths = Vec::new();
    let Some(listed) = listed else { return Ok(paths) };
    for path in listed.items() {
        let path = path.text().ok_or("`drop` and `ignore` are lists of paths such as \"/clock\"")?;
        paths.push(path.to_owned());
    }
    Ok(paths)
}

fn known_fields(line: &JsonNode, known: &[&str]) -> Result<(), String> {
    let members = line.members().ok_or("expected an object")?;
    for (key, _) in members {
        if !known.contains(&key.as_str()) {
            return Err(format!("unknown field `{key}`, expected {}", known.join(", ")));
        }
    }
    Ok(())
}
