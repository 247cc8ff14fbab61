//! The mail folder of a match, with the outbox and the players' addresses (PM-29).

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use turnfold_core::Seat;
use turnfold_core::paper::MatchId;
use turnfold_core::text::Malformed;
use turnfold_history::error::input;
use turnfold_proof::signing::{make_folders, sync_folder_of};
use turnfold_store::{MatchName, Seq, StoreReader};

use super::addresses::{ADDRESSES, Addresses, MailAddress};
use super::desk_history::DeskHistory;
use super::notices::{self, SeatNotice};
use super::outbox::Outbox;
use crate::error::MailError;
use crate::limits::MAIL_ADDRESSES;

/// The mail folder of a match, with its `outbox` and `addresses`.
///
/// Letters are named by desk size and seat, and addresses by seat, so no two matches share a folder. The first match uses
/// the host's folder itself; each other match uses `mail/ID` in it. `mail/first` has the id of the first.
#[derive(Clone, Debug)]
pub struct PostFolder {
    path: PathBuf,
    /// Whether it is a folder within the host's folder, which another match uses itself.
    is_within: bool,
}

impl PostFolder {
    const OTHERS: &str = "mail";
    const FIRST: &str = "first";

    /// Finds the folder of a match in the host's folder, which need not exist.
    ///
    /// # Errors
    /// Errors of the store and of the file system.
    pub fn of(host: &Path, store: &StoreReader, game: &MatchName) -> Result<Self, MailError> {
        let id = MatchId::new(store.genesis(game)?.match_id).to_string();
        let others = host.join(Self::OTHERS);
        let is_within = first(&others.join(Self::FIRST), &id).map_err(MailError::Outbox)? != id;
        Ok(Self { path: if is_within { others.join(id) } else { host.into() }, is_within })
    }

    /// Returns the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns `true` if another match uses the host's folder, so that this one has its own in it.
    #[must_use]
    pub const fn is_within(&self) -> bool {
        self.is_within
    }

    /// Returns the outbox.
    #[must_use]
    pub fn outbox(&self) -> Outbox {
        // A folder within the host's folder is in `mail`, so three folders may be new.
        let mut outbox = Outbox::at(&self.path.join("outbox"));
        outbox.new_folders = if self.is_within { 3 } else { 1 };
        outbox
    }

    /// Adds lines to the players' addresses; each replaces a line for the same seat (PM-52).
    ///
    /// # Errors
    /// As for [`addresses`](Self::addresses), and errors of the file system.
    pub fn add_addresses(&self, added: &Addresses) -> Result<(), MailError> {
        if *added == Addresses::default() {
            return Ok(());
        }
        let text = added.written_into(&read_addresses(&self.path)?.unwrap_or_default());
        self.outbox().write_next_to(ADDRESSES, text.as_bytes()).map_err(MailError::Outbox)
    }

    /// Stores the address of the newest player of a seat, and retires the address of the player before (PM-106).
    ///
    /// # Errors
    /// As for [`add_addresses`](Self::add_addresses).
    pub fn give_address(
        &self,
        seat: Seat,
        desk: &DeskHistory,
        address: MailAddress,
    ) -> Result<(), MailError> {
        // Both addresses may be the same, if a player has lost the key.
        if let Some(record) = desk.came(seat, desk.size()).checked_sub(1) {
            let mark = former_player(seat, record);
            self.outbox().retire_address(seat, &mark, true).map_err(MailError::Outbox)?;
        }
        self.add_addresses(&Addresses::one(seat, address))
    }

    /// Reads the notices of mail programs.
    ///
    /// # Errors
    /// [`MailError::Outbox`] if the file cannot be read.
    pub fn notices(&self) -> Result<Vec<SeatNotice>, MailError> {
        notices::read(&self.path).map_err(MailError::Outbox)
    }

    /// Reads the players' addresses. Without the file, letters have no `To:` line.
    ///
    /// # Errors
    /// [`InputError`](turnfold_history::InputError) and [`MailError::Addresses`].
    pub fn addresses(&self) -> Result<Addresses, MailError> {
        addresses_in(&self.path)
    }
}

/// Returns the mark before the address of a player who was replaced by this record of the desk.
pub(super) fn former_player(seat: Seat, record: Seq) -> String {
    format!("# former player of {seat}, replaced by record {record}:")
}

/// Reads the addresses in a folder.
///
/// # Errors
/// As for [`PostFolder::addresses`].
pub fn addresses_in(folder: &Path) -> Result<Addresses, MailError> {
    let Some(text) = read_addresses(folder)? else { return Ok(Addresses::default()) };
    text.parse().map_err(|error: Malformed| unusable(folder, error.to_string()))
}

fn read_addresses(folder: &Path) -> Result<Option<String>, MailError> {
    let path = folder.join(ADDRESSES);
    if !path.exists() {
        return Ok(None);
    }
    let text = String::from_utf8(input::read_file(&path, &MAIL_ADDRESSES)?);
    text.map(Some).map_err(|_| unusable(folder, "expected UTF-8 text".into()))
}

fn unusable(folder: &Path, why: String) -> MailError {
    MailError::Addresses { path: folder.join(ADDRESSES), why }
}

/// Returns the id of the match that uses the host's folder itself. If no match does, this one takes it.
fn first(path: &Path, id: &str) -> io::Result<String> {
    match fs::read_to_string(path) {
        // After a crash, the file may exist without its text.
        Ok(found) if !found.is_empty() => return Ok(found.trim_end().into()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    if let Some(folder) = path.parent() {
        make_folders(folder)?;
    }
    let mut file = File::create(path)?;
    writeln!(file, "{id}")?;
    file.sync_all()?;
    sync_folder_of(path)?;
    Ok(id.into())
}
