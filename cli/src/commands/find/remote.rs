//! `turnfold find` for the matches of a service.

use serde_json::Value;
use turnfold_history::{Revision, SourceName, Viewer};
use ureq::http::StatusCode;

use super::{Args, WantedArgs};
use crate::address::StoreAddress;
use crate::context::Context;
use crate::corpus::CorpusArgs;
use crate::failure::{ExitStatus, Failure};
use crate::remote::client::{Client, path_of};
use crate::remote::look::{self, ListPart};
use crate::remote::problem::NotAnswered;
use crate::sources::Several;

/// Returns the matches to search if the store is a service; `None` if only files are named.
pub(super) fn sources(
    corpus: &CorpusArgs,
    context: &Context,
) -> Result<Option<Several<SourceName>>, Failure> {
    if !matches!(context.store, StoreAddress::Service(_)) {
        return Ok(None);
    }
    let Some(named) = corpus.named(context)? else {
        return context.service()?.map(|client| Ok(branches(&client)?.into())).transpose();
    };
    let is_file = |name: &SourceName| matches!(name, SourceName::File(_));
    if named.sources.iter().all(is_file) {
        return Ok(None);
    }
    if named.sources.iter().any(is_file) {
        return Err(Failure::usage("matches of a service and files are not searched together")
            .hint("name the files in a call of their own"));
    }
    Ok(Some(named))
}

/// Returns the branches of all matches that the token may read.
fn branches(client: &Client) -> Result<Vec<SourceName>, Failure> {
    let text_of = |item: &Value, field: &str| item[field].as_str().unwrap_or_default().to_owned();
    let mut branches = Vec::new();
    for found in look::items(client, "/v1/matches")? {
        let match_name = text_of(&found, "match");
        for branch in look::items(client, &format!("/v1/matches/{match_name}/branches"))? {
            let name = format!("{match_name}@{}", text_of(&branch, "branch"));
            branches.push(name.parse().map_err(look::unusable)?);
        }
    }
    Ok(branches)
}

/// Finds entries, one match after another. If the condition is unusable for every match, returns the first failure.
pub(super) fn find(
    args: &Args,
    sources: Several<SourceName>,
    context: &mut Context,
) -> Result<ExitStatus, Failure> {
    let Some(client) = context.service()? else { return Ok(ExitStatus::No) };
    look::require_unused(&[("`--recorded`", args.wanted.recorded)])?;
    let sees_all = args.viewer.is_none_or(Viewer::sees_all) && client.sees_all();
    let mut count = 0_u64;
    let mut makes_sense = false;
    let mut senseless = None;
    let answered = sources.answer_each(SourceName::to_string, context, |source, context| {
        let SourceName::Revision(revision) = source else { return Ok(ExitStatus::Yes) };
        if revision.seq.is_some() && !sees_all {
            return Err(look::needs_store("a match as a seat knew it at an entry"));
        }
        let part = ListPart {
            path: path_of(revision, "find"),
            query: query_of(&args.wanted, revision),
            after: None,
            count: args.first.then_some(1),
            viewer: args.viewer,
            source: Some(source.up_to(None).to_string()),
        };
        match look::print_list(&client, part, &mut context.output) {
            Ok(found) => {
                count += found;
                makes_sense = true;
            }
            Err(NotAnswered::ApiError(error))
                if args.wanted.when.is_some() && error.status == StatusCode::UNPROCESSABLE_ENTITY =>
            {
                senseless.get_or_insert_with(|| error.failure());
            }
            Err(error) => return Err(error.into()),
        }
        Ok(ExitStatus::Yes)
    });
    answered?;
    match senseless {
        Some(failure) if !makes_sense => Err(failure),
        _ => Ok(ExitStatus::from(count > 0)),
    }
}

/// Returns the options in the words of the service.
fn query_of(wanted: &WantedArgs, revision: &Revision) -> Vec<(&'static str, String)> {
    let WantedArgs { when, command, effect, reason, seat, recorded: _ } = wanted;
    let options = [
        ("when", when.as_ref().map(ToString::to_string)),
        ("command", command.as_ref().map(ToString::to_string)),
        ("effect", effect.clone()),
        ("reason", reason.clone()),
        ("seat", seat.map(|seat| seat.to_string())),
        ("at", revision.seq.map(|seq| seq.to_string())),
        ("all", Some("true".into())),
    ];
    options.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
