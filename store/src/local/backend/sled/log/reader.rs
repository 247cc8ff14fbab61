//! The reader: records looked up in sled's tree, of which nothing changes meanwhile.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::message::{self, Kind, Message};
use super::node::{Content, Node, Stored, read_trees};
use super::replay::{Recovered, damaged_at, recover};
use super::segment::{LogFile, number_of};
use super::snapshot::{PageState, Part, Snapshot, lsn_of, paths};
use super::{damaged, settings};
use crate::local::backend::sled::pieces;
use crate::local::backend::{BackendError, StoredRecord};

/// The pages of the list of trees and of sled's counter.
const TREES: u64 = 0;
const COUNTER: u64 = 1;

/// The name of the only tree that a store uses.
const TREE: &[u8] = b"__sled__default";

/// The most nodes that are kept decoded; beyond it all are read again.
const NODES_MAX: usize = 4096;

/// sled's records as they are on disk.
pub(crate) struct LogReader {
    pub(super) file: LogFile,
    pub(super) found: Recovered,
    root: u64,
    nodes: Mutex<BTreeMap<u64, Arc<Node>>>,
}

impl LogReader {
    /// Reads where everything lies in sled's folder, and writes nothing.
    ///
    /// # Errors
    /// [`BackendError::Damaged`] when anything is not as sled must have left it, [`BackendError::Io`] when it cannot
    /// be read.
    pub(crate) fn open(sled_dir: &Path) -> Result<Self, BackendError> {
        settings::require(sled_dir)?;
        let file = LogFile::open(sled_dir.join("db"))?;
        let found = recover(&file, Snapshot::newest(sled_dir)?)?;
        let mut reader = Self { file, found, root: 0, nodes: Mutex::default() };
        reader.whole(COUNTER)?;
        let trees = reader.whole(TREES)?;
        let root = read_trees(&trees).and_then(|trees| trees.into_iter().find(|(name, _)| *name == TREE));
        reader.root = root.ok_or_else(|| damaged("its list of trees is damaged"))?.1;
        Ok(reader)
    }

    /// Returns the length of sled's file.
    pub(in crate::local::backend) const fn file_bytes(&self) -> u64 {
        self.file.len()
    }

    /// Returns what may be damage, or the beginning of another use of a segment; only the records tell.
    pub(in crate::local::backend) fn doubt(&self) -> Option<BackendError> {
        self.found.in_doubt.map(damaged_at)
    }

    /// Returns the name of the snapshot at the tip.
    pub(in crate::local::backend) fn snapshot_name(&self) -> String {
        self.found.snapshot.file_name()
    }

    /// Returns the name and the bytes of the snapshot that sled would write; `None` when it is there already.
    pub(in crate::local::backend) fn next_snapshot(&self) -> Result<Option<(String, Vec<u8>)>, BackendError> {
        if self.found.snapshot.lsn == self.found.old_lsn {
            return Ok(None);
        }
        let bytes = self.found.snapshot.encode();
        let bytes = bytes.ok_or_else(|| damaged("a page of its tree has too many parts"))?;
        Ok(Some((self.snapshot_name(), bytes)))
    }

    /// Returns what is stored at a key.
    pub(in crate::local::backend) fn stored(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        let leaf = self.leaf(|node| node.holds(key), |child| child <= key)?;
        let records = records_of(&leaf)?;
        let Some(rest) = key.strip_prefix(leaf.prefix.as_slice()) else { return Ok(None) };
        let found = records.binary_search_by(|(found, _)| found.as_slice().cmp(rest));
        Ok(found.ok().and_then(|place| records.get(place)).map(|(_, value)| value.clone()))
    }

