//! A state of a referee's game: its own text or bytes, and what the referee answers about it.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use turnfold_core::any::{AnyState, AnyTrial, Choice, Logged, Step};
use turnfold_core::decode::DecodeError;
use turnfold_core::dice::DiceStream;
use turnfold_core::hash::hash_as;
use turnfold_core::picture::{Block, Picture, TextLine};
use turnfold_core::simulate::random_command;
use turnfold_core::text::{in_one_line, listed as listed_in_words, split_verb};
use turnfold_core::{
    Answer, DicePolicy, Digest, DueRoll, FoldError, Json, Malformed, MatchResult, Perspective, QueryError,
    Rejected, Seat, SetupError, Targets, Verdict,
};

use crate::answers::{RefereeStatus, Stopped, code_of, value_text};
use crate::command::LoggedCommand;
use crate::fold::{FoldAudience, ask_to_fold, fold, refusal};
use crate::held::{HeldState, Reached};
use crate::hello::{Secrecy, refused_setup, seat as read_seat};
use crate::json::{JsonNode, json_of, member, sent_text};
use crate::laws;
use crate::recorded;
use crate::referee::Referee;
use crate::second::SecondChild;
use crate::trial::Trial;

#[derive(Clone, Debug)]
struct Listed {
    text: String,
    random: bool,
    legal: bool,
    kind: u32,
}

/// The second child of a check, and the same state in the text of that child (RF-15).
#[derive(Clone)]
pub(crate) struct SecondState {
    pub(crate) second: Arc<SecondChild>,
    pub(crate) held: HeldState,
}

/// A state. It is a value: the referee itself remembers nothing between two requests.
#[derive(Clone)]
pub(crate) struct RefereeState {
    pub(crate) referee: Arc<Referee>,
    pub(crate) now: Reached,
    pub(crate) is_new: bool,
    pub(crate) rolls: u64,
    pub(crate) checked: Option<SecondState>,
    asked: Asked,
}

#[derive(Clone, Default)]
struct Asked {
    sent: OnceCell<String>,
    listed: RefCell<BTreeMap<Seat, Vec<Listed>>>,
    targets: OnceCell<BTreeMap<String, Targets>>,
}

impl RefereeState {
    pub(crate) fn new(referee: Arc<Referee>, now: Reached, rolls: u64, checked: Option<SecondState>) -> Self {
        Self { referee, now, is_new: false, rolls, checked, asked: Asked::default() }
    }

    pub(crate) fn go_to(&mut self, now: Reached) {
        self.now = now;
        self.asked = Asked::default();
    }

    pub(crate) fn status(&self) -> &RefereeStatus {
        &self.now.status
    }

    pub(crate) fn sent(&self) -> &str {
        self.asked.sent.get_or_init(|| self.now.state.as_sent())
    }

    /// Returns the viewer; a seat that is neither a player's nor the host's counts as a spectator (RF-13).
    fn known(&self, viewer: Perspective) -> Perspective {
        match viewer.seat() {
            Some(seat) if seat == Seat::Host || self.players().contains(&seat) => Perspective::Seat(seat),
            _ => Perspective::Spectator,
        }
    }

    /// Asks what a viewer sees; `None` if the referee conceals it or shows nothing.
    fn seen(&self, viewer: Perspective, what: &str) -> Option<JsonNode> {
        let viewer = self.known(viewer);
        let args = format!("{{\"state\":{},\"viewers\":[\"{viewer}\"],\"what\":[\"{what}\"]}}", self.sent());
        // After an error of `see` nothing is shown. It never falls back to what the host sees (RF-13).
        let seen = self.referee.ask("see", &args).ok()?;
        seen.field(&viewer.to_string())?.field(what).cloned()
    }

    /// Returns the document that a viewer sees: what `see` shows, else the state if the viewer may know it.
    fn view_node(&self, viewer: Perspective) -> Option<JsonNode> {
        if self.referee.hello.can("see") {
            return self.seen(viewer, "view");
        }
        if !self.has_view(viewer) {
            return None;
        }
        let HeldState::Json(node) = &self.now.state else { return None };
        if self.referee.is_recording() {
            return node.field("state").cloned();
        }
        Some(node.clone())
    }

    /// Returns a document for others to read. A guest of bytes has it in the form of a built-in ruleset.
    pub(crate) fn document(&self, node: &JsonNode) -> Json {
        json_of(&self.text_of(node))
    }

