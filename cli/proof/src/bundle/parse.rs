//! Reading a bundle strictly, line by line (TR-18, TR-21).

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;
use std::path::Path;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use turnfold_core::Digest;
use turnfold_core::text::{in_one_line, number};
use turnfold_history::in_order;
use turnfold_history::input::{InputError, check_title};
use turnfold_store::{BranchName, COMMAND_BYTES_MAX, GENESIS_BYTES_MAX, Genesis, MatchName};

use super::outline::{BundleOutline, BundledBranch, BundledMatch, TITLE};
use super::records::{BundledRecord, TakeRecord};
use crate::error::ProofError;
use crate::limits::BUNDLE_BRANCHES_MAX;

mod attachments;

pub(super) use attachments::{MODULE_LINE_BYTES, checkpoint_order};

/// The longest line: more than the largest Genesis or entry takes in base64.
const LINE_BYTES_MAX: u64 = (GENESIS_BYTES_MAX as u64 + COMMAND_BYTES_MAX as u64) * 4 / 3;

struct Parser<'a> {
    input: &'a mut dyn BufRead,
    path: &'a Path,
    hasher: Sha256,
    /// The line last read, without its line feed, and its number.
    line: String,
    number: u64,
    outline: BundleOutline,
    ids: BTreeSet<[u8; 16]>,
    /// How many branches, and bytes of modules and checkpoints, have been read. All of these stay in memory.
    branches: usize,
    module_bytes: usize,
    checkpoint_bytes: usize,
}

/// Reads a bundle and passes each record to `take`. The outline has no records and a bounded number of branches and
/// checkpoints.
pub(super) fn parse(
    input: &mut dyn BufRead,
    path: &Path,
    take: &mut TakeRecord<'_>,
) -> Result<BundleOutline, ProofError> {
    let mut parser = Parser {
        input,
        path,
        hasher: Sha256::new(),
        line: String::new(),
        number: 0,
        outline: BundleOutline::default(),
        ids: BTreeSet::new(),
        branches: 0,
        module_bytes: 0,
        checkpoint_bytes: 0,
    };
    parser.next().map_err(|error| match error {
        ProofError::Malformed { .. } => ProofError::NotABundle(path.display().to_string()),
        error => error,
    })?;
    if parser.line != TITLE.trim_end() {
        return Err(ProofError::NotABundle(path.display().to_string()));
    }
    parser.body(take)?;
    Ok(parser.outline)
}

