//! Folders with modules (MD-2): files `*.wasm`, read when a registry asks for a ruleset that is not built in.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use turnfold_core::registry::MODULE_BYTES_MAX;
use turnfold_core::registry::ModuleSource;
use turnfold_core::{AnyRules, Digest};

use crate::load::{LoadError, digest, load};
use crate::locked;

const ENDING: &str = "wasm";

const PASSED: &str = "passed";

/// Folders with modules. A module that was read is kept as long as its file does not change.
#[derive(Debug, Default)]
pub struct ModuleFolders {
    folders: Vec<PathBuf>,
    own: Option<PathBuf>,
    /// Whether to use only modules that passed the laws (MD-7).
    passed_only: bool,
    read: Mutex<BTreeMap<PathBuf, ReadFile>>,
}

#[derive(Clone, Debug)]
struct ReadFile {
    modified: Option<SystemTime>,
    found: ModuleFile,
}

/// A file that should be a module.
#[derive(Clone, Debug)]
pub struct ModuleFile {
    /// Its path.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// The digest of its content.
    pub digest: Digest,
    /// The ruleset, or why there is none.
    pub rules: Result<Arc<dyn AnyRules>, LoadError>,
}

impl ModuleFolders {
    /// Returns modules of these folders, in this order. A folder that does not exist has no modules.
    #[must_use]
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, ..Self::default() }
    }

    /// Adds, after these folders, the folder of the modules that come with the program (MD-2).
    #[must_use]
    pub fn with_own(self) -> Self {
        let program = env::current_exe().and_then(fs::canonicalize).ok();
        Self { own: program.and_then(|program| own_folder(&program)), ..self }
    }

    /// Uses only modules that passed the laws, as noted by [`note_passed`](Self::note_passed).
    #[must_use]
    pub fn passed_only(self) -> Self {
        Self { passed_only: true, ..self }
    }

    /// Returns the folder that new modules are put into.
    #[must_use]
    pub fn first(&self) -> Option<&Path> {
        self.folders.first().map(PathBuf::as_path)
    }

    /// Reads all files `*.wasm`, in the order of the folders and of their names.
    ///
    /// # Errors
    /// A folder that cannot be listed, or a file that cannot be read.
    pub fn files(&self) -> io::Result<Vec<ModuleFile>> {
        let mut files = Vec::new();
        for path in self.paths()? {
            files.push(self.read(&path)?);
        }
        Ok(files)
    }

    /// Lists the same files without reading them.
    ///
    /// # Errors
    /// A folder that cannot be listed.
    pub fn paths(&self) -> io::Result<Vec<PathBuf>> {
        let mut all = Vec::new();
        for folder in self.folders.iter().chain(&self.own) {
            all.extend(paths(folder)?);
        }
        Ok(all)
    }

    /// Copies a module into the first folder, under its digest, whole or not at all. Returns the path.
    ///
    /// # Errors
    /// The error of writing the file, and [`io::ErrorKind::NotFound`] if there is no folder.
    pub fn add(&self, file: &[u8]) -> io::Result<PathBuf> {
        self.write(&format!("{}.{ENDING}", digest(file)), file)
    }

    /// Notes in the first folder that a module passed the laws.
    ///
    /// # Errors
    /// As for [`add`](Self::add).
    pub fn note_passed(&self, module: &Digest) -> io::Result<()> {
        self.write(&format!("{module}.{PASSED}"), b"the laws passed on this module\n")?;
        Ok(())
    }

    /// Returns `true` if a module passed the laws here, or comes with the program, whose tests check the laws (MD-7).
    #[must_use]
    pub fn has_passed(&self, module: &Digest) -> bool {
        let name = format!("{module}.{PASSED}");
        let is_noted = self.folders.iter().any(|folder| folder.join(&name).is_file());
        is_noted || self.find_in(self.own.as_slice(), module).is_some()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let folder = self.first().ok_or(io::ErrorKind::NotFound)?;
        fs::create_dir_all(folder)?;
        let path = folder.join(name);
        if fs::read(&path).is_ok_and(|there| there == bytes) {
            return Ok(path);
        }
        let mut draft = tempfile::NamedTempFile::new_in(folder)?;
        io::Write::write_all(&mut draft, bytes)?;
        draft.as_file().sync_all()?;
        draft.persist(&path)?;
        Ok(path)
    }

    fn find(&self, module: &Digest) -> Option<ModuleFile> {
        self.find_in(&self.folders, module).or_else(|| self.find_in(self.own.as_slice(), module))
    }

    /// Reads the module of a digest from folders, trying first the file that is named after the digest.
    fn find_in(&self, folders: &[PathBuf], module: &Digest) -> Option<ModuleFile> {
        let mut paths = Vec::new();
        for folder in folders {
            paths.push(folder.join(format!("{module}.{ENDING}")));
        }
        paths.append(&mut paths_in_all(folders));
        for path in paths {
            if let Ok(found) = self.read(&path)
                && found.digest == *module
            {
                return Some(found);
            }
        }
        None
    }

    fn find_named(&self, folders: &[PathBuf], name: &str) -> Vec<Arc<dyn AnyRules>> {
        let mut named = BTreeMap::new();
        for path in paths_in_all(folders) {
            if let Ok(found) = self.read(&path)
                && let Ok(rules) = found.rules
                && rules.name() == name
            {
                named.insert(found.digest, rules);
            }
        }
        named.into_values().collect()
    }

    fn read(&self, path: &Path) -> io::Result<ModuleFile> {
        let about = fs::metadata(path)?;
        if !about.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
        }
        let bytes = about.len();
        let modified = about.modified().ok();
        let mut read = locked(&self.read);
        if let Some(known) = read.get(path)
            && known.found.bytes == bytes
            && known.modified == modified
        {
            return Ok(known.found.clone());
        }
        let file = read_module(path)?;
        let found = ModuleFile { path: path.into(), bytes, digest: digest(&file), rules: load(&file) };
        read.insert(path.into(), ReadFile { modified, found: found.clone() });
        Ok(found)
    }
}

