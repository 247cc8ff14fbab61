//! `turnfold rules`: shows a game's rules to its players.

use serde_json::{Map, Value, json};
use turnfold_core::admission::Refusal;
use turnfold_core::rules::desk::Desk;
use turnfold_core::{AnyRules, Rules as _};
use turnfold_history::find_rules;
use turnfold_mail::{MailError, start_for_mail};

use super::new::{EXAMPLE, find_setup, setups};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::guides::FENCE;
use crate::output::{plain, strong};
use crate::rulebook::RulebookSections;

/// Teach a game: its commands, reasons, questions, view and rules
///
/// Without a name, lists the rulesets. With a topic, shows only that: a rule by its id (`IN-11`), a command or question by
/// its word (`move`), a reason (`not_your_turn`) or a field of the view, with the rules that it names. `mail` shows the terms
/// that suit the game when it is played by mail, and `setups` lists the setups that come with it; `--setup` prints one.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples: turnfold rules initiative\n          turnfold rules initiative move\n          \
                        turnfold rules initiative in-11\n          \
                        turnfold rules initiative --setup small-board"
)]
pub(crate) struct Args {
    /// The ruleset
    #[arg(value_name = "NAME")]
    ruleset: Option<String>,

    /// What to look up
    #[arg(value_name = "TOPIC")]
    topic: Option<String>,

    /// Print a setup that comes with the game, as TOML
    #[arg(long, value_name = "NAME", requires = "ruleset", conflicts_with = "topic")]
    setup: Option<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let Some(name) = &args.ruleset else {
        let width = context.registry.iter().map(|rules| rules.name().len()).max().unwrap_or(0);
        for rules in context.workspace.registry.iter() {
            let name = strong(format_args!("{:width$}", rules.name()));
            let line = [name, plain(format_args!("  {}", rules.summary()))];
            let document = document(rules.as_ref(), RulebookSections::default());
            context.output.show(&document, || vec![line.into()])?;
        }
        return Ok(ExitStatus::Yes);
    };
    let rules = find_rules(name, &context.registry)?;
    if let Some(name) = &args.setup {
        let setup = find_setup(&*rules, name)?;
        let document = json!({
            "ruleset": rules.name(), "version": rules.version(), "setup": setup.name, "toml": setup.toml,
        });
        if context.output.is_json() {
            context.output.json(&document)?;
        } else {
            context.output.document(setup.toml)?;
        }
        return Ok(ExitStatus::Yes);
    }
    let mut whole = RulebookSections::read(rules.rulebook());
    let undescribed = undescribed_reasons(&*rules, &whole);
    if !undescribed.is_empty()
        && let Some(reasons) = whole.0.entry("reasons").or_insert_with(|| json!([])).as_array_mut()
    {
        reasons.extend(undescribed);
    }
    // The desk of a match by mail is no game, so it has no setups. Only built-in games have terms for mail.
    if rules.name() != Desk::NAME {
        whole.0.insert("setups".into(), setup_list(&*rules, whole.0.contains_key("setup")));
    }
    if context.registry.iter().any(|game| **game == *rules) {
        whole.0.insert("mail".into(), by_mail(&*rules).into());
    }
    if let Some(topic) = &args.topic {
        whole = whole.about(topic).ok_or_else(|| unknown_topic(rules.name(), topic, &whole))?;
    }
    context.output.answer(&document(&*rules, whole.clone()), || {
        let mut lines = vec![strong(format_args!("{} version {}", rules.name(), rules.version())).into()];
        lines.extend(whole.lines());
        lines
    })
}

/// The meaning of turnfold's own rejections, which come before those of a game (RF-8), in the order of
/// [`Refusal::CODES`].
const REFUSALS: [&str; Refusal::CODES.len()] = [
    "The match is over.",
    "A roll of the host comes first, as in `host: roll 5`.",
    "No roll is due.",
    "The command belongs to another seat, or the match has no such seat.",
    "The roll has the wrong number of values, or one out of range.",
];

const MALFORMED: &str = "The text is no command of the game, or names no seat where one is needed.";

fn undescribed_reasons(rules: &dyn AnyRules, book: &RulebookSections) -> Vec<Value> {
    let described = book.0.get("reasons").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut codes = Vec::new();
    for code in rules.ignored_codes() {
        codes.push((code, "ignored", "The command would change nothing."));
    }
    for code in rules.rejected_codes() {
        codes.push((code, "rejected", "Declared by the game, which says why in brackets behind the code."));
    }
    if rules.referee().is_some() || rules.module().is_some() {
        for (code, text) in Refusal::CODES.into_iter().zip(REFUSALS).chain([("malformed", MALFORMED)]) {
            codes.retain(|(declared, ..)| *declared != code);
            codes.push((code, "rejected", text));
        }
    }
    codes.retain(|(code, ..)| !described.iter().any(|reason| reason["reason"] == *code));
    let mut reasons = Vec::new();
    for (code, outcome, text) in codes {
        reasons
            .push(json!({ "reason": code, "outcome": outcome, "rules": rules.rule_ids(code), "text": text }));
    }
    reasons
}

fn setup_list(rules: &dyn AnyRules, has_setup_section: bool) -> Value {
    let mut list = Vec::new();
    for setup in setups(rules) {
        let text = match setup.name {
            EXAMPLE if has_setup_section => "The setup of a match that names none.".into(),
            // If the rulebook has no section about setups, only the example shows how to write one.
            EXAMPLE => format!(
                "The setup of a match that names none, in TOML. A setup of your own for `--setup FILE` is written like \
                 it:\n{FENCE}toml\n{}\n{FENCE}",
                setup.toml.trim_end()
            ),
            _ => setup.summary(),
        };
        list.push(json!({ "name": setup.name, "text": text }));
    }
    list.into()
}

fn by_mail(rules: &dyn AnyRules) -> String {
    let started = match rules.read_setup(rules.example()) {
        Ok(setup) => start_for_mail(rules, &setup, false),
        Err(error) => Err(MailError::from(error)),
    };
    if let Err(error) = started {
        return format!("{error}.");
    }
    match rules.mail_terms().trim() {
        "" => {
            "The game names no terms for a match by mail. `mail open` waits for players who miss a deadline."
                .into()
        }
        terms => format!(
            "`mail open` uses these terms for everything that the file of `--desk` leaves out.\n\n```toml\n{terms}\n```"
        ),
    }
}

fn document(rules: &dyn AnyRules, RulebookSections(sections): RulebookSections) -> Map<String, Value> {
    let mut document = Map::new();
    document.insert("ruleset".into(), json!(rules.name()));
    document.insert("version".into(), json!(rules.version()));
    document.insert("summary".into(), json!(rules.summary()));
    document.extend(sections);
    document
}

fn unknown_topic(name: &str, topic: &str, rulebook: &RulebookSections) -> Failure {
    let like = rulebook.topics_like(topic);
    let meant =
        if like.is_empty() { String::new() } else { format!("did you mean `{}`? ", like.join("` or `")) };
    let topic = topic.escape_debug();
    Failure::usage(format!("`{name}` has no rule, command, reason, question or field `{topic}`"))
        .hint(format!("{meant}`turnfold rules {name}` shows all"))
}
