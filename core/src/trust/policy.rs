//! Policies: whose signatures count, and how many cosignatures are enough (TR-17).

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::key::{BadSignature, KeyKind, VerifierKey};
use super::note::{SignatureLine, SignedNote};
use crate::digest::Digest;
use crate::text::number;

/// The most logs, the most witnesses, the most groups and the most modules (TR-17).
const EACH_MAX: usize = 32;

/// An unusable line of a policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct PolicyError {
    /// The line's number, from 1; the number after the last line if something is missing.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

/// The cosignatures that are required.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Quorum {
    /// Nothing: the line `quorum none`.
    None,
    Witness(usize),
    /// At least this number of the members.
    Group(usize, Vec<Quorum>),
}

/// The logs, the witnesses and the quorum of a tlog-policy file, and the modules that it accepts, which other tools do not
/// know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustPolicy {
    logs: Vec<VerifierKey>,
    witnesses: Vec<VerifierKey>,
    quorum: Quorum,
    modules: BTreeSet<Digest>,
}

/// The cosignatures of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cosigned {
    /// Whether they are enough.
    pub is_met: bool,
    /// The times at which witnesses of the policy cosigned, in Unix seconds.
    pub times: Vec<u64>,
}

impl TrustPolicy {
    /// Reads a policy strictly.
    ///
    /// # Errors
    /// The first unusable line.
    pub fn read(text: &str) -> Result<Self, PolicyError> {
        let mut reading = Reading::default();
        let mut last = 0;
        let mut lines: Vec<_> = text.split('\n').collect();
        let ends = lines.pop().is_some_and(str::is_empty);
        for (index, line) in lines.into_iter().enumerate() {
            last = index + 1;
            reading.take(line).map_err(|reason| PolicyError { line: last, reason })?;
        }
        let missing = |reason: &str| PolicyError { line: last + 1, reason: reason.into() };
        if !ends {
            return Err(missing("expected a line feed at its end"));
        }
        let Reading { logs, witnesses, quorum, modules, .. } = reading;
        let quorum = quorum.ok_or_else(|| missing("expected a line `quorum NAME` or `quorum none`"))?;
        Ok(Self { logs, witnesses, quorum, modules })
    }

    /// Returns the keys of the policy's logs that stand for this origin, under its name.
    pub fn keys_of(&self, origin: &str) -> impl Iterator<Item = VerifierKey> {
        self.logs.iter().filter(move |key| key.stands_for(origin)).map(move |key| key.for_origin(origin))
    }

    /// Returns `true` if a key of the policy signed the note.
    ///
    /// # Errors
    /// [`BadSignature`] if a line names such a key, but is not by it.
    pub fn is_signed(&self, note: &SignedNote, origin: &str) -> Result<bool, BadSignature> {
        let mut is_signed = false;
        for key in self.keys_of(origin) {
            // A bad signature by a later key counts, too, so the first good one does not end the loop.
            is_signed |= note.is_signed_by(&key)?;
        }
        Ok(is_signed)
    }

    /// Returns `true` if the policy requires cosignatures.
    #[must_use]
    pub fn has_quorum(&self) -> bool {
        self.quorum != Quorum::None
    }

    /// Returns the witness of the policy that a line names.
    #[must_use]
    pub fn witness_of(&self, line: &SignatureLine) -> Option<&VerifierKey> {
        self.witnesses.iter().find(|witness| line.is_of(witness))
    }

    /// Returns the digests of the modules whose rules the policy accepts, even if only a bundle brings them.
    #[must_use]
    pub const fn modules(&self) -> &BTreeSet<Digest> {
        &self.modules
    }

    /// Finds the cosignatures of a checkpoint. A witness counts once.
    ///
    /// # Errors
    /// [`BadSignature`] if a line names a witness of the policy, but is not by it.
    pub fn cosigned(&self, note: &SignedNote) -> Result<Cosigned, BadSignature> {
        let mut times = Vec::new();
        for witness in &self.witnesses {
            times.push(note.cosigned_by(witness)?);
        }
        Ok(Cosigned { is_met: self.quorum.is_met(&times), times: times.into_iter().flatten().collect() })
    }
}

impl Quorum {
    fn is_met(&self, times: &[Option<u64>]) -> bool {
        match self {
            Self::None => true,
            Self::Witness(index) => times.get(*index).is_some_and(Option::is_some),
            Self::Group(count, members) => {
                members.iter().filter(|member| member.is_met(times)).count() >= *count
            }
        }
    }
}

