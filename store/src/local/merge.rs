//! Merges damaged sources: for each branch, it takes the most entries of any source that links prove (ST-4).

use std::collections::BTreeMap;

use turnfold_core::Digest;

use crate::chain::Linker;
use crate::engine::EngineReader as _;
use crate::entry::Seq;
use crate::local::backend::{Backend, BackendError, MemoryBackend};
use crate::local::journal::commit::Op;
use crate::local::losses::{LostEntries, Rescued};
use crate::local::record::StoreRecord;
use crate::local::records::Records;
use crate::local::replay::{Misfit, ReplayStop, carry_out};
use crate::local::staging::Staging;
use crate::names::{BranchName, MatchName};
use crate::note::{NoteId, PlacedNote};
use crate::reader::branch::Head;

struct MergedMatch {
    name: MatchName,
    genesis: Vec<u8>,
    module: Option<Digest>,
    branches: BTreeMap<u64, MergedBranch>,
    notes: BTreeMap<NoteId, PlacedNote>,
    /// Whether a source had all notes. Earlier sources then add none, because they may have notes that were removed.
    has_all_notes: bool,
}

struct MergedBranch {
    name: BranchName,
    /// The id of the parent branch.
    parent: Option<u64>,
    /// The head before its own entries.
    before: Head,
    /// Its own entries, each with the link after it.
    entries: Vec<(Vec<u8>, Digest)>,
    /// The highest head of the branch in any source.
    claimed: Seq,
}

/// Merges the sources, which must be sorted by their last commit, latest first. The misfits of the result are
/// entries that a source counts and no source has.
pub(crate) fn merge(sources: &[&Records]) -> Result<Rescued, BackendError> {
    let mut matches = BTreeMap::new();
    let mut is_complete = false;
    for records in sources {
        find(records, &mut matches, is_complete);
        // A match or branch that a complete list lacks was deleted, so it is not taken from earlier sources.
        is_complete |= lists_all(records);
    }
    for (number, branch) in matches.values_mut().flat_map(|found| &mut found.branches) {
        branch.fill(*number, sources);
    }
    let memory = MemoryBackend::new();
    let mut merged = Rescued::of(Box::new(memory.clone()));
    let mut staging = Staging::over(&memory, StoreRecord::EMPTY);
    for (id, found) in &matches {
        found.write(*id, &mut staging, &mut merged)?;
    }
    memory.write(&staging.take_changes())?;
    Ok(merged)
}

fn lists_all(records: &Records) -> bool {
    let Ok(names) = records.match_names() else { return false };
    for name in names {
        if !name.is_ok_and(|name| records.branches(&name).is_ok()) {
            return false;
        }
    }
    true
}

fn find(records: &Records, matches: &mut BTreeMap<u64, MergedMatch>, is_complete: bool) {
    for found_match in records.readable_matches() {
        if is_complete && !matches.contains_key(&found_match.number()) {
            continue;
        }
        let found = matches.entry(found_match.number()).or_insert_with(|| MergedMatch {
            name: found_match.name.clone(),
            genesis: found_match.genesis.clone(),
            module: found_match.module,
            branches: BTreeMap::new(),
            notes: BTreeMap::new(),
            has_all_notes: false,
        });
        found.module = found.module.or(found_match.module);
        if !found.has_all_notes {
            found.has_all_notes = true;
            for note in records.readable_notes(&found_match) {
                match note {
                    Ok(note) => drop(found.notes.entry(note.note.id).or_insert(note)),
                    Err(_) => found.has_all_notes = false,
                }
            }
        }
        // A branch that cannot be read hides no other.
        for stored in records.readable_branches(&found_match) {
            let Ok(stored) = stored else { continue };
            let Ok(branch) = stored.read(&found_match).and_then(|found| records.branch(&found_match, found))
            else {
                continue;
            };
            let id = branch.found.id;
            if is_complete && !found.branches.contains_key(&id) {
                continue;
            }
            let before = Head { seq: branch.found.forked_at(), link: branch.found.before };
            let merged = found.branches.entry(id).or_insert_with(|| MergedBranch {
                name: branch.found.name.clone(),
                parent: branch.found.parent.as_ref().map(|parent| parent.id),
                before,
                entries: Vec::new(),
                claimed: before.seq,
            });
            merged.claimed = merged.claimed.max(branch.head.seq);
        }
    }
}

