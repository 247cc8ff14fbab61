//! The folder of the post of a match by mail, with the outbox and the players' addresses (PM-29).

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use turnfold_core::Seat;
use turnfold_core::paper::MatchId;
use turnfold_core::text::Malformed;
use turnfold_store::{MatchName, StoreReader};

use super::outbox::Outbox;
use crate::error::ReplayError;
use crate::error::input;
use crate::error::limits::MAIL_ADDRESSES;
use crate::signing::{make_folders, sync_folder_of};

/// The post of a match: its `outbox` and `addresses` in a folder.
///
/// Letters are named by desk size and seat, and addresses by seat, so no two matches share a folder. The first match uses
/// the host's folder itself; each other match uses `mail/ID` in it. `mail/first` has the id of the first.
#[derive(Clone, Debug)]
pub struct PostFolder {
    path: PathBuf,
    /// Whether it is in the host's folder, which another match uses.
    is_within: bool,
}

impl PostFolder {
    const OTHERS: &str = "mail";
    const FIRST: &str = "first";

    /// Finds the folder of a match in the host's folder, which need not exist.
    ///
    /// # Errors
    /// Errors of the store and of the file system.
    pub fn of(host: &Path, store: &StoreReader, game: &MatchName) -> Result<Self, ReplayError> {
        let id = MatchId::new(store.genesis(game)?.match_id).to_string();
        let others = host.join(Self::OTHERS);
        let is_within = first(&others.join(Self::FIRST), &id).map_err(ReplayError::Outbox)? != id;
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
        // A folder within the host's lies in `mail`.
        let mut outbox = Outbox::at(&self.path.join("outbox"));
        outbox.new_folders = if self.is_within { 3 } else { 1 };
        outbox
    }

    /// Reads the players' addresses. Without the file, letters have no `To:` line.
    ///
    /// # Errors
    /// [`ReplayError::Input`] and [`ReplayError::Addresses`].
    pub fn addresses(&self) -> Result<Addresses, ReplayError> {
        addresses_in(&self.path)
    }
}

/// Reads the addresses in a folder.
///
/// # Errors
/// As for [`PostFolder::addresses`].
pub fn addresses_in(folder: &Path) -> Result<Addresses, ReplayError> {
    let path = folder.join("addresses");
    if !path.exists() {
        return Ok(Addresses::default());
    }
    let unusable = |why: String| ReplayError::Addresses { path: path.clone(), why };
    let text = String::from_utf8(input::read_file(&path, &MAIL_ADDRESSES)?);
    let text = text.map_err(|_| unusable("expected UTF-8 text".into()))?;
    text.parse().map_err(|error: turnfold_core::Malformed| unusable(error.to_string()))
}

/// Returns the match that uses the host's folder. If no match does, this one takes it.
fn first(path: &Path, id: &str) -> io::Result<String> {
    match fs::read_to_string(path) {
        // Empty after a crash before it was written.
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

/// An address for mails, such as `ann@example.org`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailAddress(String);

impl MailAddress {
    /// The most characters, so that `To:` stays one short line.
    const MAX: usize = 254;
}

impl fmt::Display for MailAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.0)
    }
}

impl FromStr for MailAddress {
    type Err = Malformed;

    /// Accepts only an address that is unambiguous in a header: one `@`, and no character that separates addresses.
    fn from_str(text: &str) -> Result<Self, Malformed> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&byte);
        let is_part = |part: &str| !part.is_empty() && part.bytes().all(is_plain);
        match text.split_once('@') {
            Some((user, host)) if text.len() <= Self::MAX && is_part(user) && is_part(host) => {
                Ok(Self(text.into()))
            }
            _ => Err(Malformed::expected("an address such as `ann@example.org`", text)),
        }
    }
}

/// The addresses of the players, by seat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses(BTreeMap<Seat, MailAddress>);

impl Addresses {
    /// Returns the address of a seat.
    #[must_use]
    pub fn of(&self, seat: Seat) -> Option<&MailAddress> {
        self.0.get(&seat)
    }
}

/// Reads lines such as `p1 = ann@example.org`. Empty lines and lines that begin with `#` are ignored.
impl FromStr for Addresses {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let mut addresses = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let at = |error: Malformed| Malformed(format!("line {number}: {}", error.0));
            let (seat, address) = line
                .split_once('=')
                .ok_or_else(|| at(Malformed::expected("a line such as `p1 = ann@example.org`", line)))?;
            let seat = seat.trim().parse().ok().filter(|seat| *seat != Seat::Host);
            let seat = seat.ok_or_else(|| at(Malformed::expected("a seat from `p1` to `p16`", line)))?;
            if addresses.insert(seat, address.trim().parse().map_err(at)?).is_some() {
                return Err(at(Malformed(format!("expected one address of {seat}, found another"))));
            }
        }
        Ok(Self(addresses))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pm_29_addresses_are_read_by_seat() {
        let read: Addresses =
            "# players\np1 = ann@example.org\n\n p2=ben+mail@example.org\n".parse().unwrap();
        assert_eq!(read.of(Seat::P1).unwrap().to_string(), "ann@example.org");
        assert_eq!(read.of(Seat::P2).unwrap().to_string(), "ben+mail@example.org");
        assert_eq!(read.of(Seat::P3), None);
        for (text, error) in [
            ("p1", "line 1: expected a line such as"),
            ("\nhost = a@b", "line 2: expected a seat"),
            ("p17 = a@b", "line 1: expected a seat"),
            ("p1 = a@b\np1 = c@d", "line 2: expected one address of p1"),
            ("p1 = a", "line 1: expected an address"),
            ("p1 = a@b, c@d", "line 1: expected an address"),
            ("p1 = a@b@c", "line 1: expected an address"),
            ("p1 = Ann <a@b>", "line 1: expected an address"),
            ("p1 = a@b\r\u{b}Bcc: c@d", "line 1: expected an address"),
        ] {
            let found = text.parse::<Addresses>().unwrap_err().0;
            assert!(found.contains(error), "{text}: {found}");
        }
    }
}
