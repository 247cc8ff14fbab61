//! `turnfold matches`: the matches of the store.

use serde::Serialize;

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::output::{Tone, counted, paint};

/// List the matches of the store
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

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

pub(crate) fn run(_args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let matches = context.open_store()?.matches()?;
    let output = &mut context.output;
    let width = matches.iter().map(|info| info.name.as_str().len()).max().unwrap_or(0);
    for info in &matches {
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
    Ok(Answer::Yes)
}