impl MergedBranch {
    fn head(&self) -> Head {
        let seq = self.before.seq + self.entries.len() as u64;
        Head { seq, link: self.entries.last().map_or(self.before.link, |(_, link)| *link) }
    }

    fn fill(&mut self, number: u64, sources: &[&Records]) {
        let mut had = None;
        while had != Some(self.entries.len()) {
            had = Some(self.entries.len());
            for records in sources {
                while self.head().seq < self.claimed && self.take_page(number, records) {}
            }
        }
    }

    /// Takes the rest of the page with the next entry from a source, if the page's link proves it. Returns `true` if it
    /// did.
    fn take_page(&mut self, number: u64, records: &Records) -> bool {
        let head = self.head();
        let Ok(Some(stored)) = records.page_at(number, self.before.seq + 1, head.seq + 1) else {
            return false;
        };
        let Ok(page) = stored.read() else { return false };
        let known = usize::try_from(head.seq + 1 - stored.first).unwrap_or(usize::MAX);
        let mut linker = Linker::new();
        let mut found = Vec::new();
        let mut link = head.link;
        for entry in page.records.iter().skip(known) {
            link = linker.link(&link, entry);
            found.push((entry.to_vec(), link));
        }
        let is_proven = !found.is_empty() && link == page.link;
        if is_proven {
            self.entries.extend(found);
        }
        is_proven
    }
}

impl MergedMatch {
    /// Returns the link of a branch after an entry, its own or its ancestors'; `None` if the entry is missing.
    fn link_at(&self, branch: u64, at: Seq) -> Option<Digest> {
        let mut found = self.branches.get(&branch)?;
        // The loop ends because a parent's id is less than its child's.
        while at < found.before.seq {
            found = self.branches.range(..found.parent?.saturating_add(1)).next_back()?.1;
        }
        if at == found.before.seq {
            return Some(found.before.link);
        }
        let place = usize::try_from(at - found.before.seq - 1).ok()?;
        found.entries.get(place).map(|(_, link)| *link)
    }

    fn lost(&self, branch: Option<&BranchName>, reason: &str) -> LostEntries {
        let match_name = Some(self.name.clone());
        LostEntries { match_name, branch: branch.cloned(), ..LostEntries::of_store(reason) }
    }

    /// Creates a branch, unless it is `main`. Returns `false` if what it begins on is not proven.
    fn begin(&self, id: u64, branch: &MergedBranch, staging: &mut Staging<'_>) -> Result<bool, BackendError> {
        let Some(parent) = branch.parent else { return Ok(true) };
        let Some(begun_on) = self.branches.get(&parent) else { return Ok(false) };
        let Head { seq: at, link } = branch.before;
        if self.link_at(parent, at) != Some(link) {
            return Ok(false);
        }
        let match_name = self.name.clone();
        let name = branch.name.clone();
        let parent = begun_on.name.clone();
        done(carry_out(staging, Op::CreateBranch { id, match_name, name, parent, at, link }))
    }

    /// Writes the match with all that is proven. What is not proven becomes a misfit or a loss of `merged`.
    fn write(&self, id: u64, staging: &mut Staging<'_>, merged: &mut Rescued) -> Result<(), BackendError> {
        let name = &self.name;
        let create = Op::CreateMatch { id, name: name.clone(), genesis: &self.genesis };
        if !done(carry_out(staging, create))? {
            merged.lost.push(self.lost(None, "its name belongs to another match"));
            return Ok(());
        }
        if let Some(module) = self.module {
            done(carry_out(staging, Op::RecordModule { match_name: name.clone(), module }))?;
        }
        for (id, branch) in &self.branches {
            if !self.begin(*id, branch, staging)? {
                merged.lost.push(self.lost(Some(&branch.name), "what it begins on is missing or unreadable"));
                continue;
            }
            let head = branch.head();
            let claimed = branch.claimed;
            if !branch.entries.is_empty() {
                let entries = branch.entries.iter().map(|(entry, _)| entry.as_slice()).collect();
                done(carry_out(staging, Op::Append { branch: *id, link: head.link, entries }))?;
            }
            if claimed > head.seq {
                let branch = *id;
                let expected = Some(head.seq + 1);
                let first = head.seq + 1;
                merged.misfits.push((0, Misfit::Entries { branch, expected, first, last: claimed }));
            }
        }
        for note in self.notes.values() {
            let set = Op::SetNote { match_name: name.clone(), note: note.clone() };
            done(carry_out(staging, set))?;
        }
        if !self.has_all_notes {
            merged.lost.push(self.lost(None, "some of its notes are unreadable"));
        }
        Ok(())
    }
}

