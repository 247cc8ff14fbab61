//! The outbox of a match by mail: a folder of letters, each a file (PM-29, PM-34).

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use turnfold_core::{Digest, Seat};
use turnfold_proof::signing::{make_folders, sync_folder_of};

use super::desk_history::DeskHistory;
use super::notices::{self, SeatNotice};
use super::post_folder::{ADDRESSES, Addresses, Route, addresses_in};
use crate::error::MailError;

/// The name of a letter in the outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LetterName {
    /// The size of the desk that it reports.
    pub desk_size: u64,
    /// The seat that gets it.
    pub seat: Seat,
    /// The digest of the paper that it answers, or of several papers and their outcomes; `None` for a report.
    pub answers: Option<Digest>,
}

impl LetterName {
    pub(super) const fn report(desk_size: u64, seat: Seat) -> Self {
        Self { desk_size, seat, answers: None }
    }
}

impl fmt::Display for LetterName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { desk_size, seat, answers } = self;
        write!(out, "{desk_size:08}-{seat}")?;
        if let Some(digest) = answers {
            write!(out, "-{digest:.8}")?;
        }
        out.write_str(".eml")
    }
}

/// A folder of letters.
#[derive(Clone, Debug)]
pub struct Outbox {
    folder: PathBuf,
    /// How many of the folders on the path of a letter may be new, including the outbox.
    pub(super) new_folders: usize,
}

impl Outbox {
    const SENT: &str = "sent";
    /// The folder for letters that a newer one replaced before they were sent (PM-101).
    const REPLACED: &str = "replaced";
    /// The folder for letters of a lost history, and the extension of the file that names the history (PM-102).
    const LOST: &str = "lost";
    const HISTORY: &str = "desk";
    const SPECTATORS: &str = "spectators.bundle";

