//! One name, one public type: no reader has to ask which of two is meant.

use std::collections::{BTreeMap, BTreeSet};

use super::source::tokens;
use super::{CRATES, files, read, root};

/// The rooms of rulesets, which are the same in each: what lies in one may have the name of what lies in another's.
const RULESETS: &str = "core/src/rules/";

/// Lists the types that a file makes public.
fn public_types(text: &str) -> BTreeSet<String> {
    let tokens = tokens(text);
    let kinds = ["struct", "enum", "trait", "type", "union"];
    let named = tokens.windows(3).filter(|window| window[0] == "pub" && kinds.contains(&window[1].as_str()));
    named.map(|window| window[2].clone()).collect()
}

#[test]
fn no_two_public_types_have_one_name() {
    let mut homes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for folder in CRATES.map(|(folder, _)| folder).into_iter().chain(["cli/laws"]) {
        for path in files(&root().join(folder).join("src"), ".rs") {
            let file = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
            let room = file.strip_prefix(RULESETS).and_then(|file| file.split_once('/'));
            let home = room.map_or(file.clone(), |(_, room)| format!("{RULESETS}*/{room}"));
            for name in public_types(&read(&path)) {
                homes.entry(name).or_default().insert(home.clone());
            }
        }
    }
    homes.retain(|_, homes| homes.len() > 1);
    assert!(homes.is_empty(), "{homes:?}");
}

#[test]
fn only_what_a_release_makes_public_is_a_public_type() {
    let text = "pub struct A;\npub(crate) enum B {}\n// pub struct C;\n#[cfg(test)]\nmod tests {\n    pub struct D;\n}\n\
                pub trait E<T> {\n    type F;\n}\n#[cfg(doc)]\npub struct G;\npub type H = u8;\n";
    assert_eq!(public_types(text).into_iter().collect::<Vec<_>>(), ["A", "E", "H"]);
}
