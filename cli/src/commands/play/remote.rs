//! `turnfold play` on a branch of a service.

use serde_json::{Value, json};
use turnfold_history::{Revision, ScriptCommand};
use turnfold_serve::TokenKind;
use turnfold_show::render;

use super::{Args, before_colon, lines_of};
use crate::advice::explains;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Format, Output};
use crate::remote::client::{Client, Sent, ServiceRequest, path_of};
use crate::remote::look::{ask, needs_store, print_reply, read, require_unused, seen_at};
use crate::remote::problem::{ApiError, NotAnswered};
use crate::{files, random};

pub(super) fn play(args: &Args, client: &Client, output: &mut Output) -> Result<ExitStatus, Failure> {
    let lines = lines_of(&args.commands, args.script.as_ref(), args.viewer)?;
    require_sendable(args, &lines, client)?;
    let commands: Vec<_> = lines.iter().map(written).collect();
    let body = json!({ "commands": commands, "roll": !args.no_auto_roll });
    let key = match &args.key {
        Some(key) => key.to_string(),
        None => random::key()?,
    };
    let expected = args.expect.or(args.revision.seq);
    let query = expected.map(|expected| ("expect", expected.to_string())).into_iter().collect();
    let asked = ServiceRequest::of(path_of(&args.revision, "entries"), query, output.format());
    match client.change(&asked, &Sent { body: Some(&body), key: Some(&key), may_repeat: true }) {
        Ok(reply) => {
            print_reply(&reply, &["nothing", "entries"], None, output)?;
        }
        Err(NotAnswered::ApiError(problem)) => {
            let given = problem.command.as_ref().and_then(|(index, _)| lines.get(*index));
            print_rejected(&problem, output)?;
            output.flush()?;
            let place = given.and_then(|given| files::place_in_script(given, args.script.as_ref()));
            let failure = problem.failure_at(&before_colon(place));
            return Err(match explained_by(&problem, &args.revision, client) {
                Some(hint) => failure.hint(hint),
                None => failure,
            });
        }
        Err(not_answered) => return Err(not_answered.into()),
    }
    Ok(ExitStatus::Yes)
}

/// The ruleset is asked for only now, because most commands are not rejected.
fn explained_by(problem: &ApiError, revision: &Revision, client: &Client) -> Option<String> {
    let (_, record) = problem.command.as_ref()?;
    let reason = record.get("reason")?.as_str()?;
    let found = read(client, format!("/v1/matches/{}", revision.match_name), Vec::new()).ok()?;
    let ruleset = found.get("ruleset")?.as_str()?;
    Some(explains(ruleset, reason))
}

fn require_sendable(args: &Args, lines: &[ScriptCommand], client: &Client) -> Result<(), Failure> {
    require_unused(&[("`--dice`", args.dice.is_some()), ("`--dry-run`", args.dry_run)])?;
    let revision = &args.revision;
    if client.kind() == TokenKind::Seat && lines.len() > 1 {
        return Err(needs_store("a call with several commands of a seat"));
    }
    if args.expect.is_some() && revision.seq.is_some() && args.expect != revision.seq {
        return Err(Failure::usage(format!("`--expect` and `{revision}` name two entries as the last")));
    }
    let key = args.key.as_ref().map(ToString::to_string);
    if key.is_some_and(|key| key.len() > 120 || !key.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Err(Failure::usage(
            "expected a key of 1 to 120 graphic ASCII characters, as a service takes it",
        ));
    }
    match args.viewer {
        // The service answers the host with everything, whatever seat gives the commands.
        Some(viewer) if client.kind() != TokenKind::Seat && !viewer.sees_all() => {
            Err(needs_store(&format!("`--seat {viewer}` without that seat's token")))
        }
        // Without commands, only a view can show whether the token is of this seat.
        Some(viewer) if lines.is_empty() => {
            ask(client, revision, "view", seen_at(None, Some(viewer)), Format::Json)?;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn written(given: &ScriptCommand) -> String {
    let ScriptCommand { seat, command, .. } = given;
    seat.map_or_else(|| command.clone(), |seat| format!("{seat}: {command}"))
}

fn print_rejected(problem: &ApiError, output: &mut Output) -> Result<(), Failure> {
    let Some((_, record)) = &problem.command else { return Ok(()) };
    let text = |member| record.get(member).and_then(Value::as_str);
    let outcome = format!("rejected {}", text("reason").unwrap_or_default());
    let command = text("command").unwrap_or_default();
    let line = || render::rejected_line(text("seat"), command, &outcome, text("message"));
    Ok(output.show(record, || vec![line()])?)
}
