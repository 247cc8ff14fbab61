//! A sealed place in which to run the real binary, with its own folder and environment.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Output, Stdio};
use std::sync::{Arc, LazyLock};

use tempfile::TempDir;
use turnfold_core::DicePolicy;
use turnfold_games::rulesets;
use turnfold_store::{Genesis, Store};

/// Returns the folder of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the workspace").to_path_buf()
}

/// Returns the binary under test.
pub fn binary() -> &'static Path {
    static BINARY: LazyLock<PathBuf> = LazyLock::new(|| program("turnfold-under-test"));
    &BINARY
}

/// Returns a command that runs cargo as from a shell. Otherwise `ring` and its dependents would be compiled again,
/// because cargo sets other variables for a test.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let is_of_test = |name: &str| {
        // RUSTC_BOOTSTRAP is set when a run reports the time of each test.
        ["OUT_DIR", "RUSTC_BOOTSTRAP"].contains(&name)
            || name.starts_with("CARGO_MANIFEST_")
            || name.starts_with("CARGO_PKG_")
    };
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_of_test)) {
        cargo.env_remove(name);
    }
    cargo
}

/// Returns the path of a program of these tests.
pub fn program(name: &str) -> PathBuf {
    env::var_os(format!("CARGO_BIN_EXE_{name}")).expect("cargo sets the path of the binary under test").into()
}

/// A temporary folder with the workspace's fixtures.
pub struct Sandbox {
    dir: Arc<TempDir>,
    program: PathBuf,
}

impl Sandbox {
    pub fn new() -> Self {
        let dir = TempDir::new().unwrap();
        // All fixtures but the stores, which few tests need.
        for ruleset in rulesets() {
            let folder = Path::new("fixtures").join(ruleset.name());
            copy_folder(&workspace().join(&folder), &dir.path().join(folder));
        }
        Self { dir: dir.into(), program: binary().to_owned() }
    }

    /// Creates an empty folder for the installed program, which has its files next to it and no clone of the
    /// repository. If the variable `TURNFOLD_RELEASE` names a folder, it is the program of the release there.
    pub fn installed() -> Self {
        static INSTALLED: LazyLock<PathBuf> = LazyLock::new(install);
        Self::of(&INSTALLED)
    }

    /// Creates an empty folder for a program.
    pub fn of(program: &Path) -> Self {
        Self { dir: TempDir::new().unwrap().into(), program: program.to_owned() }
    }

    /// Uses the folder of another sandbox for the installed program.
    pub fn sharing(other: &Self) -> Self {
        Self { dir: other.dir.clone(), ..Self::installed() }
    }

    /// Returns the program that this sandbox runs.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Creates an empty folder with the program in a subfolder of this name.
    pub fn placed(folder: &str) -> Self {
        let dir = TempDir::new().unwrap();
        let program = dir.path().join(folder).join(format!("turnfold{}", env::consts::EXE_SUFFIX));
        place(binary(), &program);
        Self { dir: dir.into(), program }
    }

