//! The setup of a match, and the matches that it was migrated from.

use serde::{Deserialize, Serialize};
use turnfold_core::decode::DecodeError;
use turnfold_core::{DicePolicy, Digest};

use crate::chain::{self, Linker};
use crate::decode::decode_exactly;
use crate::entry::{Seq, encode};
use crate::names::BranchName;

/// The most bytes of an encoded Genesis.
pub const GENESIS_BYTES_MAX: usize = 128 * 1024;

/// The beginning of a match: ruleset, setup and identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Genesis {
    /// The format of this record and of the entries: [`Genesis::FORMAT`], or [`Genesis::FORMAT_3`] if it has a module
    /// or origins.
    pub format: u16,
    /// The ruleset's name.
    pub ruleset: String,
    /// The ruleset's version.
    pub ruleset_version: u32,
    /// The setup, as the ruleset encodes it.
    pub setup: Vec<u8>,
    /// The source of rolls.
    pub dice: DicePolicy,
    /// The id of this match, which no other match has, not even one with the same name.
    pub match_id: [u8; 16],
    /// The title for people.
    pub title: String,
    /// When it was created, in Unix milliseconds.
    pub created_at_ms: i64,
    /// The digest of the only module that the match can be played with, if it pins one (MD-8).
    pub module: Option<Digest>,
    /// The digest of the module that judged the first appended entries, if the match pins none (MD-9). The store
    /// records it next to the log, so it is not part of these bytes or of the chain.
    pub played_by: Option<Digest>,
    /// The matches that it was migrated from, oldest first. This match began with the entries of the last one.
    pub origins: Vec<Origin>,
}

/// A match that another match continues, under another version of its ruleset. The field order is the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Its id.
    pub match_id: [u8; 16],
    /// The version of its ruleset.
    pub ruleset_version: u32,
    /// The seq of the last entry of its `main`.
    pub head: Seq,
    /// The link after that entry.
    pub link: Digest,
}

/// A Genesis of format 2. The field order is the format.
#[derive(Serialize, Deserialize)]
struct GenesisBytes<'a> {
    format: u16,
    ruleset: &'a str,
    ruleset_version: u32,
    setup: &'a [u8],
    dice: DicePolicy,
    match_id: [u8; 16],
    title: &'a str,
    created_at_ms: i64,
}

/// The fields that format 3 adds after format 2, in the order of the format: the module that the match is played with
/// (MD-8), and the origins.
type Provenance = (Option<Digest>, Vec<Origin>);

impl Genesis {
    /// The format of a match that pins no module and was not migrated.
    pub const FORMAT: u16 = 2;

    /// The format of a match that pins a module, or was migrated.
    pub const FORMAT_3: u16 = 3;

    /// The most origins of a match.
    pub const ORIGINS_MAX: usize = 16;

    /// Returns `true` if this build knows the format.
    #[must_use]
    pub const fn has_known_format(&self) -> bool {
        matches!(self.format, Self::FORMAT | Self::FORMAT_3)
    }

    /// Returns the same Genesis with another pinned module, or without one, and with the format that follows from that
    /// (MD-8).
    #[must_use]
    pub fn pinned(self, module: Option<Digest>) -> Self {
        let is_plain = module.is_none() && self.origins.is_empty();
        Self { format: if is_plain { Self::FORMAT } else { Self::FORMAT_3 }, module, ..self }
    }

    /// Returns the only module that may play the match: the pinned one, or else the recorded one (MD-9).
    #[must_use]
    pub const fn only_module(&self) -> Option<&Digest> {
        if self.module.is_some() { self.module.as_ref() } else { self.played_by.as_ref() }
    }

    /// Returns the link before the first entry.
    #[must_use]
    pub fn link(&self) -> Digest {
        chain::genesis_link(&self.encode())
    }

