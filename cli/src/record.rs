//! The library's own values as reports.

use turnfold_replay::Record;
use turnfold_replay::render::{self, LegalCommand};

use crate::output::{Line, Report};

impl Report for Record {
    fn lines(&self) -> Vec<Line> {
        vec![render::record(self)]
    }
}

impl Report for LegalCommand {
    fn lines(&self) -> Vec<Line> {
        vec![self.line()]
    }
}
