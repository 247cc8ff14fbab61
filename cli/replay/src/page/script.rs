//! The script of a page: its files in `script/`, joined to one module, so that a page is one file and one request (VW-3).

use std::sync::LazyLock;

/// The files, each after those that it imports.
const FILES: [&str; 10] = [
    include_str!("script/timeline.js"),
    include_str!("script/elements.js"),
    include_str!("script/layout.js"),
    include_str!("script/words.js"),
    include_str!("script/board.js"),
    include_str!("script/lists.js"),
    include_str!("script/zoom.js"),
    include_str!("script/picture.js"),
    include_str!("script/log.js"),
    include_str!("script/viewer.js"),
];

/// The script of a page, a module that shows what it is given.
pub static SCRIPT: LazyLock<String> = LazyLock::new(|| join(&FILES));

/// Joins modules to one, in which each name has one meaning and what a module imports or hands on is there already.
#[must_use]
pub fn join(modules: &[&str]) -> String {
    let is_kept = |line: &&str| !line.starts_with("import ") && !line.starts_with("export {");
    modules.iter().flat_map(|module| module.split_inclusive('\n').filter(is_kept)).collect()
}
