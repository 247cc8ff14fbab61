//! The mail folder of a match, with the outbox and the players' addresses (PM-29, PM-52).

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use turnfold_core::Seat;
use turnfold_core::paper::MatchId;
use turnfold_core::text::Malformed;
use turnfold_history::input::Limits;
use turnfold_proof::signing::{make_folders, sync_folder_of};
use turnfold_store::{MatchName, Seq, StoreReader};

use super::desk_history::DeskHistory;
use super::notices::{self, SeatNotice};
use super::outbox::Outbox;
use crate::error::MailError;

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
        let is_within = first(&others.join(Self::FIRST), &id)? != id;
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
        Ok(self.outbox().write_next_to(ADDRESSES, text.as_bytes())?)
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
            self.outbox().retire_address(seat, &former_player(seat, record), true)?;
        }
        self.add_addresses(&Addresses { by_seat: [(seat, address)].into(), copy: None })
    }

    /// Reads the notices of mail programs.
    ///
    /// # Errors
    /// [`MailError::Outbox`] if the file cannot be read.
    pub fn notices(&self) -> Result<Vec<SeatNotice>, MailError> {
        Ok(notices::read(&self.path)?)
    }

    /// Reads the players' addresses. Without the file, letters have no `To:` line.
    ///
    /// # Errors
    /// [`InputError`](turnfold_history::input::InputError) and [`MailError::Addresses`].
    pub fn addresses(&self) -> Result<Addresses, MailError> {
        addresses_in(&self.path)
    }
}

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
    match String::from_utf8(LIMITS.read_file(&path)?) {
        Ok(text) => Ok(Some(text)),
        Err(_) => Err(unusable(folder, "expected UTF-8 text".into())),
    }
}

fn unusable(folder: &Path, why: String) -> MailError {
    MailError::Addresses { path: folder.join(ADDRESSES), why }
}

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

pub(super) const ADDRESSES: &str = "addresses";

const LIMITS: Limits =
    Limits { what: "file of addresses", bytes_max: 1 << 16, lines_max: 1 << 10, line_bytes_max: 1 << 10 };

/// An email address, such as `ann@example.org`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailAddress(String);

impl MailAddress {
    const MAX: usize = 254;
}

impl fmt::Display for MailAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.0)
    }
}

impl FromStr for MailAddress {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        if let Some((user, host)) = text.split_once('@')
            && text.len() <= Self::MAX
            && !user.is_empty()
            && !host.is_empty()
            && [user, host]
                .concat()
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&byte))
        {
            return Ok(Self(text.into()));
        }
        Err(Malformed::expected("an address such as `ann@example.org`", text))
    }
}

/// The addresses of the players and of the host, by seat; and who gets copies of the letters to a seat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    by_seat: BTreeMap<Seat, MailAddress>,
    copy: Option<(Seat, MailAddress)>,
}

impl Addresses {
    /// Collects lines for a match with this number of players.
    ///
    /// # Errors
    /// [`Malformed`] for a seat that the match does not have, and for two addresses of a seat.
    pub fn of_lines(lines: &[AddressLine], players: usize) -> Result<Self, Malformed> {
        let mut addresses = Self::default();
        for line in lines {
            if line.seat != Seat::Host && !Seat::players(players).contains(&line.seat) {
                return Err(Malformed(format!("the match has {players} players, and no seat {}", line.seat)));
            }
            addresses.insert(line.clone())?;
        }
        Ok(addresses)
    }

    fn insert(&mut self, AddressLine { seat, address }: AddressLine) -> Result<(), Malformed> {
        if self.by_seat.insert(seat, address).is_some() {
            return Err(Malformed(format!("expected one address of {seat}, found another")));
        }
        Ok(())
    }

    /// Returns the address of a seat.
    #[must_use]
    pub fn of(&self, seat: Seat) -> Option<&MailAddress> {
        self.by_seat.get(&seat)
    }

    fn written_into(&self, file: &str) -> String {
        let mut text = String::new();
        for line in file.lines() {
            let read: Result<AddressLine, _> = line.parse();
            if !read.is_ok_and(|read| self.by_seat.contains_key(&read.seat)) {
                text.extend([line, "\n"]);
            }
        }
        for (seat, address) in &self.by_seat {
            text.extend([seat.name(), " = ", &address.0, "\n"]);
        }
        text
    }

