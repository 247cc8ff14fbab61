//! Matches at a service, which judges, shows and lists them.

use std::io;

use serde::Deserialize;
use serde_json::{Value, json};
use turnfold_history::search::Wanted;
use turnfold_history::session::{ScriptCommand, ScriptCommands};
use turnfold_history::tfl::{PageError, Replay, replay_in};
use turnfold_history::{RangeName, Revision, SourceName, Viewer};
use turnfold_serve::TokenKind;
use turnfold_show::render::{ListedBranch, rejected_line};
use turnfold_store::{BranchName, MatchName};
use ureq::http::StatusCode;

use super::near::Near;
use super::{Exported, MatchAccess};
use crate::advice::explains;
use crate::client::{Client, NotAnswered, Sent, ServiceRequest, path_of};
use crate::commands::show::{self, AskArgs, LegalArgs};
use crate::commands::{export, find, log, matches, play};
use crate::context::Workspace;
use crate::corpus::Corpus;
use crate::failure::{ExitStatus, Failure, Result};
use crate::output::{Format, Output, named};
use crate::remote::{
    ListPart, ask, document, items, needs_store, print_page, print_pages, print_reply, read, require_unused,
    seen_at, seen_replay, unusable, whole_replay,
};
use crate::sources::Several;
use crate::{files, random};

pub(super) struct Far<'a> {
    pub(super) client: &'a Client,
    pub(super) workspace: &'a Workspace,
}

#[derive(Deserialize)]
struct MatchReply {
    #[serde(rename = "match")]
    match_name: MatchName,
    current: BranchName,
}

impl Far<'_> {
    /// Returns the matches as they are answered here, from the histories that the service sends.
    fn fetched(&self) -> Near<'_> {
        Near(self.workspace)
    }
}

