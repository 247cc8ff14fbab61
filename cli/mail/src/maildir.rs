//! Reads the mails of a Maildir that were not taken yet (PM-53), and mails in files.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use turnfold_core::paper::DeskTime;
use turnfold_history::input::{InputError, Limits};

use super::received_mail::ReceivedMail;
use crate::error::MailError;

/// The limits of mails with papers (PM-26).
pub const MAIL_LIMITS: Limits =
    Limits { what: "mail", bytes_max: 1 << 20, lines_max: 1 << 20, line_bytes_max: 1 << 20 };

const NEW: &str = "new";
const CUR: &str = "cur";
/// The text before the flags in the name of a mail's file, and the flag of a mail that was seen.
const FLAGS: &str = ":2,";
const SEEN: char = 'S';

/// A Maildir, the folder in which mail servers and mail programs keep mails as files.
#[derive(Debug)]
pub struct Maildir {
    folder: PathBuf,
}

impl Maildir {
    /// Opens a Maildir.
    ///
    /// # Errors
    /// [`MailError::Unusable`] for a folder that is not a Maildir.
    pub fn open(folder: &Path) -> Result<Self, MailError> {
        if folder.join(NEW).is_dir() && folder.join(CUR).is_dir() {
            return Ok(Self { folder: folder.into() });
        }
        Err(MailError::Unusable(format!(
            "`{}` is no Maildir: it has no folders `{NEW}` and `{CUR}`; name the folder that your mail server or mail program \
             delivers to",
            folder.display()
        )))
    }

    /// Reads the waiting mails, the oldest first.
    ///
    /// # Errors
    /// What cannot be read. A mail that another program moves in the meantime is skipped.
    pub fn mails(&self) -> Result<Vec<(PathBuf, ReceivedMail)>, MailError> {
        let mut mails = Vec::new();
        for path in self.waiting()? {
            match read_mail(&path) {
                Ok(mail) => {
                    let arrived = mail.arrived.or_else(|| modified(&path));
                    mails.push((path, ReceivedMail { arrived, ..mail }));
                }
                Err(_) if !path.exists() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(mails)
    }

    fn waiting(&self) -> Result<Vec<PathBuf>, MailError> {
        let mut found = Vec::new();
        for name in [NEW, CUR] {
            let folder = self.folder.join(name);
            let listed = fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
            for entry in listed.map_err(|error| trouble("read", &folder, &error))? {
                let file_name = entry.file_name().to_string_lossy().into_owned();
                let is_seen = name == CUR && flags(&file_name).contains(SEEN);
                if !file_name.starts_with('.') && !is_seen && entry.path().is_file() {
                    // The file has the time, because programs write it into names in different ways.
                    let arrived = entry.metadata().and_then(|file| file.modified()).ok();
                    found.push((arrived, file_name, entry.path()));
                }
            }
        }
        found.sort();
        Ok(found.into_iter().map(|(.., path)| path).collect())
    }

    /// Moves a taken mail to `cur`, with the flag S. A mail that another program has moved in the meantime stays there.
    ///
    /// # Errors
    /// A mail that cannot be moved.
    pub fn mark_taken(&self, mail: &Path) -> Result<(), MailError> {
        let name = mail.file_name().unwrap_or_default().to_string_lossy();
        // The flags stand in order, each once.
        let mut flags: BTreeSet<char> = flags(&name).chars().collect();
        flags.insert(SEEN);
        let base = name.split(FLAGS).next().unwrap_or_default();
        let seen = format!("{base}{FLAGS}{}", flags.iter().collect::<String>());
        match fs::rename(mail, self.folder.join(CUR).join(seen)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(trouble("move", mail, &error)),
            _ => Ok(()),
        }
    }
}

fn modified(path: &Path) -> Option<DeskTime> {
    let modified = fs::metadata(path).and_then(|file| file.modified()).ok()?;
    DeskTime::of_unix_seconds(modified.duration_since(UNIX_EPOCH).ok()?.as_secs())
}

fn flags(name: &str) -> &str {
    name.split_once(FLAGS).map_or("", |(_, flags)| flags)
}

fn trouble(doing: &str, path: &Path, error: &io::Error) -> MailError {
    MailError::Outbox(io::Error::new(error.kind(), format!("cannot {doing} `{}`: {error}", path.display())))
}

const HEADER_MAX: u64 = 1 << 16;

/// Reads a mail from a file. If it is too long, only the beginning is read, because its sender gets an answer (PM-65).
///
/// # Errors
/// A file that cannot be read.
pub fn read_mail(path: &Path) -> Result<ReceivedMail, InputError> {
    match MAIL_LIMITS.read_file(path) {
        Err(error @ InputError::TooLong(..)) => {
            let mut beginning = Vec::new();
            if let Ok(file) = File::open(path)
                && file.take(HEADER_MAX).read_to_end(&mut beginning).is_ok()
            {
                return Ok(ReceivedMail::too_long(&beginning));
            }
            Err(error)
        }
        bytes => Ok(ReceivedMail::read(&bytes?)),
    }
}
