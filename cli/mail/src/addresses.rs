//! The addresses of players and host, and the header lines made from them (PM-29, PM-52).

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use turnfold_core::Seat;
use turnfold_core::text::Malformed;

pub(super) const ADDRESSES: &str = "addresses";

/// An email address, such as `ann@example.org`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailAddress(String);

impl MailAddress {
    /// The most characters of an address, so that `To:` stays one short line.
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

/// The addresses of the players, by seat, and of the host; and who gets copies of the letters to a seat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses(BTreeMap<Seat, MailAddress>, Option<(Seat, MailAddress)>);

impl Addresses {
    /// Returns the address of a seat.
    #[must_use]
    pub fn of(&self, seat: Seat) -> Option<&MailAddress> {
        self.0.get(&seat)
    }

    /// Returns the text of an address file, in which these addresses replace those of the same seats.
    pub(super) fn written_into(&self, file: &str) -> String {
        let is_replaced =
            |line: &str| line.parse().is_ok_and(|line: AddressLine| self.0.contains_key(&line.seat));
        let others = file.lines().filter(|line| !is_replaced(line)).map(|line| format!("{line}\n"));
        others.chain(self.0.iter().map(|(seat, address)| format!("{seat} = {address}\n"))).collect()
    }

    /// Returns the addresses of a letter to a seat.
    #[must_use]
    pub fn route_to(&self, seat: Seat) -> Route<'_> {
        let copy = self.1.as_ref().filter(|(copied, _)| *copied == seat).map(|(_, address)| address);
        let to = self.of(seat).or(copy);
        Route { from: self.of(Seat::Host), to, copy: copy.filter(|copy| to != Some(*copy)) }
    }

    pub(super) fn one(seat: Seat, address: MailAddress) -> Self {
        Self(BTreeMap::from([(seat, address)]), None)
    }

    /// Returns the addresses with one that gets copies of the letters to a seat, unless it is the seat's own.
    pub(super) fn with_copy(&self, seat: Seat, address: &MailAddress) -> Self {
        let is_own = self.of(seat).is_some_and(|own| own.0.eq_ignore_ascii_case(&address.0));
        Self(self.0.clone(), (!is_own).then(|| (seat, address.clone())))
    }

    pub(super) fn without(mut self, seat: Seat) -> Self {
        self.0.remove(&seat);
        self
    }

    /// Lists the addresses of players.
    pub(super) fn players(&self) -> impl Iterator<Item = (Seat, &MailAddress)> {
        self.0.iter().filter(|(seat, _)| **seat != Seat::Host).map(|(seat, address)| (*seat, address))
    }

    /// Returns the player's seat that has an address; letter case does not matter.
    #[must_use]
    pub fn seat_of(&self, address: &MailAddress) -> Option<Seat> {
        self.players().find(|(_, other)| other.0.eq_ignore_ascii_case(&address.0)).map(|(seat, _)| seat)
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
        let (seat, address) = line
            .split_once('=')
            .ok_or_else(|| Malformed::expected("a line such as `p1 = ann@example.org`", line))?;
        let seat = seat.trim().parse().ok();
        let seat = seat.ok_or_else(|| Malformed::expected("`host` or a seat from `p1` to `p16`", line))?;
        Ok(Self { seat, address: address.trim().parse()? })
    }
}

impl Addresses {
    /// Collects lines for a match with this number of players.
    ///
    /// # Errors
    /// [`Malformed`] for a seat that the match does not have, and for two addresses of a seat.
    pub fn of_lines(lines: &[AddressLine], players: usize) -> Result<Self, Malformed> {
        let mut addresses = Self::default();
        for AddressLine { seat, address } in lines {
            if *seat != Seat::Host && !Seat::players(players).contains(seat) {
                return Err(Malformed(format!("the match has {players} players, and no seat {seat}")));
            }
            addresses.insert(*seat, address.clone())?;
        }
        Ok(addresses)
    }

    fn insert(&mut self, seat: Seat, address: MailAddress) -> Result<(), Malformed> {
        if self.0.insert(seat, address).is_some() {
            return Err(Malformed(format!("expected one address of {seat}, found another")));
        }
        Ok(())
    }
}

/// Reads lines such as `p1 = ann@example.org`. Empty lines and lines that begin with `#` are ignored.
impl FromStr for Addresses {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let mut addresses = Self::default();
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let read = line.parse().and_then(|AddressLine { seat, address }| addresses.insert(seat, address));
            read.map_err(|error| Malformed(format!("line {number}: {}", error.0)))?;
        }
        Ok(addresses)
    }
}

/// The addresses of a letter. A header without an address is omitted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Route<'a> {
    /// The host's address, for `From:` and `Reply-To:` (PM-52).
    pub from: Option<&'a MailAddress>,
    /// The player's address.
    pub to: Option<&'a MailAddress>,
    /// Who gets a copy, for `Cc:` (PM-105).
    pub copy: Option<&'a MailAddress>,
}

impl Route<'_> {
    /// Returns the header lines, each with its name.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let line = |name, address: Option<&MailAddress>| Some((name, address?.to_string()));
        let lines = [
            line("From", self.from),
            line("Reply-To", self.from),
            line("To", self.to),
            line("Cc", self.copy),
        ];
        lines.into_iter().flatten().collect()
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
        assert_eq!(read.seat_of(&"Ben+Mail@Example.org".parse().unwrap()), Some(Seat::P2));
        assert_eq!(read.seat_of(&"games@example.org".parse().unwrap()), None);
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
