//! No file imports in a circle.
//!
//! A file imports the files that define what it names, by `use` or by a path. Passing a name on with `pub use` is no
//! import in itself: a use of that name imports the file behind it. So a parent may declare its children and give
//! what they define a shorter path, and they may use what it defines, but not both parent and child each other's.

use std::collections::{BTreeMap, BTreeSet};

use super::source::tokens;
use super::{CRATES, files, read, root};

/// A module's path below its crate.
type Path = Vec<String>;

/// What a file does with names.
#[derive(Default)]
struct Names {
    /// The files it imports, or items in them.
    imports: Vec<Path>,
    /// What each name stands for that `use` brings in.
    bound: BTreeMap<String, Path>,
    /// The imported names that are passed on.
    passed_on: BTreeSet<String>,
    /// The paths in its code as they are written, and single words.
    paths: BTreeSet<Path>,
}

/// A crate's files by their modules.
struct Modules(BTreeMap<Path, Names>);

impl Modules {
    fn of(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let files: Vec<_> = files.into_iter().map(|(name, text)| (module_of(&name), text)).collect();
        let known: BTreeSet<Path> = files.iter().map(|(module, _)| module.clone()).collect();
        Self(files.iter().map(|(module, text)| (module.clone(), names(module, text, &known))).collect())
    }

    /// Finds the file that defines what an absolute path names.
    fn defining(&self, path: &[String]) -> Path {
        let depth = (0..=path.len()).rev().find(|depth| self.0.contains_key(&path[..*depth])).unwrap();
        let (module, rest) = path.split_at(depth);
        let names = &self.0[module];
        match rest.split_first() {
            Some((first, rest)) if names.passed_on.contains(first) => {
                self.defining(&[&names.bound[first], rest].concat())
            }
            _ => module.to_vec(),
        }
    }

    /// Lists the files that a file imports.
    fn imports(&self, module: &Path) -> BTreeSet<Path> {
        let Names { imports, bound, passed_on, paths } = &self.0[module];
        let known = |path: &Path| self.0.contains_key(path);
        let paths = paths.iter().filter_map(|path| match bound.get(&path[0]) {
            Some(start) if path.len() > 1 || passed_on.contains(&path[0]) => {
                Some([start, &path[1..]].concat())
            }
            _ if path.len() > 1 => absolute(module, path, &known),
            _ => None,
        });
        let imported = imports.iter().cloned().chain(paths).map(|path| self.defining(&path));
        imported.filter(|imported| imported != module).collect()
    }

    /// Lists circles that would all be gone without the last import of each.
    fn circles(&self) -> Vec<Vec<String>> {
        let mut imports = self.0.keys().map(|module| (module.clone(), self.imports(module))).collect();
        let mut circles = Vec::new();
        while let Some(circle) = circle(&imports) {
            imports.get_mut(circle.last().unwrap()).unwrap().remove(&circle[0]);
            circles.push(circle.iter().map(|module| module.join("::")).collect());
        }
        circles
    }
}

/// Finds files each of which imports the next, and the last the first.
fn circle(imports: &BTreeMap<Path, BTreeSet<Path>>) -> Option<Vec<Path>> {
    let mut done = BTreeSet::new();
    imports.keys().find_map(|module| circle_from(module, imports, &mut Vec::new(), &mut done))
}

fn circle_from(
    module: &Path,
    imports: &BTreeMap<Path, BTreeSet<Path>>,
    way: &mut Vec<Path>,
    done: &mut BTreeSet<Path>,
) -> Option<Vec<Path>> {
    if let Some(start) = way.iter().position(|earlier| earlier == module) {
        return Some(way[start..].to_vec());
    }
    if done.contains(module) {
        return None;
    }
    way.push(module.clone());
    let circle = imports[module].iter().find_map(|next| circle_from(next, imports, way, done));
    way.pop();
    done.insert(module.clone());
    circle
}

/// Returns the module that a file is, by its name below the crate's sources.
fn module_of(file: &str) -> Path {
    let mut module: Path = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|last| last == "mod") || ["lib", "main"].contains(&module[0].as_str()) {
        module.pop();
    }
    module
}

/// Returns where a path leads, if that is in its own crate.
fn absolute(module: &[String], path: &[String], known: &dyn Fn(&Path) -> bool) -> Option<Path> {
    let supers = path.iter().take_while(|segment| *segment == "super").count();
    match path[0].as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([module, &path[1..]].concat()),
        "super" => Some([&module[..module.len() - supers], &path[supers..]].concat()),
        _ => Some([module, path].concat()).filter(|_| known(&[module, &path[..1]].concat())),
    }
}

