//! Writes files completely or not at all, and reads standard input, scripts and tokens up to limits, which
//! `docs/guide/limits.md` lists.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{self, Path, PathBuf};

use turnfold_history::input::{InputError, Limits, is_page};
pub(crate) use turnfold_history::input::{input_name, is_standard};
use turnfold_history::session::ScriptCommand;
use turnfold_history::tfl::{PageError, replay_bytes};
use turnfold_history::{ReplayError, Viewer};
use turnfold_proof::signing::sync_folder_of;
use turnfold_serve::{AccessToken, TokenKind};
use turnfold_store::draft::{DraftDir, DraftFile, Readers};

use crate::failure::{Failure, Result};
use crate::output::printable;
use crate::signals;

/// Scripts. All commands are played before the first is recorded.
const SCRIPT: Limits = Limits {
    what: "script",
    bytes_max: 1 << 26,
    lines_max: 1_000_000,
    line_bytes_max: Limits::COMMAND_BYTES_MAX,
};

const TOKEN: Limits = Limits { what: "token file", bytes_max: 256, lines_max: 1, line_bytes_max: 256 };

pub(crate) const SETUP: Limits = Limits {
    what: "setup",
    bytes_max: Limits::HEADER_BYTES_MAX,
    lines_max: 1 << 18,
    line_bytes_max: Limits::HEADER_BYTES_MAX,
};

/// Terms of matches by mail (PM-3).
pub(crate) const MAIL_TERMS: Limits = Limits { what: "terms", ..SETUP };

/// The most symbolic links that are followed to a file, as on Linux.
const LINKS_MAX: u32 = 40;

/// A file that a verb makes, unless standard output is to take it.
#[derive(Debug, clap::Args)]
pub(crate) struct NewFile {
    /// Write to a file instead of standard output, which `-` stands for
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
}

impl NewFile {
    pub(crate) fn is_forced(&self) -> bool {
        self.force
    }

    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| !is_standard(path))
    }

    pub(crate) fn path(&self) -> Result<Option<&Path>> {
        let Some(path) = self.file() else { return Ok(None) };
        check_new(path, self.force)?;
        Ok(Some(path))
    }

    pub(crate) fn folder(&self) -> Result<&Path> {
        let Some(path) = self.file() else {
            return Err(Failure::usage("several files need a folder").hint("name one with `-o`"));
        };
        if fs::metadata(path).is_ok_and(|found| !found.is_dir()) {
            return Err(Failure::usage(format!("`{}` is no folder; nothing was written", path.display())));
        }
        Ok(path)
    }

    pub(crate) fn make_folder(&self) -> Result<&Path> {
        let folder = self.folder()?;
        match fs::create_dir_all(folder) {
            Ok(()) => Ok(folder),
            Err(cause) => Err(Failure::trouble(format!("cannot create `{}`: {cause}", folder.display()))),
        }
    }

    pub(crate) fn names_folder(&self) -> bool {
        let Some(path) = self.file() else { return false };
        path.is_dir() || path.to_string_lossy().ends_with(path::is_separator)
    }

    /// Writes a text to the file, completely or not at all, and returns the file's name; `None` for standard output, to
    /// which it writes nothing.
    pub(crate) fn write(&self, text: &str) -> Result<Option<String>> {
        let Some(path) = self.file() else { return Ok(None) };
        write_whole(path, text.as_bytes())?;
        Ok(Some(path.display().to_string()))
    }
}

/// Requires that a file does not exist, except with `force`. A symbolic link to a missing file counts as a file.
pub(crate) fn check_new(path: &Path, force: bool) -> Result<()> {
    require_replaceable(path)?;
    if fs::symlink_metadata(path).is_ok() && !force {
        return Err(Failure::usage(format!("`{}` exists", path.display())).hint("`--force` overwrites it"));
    }
    Ok(())
}

/// Writes a file so that readers see the old or the new content, even after a crash: a temporary file next to it is
/// synced and renamed. A replaced file keeps its permissions, and a symbolic link stays a link.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> Result<()> {
    write_whole_from(path, |file| file.write_all(content).map_err(|cause| unwritable(path, &cause)))
}