    fn text_of(&self, node: &JsonNode) -> String {
        if self.referee.hello.is_bytes { node.in_order() } else { node.canonical() }
    }

    fn read_picture(&self, picture: &JsonNode) -> Picture {
        let text = match picture {
            JsonNode::List(_) => format!("{{\"blocks\":{}}}", picture.canonical()),
            _ => picture.canonical(),
        };
        let broken = match serde_json::from_str(&text) {
            Ok(mut picture) => match laws::picture(&mut picture) {
                Ok(()) => return picture,
                Err(broken) => broken,
            },
            Err(error) => error.to_string(),
        };
        self.referee.broke(format!("its picture cannot be drawn: {broken}"))
    }

    /// Returns what the referee lists for a seat: the legal commands, and with `choices` others, too.
    fn listed(&self, seat: Seat) -> Vec<Listed> {
        if let Some(known) = self.asked.listed.borrow().get(&seat) {
            return known.clone();
        }
        let (op, seats) = if self.referee.hello.can("choices") {
            ("choices", vec![seat])
        } else if self.is_done() || !self.referee.hello.can("legal") {
            return Vec::new();
        } else {
            // There are fewer legal commands than choices, so they are asked for all seats at once.
            ("legal", self.seats())
        };
        let named: Vec<String> = seats.iter().map(|seat| format!("\"{seat}\"")).collect();
        let args = format!("{{\"state\":{},\"seats\":[{}]}}", self.sent(), named.join(","));
        let answer = match self.referee.ask(op, &args) {
            Ok(answer) => answer,
            Err(no) => self.referee.broke(format!("it refuses to list commands: {}", no.canonical())),
        };
        let mut listed = self.asked.listed.borrow_mut();
        for asked in seats {
            let mut commands = Vec::new();
            for node in answer.items_in(asked.name()) {
                commands.push(self.read_listed(node));
            }
            if op == "legal" {
                // Engines may list the same moves in another order in another process (RF-6).
                commands.sort_by(|one, other| one.text.cmp(&other.text));
                commands.dedup_by(|one, other| one.text == other.text);
                number_kinds(&mut commands);
            }
            listed.insert(asked, commands);
        }
        listed.get(&seat).cloned().unwrap_or_default()
    }

    fn seats(&self) -> Vec<Seat> {
        let mut seats = self.players().to_vec();
        seats.push(Seat::Host);
        seats
    }

    /// Returns `true` while a roll is due and after the end, when no command of a seat is legal.
    fn is_done(&self) -> bool {
        self.status().over || self.status().due.is_some()
    }

    fn read_listed(&self, listed: &JsonNode) -> Listed {
        let text = listed.command().unwrap_or_default();
        let is_command = match LoggedCommand::read(text) {
            Ok(command) => command.text == text && (command.roll.is_none() || self.referee.hello.is_bytes),
            Err(_) => false,
        };
        if !is_command {
            self.referee.broke(format!("it lists {}, which is no command", listed.canonical()));
        }
        Listed {
            text: text.into(),
            random: listed.bool_in("random") != Some(false),
            legal: listed.bool_in("legal") != Some(false),
            kind: u32::try_from(listed.integer_in("kind").unwrap_or(0)).unwrap_or(0),
        }
    }

    /// Asks the referee to read a command as someone types it. Returns its text, and the seat if the referee names one
    /// (RF-5).
    fn ask_to_read(&self, text: &str) -> Result<(String, Option<Seat>), Malformed> {
        let seat = match self.status().active.as_slice() {
            [one] => format!("\"seat\":\"{one}\","),
            _ => String::new(),
        };
        let args = format!("{{\"state\":{},{seat}\"text\":{}}}", self.sent(), sent_text(text));
        let answer = self.referee.ask("read", &args).map_err(|no| Malformed(no.in_words()))?;
        let Some(Ok(command)) = answer.command().map(LoggedCommand::read) else {
            self.referee.broke(format!("it reads {}, which is no command", answer.canonical()))
        };
        Ok((command.text, self.referee.require(answer.optional("seat", read_seat))))
    }
}

impl AnyState for RefereeState {
    fn players(&self) -> &[Seat] {
        &self.status().players
    }

    fn over(&self) -> bool {
        self.status().over
    }

    fn result(&self) -> Option<MatchResult> {
        self.status().result.clone()
    }

    fn turn(&self) -> Option<u64> {
        self.status().turn
    }

    fn has_secrets(&self) -> bool {
        self.referee.hello.secrets != Secrecy::None
    }