fn names(module: &Path, text: &str, known: &BTreeSet<Path>) -> Names {
    let mut names = Names::default();
    let tokens = tokens(text);
    let is_word =
        |at: usize| tokens.get(at).is_some_and(|token: &String| token.starts_with(super::is_in_word));
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at] == "use" {
            let end = at + tokens[at..].iter().position(|token| token == ";").unwrap();
            let is_passed_on = at > 0 && ["pub", ")"].contains(&tokens[at - 1].as_str());
            for (name, path) in use_tree(&tokens[at + 1..end], &[]) {
                let Some(path) = absolute(module, &path, &|path| known.contains(path)) else { continue };
                if is_passed_on {
                    names.passed_on.insert(name.clone());
                } else {
                    names.imports.push(path.clone());
                }
                names.bound.insert(name, path);
            }
            at = end;
        } else if is_word(at) && (at == 0 || !["::", "."].contains(&tokens[at - 1].as_str())) {
            let mut path = vec![tokens[at].clone()];
            while tokens.get(at + 1).is_some_and(|token| token == "::") && is_word(at + 2) {
                at += 2;
                path.push(tokens[at].clone());
            }
            names.paths.insert(path);
        }
        at += 1;
    }
    names
}

/// Lists the names that the tree of a `use` brings in, and the paths they stand for.
fn use_tree(tree: &[String], prefix: &[String]) -> Vec<(String, Path)> {
    let Some(brace) = tree.iter().position(|token| token == "{") else {
        let words: Path = tree.iter().filter(|token| *token != "::").cloned().collect();
        let (words, alias) = match words.iter().position(|word| word == "as") {
            Some(at) => (&words[..at], words.get(at + 1).cloned()),
            None => (&words[..], None),
        };
        let is_itself = words.last().is_some_and(|last| ["self", "*"].contains(&last.as_str()));
        let words =
            if is_itself && prefix.len() + words.len() > 1 { &words[..words.len() - 1] } else { words };
        let path = [prefix, words].concat();
        let name = alias.or_else(|| path.last().cloned());
        return name.map(|name| (name, path)).into_iter().collect();
    };
    let start: Path = tree[..brace].iter().filter(|token| *token != "::").cloned().collect();
    let prefix = [prefix, &start].concat();
    let mut depth = 0;
    let parts = tree[brace + 1..tree.len() - 1].split(|token| {
        depth += i32::from(token == "{") - i32::from(token == "}");
        depth == 0 && token == ","
    });
    parts.filter(|part| !part.is_empty()).flat_map(|part| use_tree(part, &prefix)).collect()
}

#[test]
fn no_file_imports_in_a_circle() {
    let mut found = BTreeMap::new();
    for (source, _) in CRATES.into_iter().filter(|(folder, _)| *folder != "tests") {
        let folder = root().join(source).join("src");
        let sources = files(&folder, ".rs").into_iter().filter(|path| !path.ends_with("tests.rs"));
        let named = sources.map(|path| {
            (path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/"), read(&path))
        });
        let circles = Modules::of(named).circles();
        if !circles.is_empty() {
            found.insert(source, circles);
        }
    }
    assert!(found.is_empty(), "these files import each other in turn: {found:#?}");
}

#[test]
fn circles_are_found_through_any_path_and_doors_are_none() {
    let parent = "mod child;\npub(crate) mod other;\npub(crate) use child::Item;\npub(crate) struct Own;\n";
    let circle = |child: &str, other: &str| {
        let files = [("lib.rs", "mod room;\npub use room::Item;\n"), ("room/mod.rs", parent)];
        let files = files.into_iter().chain([("room/child.rs", child), ("room/other.rs", other)]);
        Modules::of(files.map(|(name, text)| (name.to_owned(), text.to_owned()))).circles()
    };
    let uses_parent = "use super::Own;\n#[cfg(test)]\nmod tests {\n    use super::super::other::Other;\n}\n";
    assert_eq!(circle(uses_parent, "use crate::Item;\nuse super::{Own, child::{self}};\n"), [[""; 0]; 0]);
    let both = [["room::child", "room::other"]];
    for child in [
        "use super::other::Other;",
        "fn f() -> crate::room::other::Other {}",
        "use crate::room::{\n    self,\n    other as twin,\n};\nfn f(_: twin::Other) {}",
    ] {
        assert_eq!(circle(child, "use crate::room::Item;\n"), both, "{child}");
        assert_eq!(circle(child, "// crate::room::child::Item\n"), [[""; 0]; 0], "{child}");
    }
    let uses_child = format!("{parent}fn f() -> Item {{}}\n");
    let files = [("lib.rs", "mod room;"), ("room/mod.rs", &uses_child), ("room/child.rs", "use super::Own;")];
    let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
    assert_eq!(Modules::of(files).circles(), [["room", "room::child"]]);
}
