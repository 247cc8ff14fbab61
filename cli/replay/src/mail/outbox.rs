//! The outbox: letters as files that wait to be sent, each written whole and once (PM-29).

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use turnfold_core::{Digest, Seat};

/// What a letter in the outbox is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LetterName {
    /// The size of the desk that it tells of.
    pub desk_size: u64,
    /// Who gets it.
    pub seat: Seat,
    /// The digest of the paper that it answers; a report answers none.
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
    /// The folder to which whoever sends a letter moves it.
    const SENT: &str = "sent";

    /// Returns the outbox that is this folder, which need not be there.
    #[must_use]
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.into() }
    }

    /// Writes a letter, unless it is there or was sent; returns `true` if it was written now.
    ///
    /// Whenever the process ends, the letter is there whole or not at all.
    ///
    /// # Errors
    /// What the file system says.
    pub fn put(&self, name: LetterName, letter: &str) -> io::Result<bool> {
        let name = name.to_string();
        let path = self.folder.join(&name);
        if path.try_exists()? || self.folder.join(Self::SENT).join(&name).try_exists()? {
            return Ok(false);
        }
        fs::create_dir_all(&self.folder)?;
        let draft = self.folder.join(format!("{name}.new"));
        let mut file = File::create(&draft)?;
        file.write_all(letter.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, &path)?;
        #[cfg(unix)]
        File::open(&self.folder)?.sync_all()?;
        Ok(true)
    }
}
