//! The one structure that every rulebook has, read strictly.
//!
//! After a title and what the game is come six sections: `Setup`, in free form; `Commands`, `Reasons`, `Questions` and
//! `View`, lists of items; and `Rules`, each under a heading with its id and title. An item names one thing, or more in
//! the case of fields: ``- `NAME` (note; note): text``, further lines indented. The notes are, in this order: who gives
//! a command or what becomes of it; an example, ``as `move 2,3` ``; the ids of rules.

use std::collections::VecDeque;

use super::book::{CommandItem, QuestionItem, ReasonItem, RuleItem, Rulebook, ViewItem};
use super::prose;

const SECTIONS: [&str; 6] = ["Setup", "Commands", "Reasons", "Questions", "View", "Rules"];

/// Lines of a rulebook with their numbers.
type Lines<'a> = Vec<(usize, &'a str)>;

impl Rulebook {
    /// Reads the rulebook of the ruleset `name`.
    ///
    /// # Errors
    /// The line, and what was expected there.
    pub(crate) fn read(name: &str, markdown: &str) -> Result<Self, String> {
        read(name, markdown)
    }
}

fn read(name: &str, markdown: &str) -> Result<Rulebook, String> {
    let mut sections = sections(name, markdown)?.into_iter();
    let [about, setup, commands, reasons, questions, view, rules] =
        std::array::from_fn(|_| sections.next().unwrap_or_default());
    let rules = read_rules(&rules)?;
    let free = |lines: &Lines<'_>| prose::joined(lines.iter().map(|(_, line)| *line));
    Ok(Rulebook {
        about: free(&about),
        setup: free(&setup),
        commands: read_items(&commands, &rules, |item| {
            Ok(CommandItem {
                command: item.name()?,
                seat: item.word(["player", "host"])?,
                example: item.example()?,
                rules: item.rules()?,
                text: item.text()?,
            })
        })?,
        reasons: read_items(&reasons, &rules, |item| {
            Ok(ReasonItem {
                reason: item.name()?,
                outcome: item.word(["ignored", "rejected"])?,
                rules: item.rules()?,
                text: item.text()?,
            })
        })?,
        questions: read_items(&questions, &rules, |item| {
            Ok(QuestionItem {
                question: item.name()?,
                example: item.example()?,
                rules: item.rules()?,
                text: item.text()?,
            })
        })?,
        view: read_items(&view, &rules, |item| {
            Ok(ViewItem { fields: std::mem::take(&mut item.names), text: item.text()? })
        })?,
        rules,
    })
}

/// Splits a rulebook into what the game is and the sections.
fn sections<'a>(name: &str, markdown: &'a str) -> Result<Vec<Lines<'a>>, String> {
    let mut lines = (1..).zip(markdown.lines());
    let title = format!("# {name}");
    if lines.next().is_none_or(|(_, line)| line != title) {
        return Err(expected(1, &format!("`{title}`")));
    }
    let mut sections = Vec::new();
    let mut section = Lines::new();
    let mut number_last = 1;
    for (number, line) in lines {
        number_last = number;
        let Some(heading) = line.strip_prefix("## ") else {
            section.push((number, line));
            continue;
        };
        if SECTIONS.get(sections.len()) != Some(&heading) {
            return Err(expected(number, &format!("the sections {}", SECTIONS.join(", "))));
        }
        sections.push(std::mem::take(&mut section));
    }
    if sections.len() < SECTIONS.len() {
        return Err(expected(number_last, &format!("the sections {}", SECTIONS.join(", "))));
    }
    sections.push(section);
    Ok(sections)
}

fn read_rules(lines: &Lines<'_>) -> Result<Vec<RuleItem>, String> {
    let mut headed: Vec<(usize, &str, Vec<&str>)> = Vec::new();
    for (number, line) in lines {
        match (line.strip_prefix("### "), headed.last_mut()) {
            (Some(heading), _) => headed.push((*number, heading, Vec::new())),
            (None, Some((_, _, text))) => text.push(line),
            (None, None) if line.is_empty() => {}
            (None, None) => return Err(expected(*number, "the heading of a rule")),
        }
    }
    let mut rules: Vec<RuleItem> = Vec::new();
    for (number, heading, text) in headed {
        let (rule, title) = heading.split_once(' ').filter(|(id, _)| is_rule_id(id)).unwrap_or_default();
        let text = prose::joined(text);
        if title.is_empty() || text.is_empty() {
            return Err(expected(number, "the id of a rule such as `XY-7`, its title, and text"));
        }
        if rules.iter().any(|earlier| earlier.rule == rule) {
            return Err(expected(number, &format!("`{rule}` once")));
        }
        rules.push(RuleItem { rule: rule.into(), title: title.into(), text });
    }
    Ok(rules)
}

