//! Bundles that are taken apart, changed and put together again, as a deceiver would do.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};
use turnfold_core::Digest;
use turnfold_core::trust::{
    Checkpoint, PrivateKey, SignatureLine, SignedNote, Tree, TreeHash, branch_origin,
};
use turnfold_store::{Entry, Genesis, Linker};

use super::{from_base64, to_base64};

/// A branch of a match with its own records.
#[derive(Clone, Debug)]
pub(super) struct EditedLine {
    pub(super) branch: String,
    pub(super) parent: String,
    pub(super) first: usize,
    pub(super) records: Vec<Vec<u8>>,
    pub(super) link: String,
}

/// A bundle of one match.
#[derive(Clone, Debug)]
pub(super) struct Edited {
    pub(super) name: String,
    pub(super) lines: Vec<EditedLine>,
    pub(super) notes: Vec<String>,
}

impl Edited {
    pub(super) fn of(text: &str) -> Self {
        let mut edited = Self { name: String::new(), lines: Vec::new(), notes: Vec::new() };
        let mut rest = text.strip_prefix("turnfold bundle 1\n").unwrap();
        while let Some((line, after)) = rest.split_once('\n') {
            rest = after;
            let words: Vec<_> = line.split(' ').collect();
            match words.as_slice() {
                ["--", "match", name] => edited.name = (*name).into(),
                ["--", "line", branch, parent, first, _, link] => edited.lines.push(EditedLine {
                    branch: (*branch).into(),
                    parent: (*parent).into(),
                    first: first.parse().unwrap(),
                    records: Vec::new(),
                    link: (*link).into(),
                }),
                ["--", "checkpoint", length] => {
                    let (note, after) = rest.split_at(length.parse().unwrap());
                    edited.notes.push(note.into());
                    rest = after;
                }
                ["--", "end", _] => {}
                _ => {
                    let record = from_base64(line.strip_prefix('+').unwrap());
                    edited.lines.last_mut().unwrap().records.push(record);
                }
            }
        }
        edited
    }

    /// Returns the text, with a matching last line.
    pub(super) fn text(&self) -> String {
        let mut text = format!("turnfold bundle 1\n-- match {}\n", self.name);
        for line in &self.lines {
            let EditedLine { branch, parent, first, records, link } = line;
            writeln!(text, "-- line {branch} {parent} {first} {} {link}", records.len()).unwrap();
            for record in records {
                writeln!(text, "+{}", to_base64(record)).unwrap();
            }
        }
        for note in &self.notes {
            write!(text, "-- checkpoint {}\n{note}", note.len()).unwrap();
        }
        let end = Digest::new(Sha256::digest(&text).into());
        text + &format!("-- end {end}\n")
    }

    fn genesis(&self) -> Genesis {
        Genesis::decode(&self.lines[0].records[0]).unwrap()
    }

    /// Returns all records of a branch.
    pub(super) fn records(&self, index: usize) -> Vec<Vec<u8>> {
        let line = &self.lines[index];
        let parent = self.lines.iter().position(|other| other.branch == line.parent);
        let mut records = parent.map_or(Vec::new(), |parent| self.records(parent));
        records.truncate(line.first);
        records.extend(line.records.iter().cloned());
        records
    }

    /// Corrects the links.
    pub(super) fn relinked(mut self) -> Self {
        let (genesis, mut linker) = (self.genesis(), Linker::new());
        for index in 0..self.lines.len() {
            let records = self.records(index);
            let link = records[1..].iter().fold(genesis.link(), |link, record| linker.link(&link, record));
            self.lines[index].link = link.to_string();
        }
        self
    }

    /// Corrects the numbers of the entries.
    pub(super) fn renumbered(mut self) -> Self {
        for line in &mut self.lines {
            for (seq, record) in (line.first..).zip(&mut line.records).filter(|(seq, _)| *seq > 0) {
                let mut entry = Entry::decode(record).unwrap();
                entry.seq = seq.try_into().unwrap();
                *record = entry.encode();
            }
        }
        self
    }

    /// Replaces the checkpoints with checkpoints of another key.
    pub(super) fn signed(mut self, key: &PrivateKey) -> Self {
        let mut notes: Vec<_> =
            (0..self.lines.len()).map(|line| self.checkpoint(line, key).to_string()).collect();
        notes.sort();
        self.notes = notes;
        self
    }

    /// Returns the checkpoint of a branch at its full size.
    pub(super) fn checkpoint(&self, index: usize, key: &PrivateKey) -> SignedNote {
        let mut tree = Tree::default();
        self.records(index).iter().for_each(|record| tree.push(TreeHash::of_record(record)));
        let origin = branch_origin(key.name(), &self.genesis().match_id, &self.lines[index].branch);
        let text = Checkpoint { origin: origin.clone(), size: tree.size(), root: tree.root() }.to_string();
        let line = SignatureLine::sign(key, &origin, &text);
        SignedNote::new(text, vec![line]).unwrap()
    }

    /// Changes an entry.
    pub(super) fn with_entry(mut self, line: usize, index: usize, change: impl FnOnce(&mut Entry)) -> Self {
        let record = &mut self.lines[line].records[index];
        let mut entry = Entry::decode(record).unwrap();
        change(&mut entry);
        *record = entry.encode();
        self
    }

    pub(super) fn with_genesis(mut self, change: impl FnOnce(&mut Genesis)) -> Self {
        let mut genesis = self.genesis();
        change(&mut genesis);
        self.lines[0].records[0] = genesis.encode();
        self
    }
}
