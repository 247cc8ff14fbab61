//! Setups of a referee: TOML for people, JSON in the order of the file for the log and for the referee (RF-9).

use toml::de::{DeArray, DeTable};
use turnfold_core::SetupError;
use turnfold_core::any::setup_from_toml;

use crate::json::{JsonNode, canonical_number, sent_text};

pub(crate) fn from_toml(text: &str) -> Result<JsonNode, SetupError> {
    let table: toml::Table = setup_from_toml(text)?;
    node_of("", &toml::Value::Table(table))
}

pub(crate) fn from_document(text: &str) -> Result<Option<JsonNode>, SetupError> {
    let mut document: toml::Table = setup_from_toml(text)?;
    let Some(setup) = document.remove("setup") else { return Ok(None) };
    Ok(Some(node_of("", &setup)?))
}

/// Returns the byte of a text at which a part of its setup begins. `at` is the byte at which the part ends in the setup
/// as it is sent. With `below` the setup is the table of that name.
pub(crate) fn place_in_toml(text: &str, below: Option<&str>, setup: &JsonNode, at: usize) -> usize {
    let Ok(document) = DeTable::parse(text) else { return 0 };
    let mut start = document.span().start;
    let mut table = Some(document.get_ref());
    let mut list: Option<&DeArray<'_>> = None;
    let Part { mut path, is_key } = path_to(setup, 0, at);
    if let Some(below) = below {
        path.insert(0, below.into());
    }
    for (index, name) in path.iter().enumerate() {
        let is_last = index + 1 == path.len();
        let mut found = None;
        if let Some((key, value)) = table.and_then(|table| table.get_key_value(name.as_str())) {
            if is_last && is_key {
                return key.span().start;
            }
            found = Some(value);
        } else if let Some(list) = list
            && let Ok(index) = name.parse::<usize>()
        {
            found = list.get(index);
        }
        let Some(value) = found else { break };
        start = value.span().start;
        table = value.get_ref().as_table();
        list = value.get_ref().as_array();
    }
    start
}

struct Part {
    path: Vec<String>,
    is_key: bool,
}

/// Finds the part that ends at a byte of a document as it is sent.
fn path_to(node: &JsonNode, start: usize, at: usize) -> Part {
    let mut place = start;
    for (index, (key, value)) in node.parts().into_iter().enumerate() {
        let name = key.map_or_else(|| index.to_string(), String::from);
        // Skip the bracket or the comma.
        place += 1;
        if let Some(key) = key {
            place += sent_text(key).len();
            if at <= place {
                return Part { path: vec![name], is_key: true };
            }
            place += 1;
        }
        let end = place + value.as_sent().len();
        if at <= end {
            let mut part = path_to(value, place, at);
            part.path.insert(0, name);
            return part;
        }
        place = end;
    }
    Part { path: Vec::new(), is_key: false }
}

fn unusable(path: &str, message: impl Into<String>) -> SetupError {
    SetupError::Value { field: path.trim_start_matches('/').replace('/', "."), message: message.into() }
}

fn node_of(path: &str, value: &toml::Value) -> Result<JsonNode, SetupError> {
    Ok(match value {
        toml::Value::String(text) => JsonNode::Text(text.clone()),
        toml::Value::Integer(number) => JsonNode::Number(number.to_string()),
        toml::Value::Float(number) => {
            let written = format!("{number:e}");
            match canonical_number(&written) {
                Some(spelled) => JsonNode::Number(spelled.into_owned()),
                None => return Err(unusable(path, "a number of JSON is finite")),
            }
        }
        toml::Value::Boolean(value) => JsonNode::Bool(*value),
        toml::Value::Datetime(date) => {
            return Err(unusable(path, format!("JSON knows no dates; write \"{date}\" as text")));
        }
        toml::Value::Array(elements) => {
            let mut nodes = Vec::new();
            for (index, element) in elements.iter().enumerate() {
                nodes.push(node_of(&format!("{path}/{index}"), element)?);
            }
            JsonNode::List(nodes)
        }
        toml::Value::Table(table) => {
            // TOML is written with the tables of a table after its values, and is read in that order. So a setup has
            // the same bytes after an import from a replay file.
            let (tables, values): (Vec<_>, Vec<_>) = table.iter().partition(|(_, value)| is_table(value));
            let mut members = Vec::new();
            for (key, value) in values.into_iter().chain(tables) {
                members.push((key.clone(), node_of(&format!("{path}/{key}"), value)?));
            }
            JsonNode::Object(members)
        }
    })
}

