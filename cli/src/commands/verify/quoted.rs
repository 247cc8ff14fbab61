//! What links that somebody else quotes say of a history.

use serde::Serialize;
use turnfold_replay::links::{Parting, QuotedFinding, QuotedLink, compare};
use turnfold_replay::{Revision, Sources};
use turnfold_store::BranchName;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Tone, paint};

#[derive(Default, Serialize)]
struct QuotedJson<'a> {
    revision: String,
    same: bool,
    /// The last entry up to which both are known to be the same.
    same_to: Option<u64>,
    /// The first entry up to which they are known to differ.
    differ_at: Option<u64>,
    /// The first entry that is not the same, where that is known.
    first: Option<u64>,
    /// The branch here that has the quoted link.
    branch: Option<&'a str>,
    /// The entry whose link to ask for next.
    ask_next: Option<u64>,
    /// The entry whose link must be quoted wrongly.
    misquoted: Option<u64>,
}

/// Compares a line with quoted links and prints where they part.
pub(super) fn print_quoted(
    line: &Revision,
    quoted: &[QuotedLink],
    context: &mut Context,
) -> Result<ExitStatus, Failure> {
    let found = compare(&context.read_store()?, line, quoted)?;
    let answer = if matches!(found, QuotedFinding::Same(_)) { ExitStatus::Yes } else { ExitStatus::No };
    let output = &mut context.output;
    if output.is_json() {
        output.json(&to_json(line, &found))?;
        return Ok(answer);
    }
    match &found {
        QuotedFinding::Same(seq) => {
            let same = paint(Tone::Added, "same");
            output.line(format_args!("{same} {line}: as quoted, up to {}", entry(*seq)))?;
        }
        QuotedFinding::Wrongly(seq) => output.line(format_args!(
            "{} {line}: the link after {} is quoted wrongly, as a later one is right",
            paint(Tone::Removed, "unclear"),
            entry(*seq)
        ))?,
        QuotedFinding::Parts(parting) => {
            output.line(format_args!(
                "{} {line}: {}",
                paint(Tone::Removed, "differs"),
                told(line, parting)
            ))?;
        }
    }
    Ok(answer)
}

fn to_json<'a>(line: &Revision, found: &'a QuotedFinding) -> QuotedJson<'a> {
    let revision = line.to_string();
    match found {
        QuotedFinding::Same(seq) => {
            QuotedJson { revision, same: true, same_to: Some(*seq), ..QuotedJson::default() }
        }
        QuotedFinding::Wrongly(seq) => {
            QuotedJson { revision, misquoted: Some(*seq), ..QuotedJson::default() }
        }
        QuotedFinding::Parts(parting) => QuotedJson {
            revision,
            same: false,
            same_to: parting.same,
            differ_at: Some(parting.differ),
            first: parting.first(),
            branch: parting.branch.as_ref().map(BranchName::as_str),
            ask_next: parting.ask_next(),
            misquoted: None,
        },
    }
}

fn told(line: &Revision, parting: &Parting) -> String {
    if let Some(branch) = &parting.branch {
        let whose = format!("the quoted link is that of `{}@{branch}`", line.match_name);
        return format!("{whose}, which parts at entry {}", parting.differ);
    }
    match (parting.first(), parting.same, parting.ends) {
        (Some(0), ..) => {
            "it begins otherwise: another match, or an import of it, whose links are its own".into()
        }
        (Some(first), _, Some(ends)) if first > ends => {
            format!("the same up to {}, where it ends; the quoted one goes on", entry(ends))
        }
        (Some(first), ..) => format!("they part at entry {first}"),
        (None, Some(same), _) => {
            let next = parting.ask_next().unwrap_or(same);
            format!(
                "they part after {} and at or before entry {}; ask for the link after entry {next}",
                entry(same),
                parting.differ
            )
        }
        (None, None, _) => format!(
            "they part at or before entry {}, or are not one match; ask for the link after entry 0, the setup",
            parting.differ
        ),
    }
}

/// Names an entry, or the setup before the first.
fn entry(seq: u64) -> String {
    if seq == 0 { "the setup".into() } else { format!("entry {seq}") }
}
