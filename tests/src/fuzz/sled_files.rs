//! sled's files, read without sled: whatever is in them, the reader answers or refuses, and writes nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use turnfold_store::{BranchName, Store, StoreError, StoreReader};

use super::{check_message, sample};

/// What the first byte chooses: the rest is bytes of `db` from some offset on, a snapshot before its check, or the
/// messages of a log, behind those of a sound store or alone.
const BYTES: u8 = 0;
const SNAPSHOT: u8 = 1;
const MESSAGES: u8 = 2;
const MESSAGES_ALONE: u8 = 3;
const KINDS: u8 = 4;

const SEGMENT_BYTES: usize = 512 * 1024;
const HEADER_BYTES: usize = 20;

/// The bytes of a snapshot's length and checksum.
const TRAILER_BYTES: usize = 12;

/// The files of a small store, by their paths below its folder.
struct Sample {
    files: Vec<(PathBuf, Vec<u8>)>,
    snapshot: PathBuf,
    /// How many bytes of `db` are used.
    used: usize,
}

impl Sample {
    fn content(&self, path: &Path) -> &[u8] {
        &self.files.iter().find(|(found, _)| found == path).unwrap().1
    }
}

static SAMPLE: LazyLock<Sample> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("store");
    // sled writes a snapshot only when it opens.
    let store = Store::open_or_create(&dir).unwrap();
    store.create_match(&sample::name("m"), &sample::genesis(), sample::entries(1, 5)).unwrap();
    store.close().unwrap();
    Store::open(&dir).unwrap().close().unwrap();
    let listed = walkdir::WalkDir::new(&dir).into_iter().map(|entry| entry.unwrap().into_path());
    let read = |path: PathBuf| (path.strip_prefix(&dir).unwrap().to_owned(), fs::read(&path).unwrap());
    let mut sample = Sample {
        files: listed.filter(|path| path.is_file()).map(read).collect(),
        snapshot: PathBuf::new(),
        used: 0,
    };
    let mut paths = sample.files.iter().map(|(path, _)| path);
    sample.snapshot = paths.find(|path| path.to_str().unwrap().contains("snap.")).unwrap().clone();
    let db = sample.content(Path::new("sled/db"));
    sample.used = db.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    sample
});

/// Puts the bytes into the files of a sound store, then asks its reader everything.
pub fn sled_files(bytes: &[u8]) {
    let Some((choice, rest)) = bytes.split_first() else { return };
    let kind = choice % KINDS;
    let mut files = SAMPLE.files.clone();
    for (path, content) in &mut files {
        match kind {
            BYTES if path.ends_with("db") => overwrite(content, rest),
            SNAPSHOT if *path == SAMPLE.snapshot => *content = checked_snapshot(rest),
            MESSAGES if path.ends_with("db") => put_messages(content, SAMPLE.used, rest),
            MESSAGES_ALONE if path.ends_with("db") => {
                content.truncate(HEADER_BYTES);
                content.resize(SEGMENT_BYTES, 0);
                put_messages(content, HEADER_BYTES, rest);
            }
            _ => {}
        }
    }
    if kind == MESSAGES_ALONE {
        files.retain(|(path, _)| *path != SAMPLE.snapshot);
    }
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in &files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    if let Err(error) = ask(folder.path()) {
        check_message(&error.to_string());
    }
    for (path, content) in &files {
        assert!(fs::read(folder.path().join(path)).unwrap() == *content, "{} has changed", path.display());
    }
}

fn ask(dir: &Path) -> Result<(), StoreError> {
    let store = StoreReader::open(dir)?;
    let (name, main) = (sample::name("m"), BranchName::main());
    let answers = [
        store.matches().map(|_| ()),
        store.branches(&name).map(|_| ()),
        store.head(&name, &main).map(|_| ()),
        store.read(&name, &main, None).map(|_| ()),
        store.audit(&name).map(|_| ()),
        store.check(&mut |_| {}).map(|_| ()),
    ];
    answers.into_iter().filter_map(Result::err).for_each(|error| check_message(&error.to_string()));
    Ok(())
}

/// Overwrites the file with bytes, from the offset that the first two of them say.
fn overwrite(content: &mut [u8], bytes: &[u8]) {
    let Some((offset, bytes)) = bytes.split_first_chunk::<2>() else { return };
    let offset = usize::from(u16::from_le_bytes(*offset)) % SAMPLE.used;
    for (old, new) in content.iter_mut().skip(offset).zip(bytes) {
        *old = *new;
    }
}

fn checked_snapshot(body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u64).to_le_bytes();
    [body, &length, &crc32fast::hash(body).to_le_bytes()].concat()
}

/// Writes messages of the first segment with right checks, one after another. Each is read as its kind, its page, the
/// length of its body in two bytes, and its body.
fn put_messages(content: &mut [u8], from: usize, mut messages: &[u8]) {
    let mut at = from;
    while let Some((&[kind, page, low, high], rest)) = messages.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        let (body, rest) = rest.split_at(length);
        messages = rest;
        // The length as a number of three bytes, the segment, the page.
        let [low, high, ..] = length.to_le_bytes();
        let header = [kind, 250, low, high, 0, 0, page.min(240)];
        let check = crc32fast::hash(&[body, &header].concat()) ^ u32::MAX;
        let message = [&check.to_le_bytes(), header.as_slice(), body].concat();
        let Some(place) = content.get_mut(at..at + message.len()) else { return };
        place.copy_from_slice(&message);
        at += message.len();
    }
}

/// The files as they are, and messages of every kind.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let snapshot = SAMPLE.content(&SAMPLE.snapshot);
    let body = &snapshot[..snapshot.len() - TRAILER_BYTES];
    let db = &SAMPLE.content(Path::new("sled/db"))[..SAMPLE.used];
    // A node with one key, a link that sets one, a batch, and what frees a page.
    let node = [8, 2, 11, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, b's', 0];
    let link = [10, 2, 4, 0, 0, 1, b's', 0];
    let others = [3, 0, 8, 0, 200, 0, 0, 0, 0, 0, 0, 0, 4, 3, 0, 0];
    let messages = [node.as_slice(), &link, &others].concat();
    vec![
        [&[BYTES, 0, 0], db].concat(),
        [&[SNAPSHOT], body].concat(),
        [&[MESSAGES], messages.as_slice()].concat(),
        [&[MESSAGES_ALONE], messages.as_slice()].concat(),
    ]
}
