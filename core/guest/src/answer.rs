//! Answers requests about any ruleset (RF-10).

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::mem::{Discriminant, discriminant};

use turnfold_core::admission::Denied;
use turnfold_core::decode::{DecodeError, decode_strictly, encode_into};
use turnfold_core::fold::{Audience, ShownEntry, perspective};
use turnfold_core::outcome::{Ruled, Ruling};
use turnfold_core::rules::Rules;
use turnfold_core::{DueRoll, MatchResult, Seat, Secrets, SetupError, Verdict};

use crate::encoding::{Bytes, push_bytes, push_comma, push_encoded, push_json, push_name, push_text};
use crate::request::{Args, Entry, Request};

/// The size in bytes at which the answer to a fold or to `show` ends early.
const FOLDED_BYTES: usize = 1 << 20;

/// Why a request has no answer.
enum Refusal {
    /// The value of `no`, as JSON.
    No(String),
    /// What is wrong with the request.
    Fault(String),
}

/// Answers any request, in one line.
///
/// Nothing is remembered, so the answer depends only on the request.
#[must_use]
pub fn answer<R: Rules>(request: &[u8]) -> String {
    let mut out = String::new();
    match serde_json::from_slice::<Request<'_>>(request) {
        Ok(request) => {
            out.push_str("{\"id\":");
            push_json(&mut out, &request.id);
            let before = out.len();
            out.push_str(",\"ok\":");
            if let Err(refusal) = perform::<R>(&request.op, &request.args, &mut out) {
                out.truncate(before);
                match refusal {
                    Refusal::No(why) => out.extend([",\"no\":", &why]),
                    Refusal::Fault(why) => {
                        out.push_str(",\"fault\":");
                        push_json(&mut out, &why);
                    }
                }
            }
        }
        Err(error) => {
            out.push_str("{\"id\":0,\"fault\":");
            push_json(&mut out, &error.to_string());
        }
    }
    out.push('}');
    out
}

fn perform<R: Rules>(op: &str, args: &Args<'_>, out: &mut String) -> Result<(), Refusal> {
    match op {
        "hello" => hello::<R>(out),
        "setup" => setup::<R>(args, out)?,
        "command" => commands::<R>(args, out),
        "start" => {
            let setup = setup_of::<R>(args)?;
            let state = R::start(&setup).map_err(|error| refused_setup(&error))?;
            push_started::<R>(&state, out);
        }
        "fold" => fold::<R>(args, out)?,
        "show" => show::<R>(args, out)?,
        "choices" => choices::<R>(&state_of::<R>(args)?, &args.seats, out),
        "see" => see::<R>(&state_of::<R>(args)?, args, out),
        "read" => {
            let state = state_of::<R>(args)?;
            let command = R::read(&state, &args.text).map_err(|malformed| no(&malformed.0))?;
            push_name_of_command::<R>(&command, out);
            push_name(out, "seat");
            push_json(out, &R::default_seat(&state, &command));
            out.push('}');
        }
        "query" => query::<R>(&state_of::<R>(args)?, args, out)?,
        "targets" => {
            out.push('[');
            for text in &args.commands {
                push_comma(out);
                let targets = text.parse().map(|command| R::targets(&command)).unwrap_or_default();
                push_json(out, &targets);
            }
            out.push(']');
        }
        "setup_seen" => {
            let state = state_of::<R>(args)?;
            let viewer = args.viewer.ok_or_else(|| missing("viewer"))?;
            let viewer = perspective::<R>(&state, viewer.0);
            push_encoded(out, &R::SECRETS.setup_seen(&setup_of::<R>(args)?, &state, viewer));
        }
        _ => return Err(Refusal::Fault(format!("unknown operation `{}`", op.escape_debug()))),
    }
    Ok(())
}

fn no(why: &str) -> Refusal {
    let mut text = String::new();
    push_json(&mut text, why);
    Refusal::No(text)
}

fn missing(argument: &str) -> Refusal {
    Refusal::Fault(format!("the request has no `{argument}`"))
}

fn undecodable(error: &DecodeError) -> Refusal {
    let mut text = String::new();
    push_json(&mut text, error);
    Refusal::No(text)
}

fn refused_setup(error: &SetupError) -> Refusal {
    let SetupError::Value { field, message } = error else { return no(&error.to_string()) };
    let mut text = String::from("{");
    push_name(&mut text, "field");
    push_json(&mut text, field);
    push_name(&mut text, "message");
    push_json(&mut text, message);
    text.push('}');
    Refusal::No(text)
}