/// The content of the lines so far.
#[derive(Default)]
struct Reading {
    logs: Vec<VerifierKey>,
    witnesses: Vec<VerifierKey>,
    groups: usize,
    /// The meaning of each name.
    names: BTreeMap<String, Quorum>,
    /// The names that are members of a group.
    members: BTreeSet<String>,
    quorum: Option<Quorum>,
    modules: BTreeSet<Digest>,
}

impl Reading {
    fn take(&mut self, line: &str) -> Result<(), String> {
        if let Some(bad) = line.chars().find(|character| character.is_ascii_control() && *character != '\t') {
            return Err(format!("expected no control characters, found `{}`", bad.escape_debug()));
        }
        let words: Vec<_> = line.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
        match words.as_slice() {
            [] => Ok(()),
            [first, ..] if first.starts_with('#') => Ok(()),
            ["log", key] | ["log", key, _] => add_key(&mut self.logs, key, KeyKind::Signer, "log"),
            ["witness", name, key] | ["witness", name, key, _] => {
                let index = self.witnesses.len();
                add_key(&mut self.witnesses, key, KeyKind::Witness, "witness")?;
                self.define(name, Quorum::Witness(index))
            }
            ["group", name, count, members @ ..] => self.group(name, count, members),
            ["quorum", name] => self.set_quorum(name),
            ["module", digest] => self.accept(digest),
            _ => Err(format!(
                "expected `log KEY`, `witness NAME KEY`, `group NAME COUNT NAME…`, `quorum NAME` or `module DIGEST`, found `{}`",
                line.escape_debug()
            )),
        }
    }

    fn define(&mut self, name: &str, quorum: Quorum) -> Result<(), String> {
        if name == "none" || self.names.contains_key(name) {
            return Err(format!("the name `{name}` is taken"));
        }
        self.names.insert(name.to_owned(), quorum);
        Ok(())
    }

    fn group(&mut self, name: &str, count: &str, members: &[&str]) -> Result<(), String> {
        self.groups += 1;
        if self.groups > EACH_MAX {
            return Err(format!("expected at most {EACH_MAX} groups"));
        }
        let count = match count {
            "any" => 1,
            "all" => members.len(),
            count => number::<usize>(count).map_err(|error| error.to_string())?,
        };
        if !(1..=members.len()).contains(&count) {
            return Err(format!("expected 1 to {} members to be asked for, found {count}", members.len()));
        }
        let mut group = Vec::new();
        for member in members {
            group.push(self.names.get(*member).ok_or_else(|| unknown(member))?.clone());
            if !self.members.insert((*member).to_owned()) {
                return Err(format!("`{member}` is a member of a group already"));
            }
        }
        self.define(name, Quorum::Group(count, group))
    }

    fn accept(&mut self, digest: &str) -> Result<(), String> {
        let digest = digest.parse::<Digest>().map_err(|error| error.to_string())?;
        if self.modules.len() == EACH_MAX {
            return Err(format!("expected at most {EACH_MAX} lines `module`"));
        }
        if !self.modules.insert(digest) {
            return Err(format!("the module {digest} is listed twice"));
        }
        Ok(())
    }

    fn set_quorum(&mut self, name: &str) -> Result<(), String> {
        if self.quorum.is_some() {
            return Err("expected one line `quorum`, found a second".into());
        }
        self.quorum = Some(match self.names.get(name) {
            _ if name == "none" => Quorum::None,
            Some(quorum) => quorum.clone(),
            None => return Err(unknown(name)),
        });
        Ok(())
    }
}

fn unknown(name: &str) -> String {
    format!("`{name}` is not defined above this line")
}

/// Adds a key. The same key under another name is refused, too.
fn add_key(keys: &mut Vec<VerifierKey>, text: &str, kind: KeyKind, what: &str) -> Result<(), String> {
    let key: VerifierKey = text.parse().map_err(|error: crate::Malformed| error.to_string())?;
    if key.kind() != kind {
        return Err(format!("the key of `{}` is of another type than that of a {what}", key.name()));
    }
    if keys.iter().any(|known| known.is_same_key(&key)) {
        return Err(format!("the key of `{}` is listed twice", key.name()));
    }
    if keys.len() == EACH_MAX {
        return Err(format!("expected at most {EACH_MAX} lines `{what}`"));
    }
    keys.push(key);
    Ok(())
}
