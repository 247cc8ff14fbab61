//! `turnfold rules`: shows a game's rules to its players, all of them or those about a topic.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use similar::get_close_matches;
use turnfold_core::admission::Refusal;
use turnfold_core::rules::desk::Desk;
use turnfold_core::{AnyRules, Rules as _};
use turnfold_history::find_rules;
use turnfold_history::rulebook::{LISTS, marker_length, sections};
use turnfold_mail::{MailError, start_for_mail};

use super::new::{EXAMPLE, find_setup, setups};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::guides::FENCE;
use crate::output::{Line, dim, plain, strong};

const WIDTH: usize = 80;

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

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let Some(name) = &args.ruleset else {
        let width = context.registry.iter().map(|rules| rules.name().len()).max().unwrap_or(0);
        for rules in context.workspace.registry.iter() {
            let name = strong(format_args!("{:width$}", rules.name()));
            let line = [name, plain(format_args!("  {}", rules.summary()))];
            let document = document(rules.as_ref(), &Map::new());
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
    let mut whole = sections(rules.rulebook());
    let undescribed = undescribed_reasons(&*rules, &whole);
    if !undescribed.is_empty()
        && let Some(reasons) = whole.entry("reasons").or_insert_with(|| json!([])).as_array_mut()
    {
        reasons.extend(undescribed);
    }
    // The desk of a match by mail is no game, so it has no setups. Only built-in games have terms for mail.
    if rules.name() != Desk::NAME {
        whole.insert("setups".into(), setup_list(&*rules, whole.contains_key("setup")));
    }
    if context.registry.iter().any(|game| **game == *rules) {
        whole.insert("mail".into(), by_mail(&*rules).into());
    }
    if let Some(topic) = &args.topic {
        whole = about(topic, &whole).ok_or_else(|| unknown_topic(rules.name(), topic, &whole))?;
    }
    context.output.answer(&document(&*rules, &whole), || {
        let mut lines = vec![strong(format_args!("{} version {}", rules.name(), rules.version())).into()];
        lines.extend(section_lines(&whole));
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

fn undescribed_reasons(rules: &dyn AnyRules, book: &Map<String, Value>) -> Vec<Value> {
    let described = book.get("reasons").and_then(Value::as_array).cloned().unwrap_or_default();
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
            "`mail open` uses these terms for everything that the file of `--desk` leaves out.\n\n{FENCE}toml\n{terms}\n{FENCE}"
        ),
    }
}

fn document(rules: &dyn AnyRules, sections: &Map<String, Value>) -> Map<String, Value> {
    let mut document = Map::new();
    document.insert("ruleset".into(), json!(rules.name()));
    document.insert("version".into(), json!(rules.version()));
    document.insert("summary".into(), json!(rules.summary()));
    document.extend(sections.clone());
    document
}

fn unknown_topic(name: &str, topic: &str, book: &Map<String, Value>) -> Failure {
    let like = topics_like(topic, book);
    let meant =
        if like.is_empty() { String::new() } else { format!("did you mean `{}`? ", like.join("` or `")) };
    let topic = topic.escape_debug();
    Failure::usage(format!("`{name}` has no rule, command, reason, question or field `{topic}`"))
        .hint(format!("{meant}`turnfold rules {name}` shows all"))
}

fn items_of<'a>(book: &'a Map<String, Value>, section: &str) -> &'a [Value] {
    match book.get(section) {
        Some(Value::Array(items)) => items,
        _ => &[],
    }
}

/// Returns the part about a topic: a rule by its id, a command or question by its first word, a reason, a field of
/// the view, a key of the setup, a setup, or a section by its name. Rules that this part names are included.
fn about(topic: &str, book: &Map<String, Value>) -> Option<Map<String, Value>> {
    let mut found = Map::new();
    let mut named = vec![topic.to_uppercase()];
    for (heading, ..) in LISTS {
        let section = heading.to_lowercase();
        let mut items = Vec::new();
        for item in items_of(book, &section) {
            if topics(item).contains(&topic) {
                named.extend(strings(&item["rules"]).into_iter().map(str::to_uppercase));
                items.push(item);
            }
        }
        if !items.is_empty() {
            found.insert(section, json!(items));
        }
    }
    if found.is_empty()
        && let Some(line) = setup_line(topic, book)
    {
        let words = line.split(|character: char| !character.is_ascii_alphanumeric() && character != '-');
        named.extend(words.map(str::to_uppercase));
        found.insert("setup".into(), json!(format!("{FENCE}\n{line}\n{FENCE}")));
    }
    let mut rules = Vec::new();
    for rule in items_of(book, "rules") {
        if topics(rule).iter().any(|id| named.contains(&id.to_uppercase())) {
            rules.push(rule);
        }
    }
    if !rules.is_empty() {
        found.insert("rules".into(), json!(rules));
    }
    if !found.is_empty() {
        return Some(found);
    }
    if let Some(setup) = items_of(book, "setups").iter().find(|setup| setup["name"] == topic) {
        found.insert("setups".into(), json!([setup]));
    } else {
        // A section in free form by its name, such as `setup`.
        found.insert(topic.into(), book.get(topic)?.clone());
    }
    Some(found)
}

