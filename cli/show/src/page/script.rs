//! The script of a page: its files in `script/`, joined to one module, so that a page is one file and one request (VW-3).

use std::sync::LazyLock;

/// The files; each stands behind those that it imports.
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

/// Joins modules into one. No name may have two meanings in them, since imports and exports are dropped. Comments are left
/// out, because a browser on a slow connection waits for each byte.
#[must_use]
pub fn join(modules: &[&str]) -> String {
    let mut joined = String::new();
    let mut is_comment = false;
    for line in modules.iter().flat_map(|module| module.split_inclusive('\n')) {
        let text = line.trim();
        let is_begun =
            is_comment || text.starts_with("/**") && (text.ends_with("*/") || !text.contains("*/"));
        is_comment = is_begun && !text.ends_with("*/");
        if !is_begun && !line.starts_with("import ") && !line.starts_with("export {") {
            joined.push_str(line);
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn modules_are_joined_without_imports_and_comments() {
        let module = "/**\n * Much.\n * @import {A} from \"a\"\n */\nimport { a } from \"a\";\n/** One. @param {b} c */\nconst d = 1; // d\n\t/** @type {e} */ #f = /** @type {e} */ (2);\n/** Two\n * lines. */\nexport { d };\n";
        assert_eq!(
            join(&[module, "g();\n"]),
            "const d = 1; // d\n\t/** @type {e} */ #f = /** @type {e} */ (2);\ng();\n"
        );
    }
}
