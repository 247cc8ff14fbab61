//! The words that no sentence for users has: documents, help, errors, letters, pages and the docs of items.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::{files, is_in_word, read, root};

/// Words and phrases that are vague, out of date or foreign. A document names who does what instead.
const BANNED: [&str; 16] = [
    "told",
    "tells",
    "whoever",
    "nobody",
    "somebody",
    "anew",
    "lest",
    "meanwhile",
    "beside",
    "so many",
    "of which",
    "those of",
    "is let in",
    "what it came to",
    "gone on with",
    "as ever",
];

/// How often they may still stand in the sources of a place. A number may only fall.
const LEFT: [(&str, usize); 8] = [
    // A command of the ruleset `desk` that perft counts; no sentence.
    ("core/src", 1),
    ("cli/laws/src", 0),
    ("examples/liars/src", 0),
    ("examples/nim/src", 0),
    ("store/src", 0),
    ("cli/src", 0),
    ("cli/replay/src", 0),
    ("cli/serve/src", 0),
];
/// How often they may still stand in what scripts of pages show.
const LEFT_IN_PAGES: [(&str, usize); 2] = [("cli/replay/src/page", 0), ("cli/serve/src/page", 0)];

/// Finds the banned words of a text, in lower or upper case, also where a phrase is broken by a line.
fn banned_in(text: &str) -> Vec<&'static str> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let is_found = |(at, found): &(usize, &str)| {
        let before = text[..*at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        ![before, after].into_iter().flatten().any(is_in_word)
    };
    let finds = |banned: &&'static str| text.match_indices(*banned).filter(is_found).count();
    BANNED.iter().flat_map(|banned| std::iter::repeat_n(*banned, finds(banned))).collect()
}

/// Keeps what readers see of a Rust file: comments that document and the contents of strings, one after another. What
/// only tests compile is left out.
fn seen_in_rust(text: &str) -> Vec<String> {
    let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut seen = vec![String::new()];
    let mut rest = product;
    while !rest.is_empty() {
        let is_doc = rest.starts_with("///") || rest.starts_with("//!");
        if rest.starts_with("//") {
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            if is_doc {
                seen.last_mut().unwrap().push_str(&line[3..]);
                seen.last_mut().unwrap().push(' ');
            }
            rest = after;
            // A run of lines is one text: a phrase may be broken among them.
            if !after.trim_start().starts_with("//") {
                seen.push(String::new());
            }
        } else if let Some((string, after)) = string(rest) {
            seen.push(string.to_owned());
            seen.push(String::new());
            rest = after;
        } else if rest.starts_with("'\"'") || rest.starts_with("b'\"'") || rest.starts_with("'\\\"'") {
            rest = &rest[rest[1..].find('"').unwrap() + 3..];
        } else {
            let mut characters = rest.chars();
            characters.next();
            rest = characters.as_str();
        }
    }
    seen
}

/// Reads the string literal that a text begins with; returns its contents and what follows.
fn string(text: &str) -> Option<(&str, &str)> {
    if let Some(raw) = text.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let contents = raw[hashes..].strip_prefix('"')?;
        return contents.split_once(&format!("\"{}", "#".repeat(hashes)));
    }
    let contents = text.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = contents.find(|character| {
        let ends = character == '"' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        ends
    })?;
    Some((&contents[..end], &contents[end + 1..]))
}

/// Keeps the strings of a script, which are what its pages show.
fn seen_in_script(text: &str) -> Vec<String> {
    let mut seen = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with(['*', '/'])) {
        let mut rest = line;
        while let Some(at) = rest.find(['"', '`']) {
            let quote = if rest[at..].starts_with('"') { '"' } else { '`' };
            let (inside, after) = rest[at + 1..].split_once(quote).unwrap_or((&rest[at + 1..], ""));
            seen.push(inside.to_owned());
            rest = after;
        }
    }
    seen
}

/// Leaves out what the program prints: its sources are checked.
fn without_consoles(text: &str) -> String {
    let mut kept = text.split("\n```console");
    let first = kept.next().unwrap_or_default().to_owned();
    kept.fold(first, |kept, part| kept + "\n" + part.split_once("\n```").map_or("", |(_, after)| after))
}

/// Reports a place whose files have more banned words than may be left there.
fn report(place: &str, paths: &[PathBuf], left: usize, seen: impl Fn(&str) -> Vec<String>) -> Option<String> {
    let mut count = 0;
    let mut files = String::new();
    for path in paths {
        let found: Vec<_> = seen(&read(path)).iter().flat_map(|text| banned_in(text)).collect();
        count += found.len();
        if !found.is_empty() {
            writeln!(files, "  {}: {}", path.display(), found.join(", ")).unwrap();
        }
    }
    (count > left).then(|| format!("{place} has {count} banned words, {left} may be left:\n{files}"))
}

fn require_none(reports: impl Iterator<Item = String>) {
    let reports: String = reports.collect();
    assert!(reports.is_empty(), "{reports}");
}

#[test]
fn sources_show_users_no_banned_words() {
    require_none(LEFT.into_iter().filter_map(|(place, left)| {
        let is_product = |path: &PathBuf| !path.ends_with("tests.rs");
        let paths: Vec<_> = files(&root().join(place), ".rs").into_iter().filter(is_product).collect();
        report(place, &paths, left, seen_in_rust)
    }));
}

#[test]
fn pages_of_the_service_and_of_exports_have_no_banned_words() {
    require_none(
        LEFT_IN_PAGES.into_iter().filter_map(|(place, left)| {
            report(place, &files(&root().join(place), ".js"), left, seen_in_script)
        }),
    );
}

#[test]
fn documents_have_no_banned_words() {
    let is_ours = |path: &PathBuf| {
        let path = path.strip_prefix(root()).unwrap();
        !path.components().any(|part| part.as_os_str() == "target" || part.as_os_str() == "node_modules")
    };
    let documents: Vec<_> = files(&root(), ".md").into_iter().filter(is_ours).collect();
    assert!(documents.len() > 20);
    require_none(documents.into_iter().filter_map(|document| {
        let name = document.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        report(&name, &[document], 0, |text| vec![without_consoles(text)])
    }));
}

#[test]
fn words_are_found_where_readers_see_them() {
    let source = "/// It tells\n/// so\n/// many things.\nfn told() { print(\"who\\\"ever, nobody\", r#\"a\"lest\"#, '\"'); } // anew\n";
    let found: Vec<_> = seen_in_rust(source).iter().flat_map(|text| banned_in(text)).collect();
    assert_eq!(found, ["tells", "so many", "nobody", "lest"]);
    assert_eq!(banned_in("Besides, foretold and toldest; ALAS, Beside it."), ["beside"]);
    assert_eq!(
        seen_in_script("// \"told\"\nhtml(\"a\", {}, `Who${x}ever tells`)"),
        ["a", "Who${x}ever tells"]
    );
    assert_eq!(without_consoles("a\n```console\n$ tells\nb\n```\nc\n"), "a\n\nc\n");
    assert_eq!(seen_in_rust("x\n#[cfg(test)]\nmod tests { \"told\" }"), ["", ""][..1]);
}
