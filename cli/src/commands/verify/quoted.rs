//! A history compared with links that another player quotes.

use serde::Serialize;
use turnfold_replay::history::links::{Parting, QuotedFinding, QuotedLink, compare};
use turnfold_replay::{Revision, Sources};
use turnfold_store::BranchName;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Line, Report, added, plain, removed};

/// A history compared with quoted links.
#[derive(Default, Serialize)]
struct Compared<'a> {
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
    #[serde(skip)]
    line: Line,
}

impl<'a> Compared<'a> {
    fn new(history: &Revision, found: &'a QuotedFinding) -> Self {
        let revision = history.to_string();
        let line = |kind, text: String| Line::from([kind, plain(format_args!(" {history}: {text}"))]);
        match found {
            QuotedFinding::Same(seq) => {
                let line = line(added("same"), format!("as quoted, up to {}", entry(*seq)));
                Self { revision, same: true, same_to: Some(*seq), line, ..Self::default() }
            }
            QuotedFinding::Wrongly(seq) => {
                let text =
                    format!("the link after {} is quoted wrongly, as a later one is right", entry(*seq));
                Self {
                    revision,
                    misquoted: Some(*seq),
                    line: line(removed("unclear"), text),
                    ..Self::default()
                }
            }
            QuotedFinding::Parts(parting) => Self {
                revision,
                same: false,
                same_to: parting.same,
                differ_at: Some(parting.differ),
                first: parting.first(),
                branch: parting.branch.as_ref().map(BranchName::as_str),
                ask_next: parting.ask_next(),
                misquoted: None,
                line: line(removed("differs"), explained(history, parting)),
            },
        }
    }
}

impl Report for Compared<'_> {
    fn lines(&self) -> Vec<Line> {
        vec![self.line.clone()]
    }
}

/// Compares a history with quoted links and prints where they part.
pub(super) fn print_quoted(
    line: &Revision,
    quoted: &[QuotedLink],
    context: &mut Context,
) -> Result<ExitStatus, Failure> {
    let found = compare(&context.read_store()?, line, quoted)?;
    context.output.report(&Compared::new(line, &found))?;
    Ok(if matches!(found, QuotedFinding::Same(_)) { ExitStatus::Yes } else { ExitStatus::No })
}

fn explained(line: &Revision, parting: &Parting) -> String {
    if let Some(branch) = &parting.branch {
        let whose = format!("the quoted link is that of `{}@{branch}`", line.match_name);
        return format!("{whose}, which parts at entry {}", parting.differ);
    }
    match (parting.first(), parting.same, parting.ends) {
        (Some(0), ..) => {
            "they differ from the start: this is another match, or an import with links of its own".into()
        }
        (Some(first), _, Some(ends)) if first > ends => {
            format!("the same up to {}, where it ends; the quoted history continues", entry(ends))
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
