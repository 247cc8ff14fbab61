//! Revisions, written `MATCH[@BRANCH][:SEQ]`, and sources, which are revisions or replay files.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use turnfold_core::text::number;
use turnfold_store::{BranchName, MatchName};

use crate::render::printable;

/// A point in a line of play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Revision {
    pub(crate) match_name: MatchName,
    pub(crate) branch: BranchName,
    /// The last entry that counts; `None` is the head, 0 the setup.
    pub(crate) seq: Option<u64>,
}

impl Revision {
    /// The same line of play, at a certain entry.
    pub(crate) fn at(&self, seq: u64) -> Self {
        Self { seq: Some(seq), ..self.clone() }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.match_name)?;
        if self.branch != BranchName::main() {
            write!(out, "@{}", self.branch)?;
        }
        self.seq.map_or(Ok(()), |seq| write!(out, ":{seq}"))
    }
}

impl FromStr for Revision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            |what: &str| format!("{what} in revision `{text}`, which is written MATCH[@BRANCH][:SEQ]");
        let (line, seq) = match text.split_once(':') {
            Some((line, seq)) => (line, Some(number(seq).map_err(|cause| expected(&cause.to_string()))?)),
            None => (text, None),
        };
        let (match_name, branch) = match line.split_once('@') {
            Some((match_name, branch)) => {
                (match_name, branch.parse().map_err(|cause| expected(&format!("{cause}")))?)
            }
            None => (line, BranchName::main()),
        };
        let match_name = match_name.parse().map_err(|cause| expected(&format!("{cause}")))?;
        Ok(Self { match_name, branch, seq })
    }
}

/// Where a line of play comes from: the store, or a replay file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SourceName {
    /// A revision of the store.
    Revision(Revision),
    /// A replay file: anything with a slash or ending in `.tfl`.
    File(PathBuf),
}

impl FromStr for SourceName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = Path::new(text);
        if path.components().count() > 1 || path.extension().is_some_and(|extension| extension == "tfl") {
            return Ok(Self::File(path.into()));
        }
        text.parse().map(Self::Revision).map_err(|cause| format!("{cause}; a replay file ends in `.tfl`"))
    }
}

impl fmt::Display for SourceName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Revision(revision) => revision.fmt(out),
            Self::File(path) => path.display().fmt(out),
        }
    }
}

/// Writes the path of a replay file as a shell takes it, and such that no verb takes it for a revision or an option.
pub(crate) fn shell_path(path: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "._-/+@%:,".contains(character);
    let is_clear = matches!(path.parse(), Ok(SourceName::File(_))) && !path.starts_with('-');
    let path = if is_clear { path.to_string() } else { format!("./{path}") };
    if path.chars().all(is_plain) {
        return path;
    }
    format!("'{}'", printable(&path.replace('\'', r"'\''")))
}

/// An entry of a line of play, written `MATCH[@BRANCH]:SEQ` or `FILE:SEQ`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntryName {
    /// The whole line of play.
    pub(crate) source: SourceName,
    /// The entry's number; 0 is the setup.
    pub(crate) seq: u64,
}

impl FromStr for EntryName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = |what: &str| format!("{what} in `{text}`; an entry is written REV:SEQ or FILE:SEQ");
        let (source, seq) =
            text.rsplit_once(':').ok_or_else(|| expected("expected the number of an entry"))?;
        let seq = number(seq).map_err(|cause| expected(&cause.to_string()))?;
        match source.parse()? {
            SourceName::Revision(Revision { seq: Some(_), .. }) => Err(expected("expected one number")),
            source => Ok(Self { source, seq }),
        }
    }
}

impl fmt::Display for EntryName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.source, self.seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_as_a_shell_takes_them() {
        for (path, expected) in [
            ("a.tfl", "a.tfl"),
            ("replays/a.tfl", "replays/a.tfl"),
            ("script", "./script"),
            ("-a.tfl", "./-a.tfl"),
            ("my game.tfl", "'my game.tfl'"),
            ("it's.tfl", r"'it'\''s.tfl'"),
            ("$(x).tfl", "'$(x).tfl'"),
        ] {
            assert_eq!(shell_path(path), expected);
        }
    }

    #[test]
    fn revisions_read_back_as_they_are_written() {
        for text in ["duel", "duel:0", "duel@flank", "duel@flank:12", "a.b-c_d"] {
            assert_eq!(text.parse::<Revision>().map(|revision| revision.to_string()), Ok(text.into()));
        }
        assert_eq!(
            "duel@main:3".parse::<Revision>().map(|revision| revision.to_string()),
            Ok("duel:3".into())
        );
        for text in
            ["", "Duel", "duel@", "duel:", "duel:x", "duel:-1", "duel:01", "@x", "duel@a@b", "duel:1:2"]
        {
            assert!(text.parse::<Revision>().is_err(), "{text}");
        }
    }

    #[test]
    fn entries_of_matches_and_files_read_back_as_they_are_written() {
        for (text, is_file) in [
            ("duel:1", false),
            ("duel@flank:12", false),
            ("a.tfl:3", true),
            ("games/a:7", true),
            ("x:y.tfl:2", true),
        ] {
            let entry = text.parse::<EntryName>().unwrap();
            assert_eq!(entry.to_string(), text);
            assert_eq!(matches!(entry.source, SourceName::File(_)), is_file, "{text}");
        }
        for text in ["duel", "a.tfl", "duel:", "duel:x", "duel:01", "duel:1:2", "Duel:1", ":1"] {
            assert!(text.parse::<EntryName>().is_err(), "{text}");
        }
    }
}