impl ModuleSource for ModuleFolders {
    fn by_digest(&self, digest: &Digest) -> Option<Arc<dyn AnyRules>> {
        self.find(digest)?.rules.ok()
    }

    fn file(&self, module: &Digest) -> Option<Vec<u8>> {
        let file = read_module(&self.find(module)?.path).ok()?;
        // The file may have been replaced since it was last read.
        if digest(&file) == *module { Some(file) } else { None }
    }

    fn load(&self, file: &[u8]) -> Result<Arc<dyn AnyRules>, String> {
        load(file).map_err(|error| error.to_string())
    }

    /// Returns the modules of a name. A module that the user added replaces the program's own one of that version.
    fn by_name(&self, name: &str) -> Vec<Arc<dyn AnyRules>> {
        let mut found = self.find_named(&self.folders, name);
        let mut own = self.find_named(self.own.as_slice(), name);
        own.retain(|rules| !found.iter().any(|added| added.version() == rules.version()));
        found.append(&mut own);
        found
    }

    fn is_refused(&self, module: &Digest) -> bool {
        self.passed_only && !self.has_passed(module)
    }
}

/// Finds the folder of the modules that come with a program: `share/turnfold/modules` next to the program or, if that
/// is in a folder for programs, next to that folder.
fn own_folder(program: &Path) -> Option<PathBuf> {
    let folder = program.parent()?;
    // Only next to such folders, because others may have put files next to another folder.
    let is_for_programs = folder.file_name().is_some_and(|name| name == "bin" || name == "Scripts");
    let root = if is_for_programs { folder.parent()? } else { folder };
    let own = root.join("share").join("turnfold").join("modules");
    if own.is_dir() { Some(own) } else { None }
}

/// Reads a file that should be a module, up to one byte more than the most bytes of a module.
///
/// # Errors
/// The error of opening or reading the file.
pub fn read_module(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = Vec::new();
    File::open(path)?.take(MODULE_BYTES_MAX as u64 + 1).read_to_end(&mut file)?;
    Ok(file)
}

/// Lists the files of folders that should be modules; a folder that cannot be listed has none.
fn paths_in_all(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for folder in folders {
        all.extend(paths(folder).unwrap_or_default());
    }
    all
}

fn paths(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let listed = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed?,
    };
    let mut paths = Vec::new();
    for file in listed {
        let path = file?.path();
        if path.extension().is_some_and(|ending| ending == ENDING) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
