//! The tables of `cli/JSON.md`, and documents checked against them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Map, Value};

use turnfold_tests::sandbox::workspace;

/// A table: the fields of one document.
pub(super) type Table = Vec<Field>;

/// A row of a table.
#[derive(Debug)]
pub(super) struct Field {
    /// The name; `None` if the row stands for all fields of the type, or for fields of any name.
    name: Option<String>,
    kind: String,
    is_optional: bool,
}

/// The documented output of a verb.
#[derive(Debug)]
pub(super) struct Verb {
    /// The sentence that states the number of documents.
    pub(super) prints: String,
    /// Each document has the fields of one of these tables.
    pub(super) tables: Vec<Table>,
}

/// Everything that the page documents.
pub(super) struct Contract {
    pub(super) verbs: BTreeMap<String, Verb>,
    types: BTreeMap<String, Table>,
    /// The fields seen in some document, and those seen with a value other than null.
    seen: BTreeSet<String>,
}

impl Contract {
    /// Reads the page.
    pub(super) fn read() -> Self {
        let page = fs::read_to_string(workspace().join("cli/JSON.md")).unwrap();
        let mut contract = Self { verbs: BTreeMap::new(), types: BTreeMap::new(), seen: BTreeSet::new() };
        for section in page.split("\n## ").skip(1) {
            let mut parts = section.split("\n### ");
            let (title, text) = parts.next().unwrap().split_once('\n').unwrap();
            if let Some(verb) = title.strip_prefix('`') {
                let prints = text.trim().lines().next().unwrap_or_default().to_string();
                let verb = verb.trim_end_matches('`').to_string();
                let known = contract.verbs.insert(verb, Verb { prints, tables: tables(text) });
                assert!(known.is_none(), "{title} is documented twice");
            }
            for part in parts {
                let (name, text) = part.split_once('\n').unwrap();
                let table = tables(text).pop().unwrap_or_else(|| panic!("{name} has no table"));
                assert!(contract.types.insert(name.into(), table).is_none(), "{name} is documented twice");
            }
        }
        contract
    }

    /// Checks a document of a verb.
    pub(super) fn check(&mut self, verb: &str, document: &Value) -> Result<(), String> {
        let found = self.verbs.get(verb).ok_or_else(|| format!("`{verb}` is not documented"))?;
        if let Some((_, kind)) = found.prints.split_once(" of type `") {
            let kind = kind.split('`').next().unwrap_or_default().to_string();
            return self.check_value(verb, &kind, document);
        }
        let mut wrong = vec!["no table".to_string()];
        for number in 0..found.tables.len() {
            let table =
                self.verbs.get_mut(verb).map(|found| std::mem::take(&mut found.tables[number])).unwrap();
            let place = format!("{verb}#{number}");
            let checked = self.check_table(&place, &table, document);
            self.verbs.get_mut(verb).unwrap().tables[number] = table;
            match checked {
                Ok(()) => return Ok(()),
                Err(why) => wrong.push(why),
            }
        }
        Err(wrong.join("; "))
    }

    /// Checks a value against a type of the page.
    pub(super) fn check_value(&mut self, place: &str, kind: &str, value: &Value) -> Result<(), String> {
        let wrong = || Err(format!("{place}: expected {kind}, found {value}"));
        if let Some(kind) = kind.strip_suffix(" or null") {
            return if value.is_null() { Ok(()) } else { self.check_value(place, kind, value) };
        }
        if let Some(kind) = kind.strip_prefix("list of ") {
            let Some(elements) = value.as_array() else { return wrong() };
            return elements.iter().try_for_each(|element| self.check_value(place, kind, element));
        }
        let is_right = match kind {
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "object" => value.is_object(),
            "any" => true,
            name => {
                let (name, table) =
                    self.types.remove_entry(name).unwrap_or_else(|| panic!("{place}: no type `{name}`"));
                let checked = self.check_table(&name, &table, value);
                self.types.insert(name, table);
                return checked;
            }
        };
        if is_right { Ok(()) } else { wrong() }
    }

    fn check_table(&mut self, place: &str, table: &Table, document: &Value) -> Result<(), String> {
        let object = document.as_object().ok_or_else(|| format!("{place}: {document} is no object"))?;
        let mut seen = Vec::new();
        let left = self.check_fields(place, table, object.clone(), &mut seen)?;
        if let Some((name, value)) = left.iter().next() {
            return Err(format!("{place}: `{name}` is not documented (it is {value})"));
        }
        self.seen.extend(seen);
        Ok(())
    }

    /// Checks the fields of a table and returns the others.
    fn check_fields(
        &mut self,
        place: &str,
        table: &Table,
        mut left: Map<String, Value>,
        seen: &mut Vec<String>,
    ) -> Result<Map<String, Value>, String> {
        for Field { name, kind, is_optional } in table {
            match name {
                Some(name) => match left.remove(name) {
                    Some(value) => {
                        let place = format!("{place}.{name}");
                        self.check_value(&place, kind, &value)?;
                        seen.extend((!value.is_null()).then_some(place));
                    }
                    None if *is_optional => {}
                    None => return Err(format!("{place}: `{name}` is missing")),
                },
                None if kind == "any" => left.clear(),
                None => {
                    let (kind, table) = self.types.remove_entry(kind).expect("a type is documented");
                    let rest = self.check_fields(&kind, &table, left, seen);
                    self.types.insert(kind, table);
                    left = rest?;
                }
            }
        }
        Ok(left)
    }

    /// Lists the documented fields that were never seen with a value other than null.
    pub(super) fn never_seen(&self) -> Vec<String> {
        let verbs = self.verbs.iter().flat_map(|(verb, found)| {
            found.tables.iter().enumerate().map(move |(number, table)| (format!("{verb}#{number}"), table))
        });
        let types = self.types.iter().map(|(name, table)| (name.clone(), table));
        let fields = verbs.chain(types).flat_map(|(place, table)| {
            let names = table.iter().filter_map(|field| field.name.as_deref());
            names.map(|name| format!("{place}.{name}")).collect::<Vec<_>>()
        });
        fields.filter(|field| !self.seen.contains(field)).collect()
    }
}

/// Reads the tables of a text.
fn tables(text: &str) -> Vec<Table> {
    let mut tables = Vec::new();
    for line in text.lines() {
        if line == "| field | type | meaning |" {
            tables.push(Table::new());
            continue;
        }
        let Some(cells) = line.strip_prefix("| ").filter(|cells| !cells.starts_with("---")) else { continue };
        let mut cells = cells.split(" | ");
        let (name, kind) = (cells.next().unwrap(), cells.next().unwrap());
        let name = (name != "…").then(|| name.trim_matches('`').to_string());
        let (kind, is_optional) = kind.strip_suffix(", optional").map_or((kind, false), |kind| (kind, true));
        let table = tables.last_mut().unwrap_or_else(|| panic!("a row without a table: {line}"));
        table.push(Field { name, kind: kind.into(), is_optional });
    }
    tables
}
