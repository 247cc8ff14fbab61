//! Properties of the repository that no compiler checks: dependencies point one way, the core has no floats, every
//! ruleset is registered, and every rule is named in the code, in a test and on a page.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates; each may depend on those before it.
const CRATES: [(&str, &str); 13] = [
    ("core", "turnfold-core"),
    ("core/games", "turnfold-games"),
    ("core/guest", "turnfold-guest"),
    ("core/laws", "turnfold-laws"),
    ("store", "turnfold-store"),
    ("cli/history", "turnfold-history"),
    ("cli/show", "turnfold-show"),
    ("cli/proof", "turnfold-proof"),
    ("cli/mail", "turnfold-mail"),
    ("cli/serve", "turnfold-serve"),
    ("cli/referee", "turnfold-referee"),
    ("cli", "turnfold"),
    ("tests", "turnfold-tests"),
];
/// The files with unsafe code: a test replaces functions of the C library, and a module exports functions with fixed
/// names.
const UNSAFE: [&str; 2] = ["core/guest/src/lib.rs", "store/tests/files/calls.rs"];
/// Specifications outside of the rulesets, whose rules a ruleset may also name.
const OTHER_PAGES: [&str; 2] = ["FD", "TR"];
/// The last rule of a page for the ruleset; its later rules are for verbs.
const RULESET_ENDS: [(&str, u32); 1] = [("PM", 24)];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[cfg(unix)]
#[test]
fn a_test_is_skipped_for_a_good_reason_or_fails_ci() {
    let printed = tempfile::NamedTempFile::new().unwrap();
    let reasons = [
        ("x: `no-such-program` is not here", true),
        ("x: `no-such-program` is not installed (Debian's package none)", true),
        ("x: it takes minutes; set TURNFOLD_LONG=1", true),
        ("x: `sh` is not here", false), // it runs the script
        ("x: it did not feel like it", false),
    ];
    for (reason, is_good) in reasons {
        fs::write(printed.path(), format!("test a ... SKIPPED: {reason}\ntest b ... ok\n")).unwrap();
        let script = std::process::Command::new(root().join(".ci/skipped")).arg(printed.path()).output();
        assert_eq!(script.unwrap().status.success(), is_good, "{reason}");
    }
}

/// Finds the files below a folder whose names have this ending. Panics if there are none.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = item.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_str().unwrap().ends_with(ending) {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty(), "no {ending} file below {}", folder.display());
    found.sort();
    found
}

/// Lists the ruleset folders by name: the games, and the desk of a match by mail.
fn rulesets() -> BTreeMap<String, PathBuf> {
    let mut named = BTreeMap::new();
    for folder in ["core/games/src", "core/src/rules"] {
        for item in fs::read_dir(root().join(folder)).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                named.insert(path.file_name().unwrap().to_str().unwrap().to_owned(), path);
            }
        }
    }
    named
}

#[test]
fn every_ruleset_has_a_page_and_is_registered() {
    for (name, folder) in rulesets() {
        assert!(folder.join("RULES.md").is_file(), "the ruleset {name} lacks RULES.md");
    }
    let folders: Vec<String> = rulesets().into_keys().collect();
    let registered: Vec<String> =
        turnfold_games::rulesets().iter().map(|rules| rules.name().into()).collect();
    assert_eq!(folders, registered, "folders and registry, in the order of their names");
}

/// SV-3: the service depends on the library and the store, and the command line on everything.
#[test]
fn crates_depend_one_way() {
    for (place, (folder, package)) in CRATES.into_iter().enumerate() {
        let manifest: toml::Table = read(&root().join(folder).join("Cargo.toml")).parse().unwrap();
        assert_eq!(manifest["package"]["name"].as_str(), Some(package));
        let later: Vec<&str> = CRATES[place..].iter().map(|(_, package)| *package).collect();
        for section in ["dependencies", "build-dependencies"] {
            let Some(dependencies) = manifest.get(section).and_then(toml::Value::as_table) else { continue };
            let wrong: Vec<&String> =
                dependencies.keys().filter(|name| later.contains(&name.as_str())).collect();
            assert!(wrong.is_empty(), "{folder}/Cargo.toml [{section}] names {wrong:?}");
        }
    }
}