    /// Returns the Genesis's bytes, as the log has them.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let Self { format, ruleset_version, dice, match_id, created_at_ms, .. } = *self;
        let Self { ruleset, setup, title, .. } = self;
        let mut bytes = encode(&GenesisBytes {
            format,
            ruleset,
            ruleset_version,
            setup,
            dice,
            match_id,
            title,
            created_at_ms,
        });
        if self.format == Self::FORMAT_3 {
            let provenance: Provenance = (self.module, self.origins.clone());
            bytes.extend(encode(&provenance));
        }
        bytes
    }

    /// Reads the bytes of a Genesis.
    ///
    /// # Errors
    /// Returns [`DecodeError`] if they are not exactly what [`encode`](Self::encode) writes.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (front, rest) = match postcard::take_from_bytes::<GenesisBytes<'_>>(bytes) {
            Ok(read) => read,
            Err(error) => return Err(DecodeError::Unreadable(error.to_string())),
        };
        let mut genesis = Self {
            format: front.format,
            ruleset: front.ruleset.to_owned(),
            ruleset_version: front.ruleset_version,
            setup: front.setup.to_vec(),
            dice: front.dice,
            match_id: front.match_id,
            title: front.title.to_owned(),
            created_at_ms: front.created_at_ms,
            module: None,
            played_by: None,
            origins: Vec::new(),
        };
        if genesis.format == Self::FORMAT_3 {
            let (module, origins): Provenance = decode_exactly(rest)?;
            let origins_min = usize::from(module.is_none());
            if !(origins_min..=Self::ORIGINS_MAX).contains(&origins.len()) {
                return Err(DecodeError::Unreadable(format!(
                    "expected {origins_min} to {} origins",
                    Self::ORIGINS_MAX
                )));
            }
            (genesis.module, genesis.origins) = (module, origins);
        } else if !rest.is_empty() {
            return Err(DecodeError::Surplus(rest.len()));
        }
        if genesis.encode() == bytes { Ok(genesis) } else { Err(DecodeError::NotCanonical) }
    }

    /// Returns this match as an origin. `head` is the last entry of its `main`, and `link` the link after it.
    #[must_use]
    pub const fn origin(&self, head: Seq, link: Digest) -> Origin {
        Origin { match_id: self.match_id, ruleset_version: self.ruleset_version, head, link }
    }

    /// Returns the Genesis of the match that continues this one under another version of its ruleset. `others` are its
    /// other branches with their last links. The id is derived from all of these, so a repeated migration gives the
    /// same id.
    #[must_use]
    pub fn migrated(&self, ruleset_version: u32, origin: Origin, others: &[(BranchName, Digest)]) -> Self {
        let origins = [self.origins.as_slice(), &[origin]].concat();
        let format = Self::FORMAT_3;
        let match_id = [0; 16];
        let played_by = None;
        let mut migrated = Self { format, ruleset_version, match_id, played_by, origins, ..self.clone() };
        let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 migrated match");
        hasher.update(&migrated.encode());
        for (branch, link) in others {
            hasher.update(&encode(&(branch.as_str(), link)));
        }
        hasher.finalize_xof().fill(&mut migrated.match_id);
        migrated
    }

    /// Returns the Genesis of each origin, in order. They differ from this one only in id, version, origins and format.
    fn beginnings(&self) -> impl Iterator<Item = (Self, &Origin)> {
        self.origins.iter().enumerate().map(|(index, origin)| {
            let origins = self.origins.get(..index).unwrap_or_default().to_vec();
            let Origin { match_id, ruleset_version, .. } = *origin;
            let beginning = Self { ruleset_version, match_id, origins, ..self.clone() };
            (beginning.pinned(self.module), origin)
        })
    }
}

/// Checks that the `main` of a match begins with the entries of its origins. Together with the Genesis of an origin,
/// they must give the origin's link. The origins themselves are not needed.
#[derive(Clone, Debug)]
pub struct OriginCheck {
    linker: Linker,
    /// For each origin, the link after the entries so far.
    chains: Vec<(Digest, Origin)>,
    seq: Seq,
}

impl OriginCheck {
    /// Begins a check at the setup.
    #[must_use]
    pub fn of(genesis: &Genesis) -> Self {
        let chains = genesis.beginnings().map(|(beginning, origin)| (beginning.link(), *origin)).collect();
        Self { linker: Linker::new(), chains, seq: 0 }
    }