    /// Returns the addresses of a letter to a seat.
    #[must_use]
    pub fn route_to(&self, seat: Seat) -> Route<'_> {
        let mut copy = None;
        if let Some((copied, address)) = &self.copy
            && *copied == seat
        {
            copy = Some(address);
        }
        let to = self.of(seat).or(copy);
        Route { from: self.of(Seat::Host), to, copy: if copy == to { None } else { copy } }
    }

    pub(super) fn with_copy(mut self, seat: Seat, address: &MailAddress) -> Self {
        let is_own = self.of(seat).is_some_and(|own| own.0.eq_ignore_ascii_case(&address.0));
        self.copy = if is_own { None } else { Some((seat, address.clone())) };
        self
    }

    pub(super) fn without(mut self, seat: Seat) -> Self {
        self.by_seat.remove(&seat);
        self
    }

    pub(super) fn players(&self) -> impl Iterator<Item = (Seat, &MailAddress)> {
        self.by_seat.iter().filter(|(seat, _)| **seat != Seat::Host).map(|(seat, address)| (*seat, address))
    }

    pub(super) fn seat_of(&self, address: Option<&MailAddress>) -> Option<Seat> {
        let address = address?;
        let (seat, _) = self.players().find(|(_, other)| other.0.eq_ignore_ascii_case(&address.0))?;
        Some(seat)
    }
}

/// Reads lines such as `p1 = ann@example.org`. Empty lines and lines that begin with `#` are ignored.
impl FromStr for Addresses {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let mut addresses = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let read = line.parse().and_then(|line| addresses.insert(line));
            read.map_err(|error| Malformed(format!("line {}: {}", index + 1, error.0)))?;
        }
        Ok(addresses)
    }
}

/// A line such as `p1 = ann@example.org`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressLine {
    seat: Seat,
    address: MailAddress,
}

impl FromStr for AddressLine {
    type Err = Malformed;

    fn from_str(line: &str) -> Result<Self, Malformed> {
        let line = line.trim();
        let Some((seat, address)) = line.split_once('=') else {
            return Err(Malformed::expected("a line such as `p1 = ann@example.org`", line));
        };
        let Ok(seat) = seat.trim().parse() else {
            return Err(Malformed::expected("`host` or a seat from `p1` to `p16`", line));
        };
        Ok(Self { seat, address: address.trim().parse()? })
    }
}

/// The addresses of a letter. A header without an address is omitted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Route<'a> {
    /// The host's address, for `From:` and `Reply-To:` (PM-52).
    pub(super) from: Option<&'a MailAddress>,
    pub(super) to: Option<&'a MailAddress>,
    /// Who gets a copy, for `Cc:` (PM-105).
    pub(super) copy: Option<&'a MailAddress>,
}

impl<'a> Route<'a> {
    pub(super) fn lines(&self) -> Vec<(&'static str, &'a MailAddress)> {
        let mut lines = Vec::new();
        for (name, address) in
            [("From", self.from), ("Reply-To", self.from), ("To", self.to), ("Cc", self.copy)]
        {
            lines.extend(address.map(|address| (name, address)));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pm_29_addresses_are_read_by_seat() {
        let read: Addresses =
            "# players\np1 = ann@example.org\n\n p2=ben+mail@example.org\nhost = games@example.org"
                .parse()
                .unwrap();
        assert_eq!(read.of(Seat::P1).unwrap().to_string(), "ann@example.org");
        assert_eq!(read.of(Seat::P2).unwrap().to_string(), "ben+mail@example.org");
        assert_eq!(read.of(Seat::P3), None);
        assert_eq!(read.seat_of(Some(&"Ben+Mail@Example.org".parse().unwrap())), Some(Seat::P2));
        assert_eq!(read.seat_of(Some(&"games@example.org".parse().unwrap())), None);
        for (text, error) in [
            ("p1", "line 1: expected a line such as"),
            ("\nbank = a@b", "line 2: expected `host` or a seat"),
            ("p17 = a@b", "line 1: expected `host` or a seat"),
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
