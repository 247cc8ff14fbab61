//! Nodes: the pages of sled's tree, and the changes that were linked to them.

use super::decode::{byte, bytes, number};

/// The change of a link.
enum Link<'a> {
    Set(&'a [u8], &'a [u8]),
    Remove(&'a [u8]),
    /// The named child of this node is about to be merged into its left neighbor.
    BeginMerge(u64),
    /// It has been.
    EndMerge,
    /// This node is about to be merged.
    Merging,
}

/// A node of the tree, with keys from `low` up to but not including `high`, which is empty in the last one.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) low: Vec<u8>,
    pub(super) high: Vec<u8>,
    /// What its keys leave out.
    pub(super) prefix: Vec<u8>,
    /// The right neighbor.
    pub(super) next: Option<u64>,
    /// The child that is being merged.
    merging_child: Option<u64>,
    pub(super) content: Content,
}

/// A record of a leaf: its key without the prefix, and what is stored there.
pub(super) type Stored = (Vec<u8>, Vec<u8>);

/// What a node holds, by keys without the prefix.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// Keys and values.
    Leaf(Vec<Stored>),
    /// The least key of each child, and its page.
    Index(Vec<(Vec<u8>, u64)>),
}

impl Node {
    /// Reads a node; every byte must be used.
    pub(super) fn decode(mut body: &[u8]) -> Option<Self> {
        let rest = &mut body;
        let page = |number: u64| (number > 0).then_some(number);
        let (next, merging_child) = (page(number(rest)?), page(number(rest)?));
        let _is_merging = byte(rest)?;
        let prefix_length = usize::from(byte(rest)?);
        let (low, high) = (bytes(rest)?.to_vec(), bytes(rest)?.to_vec());
        let prefix = low.get(..prefix_length).filter(|prefix| high.starts_with(prefix))?.to_vec();
        let is_index = byte(rest)? == 1;
        // Each key takes at least a byte.
        let count = usize::try_from(number(rest)?).ok().filter(|count| *count <= rest.len())?;
        let keys: Vec<_> = (0..count).map(|_| bytes(rest).map(<[u8]>::to_vec)).collect::<Option<_>>()?;
        let is_sorted = keys.is_sorted_by(|left, right| left < right);
        let content = if is_index {
            Content::Index(keys.into_iter().map(|key| Some((key, number(rest)?))).collect::<Option<_>>()?)
        } else {
            Content::Leaf(
                keys.into_iter().map(|key| Some((key, bytes(rest)?.to_vec()))).collect::<Option<_>>()?,
            )
        };
        (is_sorted && rest.is_empty()).then_some(Self { low, high, prefix, next, merging_child, content })
    }

    /// Applies a link to the node.
    pub(super) fn apply(&mut self, body: &[u8]) -> Option<()> {
        match (read_link(body)?, &mut self.content) {
            (Link::Set(key, value), Content::Leaf(records)) => {
                match records.binary_search_by(|(found, _)| found.as_slice().cmp(key)) {
                    Ok(place) => records.get_mut(place)?.1 = value.to_vec(),
                    Err(place) => records.insert(place, (key.to_vec(), value.to_vec())),
                }
            }
            (Link::Remove(key), Content::Leaf(records)) => {
                if let Ok(place) = records.binary_search_by(|(found, _)| found.as_slice().cmp(key)) {
                    records.remove(place);
                }
            }
            // Until a merge is confirmed, the child still holds everything that it held.
            (Link::BeginMerge(child), Content::Index(_)) => self.merging_child = Some(child),
            (Link::EndMerge, Content::Index(children)) => {
                let child = self.merging_child.take()?;
                let place = children.iter().position(|(_, page)| *page == child)?;
                children.remove(place);
            }
            (Link::Merging, _) => {}
            _ => return None,
        }
        Some(())
    }

    /// Returns `true` if the node holds what there is of a key, if anything.
    pub(super) fn holds(&self, key: &[u8]) -> bool {
        self.low.as_slice() <= key && (self.high.is_empty() || key < self.high.as_slice())
    }
}

fn read_link(mut body: &[u8]) -> Option<Link<'_>> {
    let rest = &mut body;
    let link = match byte(rest)? {
        0 => Link::Set(bytes(rest)?, bytes(rest)?),
        1 => Link::Remove(bytes(rest)?),
        2 => Link::BeginMerge(number(rest)?),
        3 => Link::EndMerge,
        4 => Link::Merging,
        _ => return None,
    };
    rest.is_empty().then_some(link)
}

/// Reads the list of trees: the page of the root of each, by name.
pub(super) fn read_trees(mut body: &[u8]) -> Option<Vec<(&[u8], u64)>> {
    let rest = &mut body;
    let mut trees = Vec::new();
    while !rest.is_empty() {
        trees.push((bytes(rest)?, number(rest)?));
    }
    Some(trees)
}