fn done(carried_out: Result<(), ReplayStop>) -> Result<bool, BackendError> {
    match carried_out {
        Ok(()) => Ok(true),
        Err(ReplayStop::Misfit(_)) => Ok(false),
        Err(ReplayStop::Failed(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use turnfold_core::{DicePolicy, Seat};

    use super::*;
    use crate::backup::walk::walk;
    use crate::entry::NewEntry;
    use crate::genesis::Genesis;
    use crate::local::key;
    use crate::note::Note;
    use crate::writer::store::Store;

    fn genesis() -> Genesis {
        Genesis {
            format: Genesis::FORMAT,
            ruleset: "none".to_owned(),
            ruleset_version: 1,
            setup: Vec::new(),
            dice: DicePolicy::Recorded,
            match_id: [7; 16],
            title: String::new(),
            created_at_ms: 0,
            module: None,
            played_by: None,
            origins: Vec::new(),
        }
    }

    fn entries(count: u64) -> Vec<NewEntry> {
        let entry = |number: u64| NewEntry {
            seat: Seat::P1,
            command: number.to_be_bytes().to_vec(),
            recorded_at_ms: 0,
        };
        (0..count).map(entry).collect()
    }

    /// Returns two matches. One has a branch on `main` and a branch on that branch. Each branch is longer than a page.
    fn sample() -> MemoryBackend {
        let backend = MemoryBackend::new();
        let store = Store::with_backend(Box::new(backend.clone())).unwrap();
        let [m, n, main, branch, twig] = ["m", "n", "main", "line", "twig"];
        for name in [m, n] {
            store.create_match(&name.parse().unwrap(), &genesis(), entries(150)).unwrap();
        }
        for (new, from, at) in [(branch, main, 100), (twig, branch, 170)] {
            let [new, from] = [new, from].map(|name| name.parse().unwrap());
            store.create_branch(&m.parse().unwrap(), &new, &from, at, Vec::new()).unwrap();
            store.append(&m.parse().unwrap(), &new, at, entries(150), None).unwrap();
        }
        for number in [1, 2] {
            store.write_note(&m.parse().unwrap(), note(number)).unwrap();
        }
        store.close().unwrap();
        backend
    }

    fn note(number: u64) -> Note {
        Note {
            id: NoteId::of(number << 1),
            about: None,
            by: Some(Seat::P1),
            name: None,
            token: None,
            is_private: false,
            text: format!("note {number}").parse().unwrap(),
            written_at_ms: 0,
        }
    }

    fn texts(records: &Records) -> Vec<String> {
        let notes = records.notes_of(&"m".parse().unwrap()).unwrap();
        notes.iter().map(|note| note.text.to_string()).collect()
    }

    /// Returns the heads of all branches, and requires every entry up to them to be proven.
    fn heads(records: &Records) -> Vec<(String, Seq)> {
        walk(records, &mut |_| Ok(())).unwrap();
        let mut heads = Vec::new();
        for name in records.match_names().unwrap() {
            let (found_match, branches) = records.branches(&name.unwrap()).unwrap();
            heads.extend(
                branches
                    .iter()
                    .map(|branch| (format!("{}@{}", found_match.name, branch.found.name), branch.head.seq)),
            );
        }
        heads
    }

    /// Removes every `step`-th record of a table, beginning with number `first`.
    fn without(backend: &MemoryBackend, table: u8, (first, step): (usize, usize)) -> Records {
        let damaged = backend.copy();
        let of_table: Vec<_> = backend.records().into_iter().filter(|(key, _)| key[0] == table).collect();
        for (key, _) in of_table.iter().skip(first).step_by(step) {
            damaged.tamper(key, None);
        }
        Records::new(Box::new(damaged), None)
    }

    #[test]
    fn a_branch_record_without_a_proper_name_hides_no_other_branch() {
        let backend = sample();
        let whole = heads(&Records::new(Box::new(backend.clone()), None));
        let (mut key, value) = backend.records().into_iter().find(|(key, _)| key[0] == b'b').unwrap();
        key.truncate(key::ID_PREFIX);
        key.push(b'!');
        backend.tamper(&key, Some(value));
        let merged = merge(&[&Records::new(Box::new(backend), None)]).unwrap();
        assert_eq!(heads(&merged.records), whole);
    }

    #[test]
    fn each_branch_is_taken_from_where_most_of_it_is_proven() {
        let backend = sample();
        let whole = heads(&Records::new(Box::new(backend.clone()), None));
        let expected = [("m@line", 250), ("m@main", 150), ("m@twig", 320), ("n@main", 150)];
        assert_eq!(whole.iter().map(|(name, head)| (name.as_str(), *head)).collect::<Vec<_>>(), expected);
        // Each half lacks records that the other half has.
        for table in *b"pmbh" {
            let halves = [0, 1].map(|first| without(&backend, table, (first, 2)));
            let merged = merge(&[&halves[0], &halves[1]]).unwrap();
            assert_eq!(heads(&merged.records), whole, "table `{}`", char::from(table));
            assert_eq!(texts(&merged.records), ["note 1", "note 2"], "table `{}`", char::from(table));
            assert_eq!((&merged.misfits[..], &merged.lost[..]), (&[][..], &[][..]));
        }
        // Entries that both lack are reported, with the branches that begin on them.
        let halves = [0, 0].map(|first| without(&backend, b'p', (first, 1000)));
        let merged = merge(&[&halves[0], &halves[1]]).unwrap();
        assert_eq!(heads(&merged.records), [("m@main".to_owned(), 0), ("n@main".to_owned(), 150)]);
        let misfit = Misfit::Entries { branch: 2, expected: Some(1), first: 1, last: 150 };
        assert_eq!(merged.misfits, [(0, misfit)]);
        assert_eq!(merged.lost.len(), 2, "{:?}", merged.lost);
    }

    #[test]
    fn what_was_deleted_does_not_come_back_and_another_history_joins_nothing() {
        let backend = sample();
        let earlier = Records::new(Box::new(backend.copy()), None);
        let store = Store::with_backend(Box::new(backend.clone())).unwrap();
        store.delete_branch(&"m".parse().unwrap(), &"twig".parse().unwrap()).unwrap();
        store.remove_note(&"m".parse().unwrap(), note(1).id).unwrap();
        store.close().unwrap();
        // The later store lacks entries, but no branch.
        let later = without(&backend, b'p', (0, 1000));
        let merged = merge(&[&later, &earlier]).unwrap();
        let expected = [("m@line", 250), ("m@main", 150), ("n@main", 150)];
        let found = heads(&merged.records);
        assert_eq!(found.iter().map(|(name, head)| (name.as_str(), *head)).collect::<Vec<_>>(), expected);
        assert_eq!(texts(&merged.records), ["note 2"]);

        let other = MemoryBackend::new();
        let store = Store::with_backend(Box::new(other.clone())).unwrap();
        store.create_match(&"m".parse().unwrap(), &genesis(), entries(151).split_off(1)).unwrap();
        store.append(&"m".parse().unwrap(), &"main".parse().unwrap(), 150, entries(5), None).unwrap();
        store.close().unwrap();
        let merged = merge(&[&earlier, &Records::new(Box::new(other), None)]).unwrap();
        assert_eq!(heads(&merged.records), heads(&earlier));
    }
}