impl MatchAccess for Far<'_> {
    fn require(&self) -> Result<()> {
        Ok(())
    }

    fn show(
        &self,
        args: &show::Args,
        source: &SourceName,
        name: Option<&str>,
        output: &mut Output,
    ) -> Result<()> {
        let revision = match source {
            // The service marks nothing in its pictures.
            SourceName::Revision(revision) if !args.changed && !args.reach => revision,
            _ => return self.fetched().show(args, source, name, output),
        };
        let format = output.format();
        let resource = if format == Format::Svg { "picture.svg" } else { "view" };
        let reply = ask(self.client, revision, resource, seen_at(revision.seq, args.viewer), format)?;
        if format == Format::Json {
            return Ok(output.json(&named(document(&reply)?, name))?);
        }
        print_reply(&reply, output)
    }

    fn legal(&self, args: &LegalArgs, output: &mut Output) -> Result<()> {
        let SourceName::Revision(revision) = &args.source else { return self.fetched().legal(args, output) };
        let query = seen_at(revision.seq, args.viewer);
        let reply = ask(self.client, revision, "legal", query, output.format())?;
        print_page(&reply, &["items"], None, output)?;
        Ok(())
    }

    fn ask(&self, args: &AskArgs, output: &mut Output) -> Result<()> {
        let SourceName::Revision(revision) = &args.source else { return self.fetched().ask(args, output) };
        let mut query = seen_at(revision.seq, args.viewer);
        query.push(("q", args.question.0.clone()));
        print_reply(&ask(self.client, revision, "ask", query, output.format())?, output)
    }

    fn log(&self, args: &log::Args, range: &RangeName, output: &mut Output) -> Result<()> {
        let SourceName::Revision(revision) = &range.source else {
            return self.fetched().log(args, range, output);
        };
        let client = self.client;
        // The service has no filters, and counts the entries up to a number as the token's seat does.
        let is_plain = !args.is_filtered() && !args.times && !args.links && args.last.is_none();
        if !is_plain || revision.seq.is_some() && !(client.sees_all() && args.viewer().sees_all()) {
            require_unused(&[("`--links`", args.links), ("`--times`", args.times)])?;
            return self.fetched().log(args, range, output);
        }
        let before = range.first.saturating_sub(1);
        if revision.seq.is_some() {
            // A page may end early without an error, so a request for the view checks that the last entry exists.
            ask(client, revision, "view", seen_at(revision.seq, args.viewer), output.format())?;
        }
        let part = ListPart {
            path: path_of(revision, "entries"),
            query: seen_at(None, args.viewer),
            after: (before > 0).then(|| before.to_string()),
            count: revision.seq.map(|last| last.saturating_sub(before)),
            source: Some(range.source.up_to(None).to_string()),
        };
        print_pages(client, part, output)?;
        Ok(())
    }

    /// Searches one match after another. If the condition is unusable for every match, returns the first failure.
    fn find(&self, args: &find::Args, corpus: Corpus, output: &mut Output) -> Result<bool> {
        if !is_searched_far(&corpus, args, self.client) {
            return self.fetched().find(args, corpus, output);
        }
        let wanted = Wanted::from(&args.wanted);
        let mut count = 0_u64;
        let mut makes_sense = false;
        let mut senseless = None;
        let mut workspace = corpus.workspace;
        corpus.logs.answer_each(SourceName::to_string, &mut workspace, |source, _| {
            let SourceName::Revision(revision) = source else { return Ok(ExitStatus::Yes) };
            let mut query = query_of(&wanted);
            query.extend(seen_at(revision.seq, args.viewer));
            let part = ListPart {
                path: path_of(revision, "find"),
                query,
                after: None,
                count: args.first.then_some(1),
                source: Some(source.up_to(None).to_string()),
            };
            match print_pages(self.client, part, output) {
                Ok(found) => {
                    count += found;
                    makes_sense = true;
                }
                Err(NotAnswered::ApiError(error))
                    if wanted.when.is_some() && error.status == StatusCode::UNPROCESSABLE_ENTITY =>
                {
                    senseless.get_or_insert(error.failure);
                }
                Err(error) => return Err(error.into()),
            }
            Ok(ExitStatus::Yes)
        })?;
        match senseless {
            Some(failure) if !makes_sense => Err(failure),
            _ => Ok(count > 0),
        }
    }

    fn list(&self, args: &matches::Args, output: &mut Output) -> Result<()> {
        // SV-69: the service looks at the turns itself.
        let mut query = Vec::new();
        if args.long {
            query.push(("turn", "true".into()));
        }
        if let Some(mine) = args.mine {
            query.push(("mine", mine.to_string()));
        }
        let after = args.after.as_ref().map(ToString::to_string);
        let count = args.limit.map(|limit| limit as u64);
        let part = ListPart { path: "/v1/matches".into(), query, after, count, source: None };
        print_pages(self.client, part, output)?;
        Ok(())
    }

    fn play(&self, args: &play::Args, output: &mut Output) -> Result<()> {
        let lines = files::commands_of(&args.commands, args.script.as_ref(), args.viewer)?;
        require_sendable(args, &lines, self.client)?;
        let commands: Vec<_> = lines.iter().map(written).collect();
        let body = json!({ "commands": commands, "roll": !args.no_auto_roll });
        let key = match &args.key {
            Some(key) => key.to_string(),
            None => random::key()?,
        };
        let expected = args.expect.or(args.revision.seq);
        let query = expected.map(|expected| ("expect", expected.to_string())).into_iter().collect();
        let asked = ServiceRequest::of(path_of(&args.revision, "entries"), query, output.format());
        let problem = match self
            .client
            .change(&asked, &Sent { body: Some(&body), key: Some(&key), may_repeat: true })
        {
            Ok(reply) => {
                print_page(&reply, &["nothing", "entries"], None, output)?;
                return Ok(());
            }
            Err(NotAnswered::ApiError(problem)) => problem,
            Err(not_answered) => return Err(not_answered.into()),
        };
        let Some((index, record)) = &problem.command else { return Err(problem.failure) };
        print_rejected(record, output)?;
        // The hint may take another request, so the outcome is shown before it.
        output.flush()?;
        let place = args.place_of(*index, ScriptCommands::Read(&lines));
        Err(problem.failure.at(place).maybe_hint(explained_by(record, &args.revision, self.client)))
    }

    fn long_replay<'a>(&self, _: &export::Args, _: &'a SourceName) -> Result<Option<&'a Revision>> {
        // The service sends the whole file.
        Ok(None)
    }

    fn export(&self, args: &export::Args, source: &SourceName) -> Result<Exported> {
        let SourceName::Revision(revision) = source else { return self.fetched().export(args, source) };
        let text = fetched_text(args, self.client, revision)?;
        let mut view = None;
        let mut replay = None;
        if args.html {
            match replay_in(&revision.to_string(), text.as_bytes()) {
                Ok(found) => replay = Some(found),
                Err(PageError::NoReplay { viewer, .. }) => view = Some(viewer.to_string()),
                Err(error) => return Err(unusable(error)),
            }
        } else {
            for line in text.lines().take_while(|line| *line != "[setup]") {
                if let Some(seat) = line.strip_prefix("view = \"") {
                    view = seat.strip_suffix('"').map(String::from);
                }
            }
            replay = Some(text.clone().into_bytes());
        }
        // This machine may lack the rules of the match; then the file is still written, without a state hash in the
        // output.
        let replay = replay
            .and_then(|bytes| Replay::read_also_seen("replay.tfl", &bytes, &self.workspace.registry).ok());
        let state_hash = replay.and_then(|replay| replay.closing).map(|closing| closing.state);
        let mut entries = 0;
        for line in text.lines() {
            let is_entry = if args.html {
                line.starts_with("<li>")
            } else {
                line.starts_with(|first: char| first.is_ascii_digit())
            };
            entries += u64::from(is_entry);
        }
        Ok(Exported { view, entries, state_hash, text })
    }

    fn current_branch(&self, match_name: &MatchName) -> Result<BranchName> {
        let found: MatchReply = read(self.client, format!("/v1/matches/{match_name}"), Vec::new())?;
        Ok(found.current)
    }

    fn branches(&self, match_name: &MatchName) -> Result<Vec<ListedBranch>> {
        items(self.client, &format!("/v1/matches/{match_name}/branches"))
    }

    fn all_branches(&self) -> Result<Several<SourceName>> {
        let mut all = Several { sources: Vec::new(), failures: Vec::new() };
        for MatchReply { match_name, .. } in items(self.client, "/v1/matches")? {
            for ListedBranch { branch, .. } in self.branches(&match_name)? {
                let revision = Revision { match_name: match_name.clone(), branch, seq: None };
                all.sources.push(SourceName::Revision(revision));
            }
        }
        Ok(all)
    }

    fn create_branch(&self, from: &Revision, name: &BranchName) -> Result<u64> {
        let Revision { match_name, branch, seq } = from;
        let from = match seq {
            Some(seq) => format!("{branch}:{seq}"),
            None => branch.to_string(),
        };
        let body = json!({ "name": name.as_str(), "from": from });
        let path = format!("/v1/matches/{match_name}/branches");
        let asked = ServiceRequest::of(path, Vec::new(), Format::Json);
        let reply = self.client.change(&asked, &Sent { body: Some(&body), key: None, may_repeat: false })?;
        match document::<ListedBranch>(&reply)?.from {
            Some(fork) => Ok(fork.seq),
            None => Err(unusable("expected where the branch begins")),
        }
    }

    fn require_deletable(&self, _: &Revision) -> Result<()> {
        Ok(())
    }

    fn delete_branch(&self, revision: &Revision) -> Result<()> {
        let Revision { match_name, branch, .. } = revision;
        let path = format!("/v1/matches/{match_name}/branches/{branch}");
        let asked = ServiceRequest::of(path, Vec::new(), Format::Json);
        self.client.change(&asked, &Sent { body: None, key: None, may_repeat: false })?;
        Ok(())
    }
}

