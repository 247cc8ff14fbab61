//! What a referee answers about a match, checked before it is believed (RF-7, RF-11, RF-13).

use std::collections::BTreeMap;
use std::ops::Not;

use serde::Serialize;
use turnfold_core::decode::DecodeError;
use turnfold_core::outcome::{Code, Outcome};
use turnfold_core::text::in_one_line;
use turnfold_core::{DueRoll, MatchResult, Perspective, Score, Seat};

use crate::held::Held;
use crate::hello::{Hello, Secrecy, seat};
use crate::json::{Node, canonical_number};
use crate::laws;

/// The most players of a match (RF-11).
pub(crate) const PLAYERS_MAX: usize = 16;

/// What all may know of a state (RF-11).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Status {
    pub(crate) players: Vec<Seat>,
    /// The seats that the match waits for, in order.
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

impl Status {
    /// Reads a whole status; what it leaves out is none.
    pub(crate) fn read(node: &Node) -> Result<Self, String> {
        let seats = |field: &str| -> Result<Vec<Seat>, String> {
            let Some(listed) = node.field(field) else { return Ok(Vec::new()) };
            let listed =
                listed.list().ok_or_else(|| format!("`{field}` of its status is no list of seats"))?;
            let mut seats = listed.iter().map(seat).collect::<Result<Vec<_>, _>>()?;
            seats.sort();
            let count = seats.len();
            seats.dedup();
            if seats.len() == count {
                Ok(seats)
            } else {
                Err(format!("`{field}` of its status lists a seat twice"))
            }
        };
        let status = Self {
            players: seats("players")?,
            active: seats("active")?,
            over: node.field("over").and_then(Node::bool).unwrap_or(false),
            result: node.field("result").map(result).transpose()?,
            turn: whole("turn", node.field("turn"))?,
            due: node.field("due").map(due).transpose()?,
        };
        if status.players.contains(&Seat::Host) || status.players.len() > PLAYERS_MAX {
            return Err("the players of its status are not p1 to p16".into());
        }
        Ok(status)
    }

    /// Writes what a recording keeps of it.
    pub(crate) fn as_sent(&self) -> String {
        // Plain data always encodes.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn whole<N: TryFrom<i64>>(field: &str, node: Option<&Node>) -> Result<Option<N>, String> {
    let Some(node) = node else { return Ok(None) };
    let number = node.integer().and_then(|number| N::try_from(number).ok());
    number.map(Some).ok_or_else(|| format!("`{field}` is {}, expected a whole number", node.canonical()))
}

fn result(node: &Node) -> Result<MatchResult, String> {
    let winners = node.field("winners").and_then(Node::list).unwrap_or_default();
    let mut scores = BTreeMap::new();
    for (name, score) in node.field("scores").and_then(Node::members).unwrap_or_default() {
        let of = name.parse().map_err(|_| format!("the scores name {name:?}, which is no seat"))?;
        // In the protocol's own fields `null` is absent (RF-5).
        if *score == Node::Null {
            continue;
        }
        let read = if let Node::Number(spelled) = score { canonical_number(spelled) } else { None };
        let read = read.and_then(|number| Score::read(&number));
        let read =
            read.ok_or_else(|| format!("the score of {name} is {}, expected a number", score.canonical()))?;
        scores.insert(of, read);
    }
    Ok(MatchResult {
        winners: winners.iter().map(seat).collect::<Result<Vec<_>, _>>()?,
        draw: node.field("draw").and_then(Node::bool).unwrap_or(false),
        scores,
        reason: node.field("reason").and_then(Node::text).map(in_one_line),
    })
}

fn due(node: &Node) -> Result<DueRoll, String> {
    let purpose = node.field("purpose").and_then(Node::text).unwrap_or("roll");
    let number =
        |field: &str| whole(field, node.field(field))?.ok_or_else(|| format!("`due` has no `{field}`"));
    let due = DueRoll {
        purpose: purpose.to_owned().into(),
        count: whole("count", node.field("count"))?.unwrap_or(1),
        low: number("low")?,
        high: number("high")?,
        owner: node.field("owner").map(seat).transpose()?,
    };
    laws::due_roll(&due)?;
    Ok(due)
}

/// Who a command or an effect is shown to, besides its giver and the host (RF-13).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum ShownTo {
    All,
    /// Those seats.
    #[default]
    GiverAlone,
    Seats(Vec<Seat>),
}

impl ShownTo {
    fn read(node: Option<&Node>) -> Result<Self, String> {
        match node {
            None => Ok(Self::GiverAlone),
            Some(Node::Text(text)) if text == "all" => Ok(Self::All),
            Some(one @ Node::Text(_)) => Ok(Self::Seats(vec![seat(one)?])),
            Some(listed) => {
                let seats = listed.list().ok_or("`to` is neither \"all\" nor a list of seats")?;
                Ok(Self::Seats(seats.iter().map(seat).collect::<Result<_, _>>()?))
            }
        }
    }

