//! `turnfold rules`: a game's rules, for its players.

use serde::Serialize;
use turnfold_core::AnyRules;
use turnfold_replay::history::find_rules;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Line, Report, dim, plain, strong};
use crate::rulebook::{Rulebook, wrapped};

/// Teach a game: its commands, reasons, questions, view and rules
///
/// Without a name, lists the rulesets. With a topic, shows only that: a rule by its id (`IN-11`), a command or question by
/// its word (`move`), a reason (`not_your_turn`) or a field of the view, with the rules that it names.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples: turnfold rules initiative\n          turnfold rules initiative move\n          \
                        turnfold rules initiative in-11"
)]
pub(crate) struct Args {
    /// The ruleset
    #[arg(value_name = "NAME")]
    ruleset: Option<String>,

    /// What to look up
    #[arg(value_name = "TOPIC")]
    topic: Option<String>,
}

/// How wide text is at most.
const WIDTH: usize = 80;

/// A ruleset with its rulebook, or a part of it.
#[derive(Serialize)]
struct Taught {
    ruleset: &'static str,
    version: u32,
    summary: &'static str,
    #[serde(flatten)]
    rulebook: Rulebook,
}

impl Taught {
    fn new(rules: &dyn AnyRules, rulebook: Rulebook) -> Self {
        Self { ruleset: rules.name(), version: rules.version(), summary: rules.summary(), rulebook }
    }
}

impl Report for Taught {
    fn lines(&self) -> Vec<Line> {
        let title = strong(format_args!("{} version {}", self.ruleset, self.version)).into();
        [title].into_iter().chain(rulebook_lines(&self.rulebook)).collect()
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let Some(name) = &args.ruleset else {
        let rulesets = context.registry.iter().map(|rules| Taught::new(rules, Rulebook::default()));
        context.output.list(&rulesets.collect::<Vec<_>>(), list)?;
        return Ok(ExitStatus::Yes);
    };
    let rules = find_rules(name, &context.registry)?;
    let whole = rulebook_of(rules)?;
    let shown = match &args.topic {
        Some(topic) => whole.about(topic).ok_or_else(|| unknown_topic(rules.name(), topic, &whole))?,
        None => whole,
    };
    context.output.report(&Taught::new(rules, shown))?;
    Ok(ExitStatus::Yes)
}

fn list(rulesets: &[Taught]) -> Vec<Line> {
    let width = rulesets.iter().map(|taught| taught.ruleset.len()).max().unwrap_or(0);
    let line = |taught: &Taught| {
        let name = strong(format_args!("{:width$}", taught.ruleset));
        Line::from([name, plain(format_args!("  {}", taught.summary))])
    };
    rulesets.iter().map(line).collect()
}

/// Reads the rulebook of a ruleset.
pub(crate) fn rulebook_of(rules: &dyn AnyRules) -> Result<Rulebook, Failure> {
    let read = Rulebook::read(rules.name(), rules.rulebook());
    read.map_err(|error| Failure::trouble(format!("the rulebook of `{}`, {error}", rules.name())))
}

fn unknown_topic(name: &str, topic: &str, rulebook: &Rulebook) -> Failure {
    let like: Vec<String> = rulebook.topics_like(topic).iter().map(|like| format!("`{like}`")).collect();
    let meant = if like.is_empty() { String::new() } else { format!("did you mean {}? ", like.join(" or ")) };
    let topic = topic.escape_debug();
    Failure::usage(format!("`{name}` has no rule, command, reason, question or field `{topic}`"))
        .hint(format!("{meant}`turnfold rules {name}` shows all"))
}

/// Returns the lines of a rulebook, or of a part of one.
fn rulebook_lines(rulebook: &Rulebook) -> Vec<Line> {
    let mut lines = paragraph(&rulebook.about);
    if !rulebook.setup.is_empty() {
        lines.extend(heading("Setup", rulebook.setup.as_bytes()));
        lines.extend(paragraph(&rulebook.setup));
    }
    lines.extend(heading("Commands", &rulebook.commands));
    lines.extend(rulebook.commands.iter().flat_map(|item| {
        let notes = [item.seat.clone(), format!("as `{}`", item.example), item.rules.join(", ")];
        entry(&item.command, &notes, &item.text)
    }));
    lines.extend(heading("Reasons", &rulebook.reasons));
    lines.extend(
        rulebook
            .reasons
            .iter()
            .flat_map(|item| entry(&item.reason, &[item.outcome.clone(), item.rules.join(", ")], &item.text)),
    );
    lines.extend(heading("Questions", &rulebook.questions));
    lines.extend(rulebook.questions.iter().flat_map(|item| {
        let notes = [format!("as `{}`", item.example), item.rules.join(", ")];
        entry(&item.question, &notes, &item.text)
    }));
    lines.extend(heading("View", &rulebook.view));
    lines.extend(rulebook.view.iter().flat_map(|item| entry(&item.fields.join(", "), &[], &item.text)));
    lines.extend(heading("Rules", &rulebook.rules));
    for (index, rule) in rulebook.rules.iter().enumerate() {
        lines.extend((index > 0).then(Line::default));
        lines.push(Line::from([strong(&rule.rule), plain(format_args!("  {}", rule.title))]));
        lines.extend(wrapped(&rule.text, WIDTH).into_iter().map(Line::from));
    }
    lines
}

/// Returns text after a blank line, unless there is none.
fn paragraph(text: &str) -> Vec<Line> {
    if text.is_empty() {
        return Vec::new();
    }
    [Line::default()].into_iter().chain(wrapped(text, WIDTH).into_iter().map(Line::from)).collect()
}

/// Returns a heading after a blank line, unless nothing stands below it.
fn heading<T>(title: &str, items: impl AsRef<[T]>) -> Vec<Line> {
    if items.as_ref().is_empty() {
        Vec::new()
    } else {
        vec![Line::default(), strong(title.to_uppercase()).into()]
    }
}

/// Returns an item: its name and notes on a line, its text below.
fn entry(name: &str, notes: &[String], text: &str) -> Vec<Line> {
    let notes: Vec<&str> = notes.iter().map(String::as_str).filter(|note| !note.is_empty()).collect();
    let notes = if notes.is_empty() { String::new() } else { format!("  ({})", notes.join("; ")) };
    let first = Line::from([plain("  "), strong(name), dim(notes)]);
    let text = wrapped(text, WIDTH - 6).into_iter().map(|line| Line::from(format!("      {line}")));
    [first].into_iter().chain(text).collect()
}
