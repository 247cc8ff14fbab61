//! What a referee answers about a match, checked before it is believed (RF-7, RF-11, RF-13).

use std::collections::BTreeMap;

use turnfold_core::outcome::{Code, Outcome};
use turnfold_core::text::in_one_line;
use turnfold_core::{DueRoll, MatchResult, Perspective, Score, Seat};

use super::hello::{Hello, Secrecy, seat};
use super::json::{Node, canonical_number};
use crate::laws;

/// The most players of a match (RF-11).
pub(crate) const PLAYERS_MAX: usize = 16;

/// What all may know of a state (RF-11).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Status {
    pub(crate) players: Vec<Seat>,
    /// The seats that the match waits for, in order.
    pub(crate) active: Vec<Seat>,
    pub(crate) over: bool,
    pub(crate) result: Option<MatchResult>,
    pub(crate) turn: Option<u64>,
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
}

impl Status {
    /// Writes what a recording keeps of it.
    pub(crate) fn as_sent(&self) -> String {
        let seats = |seats: &[Seat]| serde_json::to_string(seats).unwrap_or_default();
        let mut text = format!("{{\"players\":{},\"active\":{}", seats(&self.players), seats(&self.active));
        text += if self.over { ",\"over\":true" } else { "" };
        for (field, value) in [
            ("result", self.result.as_ref().and_then(|result| serde_json::to_string(result).ok())),
            ("turn", self.turn.map(|turn| turn.to_string())),
            ("due", self.due.as_ref().and_then(|due| serde_json::to_string(due).ok())),
        ] {
            if let Some(value) = value {
                text.extend([",\"", field, "\":", &value]);
            }
        }
        text + "}"
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
    pub(crate) node: Node,
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
    pub(crate) state: Option<Node>,
    pub(crate) status: Option<Status>,
    pub(crate) to: ShownTo,
}

/// What a fold answered (RF-7).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoldAnswer {
    pub(crate) steps: Vec<StepAnswer>,
    /// The code and message with which the entry after them is rejected.
    pub(crate) stop: Option<(String, String)>,
}

impl FoldAnswer {
    /// Reads the answer to a fold of so many entries.
    pub(crate) fn read(mut answer: Node, hello: &Hello, entries: usize) -> Result<Self, String> {
        let state = answer.take("state").ok_or("its answer to `fold` has no `state`")?;
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
        if let Some(last) = steps.last().and_then(|step| step.state.as_ref())
            && last.difference(&state).is_some()
        {
            return Err("the state after all entries is not the state after the last one".into());
        }
        if let Some(last) = steps.last().and_then(|step| step.status.as_ref())
            && *last != status
        {
            return Err("the status after all entries is not the status after the last one".into());
        }
        Ok(Self { steps, stop })
    }
}

fn read_stop(stop: &Node, hello: &Hello) -> Result<(String, String), String> {
    let code = stop.field("code").and_then(Node::text).ok_or("`stop` has no `code`")?;
    let is_declared = hello.rejected.iter().any(|(declared, _)| declared == code);
    if !is_declared && !["malformed", "wrong_seat"].contains(&code) {
        return Err(format!("it does not declare the code `{}`", in_one_line(code)));
    }
    let message = stop.field("message").and_then(Node::text).unwrap_or(code);
    Ok((code.into(), in_one_line(message)))
}

pub(crate) fn read_step(mut step: Node, hello: &Hello) -> Result<StepAnswer, String> {
    if step.members().is_none() {
        return Err(format!("a step is {}, expected an object", step.canonical()));
    }
    let state = step.take("state");
    let status = step.field("status").map(Status::read).transpose()?;
    let to = ShownTo::read(step.field("to"))?;
    if let Some(code) = step.field("ignored") {
        let code = code.text().ok_or("the code of an ignored command is no text")?;
        if !hello.ignored.iter().any(|(declared, _)| declared == code) {
            return Err(format!("it does not declare the code `{}`", in_one_line(code)));
        }
        let text = step.field("text").and_then(Node::text).map(in_one_line);
        // An ignored command changes nothing, so it has no state, effects or status of its own.
        return Ok(StepAnswer { became: Became::Ignored(code.into(), text), state: None, status: None, to });
    }
    let effects = step.field("effects").map_or(Some(&[][..]), Node::list).ok_or("`effects` is no list")?;
    let texts = step.field("texts").and_then(Node::list);
    if texts.is_some_and(|texts| texts.len() != effects.len()) {
        return Err("`texts` has not one text for each effect".into());
    }
    let mut read = Vec::new();
    for (index, effect) in effects.iter().enumerate() {
        let given = texts.and_then(|texts| texts.get(index)).and_then(Node::text);
        read.push(read_effect(effect, given, hello.secrets)?);
    }
    Ok(StepAnswer { became: Became::Applied(read), state, status, to })
}

/// Reads an effect. Its text is its name, then ` key=value` in sorted order (RF-8). Without secrets all see it, and `to` is a
/// field like any other: where a piece goes, for example (RF-13).
fn read_effect(effect: &Node, given: Option<&str>, secrets: Secrecy) -> Result<Effect, String> {
    let members = effect.members().ok_or("an effect is no object")?;
    let name =
        effect.field("effect").and_then(Node::text).ok_or("an effect has no name in its field `effect`")?;
    let is_open = secrets == Secrecy::None;
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
    let is_text = matches!(text.parse(), Ok(Outcome::Applied(effects)) if effects.iter().eq([text.as_str()]));
    if !is_text {
        return Err(format!("`{}` is no text of an effect", in_one_line(&text)));
    }
    Ok(Effect { text, node: Node::Object(shown), to })
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
