//! A state of a referee's game: its own text, and what the referee answers about it.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use turnfold_core::any::{AnyState, AnyTrial, Choice, Logged, Step};
use turnfold_core::dice::DiceStream;
use turnfold_core::hash::hash_as;
use turnfold_core::outcome::WhyIgnored;
use turnfold_core::picture::{Block, Picture, TextLine};
use turnfold_core::simulate::random_command;
use turnfold_core::text::{in_one_line, split_verb};
use turnfold_core::{
    Answer, DicePolicy, Digest, DueRoll, FoldError, Json, Malformed, MatchResult, Perspective, QueryError,
    Rejected, Seat, SetupError, Targets, Verdict,
};

use super::answers::{Became, Status, code_of, value_text};
use super::command::LoggedCommand;
use super::fold::{ask_to_fold, fold, refusal};
use super::hello::{Secrecy, seat as read_seat};
use super::json::{Node, json_of, sent_text};
use super::recorded;
use super::referee::Referee;
use super::second::SecondChild;
use crate::laws;
use crate::state::field_of;
use crate::trial::Trial;

/// A command that the referee lists as legal.
#[derive(Clone, Debug)]
struct LegalCommand {
    text: String,
    /// Whether random play may draw it.
    random: bool,
}

/// The second child of a check, and the same state in its own text (RF-15).
#[derive(Clone)]
pub(crate) struct Checked {
    pub(crate) second: Arc<SecondChild>,
    pub(crate) state: Node,
}

/// A state. It is a value: the referee itself remembers nothing between two requests.
#[derive(Clone)]
pub(crate) struct RefereeState {
    pub(crate) referee: Arc<Referee>,
    pub(crate) node: Node,
    /// The state as it is sent to the referee, once that was asked for.
    sent: OnceCell<String>,
    pub(crate) status: Status,
    /// How many rolls led to the state.
    pub(crate) rolls: u64,
    pub(crate) checked: Option<Checked>,
    /// What is legal, of each seat, once it was asked for.
    legal: OnceCell<BTreeMap<Seat, Vec<LegalCommand>>>,
    /// What is clicked for each legal command, once it was asked for.
    targets: OnceCell<BTreeMap<String, Targets>>,
}

impl RefereeState {
    pub(crate) fn new(
        referee: Arc<Referee>,
        node: Node,
        status: Status,
        rolls: u64,
        checked: Option<Checked>,
    ) -> Self {
        let (sent, legal, targets) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { referee, node, sent, status, rolls, checked, legal, targets }
    }

    /// Goes on to another state of the match.
    pub(crate) fn go_to(&mut self, node: Node, status: Status) {
        (self.node, self.status, self.sent) = (node, status, OnceCell::new());
        (self.legal, self.targets) = (OnceCell::new(), OnceCell::new());
    }

    /// Returns the state as it is sent to the referee.
    pub(crate) fn sent(&self) -> &str {
        self.sent.get_or_init(|| self.node.as_sent())
    }

    /// Returns who looks: a seat that no player has is a spectator's (RF-13).
    fn known(&self, viewer: Perspective) -> Perspective {
        let is_known = |seat: Seat| seat == Seat::Host || self.status.players.contains(&seat);
        viewer.seat().filter(|seat| is_known(*seat)).map_or(Perspective::Spectator, Perspective::Seat)
    }

    /// Asks what a viewer sees; none if the referee hides it or shows nothing.
    fn seen(&self, viewer: Perspective, what: &str) -> Option<Node> {
        let viewer = self.known(viewer);
        let args = format!("{{\"state\":{},\"viewers\":[\"{viewer}\"],\"what\":[\"{what}\"]}}", self.sent());
        // An error of `see` hides; it never falls back to what the host sees (RF-13).
        let seen = self.referee.ask("see", &args).ok()?;
        seen.field(&viewer.to_string())?.field(what).cloned()
    }