    /// Returns the outbox in this folder, which need not exist.
    #[must_use]
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.into(), new_folders: 1 }
    }

    pub(super) fn has(&self, name: impl fmt::Display) -> io::Result<bool> {
        for folder in self.folders() {
            if folder.join(name.to_string()).try_exists()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn folders(&self) -> [PathBuf; 3] {
        [self.folder.clone(), self.folder.join(Self::SENT), self.folder.join(Self::REPLACED)]
    }

    pub(super) fn has_sent(&self, name: LetterName) -> io::Result<bool> {
        self.folder.join(Self::SENT).join(name.to_string()).try_exists()
    }

    pub(super) fn has_replaced(&self, name: LetterName) -> io::Result<bool> {
        self.folder.join(Self::REPLACED).join(name.to_string()).try_exists()
    }

    pub(super) fn last_to(&self, seat: Seat, size_max: u64) -> io::Result<Option<String>> {
        let mut reports = Vec::new();
        for (name, path) in self.files()? {
            if let Some(letter) = UnsentLetter::named(&self.folder, name)
                && letter.seat == seat
                && let Some(size) = letter.report_size()
                && size <= size_max
            {
                reports.push((size, path));
            }
        }
        match reports.into_iter().max() {
            Some((_, path)) => Ok(Some(fs::read_to_string(path)?)),
            None => Ok(None),
        }
    }

    pub(super) fn addresses_now(&self) -> Result<Option<Addresses>, MailError> {
        let folder = self.folder.parent().unwrap_or(&self.folder);
        if !folder.join(ADDRESSES).exists() {
            return Ok(None);
        }
        Ok(Some(addresses_in(folder)?))
    }

    /// Adds a mark to the file of addresses, unless it has the mark. If `is_line_former`, the mark comments out the
    /// seat's line. Returns `true` if it did so now.
    pub(super) fn retire_address(&self, seat: Seat, mark: &str, is_line_former: bool) -> io::Result<bool> {
        let path = self.folder.with_file_name(ADDRESSES);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            text => text?,
        };
        if text.lines().any(|line| line.starts_with(mark)) {
            return Ok(false);
        }
        let mut marked = String::new();
        for line in text.lines() {
            if is_line_former
                && let Some((name, _)) = line.split_once('=')
                && name.trim() == seat.name()
            {
                marked.extend([mark, " "]);
            }
            marked.extend([line, "\n"]);
        }
        if !is_line_former {
            marked.extend([mark, " the address above is of the new one\n"]);
        }
        self.write_next_to(ADDRESSES, marked.as_bytes())?;
        Ok(is_line_former)
    }

    /// PM-102: puts away the letters of another history of the desk, such as those of the lost part of a store that was
    /// restored from a backup. Otherwise their names would keep new letters from being written. `is_ours` decides by
    /// the name and text of a letter if the desk does not have the root that the last letters noted.
    pub(super) fn keep_one_history(
        &self,
        desk: &DeskHistory,
        is_ours: impl Fn(&str, &str) -> bool,
    ) -> io::Result<()> {
        let path = self.folder.with_extension(Self::HISTORY);
        let noted = match fs::read_to_string(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            noted => noted.unwrap_or_default(),
        };
        if let Some((size, root)) = noted.trim_end().split_once(' ')
            && let Ok(size) = size.parse()
            && desk.root(size).is_none_or(|own| own.to_string() != root)
        {
            let lost = self.folder.join(Self::LOST);
            make_folders(&lost)?;
            for (name, path) in self.files()? {
                let is_letter =
                    path.extension().is_some_and(|ending| ending == "eml") && !name.ends_with("-host.eml");
                if is_letter && !is_ours(&name, &fs::read_to_string(&path)?) {
                    fs::rename(&path, lost.join(name))?;
                }
            }
            sync_folder_of(&lost.join("any"))?;
        }
        let root = desk.root(desk.size()).map_or_else(String::new, |root| root.to_string());
        let now = format!("{} {root}\n", desk.size());
        if now == noted {
            return Ok(());
        }
        self.write_next_to(&path.file_name().unwrap_or_default().to_string_lossy(), now.as_bytes())
    }

    pub(super) fn replace(&self, name: LetterName, letter: &str, stale: &[u64]) -> io::Result<()> {
        self.write_whole(&name.to_string(), letter.as_bytes())?;
        let mut names = Vec::new();
        for desk_size in stale {
            names.push(LetterName { desk_size: *desk_size, ..name }.to_string());
        }
        self.move_to(Self::REPLACED, &names)
    }

    /// Moves letters to a folder of the outbox, durably. Earlier writes are on disk before a letter moves.
    fn move_to(&self, folder: &str, names: &[String]) -> io::Result<()> {
        let folder = self.folder.join(folder);
        make_folders(&folder)?;
        sync_folder_of(&folder)?;
        for name in names {
            fs::rename(self.folder.join(name), folder.join(name))?;
        }
        sync_folder_of(&folder.join("any"))?;
        sync_folder_of(&folder)
    }

    pub(super) fn put_away_unaddressed(&self, letter: &UnsentLetter) -> io::Result<()> {
        if has_header(&fs::read_to_string(&letter.path)?, "To") {
            return Ok(());
        }
        self.move_to(Self::REPLACED, std::slice::from_ref(&letter.name))
    }

    /// Writes a letter whole, unless the outbox has it, or it was sent or replaced. Returns `true` if it was written now.
    /// The letter is durable after `sync`.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn put(&self, name: impl fmt::Display, letter: &str) -> io::Result<bool> {
        if self.has(&name)? {
            return Ok(false);
        }
        self.write_whole(&name.to_string(), letter.as_bytes())?;
        Ok(true)
    }

    pub(super) fn files(&self) -> io::Result<Vec<(String, PathBuf)>> {
        let mut files = Vec::new();
        for folder in self.folders().iter().filter(|folder| folder.is_dir()) {
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                files.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
            }
        }
        Ok(files)
    }

    /// Writes the bundle for spectators (PM-31) over an older one. Returns `true` if it differs.
    pub(crate) fn put_spectators(&self, bundle: &[u8]) -> io::Result<bool> {
        match fs::read(self.folder.join(Self::SPECTATORS)) {
            Ok(found) if found == bundle => return Ok(false),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(_) | Err(_) => {}
        }
        self.write_whole(Self::SPECTATORS, bundle)?;
        Ok(true)
    }

    /// Returns the letters that answer the same papers of the same seat at any size of the desk, including sent ones.
    pub(super) fn alike(&self, name: LetterName) -> io::Result<Vec<String>> {
        let name = name.to_string();
        let end = name.trim_start_matches(|sign: char| sign.is_ascii_digit());
        self.read(|name| name.ends_with(end))
    }

    fn read(&self, is_wanted: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
        let mut letters = Vec::new();
        for (name, path) in self.files()? {
            if is_wanted(&name) {
                letters.push(fs::read_to_string(path)?);
            }
        }
        Ok(letters)
    }

    /// Lists the unsent letters, in order (PM-36). Other processes that send wait until the result is dropped.
    pub(super) fn unsent(&self) -> io::Result<UnsentLetters> {
        make_folders(&self.folder)?;
        let lock = File::create(self.folder.join("LOCK"))?;
        lock.lock()?;
        let mut letters = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            letters.extend(UnsentLetter::named(&self.folder, name));
        }
        letters.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(UnsentLetters { letters, _lock: lock })
    }

    /// Adds the lines `From:`, `Reply-To:`, `To:` and `Cc:` that a letter lacks because the address came later. Returns
    /// `false` if it still has no `To:`.
    pub(super) fn complete(&self, letter: &UnsentLetter, route: Route<'_>) -> io::Result<bool> {
        let text = fs::read_to_string(&letter.path)?;
        let mut completed = String::new();
        for (name, value) in route.lines() {
            if !has_header(&text, name) {
                completed.extend([name, ": ", &value.to_string(), "\r\n"]);
            }
        }
        if !completed.is_empty() {
            self.write_whole(&letter.name, (completed + &text).as_bytes())?;
        }
        Ok(has_header(&text, "To") || route.to.is_some())
    }

    pub(super) fn count(&self, seat: Seat, subject: &str) -> io::Result<usize> {
        let of_seat = self.read(|name| name.contains(&format!("-{seat}-")))?;
        Ok(of_seat.iter().filter(|letter| letter.contains(subject)).count())
    }

    pub(super) fn mark_sent(&self, letter: &UnsentLetter) -> io::Result<()> {
        self.move_to(Self::SENT, std::slice::from_ref(&letter.name))
    }

    /// PM-34: makes the names of all letters durable, including those that an interrupted run wrote and did not sync.
    pub(super) fn sync(&self) -> io::Result<()> {
        if !self.folder.try_exists()? {
            return Ok(());
        }
        sync_folder_of(&self.folder.join(Self::SENT))?;
        for folder in self.folder.ancestors().take(self.new_folders) {
            sync_folder_of(folder)?;
        }
        Ok(())
    }

    /// Stores a notice next to the outbox, unless one of the same mail and seat is stored (PM-93).
    pub(super) fn note(&self, notice: &SeatNotice) -> io::Result<()> {
        notices::write(self.folder.parent().unwrap_or(&self.folder), notice)
    }

    pub(super) fn write_next_to(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let folder = self.folder.parent().unwrap_or(&self.folder);
        Self::at(folder).write_whole(name, bytes)?;
        sync_folder_of(&folder.join(name))
    }

    /// PM-34: syncs a draft before it gets the name of the file, so that a file is always whole.
    fn write_whole(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        make_folders(&self.folder)?;
        let draft = self.folder.join(format!("{name}.new"));
        let mut file = File::create(&draft)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&draft, self.folder.join(name))
    }
}

