//! The script and style of the page: their size (VW-23), and their types (VW-3).

use std::fs;
use std::process::Command;

use super::installed;
use crate::sandbox::workspace;

/// The most bytes that `viewer.js` and `viewer.css` have together.
const BYTES_MAX: usize = 48 << 10;

#[test]
fn vw_23_the_script_and_style_of_the_page_are_small() {
    let folder = workspace().join("cli/replay/src/page");
    let sizes = ["viewer.js", "viewer.css"].map(|name| fs::read(folder.join(name)).unwrap().len());
    assert!(sizes.iter().sum::<usize>() <= BYTES_MAX, "{sizes:?}, at most {BYTES_MAX} together");
}

#[test]
fn vw_3_the_types_of_the_script_are_right() {
    let Some(tsc) = installed("the types of viewer.js", ".bin/tsc") else { return };
    let checked = Command::new(tsc)
        .args(["--allowJs", "--checkJs", "--strict", "--noEmit", "--target", "esnext", "--module", "esnext"])
        .args(["--lib", "esnext,dom,dom.iterable", "--types", ""])
        .arg(workspace().join("cli/replay/src/page/viewer.js"))
        .output()
        .unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}
