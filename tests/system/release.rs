//! The crates' packages contain all files that their sources include, and the files of a release work on other
//! machines.
//!
//! `.ci/release` builds a release, which takes minutes, and `.ci/release --check` runs these tests on it. Otherwise the
//! tests of its files report SKIPPED.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;
use turnfold_tests::document::Document;
use turnfold_tests::parts::skipped;
use turnfold_tests::sandbox::workspace;

mod installed;
mod packages;

/// The end of a successful tour.
const TOUR_END: &str = "The files of the tour are removed.";

/// Finds the file of the release whose name has this ending, if a release is tested.
fn released(test: &str, ending: &str) -> Option<PathBuf> {
    let Some(folder) = env::var_os("TURNFOLD_RELEASE") else {
        skipped(test, "TURNFOLD_RELEASE names no folder of a release; `.ci/release --check` runs it");
        return None;
    };
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut found = files.filter(|path| path.to_str().is_some_and(|path| path.ends_with(ending)));
    let file = found.next();
    if file.is_none() {
        skipped(test, format!("the release has no file *{ending}"));
    }
    file
}

fn is_installed(test: &str, program: &str) -> bool {
    let runs = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !runs {
        skipped(test, format!("`{program}` is not installed"));
    }
    runs
}

fn run<S: AsRef<OsStr>>(program: &str, args: impl IntoIterator<Item = S>) -> Output {
    Command::new(program).args(args).env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").output().unwrap()
}

fn succeed<S: AsRef<OsStr>>(program: &str, args: impl IntoIterator<Item = S>) -> String {
    let output = run(program, args);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{program}: {}\n{stdout}{stderr}", output.status);
    stdout.into_owned()
}

fn is_root() -> bool {
    succeed("id", ["-u"]) == "0\n"
}

/// Runs a program in a separate root, with only `/proc` mounted. A user who is not root becomes the root of a user
/// namespace.
fn in_root(root: &Path, words: &[&str]) -> Output {
    let proc = format!("--mount-proc={}", root.join("proc").display());
    let unshare = ["--mount", "--pid", "--fork", &proc, "chroot", root.to_str().unwrap()];
    let mut command = Command::new("unshare");
    if !is_root() {
        command.arg("--map-root-user");
    }
    command.args(unshare).args(words).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command.output().unwrap()
}

fn require_tour(output: &Output) {
    let text = [&*output.stdout, &*output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(output.status.success() && text.contains(TOUR_END), "{}\n{text}", output.status);
}

/// Creates a root with one program and only what the tour needs: `/proc`, `/tmp` and `/dev/null`, here an empty file.
fn empty_root(archive: &Path) -> TempDir {
    let root = TempDir::new().unwrap();
    for folder in ["dev", "proc", "tmp"] {
        fs::create_dir(root.path().join(folder)).unwrap();
    }
    fs::write(root.path().join("dev/null"), "").unwrap();
    let options = [
        "--directory",
        root.path().to_str().unwrap(),
        "--strip-components=1",
        "--wildcards",
        "--no-wildcards-match-slash",
    ];
    let words = ["--extract", "--file", archive.to_str().unwrap()].into_iter().chain(options);
    succeed("tar", words.chain(["*/turnfold"]));
    root
}

#[test]
fn the_static_program_plays_the_tour_in_an_empty_root() {
    let test = "the static program in an empty root";
    let Some(archive) = released(test, &format!("{}-unknown-linux-musl.tar.gz", env::consts::ARCH)) else {
        return;
    };
    let root = empty_root(&archive);
    let version = in_root(root.path(), &["/turnfold", "--version"]);
    if String::from_utf8_lossy(&version.stderr).contains("unshare") {
        return skipped(test, String::from_utf8_lossy(&version.stderr).trim().to_string());
    }
    require_tour(&in_root(root.path(), &["/turnfold", "tour"]));
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 4, "the root has the program and three folders");
}

