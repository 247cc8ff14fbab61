//! What players saw: every paper that counted names the history of this very desk (PM-33).

use std::collections::BTreeMap;

use turnfold_core::trust::{Tree, TreeHash};

use super::rows::MailRows;
use super::turns::{DeskTurns, SeenBy};
use crate::revision::Revision;

/// Holds what papers have seen against the records of the desk, those included that are left out.
pub(super) fn check_seen(desk: &DeskTurns, leaves: &[TreeHash], at: &Revision, rows: &mut MailRows) {
    let roots = roots(desk, leaves);
    for SeenBy { desk_seq, seat, turn, root } in &desk.seen {
        let size = root.size;
        let begun = turn.checked_sub(1).and_then(|index| desk.turns.get(usize::try_from(index).ok()?));
        let stand = begun.and_then(|turn| turn.stand.as_ref()).map(|stand| stand.desk_seq);
        if size > *desk_seq || roots.get(&size) != Some(&root.root) {
            let reason = format!("the paper of {seat} has seen another history of {size} records");
            rows.consistency.fail(Some(at.at(*desk_seq)), reason);
        } else if stand.is_some_and(|stand| size <= stand) {
            let reason = format!("the paper of {seat} is for turn {turn} and has not seen its stand");
            rows.consistency.fail(Some(at.at(*desk_seq)), reason);
        } else {
            *rows.seen.get_or_insert(0) += 1;
        }
    }
}

/// The roots of the desk at the sizes that papers name.
fn roots(desk: &DeskTurns, leaves: &[TreeHash]) -> BTreeMap<u64, TreeHash> {
    let mut tree = Tree::default();
    let mut roots: BTreeMap<u64, TreeHash> = BTreeMap::new();
    let sizes: std::collections::BTreeSet<u64> = desk.seen.iter().map(|seen| seen.root.size).collect();
    for leaf in leaves {
        tree.push(*leaf);
        if sizes.contains(&tree.size()) {
            roots.insert(tree.size(), tree.root());
        }
    }
    roots
}