fn has_header(letter: &str, name: &str) -> bool {
    let head = letter.split("\r\n\r\n").next().unwrap_or_default();
    let begin = format!("{name}: ");
    head.lines().any(|line| line.starts_with(&begin))
}

/// A letter of the outbox that was not sent.
#[derive(Clone, Debug)]
pub struct UnsentLetter {
    /// The name of its file.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// The seat that gets it.
    pub seat: Seat,
}

impl UnsentLetter {
    pub(super) fn report_size(&self) -> Option<u64> {
        let (_, seat) = self.name.strip_suffix(".eml")?.split_once('-')?;
        if seat == self.seat.name() { self.desk_size() } else { None }
    }

    pub(super) fn desk_size(&self) -> Option<u64> {
        let (size, _) = self.name.split_once('-')?;
        if self.seat == Seat::Host { None } else { size.parse().ok() }
    }

    fn named(folder: &Path, name: String) -> Option<Self> {
        let seat = name.strip_suffix(".eml")?.split('-').nth(1)?.parse().ok()?;
        Some(Self { path: folder.join(&name), name, seat })
    }
}

/// The unsent letters of an outbox, in order. No other process sends them while this value exists.
pub(super) struct UnsentLetters {
    pub(super) letters: Vec<UnsentLetter>,
    _lock: File,
}
