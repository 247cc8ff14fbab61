//! `turnfold verify --reload`: the sync test, which finds state that does not survive being stored.

use serde_json::json;
use turnfold_history::{SourceName, golden::selftest::first_unsynced};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::histories;
use crate::output::{added, counted, plain, removed};

/// At each entry, reads the state of `window` entries ago from its bytes and folds on from it. A hash differs if the
/// bytes lack a part of the state, or if a rule depends on anything but the state.
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
