//! The scripts and styles of the page: their size (VW-23) and their types (VW-3).

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use turnfold_show::page::{SCRIPT, STYLES};

use super::installed;
use turnfold_tests::sandbox::workspace;

/// The maximum number of bytes of scripts and styles together. Compressed they are a quarter of that.
const BYTES_MAX: usize = 64 << 10;

#[test]
fn vw_23_the_script_and_style_of_the_page_are_small() {
    let sizes = [SCRIPT.len(), STYLES[1].len()];
    assert!(sizes.iter().sum::<usize>() <= BYTES_MAX, "{sizes:?}, at most {BYTES_MAX} together");
}

/// Checks a script with all its imports.
fn check_types(tsc: &Path, script: &Path) {
    let checked = Command::new(tsc)
        .args(["--allowJs", "--checkJs", "--strict", "--noEmit", "--target", "esnext", "--module", "esnext"])
        .args(["--lib", "esnext,dom,dom.iterable", "--types", ""])
        .arg(script)
        .output()
        .unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}

#[test]
fn vw_3_the_types_of_the_script_are_right() {
    let Some(tsc) = installed("the types of viewer.js", ".bin/tsc") else { return };
    check_types(&tsc, &workspace().join("cli/show/src/page/script/viewer.js"));
}

/// The scripts of the service are served next to `viewer.js`, so this test puts them next to it.
#[test]
fn vw_3_the_types_of_the_scripts_of_the_service_are_right() {
    let Some(tsc) = installed("the types of live.js", ".bin/tsc") else { return };
    let served = TempDir::new().unwrap();
    for folder in ["cli/show/src/page/script", "cli/serve/src/page"] {
        for file in fs::read_dir(workspace().join(folder)).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "js" || extension == "ts") {
                fs::copy(&path, served.path().join(path.file_name().unwrap())).unwrap();
            }
        }
    }
    for page in ["live.js", "admin.js"] {
        check_types(&tsc, &served.path().join(page));
    }
}