    /// Returns the document that a viewer sees: what `see` shows, else the state of a game without secrets.
    fn view_node(&self, viewer: Perspective) -> Option<Node> {
        if self.referee.hello.can("see") {
            return self.seen(viewer, "view");
        }
        let is_open = self.referee.hello.secrets == Secrecy::None || viewer == Perspective::HOST;
        if !is_open {
            return None;
        }
        if self.referee.is_recording() {
            return self.node.field("state").cloned();
        }
        Some(self.node.clone())
    }

    pub(crate) fn view_of(&self, viewer: Perspective) -> Json {
        let name = format!("\"ruleset\":\"{}\"", self.referee.hello.name);
        let Some(view) = self.view_node(viewer) else { return json_of(&format!("{{{name}}}")) };
        let fields = view.members().filter(|members| members.iter().all(|(key, _)| key != "ruleset"));
        match fields {
            Some([]) => json_of(&format!("{{{name}}}")),
            Some(_) => json_of(&format!("{{{name},{}", view.canonical().trim_start_matches('{'))),
            None => json_of(&format!("{{{name},\"view\":{}}}", view.canonical())),
        }
    }

    pub(crate) fn picture_of(&self, viewer: Perspective) -> Picture {
        if self.referee.hello.can("see")
            && let Some(picture) = self.seen(viewer, "picture")
        {
            return self.read_picture(&picture);
        }
        // Without a picture, the fields of the view are its lines (RF-6).
        let mut lines = Vec::new();
        match self.view_node(viewer) {
            Some(Node::Object(members)) => {
                for (key, value) in &members {
                    add_field(key, value, &mut lines);
                }
            }
            Some(other) => lines.push(other.canonical()),
            None => {}
        }
        let lines = lines.iter().map(|line| TextLine::plain(in_one_line(line))).collect();
        Picture { blocks: vec![Block::Lines(lines)] }
    }

    fn read_picture(&self, picture: &Node) -> Picture {
        let text = match picture {
            Node::List(_) => format!("{{\"blocks\":{}}}", picture.canonical()),
            _ => picture.canonical(),
        };
        let read = serde_json::from_str::<Picture>(&text).map_err(|error| error.to_string());
        let checked = read.and_then(|mut picture| laws::picture(&mut picture).map(|()| picture));
        checked.unwrap_or_else(|why| self.referee.broke(format!("its picture cannot be drawn: {why}")))
    }

    /// Returns what is legal for a seat; nothing while a roll is due, and nothing after the end.
    fn legal_of(&self, seat: Seat) -> &[LegalCommand] {
        if self.status.over || self.status.due.is_some() || !self.referee.hello.can("legal") {
            return &[];
        }
        let all = self.legal.get_or_init(|| {
            let seats: Vec<Seat> = self.status.players.iter().copied().chain([Seat::Host]).collect();
            let named: Vec<String> = seats.iter().map(|seat| format!("\"{seat}\"")).collect();
            let args = format!("{{\"state\":{},\"seats\":[{}]}}", self.sent(), named.join(","));
            let answer = self.referee.ask("legal", &args).unwrap_or_else(|no| {
                self.referee.broke(format!("it refuses to list commands: {}", no.canonical()))
            });
            let mut all = BTreeMap::new();
            for seat in seats {
                let listed = answer.field(&seat.to_string()).and_then(Node::list).unwrap_or_default();
                let mut commands: Vec<_> = listed.iter().map(|command| self.read_legal(command)).collect();
                // Engines list the same moves in another order in another process (RF-6).
                commands.sort_by(|one, other| one.text.cmp(&other.text));
                commands.dedup_by(|one, other| one.text == other.text);
                all.insert(seat, commands);
            }
            all
        });
        all.get(&seat).map(Vec::as_slice).unwrap_or_default()
    }

    fn read_legal(&self, listed: &Node) -> LegalCommand {
        let text = listed.text().or_else(|| listed.field("command").and_then(Node::text)).unwrap_or_default();
        let random = listed.field("random").and_then(Node::bool).unwrap_or(true);
        match LoggedCommand::read(text) {
            Ok(command) if command.text == text && command.roll.is_none() => {
                LegalCommand { text: command.text, random }
            }
            _ => self.referee.broke(format!("it lists {}, which is no command", listed.canonical())),
        }
    }

