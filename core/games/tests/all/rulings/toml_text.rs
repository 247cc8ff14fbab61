//! Setups as rulings write them: TOML in which lists of tables are written in rows, and text can be repeated.

use std::collections::BTreeMap;

use turnfold_core::Board;

/// Expands the short forms: rows of lists, and repetitions.
pub(super) fn written_out(text: &str, columns: &BTreeMap<String, Vec<String>>) -> String {
    let lines = repeated(text);
    lines.lines().map(str::trim).flat_map(|line| [tables(line, columns), "\n".into()]).collect()
}

/// Returns `true` if a line has rows of a list, such as `units: a p1 0,1; b p2 0,2`.
pub(super) fn has_rows(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(name, _)| name.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// Expands `<3 * TEXT>` to three texts with commas between them. In each, `%` is its number from 1, and `%hex` the hex
/// with that number on a board.
fn repeated(text: &str) -> String {
    let Some((before, rest)) = text.split_once('<') else { return text.into() };
    let (inside, after) = rest.split_once('>').unwrap_or_else(|| panic!("`<` without `>` in {text}"));
    let (count, repeated_text) =
        inside.split_once(" * ").unwrap_or_else(|| panic!("no number in <{inside}>"));
    let numbered = |(number, hex): (usize, turnfold_core::Hex)| {
        let hex = format!("[{}, {}]", hex.q, hex.r);
        repeated_text.replace("%hex", &hex).replace('%', &number.to_string())
    };
    let board = Board::new(20);
    let texts: Vec<String> = (1..).zip(board.hexes()).take(count.parse().unwrap()).map(numbered).collect();
    format!("{before}{}{}", texts.join(", "), repeated(after))
}

/// Expands rows to tables of their list. The words of a row are the values of the columns; `-` omits a value.
fn tables(line: &str, columns: &BTreeMap<String, Vec<String>>) -> String {
    let Some((name, rows)) = line.split_once(": ").filter(|_| has_rows(line)) else { return line.into() };
    let keys = columns.get(name).unwrap_or_else(|| panic!("`{name}` has no columns"));
    let table = |row: &str| {
        let words: Vec<&str> = row.split(' ').collect();
        assert!(words.len() <= keys.len(), "`{row}` has more values than columns");
        let values = keys.iter().zip(words).filter(|(_, word)| *word != "-");
        let lines: String =
            values.flat_map(|(key, word)| [key, " = ", &value(word), "\n"].map(String::from)).collect();
        format!("[[{name}]]\n{lines}")
    };
    rows.split("; ").map(table).collect()
}

/// Converts a word of a row to TOML: a number, a hex, text that already is TOML, or a string.
fn value(word: &str) -> String {
    let are_numbers = word.split(',').all(|number| number.parse::<i64>().is_ok());
    if word.starts_with(['[', '"']) || are_numbers && !word.contains(',') {
        word.into()
    } else if are_numbers {
        format!("[{}]", word.replace(',', ", "))
    } else {
        format!("\"{word}\"")
    }
}
