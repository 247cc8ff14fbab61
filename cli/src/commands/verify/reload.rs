//! `turnfold verify --reload`: the sync test, which hunts for state that does not survive being stored.

use serde_json::json;
use turnfold_history::{SourceName, golden::selftest::first_unsynced};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::histories;
use crate::output::{added, counted, plain, removed};

/// Writes the state of some entries ago to bytes, reads it back and folds on from it, at each entry. If the bytes of a state
/// lack something, or a rule depends on anything but the state, a hash differs.
pub(super) fn reload(source: &SourceName, window: u16, context: &mut Context) -> Result<ExitStatus, Failure> {
    let history = histories::load_whole(source, context)?.history;
    let differs_at = first_unsynced(&history, usize::from(window))?;
    let ok = differs_at.is_none();
    let entries = history.head();
    let name = source.to_string();
    let tested = json!({
        "source": name, "ok": ok, "entries": entries, "window": window, "differs_at": differs_at,
    });
    context.output.verdict(ok, &tested, || {
        let (word, result) = match differs_at {
            Some(seq) => (removed("failed"), format!("the reloaded state differs after entry {seq}")),
            None => (added("ok"), format!("{}, window {window}", counted(entries, "entry", "entries"))),
        };
        vec![[word, plain(format_args!(" {name}: {result}"))].into()]
    })
}
