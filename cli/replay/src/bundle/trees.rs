//! The trees of lines, grown while their records go by (TR-2, TR-3).

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::trust::{Tree, TreeHash};

use super::records::{BundledRecord, LineIndex};
use super::sizes::{LineFinder, LineSize};
use crate::error::ReplayError;

/// The trees of lines while their records go by, and their roots at the sizes that were asked for.
pub(crate) struct LineTrees<'a> {
    lines: &'a LineFinder<'a>,
    wanted: BTreeSet<LineSize>,
    /// Where other lines begin.
    forks: BTreeMap<LineSize, u64>,
    /// Trees as they were there.
    kept: BTreeMap<LineSize, Tree>,
    roots: BTreeMap<LineSize, TreeHash>,
    current: Option<(LineIndex, Tree)>,
}

impl<'a> LineTrees<'a> {
    /// Begins trees whose roots at these sizes are wanted.
    pub(crate) fn of(lines: &'a LineFinder<'a>, wanted: &[(LineIndex, u64)]) -> Self {
        let (wanted, forks) = (lines.cuts(wanted), lines.forks());
        Self { lines, wanted, forks, kept: BTreeMap::new(), roots: BTreeMap::new(), current: None }
    }

    /// Takes the next record, in the order of the outline.
    pub(crate) fn take(&mut self, line: LineIndex, record: BundledRecord<'_>) -> Result<(), ReplayError> {
        let mut tree = match self.current.take() {
            Some((current, tree)) if current == line => tree,
            _ => self.begin(line)?,
        };
        tree.push(record.leaf());
        let at = (line, tree.size());
        if self.wanted.contains(&at) {
            self.roots.insert(at, tree.root());
        }
        if self.forks.contains_key(&at) {
            self.kept.insert(at, tree.clone());
        }
        self.current = Some((line, tree));
        Ok(())
    }

    fn begin(&self, line: LineIndex) -> Result<Tree, ReplayError> {
        if line.1 == 0 {
            return Ok(Tree::default());
        }
        let tree = self.lines.fork(line).and_then(|fork| self.kept.get(&fork));
        tree.cloned().ok_or_else(|| ReplayError::Changed("the bundle".into()))
    }

    /// Returns the root of a line at a size that was asked for, once the records have gone by.
    pub(crate) fn root(&self, line: LineIndex, size: u64) -> Option<TreeHash> {
        if size == 0 {
            return Some(Tree::default().root());
        }
        self.roots.get(&self.lines.cut(line, size)?).copied()
    }
}