pub(crate) fn write_whole_from<T>(path: &Path, write: impl FnOnce(&mut File) -> Result<T>) -> Result<T> {
    let (end, written) = replace(path, |file| {
        let written = write(file)?;
        file.sync_all().map_err(|cause| unwritable(path, &cause))?;
        Ok(written)
    })?;
    sync_folder_of(&end).map_err(|cause| unwritable(path, &cause))?;
    Ok(written)
}

/// Writes a file that can be made again, such as one of many. Readers see the old or the new content, but nothing is
/// synced, because that takes longer than to make the file.
pub(crate) fn write_unsynced(path: &Path, content: &[u8]) -> Result<()> {
    replace(path, |file| file.write_all(content).map_err(|cause| unwritable(path, &cause)))?;
    Ok(())
}

/// Replaces a file by a temporary file. Returns the path at the end of symbolic links.
fn replace<T>(path: &Path, write: impl FnOnce(&mut File) -> Result<T>) -> Result<(PathBuf, T)> {
    require_replaceable(path)?;
    let failed = |cause: io::Error| unwritable(path, &cause);
    let end = end_of_links(path).map_err(failed)?;
    signals::remove_drafts();
    let mut draft = DraftFile::file_in(dir_of(&end), Readers::Anyone).map_err(failed)?;
    if let Ok(old) = fs::metadata(&end) {
        draft.file().set_permissions(old.permissions()).map_err(failed)?;
    }
    let written = write(draft.file())?;
    draft.persist(&end, true).map_err(failed)?;
    Ok((end, written))
}

/// Writes the texts that `write` passes on, one after another.
pub(crate) fn write_texts<T>(
    path: &Path,
    file: &mut File,
    write: impl FnOnce(&mut dyn FnMut(&str) -> Result<()>) -> Result<T>,
) -> Result<T> {
    let failed = |cause: io::Error| unwritable(path, &cause);
    let mut file = BufWriter::new(file);
    let written = write(&mut |text| file.write_all(text.as_bytes()).map_err(failed))?;
    file.flush().map_err(failed)?;
    Ok(written)
}

pub(crate) fn unwritable(path: &Path, cause: &io::Error) -> Failure {
    Failure::trouble(format!("cannot write `{}`: {cause}", path.display()))
}

/// Writes a file that only its owner can read, completely or not at all. Without `force`, an existing file is kept and
/// a symbolic link is not followed.
pub(crate) fn write_private<T>(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut File) -> Result<T>,
) -> Result<T> {
    let failed = |cause: io::Error| unwritable(path, &cause);
    require_replaceable(path)?;
    let end = if force { end_of_links(path).map_err(failed)? } else { path.into() };
    let dir = dir_of(&end);
    if !dir.is_dir() {
        let message = format!("cannot write `{}`: there is no directory `{}`", path.display(), dir.display());
        return Err(Failure::usage(message));
    }
    signals::remove_drafts();
    let mut draft = DraftFile::file_in(dir, Readers::Owner).map_err(failed)?;
    let written = write(draft.file())?;
    draft.file().sync_all().map_err(failed)?;
    draft.persist(&end, force).map_err(failed)?;
    sync_folder_of(&end).map_err(failed)?;
    Ok(written)
}

pub(crate) fn write_token(path: &Path, token: &AccessToken) -> Result<()> {
    write_private(path, false, |file| Ok(writeln!(file, "{}", token.expose())?))
}

pub(crate) fn temporary_dir() -> io::Result<DraftDir> {
    signals::remove_drafts();
    DraftDir::dir_in(&env::temp_dir())
}

/// Requires that nothing but a regular file is at a path. Otherwise a file would replace a device or a pipe.
fn require_replaceable(path: &Path) -> Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(Failure::usage(format!("`{}` is no regular file; nothing was written", path.display())));
    }
    Ok(())
}