    /// Returns `true` if a viewer may know of it, whoever gave the command.
    pub(crate) fn shows(&self, giver: Seat, viewer: Perspective) -> bool {
        let is_marked = match self {
            Self::All => true,
            Self::GiverAlone => false,
            Self::Seats(seats) => seats.iter().any(|seat| viewer.is_seat(*seat)),
        };
        is_marked || viewer.may_know_as(giver)
    }
}

/// An effect: what happened, as text for people and as JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Effect {
    pub(crate) text: String,
    /// None where it was not asked for.
    pub(crate) node: Option<Node>,
    pub(crate) to: ShownTo,
}

/// What became of one entry.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Became {
    Applied(Vec<Effect>),
    /// The code, and a text for the player.
    Ignored(String, Option<String>),
}

/// A step of a fold (RF-7).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StepAnswer {
    pub(crate) became: Became,
    /// The state after the entry, where it was asked for and changed.
    pub(crate) state: Option<Held>,
    pub(crate) status: Option<Status>,
    pub(crate) to: ShownTo,
    /// The values, if the command was a roll and only the referee can read commands (RF-10).
    pub(crate) rolled: Option<Vec<i32>>,
}

/// Why an entry is rejected.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stopped {
    /// The code and a message.
    Rejected(String, String),
    /// It is no command, which only the referee can tell.
    Malformed(String),
    Undecodable(DecodeError),
}

/// What a fold answered (RF-7).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoldAnswer {
    pub(crate) steps: Vec<StepAnswer>,
    /// Why the entry after them is rejected.
    pub(crate) stop: Option<Stopped>,
    /// The state after the steps.
    pub(crate) state: Held,
}

impl FoldAnswer {
    /// Reads the answer to a fold of so many entries.
    pub(crate) fn read(mut answer: Node, hello: &Hello, entries: usize) -> Result<Self, String> {
        let state = answer.take("state").ok_or("its answer to `fold` has no `state`")?;
        let state = Held::of(state, hello.is_bytes)?;
        let status = answer.field("status").ok_or("its answer to `fold` has no `status`")?;
        let status = Status::read(status)?;
        let stop = answer.field("stop").map(|stop| read_stop(stop, hello)).transpose()?;
        let mut steps = Vec::new();
        match answer.take("steps") {
            Some(Node::List(listed)) => {
                for step in listed {
                    steps.push(read_step(step, hello)?);
                }
            }
            None | Some(Node::Null) => {}
            Some(other) if other.list().is_some() => {}
            Some(_) => return Err("`steps` of its answer to `fold` is no list".into()),
        }
        let is_whole = if stop.is_some() { steps.len() < entries } else { steps.len() <= entries };
        if !is_whole || (stop.is_none() && steps.is_empty() && entries > 0) {
            return Err(format!("it folded {} of {entries} entries", steps.len()));
        }
        match steps.last_mut() {
            Some(last) if last.status.as_ref().is_some_and(|last| *last != status) => {
                return Err("the status after all entries is not the status after the last one".into());
            }
            Some(last) => last.status = Some(status),
            None => {}
        }
        Ok(Self { steps, stop, state })
    }
}

fn read_stop(stop: &Node, hello: &Hello) -> Result<Stopped, String> {
    let code = stop.field("code").and_then(Node::text).ok_or("`stop` has no `code`")?;
    if hello.is_bytes && code == "malformed" {
        return Ok(match stop.field("undecodable") {
            Some(cause) => Stopped::Undecodable(decode_error(cause)),
            None => {
                Stopped::Malformed(in_one_line(stop.field("message").and_then(Node::text).unwrap_or(code)))
            }
        });
    }
    // A referee of bytes keeps the core's admission.
    let own = ["malformed", "wrong_seat"];
    let of_core = ["match_over", "roll_due", "no_roll_due", "bad_roll"];
    let is_declared = hello.rejected.iter().any(|(declared, _)| declared == code);
    let is_known = is_declared || own.contains(&code) || (hello.is_bytes && of_core.contains(&code));
    if !is_known {
        return Err(format!("it does not declare the code `{}`", in_one_line(code)));
    }
    let message = stop.field("message").and_then(Node::text).unwrap_or(code);
    Ok(Stopped::Rejected(code.into(), in_one_line(message)))
}

/// Reads why bytes are none: with its kind, or a text alone.
pub(crate) fn decode_error(no: &Node) -> DecodeError {
    if let Some(text) = no.text() {
        return DecodeError::Unreadable(in_one_line(text));
    }
    match serde_json::from_str(&no.canonical()) {
        Ok(DecodeError::Unreadable(text)) => DecodeError::Unreadable(in_one_line(&text)),
        Ok(error) => error,
        Err(_) => DecodeError::Unreadable(no.canonical()),
    }
}

