//! A file of rulings: named setups, columns of lists, and cases.

use std::collections::BTreeMap;

/// What the files of a folder share.
#[derive(Default)]
pub(super) struct Known {
    /// The TOML of each setup by its name.
    pub(super) setups: BTreeMap<String, String>,
    /// The columns of each list that is written in rows.
    pub(super) columns: BTreeMap<String, Vec<String>>,
}

/// A match, and lines with their expected results.
pub(super) struct Case {
    /// The line number of its title.
    pub(super) number: usize,
    /// The parts of its setup, in order.
    pub(super) setup: Vec<Part>,
    pub(super) lines: Vec<Line>,
}

/// A part of a setup.
pub(super) enum Part {
    /// A setup of the folder, or a fixture.
    Named(String),
    Toml(String),
}

/// A line of a case. A line that ends in `\` continues in the next.
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) branch: Branch,
    pub(super) text: String,
}

/// The state that a line continues from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Branch {
    /// The state after the last line that belongs to no branch.
    None,
    /// The same, but the line begins a branch.
    Begins,
    /// The state after the last line of the branch.
    GoesOn,
}

impl Known {
    /// Reads a file: returns its cases, and adds the setups and columns that it names.
    ///
    /// # Errors
    /// The number of the faulty line, and what is wrong with it.
    pub(super) fn read(&mut self, text: &str) -> Result<Vec<Case>, String> {
        let mut cases: Vec<Case> = Vec::new();
        let mut lines = (1..).zip(text.lines().map(str::trim_end));
        while let Some((number, line)) = lines.next() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match (word, cases.last_mut()) {
                ("", _) if rest.is_empty() => {}
                ("+++", _) => {
                    let toml: Vec<_> = lines.by_ref().take_while(|(_, line)| *line != "+++").collect();
                    if number + toml.len() >= text.lines().count() {
                        return Err(format!("{number}: a setup without an end"));
                    }
                    let toml = toml.into_iter().flat_map(|(_, line)| [line, "\n"]).collect();
                    if rest.is_empty() || self.setups.insert(rest.into(), toml).is_some() {
                        return Err(format!("{number}: a setup has a name of its own"));
                    }
                }
                ("columns", _) => {
                    let mut words = rest.split(' ').map(String::from);
                    self.columns.insert(words.next().unwrap_or_default(), words.collect());
                }
                ("==", _) => cases.push(Case { number, setup: Vec::new(), lines: Vec::new() }),
                (word, _) if word.starts_with('#') => {}
                (_, None) => return Err(format!("{number}: a line before the first case")),
                ("from", Some(case)) => {
                    case.setup.extend(rest.split(" + ").map(|name| Part::Named(name.into())));
                }
                ("with", Some(case)) => case.setup.push(Part::Toml(rest.replace(" \\n ", "\n") + "\n")),
                (_, Some(case)) => case.add(number, line),
            }
        }
        Ok(cases)
    }
}

impl Case {
    fn add(&mut self, number: usize, line: &str) {
        let text = line.trim_start();
        if let Some(last) = self.lines.last_mut()
            && let Some(begun) = last.text.strip_suffix('\\')
        {
            last.text = format!("{begun}{text}");
            return;
        }
        let (branch, text) = match text.strip_prefix("- ") {
            Some(text) => (Branch::Begins, text),
            None if line.starts_with(' ') => (Branch::GoesOn, text),
            None => (Branch::None, text),
        };
        self.lines.push(Line { number, branch, text: text.into() });
    }
}
