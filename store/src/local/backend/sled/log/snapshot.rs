//! sled's snapshots: where the current parts of every page lie, up to some position of the log.

use std::path::{Path, PathBuf};

use super::decode::{array, byte, number, put_number};
use super::{Lsn, damaged};
use crate::local::backend::BackendError;
use crate::local::dir::regular::read_at_most;

/// What the names of snapshots begin with; 16 digits follow.
pub(super) const NAME: &str = "snap.";
const NAME_DIGITS: usize = 16;

/// After the page table come its length and its checksum.
const TRAILER_BYTES: usize = 12;

/// More than any store has, so that a file that is none is not read whole.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Where a part of a page lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) lsn: Lsn,
    /// Its place in the file.
    pub(super) offset: u64,
    /// How many bytes it takes there.
    pub(super) bytes: u64,
}

/// Where a page lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PageState {
    /// Its last whole version, and what was changed since.
    Present { whole: Part, links: Vec<Part> },
    /// It is not in use.
    Free { lsn: Lsn, offset: u64 },
}

impl PageState {
    /// Returns the positions and offsets of its parts.
    pub(super) fn parts(&self) -> impl Iterator<Item = (Lsn, u64)> + '_ {
        let (first, links) = match self {
            Self::Present { whole, links } => ((whole.lsn, whole.offset), links.as_slice()),
            Self::Free { lsn, offset } => ((*lsn, *offset), &[][..]),
        };
        std::iter::once(first).chain(links.iter().map(|part| (part.lsn, part.offset)))
    }
}

/// The page table up to a position of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Snapshot {
    /// The position behind everything that it covers; `None` when nothing has been written.
    pub(super) lsn: Option<Lsn>,
    /// The segment in which the log goes on; `None` when it goes on in a new one.
    pub(super) active: Option<u64>,
    pub(super) pages: Vec<PageState>,
}

impl Snapshot {
    /// Reads the newest snapshot in sled's folder, or the empty one when there is none.
    pub(super) fn newest(sled_dir: &Path) -> Result<Self, BackendError> {
        match paths(sled_dir)?.pop() {
            Some(path) => Self::read(&path),
            None => Ok(Self::default()),
        }
    }

    fn read(path: &Path) -> Result<Self, BackendError> {
        let bytes =
            read_at_most(path, FILE_BYTES_MAX).map_err(|source| BackendError::io("read", path, source))?;
        let snapshot = (|| {
            let (body, trailer) = bytes.split_at_checked(bytes.len().checked_sub(TRAILER_BYTES)?)?;
            let (length, check) = trailer.split_first_chunk()?;
            let is_whole = u64::from_le_bytes(*length) == body.len() as u64
                && check == crc32fast::hash(body).to_le_bytes();
            is_whole.then(|| Self::decode(body)).flatten()
        })();
        snapshot.ok_or_else(|| damaged(format!("sled's snapshot `{}` is damaged", path.display())))
    }

    fn decode(mut body: &[u8]) -> Option<Self> {
        let rest = &mut body;
        let lsn = position(rest)?.checked_sub(1);
        let active = number(rest)?.checked_sub(1);
        let mut pages = Vec::new();
        while !rest.is_empty() {
            pages.push(page_state(rest)?);
        }
        Some(Self { lsn, active, pages })
    }

    /// Returns the bytes of the file that sled would write.
    pub(super) fn encode(&self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        body.extend(self.lsn.map_or(0, |lsn| lsn + 1).to_le_bytes());
        put_number(self.active.map_or(0, |active| active + 1), &mut body);
        for page in &self.pages {
            match page {
                PageState::Free { lsn, offset } => {
                    body.push(0);
                    body.extend(lsn.to_le_bytes());
                    put_pointer(*offset, &mut body);
                }
                PageState::Present { whole, links } => {
                    body.push(u8::try_from(links.len() + 1).ok()?);
                    for Part { lsn, offset, bytes } in std::iter::once(whole).chain(links) {
                        body.extend(lsn.to_le_bytes());
                        put_pointer(*offset, &mut body);
                        put_number(*bytes, &mut body);
                    }
                }
            }
        }
        let trailer =
            [&(body.len() as u64).to_le_bytes()[..], &crc32fast::hash(&body).to_le_bytes()].concat();
        body.extend(trailer);
        Some(body)
    }

    /// Returns the name of its file.
    pub(super) fn file_name(&self) -> String {
        format!("{NAME}{:0NAME_DIGITS$X}", self.lsn.unwrap_or_default())
    }
}

/// Returns the position in a snapshot's name; 0 if there is none.
pub(super) fn lsn_of(path: &Path) -> Lsn {
    let digits = path.file_name().and_then(|name| name.to_str()?.strip_prefix(NAME));
    digits.and_then(|digits| Lsn::from_str_radix(digits, 16).ok()).unwrap_or_default()
}

/// Returns the paths of all whole snapshots in sled's folder, the oldest first.
pub(in crate::local::backend) fn paths(sled_dir: &Path) -> Result<Vec<PathBuf>, BackendError> {
    let listed = std::fs::read_dir(sled_dir).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()
    });
    let mut paths = listed.map_err(|source| BackendError::io("read", sled_dir, source))?;
    paths.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        let digits = name.and_then(|name| name.strip_prefix(NAME));
        digits.is_some_and(|digits| {
            digits.len() == NAME_DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        })
    });
    paths.sort_unstable();
    Ok(paths)
}

fn page_state(rest: &mut &[u8]) -> Option<PageState> {
    let parts = byte(rest)?;
    let Some(links) = parts.checked_sub(1) else {
        return Some(PageState::Free { lsn: position(rest)?, offset: pointer(rest)? });
    };
    let whole = part(rest)?;
    let links = (0..links).map(|_| part(rest)).collect::<Option<_>>()?;
    Some(PageState::Present { whole, links })
}

fn part(rest: &mut &[u8]) -> Option<Part> {
    Some(Part { lsn: position(rest)?, offset: pointer(rest)?, bytes: number(rest)? })
}

/// Reads a position, which sled stores as a signed number.
fn position(rest: &mut &[u8]) -> Option<u64> {
    u64::try_from(i64::from_le_bytes(array(rest)?)).ok()
}

/// Reads a place in the file; what lies in a file of its own has another first byte.
fn pointer(rest: &mut &[u8]) -> Option<u64> {
    if byte(rest)? == 0 { number(rest) } else { None }
}

fn put_pointer(offset: u64, out: &mut Vec<u8>) {
    out.push(0);
    put_number(offset, out);
}