    /// Returns the value of a record.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        Ok(self
            .stored(key)?
            .map(|stored| self.joined((key.to_vec(), stored)))
            .transpose()?
            .map(|(_, value)| value))
    }

    /// Returns the first records in a range of keys, at most `limit`.
    pub(crate) fn scan(
        &self,
        range: &Range<Vec<u8>>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>, BackendError> {
        self.scan_stored(range, limit)?.into_iter().map(|record| self.joined(record)).collect()
    }

    /// Returns the last record in a range of keys.
    pub(crate) fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        self.last_stored(range)?.map(|record| self.joined(record)).transpose()
    }

    /// Puts the value of a record together, if it is stored in pieces.
    fn joined(&self, (key, stored): StoredRecord) -> Result<StoredRecord, BackendError> {
        let value = pieces::join(&key, &stored, |key| self.stored(key))?;
        Ok((key, value))
    }

    pub(super) fn scan_stored(
        &self,
        range: &Range<Vec<u8>>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>, BackendError> {
        let mut found = Vec::new();
        let mut from = range.start.clone();
        while from < range.end && found.len() < limit {
            let leaf = self.leaf(|node| node.holds(&from), |child| child <= from.as_slice())?;
            for (rest, stored) in records_of(&leaf)? {
                let key = [leaf.prefix.as_slice(), rest].concat();
                if found.len() < limit && range.contains(&key) {
                    found.push((key, stored.clone()));
                }
            }
            if leaf.high.is_empty() {
                break;
            }
            from.clone_from(&leaf.high);
        }
        Ok(found)
    }

    pub(super) fn last_stored(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        let mut end = range.end.clone();
        while range.start < end {
            let reaches = |node: &Node| node.low < end && (node.high.is_empty() || end <= node.high);
            let leaf = self.leaf(reaches, |child| child < end.as_slice())?;
            for (rest, stored) in records_of(&leaf)?.iter().rev() {
                let key = [leaf.prefix.as_slice(), rest].concat();
                if key < range.start {
                    return Ok(None);
                }
                if key < end {
                    return Ok(Some((key, stored.clone())));
                }
            }
            end.clone_from(&leaf.low);
        }
        Ok(None)
    }

    /// Descends to the leaf that `holds` what is sought, by the last child whose least key is `low_enough`.
    fn leaf(
        &self,
        holds: impl Fn(&Node) -> bool,
        low_enough: impl Fn(&[u8]) -> bool,
    ) -> Result<Arc<Node>, BackendError> {
        let lost = || damaged("its tree does not lead to a key");
        let mut page = self.root;
        // No way leads through a page twice.
        for _ in 0..self.found.snapshot.pages.len() {
            let node = self.node(page)?;
            if !holds(&node) {
                // A node that was split is not known to its parent before that was written too.
                page = node.next.filter(|_| low_enough(&node.high)).ok_or_else(lost)?;
                continue;
            }
            let Content::Index(children) = &node.content else { return Ok(node) };
            let low = |rest: &[u8]| [node.prefix.as_slice(), rest].concat();
            let place = children.partition_point(|(rest, _)| low_enough(&low(rest)));
            let child = place.checked_sub(1).and_then(|place| children.get(place));
            page = child.ok_or_else(lost)?.1;
        }
        Err(lost())
    }

    /// Returns a node with everything that was linked to it.
    fn node(&self, page: u64) -> Result<Arc<Node>, BackendError> {
        if let Some(node) = self.nodes().get(&page) {
            return Ok(Arc::clone(node));
        }
        let unreadable = || damaged(format!("page {page} of its tree is no node"));
        let (whole, links) = self.parts(page)?;
        let mut node = Node::decode(&self.body(page, whole, Kind::Replace)?).ok_or_else(unreadable)?;
        for link in links {
            node.apply(&self.body(page, *link, Kind::Link)?).ok_or_else(unreadable)?;
        }
        let node = Arc::new(node);
        let mut nodes = self.nodes();
        if nodes.len() >= NODES_MAX {
            nodes.clear();
        }
        nodes.insert(page, Arc::clone(&node));
        Ok(node)
    }

    fn nodes(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Arc<Node>>> {
        // What is kept is always whole.
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the content of a page to which nothing is linked.
    fn whole(&self, page: u64) -> Result<Vec<u8>, BackendError> {
        let (whole, _) = self.parts(page)?;
        self.body(page, whole, Kind::Replace)
    }

    fn parts(&self, page: u64) -> Result<(Part, &[Part]), BackendError> {
        let state = usize::try_from(page).ok().and_then(|page| self.found.snapshot.pages.get(page));
        match state {
            Some(PageState::Present { whole, links }) => Ok((*whole, links)),
            _ => Err(damaged(format!("page {page} of its tree is missing"))),
        }
    }

    /// Reads a part of a page.
    fn body(&self, page: u64, part: Part, expected: Kind) -> Result<Vec<u8>, BackendError> {
        let bytes = self.file.read(part.offset, part.bytes)?;
        match message::read(&bytes, part.lsn) {
            Message::RecordChange { kind, page: found, body, .. } if kind == expected && found == page => {
                Ok(body.to_vec())
            }
            _ => Err(damaged(format!("the message at {} of its log, of page {page}, is damaged", part.lsn))),
        }
    }
}

/// Returns how many segments of the log began since sled's newest snapshot, without reading more than their headers.
pub(in crate::local::backend) fn segments_since_snapshot(sled_dir: &Path) -> Result<u64, BackendError> {
    let snapshot = paths(sled_dir)?.pop().map(|path| lsn_of(&path)).unwrap_or_default();
    let headers = LogFile::open(sled_dir.join("db"))?.headers()?;
    let newest = headers.values().map(|header| header.lsn).max().unwrap_or_default();
    Ok(number_of(newest).saturating_sub(number_of(snapshot)))
}

fn records_of(leaf: &Node) -> Result<&[Stored], BackendError> {
    match &leaf.content {
        Content::Leaf(records) => Ok(records),
        Content::Index(_) => Err(damaged("its tree does not end in leaves")),
    }
}
