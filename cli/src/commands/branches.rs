//! `turnfold branches`: the branches of a match.

use serde::Serialize;
use turnfold_replay::Sources;
use turnfold_store::MatchName;

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::output::{Tone, counted, paint};

/// List the branches of a match
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold branches duel")]
pub(crate) struct Args {
    /// The match
    #[arg(value_name = "MATCH")]
    match_name: MatchName,
}

#[derive(Serialize)]
struct BranchJson<'a> {
    branch: &'a str,
    entries: u64,
    from: Option<Fork<'a>>,
    link: String,
}

#[derive(Serialize)]
struct Fork<'a> {
    branch: &'a str,
    seq: u64,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let branches = context.read_store()?.branches(&args.match_name)?;
    let output = &mut context.output;
    let width = branches.iter().map(|info| info.name.as_str().len()).max().unwrap_or(0);
    for info in &branches {
        let link = info.head_link;
        if output.is_json() {
            let from = info.parent.as_ref().map(|(branch, seq)| Fork { branch: branch.as_str(), seq: *seq });
            let (branch, entries) = (info.name.as_str(), info.head);
            output.json(&BranchJson { branch, entries, from, link: link.to_string() })?;
            continue;
        }
        let name = paint(Tone::Strong, format_args!("{:width$}", info.name));
        let from = match &info.parent {
            Some((branch, seq)) => format!(", from {branch}:{seq}"),
            None => String::new(),
        };
        let entries = counted(info.head, "entry", "entries");
        let link = paint(Tone::Faint, format_args!("link {link:.16}"));
        output.line(format_args!("{name}  {entries}{from}  {link}"))?;
    }
    Ok(Answer::Yes)
}