    /// Returns `true` if the match has no origins.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.chains.is_empty()
    }

    /// Adds the bytes of the next entry of `main`.
    pub fn take(&mut self, entry: &[u8]) {
        self.seq += 1;
        for (link, _) in self.chains.iter_mut().filter(|(_, origin)| self.seq <= origin.head) {
            *link = self.linker.link(link, entry);
        }
    }

    /// Returns the first origin that did not have these entries.
    #[must_use]
    pub fn first_wrong(&self) -> Option<Origin> {
        for (link, origin) in &self.chains {
            if self.seq < origin.head || *link != origin.link {
                return Some(*origin);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn created() -> Genesis {
        Genesis {
            format: Genesis::FORMAT,
            ruleset: "nim".into(),
            ruleset_version: 1,
            setup: vec![3, 4],
            dice: DicePolicy::Recorded,
            match_id: [7; 16],
            title: "t".into(),
            created_at_ms: -1,
            module: None,
            played_by: None,
            origins: Vec::new(),
        }
    }

    /// Returns the link after these entries.
    fn after(genesis: &Genesis, entries: &[&[u8]]) -> Digest {
        entries.iter().fold(genesis.link(), |link, entry| Linker::new().link(&link, entry))
    }

    /// Returns the match migrated after these entries of `main`.
    fn migrated(genesis: &Genesis, version: u32, entries: &[&[u8]]) -> Genesis {
        let origin = genesis.origin(entries.len() as u64, after(genesis, entries));
        genesis.migrated(version, origin, &[])
    }

    #[test]
    fn a_genesis_of_format_2_has_the_bytes_that_it_always_had() {
        let bytes = [&[2, 3][..], b"nim", &[1, 2, 3, 4, 0], &[7; 16], &[1], b"t", &[1]].concat();
        assert_eq!(created().encode(), bytes);
        assert_eq!(Genesis::decode(&bytes), Ok(created()));
        assert_eq!(Genesis::decode(&[&bytes[..], &[0]].concat()), Err(DecodeError::Surplus(1)));
        let overlong = [&[0x82, 0][..], &bytes[1..]].concat();
        assert_eq!(Genesis::decode(&overlong), Err(DecodeError::NotCanonical));
    }

    /// MD-8: with a pin the format is 3, with or without origins. Without a pin the bytes are the same as before pins
    /// existed.
    #[test]
    fn a_pinned_genesis_reads_back_and_has_another_link() {
        let pinned = created().pinned(Some(Digest::new([9; 32])));
        let bytes = pinned.encode();
        let front = [&[3][..], &created().encode()[1..]].concat();
        assert_eq!(bytes, [&front[..], &[1], &[9; 32], &[0]].concat());
        assert_eq!(Genesis::decode(&bytes), Ok(pinned.clone()));
        assert_ne!(pinned.link(), created().link());
        assert_eq!(pinned.pinned(None), created());
        let both = migrated(&created(), 2, &[b"one"]).pinned(Some(Digest::new([9; 32])));
        assert_eq!(Genesis::decode(&both.encode()), Ok(both.clone()));
        assert_eq!(both.pinned(None), migrated(&created(), 2, &[b"one"]));
    }

    /// MD-8: format 3 is format 2 followed by an optional pin and the origins.
    #[test]
    fn a_migrated_genesis_reads_back_and_only_in_its_one_encoding() {
        let migrated = migrated(&created(), 2, &[b"one"]);
        let bytes = migrated.encode();
        assert_eq!(Genesis::decode(&bytes), Ok(migrated));
        let (front, end) = bytes.split_at(created().encode().len());
        assert_eq!(end[..2], [0, 1], "no module, one origin");
        for wrong in [[front, &[0, 0]].concat(), front.to_vec()] {
            assert!(matches!(Genesis::decode(&wrong), Err(DecodeError::Unreadable(_))), "{wrong:?}");
        }
        assert_eq!(Genesis::decode(&[&bytes[..], &[0]].concat()), Err(DecodeError::Surplus(1)));
        let overlong = [&[0x83, 0][..], &bytes[1..]].concat();
        assert_eq!(Genesis::decode(&overlong), Err(DecodeError::NotCanonical));
    }

    #[test]
    fn the_id_follows_from_every_branch_and_the_version() {
        let id_of = |version, main: &[&[u8]], flank: &[&[u8]]| {
            let origin = created().origin(main.len() as u64, after(&created(), main));
            let flank = ("flank".parse().unwrap(), after(&created(), flank));
            created().migrated(version, origin, &[flank]).match_id
        };
        let id = id_of(2, &[b"one"], &[b"two"]);
        assert_eq!(id, id_of(2, &[b"one"], &[b"two"]));
        for other in
            [id_of(3, &[b"one"], &[b"two"]), id_of(2, &[b"two"], &[b"two"]), id_of(2, &[b"one"], &[b"one"])]
        {
            assert_ne!(id, other);
        }
    }

    #[test]
    fn origins_are_proven_by_the_entries_alone() {
        let entries: [&[u8]; 3] = [b"one", b"two", b"three"];
        let third = migrated(&migrated(&created(), 2, &entries[..1]), 3, &entries[..2]);
        let wrong = |genesis: &Genesis, entries: &[&[u8]]| {
            let mut check = OriginCheck::of(genesis);
            for entry in entries {
                check.take(entry);
            }
            check.first_wrong().map(|origin| origin.ruleset_version)
        };
        assert_eq!(wrong(&third, &entries), None);
        assert_eq!(wrong(&third, &entries[..1]), Some(2), "an entry of the origin is missing");
        assert_eq!(wrong(&third, &[b"one", b"2"]), Some(2));
        assert_eq!(wrong(&third, &[b"1", b"two"]), Some(1));
        assert_eq!(wrong(&Genesis { title: "u".into(), ..third.clone() }, &entries), Some(1));
        assert_eq!(wrong(&created(), &[]), None);
    }
}
