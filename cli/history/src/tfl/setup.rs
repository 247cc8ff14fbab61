//! Finds the places of header values in the replay file, for setup errors and others.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use turnfold_core::SetupError;

use super::canonical::key_of;
use super::error::TflError;
use super::header::{HEADER_LINE, Header, position_in_file};

/// The places of the parts of a TOML document, by path.
type Places = BTreeMap<String, Place>;

/// The place of a part, as offsets into the text.
#[derive(Clone, Copy)]
struct Place {
    key: Option<usize>,
    value: usize,
}

impl Header {
    pub(crate) fn locate(&self, file: &str, error: &SetupError) -> TflError {
        let at_value = |path: &str| {
            let place = enclosing(&self.places(), path).map_or(0, |place| place.value);
            position_in_file(&self.text, place)
        };
        let (place, message) = match error {
            SetupError::Text { line, column, message } => {
                let number = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
                ((number(*line).saturating_add(HEADER_LINE - 1), number(*column)), message.clone())
            }
            SetupError::Value { field, message } => {
                (at_value(&format!("setup.{field}")), format!("{field}: {message}"))
            }
            SetupError::Bytes(_) => (at_value("setup"), error.to_string()),
        };
        TflError::new(file, place, format!("setup: {message}"))
    }

    /// Returns the line in the file of the value at a path, or else of the opening `+++`.
    pub(crate) fn line_of(&self, path: Option<&str>) -> usize {
        let place = path.and_then(|path| self.places().get(path).copied());
        let line = |place: Place| position_in_file(&self.text, place.key.unwrap_or(place.value)).0;
        place.map_or(HEADER_LINE - 1, line)
    }

    fn places(&self) -> Places {
        let mut places = Places::new();
        if let Ok(document) = DeTable::parse(&self.text) {
            collect_table(document.get_ref(), "", &mut places);
        }
        places
    }
}

/// Returns the place of a path, or of the nearest enclosing part.
fn enclosing(places: &Places, path: &str) -> Option<Place> {
    let mut path = path;
    loop {
        match places.get(path) {
            Some(place) => return Some(*place),
            None if path.is_empty() => return None,
            None => path = path.rfind(['.', '[']).and_then(|end| path.get(..end)).unwrap_or_default(),
        }
    }
}

fn collect(path: String, key: Option<usize>, value: &Spanned<DeValue<'_>>, places: &mut Places) {
    match value.get_ref() {
        DeValue::Table(table) => collect_table(table, &path, places),
        DeValue::Array(array) => {
            for (index, element) in array.iter().enumerate() {
                collect(format!("{path}[{index}]"), None, element, places);
            }
        }
        _ => {}
    }
    places.insert(path, Place { key, value: value.span().start });
}

fn collect_table(table: &DeTable<'_>, path: &str, places: &mut Places) {
    for (key, value) in table {
        let dot = if path.is_empty() { "" } else { "." };
        collect(format!("{path}{dot}{}", key_of(key.get_ref())), Some(key.span().start), value, places);
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