/// Returns `true` for what TOML writes as sections: a table, or a list of nothing but tables.
fn is_table(value: &toml::Value) -> bool {
    match value {
        toml::Value::Table(_) => true,
        toml::Value::Array(elements) => !elements.is_empty() && elements.iter().all(toml::Value::is_table),
        _ => false,
    }
}

pub(crate) fn to_toml(setup: &JsonNode) -> Result<String, String> {
    if setup.members().is_none() {
        return Err("a setup is an object".into());
    }
    toml::to_string(&toml_of(setup)?).map_err(|error| error.to_string())
}

fn toml_of(node: &JsonNode) -> Result<toml::Value, String> {
    Ok(match node {
        JsonNode::Null => {
            return Err("a setup has a `null`, which TOML cannot write; leave the field out".into());
        }
        JsonNode::Bool(value) => toml::Value::Boolean(*value),
        JsonNode::Number(spelled) => {
            let number = canonical_number(spelled).unwrap_or_default();
            if let Ok(number) = number.parse() {
                toml::Value::Integer(number)
            } else if number.contains(['.', 'e']) {
                toml::Value::Float(number.parse().map_err(|_| "a setup has no such number")?)
            } else {
                return Err(format!(
                    "a setup has the number {number}, which TOML cannot write; write it as text"
                ));
            }
        }
        JsonNode::Text(text) => toml::Value::String(text.clone()),
        JsonNode::List(elements) => {
            toml::Value::Array(elements.iter().map(toml_of).collect::<Result<Vec<_>, String>>()?)
        }
        JsonNode::Object(members) => {
            let mut table = toml::Table::new();
            for (key, value) in members {
                table.insert(key.clone(), toml_of(value)?);
            }
            toml::Value::Table(table)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rf_9_a_setup_keeps_the_order_of_its_file() {
        let toml =
            "name = \"duel\"\nsize = 3\nratio = 0.5\n\n[players.zoe]\nhp = 3\n\n[players.abe]\nhp = 4\n";
        let setup = from_toml(toml).unwrap();
        assert_eq!(
            setup.as_sent(),
            r#"{"name":"duel","size":3,"ratio":0.5,"players":{"zoe":{"hp":3},"abe":{"hp":4}}}"#
        );
        assert_eq!(to_toml(&setup).unwrap(), toml);
        let mixed =
            from_toml("z = { b = { d = 1, c = [{ a = 1 }] }, a = 2 }\ny = [1, { q = {}, p = 1 }]\nx = []")
                .unwrap();
        assert_eq!(
            mixed.as_sent(),
            r#"{"y":[1,{"p":1,"q":{}}],"x":[],"z":{"a":2,"b":{"d":1,"c":[{"a":1}]}}}"#
        );
        assert_eq!(from_toml(&to_toml(&mixed).unwrap()).unwrap(), mixed);
    }

    /// RF-8: a guest names the byte at which it stopped in the JSON, and the host the line of the file.
    #[test]
    fn rf_8_a_part_of_a_setup_is_found_in_its_file() {
        let toml = "title = \"é\"\n[setup]\nlist = [1,\n  2]\n[[setup.units]]\nid = \"a\"\n";
        let setup = from_document(toml).unwrap().unwrap();
        let sent = setup.as_sent();
        assert_eq!(sent, r#"{"list":[1,2],"units":[{"id":"a"}]}"#);
        let check = |json: &str, expected: &str| {
            let at = sent.find(json).unwrap() + json.len();
            let start = place_in_toml(toml, Some("setup"), &setup, at);
            assert!(toml[start..].starts_with(expected), "{json}: {:?}", &toml[start..]);
        };
        check("\"list\"", "list");
        check("[1,2", "2]");
        check("[1,2]", "[1,");
        check("\"id\"", "id");
        check("\"id\":\"a\"", "\"a\"");
        check("{\"id\":\"a\"}", "[[setup.units]]");
    }

    #[test]
    fn rf_9_what_json_and_toml_do_not_share_is_named() {
        let error = from_toml("[a]\nb = 2020-01-01").unwrap_err();
        assert_eq!(error.to_string(), "setup: a.b: JSON knows no dates; write \"2020-01-01\" as text");
        assert!(to_toml(&JsonNode::read(r#"{"a":null}"#).unwrap()).unwrap_err().contains("null"));
        assert!(to_toml(&JsonNode::read("{\"a\":12345678901234567890}").unwrap()).is_err());
        assert!(from_toml("a = inf").is_err());
    }
}
