//! What a damaged store's WATERMARK still says.

use crate::local::backend::{BackendError, Watermark};
use crate::local::dir::watermark::{WatermarkFile, damaged_line};

/// What the file beside the records says.
pub(super) struct Marks {
    /// Its lines that can be read.
    pub(super) valid: Vec<Watermark>,
    /// What is wrong with it.
    pub(super) damage: Option<String>,
}

impl Marks {
    pub(super) fn of(file: &WatermarkFile) -> Self {
        // A read that failed once may be nothing but that.
        match file.lines().or_else(|_| file.lines()) {
            Ok(Some(lines)) => {
                let damage = match damaged_line(&lines) {
                    None if lines.iter().all(Option::is_none) => Some(unknown_newest("unreadable")),
                    damage => damage,
                };
                Self { valid: lines.into_iter().flatten().collect(), damage }
            }
            Ok(None) => Self { valid: Vec::new(), damage: Some(unknown_newest("missing")) },
            Err(_) => Self { valid: Vec::new(), damage: Some(unknown_newest("unreadable")) },
        }
    }

    /// The watermark of a backend that has no file.
    pub(super) fn read(read: Result<Option<Watermark>, BackendError>) -> Self {
        let (valid, damage) = match read {
            Ok(Some(marked)) => (vec![marked], None),
            Ok(None) => (Vec::new(), Some(unknown_newest("missing"))),
            Err(_) => (Vec::new(), Some(unknown_newest("unreadable"))),
        };
        Self { valid, damage }
    }

    /// Returns the one that counts.
    pub(super) fn newest(&self) -> Option<&Watermark> {
        self.valid.iter().max_by_key(|mark| mark.commits)
    }
}

fn unknown_newest(state: &str) -> String {
    format!("the file `WATERMARK` is {state}; whether the newest entries are there is not known")
}