/// The store handles commands and states as bytes. If it used the rules, they could change the meaning of a stored log.
#[test]
fn the_store_uses_few_names_of_the_core() {
    let known = ["BranchName", "DicePolicy", "Digest", "Malformed", "Seat", "decode", "names"];
    for path in files(&root().join("store/src"), ".rs") {
        let text = read(&path);
        let product = text.split("#[cfg(test)]").next().unwrap();
        let code: String = product.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for rest in code.split("turnfold_core::").skip(1) {
            let names = match rest.strip_prefix('{') {
                Some(list) => list.split('}').next().unwrap(),
                None => rest.split(|next| !is_in_word(next)).next().unwrap(),
            };
            for name in names.split(',').map(str::trim) {
                assert!(known.contains(&name), "{}: turnfold_core::{name}", path.display());
            }
        }
    }
}

#[test]
fn the_core_has_no_floats() {
    for path in files(&root().join("core/src"), ".rs") {
        for (number, line) in (1..).zip(read(&path).lines()) {
            // A serializer must also implement types that no value of the core has.
            let asked_for = ["fn serialize_f32(", "fn serialize_f64("];
            if asked_for.iter().any(|start| line.trim_start().starts_with(start)) {
                continue;
            }
            if let Some(float) = float_in(&code_of(line)) {
                panic!("{}:{number}: `{float}` is a float", path.display());
            }
        }
    }
}

/// Returns a line without its comment and without quoted text.
fn code_of(line: &str) -> String {
    let mut code = String::new();
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if quoted => _ = characters.next(),
            '"' => quoted = !quoted,
            '/' if !quoted && characters.peek() == Some(&'/') => break,
            _ if !quoted => code.push(character),
            _ => {}
        }
    }
    code
}

fn is_in_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// Finds a float type or literal, but not fields such as `pair.0.1`, ranges, or methods of integers.
fn float_in(code: &str) -> Option<String> {
    let in_word = is_in_word;
    let mut rest = code;
    let mut after_dot = false;
    while let Some(character) = rest.chars().next() {
        let length = rest.find(|other| !in_word(other)).unwrap_or(rest.len());
        if length == 0 {
            after_dot = character == '.';
            rest = &rest[character.len_utf8()..];
            continue;
        }
        let (word, following) = rest.split_at(length);
        let number = character.is_ascii_digit() && !after_dot;
        let fraction = following.strip_prefix('.');
        let literal = number
            && (fraction.is_some_and(|digits| {
                !digits.starts_with(|next| in_word(next) && !char::is_numeric(next) || next == '.')
            }) || (!word.starts_with("0x") && word.contains(['e', 'E'])));
        if literal || ["f32", "f64"].iter().any(|float| word == *float || number && word.ends_with(float)) {
            return Some(word.to_owned() + if fraction.is_some() { "." } else { "" });
        }
        rest = following;
        after_dot = false;
    }
    None
}

