//! A referee's answers about a match, checked before use (RF-7, RF-11, RF-13).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Not;

use serde::Serialize;
use turnfold_core::admission::Refusal;
use turnfold_core::decode::DecodeError;
use turnfold_core::outcome::{Code, Outcome, WhyIgnored};
use turnfold_core::text::in_one_line;
use turnfold_core::{DueRoll, MatchResult, Perspective, Score, Seat, Verdict};

use crate::held::HeldState;
use crate::hello::{Hello, Secrecy, seat};
use crate::json::{JsonNode, canonical_number};
use crate::laws;

/// The most players of a match (RF-11).
pub(crate) const PLAYERS_MAX: usize = 16;

/// What everyone may know of a state (RF-11).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct RefereeStatus {
    pub(crate) players: Vec<Seat>,
    pub(crate) active: Vec<Seat>,
    #[serde(skip_serializing_if = "Not::not")]
    pub(crate) over: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<MatchResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) turn: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) due: Option<DueRoll>,
}

impl RefereeStatus {
    pub(crate) fn read(node: &JsonNode) -> Result<Self, String> {
        let status = Self {
            players: seats(node, "players")?,
            active: seats(node, "active")?,
            over: node.bool_in("over") == Some(true),
            result: node.optional("result", result)?,
            turn: node.optional("turn", |turn| whole("turn", turn))?,
            due: node.optional("due", due)?,
        };
        if status.players.contains(&Seat::Host) || status.players.len() > PLAYERS_MAX {
            return Err("the players of its status are not p1 to p16".into());
        }
        Ok(status)
    }

    pub(crate) fn as_sent(&self) -> String {
        // Plain data always encodes.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn seats(status: &JsonNode, field: &str) -> Result<Vec<Seat>, String> {
    let Some(listed) = status.field(field) else { return Ok(Vec::new()) };
    let Some(listed) = listed.list() else {
        return Err(format!("`{field}` of its status is no list of seats"));
    };
    let mut seats = all_seats(listed)?;
    seats.sort();
    seats.dedup();
    if seats.len() < listed.len() {
        return Err(format!("`{field}` of its status lists a seat twice"));
    }
    Ok(seats)
}

fn all_seats(listed: &[JsonNode]) -> Result<Vec<Seat>, String> {
    listed.iter().map(seat).collect()
}

fn whole<N: TryFrom<i64>>(field: &str, node: &JsonNode) -> Result<N, String> {
    if let Some(number) = node.integer()
        && let Ok(number) = N::try_from(number)
    {
        return Ok(number);
    }
    Err(format!("`{field}` is {}, expected a whole number", node.canonical()))
}

fn result(node: &JsonNode) -> Result<MatchResult, String> {
    let winners = node.items_in("winners");
    let mut scores = BTreeMap::new();
    for (name, score) in node.field("scores").and_then(JsonNode::members).unwrap_or_default() {
        let Ok(whose) = name.parse() else {
            return Err(format!("the scores name {name:?}, which is no seat"));
        };
        // In the protocol's own fields `null` is absent (RF-5).
        if *score == JsonNode::Null {
            continue;
        }
        let spelled = score.canonical();
        let read = if let JsonNode::Number(_) = score { Score::read(&spelled) } else { None };
        let Some(read) = read else {
            return Err(format!("the score of {name} is {spelled}, expected a number"));
        };
        scores.insert(whose, read);
    }
    Ok(MatchResult {
        winners: all_seats(winners)?,
        draw: node.bool_in("draw") == Some(true),
        scores,
        reason: node.text_in("reason").map(in_one_line),
    })
}

/// Reads the roll that the match waits for (RF-12).
fn due(node: &JsonNode) -> Result<DueRoll, String> {
    let due = DueRoll {
        purpose: node.text_in("purpose").unwrap_or("roll").to_owned().into(),
        count: match node.field("count") {
            Some(count) => whole("count", count)?,
            None => 1,
        },
        low: bound(node, "low")?,
        high: bound(node, "high")?,
        owner: node.optional("owner", seat)?,
    };
    laws::due_roll(&due)?;
    Ok(due)
}

fn bound(due: &JsonNode, field: &str) -> Result<i32, String> {
    let Some(bound) = due.field(field) else { return Err(format!("`due` has no `{field}`")) };
    whole(field, bound)
}

/// Who a command or an effect is shown to, besides its giver and the host (RF-13).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum ShownTo {
    All,
    #[default]
    GiverAlone,
    Seats(Vec<Seat>),
}

impl ShownTo {
    fn read(node: Option<&JsonNode>) -> Result<Self, String> {
        match node {
            None => Ok(Self::GiverAlone),
            Some(JsonNode::Text(text)) if text == "all" => Ok(Self::All),
            Some(one @ JsonNode::Text(_)) => Ok(Self::Seats(vec![seat(one)?])),
            Some(listed) => {
                let seats = listed.list().ok_or("`to` is neither \"all\" nor a list of seats")?;
                Ok(Self::Seats(all_seats(seats)?))
            }
        }
    }