/// Returns `true` if this is two capitals, a hyphen, a number and at most one small letter.
fn is_rule_id(id: &str) -> bool {
    let Some((prefix, number)) = id.split_once('-') else { return false };
    let digits = number.strip_suffix(|last: char| last.is_ascii_lowercase()).unwrap_or(number);
    prefix.len() == 2
        && prefix.bytes().all(|byte| byte.is_ascii_uppercase())
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn read_items<T>(
    lines: &Lines<'_>,
    rules: &[RuleItem],
    read: impl Fn(&mut Item<'_>) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let mut items: Vec<(usize, String)> = Vec::new();
    for (number, line) in lines {
        match (line.strip_prefix("- "), line.strip_prefix("  "), items.last_mut()) {
            (Some(item), _, _) => items.push((*number, item.into())),
            (None, Some(further), Some((_, item))) => {
                item.push(' ');
                item.push_str(further);
            }
            _ if line.is_empty() => {}
            _ => return Err(expected(*number, "an item of a list")),
        }
    }
    items.iter().map(|(number, text)| read(&mut Item::parse(*number, text, rules)?)).collect()
}

/// An item of a list; what is read of it is taken out.
struct Item<'a> {
    line: usize,
    names: Vec<String>,
    notes: VecDeque<String>,
    text: String,
    known_rules: &'a [RuleItem],
}

impl<'a> Item<'a> {
    fn parse(line: usize, item: &str, known_rules: &'a [RuleItem]) -> Result<Self, String> {
        let malformed = || expected(line, "an item, written ``- `NAME` (note; note): text``");
        let mut names = Vec::new();
        let mut rest = item;
        loop {
            let quoted = rest.strip_prefix('`').and_then(|rest| rest.split_once('`'));
            let (name, after) = quoted.ok_or_else(malformed)?;
            names.push(name.into());
            let Some(next) = after.strip_prefix(", ") else {
                rest = after;
                break;
            };
            rest = next;
        }
        let (notes, text) = match rest.strip_prefix(" (") {
            Some(rest) => rest.split_once("): ").ok_or_else(malformed)?,
            None => ("", rest.strip_prefix(": ").ok_or_else(malformed)?),
        };
        let notes = notes.split("; ").filter(|note| !note.is_empty()).map(String::from).collect();
        Ok(Self { line, names, notes, text: text.into(), known_rules })
    }

    /// Takes the only name.
    fn name(&mut self) -> Result<String, String> {
        let name = self.names.pop().filter(|_| self.names.is_empty());
        name.ok_or_else(|| expected(self.line, "one name"))
    }

    /// Takes a note that is one of two words.
    fn word(&mut self, words: [&str; 2]) -> Result<String, String> {
        let note = self.notes.pop_front().filter(|note| words.contains(&note.as_str()));
        note.ok_or_else(|| expected(self.line, &format!("the note `{}`", words.join("` or `"))))
    }

    /// Takes the note with an example.
    fn example(&mut self) -> Result<String, String> {
        let note = self.notes.pop_front().unwrap_or_default();
        let example = note.strip_prefix("as `").and_then(|note| note.strip_suffix('`'));
        example.map(String::from).ok_or_else(|| expected(self.line, "an example, written ``as `EXAMPLE` ``"))
    }

    /// Takes the note with the ids of rules, if there is one.
    fn rules(&mut self) -> Result<Vec<String>, String> {
        let note = self.notes.pop_front().unwrap_or_default();
        let ids: Vec<String> = note.split(", ").filter(|id| !id.is_empty()).map(String::from).collect();
        let unknown = ids.iter().find(|id| self.known_rules.iter().all(|rule| rule.rule != **id));
        unknown
            .map_or(Ok(()), |id| Err(expected(self.line, &format!("the id of a rule instead of `{id}`"))))?;
        Ok(ids)
    }

    /// Takes the text, after all notes.
    fn text(&mut self) -> Result<String, String> {
        match self.notes.front() {
            Some(note) => Err(expected(self.line, &format!("no note `{note}`"))),
            None => Ok(std::mem::take(&mut self.text)),
        }
    }
}

fn expected(line: usize, what: &str) -> String {
    format!("line {line}: expected {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "# toy\n\nA toy.\n\n## Setup\n\nNone.\n\n## Commands\n\n- `add N` (player; as `add 1`; TY-1): Adds\n  N.\n\n\
        ## Reasons\n\n- `late` (ignored; TY-1, TY-1b): Too late.\n\n## Questions\n\n- `sum` (as `sum`): The sum.\n\n\
        ## View\n\n- `a`, `b[].c`: Both.\n\n## Rules\n\n### TY-1 Adding\n\nAdds.\n\n### TY-1b More\n\nMore.\n";

    #[test]
    fn a_rulebook_is_read() {
        let read = read("toy", RULES).unwrap();
        assert_eq!((read.about.as_str(), read.setup.as_str()), ("A toy.", "None."));
        let [command] = read.commands.as_slice() else { panic!("{:?}", read.commands) };
        assert_eq!((command.command.as_str(), command.text.as_str()), ("add N", "Adds N."));
        assert_eq!((command.seat.as_str(), command.example.as_str()), ("player", "add 1"));
        assert_eq!(read.reasons.first().unwrap().rules, ["TY-1", "TY-1b"]);
        assert_eq!(read.view.first().unwrap().fields, ["a", "b[].c"]);
        assert_eq!(read.rules.last().unwrap().title, "More");
    }

    #[test]
    fn whatever_departs_from_the_structure_is_named_with_its_line() {
        for (from, to, line) in [
            ("# toy", "# game", 1),
            ("## Setup", "## Start", 5),
            ("## View\n", "", 25),
            ("- `add N`", "* `add N`", 11),
            ("`add N` (", "add N (", 11),
            ("(player; ", "(anybody; ", 11),
            ("as `add 1`", "add 1", 11),
            ("add 1`; TY-1", "add 1`; TY-2", 11),
            ("TY-1): Adds", "TY-1; more): Adds", 11),
            ("): Adds", ") Adds", 11),
            ("`sum` (as", "`sum`, `all` (as", 20),
            ("- `a`, `b[].c`:", "- `a`, `b[].c` (host):", 24),
            ("### TY-1b", "### TY-1", 32),
            ("### TY-1 Adding", "### Adding", 28),
            ("## Rules\n", "## Rules\n\nThese:\n", 28),
        ] {
            let changed = RULES.replacen(from, to, 1);
            assert_ne!(changed, RULES, "{from}");
            let error = read("toy", &changed).unwrap_err();
            assert!(error.starts_with(&format!("line {line}: expected ")), "{from} → {to}: {error}");
        }
    }
}