/// The ruleset is asked for only now, because most commands are not rejected.
fn explained_by(record: &Value, revision: &Revision, client: &Client) -> Option<String> {
    let reason = record.get("reason")?.as_str()?;
    let found: Value = read(client, format!("/v1/matches/{}", revision.match_name), Vec::new()).ok()?;
    let ruleset = found.get("ruleset")?.as_str()?;
    Some(explains(ruleset, reason))
}

fn require_sendable(args: &play::Args, lines: &[ScriptCommand], client: &Client) -> Result<()> {
    require_unused(&[("`--dice`", args.dice.is_some()), ("`--dry-run`", args.dry_run)])?;
    let revision = &args.revision;
    if client.kind == TokenKind::Seat && lines.len() > 1 {
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
        Some(viewer) if client.kind != TokenKind::Seat && !viewer.sees_all() => {
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

fn print_rejected(record: &Value, output: &mut Output) -> io::Result<()> {
    let text = |member| record.get(member).and_then(Value::as_str);
    let outcome = format!("rejected {}", text("reason").unwrap_or_default());
    let command = text("command").unwrap_or_default();
    output.show(record, || vec![rejected_line(text("seat"), command, &outcome, text("message"))])
}

fn fetched_text(args: &export::Args, client: &Client, revision: &Revision) -> Result<String> {
    let viewer = Some(args.viewer).filter(|viewer| !viewer.sees_all());
    if args.html {
        let path = path_of(revision, "replay.html");
        let query = seen_at(revision.seq, viewer);
        return Ok(client.get(&ServiceRequest { path, query, accept: "text/html" })?.body);
    }
    if viewer.is_some() {
        return Ok(seen_replay(client, revision, viewer)?);
    }
    match whole_replay(client, revision) {
        // A seat may have the whole file only after the end of the match.
        Err(NotAnswered::ApiError(error)) if error.status == StatusCode::FORBIDDEN => {
            Ok(seen_replay(client, revision, None)?)
        }
        whole => Ok(whole?),
    }
}

/// Returns `true` if a service searches all logs. If the viewer is a seat and names an entry, they are searched here,
/// because the service searches only what the seat knows now.
fn is_searched_far(corpus: &Corpus, args: &find::Args, client: &Client) -> bool {
    let sees_all = args.viewer.is_none_or(Viewer::sees_all) && client.sees_all();
    for log in &corpus.logs.sources {
        match log {
            SourceName::Revision(revision) if revision.seq.is_none() || sees_all => {}
            _ => return false,
        }
    }
    !args.wanted.recorded
}

fn query_of(wanted: &Wanted) -> Vec<(&'static str, String)> {
    let Wanted { when, command, effect, reason, seat, .. } = wanted;
    let mut query = vec![("all", "true".into())];
    let options = [
        ("when", when.as_ref().map(ToString::to_string)),
        ("command", command.as_ref().map(ToString::to_string)),
        ("effect", effect.clone()),
        ("reason", reason.clone()),
        ("seat", seat.map(|seat| seat.to_string())),
    ];
    for (name, value) in options {
        if let Some(value) = value {
            query.push((name, value));
        }
    }
    query
}