fn state_of<R: Rules>(args: &Args<'_>) -> Result<R::State, Refusal> {
    let Bytes(state) = args.state.as_ref().ok_or_else(|| missing("state"))?;
    decode_strictly(state).map_err(|error| undecodable(&error))
}

fn setup_of<R: Rules>(args: &Args<'_>) -> Result<R::Setup, Refusal> {
    let Bytes(setup) = args.setup.as_ref().ok_or_else(|| missing("setup"))?;
    decode_strictly(setup).map_err(|error| no(&error.to_string()))
}

fn hello<R: Rules>(out: &mut String) {
    out.push('{');
    for (name, text) in [
        ("name", R::NAME),
        ("summary", R::SUMMARY),
        ("example", R::EXAMPLE),
        ("rulebook", R::RULEBOOK),
        ("mail", R::MAIL_TERMS),
        ("secrets", if matches!(R::SECRETS, Secrets::None) { "none" } else { "kept" }),
        ("encoding", "bytes"),
    ] {
        push_name(out, name);
        push_json(out, text);
    }
    push_name(out, "version");
    push_json(out, &R::VERSION);
    push_name(out, "queries");
    // Each form is between two backticks.
    let forms: Vec<&str> = R::QUERIES.split('`').skip(1).step_by(2).collect();
    push_json(out, &forms);
    push_name(out, "ignored");
    push_codes(out, R::Reason::ALL.iter().map(|reason| reason.ruling()));
    push_name(out, "rejected");
    push_codes(out, R::Rejection::ALL.iter().map(|rejection| rejection.ruling()));
    out.push_str(",\"batches\":true,\"can\":[\"see\",\"read\",\"query\",\"targets\",\"choices\",\"show\",\"setup_seen\"]}");
}

fn push_codes(out: &mut String, rulings: impl Iterator<Item = Ruling>) {
    out.push('{');
    for ruling in rulings {
        push_name(out, ruling.code);
        push_json(out, ruling.rules);
    }
    out.push('}');
}

/// Encodes a setup that is given as JSON, or writes a setup that is given as bytes as JSON.
fn setup<R: Rules>(args: &Args<'_>, out: &mut String) -> Result<(), Refusal> {
    let Some(json) = args.json else {
        push_json(out, &setup_of::<R>(args)?);
        return Ok(());
    };
    let setup = match serde_json::from_str::<R::Setup>(json.get()) {
        Ok(setup) => setup,
        Err(error) => {
            // The host finds the line of the file for this byte.
            let mut text = String::from("{");
            push_name(&mut text, "at");
            push_json(&mut text, &error.column());
            push_name(&mut text, "message");
            let message = error.to_string();
            push_json(&mut text, message.split(" at line ").next().unwrap_or_default());
            text.push('}');
            return Err(Refusal::No(text));
        }
    };
    R::start(&setup).map_err(|error| refused_setup(&error))?;
    push_encoded(out, &setup);
    Ok(())
}

/// Writes the text and bytes of commands that are given as texts, as bytes, or as the values of a roll.
fn commands<R: Rules>(args: &Args<'_>, out: &mut String) {
    out.push('[');
    for text in &args.commands {
        push_command::<R>(text.parse::<R::Command>().map_err(|malformed| no(&malformed.0)), out);
    }
    for Bytes(bytes) in &args.bytes {
        push_command::<R>(decode_strictly(bytes).map_err(|error| undecodable(&error)), out);
    }
    if let Some(values) = &args.roll {
        push_command::<R>(R::roll(values.clone()).ok_or_else(|| no("the game has no rolls")), out);
    }
    out.push(']');
}

fn push_command<R: Rules>(command: Result<R::Command, Refusal>, out: &mut String) {
    push_comma(out);
    match command {
        Ok(command) => {
            push_name_of_command::<R>(&command, out);
            push_name(out, "bytes");
            push_encoded(out, &command);
            out.push('}');
        }
        Err(Refusal::No(why) | Refusal::Fault(why)) => out.extend(["{\"no\":", &why, "}"]),
    }
}

/// Begins an object with the text of a command.
fn push_name_of_command<R: Rules>(command: &R::Command, out: &mut String) {
    out.push_str("{\"command\":");
    push_text(out, command);
}

/// What everyone may know of a state.
struct Status {
    players: Vec<Seat>,
    active: Option<Seat>,
    over: bool,
    result: Option<MatchResult>,
    turn: Option<u64>,
    due: Option<DueRoll>,
}

impl Status {
    fn of<R: Rules>(state: &R::State) -> Self {
        Self {
            players: R::players(state).to_vec(),
            active: R::active_seat(state),
            over: R::over(state),
            result: R::result(state),
            turn: R::turn(state),
            due: R::due_roll(state),
        }
    }