    /// Asks how a command is read as someone types it: its text, and the seat if the referee names one (RF-5).
    fn ask_to_read(&self, text: &str) -> Result<(String, Option<Seat>), Malformed> {
        let seat = match self.status.active.as_slice() {
            [one] => format!("\"seat\":\"{one}\","),
            _ => String::new(),
        };
        let args = format!("{{\"state\":{},{seat}\"text\":{}}}", self.sent(), sent_text(text));
        let answer = self
            .referee
            .ask("read", &args)
            .map_err(|no| Malformed(no.text().map_or_else(|| no.canonical(), in_one_line)))?;
        let read = answer.text().or_else(|| answer.field("command").and_then(Node::text));
        let command = read.map(LoggedCommand::read).transpose().ok().flatten();
        let command = command.unwrap_or_else(|| {
            self.referee.broke(format!("it reads {}, which is no command", answer.canonical()))
        });
        let seat = answer.field("seat").map(read_seat).transpose();
        Ok((command.text, seat.unwrap_or_else(|why| self.referee.broke(why))))
    }

    /// Returns the canonical form of the state, which is hashed and compared.
    pub(crate) fn canonical(&self) -> String {
        self.node.canonical()
    }
}

impl AnyState for RefereeState {
    fn players(&self) -> &[Seat] {
        &self.status.players
    }

    fn over(&self) -> bool {
        self.status.over
    }

    fn result(&self) -> Option<MatchResult> {
        self.status.result.clone()
    }

    fn turn(&self) -> Option<u64> {
        self.status.turn
    }

    fn has_secrets(&self) -> bool {
        self.referee.hello.secrets == Secrecy::Closed
    }

    fn read(&self, command: &str) -> Result<String, Malformed> {
        let command = self.referee.reader()(command)?;
        if command.roll.is_some() || !self.referee.hello.can("read") {
            return Ok(command.text);
        }
        self.ask_to_read(&command.text).map(|(text, _)| text)
    }

    fn due_roll(&self) -> Option<DueRoll> {
        self.status.due.clone()
    }

    fn rolls(&self) -> u64 {
        self.rolls
    }

    fn seeded_roll(&self, dice: &DicePolicy) -> Option<Vec<i32>> {
        dice.values(self.rolls.saturating_add(1), self.status.due.as_ref()?)
    }

    fn roll_command(&self, values: Vec<i32>) -> Option<String> {
        let words: Vec<String> = values.iter().map(ToString::to_string).collect();
        let has_rolls = !values.is_empty() && !self.referee.is_recording();
        has_rolls.then(|| format!("roll {}", words.join(" ")))
    }

    /// The only seat that the match waits for (RF-11), the host for a roll.
    fn default_seat(&self, command: &str) -> Option<Seat> {
        let command = self.referee.reader()(command).ok()?;
        if command.roll.is_some() {
            return Some(Seat::Host);
        }
        if self.referee.hello.can("read")
            && let Ok((_, Some(seat))) = self.ask_to_read(&command.text)
        {
            return Some(seat);
        }
        if let [one] = self.status.active.as_slice() { Some(*one) } else { None }
    }

    /// Judging is a fold of one entry that is thrown away (RF-8).
    fn judge(&self, seat: Seat, command: &str) -> Result<Verdict, Rejected> {
        let command = self.referee.reader()(command).map_err(|cause| Rejected::new("malformed", cause.0))?;
        if let Some(refusal) = refusal(&self.status, seat, &command) {
            return Err(Rejected::new(refusal.code(), refusal.to_string()));
        }
        let folded = ask_to_fold(&self.referee, &self.node, &self.status, &[(seat, command)]);
        let folded = folded.unwrap_or_else(|stop| self.referee.stop(&stop));
        match (folded.entries.into_iter().next().map(|entry| entry.became), folded.stop) {
            (Some(Became::Applied(_)), _) => Ok(Verdict::Applied(())),
            (Some(Became::Ignored(code, text)), _) => {
                Ok(Verdict::Ignored(WhyIgnored { code: code_of(&code), text: text.map(Into::into) }))
            }
            (None, Some((code, message))) => Err(Rejected::new(code_of(&code), message)),
            (None, None) => self.referee.broke("it folded no entry"),
        }
    }

