//! What is kept of games and their desks while records go by, until both are there.

use std::collections::BTreeMap;

use turnfold_core::rules::desk::{self, Desk};
use turnfold_core::{Digest, Registry, Rules};
use turnfold_store::{Entry, Genesis, Linker};

use crate::bundle::sizes::LineFinder;
use crate::bundle::{BundledRecord, LineIndex};

/// A game and its desk, by their indexes in the outline (PM-1).
#[derive(Clone, Debug)]
pub(super) struct Tie {
    pub(super) game: usize,
    pub(super) desk: usize,
    pub(super) setup: desk::Setup,
}

impl Tie {
    /// Finds the desks whose games are there too.
    pub(super) fn all(lines: &LineFinder<'_>, registry: &Registry) -> Vec<Self> {
        let ties = lines.outline.matches.iter().enumerate().filter_map(|(desk, of)| {
            let setup = desk_setup(&of.genesis, registry)?;
            let match_id: turnfold_core::paper::MatchId = setup.match_id.parse().ok()?;
            Some(Self { game: lines.match_of(match_id.as_bytes())?, desk, setup })
        });
        ties.collect()
    }

    /// Returns the index of the match with which both have gone by.
    pub(super) fn last(&self) -> usize {
        self.game.max(self.desk)
    }

    pub(super) const fn has(&self, of: usize) -> bool {
        self.game == of || self.desk == of
    }
}

/// Reads the setup of a desk of this build's version.
fn desk_setup(genesis: &Genesis, registry: &Registry) -> Option<desk::Setup> {
    let is_desk = genesis.ruleset == Desk::NAME && genesis.ruleset_version == Desk::VERSION;
    let rules = is_desk.then(|| registry.find(Desk::NAME)).flatten()?;
    toml::from_str(&rules.write_setup(&genesis.setup).ok()?).ok()
}

/// The records of a match that were shown.
#[derive(Debug, Default)]
pub(super) struct CollectedMatch {
    lines: BTreeMap<usize, KeptLine>,
}

#[derive(Debug, Default)]
struct KeptLine {
    /// Its own, up to the first that cannot be used.
    entries: Vec<Entry>,
    unusable: Option<&'static str>,
}

impl CollectedMatch {
    /// Takes the record of this index of a line.
    pub(super) fn take(&mut self, line: usize, index: u64, record: &BundledRecord<'_>) {
        let line = self.lines.entry(line).or_default();
        match record {
            _ if line.unusable.is_some() || index == 0 => {}
            BundledRecord::LeftOut(_) => line.unusable = Some("records are left out"),
            BundledRecord::Shown(bytes) => match Entry::decode(bytes) {
                Ok(entry) if entry.seq == index => line.entries.push(entry),
                _ => line.unusable = Some("the numbers of entries are in disorder"),
            },
        }
    }

    /// Puts a line together with what it shares with its parents.
    pub(super) fn line(&self, lines: &LineFinder<'_>, (of, line): LineIndex) -> WholeLine<'_> {
        // From the line itself down to `main`: each that holds a part, and how many records of it count.
        let (mut parts, mut next) = (Vec::new(), Some((line, u64::MAX)));
        while let Some((holder, size)) = next {
            parts.push((holder, size));
            let first =
                lines.outline.matches.get(of).and_then(|of| of.lines.get(holder)).map(|line| line.first);
            next =
                first.and_then(|first| Some((lines.holder((of, holder), first.checked_sub(1)?)?.1, first)));
        }
        let mut whole = WholeLine::default();
        for (holder, size) in parts.into_iter().rev() {
            if let (Some(own), None) = (self.lines.get(&holder), whole.unusable) {
                whole.entries.extend(&own.entries);
                whole.unusable = own.unusable;
            }
            whole.cut(size);
        }
        whole
    }
}

/// The entries of a line from the first on, as far as they can be used.
#[derive(Debug, Default)]
pub(super) struct WholeLine<'a> {
    pub(super) entries: Vec<&'a Entry>,
    /// Why there are no more, if there should be.
    pub(super) unusable: Option<&'static str>,
    /// The links from the Genesis on, where they are asked for.
    links: Vec<Digest>,
}

impl WholeLine<'_> {
    /// Computes the links.
    pub(super) fn linked(mut self, genesis: &Genesis) -> Self {
        let linker = Linker::new();
        let mut link = genesis.link();
        self.links.push(link);
        for entry in &self.entries {
            link = linker.link(&link, &entry.encode());
            self.links.push(link);
        }
        self
    }

    /// Returns the link after an entry.
    pub(super) fn link_after(&self, seq: u64) -> Option<Digest> {
        self.links.get(usize::try_from(seq).ok()?).copied()
    }

    /// Keeps so many records.
    fn cut(&mut self, size: u64) {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if self.entries.len() >= size.saturating_sub(1) {
            self.unusable = None;
        }
        self.entries.truncate(size.saturating_sub(1));
    }

    /// Returns the number of the last entry that can be used.
    pub(super) fn head(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Returns the entries behind one up to another.
    pub(super) fn between(&self, from: u64, to: u64) -> &[&Entry] {
        let [from, to] = [from, to].map(|seq| usize::try_from(seq).unwrap_or(usize::MAX));
        self.entries.get(from..to.min(self.entries.len())).unwrap_or_default()
    }
}
