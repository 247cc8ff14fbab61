//! Finds the places of header values in the replay file, for setup errors and others.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use turnfold_core::SetupError;

use super::canonical::key_of;
use super::file::TflError;
use super::header::{HEADER_LINE, Header, position_in_file};

#[derive(Clone, Copy)]
struct PartOffset {
    key: Option<usize>,
    value: usize,
}

impl Header {
    pub(crate) fn locate(&self, file: &str, error: &SetupError) -> TflError {
        let mut path = String::from("setup");
        let mut message = error.to_string();
        match error {
            SetupError::Text { line, column, message } => {
                let line = usize::try_from(*line).unwrap_or(usize::MAX).saturating_add(HEADER_LINE - 1);
                let column = usize::try_from(*column).unwrap_or(usize::MAX);
                return TflError::new(file, (line, column), format!("setup: {message}"));
            }
            SetupError::Value { field, message: why } => {
                path = format!("setup.{field}");
                message = format!("{field}: {why}");
            }
            SetupError::Bytes(_) => {}
        }
        let offset = enclosing(&self.offsets(), &path);
        TflError::new(file, position_in_file(&self.text, offset), format!("setup: {message}"))
    }

    pub(crate) fn line_of(&self, path: Option<&str>) -> usize {
        let Some(path) = path else { return HEADER_LINE - 1 };
        match self.offsets().get(path) {
            Some(part) => position_in_file(&self.text, part.key.unwrap_or(part.value)).0,
            None => HEADER_LINE - 1,
        }
    }

    fn offsets(&self) -> BTreeMap<String, PartOffset> {
        let mut offsets = BTreeMap::new();
        if let Ok(document) = DeTable::parse(&self.text) {
            collect_table(document.get_ref(), "", &mut offsets);
        }
        offsets
    }
}

fn enclosing(offsets: &BTreeMap<String, PartOffset>, path: &str) -> usize {
    let mut path = path;
    loop {
        match offsets.get(path) {
            Some(part) => return part.value,
            None if path.is_empty() => return 0,
            None => path = path.rfind(['.', '[']).and_then(|end| path.get(..end)).unwrap_or_default(),
        }
    }
}

fn collect(
    path: String,
    key: Option<usize>,
    value: &Spanned<DeValue<'_>>,
    offsets: &mut BTreeMap<String, PartOffset>,
) {
    match value.get_ref() {
        DeValue::Table(table) => collect_table(table, &path, offsets),
        DeValue::Array(array) => {
            for (index, element) in array.iter().enumerate() {
                collect(format!("{path}[{index}]"), None, element, offsets);
            }
        }
        _ => {}
    }
    offsets.insert(path, PartOffset { key, value: value.span().start });
}

fn collect_table(table: &DeTable<'_>, path: &str, offsets: &mut BTreeMap<String, PartOffset>) {
    for (key, value) in table {
        let dot = if path.is_empty() { "" } else { "." };
        collect(format!("{path}{dot}{}", key_of(key.get_ref())), Some(key.span().start), value, offsets);
    }
}

#[cfg(test)]
mod tests {

    use crate::tfl::read;

    /// Requires the setup, which begins on line 6, to be refused at this place.
    fn check(setup: &str, expected: &str) {
        let header = "ruleset = \"initiative\"\nversion = 1\ndice = \"recorded\"\n";
        let text = format!("turnfold replay 2\n+++\n{header}{setup}\n+++\n");
        let error = read("x.tfl", text.as_bytes(), &turnfold_games::standard())
            .unwrap()
            .setup()
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(&format!("x.tfl:{expected}")), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }

    #[test]
    fn an_unknown_key_is_found() {
        check("[setup]\nradius = 3\nwidth = 4", "8:1: setup: unknown field `width`");
        check("setup = { radius = 3, width = 4 }", "6:23: setup: unknown field `width`");
        check("setup.radius = 3\nsetup.width = 4", "7:7: setup: unknown field `width`");
    }

    #[test]
    fn a_wrong_type_is_found() {
        check("[setup]\nradius = \"3\"", "7:10: setup: invalid type");
        check("[setup]\nradius = 300", "7:10: setup: invalid value");
        check("[setup]\n\"\\u001b[2J\" = 3", "7:1: setup: unknown field `\\u{1b}[2J`");
        check("[setup]\nblocked = [[0, 1],\n  [0]]\nradius = 3", "8:3: setup: invalid length 1");
    }

    #[test]
    fn a_wrong_unit_is_found_in_its_table() {
        let unit = "[[setup.units]]\nid = \"a1\"\nowner = \"p1\"\nat = [0, 0]";
        let check_second =
            |second: &str, expected| check(&format!("[setup]\nradius = 3\n{unit}\n  {second}"), expected);
        check_second("[[setup.units]]\nid = \"A1\"", "13:6: setup: expected an id");
        check_second("[[setup.units]]\nspeed = 1", "13:1: setup: unknown field `speed`");
        check_second("[[setup.units]]\nid = \"b1\"\nowner = \"p2\"", "12:3: setup: missing field `at`");
        check_second(
            "[[setup.units]]\nid = \"b1\"\nowner = \"p2\"\nat = [9, 9]",
            "15:6: setup: units[1].at: hex 9,9 is off the board",
        );
        check_second(
            "[[setup.units]]\nid = \"b1\"\nowner = \"p3\"\nat = [1, 0]",
            "14:9: setup: units[1].owner",
        );
    }

    #[test]
    fn a_missing_field_is_reported_at_the_table() {
        check("[setup]", "6:1: setup: missing field `radius`");
    }
}