    fn begin_recording(&mut self) {
        self.is_new = true;
    }

    fn read(&self, command: &str) -> Result<String, Malformed> {
        let command = self.referee.command(command)?;
        if command.roll.is_some() || !self.referee.hello.can("read") {
            return Ok(command.text);
        }
        Ok(self.ask_to_read(&command.text)?.0)
    }

    fn due_roll(&self) -> Option<DueRoll> {
        self.status().due.clone()
    }

    fn rolls(&self) -> u64 {
        self.rolls
    }

    fn seeded_roll(&self, dice: &DicePolicy) -> Option<Vec<i32>> {
        dice.values(self.rolls.saturating_add(1), self.status().due.as_ref()?)
    }

    fn roll_command(&self, values: Vec<i32>) -> Option<String> {
        if self.referee.hello.is_bytes {
            return Some(self.referee.one_command(&format!("{{\"roll\":{values:?}}}")).ok()?.text);
        }
        if values.is_empty() || self.referee.is_recording() {
            return None;
        }
        let words: Vec<String> = values.iter().map(ToString::to_string).collect();
        Some(format!("roll {}", words.join(" ")))
    }

    /// Returns the host for a roll, else the seat that the referee names, else the only seat that the match waits for
    /// (RF-11).
    fn default_seat(&self, command: &str) -> Option<Seat> {
        if self.referee.hello.is_bytes {
            let (text, seat) = self.ask_to_read(command).ok()?;
            return if text == command { seat } else { None };
        }
        let command = self.referee.command(command).ok()?;
        if command.roll.is_some() {
            return Some(Seat::Host);
        }
        if self.referee.hello.can("read")
            && let Ok((_, Some(seat))) = self.ask_to_read(&command.text)
        {
            return Some(seat);
        }
        if let [one] = self.status().active.as_slice() { Some(*one) } else { None }
    }

