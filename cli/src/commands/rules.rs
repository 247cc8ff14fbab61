//! `turnfold rules`: a game's rules, for its players.

use serde::Serialize;
use turnfold_core::{AnyRules, Registry};
use turnfold_replay::history::find_rules;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Output, Tone, paint};
use crate::rulebook::{Rulebook, wrapped};

/// Teach a game: its commands, reasons, questions, view and rules
///
/// Without a name, lists the rulesets. With a topic, shows only what is about it: a rule by its id (`IN-11`), the word of
/// a command (`move`) or question, a reason (`not_your_turn`), or a field of the view. The rules it names come with it.
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

#[derive(Serialize)]
struct RulesetJson {
    ruleset: &'static str,
    version: u32,
    summary: &'static str,
    #[serde(flatten)]
    rulebook: Rulebook,
}

impl RulesetJson {
    fn new(rules: &dyn AnyRules, rulebook: Rulebook) -> Self {
        Self { ruleset: rules.name(), version: rules.version(), summary: rules.summary(), rulebook }
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let output = &mut context.output;
    let Some(name) = &args.ruleset else {
        list(&context.registry, output)?;
        return Ok(ExitStatus::Yes);
    };
    let rules = find_rules(name, &context.registry)?;
    let whole = rulebook_of(rules)?;
    let shown = match &args.topic {
        Some(topic) => whole.about(topic).ok_or_else(|| unknown_topic(rules.name(), topic, &whole))?,
        None => whole,
    };
    if output.is_json() {
        output.json(&RulesetJson::new(rules, shown))?;
        return Ok(ExitStatus::Yes);
    }
    let title = format!("{} version {}", rules.name(), rules.version());
    output.line(paint(Tone::Strong, title))?;
    print(&shown, output)?;
    Ok(ExitStatus::Yes)
}

fn list(registry: &Registry, output: &mut Output) -> Result<(), Failure> {
    let width = registry.iter().map(|rules| rules.name().len()).max().unwrap_or(0);
    for rules in registry.iter() {
        if output.is_json() {
            output.json(&RulesetJson::new(rules, Rulebook::default()))?;
        } else {
            let name = paint(Tone::Strong, format_args!("{:width$}", rules.name()));
            output.line(format_args!("{name}  {}", rules.summary()))?;
        }
    }
    Ok(())
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

fn print(rulebook: &Rulebook, output: &mut Output) -> Result<(), Failure> {
    paragraph(&rulebook.about, output)?;
    if !rulebook.setup.is_empty() {
        heading("Setup", false, output)?;
        paragraph(&rulebook.setup, output)?;
    }
    heading("Commands", rulebook.commands.is_empty(), output)?;
    for item in &rulebook.commands {
        let notes = [&item.seat, &format!("as `{}`", item.example), &item.rules.join(", ")];
        entry(&item.command, &notes, &item.text, output)?;
    }
    heading("Reasons", rulebook.reasons.is_empty(), output)?;
    for item in &rulebook.reasons {
        entry(&item.reason, &[&item.outcome, &item.rules.join(", ")], &item.text, output)?;
    }
    heading("Questions", rulebook.questions.is_empty(), output)?;
    for item in &rulebook.questions {
        let notes = [&format!("as `{}`", item.example), &item.rules.join(", ")];
        entry(&item.question, &notes, &item.text, output)?;
    }
    heading("View", rulebook.view.is_empty(), output)?;
    for item in &rulebook.view {
        entry(&item.fields.join(", "), &[], &item.text, output)?;
    }
    heading("Rules", rulebook.rules.is_empty(), output)?;
    for (index, rule) in rulebook.rules.iter().enumerate() {
        if index > 0 {
            output.line("")?;
        }
        output.line(format_args!("{}  {}", paint(Tone::Strong, &rule.rule), rule.title))?;
        print_wrapped(&rule.text, output)?;
    }
    Ok(())
}

fn print_wrapped(text: &str, output: &mut Output) -> Result<(), Failure> {
    for line in wrapped(text, WIDTH) {
        output.line(line)?;
    }
    Ok(())
}

/// Prints text after a blank line, unless there is none.
fn paragraph(text: &str, output: &mut Output) -> Result<(), Failure> {
    if !text.is_empty() {
        output.line("")?;
        print_wrapped(text, output)?;
    }
    Ok(())
}

fn heading(title: &str, is_left_out: bool, output: &mut Output) -> Result<(), Failure> {
    if !is_left_out {
        output.line("")?;
        output.line(paint(Tone::Strong, title.to_uppercase()))?;
    }
    Ok(())
}

/// Prints an item: its name and notes on a line, its text below.
fn entry(name: &str, notes: &[&String], text: &str, output: &mut Output) -> Result<(), Failure> {
    let notes: Vec<&str> = notes.iter().map(|note| note.as_str()).filter(|note| !note.is_empty()).collect();
    let notes = if notes.is_empty() { String::new() } else { format!("  ({})", notes.join("; ")) };
    output.line(format_args!("  {}{}", paint(Tone::Strong, name), paint(Tone::Dim, notes)))?;
    for line in wrapped(text, WIDTH - 6) {
        output.line(format_args!("      {line}"))?;
    }
    Ok(())
}
