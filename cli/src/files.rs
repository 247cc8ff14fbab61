//! Files written whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::failure::Failure;

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
    /// Gives the file, which must not exist unless it is to be overwritten; `None` is standard output.
    pub(crate) fn path(&self) -> Result<Option<&Path>, Failure> {
        match &self.output {
            Some(path) if path.exists() && !self.force => {
                Err(Failure::usage(format!("`{}` exists", path.display())).hint("`--force` overwrites it"))
            }
            path => Ok(path.as_deref()),
        }
    }
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
    let mut file = Builder::new().prefix(".turnfold-").tempfile_in(dir).map_err(failed)?;
    let written = write(file.as_file_mut())?;
    file.as_file().sync_all().map_err(failed)?;
    let named = if force { file.persist(path) } else { file.persist_noclobber(path) };
    named.map_err(|error| failed(error.error))?;
    #[cfg(unix)]
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(failed)?;
    Ok(written)
}

/// Tells whether a file argument means standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

fn dir_of(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let dir = dir_of(path);
    let mut file = temporary_in(dir)?;
    file.write_all(content)?;
    if let Ok(old) = fs::metadata(path) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Makes a temporary file that will be as readable as any new file; by default only its owner could read it.
fn temporary_in(dir: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.prefix(".turnfold-").tempfile_in(dir)
}
