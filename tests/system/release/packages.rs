//! The files of each crate in `cargo package`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use turnfold_tests::sandbox::{cargo, workspace};

/// The publishable crates, each after its dependencies.
const CRATES: [(&str, &str); 12] = [
    ("turnfold-core", "core"),
    ("turnfold-games", "core/games"),
    ("turnfold-guest", "core/guest"),
    ("turnfold-store", "store"),
    ("turnfold-laws", "core/laws"),
    ("turnfold-history", "cli/history"),
    ("turnfold-show", "cli/show"),
    ("turnfold-proof", "cli/proof"),
    ("turnfold-mail", "cli/mail"),
    ("turnfold-referee", "cli/referee"),
    ("turnfold-serve", "cli/serve"),
    ("turnfold", "cli"),
];

/// Lists the files of a crate's package.
fn packed(name: &str) -> BTreeSet<PathBuf> {
    let mut cargo = cargo();
    cargo.current_dir(workspace()).args([
        "package",
        "--list",
        "--allow-dirty",
        "--locked",
        "--package",
        name,
    ]);
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(PathBuf::from).collect()
}

/// Finds the files that a source includes, relative to the folder of the crate.
fn included(source: &Path, text: &str) -> Vec<PathBuf> {
    let parts =
        ["include_str!(\"", "include_bytes!(\""].into_iter().flat_map(|word| text.split(word).skip(1));
    let names = parts.filter_map(|part| part.split_once("\")")).map(|(name, _)| name);
    names.map(|name| without_dots(&source.parent().unwrap().join(name))).collect()
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(plain.pop(), "{} is outside of its crate", path.display()),
            part => plain.push(part),
        }
    }
    plain
}

#[test]
fn every_package_has_what_its_sources_include_its_readme_and_its_licenses() {
    let mut count = 0;
    for (name, folder) in CRATES {
        let packed = packed(name);
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(packed.contains(Path::new(file)), "{name} has no {file}");
        }
        for source in packed.iter().filter(|path| path.extension().is_some_and(|it| it == "rs")) {
            let text = fs::read_to_string(workspace().join(folder).join(source)).unwrap();
            for file in included(source, &text) {
                assert!(packed.contains(&file), "{name}: {} includes {}", source.display(), file.display());
                count += 1;
            }
        }
    }
    assert!(count > 50, "{count}");
    let guides = fs::read_dir(workspace().join("docs/guide")).unwrap().count();
    let packed = packed("turnfold");
    assert_eq!(packed.iter().filter(|path| path.starts_with("guide")).count(), guides);
}
