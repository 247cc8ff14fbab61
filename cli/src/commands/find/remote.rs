//! `turnfold find` for the matches of a service.

use turnfold_history::{Revision, SourceName};
use ureq::http::StatusCode;

use super::{Args, WantedArgs};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::remote::client::path_of;
use crate::remote::look::{self, ListPart};
use crate::remote::problem::NotAnswered;
use crate::sources::Several;

/// Finds entries, one match after another. If the condition is unusable for every match, returns the first failure.
pub(super) fn find(
    args: &Args,
    sources: Several<SourceName>,
    context: &mut Context,
) -> Result<ExitStatus, Failure> {
    let mut count = 0_u64;
    let mut makes_sense = false;
    let mut senseless = None;
    let answered = sources.answer_each(SourceName::to_string, context, |source, context| {
        let Some((client, revision)) = context.workspace.service_with(source)? else {
            return Ok(ExitStatus::Yes);
        };
        let part = ListPart {
            path: path_of(revision, "find"),
            query: query_of(&args.wanted, revision),
            after: None,
            count: args.first.then_some(1),
            viewer: args.viewer,
            source: Some(source.up_to(None).to_string()),
        };
        match look::print_list(client, part, &mut context.output) {
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
