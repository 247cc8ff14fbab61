//! Files of recordings: a line for each move, with the state after it (RF-18, RF-18a).

use std::io::{BufRead, Read as _};
use std::sync::Arc;

use turnfold_core::any::{AnyRules, AnyState as _};
use turnfold_core::text::in_one_line;
use turnfold_core::{Digest, Seat};

use crate::answers::Status;
use crate::command::LoggedCommand;
use crate::fold::FoldedEntry;
use crate::held::Held;
use crate::json::Node;
use crate::recorded::{self, RecordedRules, RecordedStart, changes, command_of};
use crate::referee::Referee;
use crate::setup;

/// The most bytes of an entry, which a log and a replay file take, and of a line of the recording.
const ENTRY_BYTES_MAX: usize = 64 << 10;
const LINE_BYTES_MAX: usize = 64 << 20;

/// After how many entries a state stands whole again (RF-18a).
const WHOLE_EVERY: u64 = 64;

/// What a command is called that has no text: dice, stones or a cube set by hand.
const SET: &str = "(set)";

/// The fields of the first line of a match, and of the others.
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
    /// What the first line calls the match.
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
    /// The branch that it begins on and the entry after which it does; none for the main branch.
    pub begins_after: Option<(String, u64)>,
    /// Its entries: the seat, the command's bytes and when it was given, in Unix milliseconds.
    pub entries: Vec<(Seat, Vec<u8>, Option<i64>)>,
    /// The hash of the last state.
    pub state_hash: Digest,
}

/// A branch while it is read.
struct BranchReader {
    name: String,
    begins_after: Option<(String, u64)>,
    entries: Vec<(Seat, Vec<u8>, Option<i64>)>,
    /// The last state with its status.
    now: (Node, Status),
}

impl BranchReader {
    /// Returns the number that the next entry has.
    fn next(&self) -> u64 {
        let before = self.begins_after.as_ref().map_or(0, |(_, after)| *after);
        before + self.entries.len() as u64 + 1
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
            let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
            let read = file.by_ref().take(limit + 1).read_until(b'\n', &mut line);
            let wrong = |why: String| (number, in_one_line(&why));
            if read.map_err(|error| wrong(error.to_string()))? == 0 {
                break;
            }
            if line.len() > LINE_BYTES_MAX {
                return Err(wrong("it is longer than 64 MiB".into()));
            }
            let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line);
            let text = std::str::from_utf8(line).map_err(|_| wrong("it is not UTF-8".into()))?.trim();
            if text.is_empty() {
                continue;
            }
            let node = Node::read(text).map_err(wrong)?;
            if node.field("game").is_some() {
                readers.push(MatchReader::begin(node).map_err(wrong)?);
                continue;
            }
            let reader = readers.last_mut().ok_or_else(|| {
                wrong("the first line names the game: {\"game\":\"…\",\"players\":[\"ann\",\"bob\"],\"state\":{…}}".into())
            })?;
            reader.take(node).map_err(wrong)?;
        }
        Ok(readers.into_iter().map(MatchReader::end).collect())
    }
}

/// A match while it is read.
struct MatchReader {
    setup: Vec<u8>,
    title: String,
    players: Vec<String>,
    /// Fields that are not stored.
    drop: Vec<String>,
    /// What every branch begins with.
    referee: Arc<Referee>,
    start: (Node, Status),
    branches: Vec<BranchReader>,
}