    fn fold(
        &mut self,
        log: &[Logged<'_>],
        dice: &DicePolicy,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError> {
        fold(self, log, dice, None, observe)
    }

    fn fold_as(
        &mut self,
        viewer: Perspective,
        log: &[Logged<'_>],
        dice: &DicePolicy,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError> {
        // What is shown of an entry is marked in it, and no later state shows more (RF-13).
        let viewer = self.known(viewer);
        fold(self, log, dice, Some(viewer), observe)
    }

    fn fold_as_at(
        &mut self,
        viewer: Perspective,
        _: &[u8],
        log: &[Logged<'_>],
        dice: &DicePolicy,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError> {
        self.fold_as(viewer, log, dice, observe)
    }

    fn state_hash(&self) -> Digest {
        self.state_hash_as(self.referee.hello.version)
    }

    fn state_hash_as(&self, version: u32) -> Digest {
        hash_as(&self.referee.hello.name, version, self.canonical().as_bytes())
    }

    fn state_bytes(&self) -> Vec<u8> {
        if self.referee.is_recording() {
            return recorded::state_text(&self.node, &self.status, self.referee.hello.secrets).into_bytes();
        }
        self.sent().into()
    }

    fn lists_legal(&self) -> bool {
        self.referee.hello.can("legal")
    }

    fn legal(&self, seat: Seat) -> Vec<String> {
        self.legal_of(seat).iter().map(|legal| legal.text.clone()).collect()
    }

    fn targets(&self, command: &str) -> Targets {
        if !self.referee.hello.can("targets") {
            return Targets::default();
        }
        let known = self.targets.get_or_init(|| {
            let seats = self.status.players.iter().copied().chain([Seat::Host]);
            let mut commands: Vec<String> = seats.flat_map(|seat| self.legal(seat)).collect();
            commands.sort();
            commands.dedup();
            self.ask_for_targets(commands)
        });
        if let Some(known) = known.get(command) {
            return known.clone();
        }
        self.ask_for_targets(vec![command.into()]).remove(command).unwrap_or_default()
    }

    fn legal_at_random(&self, seat: Seat) -> Vec<String> {
        self.legal_of(seat).iter().filter(|legal| legal.random).map(|legal| legal.text.clone()).collect()
    }

    fn choices(&self, seat: Seat) -> Vec<Choice> {
        let mut kinds: Vec<&str> = Vec::new();
        let mut choices = Vec::new();
        for legal in self.legal_of(seat).iter().filter(|legal| legal.random) {
            let word = split_verb(&legal.text).0;
            let kind = kinds.iter().position(|known| *known == word).unwrap_or(kinds.len());
            if kind == kinds.len() {
                kinds.push(word);
            }
            let kind = u32::try_from(kind).unwrap_or(u32::MAX);
            choices.push(Choice { command: legal.text.clone(), kind, legal: true });
        }
        choices
    }

    fn waits_for(&self, seat: Seat) -> bool {
        self.status.active.contains(&seat)
    }

    fn candidates(&self, seat: Seat) -> Vec<String> {
        self.legal(seat)
    }

    fn random_command(&self, chance: &mut DiceStream) -> Option<(Seat, String)> {
        let choices = |seat| self.choices(seat);
        let drawn = random_command(
            &self.status.players,
            chance,
            choices,
            |choice| choice.kind,
            |_, choice| choice.legal,
        );
        drawn.map(|(seat, choice)| (seat, choice.command))
    }

    /// A game without secrets shows its setup; no one but the host may know what another may know of it (RF-13).
    fn setup_seen(&self, setup: &[u8], viewer: Perspective) -> Result<Vec<u8>, SetupError> {
        if self.referee.hello.secrets == Secrecy::None || viewer == Perspective::HOST {
            return Ok(setup.into());
        }
        Err(SetupError::Bytes(format!(
            "it is not known what a seat may know of a setup of `{}`; its matches are shown as a whole to the host alone",
            self.referee.hello.name
        )))
    }

    fn view(&self, viewer: Perspective) -> Json {
        self.view_of(viewer)
    }

    fn view_at(&self, viewer: Perspective, path: &str) -> Option<serde_json::Value> {
        field_of(&self.view_of(viewer), path)
    }

    fn query(&self, viewer: Perspective, question: &str) -> Result<Answer, QueryError> {
        let hello = &self.referee.hello;
        let word = split_verb(question).0;
        let queries = if hello.can("query") { hello.queries.as_slice() } else { &[] };
        if !queries.iter().any(|form| split_verb(form).0 == word) {
            let forms: Vec<String> = queries.iter().map(|form| format!("`{form}`")).collect();
            let known = if forms.is_empty() { "no questions".into() } else { forms.join(", ") };
            return Err(QueryError::Unknown { ruleset: hello.name.clone(), found: in_one_line(word), known });
        }
        let (viewer, sent) = (self.known(viewer), sent_text(question));
        let args = format!("{{\"state\":{},\"viewer\":\"{viewer}\",\"question\":{sent}}}", self.sent());
        let answer = self
            .referee
            .ask("query", &args)
            .map_err(|no| QueryError::Arguments(no.text().map_or_else(|| no.canonical(), in_one_line)))?;
        let text = answer.field("text").and_then(Node::text).map_or_else(String::new, in_one_line);
        let json = answer.field("json").map_or_else(|| "null".into(), Node::canonical);
        Ok(Answer { text, json: json_of(&json) })
    }

    fn picture(&self, viewer: Perspective) -> Picture {
        self.picture_of(viewer)
    }

    fn fork(&self) -> Box<dyn AnyState> {
        Box::new(self.clone())
    }

    fn trial(&self) -> Box<dyn AnyTrial> {
        Box::new(Trial::new(Self { checked: None, ..self.clone() }))
    }
}

impl RefereeState {
    fn ask_for_targets(&self, commands: Vec<String>) -> BTreeMap<String, Targets> {
        let sent: Vec<String> = commands.iter().map(|command| sent_text(command)).collect();
        let args = format!("{{\"state\":{},\"commands\":[{}]}}", self.sent(), sent.join(","));
        let answer = self.referee.ask("targets", &args).unwrap_or(Node::List(Vec::new()));
        let listed = answer.list().unwrap_or_default();
        let read = |node: &Node| {
            let read = serde_json::from_str(&node.canonical());
            read.unwrap_or_else(|error| self.referee.broke(format!("its targets cannot be read: {error}")))
        };
        commands.into_iter().zip(listed.iter().map(read)).collect()
    }
}

/// Writes a field of a view as lines: what it holds stands below it, if it holds objects.
fn add_field(key: &str, value: &Node, lines: &mut Vec<String>) {
    let parts: Vec<(Option<&str>, &Node)> = match value {
        Node::List(elements) => elements.iter().map(|element| (None, element)).collect(),
        Node::Object(members) => members.iter().map(|(key, value)| (Some(key.as_str()), value)).collect(),
        _ => Vec::new(),
    };
    if !parts.iter().any(|(_, part)| matches!(part, Node::Object(_))) {
        lines.push(format!("{key}: {}", value.canonical()));
        return;
    }
    lines.push(format!("{key}:"));
    for (name, part) in parts {
        let text = match part {
            Node::Object(members) => {
                let fields = members.iter().map(|(key, value)| format!("{key} {}", value_text(value)));
                fields.collect::<Vec<_>>().join(", ")
            }
            other => value_text(other),
        };
        lines.push(name.map_or_else(|| format!("  {text}"), |name| format!("  {name}: {text}")));
    }
}

/// What a trial needs of a state that it tries logs in.
impl crate::trial::Tried for RefereeState {
    fn read_command(&self, text: &str) -> Result<String, Malformed> {
        self.referee.reader()(text).map(|command| command.text)
    }

    fn is_same(&self, other: &Self) -> bool {
        self.canonical() == other.canonical()
    }
}
