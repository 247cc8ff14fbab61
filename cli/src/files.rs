//! Files written whole or not at all, and input read up to a limit.

use std::env;
use std::fs::{self, File, FileType};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

pub(crate) use turnfold_replay::revision::{input_name, is_standard};
use turnfold_store::draft::{DraftDir, DraftFile, Readers};
use turnfold_store::open_regular;

use crate::failure::Failure;
use crate::signals;

/// A file that a verb makes, unless standard output is to take it.
#[derive(Debug, clap::Args)]
pub(crate) struct NewFile {
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
}

impl NewFile {
    /// Returns the file, which must not exist unless it is to be overwritten; `None` is standard output.
    pub(crate) fn path(&self) -> Result<Option<&Path>, Failure> {
        self.output.iter().try_for_each(|path| require_new(path, self.force))?;
        Ok(self.output.as_deref())
    }
}

/// Requires a file not to exist, unless it is to be overwritten.
pub(crate) fn require_new(path: &Path, force: bool) -> Result<(), Failure> {
    if force || !path.exists() {
        return Ok(());
    }
    Err(Failure::usage(format!("`{}` exists", path.display())).hint("`--force` overwrites it"))
}

/// Writes a file so that whoever looks sees the old content or the new, also after a crash: a temporary file beside
/// it is synced and then takes its name. A file that is replaced keeps its permissions.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> Result<(), Failure> {
    replace(path, content)
        .map_err(|error| Failure::trouble(format!("cannot write `{}`: {error}", path.display())))
}

/// Writes a file that only its owner can read, whole or not at all, as it comes. Unless `force` is set, a file that is
/// there is kept.
pub(crate) fn write_private<T>(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut File) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let failed = |error: io::Error| Failure::trouble(format!("cannot write `{}`: {error}", path.display()));
    let dir = dir_of(path);
    if !dir.is_dir() {
        let message = format!("cannot write `{}`: there is no directory `{}`", path.display(), dir.display());
        return Err(Failure::usage(message));
    }
    signals::remove_drafts();
    let mut draft = DraftFile::file_in(dir, Readers::Owner).map_err(failed)?;
    let written = write(draft.file())?;
    draft.file().sync_all().map_err(failed)?;
    draft.persist(path, force).map_err(failed)?;
    sync_dir(dir).map_err(failed)?;
    Ok(written)
}

/// Makes a directory for as long as it is needed, where the machine keeps what is temporary.
pub(crate) fn temporary_dir() -> io::Result<DraftDir> {
    signals::remove_drafts();
    DraftDir::dir_in(&env::temp_dir())
}

fn dir_of(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let dir = dir_of(path);
    signals::remove_drafts();
    let mut draft = DraftFile::file_in(dir, Readers::Anyone)?;
    draft.file().write_all(content)?;
    if let Ok(old) = fs::metadata(path) {
        draft.file().set_permissions(old.permissions())?;
    }
    draft.file().sync_all()?;
    draft.persist(path, true)?;
    sync_dir(dir)
}

/// Makes the names in a directory durable.
fn sync_dir(dir: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(dir)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = dir;
    Ok(())
}

/// What a kind of input file may hold at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// What messages call it.
    pub(crate) what: &'static str,
    pub(crate) bytes_max: usize,
    pub(crate) lines_max: usize,
    /// The longest line, without its line feed.
    pub(crate) line_bytes_max: usize,
}

/// Reads a file of bounded size. Pipes and devices are refused, which may never end or never begin.
pub(crate) fn read_input(path: &Path, limits: &Limits) -> Result<Vec<u8>, Failure> {
    let file = open_input(path, limits.what)?;
    if file.metadata().is_ok_and(|found| found.len() > limits.bytes_max as u64) {
        return Err(too_long(path, limits));
    }
    read_bounded(&mut BufReader::new(file), path, limits)
}

/// Opens an input file, which messages call `what`; only a regular one.
pub(crate) fn open_input(path: &Path, what: &str) -> Result<File, Failure> {
    open_regular(path).map_err(|error| {
        match fs::metadata(path).ok().and_then(|found| kind_of(found.file_type())) {
            Some(kind) => Failure::usage(format!("cannot read {what} `{}`: it is {kind}", path.display()))
                .hint("name a regular file"),
            None => Failure::file(&format!("read {what}"), path, &error),
        }
    })
}

/// Reads a file of bounded size, or standard input for `-`.
pub(crate) fn read_input_or_stdin(path: &Path, limits: &Limits) -> Result<Vec<u8>, Failure> {
    if is_standard(path) {
        let name = input_name(path);
        return read_bounded(&mut io::stdin().lock(), Path::new(name.as_ref()), limits);
    }
    read_input(path, limits)
}

/// Reads input of bounded size that is not a file, such as standard input; `name` is what messages call it.
pub(crate) fn read_bounded(
    input: &mut impl BufRead,
    name: &Path,
    limits: &Limits,
) -> Result<Vec<u8>, Failure> {
    let Limits { what, bytes_max, lines_max, line_bytes_max } = *limits;
    let mut bytes = Vec::new();
    for line in 1.. {
        // One byte more for the line feed, and that a longer line is known from one that fits.
        let read = input.take(line_bytes_max as u64 + 1).read_until(b'\n', &mut bytes);
        let length = read.map_err(|error| Failure::file(&format!("read {what}"), name, &error))?;
        if length == 0 {
            break;
        }
        let place = || format!("{}:{line}", name.display());
        if length > line_bytes_max && bytes.last() != Some(&b'\n') {
            return Err(Failure::usage(format!(
                "{}: expected at most {line_bytes_max} bytes in a line",
                place()
            )));
        }
        if line > lines_max {
            return Err(Failure::usage(format!(
                "{}: expected at most {lines_max} lines in a {what}",
                place()
            )));
        }
        if bytes.len() > bytes_max {
            return Err(too_long(name, limits));
        }
    }
    Ok(bytes)
}

fn too_long(path: &Path, Limits { what, bytes_max, .. }: &Limits) -> Failure {
    Failure::usage(format!("`{}`: expected at most {bytes_max} bytes in a {what}", path.display()))
}

/// Says what a path is that is no regular file.
fn kind_of(file_type: FileType) -> Option<&'static str> {
    if file_type.is_file() {
        return None;
    }
    Some(if file_type.is_dir() { "a directory" } else { "a pipe, a socket or a device" })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { what: "script", bytes_max: 8, lines_max: 3, line_bytes_max: 4 };

    fn check(input: &str, expected: Result<(), &str>) {
        let read = read_bounded(&mut input.as_bytes(), Path::new("x"), &LIMITS);
        let told = read.map(|bytes| assert_eq!(bytes, input.as_bytes())).map_err(|error| error.to_string());
        assert_eq!(told, expected.map_err(String::from), "{input:?}");
    }

    #[test]
    fn input_is_read_up_to_its_limits() {
        for input in ["", "\n", "abcd", "abcd\n", "abcd\nab\n", "\n\n\n", "a\n\nabcd"] {
            check(input, Ok(()));
        }
        check("abcde", Err("x:1: expected at most 4 bytes in a line"));
        check("a\nabcde\n", Err("x:2: expected at most 4 bytes in a line"));
        check("\n\n\n\n", Err("x:4: expected at most 3 lines in a script"));
        check("abcd\nabcd\n", Err("`x`: expected at most 8 bytes in a script"));
    }
}
