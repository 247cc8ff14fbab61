//! The topics of `turnfold help`: the verbs in groups, and the guides in `docs/guide`, which `turnfold help GUIDE`
//! prints.

use serde::Serialize;
use serde_json::json;

use crate::context::Context;
use crate::failure::{ExitStatus, Result};
use crate::output::{Line, strong};

pub(crate) const FENCE: &str = "```";

pub(crate) const GROUPS: [(&str, &[&str]); 9] = [
    ("Play", &["new", "play", "simulate", "show", "legal", "ask", "rules", "game"]),
    ("Matches in the store", &["matches", "log", "replay", "rename", "migrate", "delete"]),
    ("Branch and compare", &["branch", "amend", "diff", "bisect", "blame", "shrink"]),
    ("Many matches", &["find", "table"]),
    ("Files and golden logs", &["export", "import", "bless", "check"]),
    ("Prove and maintain", &["verify", "store"]),
    ("Sign and audit", &["key", "checkpoint", "bundle", "audit"]),
    ("Play over a network and by mail", &["serve", "join", "mail"]),
    ("Get to know turnfold", &["tour", "completions", "man", "help"]),
];

#[derive(Debug)]
pub(crate) struct Guide {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    /// The text in Markdown, with the title in its first line.
    pub(crate) text: &'static str,
}

macro_rules! guide {
    ($name:literal, $file:literal, $summary:literal) => {
        Guide {
            name: $name,
            summary: $summary,
            text: {
                const TEXT: &str = include_str!(concat!("../guide/", $file, ".md"));
                // Without symbolic links (git on Windows, unless `core.symlinks` is set), the file would contain a
                // path.
                const IS_LINKED: bool = matches!(TEXT.as_bytes(), [b'#', ..]);
                const { assert!(IS_LINKED, "cli/guide is a symbolic link: git config core.symlinks true") };
                TEXT
            },
        }
    };
}

/// The guides in reading order. No guide has the name of a verb, because `turnfold help` finds both.
pub(crate) const GUIDES: [Guide; 14] = [
    guide!("playing", "play", "Play, branch and compare matches at a terminal"),
    guide!("debugging", "debugging", "Find a bug, keep it fixed, run golden logs in CI"),
    guide!("analysis", "analysis", "Ask, count and tabulate many matches"),
    guide!("referees", "referees", "Use your engine in JavaScript, Python or any language"),
    guide!("your-own-game", "your-own-game", "Write the rules of a game of your own"),
    guide!("auditing", "audit", "Sign, witness and audit matches"),
    guide!("mail-host", "mail-host", "Host a match by mail"),
    guide!("mail-player", "mail-player", "Take part in a match by mail"),
    guide!("serving", "serve", "Play over a network"),
    guide!("operate", "operate", "Run a service: backups, monitoring, PostgreSQL"),
    guide!("growing", "growing", "From one process to many: PostgreSQL, standby, splitting"),
    guide!("cli", "cli", "Revisions, output, pager, exit codes, environment"),
    guide!("versions", "versions", "What stays and what may change between versions"),
    guide!("limits", "limits", "Every limit"),
];

pub(crate) fn print(guide: &Guide, context: &mut Context) -> Result<ExitStatus> {
    let title = guide.text.lines().next().and_then(|line| line.strip_prefix("# "));
    let document = json!({ "guide": guide.name, "title": title, "text": guide.text });
    context.output.answer(&document, || lines(guide.text))
}

/// The help of a verb as JSON, which clap does not write.
#[derive(Debug, Serialize)]
pub(crate) struct VerbHelp {
    pub(crate) verb: String,
    pub(crate) about: String,
    pub(crate) text: String,
}

pub(crate) fn print_help(help: &VerbHelp, context: &mut Context) -> Result<ExitStatus> {
    context.output.answer(help, || help.text.lines().map(Line::from).collect())
}

fn lines(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.starts_with(FENCE) {
            is_code = !is_code;
        } else if is_code {
            lines.push(format!("    {line}").into());
        } else if line.starts_with('#') {
            lines.push(strong(line.trim_start_matches('#').trim_start().to_uppercase()).into());
        } else {
            lines.push(line.into());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_guide_has_the_name_of_a_verb() {
        for (_, verbs) in GROUPS {
            for guide in &GUIDES {
                assert!(!verbs.contains(&guide.name), "{}", guide.name);
            }
        }
    }

    #[test]
    fn prose_of_guides_fits_80_columns() {
        for guide in &GUIDES {
            let mut is_code = false;
            for line in guide.text.lines() {
                is_code ^= line.starts_with("```");
                let is_prose = !is_code && !line.starts_with('|');
                assert!(!is_prose || line.chars().count() <= 80, "{}: {line}", guide.name);
            }
        }
    }
}