#[test]
fn the_static_program_for_arm64_folds_every_golden_log() {
    let test = "the static program for arm64";
    let Some(archive) = released(test, "aarch64-unknown-linux-musl.tar.gz") else { return };
    // The name of the emulator differs between the packages `qemu-user-static` and `qemu-user`.
    let names = ["qemu-aarch64", "qemu-aarch64-static"];
    let Some(emulator) = names.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok())
    else {
        return skipped(test, "`qemu-aarch64` is not installed");
    };
    let root = empty_root(&archive);
    let program = root.path().join("turnfold");
    let replays = workspace().join("replays");
    let checked = succeed(emulator, [program.as_os_str(), OsStr::new("check"), replays.as_os_str()]);
    assert!(checked.contains(" passed, 0 failed"), "{checked}");
}

/// Lists the libraries that a macOS program in the Mach-O format needs.
fn libraries_of(program: &[u8]) -> Vec<String> {
    const LOAD_LIBRARY: u32 = 0xC;
    let number = |at: usize| u32::from_le_bytes(program[at..at + 4].try_into().unwrap());
    assert_eq!(number(0), 0xFEED_FACF, "a program of 64 bits");
    let mut libraries = Vec::new();
    let mut at = 32;
    for _ in 0..number(16) {
        if number(at) & 0xFF == LOAD_LIBRARY {
            let name = &program[at + number(at + 8) as usize..at + number(at + 4) as usize];
            let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
            libraries.push(String::from_utf8(name[..end].to_vec()).unwrap());
        }
        at += number(at + 4) as usize;
    }
    libraries
}

/// Without macOS, the programs are inspected but not run.
#[test]
fn the_programs_for_macos_need_only_libraries_of_every_mac() {
    for (arch, cpu) in [("x86_64", 0x0100_0007_u32), ("aarch64", 0x0100_000C)] {
        let test = format!("the program for macOS on {arch}");
        let Some(archive) = released(&test, &format!("{arch}-apple-darwin.tar.gz")) else { continue };
        let root = empty_root(&archive);
        let program = fs::read(root.path().join("turnfold")).unwrap();
        assert_eq!(program[4..8], cpu.to_le_bytes());
        let libraries = libraries_of(&program);
        assert!(!libraries.is_empty());
        for library in libraries {
            assert!(library.starts_with("/usr/lib/"), "{library}");
        }
    }
}

