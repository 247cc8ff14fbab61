//! `mail take --maildir`: the mails of a Maildir that were not taken yet (PM-53).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The folder with the mails that no program has seen.
const NEW: &str = "new";
/// The folder with the others.
const CUR: &str = "cur";
/// What comes before the flags of a mail, and the flag of a mail that was seen.
const FLAGS: &str = ":2,";
const SEEN: char = 'S';

/// A Maildir, the folder in which mail servers and mail programs keep mails as files.
#[derive(Debug)]
pub(super) struct Maildir {
    folder: PathBuf,
}

impl Maildir {
    /// Opens a Maildir.
    pub(super) fn open(folder: &Path) -> Result<Self, Failure> {
        if folder.join(NEW).is_dir() && folder.join(CUR).is_dir() {
            return Ok(Self { folder: folder.into() });
        }
        let message = format!("`{}` is no Maildir: it has no folders `{NEW}` and `{CUR}`", folder.display());
        Err(Failure::usage(message).hint("name the folder that your mail server or mail program delivers to"))
    }

    /// Lists the mails in `new`, and those in `cur` without the flag S, the oldest first.
    pub(super) fn waiting(&self) -> Result<Vec<PathBuf>, Failure> {
        let mut found = Vec::new();
        for name in [NEW, CUR] {
            let folder = self.folder.join(name);
            let listed = fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
            for entry in listed.map_err(|error| trouble("read", &folder, &error))? {
                let file_name = entry.file_name().to_string_lossy().into_owned();
                let is_seen = name == CUR && flags(&file_name).contains(SEEN);
                if !file_name.starts_with('.') && !is_seen && entry.path().is_file() {
                    // Names begin with the time of arrival.
                    found.push((file_name, entry.path()));
                }
            }
        }
        found.sort();
        Ok(found.into_iter().map(|(_, path)| path).collect())
    }

    /// Moves a mail that was taken to `cur`, with the flag S. A mail that another program has moved in the meantime stays.
    pub(super) fn mark_taken(&self, mail: &Path) -> Result<(), Failure> {
        let name = mail.file_name().unwrap_or_default().to_string_lossy();
        let mut flags: Vec<char> = flags(&name).chars().chain([SEEN]).collect();
        flags.sort_unstable();
        flags.dedup();
        let base = name.split(FLAGS).next().unwrap_or_default();
        let seen =
            self.folder.join(CUR).join(format!("{base}{FLAGS}{}", flags.into_iter().collect::<String>()));
        match fs::rename(mail, seen) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(trouble("move", mail, &error)),
            _ => Ok(()),
        }
    }
}

fn flags(name: &str) -> &str {
    name.split_once(FLAGS).map_or("", |(_, flags)| flags)
}

fn trouble(doing: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::trouble(format!("cannot {doing} `{}`: {error}", path.display()))
}
