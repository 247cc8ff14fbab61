//! Frames: the bytes of a backup. The check of each frame covers all frames before it.

use std::io::{self, Read, Write};

use turnfold_core::Digest;

use super::error::RescueError;

const MAGIC: &str = "turnfold backup 2 ";
const PLAIN: &str = "plain\n";
const LZ4: &str = "lz4  \n";

/// The most bytes of a frame's content; parts are far smaller.
const FRAME_BYTES_MAX: usize = 1 << 20;

pub(crate) struct FrameWriter<W> {
    writer: W,
    compresses: bool,
    check: Digest,
}

pub(crate) struct FrameReader<R> {
    reader: R,
    compressed: bool,
    check: Digest,
}

fn check_after(before: &Digest, body: &[u8]) -> Digest {
    let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 backup");
    hasher.update(before.as_bytes()).update(&(body.len() as u64).to_le_bytes()).update(body);
    hasher.finalize().into()
}

fn check_of_magic(magic: &str) -> Digest {
    check_after(&Digest::new([0; 32]), magic.as_bytes())
}

impl<W: Write> FrameWriter<W> {
    pub(crate) fn new(mut writer: W, compresses: bool) -> io::Result<Self> {
        let magic = [MAGIC, if compresses { LZ4 } else { PLAIN }].concat();
        writer.write_all(magic.as_bytes())?;
        Ok(Self { writer, compresses, check: check_of_magic(&magic) })
    }

    pub(crate) fn write(&mut self, body: &[u8]) -> io::Result<()> {
        let compressed = self.compresses.then(|| lz4_flex::block::compress_prepend_size(body));
        let body = compressed.as_deref().unwrap_or(body);
        let length = u32::try_from(body.len()).map_err(io::Error::other)?;
        self.check = check_after(&self.check, body);
        self.writer.write_all(&length.to_le_bytes())?;
        self.writer.write_all(body)?;
        self.writer.write_all(self.check.as_bytes())
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl<R: Read> FrameReader<R> {
    pub(crate) fn new(mut reader: R) -> Result<Self, RescueError> {
        let magic = read_up_to(&mut reader, MAGIC.len() + PLAIN.len())?;
        let Some(kind) = magic.strip_prefix(MAGIC.as_bytes()) else {
            let text = String::from_utf8_lossy(&magic);
            let other = text.strip_prefix("turnfold backup ").and_then(|rest| rest.split_once(' '));
            return Err(match other {
                Some((version, _)) if version.bytes().all(|byte| byte.is_ascii_digit()) => {
                    RescueError::UnknownFormat { found: format!("turnfold backup {version}") }
                }
                _ if !magic.is_empty() && MAGIC.as_bytes().starts_with(&magic) => truncated(),
                _ => RescueError::NotABackup,
            });
        };
        let (compressed, magic) = match kind {
            kind if kind == PLAIN.as_bytes() => (false, [MAGIC, PLAIN].concat()),
            kind if kind == LZ4.as_bytes() => (true, [MAGIC, LZ4].concat()),
            kind if [PLAIN, LZ4].iter().any(|known| known.as_bytes().starts_with(kind)) => {
                return Err(truncated());
            }
            _ => return Err(RescueError::damaged("its first line is wrong")),
        };
        Ok(Self { reader, compressed, check: check_of_magic(&magic) })
    }

    pub(crate) fn read(&mut self) -> Result<Vec<u8>, RescueError> {
        let length = read_exactly(&mut self.reader, 4)?;
        let length = <[u8; 4]>::try_from(length).map_or(u32::MAX, u32::from_le_bytes);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        // Compression may make incompressible content somewhat longer.
        if length > 2 * FRAME_BYTES_MAX {
            return Err(RescueError::damaged(format!("a frame claims {length} bytes")));
        }
        let body = read_exactly(&mut self.reader, length)?;
        let check = read_exactly(&mut self.reader, 32)?;
        self.check = check_after(&self.check, &body);
        if check != self.check.as_bytes() {
            return Err(RescueError::damaged("its bytes do not match their check"));
        }
        if !self.compressed {
            return Ok(body);
        }
        let unreadable = |error| RescueError::damaged(format!("a frame does not decompress: {error}"));
        let (length, compressed) = lz4_flex::block::uncompressed_size(&body).map_err(unreadable)?;
        if length > FRAME_BYTES_MAX {
            return Err(RescueError::damaged(format!("a frame claims {length} bytes")));
        }
        lz4_flex::block::decompress(compressed, length).map_err(unreadable)
    }

    pub(crate) fn finish(mut self) -> Result<(), RescueError> {
        let surplus = read_up_to(&mut self.reader, 1)?;
        if surplus.is_empty() { Ok(()) } else { Err(RescueError::damaged("something follows its end")) }
    }
}

fn read_up_to(reader: &mut impl Read, count: usize) -> Result<Vec<u8>, RescueError> {
    let mut bytes = Vec::new();
    let read = reader.take(count as u64).read_to_end(&mut bytes);
    read.map_err(|source| RescueError::Io { action: "read the backup".to_owned(), source })?;
    Ok(bytes)
}

fn read_exactly(reader: &mut impl Read, count: usize) -> Result<Vec<u8>, RescueError> {
    let bytes = read_up_to(reader, count)?;
    if bytes.len() == count { Ok(bytes) } else { Err(truncated()) }
}

fn truncated() -> RescueError {
    RescueError::damaged("it ends too early")
}
