//! Replay files: what is read is written as it was, blessing is done once and for all, and checking agrees with it.

use turnfold::fuzzing::ReplayFile;

use super::check_message;

/// Reads the bytes as a replay file.
pub fn replay_file(bytes: &[u8]) {
    let file = match ReplayFile::read(bytes) {
        Ok(file) => file,
        Err(message) => return check_message(&message),
    };
    assert_eq!(file.write().as_bytes(), bytes, "a file is written as it was read");
    let (blessed, checked) = (file.bless(), file.check());
    for message in [blessed.as_ref().err(), checked.as_ref().err()].into_iter().flatten() {
        check_message(message);
    }
    assert_eq!(checked == Ok(true), blessed.as_ref() == Ok(&file), "only blessed files check");
    if let Ok(blessed) = blessed {
        let text = blessed.write();
        assert_eq!(
            ReplayFile::read(text.as_bytes()).as_ref(),
            Ok(&blessed),
            "a blessed file reads back:\n{text}"
        );
        assert_eq!(blessed.check(), Ok(true));
        assert_eq!(blessed.bless().as_ref(), Ok(&blessed), "blessing again changes nothing");
    }
}
