//! The matches of a bundle as replays, so that they can be viewed without a store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use turnfold_core::Registry;
use turnfold_history::input::is_standard;
use turnfold_history::tfl::{Replay, ReplayLine, ReplayOrigin};
use turnfold_history::{ReplayError, Revision, SourceName, rules_of};
use turnfold_store::{Entry, Seq};

use super::file::{BundleFile, is_bundle};
use super::modules::BundleRules;
use super::outline::{BundleOutline, BundledBranch, BundledMatch};
use super::records::{BranchIndex, BundleRecords};
use crate::error::ProofError;

/// The name of a bundle or of a branch in it, written `BUNDLE` or `BUNDLE/MATCH[@BRANCH]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundledName {
    /// The bundle.
    pub bundle: PathBuf,
    /// The match in it; `None` for all.
    pub within: Option<String>,
}

impl BundledName {
    /// Returns the name if the path is a bundle, or leads into one.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        if is_standard(path) {
            return None;
        }
        if is_bundle(path) {
            return Some(Self { bundle: path.into(), within: None });
        }
        let bundle = path.parent().filter(|parent| is_bundle(parent))?;
        Some(Self { bundle: bundle.into(), within: Some(path.file_name()?.to_string_lossy().into_owned()) })
    }
}

/// A bundle in memory. Chain and signatures are not checked: an audit does that.
pub struct BundledHistories {
    /// The file.
    pub path: PathBuf,
    outline: BundleOutline,
    /// The rules of this program, and those in the bundle.
    registry: Registry,
    /// The own entries of each branch; `None` for an entry that is left out.
    entries: BTreeMap<BranchIndex, Vec<Option<Entry>>>,
}

/// A branch of a bundle as a replay without outcomes.
pub struct BundledReplay {
    /// The entries before the first left-out one.
    pub replay: Replay,
    /// The left-out entries, if any.
    pub lacks: Option<LeftOut>,
}

/// Entries that a bundle does not hold (TR-20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// How many are left out.
    pub count: u64,
    /// How many entries the branch has in all.
    pub all: u64,
    /// The first left-out entry.
    pub first: Seq,
}

impl BundledHistories {
    /// Reads a bundle.
    ///
    /// # Errors
    /// [`ProofError`] with the first wrong line.
    pub fn read(path: &Path, registry: &Registry) -> Result<Self, ProofError> {
        let file = BundleFile::read(path)?;
        let outline = file.outline().clone();
        let mut entries: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let mut before: Option<BranchIndex> = None;
        file.each(&mut |index, record| {
            let begins = before.replace(index) != Some(index);
            // The first record of a match is its Genesis, which the outline holds.
            if begins && index.1 == 0 {
                return Ok(());
            }
            let entry = record
                .entry()
                .map_err(|error| ProofError::Malformed { line: 0, reason: error.to_string() })?;
            entries.entry(index).or_default().push(entry);
            Ok(())
        })?;
        let registry = BundleRules::of(&outline, registry).registry;
        Ok(Self { path: path.into(), outline, registry, entries })
    }

    /// Returns the names of the branches, as files in the bundle.
    #[must_use]
    pub fn names(&self) -> Vec<PathBuf> {
        let mut names = Vec::new();
        for bundled in &self.outline.matches {
            for branch in &bundled.branches {
                names.push(self.path.join(revision_of(bundled, branch).to_string()));
            }
        }
        names
    }

    /// Makes a replay of a branch; the name of the bundle alone stands for its only branch.
    ///
    /// # Errors
    /// [`ProofError::Unusable`] for a branch that is not in the bundle, and what is wrong with its records.
    pub fn replay(&self, name: &BundledName) -> Result<BundledReplay, ProofError> {
        let index = self.find(name)?;
        let bundled = self.outline.matches.get(index.0).ok_or_else(|| self.unnamed("no match"))?;
        let branch = bundled.branches.get(index.1).ok_or_else(|| self.unnamed("no match"))?;
        let genesis = &bundled.genesis;
        let revision = revision_of(bundled, branch);
        let rules = rules_of(genesis, &revision, &self.registry)?;
        let path = match &name.within {
            Some(within) => self.path.join(within),
            None => self.path.clone(),
        };
        let origin =
            ReplayOrigin { rules: &rules, module: genesis.module, dice: genesis.dice, title: &genesis.title };
        let shown = path.display().to_string();
        let composed = Replay::compose(&shown, origin, &genesis.setup, None);
        let mut replay = composed.map_err(|cause| ReplayError::Setup(SourceName::of_file(&path), cause))?;
        let all = branch.size().saturating_sub(1);
        let mut lacks: Option<LeftOut> = None;
        for (seq, entry) in (1..=all).zip(self.entries_of(index)) {
            let Some(entry) = entry else {
                lacks.get_or_insert(LeftOut { count: 0, all, first: seq }).count += 1;
                continue;
            };
            if entry.seq != seq {
                return Err(ProofError::Refused(format!(
                    "`{shown}`: expected entry {seq}, found entry {}",
                    entry.seq
                )));
            }
            // Nothing after a left-out entry can be folded.
            if lacks.is_none() {
                replay.lines.push(ReplayLine::Entry(entry.clone().into()));
            }
        }
        Ok(BundledReplay { replay, lacks })
    }

    fn find(&self, name: &BundledName) -> Result<BranchIndex, ProofError> {
        let matches = &self.outline.matches;
        let Some(within) = &name.within else {
            return match matches.as_slice() {
                [bundled] if bundled.branches.len() == 1 => Ok((0, 0)),
                _ => Err(self.unnamed("several matches")),
            };
        };
        if let Ok(Revision { match_name, branch, seq: None }) = within.parse() {
            for (index, bundled) in matches.iter().enumerate() {
                if bundled.name != match_name {
                    continue;
                }
                if let Some(found) = bundled.branches.iter().position(|found| found.name == branch) {
                    return Ok((index, found));
                }
            }
        }
        Err(self.unnamed(&format!("no match `{within}`")))
    }

    /// Returns an error that lists the branches, for a name that fits none or several.
    fn unnamed(&self, what: &str) -> ProofError {
        const NAMES_MAX: usize = 8;
        let names = self.names();
        let mut listed: Vec<_> =
            names.iter().take(NAMES_MAX).map(|name| format!("`{}`", name.display())).collect();
        if names.len() > NAMES_MAX {
            listed.push(format!("{} more", names.len() - NAMES_MAX));
        }
        let bundle = self.path.display();
        ProofError::Unusable(format!("the bundle `{bundle}` has {what}; name one of {}", listed.join(", ")))
    }

    fn entries_of(&self, (match_index, branch): BranchIndex) -> Vec<Option<&Entry>> {
        let mut parts = Vec::new();
        let mut next = Some(branch);
        // The first record that belongs to the branch below.
        let mut end = u64::MAX;
        while let Some(at) = next {
            let Some(branch) = self.outline.branch((match_index, at)) else { break };
            if let Some(own) = self.entries.get(&(match_index, at)) {
                let count = usize::try_from(end.saturating_sub(branch.first.max(1))).unwrap_or(usize::MAX);
                parts.push(own.get(..count).unwrap_or(own));
            }
            end = branch.first;
            // Parents come first, so this ends.
            next = branch.parent.filter(|parent| *parent < at);
        }
        let mut entries = Vec::new();
        for part in parts.into_iter().rev() {
            entries.extend(part.iter().map(Option::as_ref));
        }
        entries
    }
}

fn revision_of(bundled: &BundledMatch, branch: &BundledBranch) -> Revision {
    Revision { match_name: bundled.name.clone(), branch: branch.name.clone(), seq: None }
}
