//! Sends commands to a service for `play`, and prints their outcomes.

use serde_json::{Value, json};
use turnfold_history::{Revision, ScriptCommand, Viewer};
use turnfold_serve::TokenKind;
use turnfold_show::render;

use crate::failure::{ExitStatus, Failure};
use crate::output::{Format, Output};
use crate::random;
use crate::remote::client::{Client, Sent, ServiceRequest, path_of};
use crate::remote::look::{needs_store, print_reply, seen_at};
use crate::remote::problem::{ApiError, NotAnswered};

/// A call of `play`.
pub(crate) struct Call<'a> {
    /// The branch, with its expected last entry if it names one.
    pub(crate) revision: &'a Revision,
    /// The expected last entry, if `--expect` names it.
    pub(crate) expect: Option<u64>,
    /// The commands. If `viewer` names a seat, all of them are by that seat.
    pub(crate) lines: &'a [ScriptCommand],
    /// The seat that plays, if `--seat` names one.
    pub(crate) viewer: Option<Viewer>,
    /// Whether due rolls are made.
    pub(crate) rolls: bool,
    /// The idempotency key, if the user chose one.
    pub(crate) key: Option<&'a str>,
}

/// Sends the commands, repeats the request until their result is known, and prints it. `place` returns the place of a
/// command in a script.
pub(crate) fn play(
    client: &Client,
    call: &Call,
    place: impl Fn(&ScriptCommand) -> String,
    output: &mut Output,
) -> Result<ExitStatus, Failure> {
    require_sendable(client, call)?;
    let commands: Vec<_> = call.lines.iter().map(written).collect();
    let body = json!({ "commands": commands, "roll": call.rolls });
    let made_up = random::key()?;
    let sent = Sent { body: &body, key: Some(call.key.unwrap_or(&made_up)) };
    let expected = call.expect.or(call.revision.seq);
    let query = expected.map(|expected| ("expect", expected.to_string())).into_iter().collect();
    let asked = ServiceRequest {
        path: path_of(call.revision, "entries"),
        query,
        format: output.format(),
        media_type: None,
    };
    match client.post(&asked, &sent) {
        Ok(reply) => {
            print_reply(&reply, &["nothing", "entries"], None, output)?;
        }
        Err(NotAnswered::ApiError(problem)) => {
            let line = problem.command.as_ref().and_then(|(index, _)| call.lines.get(*index));
            print_rejected(&problem, output)?;
            output.flush()?;
            return Err(problem.failure_at(&line.map(place).unwrap_or_default()));
        }
        Err(not_answered) => return Err(not_answered.into()),
    }
    Ok(ExitStatus::Yes)
}

/// Refuses a call that a request cannot express.
fn require_sendable(client: &Client, call: &Call) -> Result<(), Failure> {
    let Call { revision, expect, lines, viewer, key, .. } = *call;
    if client.kind() == TokenKind::Seat && lines.len() > 1 {
        return Err(needs_store("a call with several commands of a seat"));
    }
    if expect.is_some() && revision.seq.is_some() && expect != revision.seq {
        return Err(Failure::usage(format!("`--expect` and `{revision}` name two entries as the last")));
    }
    if key.is_some_and(|key| key.len() > 120 || !key.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Err(Failure::usage(
            "expected a key of 1 to 120 graphic ASCII characters, as a service takes it",
        ));
    }
    match viewer {
        // The service answers the host with everything, whatever seat gives the commands.
        Some(viewer) if client.kind() != TokenKind::Seat && !viewer.sees_all() => {
            Err(needs_store(&format!("`--seat {viewer}` without that seat's token")))
        }
        // Without commands, only a view can show whether the token is of this seat.
        Some(viewer) if lines.is_empty() => {
            let query = seen_at(None, Some(viewer));
            client.get(&ServiceRequest {
                path: path_of(revision, "view"),
                query,
                format: Format::Json,
                media_type: None,
            })?;
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns a command as scripts write it.
fn written(given: &ScriptCommand) -> String {
    let ScriptCommand { seat, command, .. } = given;
    seat.map_or_else(|| command.clone(), |seat| format!("{seat}: {command}"))
}

/// Prints the record of a rejected command.
fn print_rejected(problem: &ApiError, output: &mut Output) -> Result<(), Failure> {
    let Some((_, record)) = &problem.command else { return Ok(()) };
    let text = |member| record.get(member).and_then(Value::as_str);
    let outcome = format!("rejected {}", text("reason").unwrap_or_default());
    let command = text("command").unwrap_or_default();
    let line = || render::rejected_line(text("seat"), command, &outcome, text("message"));
    Ok(output.show(record, || vec![line()])?)
}
