//! One case, played line by line.

use std::fs;

use serde_json::Value;
use turnfold_core::{AnyRules, AnyState, Seat};

use super::file::{Branch, Case, Known, Line, Part};
use super::toml_text::{has_rows, written_out};
use crate::{is_refused, outcome_of, repository};

/// A match in progress.
pub(super) struct Play<'a> {
    rules: &'a dyn AnyRules,
    known: &'a Known,
    /// The setup as written in the case.
    toml: String,
    /// The current states of the case and of its branch.
    main: Option<Begun>,
    branch: Option<Begun>,
}

/// The current state, and the first state of its case or branch.
struct Begun {
    state: Box<dyn AnyState>,
    first: Box<dyn AnyState>,
}

/// `true` if a line asserts something, or how the result differs from the line.
type Found = Result<bool, String>;

impl<'a> Play<'a> {
    /// Begins a case.
    ///
    /// # Errors
    /// The name of a setup that does not exist.
    pub(super) fn of(rules: &'a dyn AnyRules, known: &'a Known, case: &Case) -> Result<Self, String> {
        let text = |part: &Part| match part {
            Part::Toml(toml) => Ok(toml.clone()),
            Part::Named(name) => known.setups.get(name).cloned().map_or_else(|| fixture(rules, name), Ok),
        };
        let toml = case.setup.iter().map(text).collect::<Result<_, _>>()?;
        Ok(Self { rules, known, toml, main: None, branch: None })
    }

    /// Plays a line. Returns `true` if it asserts something.
    ///
    /// # Errors
    /// How the result differs from the line.
    pub(super) fn line(&mut self, line: &Line) -> Found {
        match line.branch {
            Branch::None => self.branch = None,
            Branch::Begins => {
                self.branch = None;
                let state = &self.begun()?.state;
                self.branch = Some(Begun { state: state.fork(), first: state.fork() });
            }
            Branch::GoesOn if self.branch.is_none() => return Err("this line belongs to no branch".into()),
            Branch::GoesOn => {}
        }
        // A line without a result expects an empty one, for example an empty list.
        match line
            .text
            .strip_suffix(" =>")
            .map_or_else(|| line.text.split_once(" => "), |asked| Some((asked, "")))
        {
            Some((asked, expected)) => self.asked(asked, expected).map(|()| true),
            None => self.said(&line.text),
        }
    }

    /// Returns the current state of the case or its branch. The match starts at the first line that needs it.
    fn begun(&mut self) -> Result<&mut Begun, String> {
        if self.main.is_none() {
            let start = |setup: Vec<u8>| self.rules.start(&setup).map_err(|error| error.to_string());
            let state = self.read_setup("").and_then(start)?;
            self.main = Some(Begun { first: state.fork(), state });
        }
        Ok(self.branch.as_mut().or(self.main.as_mut()).unwrap())
    }

    /// Reads the setup with more lines added: keys before it, and rows of lists and what follows them after it.
    fn read_setup(&self, more: &str) -> Result<Vec<u8>, String> {
        let more: Vec<&str> = more.split(" \\n ").collect();
        let (keys, rows) = more.split_at(more.iter().position(|line| has_rows(line)).unwrap_or(more.len()));
        let whole = format!("{}\n{}{}\n", keys.join("\n"), self.toml, rows.join("\n"));
        let toml = written_out(whole.trim_start_matches('\n'), &self.known.columns);
        let read = self.rules.read_setup(&toml);
        read.map_err(|error| error.to_string().trim_start_matches("setup:").trim_start().into())
    }