    /// Judges a command by folding it as an entry and dropping the result (RF-8).
    fn judge(&self, seat: Seat, command: &str) -> Result<Verdict, Rejected> {
        let command = self.referee.command(command).map_err(|cause| Rejected::new("malformed", cause.0))?;
        if let Some(refusal) = refusal(&self.referee, self.status(), seat, &command) {
            return Err(Rejected::new(refusal.code(), refusal.to_string()));
        }
        let folded = match ask_to_fold(&self.referee, &self.now, &[(seat, command)], self.is_new) {
            Ok(folded) => folded,
            Err(stop) => self.referee.stop(&stop),
        };
        if let Some(entry) = folded.entries.first() {
            return Ok(entry.became.verdict());
        }
        match folded.stop {
            Some(Stopped::Rejected(code, message)) => Err(Rejected::new(code_of(&code), message)),
            Some(Stopped::Malformed(message)) => Err(Rejected::new("malformed", message)),
            Some(Stopped::Undecodable(cause)) => Err(Rejected::new("malformed", cause.to_string())),
            None => self.referee.broke("it folded no entry"),
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
        // Marks show an entry in the same way in every later state (RF-13). A module decides by the state at the end.
        let mut now = self.now.state.clone();
        if self.referee.hello.secrets == Secrecy::Kept {
            let mut end = Self { checked: None, ..self.clone() };
            end.fold(log, dice, &mut |_| {})?;
            now = end.now.state;
        }
        let audience = FoldAudience { viewer: self.known(viewer), now };
        fold(self, log, dice, Some(&audience), observe)
    }

    fn fold_as_at(
        &mut self,
        viewer: Perspective,
        now: &[u8],
        log: &[Logged<'_>],
        dice: &DicePolicy,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError> {
        let now = match &self.now.state {
            HeldState::Bytes(_) => HeldState::Bytes(now.into()),
            HeldState::Json(node) if self.referee.hello.secrets != Secrecy::Kept => {
                HeldState::Json(node.clone())
            }
            HeldState::Json(_) => {
                let read = match std::str::from_utf8(now) {
                    Ok(text) => JsonNode::read(text),
                    Err(error) => Err(error.to_string()),
                };
                match read {
                    Ok(node) => HeldState::Json(node),
                    Err(why) => {
                        return Err(FoldError::Undecodable { seq: 0, cause: DecodeError::Unreadable(why) });
                    }
                }
            }
        };
        let audience = FoldAudience { viewer: self.known(viewer), now };
        fold(self, log, dice, Some(&audience), observe)
    }

    fn state_hash(&self) -> Digest {
        self.state_hash_as(self.referee.hello.version)
    }

    fn state_hash_as(&self, version: u32) -> Digest {
        hash_as(&self.referee.hello.name, version, &self.now.state.hashed())
    }

    fn state_bytes(&self) -> Vec<u8> {
        match &self.now.state {
            HeldState::Json(node) if self.referee.is_recording() => {
                recorded::state_text(node, self.status(), self.referee.hello.secrets).into_bytes()
            }
            held => held.stored(),
        }
    }

    fn lists_legal(&self) -> bool {
        self.referee.hello.can("legal") || self.referee.hello.can("choices")
    }

    fn has_view(&self, viewer: Perspective) -> bool {
        self.referee.hello.can("see") || !self.has_secrets() || viewer == Perspective::HOST
    }

    fn legal(&self, seat: Seat) -> Vec<String> {
        let mut listed = self.listed(seat);
        listed.retain(|listed| listed.legal);
        texts(listed)
    }

    fn targets(&self, command: &str) -> Targets {
        if !self.referee.hello.can("targets") {
            return Targets::default();
        }
        let known = self.asked.targets.get_or_init(|| {
            let mut commands = Vec::new();
            for seat in self.seats() {
                commands.extend(self.legal(seat));
            }
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
        let mut listed = self.listed(seat);
        listed.retain(|listed| listed.legal && listed.random);
        texts(listed)
    }

    fn choices(&self, seat: Seat) -> Vec<Choice> {
        let mut choices = Vec::new();
        for listed in self.listed(seat) {
            if listed.random {
                choices.push(Choice { command: listed.text, kind: listed.kind, legal: listed.legal });
            }
        }
        choices
    }

    fn waits_for(&self, seat: Seat) -> bool {
        if self.referee.hello.can("choices") {
            return !self.legal_at_random(seat).is_empty();
        }
        self.status().active.contains(&seat)
    }

    fn candidates(&self, seat: Seat) -> Vec<String> {
        texts(self.listed(seat))
    }

    fn random_command(&self, chance: &mut DiceStream) -> Option<(Seat, String)> {
        let (seat, choice) = random_command(
            self.players(),
            chance,
            |seat| self.choices(seat),
            |choice| choice.kind,
            |_, choice| choice.legal,
        )?;
        Some((seat, choice.command))
    }

    /// Returns the setup as a viewer may know it. If the game has secrets and does not show its setup itself, only the
    /// host sees the setup (RF-13).
    fn setup_seen(&self, setup: &[u8], viewer: Perspective) -> Result<Vec<u8>, SetupError> {
        let hello = &self.referee.hello;
        if hello.secrets == Secrecy::Kept {
            let viewer = self.known(viewer);
            let sent = self.referee.sent_setup(setup)?;
            let args = format!("{{\"state\":{},\"setup\":{sent},\"viewer\":\"{viewer}\"}}", self.sent());
            return match self.referee.ask("setup_seen", &args) {
                Err(no) => Err(refused_setup(&no, hello.is_bytes)),
                Ok(seen) => Ok(self.referee.require(HeldState::of(seen, hello.is_bytes)).stored()),
            };
        }
        if !self.has_secrets() || viewer == Perspective::HOST {
            return Ok(setup.into());
        }
        Err(SetupError::Bytes(format!(
            "it is not known what a seat may know of a setup of `{}`; its matches are shown as a whole to the host alone",
            self.referee.hello.name
        )))
    }

    fn view(&self, viewer: Perspective) -> Json {
        let name = format!("\"ruleset\":\"{}\"", self.referee.hello.name);
        let Some(view) = self.view_node(viewer) else { return json_of(&format!("{{{name}}}")) };
        match view.members() {
            Some([]) => json_of(&format!("{{{name}}}")),
            Some(members) if member(members, "ruleset").is_none() => {
                json_of(&format!("{{{name},{}", self.text_of(&view).trim_start_matches('{')))
            }
            _ => json_of(&format!("{{{name},\"view\":{}}}", self.text_of(&view))),
        }
    }

    fn view_at(&self, viewer: Perspective, path: &str) -> Option<serde_json::Value> {
        let view: serde_json::Value = serde_json::from_str(&self.view(viewer)).ok()?;
        view.pointer(path).cloned()
    }

    fn query(&self, viewer: Perspective, question: &str) -> Result<Answer, QueryError> {
        let word = split_verb(question).0;
        if !self.queries().iter().any(|form| split_verb(form).0 == word) {
            return Err(self.unknown_question(word));
        }
        let viewer = self.known(viewer);
        let sent = sent_text(question);
        let args = format!("{{\"state\":{},\"viewer\":\"{viewer}\",\"question\":{sent}}}", self.sent());
        let answer = match self.referee.ask("query", &args) {
            Ok(answer) => answer,
            Err(no) if no.text().is_none() && no.field("unknown").is_some() => {
                return Err(self.unknown_question(word));
            }
            Err(no) => return Err(QueryError::Arguments(no.in_words())),
        };
        let text = answer.text_in("text").map_or_else(String::new, in_one_line);
        let json = answer.field("json").unwrap_or(&JsonNode::Null);
        Ok(Answer { text, json: self.document(json) })
    }

    fn picture(&self, viewer: Perspective) -> Picture {
        if self.referee.hello.can("see")
            && let Some(picture) = self.seen(viewer, "picture")
        {
            return self.read_picture(&picture);
        }
        // Without a picture, the fields of the view are shown as lines (RF-6).
        let mut lines = Vec::new();
        if !self.has_view(viewer) {
            let why = if self.referee.is_recording() {
                "the recording would say `\"secrets\":\"none\"`"
            } else {
                "the referee would offer `see`"
            };
            lines.push(format!("the game does not define what {viewer} may see; {why}"));
        }
        match self.view_node(viewer) {
            Some(JsonNode::Object(members)) => {
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

    fn fork(&self) -> Box<dyn AnyState> {
        Box::new(Self { is_new: false, ..self.clone() })
    }

    fn trial(&self) -> Box<dyn AnyTrial> {
        Box::new(Trial::new(Self { checked: None, ..self.clone() }))
    }
}

impl RefereeState {
    fn queries(&self) -> &[String] {
        if self.referee.hello.can("query") { &self.referee.hello.queries } else { &[] }
    }

    fn unknown_question(&self, word: &str) -> QueryError {
        let forms: Vec<String> = self.queries().iter().map(|form| format!("`{form}`")).collect();
        let known = match forms.as_slice() {
            [] if self.referee.is_recording() => "no questions".into(),
            [] => "no questions; its referee would offer `query` and list `queries`".into(),
            forms => listed_in_words(forms),
        };
        QueryError::Unknown { ruleset: self.referee.hello.name.clone(), found: in_one_line(word), known }
    }

    fn ask_for_targets(&self, commands: Vec<String>) -> BTreeMap<String, Targets> {
        let sent: Vec<String> = commands.iter().map(|command| sent_text(command)).collect();
        let args = format!("{{\"state\":{},\"commands\":[{}]}}", self.sent(), sent.join(","));
        let mut targets = BTreeMap::new();
        let Ok(answer) = self.referee.ask("targets", &args) else { return targets };
        for (command, listed) in commands.into_iter().zip(answer.items()) {
            match serde_json::from_str(&listed.canonical()) {
                Ok(read) => targets.insert(command, read),
                Err(error) => self.referee.broke(format!("its targets cannot be read: {error}")),
            };
        }
        targets
    }
}

fn texts(listed: Vec<Listed>) -> Vec<String> {
    listed.into_iter().map(|listed| listed.text).collect()
}

fn add_field(key: &str, value: &JsonNode, lines: &mut Vec<String>) {
    let parts = value.parts();
    if !parts.iter().any(|(_, part)| matches!(part, JsonNode::Object(_))) {
        lines.push(format!("{key}: {}", value.canonical()));
        return;
    }
    lines.push(format!("{key}:"));
    for (name, part) in parts {
        let text = match part {
            JsonNode::Object(members) => {
                let fields: Vec<String> =
                    members.iter().map(|(key, value)| format!("{key} {}", value_text(value))).collect();
                fields.join(", ")
            }
            other => value_text(other),
        };
        match name {
            Some(name) => lines.push(format!("  {name}: {text}")),
            None => lines.push(format!("  {text}")),
        }
    }
}

fn number_kinds(commands: &mut [Listed]) {
    let mut kinds: Vec<String> = Vec::new();
    for command in commands {
        if !command.random {
            continue;
        }
        let word = split_verb(&command.text).0;
        let kind = kinds.iter().position(|known| known == word).unwrap_or(kinds.len());
        if kind == kinds.len() {
            kinds.push(word.into());
        }
        command.kind = u32::try_from(kind).unwrap_or(u32::MAX);
    }
}