    /// Creates an empty folder for the program whose first argument lists the versions of its game.
    pub fn of_toys() -> Self {
        Self::of(&program("toys-under-test"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// Puts a program into the folder, by a hard link if possible. Processes that other tests start in the meantime
    /// would hold a copy open for writing, and the system refuses to run such a file.
    pub fn add_program(&self, program: &Path, name: &str) {
        if fs::hard_link(program, self.path(name)).is_err() {
            fs::copy(program, self.path(name)).unwrap();
        }
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Flips a bit before each occurrence of `needle` in the heads of a store's journal. Returns the number of
    /// occurrences.
    pub fn harm_journal(&self, store: &str, needle: &[u8]) -> usize {
        let mut count = 0;
        for head in ["head.a", "head.b"] {
            let file = self.path(store).join("journal").join(head);
            let mut bytes = fs::read(&file).unwrap();
            let places = bytes.windows(needle.len()).enumerate().filter(|(_, found)| *found == needle);
            for place in places.map(|(place, _)| place).collect::<Vec<_>>() {
                bytes[place - 1] ^= 1;
                count += 1;
            }
            fs::write(file, bytes).unwrap();
        }
        count
    }

    /// Returns a command that knows nothing of the machine except this folder.
    pub fn command<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(self.dir.path()).env_clear().stdin(Stdio::null());
        command
    }

    /// Runs `turnfold` with the words of a command. Words with spaces are in double quotes.
    pub fn run(&self, line: &str) -> Output {
        let words = words(line);
        self.command(words.iter().map(String::as_str)).output().unwrap()
    }

    /// Runs a command in a shell that finds `turnfold` and the programs of the machine.
    pub fn shell(&self, line: &str) -> Output {
        let script = format!("turnfold() {{ '{}' \"$@\"; }}\n{line}", self.program.display());
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(self.dir.path()).env_clear().stdin(Stdio::null());
        shell.env("PATH", env::var_os("PATH").unwrap_or_default()).output().unwrap()
    }

    /// Runs `turnfold`, requires it to succeed, and returns its stdout.
    pub fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "turnfold {line}: {:?}\n{stderr}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Installs the program next to the build output, and returns its path.
fn install() -> PathBuf {
    let folder = binary().with_file_name("installed");
    if let Some(release) = env::var_os("TURNFOLD_RELEASE") {
        let version = env!("CARGO_PKG_VERSION");
        let name = format!("turnfold-{version}-{}-unknown-linux-musl", env::consts::ARCH);
        let archive = Path::new(&release).join(format!("{name}.tar.gz"));
        fs::create_dir_all(&folder).unwrap();
        let mut tar = Command::new("tar");
        let extracted =
            tar.arg("--extract").arg("--file").arg(&archive).arg("--directory").arg(&folder).status();
        assert!(extracted.unwrap().success(), "{}", archive.display());
        return folder.join(name).join("turnfold");
    }
    let program = folder.join(format!("turnfold{}", env::consts::EXE_SUFFIX));
    place(binary(), &program);
    place(
        &workspace().join("fixtures/modules/chess.wasm"),
        &folder.join("share/turnfold/modules/chess.wasm"),
    );
    program
}

/// Puts a complete file in place, so that another process can do the same at the same time.
fn place(from: &Path, to: &Path) {
    let draft = to.with_extension(format!("{}", process::id()));
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    if fs::hard_link(from, &draft).is_err() {
        fs::copy(from, &draft).unwrap();
    }
    fs::rename(&draft, to).unwrap();
    // Renaming a link to another link of the same file does nothing, so the draft may still exist.
    let _ = fs::remove_file(&draft);
}

/// Blanks out the links of the hash chain, because they cover match ids and times, which differ in each run.
pub fn without_links(text: &str) -> String {
    let mut blanked = String::new();
    for part in text.split_inclusive("link ").flat_map(|part| part.split_inclusive("\"link\":\"")) {
        let follows = blanked.ends_with("link ") || blanked.ends_with("\"link\":\"");
        let rest = part.trim_start_matches(|digit: char| digit.is_ascii_hexdigit());
        if follows && part.len() - rest.len() >= 16 {
            blanked.push_str("[LINK]");
            blanked.push_str(rest);
        } else {
            blanked.push_str(part);
        }
    }
    blanked
}

/// Splits a line into words at spaces outside double quotes.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (place, part) in line.split('"').enumerate() {
        if place % 2 == 1 {
            words.push(part.to_string());
        } else {
            words.extend(part.split_whitespace().map(ToString::to_string));
        }
    }
    words
}

pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Stores the match `old` in the usual store, as another build would have stored it.
pub fn store_match(sandbox: &Sandbox, ruleset: &str, ruleset_version: u32) {
    let setup = sandbox.read("fixtures/initiative/no-units.toml");
    let genesis = Genesis {
        format: Genesis::FORMAT,
        ruleset: ruleset.into(),
        ruleset_version,
        setup: turnfold_games::find("initiative").unwrap().read_setup(&setup).unwrap(),
        dice: DicePolicy::Recorded,
        match_id: [7; 16],
        title: String::new(),
        created_at_ms: 0,
        module: None,
        played_by: None,
        origins: Vec::new(),
    };
    let store = Store::open_or_create(&sandbox.path(".turnfold")).unwrap();
    store.create_match(&"old".parse().unwrap(), &genesis, Vec::new()).unwrap();
    store.close().unwrap();
}
