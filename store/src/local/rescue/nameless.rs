//! What is left of branches and matches whose own records are lost: named as far as possible, or counted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::damaged::Damaged;
use super::lenient::scan_leniently;
use super::lost::LostEntries;
use crate::entry::Seq;
use crate::local::layout::key;
use crate::local::layout::record::{self, BranchRecord};
use crate::local::reader::pages::read_page;
use crate::local::reader::records::Records;
use crate::reader::found::Head;

/// What is left of a branch without a name.
#[derive(Default)]
struct Rest {
    first: Option<Seq>,
    last: Seq,
}

/// Lists what belongs to matches and branches that are neither among `ids` nor deleted.
pub(super) fn find(damaged: &Damaged, ids: &BTreeSet<u64>) -> Vec<LostEntries> {
    let Damaged { records, gone, .. } = damaged;
    let is_lost = |id: &u64| !ids.contains(id) && !gone.has_deleted(*id);
    let mut branches: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    let mut named = BTreeSet::new();
    for (key, value) in scan_leniently(records, &(b"b".to_vec()..b"c".to_vec())) {
        let Some(id) = key::id_of(&key).filter(is_lost) else { continue };
        named.extend(record::read::<BranchRecord>("", &key, &value).ok().map(|record| record.id));
        branches.entry(id).or_default().extend(key::text_after(&key, key::ID_PREFIX).map(ToOwned::to_owned));
    }
    let mut lost = Vec::new();
    for names in branches.into_values() {
        let mut reason = "the record of a match is gone with its name; it had the branches".to_owned();
        for (place, name) in names.iter().enumerate() {
            let separator = if place == 0 { "" } else { "," };
            let _ = write!(reason, "{separator} `{name}`");
        }
        lost.push(LostEntries::of_store(reason));
    }
    for Rest { first, last } in rests(records, &|id| is_lost(id) && !named.contains(id)).into_values() {
        let entries = match first {
            Some(first) if first == last => format!("entry {first}"),
            Some(first) => format!("entries {first} to {last}"),
            None => format!("no entries of its own; it went to entry {last}"),
        };
        lost.push(LostEntries::of_store(format!(
            "the record of a branch is gone with its name; it had {entries}"
        )));
    }
    lost
}

fn rests(records: &Records, is_lost: &dyn Fn(&u64) -> bool) -> BTreeMap<u64, Rest> {
    let mut rests: BTreeMap<u64, Rest> = BTreeMap::new();
    for table in [b'h', b'p', b't'] {
        for (key, value) in scan_leniently(records, &(vec![table]..vec![table + 1])) {
            let Some(id) = key::id_of(&key).filter(is_lost) else { continue };
            if table == b'h' {
                let Ok(head) = record::read::<Head>("", &key, &value) else { continue };
                let rest = rests.entry(id).or_default();
                rest.last = head.seq.max(rest.last);
                continue;
            }
            let Some(first) = key::seq_of(&key) else { continue };
            let count =
                if table == b'p' { read_page(&key, &value).map_or(1, |page| page.records.len()) } else { 1 };
            let rest = rests.entry(id).or_default();
            rest.first = Some(rest.first.map_or(first, |known| known.min(first)));
            rest.last = rest.last.max(first.saturating_add(count as u64).saturating_sub(1));
        }
    }
    rests
}
