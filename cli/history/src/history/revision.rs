//! Revisions, written `MATCH[@BRANCH][:SEQ]`, and sources, which are revisions or replay files.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use turnfold_core::Malformed;
use turnfold_core::text::number;
use turnfold_store::{BranchName, MatchName};

use crate::ReplayError;
use crate::input::{has_ending, input_name, is_page, is_standard};
use crate::text::printable;

/// A point in a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The match.
    pub match_name: MatchName,
    /// The branch.
    pub branch: BranchName,
    /// The last entry of the history; `None` is the head, 0 the setup.
    pub seq: Option<u64>,
}

impl Revision {
    /// Returns the same branch at another entry.
    #[must_use]
    pub fn at(&self, seq: u64) -> Self {
        Self { seq: Some(seq), ..self.clone() }
    }

    /// Parses the name of a new match. A name ending in `.tfl` or `.html` is refused, because as an argument it would
    /// mean a replay file.
    ///
    /// # Errors
    /// A message that states why the name cannot be used.
    pub fn new_match_name(text: &str) -> Result<MatchName, String> {
        for ending in [".tfl", ".html"] {
            if text.ends_with(ending) {
                return Err(format!(
                    "a name that ends in `{ending}` means a replay file, so no match can have it"
                ));
            }
        }
        text.parse().map_err(|error: Malformed| error.to_string())
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.match_name)?;
        if self.branch != BranchName::main() {
            write!(out, "@{}", self.branch)?;
        }
        match self.seq {
            Some(seq) => write!(out, ":{seq}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Revision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        read_revision(text)
            .map_err(|cause| format!("{cause} in revision `{text}`, which is written MATCH[@BRANCH][:SEQ]"))
    }
}

fn read_revision(text: &str) -> Result<Revision, Malformed> {
    let mut place = text;
    let mut seq = None;
    if let Some((before, after)) = text.split_once(':') {
        place = before;
        seq = Some(number(after)?);
    }
    let mut branch = BranchName::main();
    if let Some((before, after)) = place.split_once('@') {
        place = before;
        branch = after.parse()?;
    }
    Ok(Revision { match_name: place.parse()?, branch, seq })
}

/// Where a history comes from: the store, or a replay file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceName {
    /// A revision of the store.
    Revision(Revision),
    /// A replay file: `-`, or anything with a slash or ending in `.tfl` or `.html`.
    File(FileName),
}

/// A replay file up to one of its entries, written `FILE[:SEQ]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    /// The path; `-` is standard input.
    pub path: PathBuf,
    /// The last entry of the history; `None` is the last of the file, 0 the setup.
    pub seq: Option<u64>,
}

impl SourceName {
    /// Returns the name of a whole replay file.
    #[must_use]
    pub fn of_file(path: &Path) -> Self {
        Self::File(FileName { path: path.into(), seq: None })
    }

    /// Returns the last entry, if the name has one.
    #[must_use]
    pub fn seq(&self) -> Option<u64> {
        match self {
            Self::Revision(Revision { seq, .. }) | Self::File(FileName { seq, .. }) => *seq,
        }
    }

    /// Returns the name of the same history up to another entry; `None` is its last.
    #[must_use]
    pub fn up_to(&self, seq: Option<u64>) -> Self {
        match self {
            Self::Revision(revision) => Self::Revision(Revision { seq, ..revision.clone() }),
            Self::File(file) => Self::File(FileName { seq, ..file.clone() }),
        }
    }

    /// Returns `true` if the name stands for standard input.
    #[must_use]
    pub fn is_standard_input(&self) -> bool {
        matches!(self, Self::File(file) if is_standard(&file.path))
    }
}

impl FromStr for SourceName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if is_file(text) {
            return Ok(Self::of_file(Path::new(text)));
        }
        if let Some((path, seq)) = text.rsplit_once(':')
            && is_file(path)
        {
            let seq =
                number(seq).map_err(|cause| format!("{cause} in `{text}`, which is written FILE[:SEQ]"))?;
            return Ok(Self::File(FileName { path: path.into(), seq: Some(seq) }));
        }
        text.parse()
            .map(Self::Revision)
            .map_err(|cause| format!("{cause}; a replay file ends in `.tfl` or `.html`"))
    }
}

fn is_file(name: &str) -> bool {
    let path = Path::new(name);
    let is_in_folder = path.components().count() > 1;
    let may_have_number = path.file_name().is_some_and(|name| name.to_string_lossy().contains(':'));
    let is_replay = has_ending(path, "tfl");
    is_standard(path) || is_replay || is_page(path) || (is_in_folder && !may_have_number)
}

impl fmt::Display for SourceName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Revision(revision) => revision.fmt(out),
            Self::File(file) => file.fmt(out),
        }
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&input_name(&self.path))?;
        match self.seq {
            Some(seq) => write!(out, ":{seq}"),
            None => Ok(()),
        }
    }
}

