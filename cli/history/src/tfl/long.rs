//! Replay files of any length, read one entry at a time.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use turnfold_core::Registry;

use super::file::{FENCE, Replay, ReplayLine};
use super::read::{Body, SourceLines};
use crate::ReplayError;
use crate::input::{InputError, Limits, input_name, is_page, is_standard, open};

/// A replay file whose entries are read from disk in every pass.
pub(crate) struct LongReplay {
    /// The replay without the lines after its header.
    pub(crate) replay: Replay,
    pub(crate) head: u64,
    file: File,
    /// Where the first line after the header begins.
    body_at: u64,
}

impl LongReplay {
    /// Opens a regular file and parses every line. Returns `None` for other input and for a file with an error; reading
    /// the file whole names the error.
    pub(crate) fn open(path: &Path, registry: &Registry) -> Option<Self> {
        if is_standard(path) || is_page(path) {
            return None;
        }
        let file = open(path, Limits::REPLAY.what).ok()?;
        if file.metadata().ok()?.len() > Limits::REPLAY.bytes_max as u64 {
            return None;
        }
        let mut lines = FileLines::of(&file);
        let mut header = String::new();
        let mut fences = 0;
        while fences < 2 {
            let line = lines.next().ok()??;
            fences += usize::from(line.strip_suffix('\n') == Some(FENCE));
            header.push_str(line);
            if header.len() > Limits::HEADER_BYTES_MAX.saturating_mul(2) {
                return None;
            }
        }
        let replay = Replay::read_also_seen(&input_name(path), header.as_bytes(), registry).ok()?;
        let mut long = Self { replay, head: 0, file, body_at: header.len() as u64 };
        long.head = long.pass(&mut |_| Ok(true)).ok()?.count;
        Some(long)
    }

    /// Reads the lines after the header and passes each to `take`, until it returns `false`. Returns what was read of the
    /// number of entries and of the closing line.
    pub(crate) fn pass(
        &self,
        take: &mut dyn FnMut(ReplayLine) -> Result<bool, ReplayError>,
    ) -> Result<Body, ReplayError> {
        let Self { replay: Replay { file: name, header, .. }, file, .. } = self;
        let mut file: &File = file;
        file.seek(SeekFrom::Start(self.body_at)).map_err(|cause| unreadable(name, cause))?;
        let mut body = Body::after(header);
        let mut lines = FileLines::of(file);
        lines.number = header.first_line_after() - 1;
        loop {
            let number = lines.number;
            let Some(rest) = lines.next().map_err(|cause| unreadable(name, cause))? else {
                return Ok(body);
            };
            let Some(line) = (SourceLines { file: name, rest, number }).next()? else { continue };
            if let Some(read) = body.read(&line)?
                && !take(read)?
            {
                return Ok(body);
            }
        }
    }
}

fn unreadable(name: &str, cause: io::Error) -> InputError {
    InputError::Unreadable { what: Limits::REPLAY.what, path: name.into(), cause }
}

struct FileLines<'f> {
    input: BufReader<&'f File>,
    bytes: Vec<u8>,
    /// The number of lines read.
    number: usize,
}

impl<'f> FileLines<'f> {
    fn of(file: &'f File) -> Self {
        Self { input: BufReader::new(file), bytes: Vec::new(), number: 0 }
    }

    fn next(&mut self) -> io::Result<Option<&str>> {
        self.bytes.clear();
        let mut line = self.input.by_ref().take(Limits::REPLAY.line_bytes_max as u64 + 1);
        if line.read_until(b'\n', &mut self.bytes)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let is_whole = self.bytes.ends_with(b"\n") && self.number <= Limits::REPLAY.lines_max;
        match str::from_utf8(&self.bytes) {
            Ok(line) if is_whole => Ok(Some(line)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}
