//! Documents whose console blocks are run, and must print what the document shows.
//!
//! A block begins with ` ```console` and, if it needs more than `turnfold`, a word: `service` for a running service,
//! `postgres` for a database, `chess` for the program of `examples/chess`. All plain blocks of a document share one
//! sandbox, and so do all blocks with the same word. `SNAPSHOTS=overwrite` writes the actual output into the document.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use snapbox::data::{Data, DataFormat};

use crate::sandbox::{Sandbox, without_links, workspace};

const FENCE: &str = "```";

/// A document with its console blocks.
pub struct Document {
    pub path: PathBuf,
    pub text: String,
}

impl Document {
    pub fn read(name: &str) -> Self {
        let path = workspace().join(name);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        Self { path, text }
    }

    /// Returns the blocks that begin with this word after the fence.
    pub fn blocks(&self, word: &str) -> Vec<&str> {
        let opening = format!("\n{FENCE}{word}\n");
        let blocks = self.text.split(&opening).skip(1);
        blocks.map(|block| block.split_once(FENCE).expect("a block is closed").0).collect()
    }

    /// Requires the blocks that begin with this word to show `found`, which has one text for each block.
    pub fn require(&self, word: &str, found: &[String], normalized: fn(&str) -> String) {
        let opening = format!("\n{FENCE}{word}\n");
        let mut parts = self.text.split(&opening);
        let mut text = parts.next().unwrap().to_owned();
        for (part, found) in parts.zip(found) {
            let (shown, rest) = part.split_once(FENCE).unwrap();
            let is_same = normalized(shown) == normalized(found);
            text.extend([opening.as_str(), if is_same { shown } else { found }, FENCE, rest]);
        }
        snapbox::assert_data_eq!(text, Data::read_from(&self.path, Some(DataFormat::Text)).raw());
    }
}

/// Blanks out the keys of players, which are random.
pub fn without_keys(text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| match line.split_once(" signs as ") {
        Some((seat, key)) if seat.contains(" of ") => {
            format!("{seat} signs as {}+[KEY]\n", key.split('+').next().unwrap())
        }
        _ => line.to_owned(),
    });
    lines.collect()
}

/// Blanks out links and keys.
pub fn without_what_is_random(text: &str) -> String {
    without_links(&without_keys(text))
}

pub fn commands(block: &str) -> Vec<&str> {
    block.lines().filter_map(|line| line.strip_prefix("$ ")).collect()
}

/// Runs the blocks of a document that begin with this word, one command after another in one sandbox. Each command runs
/// in its own shell, after the prelude.
pub fn run_blocks(document: &Document, word: &str, sandbox: &Sandbox, prelude: &str) {
    let blocks = document.blocks(word);
    assert!(!blocks.is_empty(), "{} has no block `{word}`", document.path.display());
    let found: Vec<_> = blocks.iter().map(|block| output_of(block, sandbox, prelude)).collect();
    document.require(word, &found, without_what_is_random);
}

/// Runs the commands of a block. Returns them with their output, in the form of the block.
pub fn output_of(block: &str, sandbox: &Sandbox, prelude: &str) -> String {
    let mut found = String::new();
    for line in commands(block) {
        let output = sandbox.shell(&format!("{prelude}{line}"));
        writeln!(found, "$ {line}").unwrap();
        found.push_str(&String::from_utf8(output.stdout).unwrap());
        found.push_str(&String::from_utf8(output.stderr).unwrap());
    }
    found
}
