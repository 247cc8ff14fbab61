//! Opening sled so that it cannot do harm.
//!
//! sled repairs what it opens. So the reader of its log first finds everything sound and writes the snapshot that sled
//! would write; then sled finds nothing to recover. Whatever sled can write to while it opens is kept in memory, and
//! written back unless it opened, and left alone what counts.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::closing::{OpenDb, lock_released};
use super::journal::{self, Loaded};
use super::log::{LogReader, Loose, SEGMENT_BYTES};
use super::raw;
use crate::local::backend::BackendError;
use crate::local::dir::private::{self, sync_dir};
use crate::local::layout::key;

/// The most files with what lay behind the tip that are kept.
const TORN_MAX: usize = 4;

/// How the names of unfinished files end, as sled has it.
const DRAFT: &str = "generating";

/// A database whose files were found sound, before sled is let in.
pub(super) struct SoundFiles {
    log: Arc<LogReader>,
    journal: Loaded,
    kept: Kept,
}

impl SoundFiles {
    /// Reads sled's files, and changes nothing.
    pub(super) fn read(sled_dir: &Path) -> Result<Self, BackendError> {
        let log = LogReader::open(sled_dir)?;
        let kept = Kept::of(sled_dir, &log)?;
        let journal = Loaded::read(sled_dir, log.get(key::STORE)?.as_deref())?.require_sound()?;
        log.require_all_commits(&kept.loose, journal.commits)?;
        Ok(Self { log: Arc::new(log), journal, kept })
    }

    /// Returns the reader that found them sound.
    pub(super) const fn log(&self) -> &Arc<LogReader> {
        &self.log
    }

    /// Returns what the journal holds beside it.
    pub(super) const fn journal(&self) -> &Loaded {
        &self.journal
    }

    /// Opens the database by `open`. After an error every file has the bytes that it had.
    pub(super) fn open(
        self,
        open: impl FnOnce() -> Result<sled::Db, BackendError>,
    ) -> Result<OpenDb, BackendError> {
        let Self { log, journal, kept } = self;
        let opened = kept.prepare(&log, &journal).and_then(|()| {
            let db = OpenDb::new(open()?);
            kept.require_unharmed(&log, &db)?;
            Ok(db)
        });
        match opened {
            Ok(db) => {
                kept.remove_old_snapshots(&log);
                Ok(db)
            }
            Err(error) => Err(kept.put_back().err().unwrap_or(error)),
        }
    }
}

