//! Origins: whether a match that was migrated has the entries of the matches that its Genesis names.

use turnfold_store::{Audited, Origin, OriginCheck};

/// Follows the audit of a match, whose `main` proves its origins without them.
#[derive(Default)]
pub(crate) struct AuditedOrigins {
    check: Option<OriginCheck>,
    is_main: bool,
}

impl AuditedOrigins {
    /// Takes what the audit comes across next; returns the first origin that is not the match's, once `main` is read.
    pub(crate) fn take(&mut self, audited: &Audited<'_>) -> Option<Origin> {
        match audited {
            Audited::Match(genesis) => {
                self.check = Some(OriginCheck::of(genesis)).filter(|check| !check.is_idle());
            }
            Audited::Branch { name, .. } => self.is_main = name.is_main(),
            Audited::Entries(entries) => {
                if let Some(check) = self.check.as_mut().filter(|_| self.is_main) {
                    entries.iter().for_each(|entry| check.take(&entry.encode()));
                }
            }
            Audited::Sound(branch) if branch.name.is_main() => return self.check.take()?.first_wrong(),
            _ => {}
        }
        None
    }
}

/// Describes an origin with other entries than the match has.
#[must_use]
pub fn is_wrong(origin: &Origin) -> String {
    let Origin { ruleset_version, head, link, .. } = origin;
    format!(
        "its origin has other entries: under version {ruleset_version}, the link after entry {head} is not \
         {link:.16}"
    )
}