    /// Returns `true` if a state has this status. Nothing is copied, because most states keep the status before.
    fn is_of<R: Rules>(&self, state: &R::State) -> bool {
        self.players == R::players(state)
            && self.active == R::active_seat(state)
            && self.turn == R::turn(state)
            && self.over == R::over(state)
            && self.due == R::due_roll(state)
            && self.result == R::result(state)
    }

    /// Writes all values that are present, as the member `status`.
    fn push(&self, out: &mut String) {
        push_name(out, "status");
        out.push_str("{\"players\":[");
        for seat in &self.players {
            push_comma(out);
            push_text(out, seat);
        }
        out.push(']');
        if let Some(seat) = self.active {
            out.push_str(",\"active\":[");
            push_text(out, &seat);
            out.push(']');
        }
        if self.over {
            out.push_str(",\"over\":true");
        }
        if let Some(result) = &self.result {
            push_name(out, "result");
            push_json(out, result);
        }
        if let Some(turn) = self.turn {
            push_name(out, "turn");
            push_json(out, &turn);
        }
        if let Some(due) = &self.due {
            push_name(out, "due");
            push_json(out, due);
        }
        out.push('}');
    }
}

/// Writes a state with its status.
fn push_started<R: Rules>(state: &R::State, out: &mut String) {
    out.push_str("{\"state\":");
    push_encoded(out, state);
    Status::of::<R>(state).push(out);
    out.push('}');
}

/// Reads the command of an entry, or returns the reason why it is not a command, as JSON.
fn read_command<R: Rules>(entry: &Entry) -> Result<R::Command, String> {
    let mut stop = String::from("{\"code\":\"malformed\"");
    if let Some(Bytes(bytes)) = &entry.bytes {
        return decode_strictly(bytes).map_err(|error| {
            push_name(&mut stop, "undecodable");
            push_json(&mut stop, &error);
            stop + "}"
        });
    }
    let text = entry.command.as_deref().unwrap_or_default();
    text.parse::<R::Command>().map_err(|malformed| {
        push_name(&mut stop, "message");
        push_json(&mut stop, &malformed.0);
        stop + "}"
    })
}

fn rejected<J: Ruled>(denied: &Denied<J>) -> String {
    let mut stop = String::from("{\"code\":");
    push_text(&mut stop, &denied.code());
    push_name(&mut stop, "message");
    push_text(&mut stop, denied);
    stop + "}"
}

fn fold<R: Rules>(args: &Args<'_>, out: &mut String) -> Result<(), Refusal> {
    let mut state = state_of::<R>(args)?;
    let mut status = Status::of::<R>(&state);
    let mut effects = Vec::new();
    let mut encoded = Vec::new();
    let mut stop = None;
    out.push_str("{\"steps\":[");
    for entry in &args.entries {
        let command = match read_command::<R>(entry) {
            Ok(command) => command,
            Err(why) => {
                stop = Some(why);
                break;
            }
        };
        effects.clear();
        match R::apply(&mut state, entry.seat, &command, &mut effects) {
            Ok(verdict) => {
                push_step::<R>(verdict, &effects, &state, &mut status, &mut encoded, out);
                if let Some(values) = R::rolled(&command) {
                    push_name(out, "rolled");
                    push_json(out, values);
                }
                out.push('}');
            }
            Err(denied) => {
                stop = Some(rejected(&denied));
                break;
            }
        }
        // The host asks for the other entries later.
        if out.len() > FOLDED_BYTES {
            break;
        }
    }
    out.push_str("],\"state\":");
    push_encoded(out, &state);
    status.push(out);
    if let Some(stop) = stop {
        out.extend([",\"stop\":", &stop]);
    }
    out.push('}');
    Ok(())
}

/// Begins a step: the outcome of an entry, the state after it, and the status if it changed. `encoded` is a buffer.
fn push_step<R: Rules>(
    verdict: Verdict<(), R::Reason>,
    effects: &[R::Effect],
    state: &R::State,
    status: &mut Status,
    encoded: &mut Vec<u8>,
    out: &mut String,
) {
    push_comma(out);
    out.push('{');
    if let Verdict::Ignored(reason) = verdict {
        let Ruling { code, text, .. } = reason.ruling();
        push_name(out, "ignored");
        push_json(out, code);
        if let Some(text) = text {
            push_name(out, "text");
            push_json(out, text);
        }
        return;
    }
    push_texts(effects, out);
    push_name(out, "state");
    encoded.clear();
    encode_into(state, encoded);
    push_bytes(out, encoded);
    if !status.is_of::<R>(state) {
        *status = Status::of::<R>(state);
        status.push(out);
    }
}

