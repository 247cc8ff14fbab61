//! Checks that a migrated match has the entries of its origins, the matches that its Genesis names.

use turnfold_store::{Audited, Origin, OriginCheck};

use crate::golden::verify::Finding;

/// Follows the audit of a match. The records of `main` are enough to prove its origins.
#[derive(Default)]
pub(crate) struct AuditedOrigins {
    check: Option<OriginCheck>,
    is_main: bool,
}

impl AuditedOrigins {
    /// Takes the next thing that the audit reads. At the end of `main`, returns the first origin with other entries, if
    /// any.
    pub(crate) fn take(&mut self, audited: &Audited<'_>) -> Option<Origin> {
        match audited {
            Audited::Match(genesis) => {
                let check = OriginCheck::of(genesis);
                self.check = if check.is_idle() { None } else { Some(check) };
            }
            Audited::Branch { name, .. } => self.is_main = name.is_main(),
            Audited::Entries(entries) => {
                if self.is_main
                    && let Some(check) = &mut self.check
                {
                    for entry in *entries {
                        check.take(&entry.encode());
                    }
                }
            }
            Audited::Sound(branch) if branch.name.is_main() => return self.check.take()?.first_wrong(),
            _ => {}
        }
        None
    }
}

impl Finding {
    /// Returns the message for an origin with other entries than the match.
    #[must_use]
    pub fn wrong_origin(origin: &Origin) -> String {
        let Origin { ruleset_version, head, link, .. } = origin;
        format!(
            "its origin has other entries: under version {ruleset_version}, the link after entry {head} is not \
             {link:.16}"
        )
    }
}