/// What sled may write to or remove while it opens.
struct Kept {
    sled_dir: PathBuf,
    /// The length of its file.
    db_bytes: u64,
    loose: Vec<Loose>,
    /// The settings and the snapshots, finished or not.
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Kept {
    fn of(sled_dir: &Path, log: &LogReader) -> Result<Self, BackendError> {
        let mut files = Vec::new();
        for path in own_files(sled_dir)? {
            let bytes = fs::read(&path).map_err(|source| BackendError::io("read", &path, source))?;
            files.push((path, bytes));
        }
        Ok(Self { sled_dir: sled_dir.to_owned(), db_bytes: log.file_bytes(), loose: log.loose()?, files })
    }

    fn db(&self) -> PathBuf {
        self.sled_dir.join("db")
    }

    /// Saves what lies behind the tip, removes unfinished snapshots, and writes the one that sled would write.
    ///
    /// sled takes any file that begins with `snap.` for a snapshot, also one that it had not finished when its process
    /// was killed.
    fn prepare(&self, log: &LogReader, journal: &Loaded) -> Result<(), BackendError> {
        let dir = raw::torn_dir(&self.db());
        let not_saved = |source| BackendError::io("write to", &dir, source);
        let mut torn = Vec::new();
        for loose in &self.loose {
            if log.commits_behind(std::slice::from_ref(loose))?.is_some() {
                torn.push(loose);
            }
        }
        if !torn.is_empty() {
            save_torn(&dir, log.tip(), &torn).map_err(not_saved)?;
        }
        if let Some(rest) = journal.torn() {
            save_torn_file(&dir, journal::FILE, rest).map_err(not_saved)?;
        }
        let unfinished =
            self.files.iter().filter(|(path, _)| path.extension().is_some_and(|end| end == DRAFT));
        for (path, _) in unfinished {
            tracing::info!(path = %path.display(), "removing a snapshot that was being written when a process ended");
            fs::remove_file(path).map_err(|source| BackendError::io("remove", path, source))?;
        }
        write_next_snapshot(&self.sled_dir, log)
    }

    /// Requires sled to have found what we found: after a read error it takes the log for shorter than it is.
    fn require_unharmed(&self, log: &LogReader, db: &sled::Db) -> Result<(), BackendError> {
        let path = self.db();
        let changed =
            || BackendError::Damaged(format!("sled changed `{}` while it opened it", path.display()));
        let mut file = File::open(&path).map_err(|source| BackendError::io("open", &path, source))?;
        for Loose { offset, bytes, sound, .. } in &self.loose {
            let mut found = vec![0; *sound];
            let read = file.seek(SeekFrom::Start(*offset)).and_then(|_| file.read_exact(&mut found));
            read.map_err(|source| BackendError::io("read", &path, source))?;
            if bytes.get(..*sound).is_some_and(|before| before != found) {
                return Err(changed());
            }
        }
        let stored = super::guard::guarded("read", || db.get(key::STORE))?;
        if stored.as_deref() == log.stored(key::STORE)?.as_deref() { Ok(()) } else { Err(changed()) }
    }

    /// Removes the snapshots before the one that counts now.
    fn remove_old_snapshots(&self, log: &LogReader) {
        let newest = self.sled_dir.join(log.snapshot_name());
        let old =
            |path: &Path| path.file_name() < newest.file_name() && path.file_name().is_some_and(is_snapshot);
        for (path, _) in self.files.iter().filter(|(path, _)| newest.exists() && old(path)) {
            if let Err(error) = fs::remove_file(path) {
                tracing::debug!(%error, path = %path.display(), "an old snapshot cannot be removed");
            }
        }
    }

    /// Restores the bytes of every file, and removes snapshots that were not there.
    fn put_back(&self) -> Result<(), BackendError> {
        let path = self.db();
        let put = || failed_to_put_back(&path);
        self.put_back_db().map_err(put())?;
        for path in own_files(&self.sled_dir)? {
            if !self.files.iter().any(|(kept, _)| *kept == path) {
                fs::remove_file(&path).map_err(failed_to_put_back(&path))?;
            }
        }
        for (path, bytes) in &self.files {
            if fs::read(path).is_ok_and(|found| found == *bytes) {
                continue;
            }
            write_whole(path, &path.with_added_extension(DRAFT), bytes).map_err(failed_to_put_back(path))?;
        }
        sync_dir(&self.sled_dir).map_err(failed_to_put_back(&self.sled_dir))
    }

    fn put_back_db(&self) -> io::Result<()> {
        let mut file = File::options().read(true).write(true).open(self.db())?;
        // Where the file cannot be locked, sled could not lock it either.
        let _ = lock_released(&file);
        let mut any = file.metadata()?.len() != self.db_bytes;
        file.set_len(self.db_bytes)?;
        for Loose { offset, bytes, .. } in &self.loose {
            let length = SEGMENT_BYTES.min(self.db_bytes.saturating_sub(*offset));
            let mut found = Vec::new();
            file.seek(SeekFrom::Start(*offset))?;
            Read::by_ref(&mut file).take(length).read_to_end(&mut found)?;
            let mut before = bytes.clone();
            before.resize(found.len(), 0);
            if found != before {
                file.seek(SeekFrom::Start(*offset))?;
                file.write_all(&before)?;
                any = true;
            }
        }
        if any { file.sync_all() } else { Ok(()) }
    }
}

/// Saves the segments with what lies behind the tip, for salvage; only the newest few such files are kept.
fn save_torn(dir: &Path, tip: u64, torn: &[&Loose]) -> io::Result<()> {
    let mut bytes = Vec::new();
    for Loose { bytes: segment, .. } in torn {
        bytes.resize(bytes.len().next_multiple_of(usize::try_from(SEGMENT_BYTES).unwrap_or(1)), 0);
        // What a segment has not used yet would only take room.
        let used = segment.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        bytes.extend_from_slice(segment.get(..used).unwrap_or_default());
    }
    save_torn_file(dir, &format!("{tip:016X}"), &bytes)?;
    let mut saved = fs::read_dir(dir)?.map(|file| Ok(file?.path())).collect::<io::Result<Vec<_>>>()?;
    saved.retain(|path| !path.ends_with(journal::FILE));
    saved.sort_unstable();
    let too_many = saved.len().saturating_sub(TORN_MAX);
    saved.iter().take(too_many).try_for_each(fs::remove_file)
}

fn save_torn_file(dir: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    private::create_dir(dir)?;
    let path = dir.join(name);
    write_whole(&path, &path.with_extension("new"), bytes)
}

fn failed_to_put_back(path: &Path) -> impl FnOnce(io::Error) -> BackendError {
    let path = path.to_owned();
    move |source| BackendError::Damaged(format!("cannot put back what was in `{}`: {source}", path.display()))
}

/// Returns the files that sled reads whole: its settings and its snapshots, finished or not.
fn own_files(sled_dir: &Path) -> Result<Vec<PathBuf>, BackendError> {
    let listed = fs::read_dir(sled_dir).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()
    });
    let mut paths = listed.map_err(|source| BackendError::io("read", sled_dir, source))?;
    paths.retain(|path| {
        let is_settings = |name: &OsStr| ["conf", "conf.generating"].iter().any(|known| name == *known);
        path.file_name().is_some_and(|name| is_settings(name) || is_snapshot(name)) && path.is_file()
    });
    Ok(paths)
}

fn is_snapshot(name: &OsStr) -> bool {
    name.to_string_lossy().starts_with("snap.")
}

/// Writes the snapshot that sled would write at the end of the log, unless it is there.
///
/// What it covers is made durable first: a snapshot of more than the log holds is damage.
pub(super) fn write_next_snapshot(sled_dir: &Path, log: &LogReader) -> Result<(), BackendError> {
    let Some((name, bytes)) = log.next_snapshot()? else { return Ok(()) };
    let db = sled_dir.join("db");
    let synced = File::open(&db).and_then(|file| file.sync_data());
    synced.map_err(|source| BackendError::io("sync", &db, source))?;
    let path = sled_dir.join(name);
    let draft = path.with_added_extension(DRAFT);
    write_whole(&path, &draft, &bytes).map_err(|source| BackendError::io("write", &path, source))
}

/// Writes a file, durably, that is there whole or not at all.
fn write_whole(path: &Path, draft: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = private::options().write(true).create(true).truncate(true).open(draft)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| fs::rename(draft, path));
    if written.is_err() {
        // On a full disk nothing is to be left of it.
        let _ = fs::remove_file(draft);
    }
    written?;
    path.parent().map_or(Ok(()), sync_dir)
}
