//! The outbox of a match by mail: a folder of letters, each a file (PM-29, PM-34).

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use turnfold_core::{Digest, Seat};

use crate::signing::{make_folders, sync_folder_of};

/// The name of a letter in the outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LetterName {
    /// The size of the desk that it reports.
    pub desk_size: u64,
    /// The seat that gets it.
    pub seat: Seat,
    /// The digest of the paper that it answers, or of several papers and their outcomes; a report answers none.
    pub answers: Option<Digest>,
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
    /// How many of the folders on the way to a letter may be new, the outbox included.
    pub(super) new_folders: usize,
}

impl Outbox {
    /// The folder to which letters that were sent are moved.
    const SENT: &str = "sent";
    const SPECTATORS: &str = "spectators.bundle";

    /// Returns the outbox in this folder, which need not exist.
    #[must_use]
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.into(), new_folders: 1 }
    }

    /// Returns `true` if the outbox has a letter, or it was sent.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn has(&self, name: LetterName) -> io::Result<bool> {
        let name = name.to_string();
        Ok(self.folder.join(&name).try_exists()? || self.folder.join(Self::SENT).join(&name).try_exists()?)
    }

    /// Writes a letter whole, unless the outbox has it or it was sent. Returns `true` if it was written now. The letter is
    /// durable after [`sync`](Self::sync).
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn put(&self, name: LetterName, letter: &str) -> io::Result<bool> {
        if self.has(name)? {
            return Ok(false);
        }
        self.write_whole(&name.to_string(), letter.as_bytes())?;
        Ok(true)
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
    ///
    /// # Errors
    /// Errors of the file system.
    pub(super) fn alike(&self, name: LetterName) -> io::Result<Vec<String>> {
        let name = name.to_string();
        let end = name.split_once('-').map(|(_, end)| format!("-{end}")).unwrap_or_default();
        let mut found = Vec::new();
        for folder in [self.folder.clone(), self.folder.join(Self::SENT)] {
            let listed = match fs::read_dir(folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                listed => listed?,
            };
            for entry in listed {
                let entry = entry?;
                if entry.file_name().to_string_lossy().ends_with(&end) {
                    found.push(fs::read_to_string(entry.path())?);
                }
            }
        }
        Ok(found)
    }

    /// PM-34: makes the names of all letters durable, also of letters that an interrupted run wrote and did not sync.
    pub(super) fn sync(&self) -> io::Result<()> {
        if !self.folder.try_exists()? {
            return Ok(());
        }
        sync_folder_of(&self.folder.join(Self::SENT))?;
        self.folder.ancestors().take(self.new_folders).try_for_each(sync_folder_of)
    }

    /// PM-34: a draft is on disk before it gets the name of the letter, so a letter is whole whenever it is there.
    fn write_whole(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        make_folders(&self.folder)?;
        let draft = self.folder.join(format!("{name}.new"));
        let mut file = File::create(&draft)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&draft, self.folder.join(name))
    }
}
