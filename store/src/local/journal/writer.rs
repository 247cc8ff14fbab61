//! Writes to the journal: a commit is one write and one sync of a head (ST-11).

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::local::backend::BackendError;
use crate::local::files::write_at;
use crate::local::journal::commit::{Checker, Point, Salt, seal};
use crate::local::journal::head::{
    END, END_AT, FIRST_FRAME, HEAD_BYTES, JournalFrame, Kind, SECTOR_BYTES, framing,
};
use crate::local::journal::segment::Appending;
use crate::local::journal::{Image, head};

pub(crate) struct JournalWriter {
    heads: Vec<(File, PathBuf)>,
    salt: Salt,
    framing: Checker,
    current: usize,
    /// Where in the current head the next frame goes.
    at: usize,
    /// How many bytes of a head are used.
    limit: usize,
    turn: u64,
    pub(crate) end: Point,
    /// The commits in the current head that no segment has yet.
    waiting: Vec<Vec<u8>>,
    pub(crate) segments: Arc<Mutex<Appending>>,
}

impl JournalWriter {
    pub(crate) const NOTE_BYTES: usize = SECTOR_BYTES;

    /// Continues behind the end of a journal. It writes the sound frames of the heads again, because an earlier sync
    /// may have failed and a second one may not report that (ST-15). `head_bytes` limits how much of each head is used
    /// for frames.
    pub(crate) fn open(image: &Image, head_bytes: usize) -> Result<Self, BackendError> {
        let mut heads = Vec::new();
        for (name, found) in head::NAMES.iter().zip(&image.heads) {
            let path = image.dir.join(name);
            let file = BackendError::on(&path, "open", File::options().read(true).write(true).open(&path))?;
            let used = found.frames.iter().map(JournalFrame::bytes).sum::<usize>() + FIRST_FRAME;
            BackendError::on(
                &path,
                "write",
                write_at(&file, 0, found.bytes.get(..used).unwrap_or_default()),
            )?;
            BackendError::on_sync(file.sync_data())?;
            heads.push((file, path));
        }
        if let Some(torn) = &image.torn {
            BackendError::on(torn, "remove", std::fs::remove_file(torn))?;
        }
        let mut waiting = Vec::new();
        for (head, frame) in &image.tail {
            if *head == image.current {
                waiting.push(frame.body.clone());
            }
        }
        let at = image.heads.get(image.current).map_or(FIRST_FRAME, |head| head.end);
        let segments = Appending::of(&image.dir, image.salt, image.segments.last())?;
        Ok(Self {
            heads,
            salt: image.salt,
            framing: framing(&image.salt),
            current: image.current,
            at,
            limit: head_bytes.saturating_add(FIRST_FRAME).min(HEAD_BYTES),
            turn: image.turn - u64::from(image.is_closed),
            end: image.end,
            waiting,
            segments: Arc::new(Mutex::new(segments)),
        })
    }

    pub(crate) fn encode(&self, index: u32, body: &[u8]) -> Option<Vec<u8>> {
        // Checks the size first, so that a body that is too large is not copied.
        if FIRST_FRAME + body.len() > self.limit {
            return None;
        }
        self.frame(Kind::Commit, index, body).filter(|frame| FIRST_FRAME + frame.len() <= self.limit)
    }

    fn frame(&self, kind: Kind, index: u32, body: &[u8]) -> Option<Vec<u8>> {
        let turn = self.turn + 1;
        let frame = JournalFrame { kind, turn, index, before: self.end, body: body.to_vec() };
        frame.encode(&self.framing)
    }

    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        self.at + bytes <= self.limit
    }

    /// Switches to the other head, whose commits must be in segments. Returns the commits of this head that no segment
    /// has.
    pub(crate) fn switch(&mut self) -> Vec<Vec<u8>> {
        self.current = 1 - self.current;
        self.at = FIRST_FRAME;
        // Skips a turn, because a note that the store was closed has the turn that would be next in its own head.
        self.turn += 1;
        std::mem::take(&mut self.waiting)
    }

    /// Writes a commit, durably. The current head must have room for it.
    pub(crate) fn write(&mut self, frame: &[u8], body: Vec<u8>) -> Result<(), BackendError> {
        self.put(frame)?;
        self.at += frame.len();
        self.turn += 1;
        self.end = self.end.after(&body);
        self.waiting.push(body);
        Ok(())
    }

    /// Writes a note of the journal's end and of the sound index, durably. The current head must have room for it.
    pub(crate) fn note(&mut self, kind: Kind, index: u32) -> Result<(), BackendError> {
        let Some(frame) = self.frame(kind, index, &[]) else { return Ok(()) };
        self.put(&frame)?;
        if kind != Kind::Closed {
            self.at += frame.len();
            self.turn += 1;
        }
        Ok(())
    }

    /// Writes the end mark into the other head, durably. All commits must be durable before.
    pub(crate) fn mark_end(&self) -> Result<(), BackendError> {
        self.put_in(1 - self.current, END_AT, &seal(END, &self.salt, self.end))
    }

    fn put(&self, frame: &[u8]) -> Result<(), BackendError> {
        self.put_in(self.current, self.at, frame)
    }

    fn put_in(&self, head: usize, at: usize, bytes: &[u8]) -> Result<(), BackendError> {
        let Some((file, path)) = self.heads.get(head) else { return Ok(()) };
        BackendError::on(path, "write", write_at(file, at, bytes))?;
        BackendError::on_sync(file.sync_data())
    }
}