impl Parser<'_> {
    fn malformed(&self, reason: impl Into<String>) -> ProofError {
        ProofError::Malformed { line: self.number, reason: in_one_line(&reason.into()) }
    }

    fn unreadable(&self, cause: std::io::Error) -> ProofError {
        InputError::Unreadable { what: "bundle", path: self.path.into(), cause }.into()
    }

    /// Reads the next line. A line is hashed when the next one is read, so the last line is not part of the hash.
    fn next(&mut self) -> Result<(), ProofError> {
        if self.number > 0 {
            self.hasher.update(&self.line);
            self.hasher.update(b"\n");
        }
        self.number += 1;
        self.line.clear();
        let mut bytes = std::mem::take(&mut self.line).into_bytes();
        let read = std::io::Read::take(&mut *self.input, LINE_BYTES_MAX).read_until(b'\n', &mut bytes);
        read.map_err(|cause| self.unreadable(cause))?;
        if bytes.pop() != Some(b'\n') {
            return Err(self.malformed("expected a line with a line feed at its end"));
        }
        self.line = String::from_utf8(bytes).map_err(|_| self.malformed("expected text in UTF-8"))?;
        Ok(())
    }

    fn body(&mut self, take: &mut TakeRecord<'_>) -> Result<(), ProofError> {
        self.next()?;
        while let Some([name]) = self.header("match")? {
            let name: MatchName = self.word(&name)?;
            if self.outline.matches.last().is_some_and(|last| last.name >= name) {
                return Err(self.malformed("expected the matches in the order of their names, each once"));
            }
            self.read_match(name, take)?;
        }
        while let Some([length]) = self.header("module")? {
            self.read_module(&length)?;
        }
        while let Some([length]) = self.header("checkpoint")? {
            self.read_checkpoint(&length)?;
        }
        let Some([found]) = self.header("end")? else {
            return Err(
                self.malformed("expected `-- match`, `-- line`, `-- module`, `-- checkpoint` or `-- end`")
            );
        };
        let digest = Digest::new(self.hasher.clone().finalize().into());
        if self.word::<Digest>(&found)? != digest {
            return Err(self.malformed("the bytes above have a different hash"));
        }
        self.number += 1;
        match self.input.fill_buf() {
            Ok([]) => Ok(()),
            Ok(_) => Err(self.malformed("expected nothing after the end")),
            Err(cause) => Err(self.unreadable(cause)),
        }
    }

    fn header<const N: usize>(&self, kind: &str) -> Result<Option<[String; N]>, ProofError> {
        let Some(words) = self.line.strip_prefix(&format!("-- {kind} ")) else { return Ok(None) };
        let words: Vec<_> = words.split(' ').map(str::to_owned).collect();
        match words.try_into() {
            Ok(words) => Ok(Some(words)),
            Err(_) => Err(self.malformed(format!("expected {N} words after `-- {kind}`"))),
        }
    }

    fn word<T: FromStr<Err: ToString>>(&self, word: &str) -> Result<T, ProofError> {
        word.parse().map_err(|error: T::Err| self.malformed(error.to_string()))
    }

    fn number<T: FromStr>(&self, word: &str) -> Result<T, ProofError> {
        number(word).map_err(|error| self.malformed(error.to_string()))
    }

    fn read_match(&mut self, name: MatchName, take: &mut TakeRecord<'_>) -> Result<(), ProofError> {
        self.next()?;
        let mut branches: Vec<BundledBranch> = Vec::new();
        let mut indexes: BTreeMap<BranchName, usize> = BTreeMap::new();
        let mut parents: BTreeMap<BranchName, Option<BranchName>> = BTreeMap::new();
        let mut genesis = None;
        let mut bytes = Vec::new();
        while let Some(words) = self.header::<5>("line")? {
            self.branches += 1;
            if self.branches > BUNDLE_BRANCHES_MAX {
                return Err(self.malformed(format!("expected at most {BUNDLE_BRANCHES_MAX} branches")));
            }
            let mut branch = self.line_header(&words, &branches, &indexes)?;
            let mut parent = None;
            if let Some(index) = branch.parent {
                parent = branches.get(index).map(|parent| parent.name.clone());
            }
            if parents.insert(branch.name.clone(), parent).is_some() {
                return Err(self.malformed(format!("a second branch `{}`", branch.name)));
            }
            indexes.insert(branch.name.clone(), branches.len());
            let index = (self.outline.matches.len(), branches.len());
            for record in 0..branch.count {
                self.next()?;
                let found = self.record(&mut bytes)?;
                if branch.first == 0 && record == 0 {
                    genesis = Some(self.genesis(found)?);
                }
                branch.left_out += u64::from(matches!(found, BundledRecord::LeftOut(_)));
                take(index, found).map_err(|error| self.at_line(error))?;
            }
            branches.push(branch);
            self.next()?;
        }
        let names: Vec<_> = branches.iter().map(|branch| branch.name.clone()).collect();
        if in_order(&parents) != Some(names) {
            return Err(self.malformed("expected the branches of a match with parents first, and by name"));
        }
        let genesis = genesis.ok_or_else(|| self.malformed("expected a match with a branch `main`"))?;
        if !self.ids.insert(genesis.match_id) {
            return Err(self.malformed("two matches have one id"));
        }
        self.outline.matches.push(BundledMatch { name, genesis, branches });
        Ok(())
    }

    fn line_header(
        &self,
        [name, parent, first, count, link]: &[String; 5],
        earlier: &[BundledBranch],
        indexes: &BTreeMap<BranchName, usize>,
    ) -> Result<BundledBranch, ProofError> {
        let name: BranchName = self.word(name)?;
        let first = self.number::<u64>(first)?;
        let count = self.number::<u64>(count)?;
        let link = self.word(link)?;
        let is_main = name.is_main();
        let mut parent_index = None;
        if parent != "-" {
            let found = parent.parse::<BranchName>().ok().and_then(|parent| indexes.get(&parent));
            let Some(found) = found else {
                return Err(self.malformed(format!("there is no branch `{}` above", parent.escape_debug())));
            };
            parent_index = Some(*found);
        }
        let fits = match parent_index.and_then(|parent| earlier.get(parent)) {
            None => is_main && first == 0 && count > 0,
            Some(parent) => !is_main && (1..=parent.size()).contains(&first),
        };
        if !fits || first.checked_add(count).is_none() {
            return Err(self.malformed("a branch cannot begin there"));
        }
        Ok(BundledBranch { name, parent: parent_index, first, count, link, left_out: 0 })
    }

    /// Reads a record. `bytes` is the buffer for one that is not left out.
    fn record<'b>(&self, bytes: &'b mut Vec<u8>) -> Result<BundledRecord<'b>, ProofError> {
        if let Some(leaf) = self.line.strip_prefix('#') {
            return Ok(BundledRecord::LeftOut(self.word(leaf)?));
        }
        bytes.clear();
        if let Some(record) = self.line.strip_prefix('+')
            && STANDARD.decode_vec(record, bytes).is_ok()
        {
            return Ok(BundledRecord::Shown(bytes, None));
        }
        Err(self.malformed("expected `+` and a record, or `#` and a leaf hash, in base64"))
    }

    fn genesis(&self, record: BundledRecord<'_>) -> Result<Genesis, ProofError> {
        let BundledRecord::Shown(bytes, _) = record else {
            return Err(self.malformed("expected a Genesis, which is never left out"));
        };
        let genesis = Genesis::decode(bytes).map_err(|error| self.malformed(error.to_string()))?;
        check_title(&genesis.title).map_err(|error| self.malformed(error))?;
        Ok(genesis)
    }

    fn at_line(&self, error: ProofError) -> ProofError {
        match error {
            ProofError::Malformed { reason, .. } => self.malformed(reason),
            error => error,
        }
    }
}
