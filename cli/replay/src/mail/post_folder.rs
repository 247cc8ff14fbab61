//! Where the post of a match by mail lies: letters that wait to be sent, and its players' addresses (PM-29).

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use turnfold_core::paper::MatchId;
use turnfold_store::{MatchName, StoreReader};

use super::addresses::Addresses;
use super::letters::LetterError;
use super::outbox::Outbox;
use crate::input;
use crate::limits::MAIL_ADDRESSES;

/// The post of a match: its `outbox` and `addresses` in a folder.
///
/// Letters are named by desk size and seat and addresses by seat, so no two matches share a folder. The first that asks has
/// the host's folder itself; each other has one in it, `mail/ID`, by its match id. `mail/first` says which is the first.
#[derive(Clone, Debug)]
pub struct PostFolder {
    path: PathBuf,
    /// Whether it lies in the host's, which is another match's.
    is_within: bool,
}

impl PostFolder {
    const OTHERS: &str = "mail";
    const FIRST: &str = "first";

    /// Finds that of a match in the host's folder, which need not be there.
    ///
    /// # Errors
    /// What the store or the file system says.
    pub fn of(host: &Path, store: &StoreReader, game: &MatchName) -> Result<Self, LetterError> {
        let id = MatchId::new(store.genesis(game)?.match_id).to_string();
        let others = host.join(Self::OTHERS);
        let is_within = first(&others.join(Self::FIRST), &id)? != id;
        Ok(Self { path: if is_within { others.join(id) } else { host.into() }, is_within })
    }

    /// Returns the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns `true` if the host's folder is another match's, so that this one has its own in it.
    #[must_use]
    pub const fn is_within(&self) -> bool {
        self.is_within
    }

    /// Returns where its letters wait.
    #[must_use]
    pub fn outbox(&self) -> Outbox {
        Outbox::at(&self.path.join("outbox"))
    }

    /// Reads where the players get their letters; without the file letters have no address.
    ///
    /// # Errors
    /// [`LetterError::Input`] and [`LetterError::Addresses`].
    pub fn addresses(&self) -> Result<Addresses, LetterError> {
        addresses_in(&self.path)
    }
}

/// Reads the addresses in a folder.
///
/// # Errors
/// As for [`PostFolder::addresses`].
pub fn addresses_in(folder: &Path) -> Result<Addresses, LetterError> {
    let path = folder.join("addresses");
    if !path.exists() {
        return Ok(Addresses::default());
    }
    let unusable = |why: String| LetterError::Addresses { path: path.clone(), why };
    let text = String::from_utf8(input::read_file(&path, &MAIL_ADDRESSES)?);
    let text = text.map_err(|_| unusable("expected UTF-8 text".into()))?;
    text.parse().map_err(|error: turnfold_core::Malformed| unusable(error.to_string()))
}

/// Returns the match that has the host's folder; if none has it, this one takes it.
fn first(path: &Path, id: &str) -> io::Result<String> {
    match fs::read_to_string(path) {
        // Empty when its process ended before it was written.
        Ok(found) if !found.is_empty() => return Ok(found.trim_end().into()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = File::create(path)?;
    writeln!(file, "{id}")?;
    file.sync_all()?;
    Ok(id.into())
}
