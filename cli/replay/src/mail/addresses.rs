//! Where the players of a match by mail get their letters: a file outside every log, backup and bundle (PM-29).

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use turnfold_core::Seat;
use turnfold_core::text::Malformed;

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

    /// Takes what cannot be taken for anything else in a header: one `@`, and no sign that separates addresses.
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

/// Reads lines such as `p1 = ann@example.org`; empty ones and those that begin with `#` say nothing.
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
            let seat = seat.ok_or_else(|| at(Malformed::expected("a seat from `p1` to `p8`", line)))?;
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
            ("p9 = a@b", "line 1: expected a seat"),
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