impl MatchReader {
    fn begin(mut line: Node) -> Result<Self, String> {
        known_fields(&line, &FIRST)?;
        let (state, status, title) = (line.take("state"), line.take("status"), line.take("title"));
        let texts = |node: Option<Node>| -> Result<Vec<String>, String> {
            let listed = node.as_ref().map_or(Some(&[][..]), Node::list).unwrap_or_default();
            let texts = listed.iter().map(|text| text.text().map(String::from));
            texts
                .collect::<Option<_>>()
                .ok_or_else(|| "`drop` and `ignore` are lists of paths such as \"/clock\"".into())
        };
        let drop = texts(line.take("drop"))?;
        texts(line.field("ignore").cloned())?;
        // A setup has the bytes that it has when a replay file has carried it.
        let setup = setup::from_toml(&setup::to_toml(&line)?).map_err(|error| error.to_string())?;
        let begun = RecordedStart::read(&setup).map_err(|error| error.to_string())?;
        let RecordedStart { referee, node, status: first_status } = begun;
        let players = line.field("players").and_then(Node::list).unwrap_or_default();
        let players: Vec<String> = players.iter().filter_map(Node::text).map(String::from).collect();
        let start = (node, first_status);
        let main =
            BranchReader { name: "main".into(), begins_after: None, entries: Vec::new(), now: start.clone() };
        let title = title.as_ref().and_then(Node::text).unwrap_or_default().into();
        let setup = setup.as_sent().into_bytes();
        let mut reader = Self { setup, title, players, drop, referee, start, branches: vec![main] };
        // The first state is entry 1 (RF-18).
        match (state, status) {
            (None, None) => {}
            (None, Some(_)) => return Err("a `status` in the first line stands beside a `state`".into()),
            (Some(state), status) => {
                let mut members = vec![("state".into(), state)];
                members.extend(status.map(|status| ("status".into(), status)));
                reader.take(Node::Object(members))?;
            }
        }
        Ok(reader)
    }