    /// Returns `true` if a viewer may know of it. `giver` is the seat that gave the command.
    pub(crate) fn shows(&self, giver: Seat, viewer: Perspective) -> bool {
        let is_marked = match self {
            Self::All => true,
            Self::GiverAlone => false,
            Self::Seats(seats) => seats.iter().any(|seat| viewer.is_seat(*seat)),
        };
        is_marked || viewer.may_know_as(giver)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RefereeEffect {
    pub(crate) text: String,
    /// `None` if the answer has only the text.
    pub(crate) node: Option<JsonNode>,
    pub(crate) to: ShownTo,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Became {
    Applied(Vec<RefereeEffect>),
    /// The code, and a text for the player.
    Ignored(String, Option<String>),
}

impl Became {
    pub(crate) fn verdict(&self) -> Verdict {
        match self {
            Self::Applied(_) => Verdict::Applied(()),
            Self::Ignored(code, text) => {
                Verdict::Ignored(WhyIgnored { code: code_of(code), text: text.clone().map(Into::into) })
            }
        }
    }
}

/// A step of a fold (RF-7).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StepAnswer {
    pub(crate) became: Became,
    /// The state after the entry, if it was asked for and changed.
    pub(crate) state: Option<HeldState>,
    pub(crate) status: Option<RefereeStatus>,
    pub(crate) to: ShownTo,
    /// The values, if the command was a roll and only the referee can read commands (RF-10).
    pub(crate) rolled: Option<Vec<i32>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stopped {
    /// The code and a message.
    Rejected(String, String),
    Malformed(String),
    Undecodable(DecodeError),
}

/// The answer to a fold (RF-7).
pub(crate) struct FoldAnswer {
    pub(crate) steps: Vec<StepAnswer>,
    pub(crate) stop: Option<Stopped>,
    pub(crate) state: HeldState,
}

impl FoldAnswer {
    pub(crate) fn read(mut answer: JsonNode, hello: &Hello, entries: usize) -> Result<Self, String> {
        let state = answer.take("state").ok_or("its answer to `fold` has no `state`")?;
        let state = HeldState::of(state, hello.is_bytes)?;
        let status = answer.field("status").ok_or("its answer to `fold` has no `status`")?;
        let status = RefereeStatus::read(status)?;
        let stop = answer.optional("stop", |stop| read_stop(stop, hello))?;
        let mut steps = Vec::new();
        match answer.take("steps") {
            Some(JsonNode::List(listed)) => {
                for step in listed {
                    steps.push(read_step(step, hello)?);
                }
            }
            None | Some(JsonNode::Null) => {}
            Some(other) if other.list().is_some() => {}
            Some(_) => return Err("`steps` of its answer to `fold` is no list".into()),
        }
        // A referee may fold only some of the entries, but at least one. Otherwise it would be asked the same forever.
        let is_possible = match stop {
            Some(_) => steps.len() < entries,
            None => steps.len() <= entries && (!steps.is_empty() || entries == 0),
        };
        if !is_possible {
            return Err(format!("it folded {} of {entries} entries", steps.len()));
        }
        if let Some(last) = steps.last_mut() {
            let own = last.status.replace(status);
            if own.is_some() && own != last.status {
                return Err("the status after all entries is not the status after the last one".into());
            }
        }
        Ok(Self { steps, stop, state })
    }
}

fn read_stop(stop: &JsonNode, hello: &Hello) -> Result<Stopped, String> {
    let code = stop.text_in("code").ok_or("`stop` has no `code`")?;
    let message = in_one_line(stop.text_in("message").unwrap_or(code));
    if hello.is_bytes && code == "malformed" {
        return Ok(match stop.field("undecodable") {
            Some(cause) => Stopped::Undecodable(decode_error(cause)),
            None => Stopped::Malformed(message),
        });
    }
    // Any referee may find that a text is not a command or names the wrong seat. The other refusals are turnfold's own,
    // except that a guest of bytes contains the core's admission.
    let is_refusal =
        code == "malformed" || code == "wrong_seat" || (hello.is_bytes && Refusal::CODES.contains(&code));
    if !is_refusal && !has_code(&hello.rejected, code) {
        return Err(undeclared(code));
    }
    Ok(Stopped::Rejected(code.into(), message))
}

fn has_code(declared: &[(String, Vec<String>)], code: &str) -> bool {
    declared.iter().any(|(declared, _)| declared == code)
}

fn undeclared(code: &str) -> String {
    format!("it does not declare the code `{}`", in_one_line(code))
}

/// Reads why bytes cannot be decoded: an error with its kind, or only a text.
pub(crate) fn decode_error(no: &JsonNode) -> DecodeError {
    if let Some(text) = no.text() {
        return DecodeError::Unreadable(in_one_line(text));
    }
    match serde_json::from_str(&no.canonical()) {
        Ok(DecodeError::Unreadable(text)) => DecodeError::Unreadable(in_one_line(&text)),
        Ok(error) => error,
        Err(_) => DecodeError::Unreadable(no.canonical()),
    }
}

pub(crate) fn read_step(mut step: JsonNode, hello: &Hello) -> Result<StepAnswer, String> {
    if step.members().is_none() {
        return Err(format!("a step is {}, expected an object", step.canonical()));
    }
    let state = match step.take("state") {
        Some(state) => Some(HeldState::of(state, hello.is_bytes)?),
        None => None,
    };
    let rolled = step.optional("rolled", numbers)?;
    let status = step.optional("status", RefereeStatus::read)?;
    let to = ShownTo::read(step.field("to"))?;
    if let Some(code) = step.field("ignored") {
        let code = code.text().ok_or("the code of an ignored command is no text")?;
        if !has_code(&hello.ignored, code) {
            return Err(undeclared(code));
        }
        let text = step.text_in("text").map(in_one_line);
        // An ignored command changes nothing, so it has no state, effects or status of its own.
        let became = Became::Ignored(code.into(), text);
        return Ok(StepAnswer { became, state: None, status: None, to, rolled });
    }
    let became = Became::Applied(read_effects(&step, hello)?);
    Ok(StepAnswer { became, state, status, to, rolled })
}

pub(crate) fn read_effects(step: &JsonNode, hello: &Hello) -> Result<Vec<RefereeEffect>, String> {
    let texts = step.list_in("texts");
    let mut read = Vec::new();
    // A referee that offers `show` may answer with texts now, and with the effects then.
    if step.field("effects").is_none() && hello.can("show") {
        let to = if hello.secrets == Secrecy::Closed { ShownTo::GiverAlone } else { ShownTo::All };
        for text in step.items_in("texts") {
            let text = effect_text(text.text().ok_or("the text of an effect is no text")?)?;
            read.push(RefereeEffect { text, node: None, to: to.clone() });
        }
        return Ok(read);
    }
    let effects = match step.field("effects") {
        Some(effects) => effects.list().ok_or("`effects` is no list")?,
        None => &[],
    };
    if let Some(texts) = texts
        && texts.len() != effects.len()
    {
        return Err("`texts` has not one text for each effect".into());
    }
    for (index, effect) in effects.iter().enumerate() {
        let text = texts.and_then(|texts| texts.get(index)?.text());
        read.push(read_effect(effect, text, hello.secrets)?);
    }
    Ok(read)
}

fn numbers(listed: &JsonNode) -> Result<Vec<i32>, String> {
    let mut numbers = Vec::new();
    for number in listed.list().ok_or("`rolled` is no list")? {
        numbers.push(whole("rolled", number)?);
    }
    Ok(numbers)
}

/// Reads an effect. If it has no text, its text is its name, then ` key=value` in the order of the keys (RF-8). In a
/// game without secrets all see it, and `to` is a field like any other, for example where a piece goes (RF-13).
fn read_effect(effect: &JsonNode, text: Option<&str>, secrets: Secrecy) -> Result<RefereeEffect, String> {
    let members = effect.members().ok_or("an effect is no object")?;
    let name = effect.text_in("effect").ok_or("an effect has no name in its field `effect`")?;
    let is_open = secrets != Secrecy::Closed;
    let to = if is_open { ShownTo::All } else { ShownTo::read(effect.field("to"))? };
    let mut shown = members.to_vec();
    shown.retain(|(key, _)| is_open || key != "to");
    let mut fields = shown.clone();
    fields.retain(|(key, _)| key != "effect");
    fields.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut own_text = name.to_owned();
    for (key, value) in &fields {
        let _ = write!(own_text, " {key}={}", value_text(value));
    }
    let text = effect_text(text.unwrap_or(&own_text))?;
    Ok(RefereeEffect { text, node: Some(JsonNode::Object(shown)), to })
}

fn effect_text(text: &str) -> Result<String, String> {
    match text.parse() {
        Ok(Outcome::Applied(effects)) if effects.iter().eq([text]) => Ok(text.into()),
        _ => Err(format!("`{}` is no text of an effect", in_one_line(text))),
    }
}

/// Writes a value of an effect: words bare, other strings quoted, all else as compact JSON.
pub(crate) fn value_text(value: &JsonNode) -> String {
    match value {
        JsonNode::Text(text) if is_word(text) => text.clone(),
        JsonNode::Number(spelled) => canonical_number(spelled).unwrap_or_default().into_owned(),
        other => other.canonical(),
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control() || "\";=#".contains(c))
}

pub(crate) fn code_of(word: &str) -> Code {
    Code::read(word).unwrap_or_else(|| "malformed".into())
}
