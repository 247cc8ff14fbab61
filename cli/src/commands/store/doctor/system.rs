//! Checks of free space and permissions on this machine.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use turnfold_store::Store;

use super::DoctorFinding;
use crate::files;

const MIB: u64 = 1 << 20;

const SPACE_MIN: u64 = 256 * MIB;

/// Checks the free space. Compacting and upgrading write a second copy of the store.
pub(super) fn space(dir: &Path) -> DoctorFinding {
    let (free, taken) = match (Store::free_bytes(dir), Store::bytes_on_disk(dir)) {
        (Ok(free), Ok(taken)) => (free.unwrap_or(u64::MAX), taken),
        (Err(error), _) | (_, Err(error)) => return DoctorFinding::failed("space", &error.into()),
    };
    let message = format!("{} MiB are free, and the store takes {} MiB", free / MIB, taken.div_ceil(MIB));
    if free < SPACE_MIN {
        return DoctorFinding::mend("space", message, "free some space before writes fail");
    }
    if free < taken {
        let next_step = "`store compact` and `store upgrade` need room for a second copy";
        return DoctorFinding::note("space", message, next_step);
    }
    DoctorFinding::ok("space", message)
}

pub(super) fn permissions(dir: &Path) -> DoctorFinding {
    let shown = files::shown(dir);
    let found = match paths_below(dir) {
        Ok(found) => found,
        Err(error) => {
            let message = format!("cannot list `{shown}`: {error}");
            return DoctorFinding::mend("permissions", message, "mend its permissions");
        }
    };
    for path in &found {
        if let Err(error) = access(path, Access::READ_OK | Access::WRITE_OK) {
            let message = format!("cannot read and write `{}`: {error}", files::shown(path));
            let next_step = "run as the user to whom the store belongs, or give it to this user";
            return DoctorFinding::mend("permissions", message, next_step);
        }
    }
    for path in &found {
        if mode(path) & 0o022 != 0 {
            let message = format!("others can change `{}`", files::shown(path));
            return DoctorFinding::mend("permissions", message, format!("run `chmod -R go-w {shown}`"));
        }
    }
    if mode(dir) & 0o055 != 0 {
        let message = format!("others on this machine can read `{shown}`, seeds of dice included");
        let next_step = format!("run `chmod -R go= {shown}` if they should not");
        return DoctorFinding::note("permissions", message, next_step);
    }
    DoctorFinding::ok("permissions", format!("only this user can read and write `{shown}`"))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).map_or(0, |found| found.mode())
}

fn paths_below(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = vec![dir.to_path_buf()];
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.extend(paths_below(&entry.path())?);
        } else {
            found.push(entry.path());
        }
    }
    Ok(found)
}
