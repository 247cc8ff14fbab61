//! The findings of `store doctor` and how they are printed.

use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Line, added, plain, removed, warning};

/// The result of one check.
#[derive(Debug, Serialize)]
pub(super) struct DoctorFinding {
    about: &'static str,
    pub(super) grade: Grade,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Grade {
    Ok,
    /// It works, but may surprise the user.
    Note,
    Mend,
}

impl DoctorFinding {
    pub(super) fn ok(about: &'static str, message: impl Into<String>) -> Self {
        Self { about, grade: Grade::Ok, message: message.into(), next_step: None }
    }

    pub(super) fn note(
        about: &'static str,
        message: impl Into<String>,
        next_step: impl Into<String>,
    ) -> Self {
        Self { grade: Grade::Note, next_step: Some(next_step.into()), ..Self::ok(about, message) }
    }

    pub(super) fn mend(
        about: &'static str,
        message: impl Into<String>,
        next_step: impl Into<String>,
    ) -> Self {
        Self { grade: Grade::Mend, ..Self::note(about, message, next_step) }
    }

    pub(super) fn failed(about: &'static str, failure: &Failure) -> Self {
        let next_step = failure.hint.clone();
        Self { grade: Grade::Mend, next_step, ..Self::ok(about, failure.message()) }
    }

    pub(super) fn line(&self) -> Line {
        let grade = match self.grade {
            Grade::Ok => added("ok  "),
            Grade::Note => warning("note"),
            Grade::Mend => removed("mend"),
        };
        let next_step = self.next_step.as_ref().map(|step| format!("; {step}")).unwrap_or_default();
        Line::from([grade, plain(format_args!(" {}: {}{next_step}", self.about, self.message))])
    }
}