impl FileName {
    /// Returns the path of a replay file, quoted for a shell. No verb mistakes the result for a revision or an option.
    #[must_use]
    pub fn shell_path(path: &str) -> String {
        let is_clear = path.parse() == Ok(SourceName::of_file(Path::new(path))) && !path.starts_with('-');
        let path = if is_clear { path.to_string() } else { format!("./{path}") };
        if path.chars().all(|character| character.is_ascii_alphanumeric() || "._-/+@%:,".contains(character))
        {
            return path;
        }
        format!("'{}'", printable(&path.replace('\'', r"'\''")))
    }
}

/// An entry of a history, written `MATCH[@BRANCH]:SEQ` or `FILE:SEQ`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryName {
    /// The history, without an entry's number.
    pub source: SourceName,
    /// The entry's number; 0 is the setup.
    pub seq: u64,
}

impl FromStr for EntryName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let source: SourceName = text.parse()?;
        let Some(seq) = source.seq() else {
            return Err(format!(
                "expected the number of an entry in `{text}`; an entry is written REV:SEQ or FILE:SEQ"
            ));
        };
        Ok(Self { source: source.up_to(None), seq })
    }
}

/// Entries of a history, written `MATCH[@BRANCH][:FIRST..LAST]` or `FILE[:FIRST..LAST]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeName {
    /// The history up to the last entry.
    pub source: SourceName,
    /// The first entry.
    pub first: u64,
}

impl RangeName {
    /// Returns the number of the entry before the last `count` entries of the range, in a history that ends at `to`.
    ///
    /// # Errors
    /// [`ReplayError::NoEntry`] if the range begins after the entry that follows `to`.
    pub fn before_last(&self, count: u64, to: u64) -> Result<u64, ReplayError> {
        let before = self.first.saturating_sub(1);
        if before > to {
            let history = self.source.up_to(None);
            return Err(ReplayError::NoEntry { history, seq: self.first, head: to });
        }
        Ok(before.max(to.saturating_sub(count)))
    }
}

impl From<SourceName> for RangeName {
    fn from(source: SourceName) -> Self {
        Self { source, first: 1 }
    }
}

impl FromStr for RangeName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((source, range)) = text.rsplit_once(':') else {
            return Ok(Self { source: text.parse()?, first: 1 });
        };
        let Some((first, last)) = range.split_once("..") else {
            return Ok(Self { source: text.parse()?, first: 1 });
        };
        let first = range_end(first, text)?.unwrap_or(1);
        let last = range_end(last, text)?;
        if last.is_some_and(|last| last < first) {
            return Err(format!("expected a range that begins before it ends, found `{text}`"));
        }
        let source: SourceName = source.parse()?;
        if source.seq().is_some() {
            return Err(format!("expected one range, found `{text}`"));
        }
        Ok(Self { source: source.up_to(last), first })
    }
}

fn range_end(seq: &str, range: &str) -> Result<Option<u64>, String> {
    if seq.is_empty() {
        return Ok(None);
    }
    number(seq).map(Some).map_err(|cause| {
        format!("{cause} in `{range}`; a range is written FIRST..LAST, and either may be left out")
    })
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
            assert_eq!(FileName::shell_path(path), expected);
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
            ("a:b/c:2", true),
        ] {
            let entry = text.parse::<EntryName>().unwrap();
            assert_eq!(entry.to_string(), text);
            assert_eq!(matches!(entry.source, SourceName::File(_)), is_file, "{text}");
        }
        for text in
            ["duel", "a.tfl", "-", "duel:", "duel:x", "duel:01", "duel:1:2", "Duel:1", ":1", "a.tfl:x"]
        {
            assert!(text.parse::<EntryName>().is_err(), "{text}");
        }
    }

    #[test]
    fn files_may_end_at_an_entry_and_a_hyphen_is_standard_input() {
        for (text, path, seq) in [
            ("-", "-", None),
            ("-:3", "-", Some(3)),
            ("a.tfl", "a.tfl", None),
            ("a.tfl:0", "a.tfl", Some(0)),
            ("games/a", "games/a", None),
            ("games/a:7", "games/a", Some(7)),
            ("a:1/b", "a:1/b", None),
            ("a:1/b.tfl:2", "a:1/b.tfl", Some(2)),
        ] {
            let file = FileName { path: path.into(), seq };
            assert_eq!(text.parse::<SourceName>(), Ok(SourceName::File(file)), "{text}");
        }
        assert_eq!("-:3".parse::<SourceName>().unwrap().to_string(), "<stdin>:3");
    }

    #[test]
    fn ranges_include_both_ends_and_may_be_open() {
        for (text, source, first) in [
            ("duel", "duel", 1),
            ("duel:3", "duel:3", 1),
            ("duel:3..5", "duel:5", 3),
            ("duel@flank:..5", "duel@flank:5", 1),
            ("a.tfl:3..", "a.tfl", 3),
            ("-:3..3", "-:3", 3),
            ("../a.tfl", "../a.tfl", 1),
        ] {
            let range = RangeName { source: source.parse().unwrap(), first };
            assert_eq!(text.parse(), Ok(range), "{text}");
        }
        for text in ["duel:5..3", "duel:x..3", "duel:3...5", "duel:1:2..3", "duel:01..3", ".."] {
            assert!(text.parse::<RangeName>().is_err(), "{text}");
        }
    }
}
