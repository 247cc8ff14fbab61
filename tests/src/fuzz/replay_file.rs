//! Replay files: a file that was read is written back unchanged, blessing twice changes nothing, and `check` agrees
//! with `bless`.

use turnfold_history::tfl::{Replay, TflError, read};

use super::check_message;

fn read_file(bytes: &[u8]) -> Result<Replay, TflError> {
    read("fuzzed.tfl", bytes, &turnfold_games::standard())
}

/// Returns `true` if the file records what the rules compute.
fn is_good(replay: &Replay) -> Result<bool, TflError> {
    replay.check().map(|checked| checked.difference.is_none())
}

/// Reads the bytes as a replay file.
pub fn replay_file(bytes: &[u8]) {
    let file = match read_file(bytes) {
        Ok(file) => file,
        Err(error) => return check_message(&error.to_string()),
    };
    assert_eq!(file.to_string().as_bytes(), bytes, "a file is written as it was read");
    let (blessed, checked) = (file.bless(), is_good(&file));
    for error in [blessed.as_ref().err(), checked.as_ref().err()].into_iter().flatten() {
        check_message(&error.to_string());
    }
    assert_eq!(checked == Ok(true), blessed.as_ref() == Ok(&file), "only blessed files check");
    if let Ok(blessed) = blessed {
        let text = blessed.to_string();
        assert_eq!(read_file(text.as_bytes()).as_ref(), Ok(&blessed), "a blessed file reads back:\n{text}");
        assert_eq!(is_good(&blessed), Ok(true));
        assert_eq!(blessed.bless().as_ref(), Ok(&blessed), "blessing again changes nothing");
    }
}
