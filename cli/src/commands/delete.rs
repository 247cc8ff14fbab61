//! `turnfold delete`: delete a match.

use std::io::{self, BufRead};

use serde::Serialize;
use turnfold_replay::Sources;
use turnfold_store::{MatchName, StoreReader};

use super::mail::desk_going_along;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{self, Line, Report, TextSpan, counted, plain, strong};

/// Delete a match with all its branches
///
/// Asks for confirmation on a terminal; elsewhere, `--force` is required. Only a backup or a replay file made before can
/// bring the match back. The desk of a match by mail is deleted too. Exits with 1 if the answer is no. Use `branch
/// --delete` to delete a branch.
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

/// A match with everything that is deleted with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Whole {
    #[serde(rename = "match")]
    match_name: MatchName,
    branches: u64,
    entries: u64,
    /// Its desk, if it is played by mail (PM-1).
    desk: Option<MatchName>,
}

impl Report for Whole {
    fn lines(&self) -> Vec<Line> {
        vec![Line::from([plain("deleted "), strong(&self.match_name), plain(format_args!(" with {self}"))])]
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let Args { match_name, force } = args;
    let may_ask = !context.output.is_json() && output::is_attended();
    if !force && !may_ask {
        return Err(Failure::usage("cannot ask for confirmation because this is not a terminal")
            .hint(format!("use `--force` to delete match `{match_name}`")));
    }
    if !force {
        let whole = Whole::of(match_name, &context.read_store()?)?;
        let question = format!("delete {match_name} with {whole} [y,n]?");
        let output = &mut context.output;
        if !agrees(&question, &mut io::stdin().lock(), &mut |span| output.say(&span))? {
            output.line(format_args!("{match_name} is kept"))?;
            return Ok(ExitStatus::No);
        }
    }
    let store = context.open_store()?;
    let whole = Whole::of(match_name, &store)?;
    // In one commit: a match by mail without its desk, or the other way round, is of no use.
    let names: Vec<_> = [match_name].into_iter().chain(&whole.desk).cloned().collect();
    store.delete_matches(&names)?;
    drop(store);
    context.output.report(&whole)?;
    Ok(ExitStatus::Yes)
}

/// Asks until the answer is yes or no; the end of the input is a no.
fn agrees(
    question: &str,
    input: &mut impl BufRead,
    say: &mut impl FnMut(TextSpan) -> io::Result<()>,
) -> io::Result<bool> {
    loop {
        say(strong(question))?;
        say(plain(" "))?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(false);
        }
        match line.trim() {
            "y" => return Ok(true),
            "n" => return Ok(false),
            _ => say(plain("y: delete it, n: keep it\n"))?,
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
        let branches = branches.len() as u64;
        Ok(Self { match_name: match_name.clone(), branches, entries: own.sum(), desk })
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
        let mut say = |span: TextSpan| {
            said.push_str(&span.text);
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