/// Returns the path at the end of symbolic links, even if no file is there yet.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut end = path.to_path_buf();
    for _ in 0..=LINKS_MAX {
        let Ok(target) = fs::read_link(&end) else { return Ok(end) };
        end = dir_of(&end).join(target);
    }
    Err(io::Error::other("too many symbolic links"))
}

pub(crate) fn dir_of(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(crate) fn with_replays(paths: Vec<PathBuf>, failures: &mut Vec<Failure>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in paths {
        if is_page(&path)
            && let Ok(bytes) = Limits::REPLAY.read_file(&path)
            && let Err(error @ PageError::NoReplay { .. }) = replay_bytes(&path, bytes)
        {
            failures.push(ReplayError::from(error).into());
        } else {
            files.push(path);
        }
    }
    files
}

pub(crate) fn read_input_or_stdin(path: &Path, limits: &Limits) -> Result<Vec<u8>, InputError> {
    if is_standard(path) {
        let name = input_name(path);
        return limits.read(&mut io::stdin().lock(), Path::new(name.as_ref()));
    }
    limits.read_file(path)
}

pub(crate) fn read_text(path: &Path, limits: &Limits) -> Result<String> {
    String::from_utf8(limits.read_file(path)?)
        .map_err(|_| Failure::usage(format!("`{}`: expected UTF-8 text", path.display())))
}

pub(crate) fn read_script_text(path: &Path) -> Result<String> {
    let bytes = read_input_or_stdin(path, &SCRIPT)?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        let line = valid.filter(|byte| **byte == b'\n').count() + 1;
        Failure::usage(format!("{}:{line}: expected UTF-8 text", input_name(path)))
    })
}

pub(crate) fn place_in_script(given: &ScriptCommand, script: Option<&PathBuf>) -> Option<String> {
    Some(format!("{}:{}", input_name(script?), given.number?))
}

/// Returns the commands of a call, from its arguments or its script. With a viewer, that seat gives all of them.
pub(crate) fn commands_of(
    commands: &[String],
    script: Option<&PathBuf>,
    viewer: Option<Viewer>,
) -> Result<Vec<ScriptCommand>> {
    let mut given: Vec<_> = match script {
        Some(path) => ScriptCommand::each_in(&read_script_text(path)?).collect(),
        None => commands.iter().map(|command| ScriptCommand::parse(command)).collect(),
    };
    if let Some(viewer) = viewer {
        viewer.give(&mut given)?;
    }
    Ok(given)
}

/// Reads a token file; `None` if it holds something else. No message shows the content of the file.
pub(crate) fn read_token(path: &Path) -> Result<Option<(AccessToken, TokenKind)>> {
    require_no_token(path)?;
    let bytes = TOKEN.read_file(path).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(std::str::from_utf8(&bytes).ok().and_then(|text| AccessToken::parse(text.trim_end())))
}

/// Refuses a token in place of a file name, without repeating it.
pub(crate) fn require_no_token(path: &Path) -> Result<()> {
    if path.to_str().and_then(AccessToken::parse).is_some() {
        return Err(Failure::usage("expected a file in which the token stands, not the token itself")
            .hint("others on this machine see what commands are given"));
    }
    Ok(())
}

pub(crate) fn shown(path: &Path) -> String {
    printable(&path.display().to_string()).into_owned()
}

/// Returns the path of a file in the user's configuration folder; `None` if no variable names that folder.
#[cfg(feature = "modules")]
pub(crate) fn in_configuration(name: &str) -> Option<PathBuf> {
    let folder = if cfg!(windows) {
        folder_of("APPDATA")?
    } else {
        folder_of("XDG_CONFIG_HOME").or_else(|| Some(folder_of("HOME")?.join(".config")))?
    };
    Some(folder.join("turnfold").join(name))
}

pub(crate) fn folder_of(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_named_by_their_script() {
        let line = &ScriptCommand::each_in("# head\n\np1: tap 1,2\n").next().unwrap();
        assert_eq!(place_in_script(line, Some(&"s.txt".into())).as_deref(), Some("s.txt:3"));
        assert_eq!(place_in_script(line, Some(&"-".into())).as_deref(), Some("<stdin>:3"));
    }
}