#[test]
fn floats_are_distinguished_from_what_looks_like_them() {
    for float in
        ["1.0", "x = 2.;", "1e5", "3f32", "1_000.5", "x as f64", "Vec<f32>", "(0.5, 1)", "1.0.sqrt()"]
    {
        assert!(float_in(float).is_some(), "{float}");
    }
    for other in
        ["1..=6", "0..count", "self.0", "pair.0.1", "1.max(2)", "0xe5", "x1.e", "[0; 8]", "buf32", "8u8"]
    {
        assert_eq!(float_in(other), None, "{other}");
    }
    assert_eq!(code_of(r#"print("1.5 \" 2.5"); // 3.5"#), "print(); ");
}

/// ST-20: the product has no unsafe code; only the store's tests replace calls of the C library.
#[test]
fn no_published_crate_has_a_build_script_and_unsafe_code_stands_in_one_file() {
    let mut unsafe_files = BTreeSet::new();
    for (folder, _) in CRATES {
        let folder = root().join(folder);
        for path in files(&folder, "Cargo.toml").into_iter().chain(files(&folder, ".rs")) {
            let is_tests = path == root().join("tests/build.rs");
            assert!(is_tests || !path.ends_with("build.rs"), "{}", path.display());
            let text = read(&path);
            if path.ends_with("Cargo.toml") {
                let manifest: toml::Table = text.parse().unwrap();
                assert!(manifest["package"].get("build").is_none(), "{}", path.display());
            } else if text
                .lines()
                .any(|line| code_of(line).split(|c: char| !is_in_word(c)).any(|word| word == "unsafe"))
            {
                unsafe_files.insert(path.strip_prefix(root()).unwrap().to_path_buf());
            }
        }
    }
    assert_eq!(unsafe_files, UNSAFE.map(Into::into).into());
}

/// The tests build the example from the crates that the workspace has fetched, so it needs nothing else.
#[test]
fn the_example_needs_no_crate_that_the_workspace_does_not_have() {
    let packages = |lock: &str| -> BTreeSet<(String, String)> {
        let lock: toml::Table = read(&root().join(lock)).parse().unwrap();
        let text = |package: &toml::Value, key: &str| package[key].as_str().unwrap().to_owned();
        let packages = lock["package"].as_array().unwrap().iter();
        packages.map(|package| (text(package, "name"), text(package, "version"))).collect()
    };
    let ours = packages("Cargo.lock");
    for example in ["liars", "nim"] {
        let theirs = packages(&format!("examples/{example}/Cargo.lock"));
        let others: Vec<_> = theirs.difference(&ours).map(|(name, _)| name.clone()).collect();
        assert_eq!(
            others,
            [example],
            "copy Cargo.lock to the example and let cargo remove what it does not need"
        );
    }
}

/// The promises of the store on disk are numbered 1 to 23, without 21.
#[test]
fn every_promise_of_the_store_stands_in_the_code_and_in_a_proof() {
    let ids_in = |folders: &[&str]| {
        let paths = folders.iter().flat_map(|folder| files(&root().join(folder), ".rs"));
        let ids: BTreeSet<_> = paths.flat_map(|path| rule_ids(&read(&path))).collect();
        ids.into_iter()
            .filter(|(prefix, _)| prefix == "ST")
            .map(|(_, number)| number)
            .collect::<BTreeSet<_>>()
    };
    let promises: BTreeSet<u32> = (1..=23).filter(|number| *number != 21).collect();
    assert_eq!(ids_in(&["store/src"]), promises, "in the code");
    assert_eq!(ids_in(&["store/tests", "tests/it", "tests/system"]), promises, "in the proofs");
}

/// The pages of `docs/spec` by the prefix of their ids. The rules of games and of the desk are in `RULES.md` files.
const SPEC_PAGES: [(&str, &str); 8] = [
    ("FD", "dice"),
    ("FL", "fleet"),
    ("MD", "module"),
    ("PM", "mail"),
    ("ST", "store"),
    ("SV", "service"),
    ("TR", "trust"),
    ("VW", "viewer"),
];

#[test]
fn every_id_in_code_and_tests_is_defined_in_the_repository() {
    let mut defined = ruled_ids(&read(&root().join("core/src/rules/desk/RULES.md")));
    for (prefix, page) in SPEC_PAGES {
        let path = root().join(format!("docs/spec/{page}.md"));
        for line in read(&path).lines() {
            let Some(item) = line.strip_prefix("- **") else { continue };
            let ids = rule_ids(item.split("**").next().unwrap_or_default());
            assert_eq!(ids.len(), 1, "{}: `{line}` begins with an id", path.display());
            assert!(ids.iter().all(|id| id.0 == prefix), "{}: `{line}`", path.display());
            defined.extend(ids);
        }
    }
    let places = [
        ("core", ".rs"),
        ("store", ".rs"),
        ("cli", ".rs"),
        ("cli", ".js"),
        ("cli", ".css"),
        ("examples", ".rs"),
        ("tests", ".rs"),
        ("tests/rulings", ".txt"),
        ("replays", ".tfl"),
    ];
    let mut undefined = BTreeMap::new();
    for path in places.iter().flat_map(|(folder, ending)| files(&root().join(folder), ending)) {
        let mut ids = rule_ids(&read(&path));
        ids.retain(|id| SPEC_PAGES.iter().any(|page| page.0 == id.0) && !defined.contains(id));
        if !ids.is_empty() {
            undefined.insert(path, ids);
        }
    }
    assert!(undefined.is_empty(), "ids that no page of docs/spec defines: {undefined:?}");
}

#[test]
fn every_rule_stands_in_the_code_and_in_a_proof() {
    // This file is excluded, because it names rules only as examples.
    let tests = files(&root().join("tests"), ".rs").into_iter().filter(|path| !path.ends_with("layout.rs"));
    let rulings = files(&root().join("tests/rulings"), ".txt");
    let tests: String = tests.chain(rulings).map(|path| read(&path)).collect();
    for (name, folder) in rulesets() {
        let replays = files(&root().join("replays").join(&name), ".tfl");
        let proofs = replays.iter().fold(tests.clone(), |proofs, path| proofs + &read(path));
        let proven_ids = rule_ids(&proofs);
        let mut code = read(&folder.with_extension("rs"));
        for path in files(&folder, ".rs") {
            code.push_str(&read(&path));
        }
        let mut ids = rule_ids(&code);
        ids.retain(|(prefix, _)| !OTHER_PAGES.contains(&prefix.as_str()));
        let ruled = ruled_ids(&read(&folder.join("RULES.md")));
        assert_eq!(ids, ruled, "the rules in the code of {name} and the rules of its RULES.md");
        let prefixes: BTreeSet<&String> = ruled.iter().map(|(prefix, _)| prefix).collect();
        assert_eq!(prefixes.len(), 1, "{name} has rules of {prefixes:?}");
        // Ids above the last rule of a ruleset belong to verbs.
        let is_before = |number: &u32| {
            let is_of = |prefix: &str| prefixes.iter().any(|own| *own == prefix);
            RULESET_ENDS.iter().all(|(prefix, last)| !is_of(prefix) || number <= last)
        };
        let numbers: Vec<u32> = ruled.iter().map(|(_, number)| *number).filter(is_before).collect();
        let last = u32::try_from(numbers.len()).unwrap();
        assert!((1..=last).eq(numbers), "{name} skips a rule");
        let is_of_verbs =
            |id: &(String, u32)| RULESET_ENDS.iter().any(|(prefix, last)| id.0 == *prefix && id.1 > *last);
        let is_unruled =
            |id: &&(String, u32)| prefixes.contains(&id.0) && !ruled.contains(*id) && !is_of_verbs(id);
        let unruled: Vec<_> = proven_ids.iter().filter(is_unruled).collect();
        assert!(unruled.is_empty(), "tests or replays name {unruled:?}, which RULES.md of {name} lacks");
        for (prefix, number) in &ids {
            let in_name = format!("fn {}_{number}_", prefix.to_lowercase());
            let proven = proofs.contains(&in_name) || proven_ids.contains(&(prefix.clone(), *number));
            assert!(proven, "no test or replay names {prefix}-{number}");
        }
    }
}

/// Finds the rules with a heading of their own. `XY-1b` belongs to `XY-1` and follows it.
fn ruled_ids(rules: &str) -> BTreeSet<(String, u32)> {
    let headings: Vec<&str> = rules.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let names: Vec<&str> = headings.iter().filter_map(|heading| heading.split(' ').next()).collect();
    for (index, name) in names.iter().enumerate() {
        assert_eq!(rule_ids(name).len(), 1, "`### {name}` begins with a rule's id");
        assert!(!names[..index].contains(name), "{name} has two headings");
    }
    rule_ids(&names.join(" "))
}

#[test]
fn reasons_give_the_rules_that_their_docs_name() {
    for (name, folder) in rulesets() {
        let rules = turnfold_games::find(&name).unwrap();
        let text = read(&folder.join("reason.rs"));
        let mut doc = BTreeSet::new();
        let mut variants = 0;
        for line in text.lines().map(str::trim) {
            if let Some(comment) = line.strip_prefix("///") {
                doc = comment.split_once(':').map(|(ids, _)| rule_ids(ids)).unwrap_or_default();
                continue;
            }
            if let Some((variant, _)) = line.split_once(" = Ruling::of(") {
                let code = snake_case(variant);
                let given = rules.rule_ids(&code);
                assert_eq!(rule_ids(&given.join(" ")), doc, "the rules of `{code}` of {name}");
                assert_eq!(given.len(), doc.len(), "the rules of `{code}` of {name} are given once each");
                variants += 1;
            }
            doc.clear();
        }
        assert!(variants > 0, "reason.rs of {name} has no reasons");
        assert!(rules.rule_ids("no_such_reason").is_empty());
    }
}

fn snake_case(name: &str) -> String {
    name.char_indices().fold(String::new(), |mut words, (at, character)| {
        if at > 0 && character.is_ascii_uppercase() {
            words.push('_');
        }
        words.push(character.to_ascii_lowercase());
        words
    })
}

/// Finds rule ids such as `CT-7`: two capitals, a hyphen and a number, not part of a longer word.
fn rule_ids(text: &str) -> BTreeSet<(String, u32)> {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric() && character != '-');
    let ids = words.filter_map(|word| {
        let (prefix, number) = word.split_once('-')?;
        let capitals = prefix.len() == 2 && prefix.chars().all(|character| character.is_ascii_uppercase());
        let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
        capitals.then(|| Some((prefix.to_owned(), digits.parse().ok()?)))?
    });
    ids.collect()
}