    /// Takes a line: an entry of the main branch or of the one that it names.
    fn take(&mut self, mut line: Node) -> Result<(), String> {
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
        if let Some(joint) = line.field("seats").and_then(Node::list) {
            let seats = joint.iter().map(|name| self.seat(name)).collect::<Result<Vec<_>, _>>()?;
            let names: Vec<String> = seats.iter().map(ToString::to_string).collect();
            shown = format!("{} {shown}", names.join("+"));
        }
        if shown.is_empty() {
            shown = if line.field("state").is_some() { SET.into() } else { "(end)".into() };
        }
        let at_ms = line.field("at_ms").and_then(Node::integer);
        let mut record = Vec::new();
        for name in ["effects", "texts", "to", "status", "took_ms"] {
            if let Some(value) = line.take(name) {
                record.push((name.to_owned(), self.with_seats(name, value)?));
            }
        }
        let status = &self.branches.get(branch).ok_or("there is no such branch")?.now.1;
        let (_, status) = recorded::read_record(&self.referee, Node::Object(record.clone()), status)?;
        let state = line.take("state");
        let branch = self.branches.get_mut(branch).ok_or("there is no such branch")?;
        branch.now.1 = status;
        if let Some(mut state) = state {
            for path in &self.drop {
                state.remove(path);
            }
            let whole = state.as_sent().len();
            let state = Node::Object(vec![("state".into(), state)]);
            let (Some(before), Some(now)) = (branch.now.0.field("state"), state.field("state")) else {
                return Err("a state is not null".into());
            };
            let is_whole = branch.entries.is_empty() || branch.next() % WHOLE_EVERY == 1;
            let change = Node::List(if is_whole { Vec::new() } else { changes(before, now) });
            if is_whole || change.as_sent().len() > whole {
                record.push(("state".into(), now.clone()));
            } else {
                record.push(("changed".into(), change));
            }
            branch.now.0 = state;
        }
        let command = command_of(&shown, Node::Object(record));
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

    /// Finds the branch of a line, by its index, and begins it where the line says so.
    fn branch(&mut self, line: &Node) -> Result<usize, String> {
        let Some(name) = line.field("branch") else { return Ok(0) };
        let name = name.text().ok_or("`branch` is no text")?;
        if let Some(known) = self.branches.iter().position(|branch| branch.name == name) {
            return Ok(known);
        }
        let after = line.field("after").and_then(Node::integer).and_then(|after| u64::try_from(after).ok());
        let after = after
            .ok_or_else(|| format!("`{name}` is a new branch; `after` says after which entry it begins"))?;
        let main = self.branches.first().map(|main| main.entries.as_slice()).unwrap_or_default();
        let shared = usize::try_from(after).ok().and_then(|after| main.get(..after));
        let shared = shared.ok_or_else(|| format!("there is no entry {after} to branch from"))?;
        let mut now = self.start.clone();
        for (_, bytes, _) in shared {
            let command =
                LoggedCommand::decode(bytes, recorded::read_command).map_err(|error| error.to_string())?;
            let FoldedEntry { state, status, .. } =
                recorded::fold_one(&self.referee, &Held::Json(now.0), &now.1, &command)?;
            let Held::Json(node) = state else { return Err("a recorded state is JSON".into()) };
            now = (node, status);
        }
        let begins_after = Some(("main".into(), after));
        self.branches.push(BranchReader { name: name.into(), begins_after, entries: Vec::new(), now });
        Ok(self.branches.len() - 1)
    }

    /// Reads a seat: a name of the first line, `p1` and on, or `host`.
    fn seat(&self, node: &Node) -> Result<Seat, String> {
        let name = node.text().ok_or("a seat is text")?;
        let mut named =
            self.players.iter().zip(Seat::players(self.players.len())).filter(|(known, _)| *known == name);
        match (named.next(), named.next()) {
            (Some((_, seat)), None) => return Ok(*seat),
            (Some(_), Some(_)) => {
                return Err(format!("two players are called {name:?}; write `p1` and `p2`"));
            }
            (None, _) => {}
        }
        let seat = name.parse().map_err(|_| format!("{name:?} is no player; the first line names them"))?;
        let plays = seat == Seat::Host || Seat::players(self.players.len()).contains(&seat);
        if plays { Ok(seat) } else { Err(format!("the match has no {seat}")) }
    }

    /// Writes seats in the place of names.
    fn with_seats(&self, field: &str, mut value: Node) -> Result<Node, String> {
        let seats = |listed: &Node| -> Result<Node, String> {
            let names = listed.list().ok_or_else(|| format!("`{field}` lists seats"))?;
            let seats = names.iter().map(|name| Ok(Node::Text(self.seat(name)?.to_string())));
            seats.collect::<Result<_, String>>().map(Node::List)
        };
        if field == "to" && value.list().is_some() {
            return seats(&value);
        }
        if field != "status" {
            return Ok(value);
        }
        if let Some(active) = value.part_mut("active") {
            *active = seats(active)?;
        }
        if let Some(result) = value.part_mut("result") {
            if let Some(winners) = result.part_mut("winners") {
                *winners = seats(winners)?;
            }
            if let Some(Node::Object(scores)) = result.part_mut("scores") {
                for (name, _) in scores {
                    *name = self.seat(&Node::Text(name.clone()))?.to_string();
                }
            }
        }
        Ok(value)
    }

    fn end(self) -> Recording {
        let Self { setup, title, referee, branches, .. } = self;
        let has_end = branches.first().is_some_and(|main| main.now.1.over || main.now.1.result.is_some());
        let branches = branches.into_iter().map(|branch| {
            let BranchReader { name, begins_after, entries, now: (node, status) } = branch;
            let state = RecordedStart { referee: referee.clone(), node, status }.state(0);
            RecordingBranch { name, begins_after, entries, state_hash: state.state_hash() }
        });
        let branches = branches.collect();
        Recording { rules: Arc::new(RecordedRules), setup, title, branches, has_end }
    }
}

fn known_fields(line: &Node, known: &[&str]) -> Result<(), String> {
    let members = line.members().ok_or("expected an object")?;
    match members.iter().find(|(key, _)| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some((key, _)) => Err(format!("unknown field `{key}`, expected {}", known.join(", "))),
    }
}
