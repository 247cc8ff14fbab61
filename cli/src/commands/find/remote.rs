//! `turnfold find` for the matches of a service.

use serde::Serialize;
use serde_json::Value;
use turnfold_history::SourceName;

use crate::address::StoreAddress;
use crate::context::Context;
use crate::corpus::CorpusArgs;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Line, Output, dim, plain};
use crate::remote::search::{RemoteEntry, RemoteSearch, branches};
use crate::sources::Several;

/// A found entry; the JSON form is stable.
#[derive(Serialize)]
struct FoundThere<'a> {
    source: &'a str,
    seq: u64,
    entry: &'a Value,
}

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

/// Finds entries, one match after another. If the condition is unusable for every match, returns the first failure.
pub(super) fn find(
    search: &RemoteSearch<'_>,
    sources: Several<SourceName>,
    context: &mut Context,
) -> Result<ExitStatus, Failure> {
    let mut count = 0_u64;
    let mut makes_sense = false;
    let mut senseless = None;
    let answered = sources.answer_each(SourceName::to_string, context, |source, context| {
        let SourceName::Revision(revision) = source else { return Ok(ExitStatus::Yes) };
        let name = source.up_to(None).to_string();
        let cause = search.find(revision, &mut |entry| {
            count += 1;
            print(&name, &entry, &mut context.output)
        })?;
        makes_sense |= cause.is_none();
        senseless = senseless.take().or(cause);
        Ok(ExitStatus::Yes)
    });
    answered?;
    match senseless {
        Some(failure) if !makes_sense => Err(failure),
        _ => Ok(ExitStatus::from(count > 0)),
    }
}

fn print(source: &str, found: &RemoteEntry, output: &mut Output) -> Result<(), Failure> {
    let RemoteEntry { seq, record, text } = found;
    if output.is_json() {
        return Ok(output.json(&FoundThere { source, seq: *seq, entry: record })?);
    }
    Ok(output.line(Line::from([dim(format!("{source}:{seq}")), plain(" "), plain(text)]))?)
}