pub(crate) fn read_step(mut step: Node, hello: &Hello) -> Result<StepAnswer, String> {
    if step.members().is_none() {
        return Err(format!("a step is {}, expected an object", step.canonical()));
    }
    let state = step.take("state").map(|state| Held::of(state, hello.is_bytes)).transpose()?;
    let rolled = step.field("rolled").map(numbers).transpose()?;
    let status = step.field("status").map(Status::read).transpose()?;
    let to = ShownTo::read(step.field("to"))?;
    if let Some(code) = step.field("ignored") {
        let code = code.text().ok_or("the code of an ignored command is no text")?;
        if !hello.ignored.iter().any(|(declared, _)| declared == code) {
            return Err(format!("it does not declare the code `{}`", in_one_line(code)));
        }
        let text = step.field("text").and_then(Node::text).map(in_one_line);
        // An ignored command changes nothing, so it has no state, effects or status of its own.
        let became = Became::Ignored(code.into(), text);
        return Ok(StepAnswer { became, state: None, status: None, to, rolled });
    }
    let became = Became::Applied(read_effects(&step, hello)?);
    Ok(StepAnswer { became, state, status, to, rolled })
}

/// Reads the effects of a step, or of what `show` says of one.
pub(crate) fn read_effects(step: &Node, hello: &Hello) -> Result<Vec<Effect>, String> {
    let texts = step.field("texts").and_then(Node::list);
    let mut read = Vec::new();
    // A referee that offers `show` may leave the effects for then.
    if let (None, Some(texts), true) = (step.field("effects"), texts, hello.can("show")) {
        for text in texts {
            let text = effect_text(text.text().ok_or("the text of an effect is no text")?)?;
            let to = if hello.secrets == Secrecy::Closed { ShownTo::GiverAlone } else { ShownTo::All };
            read.push(Effect { text, node: None, to });
        }
        return Ok(read);
    }
    let effects = step.field("effects").map_or(Some(&[][..]), Node::list).ok_or("`effects` is no list")?;
    if texts.is_some_and(|texts| texts.len() != effects.len()) {
        return Err("`texts` has not one text for each effect".into());
    }
    for (index, effect) in effects.iter().enumerate() {
        let given = texts.and_then(|texts| texts.get(index)).and_then(Node::text);
        read.push(read_effect(effect, given, hello.secrets)?);
    }
    Ok(read)
}

fn numbers(listed: &Node) -> Result<Vec<i32>, String> {
    let mut numbers = Vec::new();
    for number in listed.list().ok_or("`rolled` is no list")? {
        numbers.push(whole("rolled", Some(number))?.unwrap_or_default());
    }
    Ok(numbers)
}

/// Reads an effect. Its text is its name, then ` key=value` in sorted order (RF-8). Without secrets all see it, and `to` is a
/// field like any other: where a piece goes, for example (RF-13).
fn read_effect(effect: &Node, given: Option<&str>, secrets: Secrecy) -> Result<Effect, String> {
    let members = effect.members().ok_or("an effect is no object")?;
    let name =
        effect.field("effect").and_then(Node::text).ok_or("an effect has no name in its field `effect`")?;
    let is_open = secrets != Secrecy::Closed;
    let to = if is_open { ShownTo::All } else { ShownTo::read(effect.field("to"))? };
    let is_shown = |(key, _): &&(String, Node)| is_open || key != "to";
    let shown: Vec<(String, Node)> = members.iter().filter(is_shown).cloned().collect();
    let text = given.map_or_else(
        || {
            let mut fields: Vec<&(String, Node)> = shown.iter().filter(|(key, _)| key != "effect").collect();
            fields.sort_by(|(one, _), (other, _)| one.cmp(other));
            let fields = fields.into_iter().map(|(key, value)| format!(" {key}={}", value_text(value)));
            name.to_owned() + &fields.collect::<String>()
        },
        String::from,
    );
    Ok(Effect { text: effect_text(&text)?, node: Some(Node::Object(shown)), to })
}

/// Requires a text of an effect that reads back as one.
fn effect_text(text: &str) -> Result<String, String> {
    let is_text = matches!(text.parse(), Ok(Outcome::Applied(effects)) if effects.iter().eq([text]));
    if is_text { Ok(text.into()) } else { Err(format!("`{}` is no text of an effect", in_one_line(text))) }
}

/// Writes a value of an effect: words bare, other strings quoted, all else as compact JSON.
pub(crate) fn value_text(value: &Node) -> String {
    match value {
        Node::Text(text) if is_word(text) => text.clone(),
        Node::Number(spelled) => canonical_number(spelled).unwrap_or_default().into_owned(),
        other => other.canonical(),
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control() || "\";=#".contains(c))
}

/// Returns the name of a reason or rejection that a referee declares, or of a refusal.
pub(crate) fn code_of(word: &str) -> Code {
    Code::read(word).unwrap_or_else(|| "malformed".into())
}