    /// Plays a line without an expected result.
    fn said(&mut self, line: &str) -> Found {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "malformed" => self.malformed(rest),
            "restored" => {
                let Begun { state, first } = self.begun()?;
                compare(line, &first.state_hash().to_string(), &state.state_hash().to_string())
            }
            "open" => self.open(),
            "accepted" => self.read_setup(rest).map(drop),
            _ => {
                let seats = word.strip_suffix(':').ok_or_else(|| format!("unknown word `{word}`"))?;
                return self.played(seats, rest).map(|()| false);
            }
        }
        .map(|()| true)
    }

    fn asked(&mut self, asked: &str, expected: &str) -> Result<(), String> {
        let (word, rest) = asked.split_once(' ').unwrap_or((asked, ""));
        if let Some(seats) = word.strip_suffix(':') {
            let state = &self.begun()?.state;
            return for_each(seats, rest, |seat, command| {
                compare(
                    &format!("{seat} {command}"),
                    expected,
                    &outcome_of(&mut *state.fork(), seat, command),
                )
            });
        }
        let found = match word {
            "refused" => self.read_setup(rest).err().unwrap_or_else(|| "accepted".into()),
            "written" => {
                let written =
                    self.rules.write_setup(&self.read_setup("")?).map_err(|error| error.to_string())?;
                let lines = written.lines().map(str::trim).filter(|line| !line.is_empty());
                lines.collect::<Vec<_>>().join(" \\n ")
            }
            "canonical" => self.rules.canonical(rest).unwrap_or_else(|error| error.to_string()),
            "view" | "ask" | "json" | "legal" | "by" | "why" => {
                let (first, more) = rest.split_once(' ').unwrap_or((rest, ""));
                let (seats, question) = if seats_of(first).is_ok() { (first, more) } else { ("p1", rest) };
                let state = &self.begun()?.state;
                return for_each_seat(seats, |seat| {
                    compare(asked, expected, &answer(&**state, word, seat, question)?)
                });
            }
            _ => {
                let seat = word.parse().map_err(|_| format!("unknown word `{word}`"))?;
                outcome_of(&mut *self.begun()?.state, seat, rest)
            }
        };
        compare(asked, expected, &found)
    }

    /// Plays commands that must all have effects.
    fn played(&mut self, seats: &str, commands: &str) -> Result<(), String> {
        let state = &mut self.begun()?.state;
        for_each(seats, commands, |seat, command| {
            let found = outcome_of(&mut **state, seat, command);
            if is_refused(&found) {
                Err(format!("{seat} {command}\n  expected effects\n  found    {found}"))
            } else {
                Ok(())
            }
        })
    }

    /// Requires the quoted texts to be malformed commands for every seat.
    fn malformed(&mut self, texts: &str) -> Result<(), String> {
        let texts: Vec<String> = serde_json::Deserializer::from_str(texts)
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(|error| error.to_string())?;
        let state = &self.begun()?.state;
        for text in &texts {
            for seat in Seat::ALL {
                let found = match state.judge(seat, text) {
                    Err(rejected) if !rejected.message.is_empty() => rejected.code.to_string(),
                    Err(_) => "rejected without a message".into(),
                    Ok(_) => "accepted".into(),
                };
                compare(&format!("{seat} {text:?}"), "malformed", &found)?;
            }
        }
        if texts.is_empty() { Err("no texts".into()) } else { Ok(()) }
    }

    /// Requires every seat to see the same as the host.
    fn open(&mut self) -> Result<(), String> {
        let state = &self.begun()?.state;
        for seat in Seat::ALL {
            compare(&format!("view {seat}"), &state.view(Seat::Host.into()), &state.view(seat.into()))?;
            if state.picture(seat.into()) != state.picture(Seat::Host.into()) {
                return Err(format!("the picture of {seat} is not that of the host"));
            }
        }
        Ok(())
    }
}

fn fixture(rules: &dyn AnyRules, name: &str) -> Result<String, String> {
    let path = repository("fixtures").join(rules.name()).join(name).with_extension("toml");
    fs::read_to_string(path).map_err(|_| format!("neither the file nor the fixtures have a setup `{name}`"))
}

/// Compares texts. `…` in the expected text stands for any text.
fn compare(asked: &str, expected: &str, found: &str) -> Result<(), String> {
    if is_so(expected, found) {
        return Ok(());
    }
    Err(format!("{asked}\n  expected {expected}\n  found    {found}"))
}

