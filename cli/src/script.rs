//! Scripts read from files.

use std::path::{Path, PathBuf};

use turnfold_replay::{ScriptLine, script::parse};

use crate::failure::Failure;
use crate::{files, limits};

/// Reads the commands of a script: a file, or standard input for `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<ScriptLine>, Failure> {
    let bytes = files::read_input_or_stdin(path, &limits::SCRIPT)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let line =
            error.as_bytes().iter().take(error.utf8_error().valid_up_to()).filter(|byte| **byte == b'\n');
        Failure::usage(format!("{}:{}: expected UTF-8 text", files::input_name(path), line.count() + 1))
    })?;
    Ok(parse(&text))
}

/// Says where in the script a line stands, as `script.txt:4`.
pub(crate) fn place(line: &ScriptLine, script: Option<&PathBuf>) -> Option<String> {
    Some(format!("{}:{}", files::input_name(script?), line.number?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_named_by_their_script() {
        let line = &parse("# head\n\np1: tap 1,2\n")[0];
        assert_eq!(place(line, Some(&"s.txt".into())).as_deref(), Some("s.txt:3"));
        assert_eq!(place(line, Some(&"-".into())).as_deref(), Some("<stdin>:3"));
    }
}
