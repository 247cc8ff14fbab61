//! `turnfold delete`: delete a match.

use std::io::{self, BufRead};

use serde::Serialize;
use turnfold_replay::Sources;
use turnfold_store::{MatchName, StoreReader};

use super::mail::desk_going_along;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{self, Tone, counted, paint};

/// Delete a match with all its branches
///
/// Asks on a terminal; elsewhere it needs `--force`. Nothing brings the match back but a backup or a replay file made
/// before. The desk of a match by mail goes with it. Exits with 1 if the answer is no. A branch is deleted with
/// `branch --delete`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold delete duel\n  turnfold delete --force duel")]
pub(crate) struct Args {
    /// The match
    #[arg(value_name = "MATCH")]
    match_name: MatchName,

    /// Delete without asking
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct DeleteJson<'a> {
    #[serde(rename = "match")]
    match_name: &'a str,
    branches: u64,
    entries: u64,
    /// The desk that went with it.
    desk: Option<&'a str>,
}

/// All that goes with a match.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Whole {
    branches: u64,
    entries: u64,
    /// Its desk, if it is played by mail (PM-1).
    desk: Option<MatchName>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let Args { match_name, force } = args;
    let may_ask = !context.output.is_json() && output::is_attended();
    if !force && !may_ask {
        return Err(Failure::usage(format!(
            "nobody can be asked here whether to delete match `{match_name}`"
        ))
        .hint("`--force` deletes without asking"));
    }
    if !force {
        let whole = Whole::of(match_name, &context.read_store()?)?;
        let question = paint(Tone::Strong, format_args!("delete {match_name} with {whole} [y,n]?"));
        let output = &mut context.output;
        let mut say = |text: &str| output.text(text).and_then(|()| output.flush());
        if !agrees(&question, &mut io::stdin().lock(), &mut say)? {
            context.output.line(format_args!("{match_name} stays"))?;
            return Ok(ExitStatus::No);
        }
    }
    let store = context.open_store()?;
    let whole = Whole::of(match_name, &store)?;
    // In one commit: a match by mail without its desk, or the other way round, is of no use.
    let names: Vec<_> = [match_name].into_iter().chain(&whole.desk).cloned().collect();
    store.delete_matches(&names)?;
    drop(store);
    if context.output.is_json() {
        let Whole { branches, entries, desk } = &whole;
        let desk = desk.as_ref().map(MatchName::as_str);
        let (branches, entries) = (*branches, *entries);
        context.output.json(&DeleteJson { match_name: match_name.as_str(), branches, entries, desk })?;
    } else {
        let name = paint(Tone::Strong, match_name);
        context.output.line(format_args!("deleted {name} with {whole}"))?;
    }
    Ok(ExitStatus::Yes)
}

/// Asks until the answer is yes or no; the end of the input is a no.
fn agrees(
    question: &str,
    input: &mut impl BufRead,
    say: &mut impl FnMut(&str) -> io::Result<()>,
) -> io::Result<bool> {
    loop {
        say(&format!("{question} "))?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(false);
        }
        match line.trim() {
            "y" => return Ok(true),
            "n" => return Ok(false),
            _ => say("y: delete it, n: leave it as it is\n")?,
        }
    }
}

impl Whole {
    fn of(match_name: &MatchName, store: &StoreReader) -> Result<Self, Failure> {
        let desk = desk_going_along(store, match_name, "delete")?;
        let branches = store.branches(match_name)?;
        let own = branches.iter().map(|branch| {
            let forked_at = branch.parent.as_ref().map_or(0, |(_, at)| *at);
            branch.head.saturating_sub(forked_at)
        });
        Ok(Self { branches: branches.len() as u64, entries: own.sum(), desk })
    }
}

impl std::fmt::Display for Whole {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let branches = counted(self.branches, "branch", "branches");
        write!(out, "{branches} and {}", counted(self.entries, "entry", "entries"))?;
        self.desk.as_ref().map_or(Ok(()), |desk| write!(out, ", and its desk {desk}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answers: &str, expected: bool, asked: usize) {
        let mut said = String::new();
        let mut say = |text: &str| {
            said.push_str(text);
            Ok(())
        };
        assert_eq!(agrees("sure?", &mut answers.as_bytes(), &mut say).unwrap(), expected, "{answers:?}");
        assert_eq!(said.matches("sure?").count(), asked, "{said}");
    }

    #[test]
    fn only_a_y_is_a_yes_and_what_is_no_answer_is_asked_again() {
        check("y\n", true, 1);
        check("n\ny\n", false, 1);
        check("yes\n\nY\ny\n", true, 4);
        check("", false, 1);
        check("what\n", false, 2);
    }
}