fn is_so(expected: &str, found: &str) -> bool {
    let Some((first, rest)) = expected.split_once('…') else { return found == expected };
    let Some(mut left) = found.strip_prefix(first) else { return false };
    let (middle, last) = rest.rsplit_once('…').unwrap_or(("", rest));
    for part in middle.split('…') {
        let Some((_, after)) = left.split_once(part) else { return false };
        left = after;
    }
    left.ends_with(last)
}

fn answer(state: &dyn AnyState, word: &str, seat: Seat, question: &str) -> Result<String, String> {
    Ok(match word {
        "view" => {
            let seen: Result<Vec<String>, String> =
                question.split(", ").map(|path| seen(state, seat, path)).collect();
            seen?.join(" | ")
        }
        "legal" => match question.strip_prefix("but ") {
            Some(verb) => legal_but(state, seat, Some(verb)),
            None if question.is_empty() => legal_but(state, seat, None),
            None => return Err(format!("unknown words `{question}`")),
        },
        "by" => state.default_seat(question).map_or("none", Seat::name).into(),
        "why" => state.judge(seat, question).map_or_else(|rejected| rejected.message, |_| "accepted".into()),
        "json" => state
            .query(seat.into(), question)
            .map_or_else(|error| error.to_string(), |answer| answer.json.to_string()),
        _ => state.query(seat.into(), question).map_or_else(|error| error.to_string(), |answer| answer.text),
    })
}

fn legal_but(state: &dyn AnyState, seat: Seat, left_out: Option<&str>) -> String {
    let mut commands = state.legal(seat);
    commands.retain(|command| left_out.is_none() || command.split(' ').next() != left_out);
    commands.join("; ")
}

/// Returns a member of a view by its path, such as `players/0/rows`. `/` is the whole view, and `units/*/hp` is a
/// member of each element.
fn seen(state: &dyn AnyState, viewer: Seat, path: &str) -> Result<String, String> {
    let view = state.view(viewer.into());
    if path == "/" {
        return Ok(view.to_string());
    }
    let view: Value = serde_json::from_str(&view).unwrap();
    let member = |value: &Value, path: &str| {
        let found = value.pointer(&format!("/{path}")).map(Value::to_string);
        found.ok_or_else(|| format!("the view has no `{path}`"))
    };
    let Some((list, key)) = path.split_once("/*/") else { return member(&view, path) };
    let items = view.pointer(&format!("/{list}")).and_then(Value::as_array);
    let items = items.ok_or_else(|| format!("the view has no list `{list}`"))?;
    let members: Vec<String> = items.iter().map(|item| member(item, key)).collect::<Result<_, _>>()?;
    Ok(members.join(" | "))
}

/// Reads seats: `p1`, `p1,host` or `all`.
fn seats_of(text: &str) -> Result<Vec<Seat>, String> {
    if text == "all" {
        return Ok(Seat::ALL.into());
    }
    text.split(',').map(|seat| seat.parse().map_err(|_| format!("`{seat}` is no seat"))).collect()
}

fn for_each_seat(seats: &str, mut act: impl FnMut(Seat) -> Result<(), String>) -> Result<(), String> {
    seats_of(seats)?.into_iter().try_for_each(&mut act)
}

/// Calls `act` for each command and seat. `; ` separates commands, and `tap 0,1|0,2` means `tap 0,1; tap 0,2`.
fn for_each(
    seats: &str,
    commands: &str,
    mut act: impl FnMut(Seat, &str) -> Result<(), String>,
) -> Result<(), String> {
    for command in commands.split("; ") {
        let (verb, choices) = command.split_once('|').map_or(("", command), |(first, _)| {
            command.split_at(first.rfind(' ').map_or(0, |space| space + 1))
        });
        for choice in choices.split('|') {
            for_each_seat(seats, |seat| act(seat, &format!("{verb}{choice}")))?;
        }
    }
    Ok(())
}
