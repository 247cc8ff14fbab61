//! `turnfold matches`: the matches of the store.

use std::io;

use serde::Serialize;
use turnfold_store::{MatchInfo, MatchName};

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::output::{Output, Tone, counted, paint};

/// List the matches of the store
///
/// They come by name. `--after` and `--limit` read a long list page by page: go on after the last name of a page.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold matches --after duel --limit 20")]
pub(crate) struct Args {
    /// Begin after this name, whether or not there is such a match
    #[arg(long, value_name = "MATCH")]
    after: Option<MatchName>,

    /// List at most so many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// How many matches are read before they are printed, so that their columns stand under each other.
const PAGE: usize = 256;

#[derive(Serialize)]
struct MatchJson<'a> {
    #[serde(rename = "match")]
    match_name: &'a str,
    ruleset: &'a str,
    version: u32,
    entries: u64,
    branches: u64,
    title: &'a str,
    created_at_ms: i64,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let store = context.read_store()?;
    let mut matches = store.matches_after(args.after.as_ref())?.take(args.limit.unwrap_or(usize::MAX));
    loop {
        let page: Vec<_> = matches.by_ref().take(PAGE).collect::<Result<_, _>>()?;
        print(&page, &mut context.output)?;
        if page.len() < PAGE {
            return Ok(Answer::Yes);
        }
    }
}

fn print(page: &[MatchInfo], output: &mut Output) -> io::Result<()> {
    let width = page.iter().map(|info| info.name.as_str().len()).max().unwrap_or(0);
    for info in page {
        let genesis = &info.genesis;
        if output.is_json() {
            output.json(&MatchJson {
                match_name: info.name.as_str(),
                ruleset: &genesis.ruleset,
                version: genesis.ruleset_version,
                entries: info.head,
                branches: info.branches,
                title: &genesis.title,
                created_at_ms: genesis.created_at_ms,
            })?;
            continue;
        }
        let name = paint(Tone::Strong, format_args!("{:width$}", info.name));
        let title = if genesis.title.is_empty() { String::new() } else { format!("  {}", genesis.title) };
        let entries = counted(info.head, "entry", "entries");
        let branches = counted(info.branches, "branch", "branches");
        output.line(format_args!("{name}  {}  {entries}, {branches}{title}", genesis.ruleset))?;
    }
    Ok(())
}
