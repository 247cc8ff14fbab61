//! The WATERMARK file: how much the store held, recorded outside sled.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use turnfold_core::Digest;

use super::private::{self, sync_dir};
use super::regular::read_at_most;
use crate::local::backend::BackendError;
use crate::local::layout::watermark::{EntryRef, Watermark};

const LINE_BYTES: usize = 512;
const TEXT_BYTES: usize = LINE_BYTES - CHECK_DIGITS - 2;
const CHECK_DIGITS: usize = 20;

/// The file with its two lines, of which the older one is overwritten.
pub(crate) struct WatermarkFile {
    path: PathBuf,
    older_line: Mutex<usize>,
}

impl WatermarkFile {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path, older_line: Mutex::new(0) }
    }

    /// Reads what each line says, `None` for one that is damaged; or `None` when there is no file.
    pub(crate) fn lines(&self) -> Result<Option<[Option<Watermark>; 2]>, BackendError> {
        let bytes = match read_at_most(&self.path, 2 * LINE_BYTES as u64 + 1) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed("read", error)),
        };
        if bytes.len() != 2 * LINE_BYTES {
            return Ok(Some([None, None]));
        }
        Ok(Some([0, LINE_BYTES].map(|at| bytes.get(at..at + LINE_BYTES).and_then(parse))))
    }

    /// Reads the newer of the valid lines, or `None` when there is no file.
    pub(crate) fn read(&self) -> Result<Option<Watermark>, BackendError> {
        let Some([first, second]) = self.lines()? else { return Ok(None) };
        let newest = match (first, second) {
            (Some(first), Some(second)) if first.commits > second.commits => Some((first, 1)),
            (_, Some(second)) => Some((second, 0)),
            (Some(first), None) => Some((first, 1)),
            (None, None) => None,
        };
        let Some((watermark, older)) = newest else {
            let reason = format!("`{}` has no readable watermark", self.path.display());
            return Err(BackendError::Damaged(reason));
        };
        *self.older_line.lock().unwrap_or_else(PoisonError::into_inner) = older;
        Ok(Some(watermark))
    }

    /// Returns what is wrong with the file although it can be read: one of its lines is damaged.
    pub(crate) fn damage(&self) -> Result<Option<String>, BackendError> {
        Ok(self.lines()?.and_then(|lines| damaged_line(&lines)))
    }

    /// Writes the file anew, with the same watermark in both lines.
    pub(crate) fn create(&self, watermark: &Watermark) -> Result<(), BackendError> {
        let line = write(watermark);
        let created = private::options().write(true).create(true).truncate(true).open(&self.path);
        let created = created.and_then(|mut file| {
            file.write_all(&[line.as_bytes(), line.as_bytes()].concat())?;
            file.sync_all()
        });
        created.map_err(|error| self.failed("write", error))?;
        let dir = self.path.parent().unwrap_or(Path::new("."));
        sync_dir(dir).map_err(|error| self.failed("write", error))
    }

    /// Overwrites the older line, durably.
    pub(crate) fn replace(&self, watermark: &Watermark) -> Result<(), BackendError> {
        let mut older = self.older_line.lock().unwrap_or_else(PoisonError::into_inner);
        let written = File::options().write(true).open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start((*older * LINE_BYTES) as u64))?;
            file.write_all(write(watermark).as_bytes())?;
            file.sync_data()
        });
        written.map_err(|error| self.failed("write", error))?;
        *older = 1 - *older;
        Ok(())
    }

    pub(crate) fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Returns `true` if both lines are there, whatever they say; the file is shorter when its creation was cut short.
    pub(crate) fn is_whole(&self) -> bool {
        self.path.metadata().is_ok_and(|found| found.len() == 2 * LINE_BYTES as u64)
    }

    /// Adds to damage that keeps everything from being read what the file still knows.
    pub(crate) fn explain(&self, error: BackendError) -> BackendError {
        let last = self.read().ok().flatten().and_then(|watermark| watermark.last);
        match (error, last) {
            (BackendError::Damaged(reason), Some(EntryRef { match_name, branch, seq })) => {
                let held = format!(
                    "it held match `{match_name}`, branch `{branch}`, up to entry {seq}, and maybe more"
                );
                BackendError::Damaged(format!("{reason}; {held}"))
            }
            (error, _) => error,
        }
    }

    fn failed(&self, action: &str, source: io::Error) -> BackendError {
        BackendError::io(action, &self.path, source)
    }
}

/// Says which line is damaged, when the other one is not.
pub(crate) fn damaged_line(lines: &[Option<Watermark>; 2]) -> Option<String> {
    let line = match lines {
        [None, Some(_)] => 1,
        [Some(_), None] => 2,
        _ => return None,
    };
    Some(format!(
        "line {line} of the file `WATERMARK` is damaged; whether the newest entries are there is not known"
    ))
}

fn write(watermark: &Watermark) -> String {
    let Watermark { commits, entries, digest, last } = watermark;
    let mut text = format!("{commits} {entries} {digest}");
    if let Some(EntryRef { match_name, branch, seq }) = last {
        let _ = write!(text, " {match_name} {branch} {seq}");
    }
    let check = check(&text);
    format!("{text:TEXT_BYTES$} {check}\n")
}

fn parse(line: &[u8]) -> Option<Watermark> {
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.get(..TEXT_BYTES)?.trim_end().split(' ');
    let (commits, entries) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let digest = words.next()?.parse::<Digest>().ok()?;
    let last = match words.next() {
        Some(match_name) => Some(EntryRef {
            match_name: match_name.parse().ok()?,
            branch: words.next()?.parse().ok()?,
            seq: words.next()?.parse().ok()?,
        }),
        None => None,
    };
    let watermark = Watermark { commits, entries, digest, last };
    (write(&watermark) == line).then_some(watermark)
}

fn check(text: &str) -> String {
    let hash = Digest::new(blake3::derive_key("turnfold v1 watermark", text.as_bytes()));
    format!("{hash:.CHECK_DIGITS$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(commits: u64) -> Watermark {
        let (match_name, branch) = ("m".parse().unwrap(), "main".parse().unwrap());
        let last = (commits > 0).then_some(EntryRef { match_name, branch, seq: 5 * commits });
        Watermark { commits, entries: 3 * commits, digest: Digest::new([9; 32]), last }
    }

    #[test]
    fn a_torn_write_leaves_the_watermark_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("WATERMARK");
        let file = WatermarkFile::at(path.clone());
        assert_eq!(file.read().unwrap(), None);
        file.create(&mark(0)).unwrap();
        for commits in 1..5 {
            let before = std::fs::read(&path).unwrap();
            file.replace(&mark(commits)).unwrap();
            let after = std::fs::read(&path).unwrap();
            assert_eq!(file.read().unwrap(), Some(mark(commits)));
            for place in (0..after.len()).filter(|&place| before[place] != after[place]) {
                let torn: Vec<_> = after[..place].iter().chain(&before[place..]).copied().collect();
                std::fs::write(&path, torn).unwrap();
                let found = WatermarkFile::at(path.clone()).read().unwrap();
                assert!(found == Some(mark(commits - 1)), "{found:?}");
            }
            std::fs::write(&path, &after).unwrap();
        }
    }

    #[test]
    fn no_flipped_byte_makes_another_watermark() {
        let line = write(&mark(7));
        assert_eq!(line.len(), LINE_BYTES);
        assert_eq!(parse(line.as_bytes()), Some(mark(7)));
        for place in 0..LINE_BYTES {
            let mut flipped = line.clone().into_bytes();
            flipped[place] ^= 1;
            assert_eq!(parse(&flipped), None, "byte {place}");
        }
    }
}