fn setup_line<'a>(key: &str, book: &'a Map<String, Value>) -> Option<&'a str> {
    for line in book.get("setup")?.as_str()?.lines() {
        if let Some((found, _)) = line.split_once('=')
            && found.trim() == key
        {
            return Some(line);
        }
    }
    None
}

fn topics_like<'a>(mistyped: &str, book: &'a Map<String, Value>) -> Vec<&'a str> {
    let mut all = BTreeSet::new();
    for section in book.keys() {
        all.extend(items_of(book, section).iter().flat_map(topics));
    }
    let lowercase: Vec<String> = all.iter().map(|topic| topic.to_lowercase()).collect();
    let candidates: Vec<&str> = lowercase.iter().map(String::as_str).collect();
    let mut like = Vec::new();
    for close in get_close_matches(mistyped.to_lowercase().as_str(), &candidates, 3, 0.6) {
        like.extend(all.iter().find(|topic| topic.eq_ignore_ascii_case(close)));
    }
    like
}

fn section_lines(book: &Map<String, Value>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (section, content) in book {
        if section != "about" {
            lines.extend([Line::default(), strong(section.to_uppercase()).into()]);
        }
        match content {
            Value::Array(rules) if section == "rules" => {
                for (index, rule) in rules.iter().enumerate() {
                    if index > 0 {
                        lines.push(Line::default());
                    }
                    let member = |name| rule.get(name).and_then(Value::as_str).unwrap_or_default();
                    let title = plain(format_args!("  {}", member("title")));
                    lines.push([strong(member("rule")), title].into());
                    lines.extend(wrapped(member("text"), WIDTH).into_iter().map(Line::from));
                }
            }
            Value::Array(items) => {
                for item in items {
                    add_item(item, &mut lines);
                }
            }
            text => {
                lines.push(Line::default());
                let text = text.as_str().unwrap_or_default();
                lines.extend(wrapped(text, WIDTH).into_iter().map(Line::from));
            }
        }
    }
    lines
}

fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        value => value.as_str().into_iter().collect(),
    }
}

fn topics(item: &Value) -> Vec<&str> {
    let Some(names) = item.as_object().and_then(|item| item.values().next()) else { return Vec::new() };
    strings(names).into_iter().filter_map(|name| name.split(' ').next()).collect()
}

fn add_item(item: &Value, lines: &mut Vec<Line>) {
    let mut notes = Vec::new();
    let mut name = String::new();
    let mut text = "";
    for (kind, value) in item.as_object().into_iter().flatten() {
        match (kind.as_str(), strings(value).join(", ")) {
            ("text", _) => text = value.as_str().unwrap_or_default(),
            ("seat" | "outcome" | "rules", note) => notes.push(note),
            ("example", note) => notes.push(format!("as `{note}`")),
            (_, first) => name = first,
        }
    }
    notes.retain(|note| !note.is_empty());
    let notes = if notes.is_empty() { String::new() } else { format!("  ({})", notes.join("; ")) };
    lines.push([plain("  "), strong(name), dim(notes)].into());
    for line in wrapped(text, WIDTH - 6) {
        lines.push(format!("      {line}").into());
    }
}

/// Breaks text into lines of at most `width` characters, unless a word is longer. Continued list items are indented.
/// Code is kept as it is, without its fences.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut is_code = false;
    for block in text.lines() {
        if block.starts_with(FENCE) {
            is_code = !is_code;
        } else if is_code {
            lines.push(format!("  {block}"));
        } else {
            wrap(block, width, &mut lines);
        }
    }
    lines
}

fn wrap(block: &str, width: usize, lines: &mut Vec<String>) {
    let indent = " ".repeat(marker_length(block));
    let mut line = String::new();
    let mut length = 0;
    for word in block.split(' ') {
        let added = word.chars().count() + 1;
        if length + added > width + 1 && !line.trim_start().is_empty() {
            lines.push(std::mem::replace(&mut line, indent.clone()));
            length = indent.len();
        } else if length > 0 {
            line.push(' ');
        }
        line.push_str(word);
        length += added;
    }
    lines.push(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_and_items_are_wrapped_and_code_is_not() {
        let text = "One two.\n\n- three four\n1. five\n```toml\na = 1\nb = 2\n```\nsix";
        let lines = ["One two.", "", "- three", "  four", "1. five", "  a = 1", "  b = 2", "six"];
        assert_eq!(wrapped(text, 8), lines);
    }
}