/// Installs the Debian package in a fresh Debian system, plays the tour as the user of the service, and removes the
/// package.
#[test]
fn the_debian_package_is_installed_plays_the_tour_and_leaves_matches_when_removed() {
    let test = "the Debian package in a fresh root";
    let Some(package) = released(test, "_amd64.deb") else { return };
    if !is_installed(test, "debootstrap") {
        return;
    }
    if !is_root() {
        return skipped(test, "debootstrap needs root");
    }
    let root = TempDir::new().unwrap();
    let folder = root.path().to_str().unwrap();
    succeed("debootstrap", ["--variant=minbase", "stable", folder]);
    let option = format!("--root={folder}");
    succeed("dpkg", [&option, "--install", package.to_str().unwrap()]);
    let shell = |line: &str| {
        let output = in_root(root.path(), &["sh", "-c", line]);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(shell("stat -c '%U %G %a' /var/lib/turnfold"), "turnfold turnfold 700\n");
    shell("test -s /usr/share/man/man1/turnfold-play.1.gz");
    shell("test -s /usr/share/bash-completion/completions/turnfold");
    shell("test -s /usr/lib/systemd/system/turnfold.service");
    shell("cd /tmp && turnfold new game --rules chess && turnfold play game e4 e5");
    require_tour(&in_root(root.path(), &["/usr/bin/turnfold", "tour"]));
    let as_user = |line: &str| format!("setpriv --reuid=turnfold --regid=turnfold --clear-groups -- {line}");
    shell(&as_user("turnfold serve --config /etc/turnfold/serve.toml --check-config"));
    shell(&as_user("turnfold --store /var/lib/turnfold/store new duel --rules initiative --dice recorded"));
    succeed("dpkg", [&option, "--purge", "turnfold"]);
    shell("test ! -e /usr/bin/turnfold");
    shell("test -s /var/lib/turnfold/store/FORMAT");
}

/// A container created from the image of the release. It is removed on drop.
struct Container(String);

impl Container {
    /// Creates a container, unless a requirement is missing.
    fn new(test: &str) -> Option<Self> {
        let image = released(test, "-amd64.image.tar.gz")?;
        if env::consts::ARCH != "x86_64" || !is_installed(test, "buildah") {
            return None;
        }
        let dir = TempDir::new().unwrap();
        let unpacked = dir.path().join("image.tar");
        let line = format!("gunzip --stdout {} > {}", image.display(), unpacked.display());
        succeed("sh", ["-c", &line]); // some versions of buildah cannot read compressed archives
        let name = succeed("buildah", ["from".into(), format!("docker-archive:{}", unpacked.display())]);
        Some(Self(name.trim().to_owned()))
    }

    /// Returns the words that run a command in the container.
    fn words<'a>(&'a self, command: &[&'a str]) -> Vec<&'a str> {
        [&["run", "--isolation", "chroot", &self.0, "--"], command].concat()
    }

    /// Returns the configuration of the image.
    fn config(&self) -> serde_json::Value {
        let described: serde_json::Value =
            serde_json::from_str(&succeed("buildah", ["inspect", &self.0])).unwrap();
        described["Docker"]["config"].clone()
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        run("buildah", ["rm", &self.0]);
    }
}

/// Runs the container image, which has only the program, as its configured user.
#[test]
fn the_image_plays_the_tour_as_a_user_that_is_not_root() {
    let Some(container) = Container::new("the container image") else { return };
    let config = container.config();
    let made = ["/turnfold", "new", "duel", "--rules", "chess", "--dice", "recorded"];
    require_tour(&run("buildah", container.words(&["/turnfold", "tour"])));
    succeed("buildah", container.words(&made));
    assert_eq!(config["User"], "65532:65532");
    assert_eq!(config["Volumes"], serde_json::json!({ "/var/lib/turnfold": {} }));
}

/// Runs the image with its own command and the options file of the Debian package, and checks its health.
#[test]
fn the_image_is_healthy_while_it_serves() {
    let Some(container) = Container::new("the health of the container image") else { return };
    let options = workspace().join("cli/dist/serve.toml");
    succeed("buildah", ["copy", &container.0, options.to_str().unwrap(), "/etc/turnfold/serve.toml"]);
    let config = container.config();
    let words = |from: &serde_json::Value| -> Vec<String> {
        from.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let check = words(&config["Healthcheck"]["Test"]);
    let check: Vec<&str> = check.iter().skip(1).map(String::as_str).collect();
    let serve = [words(&config["Entrypoint"]), words(&config["Cmd"])].concat();
    let serve: Vec<&str> = serve.iter().map(String::as_str).collect();
    assert!(!run("buildah", container.words(&check)).status.success(), "healthy before it serves");
    let mut service = Command::new("buildah").args(container.words(&serve)).spawn().unwrap();
    let is_healthy = (0..100).any(|_| {
        sleep(Duration::from_millis(200));
        run("buildah", container.words(&check)).status.success()
    });
    service.kill().unwrap();
    service.wait().unwrap();
    assert!(is_healthy);
}

#[test]
fn the_readme_installs_the_program() {
    let test = "the commands of the README";
    let Some(sums) = released(test, "SHA256SUMS") else { return };
    if env::consts::ARCH != "x86_64" {
        return skipped(test, "they are for x86-64");
    }
    let (readme, dir) = (Document::read("README.md"), TempDir::new().unwrap());
    for file in fs::read_dir(sums.parent().unwrap()).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), dir.path().join(file.file_name())).unwrap();
    }
    let line = format!("cd {}\n{}", dir.path().display(), readme.blocks("sh")[0]);
    let output = succeed("sh", ["-e", "-c", &line]);
    let archive = concat!("turnfold-", env!("CARGO_PKG_VERSION"), "-x86_64-unknown-linux-musl.tar.gz: OK");
    assert!(output.contains(archive), "{output}");
}

#[test]
fn every_checksum_of_the_release_holds() {
    let Some(sums) = released("the checksums", "SHA256SUMS") else { return };
    let folder = sums.parent().unwrap();
    let checked = succeed(
        "env",
        ["--chdir".as_ref(), folder.as_os_str(), "sha256sum".as_ref(), "--check".as_ref(), sums.as_os_str()],
    );
    let files = fs::read_dir(folder).unwrap().filter(|file| {
        let name = file.as_ref().unwrap().file_name();
        !name.to_string_lossy().starts_with("SHA256SUMS")
    });
    assert_eq!(checked.lines().count(), files.count(), "{checked}");
}