fn push_texts<'a, E: core::fmt::Display + 'a>(effects: impl IntoIterator<Item = &'a E>, out: &mut String) {
    push_name(out, "texts");
    out.push('[');
    for effect in effects {
        push_comma(out);
        push_text(out, effect);
    }
    out.push(']');
}

/// Writes what a viewer may know of each entry, at the state `now`; without a viewer, everything.
fn show<R: Rules>(args: &Args<'_>, out: &mut String) -> Result<(), Refusal> {
    let mut state = state_of::<R>(args)?;
    let now: Option<R::State> = match &args.now {
        Some(Bytes(now)) => Some(decode_strictly(now).map_err(|error| undecodable(&error))?),
        None => None,
    };
    let audience: Audience<'_, R> = match (args.viewer, &now) {
        (Some(viewer), Some(now)) => Some((perspective::<R>(now, viewer.0), now)),
        _ => None,
    };
    let mut effects = Vec::new();
    out.push('[');
    for entry in &args.entries {
        let Ok(command) = read_command::<R>(entry) else { break };
        let mut owned = None;
        if R::rolled(&command).is_some() {
            owned = R::due_roll(&state).filter(|due| due.owner.is_some());
        }
        effects.clear();
        if R::apply(&mut state, entry.seat, &command, &mut effects).is_err() {
            break;
        }
        push_comma(out);
        let shown = ShownEntry::<R> {
            seat: entry.seat,
            command: &command,
            owned,
            effects: &effects,
            state: &state,
            audience,
        };
        push_shown(&shown, out);
        if out.len() > FOLDED_BYTES {
            break;
        }
    }
    out.push(']');
    Ok(())
}

fn push_shown<R: Rules>(shown: &ShownEntry<'_, R>, out: &mut String) {
    let command = shown.command();
    let stand_in = shown.stand_in();
    out.push_str("{\"command\":");
    push_text(out, &command);
    if stand_in != command {
        push_name(out, "stand_in");
        push_text(out, &stand_in);
    }
    if shown.is_concealed() {
        out.push_str(",\"concealed\":true");
    }
    if !shown.is_wholly_shown() {
        out.push_str(",\"partly\":true");
    }
    let effects: Vec<&R::Effect> = shown.visible_effects().collect();
    push_texts(effects.iter().copied(), out);
    push_name(out, "effects");
    push_json(out, &effects);
    out.push('}');
}

/// Lists all commands that each seat might try, with the facts that random play needs.
fn choices<R: Rules>(state: &R::State, seats: &[Seat], out: &mut String) {
    out.push('{');
    for seat in seats {
        push_name(out, seat.name());
        out.push('[');
        // Kinds are numbered in the order in which random play meets them. It never meets commands that are left out.
        let mut kinds: Vec<Discriminant<R::Command>> = Vec::new();
        for command in R::candidates(state, *seat) {
            push_comma(out);
            push_name_of_command::<R>(&command, out);
            if R::left_out_at_random(&command) {
                out.push_str(",\"random\":false");
            } else {
                let variant = discriminant(&command);
                let kind = kinds.iter().position(|known| *known == variant).unwrap_or(kinds.len());
                if kind == kinds.len() {
                    kinds.push(variant);
                }
                push_name(out, "kind");
                push_json(out, &kind);
            }
            if !matches!(R::judge(state, *seat, &command), Ok(Verdict::Applied(_))) {
                out.push_str(",\"legal\":false");
            }
            out.push('}');
        }
        out.push(']');
    }
    out.push('}');
}

fn see<R: Rules>(state: &R::State, args: &Args<'_>, out: &mut String) {
    out.push('{');
    for viewer in &args.viewers {
        let viewer = perspective::<R>(state, viewer.0);
        push_name(out, &viewer.to_string());
        out.push('{');
        for what in &args.what {
            match what.as_str() {
                "view" => {
                    push_name(out, "view");
                    push_json(out, &R::view(state, viewer));
                }
                "picture" => {
                    push_name(out, "picture");
                    push_json(out, &R::picture(state, viewer));
                }
                _ => {}
            }
        }
        out.push('}');
    }
    out.push('}');
}

fn query<R: Rules>(state: &R::State, args: &Args<'_>, out: &mut String) -> Result<(), Refusal> {
    let viewer = args.viewer.ok_or_else(|| missing("viewer"))?;
    let viewer = perspective::<R>(state, viewer.0);
    let answer = R::query(state, viewer, &args.question).map_err(|malformed| no(&malformed.0))?;
    let answer = answer.ok_or_else(|| Refusal::No("{\"unknown\":true}".into()))?;
    push_json(out, &answer);
    Ok(())
}
