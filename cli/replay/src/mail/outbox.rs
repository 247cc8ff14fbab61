//! The outbox: letters as files that wait to be sent, each written whole and once (PM-29).

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use turnfold_core::{Digest, Seat};

/// What a letter in the outbox is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LetterName {
    /// The size of the desk that it describes.
    pub desk_size: u64,
    /// Who gets it.
    pub seat: Seat,
    /// The digest of the paper that it answers, or of several and what became of each; a report answers none.
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
}

impl Outbox {
    /// The folder for letters that have been sent.
    const SENT: &str = "sent";
    const SPECTATORS: &str = "spectators.bundle";

    /// Returns the outbox that is this folder, which need not be there.
    #[must_use]
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns `true` if a letter is there or was sent.
    ///
    /// # Errors
    /// What the file system says.
    pub fn has(&self, name: LetterName) -> io::Result<bool> {
        let name = name.to_string();
        Ok(self.folder.join(&name).try_exists()? || self.folder.join(Self::SENT).join(&name).try_exists()?)
    }

    /// Writes a letter, unless it is there or was sent; returns `true` if it was written now.
    ///
    /// Whenever the process ends, the letter is there whole or not at all.
    ///
    /// # Errors
    /// What the file system says.
    pub fn put(&self, name: LetterName, letter: &str) -> io::Result<bool> {
        if self.has(name)? {
            return Ok(false);
        }
        self.write_whole(&name.to_string(), letter.as_bytes())?;
        Ok(true)
    }

    /// Writes the bundle for spectators (PM-31), in the place of an older one; returns `true` if it is another.
    ///
    /// # Errors
    /// What the file system says.
    pub fn put_spectators(&self, bundle: &[u8]) -> io::Result<bool> {
        match fs::read(self.folder.join(Self::SPECTATORS)) {
            Ok(found) if found == bundle => return Ok(false),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(_) | Err(_) => {}
        }
        self.write_whole(Self::SPECTATORS, bundle)?;
        Ok(true)
    }

    /// Returns what the letters say that answer the same to the same seat, sent ones too, whichever desk they tell of.
    ///
    /// # Errors
    /// What the file system says.
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

    fn write_whole(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let draft = self.folder.join(format!("{name}.new"));
        let mut file = File::create(&draft)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&draft, self.folder.join(name))?;
        #[cfg(unix)]
        File::open(&self.folder)?.sync_all()?;
        Ok(())
    }
}
