//! FL-26: random sessions, in which every engine must give the same answers, with names in the same order (FL-6).

use turnfold_core::Digest;
use turnfold_store::{
    BranchHead, BranchName, Genesis, IdempotencyKey, MatchName, NamedBranch, NewEntries, NewEntry, Store,
};

use crate::chance::Chance;
use crate::engines::fleet;
use crate::game::{branch, genesis, name, opaque};
use crate::rescue::unobserved;

const SESSIONS: u64 = 3;
const STEPS: u64 = 60;

/// An operation on a store.
#[derive(Clone, Debug)]
enum Act {
    CreateMatch(MatchName, NewEntries),
    RenameMatch(MatchName, MatchName),
    DeleteMatch(MatchName),
    CreateBranch(MatchName, BranchName, BranchName, u64),
    RenameBranch(MatchName, BranchName, BranchName),
    DeleteBranch(MatchName, BranchName),
    /// The number is added to the head to get the expected head.
    Append(MatchName, BranchName, u64, NewEntries, Option<IdempotencyKey>),
    /// Appends to a branch that was found earlier and may have been replaced since.
    AppendToFound(MatchName, BranchName, u64),
}

impl Act {
    fn random(chance: &mut Chance, label: u64) -> Self {
        let matches = ["a", "b", "c"].map(name);
        let branches = ["main", "x", "y", "z"].map(branch);
        let mut a = || chance.pick(&matches).clone();
        let (m, other) = (a(), a());
        let mut b = || chance.pick(&branches).clone();
        let (from, to) = (b(), b());
        match chance.below(12) {
            0 | 1 => {
                let entries = (0..chance.below(3) as u64).map(opaque).collect();
                Self::CreateMatch(m, judged(chance, entries))
            }
            2 => Self::RenameMatch(m, other),
            3 if chance.below(3) == 0 => Self::DeleteMatch(m),
            4 | 5 => Self::CreateBranch(m, to, from, chance.below(4) as u64),
            6 => Self::RenameBranch(m, from, to),
            7 => Self::DeleteBranch(m, to),
            8 => Self::AppendToFound(m, from, label),
            _ => {
                let count = 1 + chance.below(3) as u64;
                let key = (chance.below(2) == 0).then(|| format!("k{}", chance.below(4)).parse().unwrap());
                // Sometimes equal to another append with the key, and sometimes after a head that does not exist.
                let label = if chance.below(2) == 0 { 7 } else { label };
                let off = u64::from(chance.below(6) == 0);
                let entries = vec![opaque(label); usize::try_from(count).unwrap()];
                Self::Append(m, from, off, judged(chance, entries), key)
            }
        }
    }

    /// Performs the operation and returns the store's answer.
    fn perform(self, store: &Store) -> String {
        match self {
            Self::CreateMatch(m, NewEntries { entries, module }) => {
                text_of(store.create_long_match(&m, &Genesis { played_by: module, ..genesis() }, entries))
            }
            Self::RenameMatch(m, other) => text_of(store.rename_match(&m, &other)),
            Self::DeleteMatch(m) => text_of(store.delete_match(&m)),
            Self::CreateBranch(m, b, from, at) => text_of(store.create_branch(&m, &b, &from, at, Vec::new())),
            Self::RenameBranch(m, b, to) => text_of(store.rename_branch(&m, &b, &to)),
            Self::DeleteBranch(m, b) => text_of(store.delete_branch(&m, &b)),
            Self::Append(m, b, off, entries, key) => {
                let head = store.head(&m, &b).unwrap_or_default() + off;
                text_of(store.append(&m, &b, head, entries, key.as_ref()))
            }
            Self::AppendToFound(m, b, label) => {
                let Ok(found) = store.branch_head(&m, &b) else { return "nothing was found".to_owned() };
                let is_made_again = label.is_multiple_of(2) && !b.is_main();
                if is_made_again {
                    // Replace the branch that was found, where that is permitted.
                    let _ = store.delete_branch(&m, &b);
                    let _ = store.create_branch(&m, &b, &BranchName::main(), 0, Vec::new());
                }
                let (sender, answer) = std::sync::mpsc::channel();
                let then = move |appended| sender.send(appended).unwrap();
                let expected = BranchHead { id: found.id, seq: found.seq };
                store.append_then(&m, &b, expected, vec![opaque(label)], None, then).unwrap();
                text_of(answer.recv().unwrap())
            }
        }
    }
}

/// Marks entries as judged by one of two modules or by none (MD-9).
fn judged(chance: &mut Chance, entries: Vec<NewEntry>) -> NewEntries {
    let module = [1, 2].get(chance.below(6)).map(|number| Digest::new([*number; 32]));
    NewEntries { entries: entries.into(), module }
}

fn text_of<T: std::fmt::Debug>(result: Result<T, turnfold_store::StoreError>) -> String {
    result.map_or_else(|error| error.to_string(), |done| format!("{done:?}"))
}

/// Returns everything that a store reports about its contents, and a backup.
fn everything(store: &Store) -> (String, Vec<u8>) {
    let mut lines = Vec::new();
    for found in store.matches_after(None).unwrap() {
        let found = found.unwrap();
        lines.push(format!("{} {} {}", found.name, found.head, found.branches));
        let mut named = Vec::new();
        for info in store.branches(&found.name).unwrap() {
            let head = store.branch_head(&found.name, &info.name).unwrap();
            let (match_name, branch) = (found.name.clone(), info.name.clone());
            named.push(NamedBranch { match_name, branch, id: head.id });
            for key in 0..4 {
                let key = format!("k{key}").parse().unwrap();
                lines.push(text_of(store.find_idempotency_key(&found.name, &info.name, &key)));
            }
            lines.push(text_of(store.links(&found.name, &info.name, 0..=head.seq)));
            lines.push(text_of(store.entries(&found.name, &info.name, 2..=head.seq + 1).map(drop)));
            lines.push(text_of(store.read(&found.name, &info.name, None)));
            lines.push(format!("{info:?}"));
        }
        // Branches with other names do not exist.
        let mut others = named.clone();
        for other in &mut others {
            other.branch = branch("nowhere");
        }
        lines.push(format!("{:?} {:?}", store.heads(&named), store.heads(&others)));
    }
    lines.push(format!("{:?}", store.matches_after(Some(&name("a"))).unwrap().count()));
    lines.push(format!("{:?}", store.check(&mut unobserved()).unwrap().damage));
    let mut backup = Vec::new();
    store.backup(&mut backup, false, &mut unobserved()).unwrap();
    (lines.join("\n"), backup)
}

#[test]
fn fl_26_random_sessions_are_answered_alike_by_every_engine() {
    for session in 0..SESSIONS {
        let Some(fleet) = fleet() else { return };
        let local = Store::in_memory();
        let mut chance = Chance::new(session);
        for step in 0..STEPS {
            let act = Act::random(&mut chance, step);
            let expected = act.clone().perform(&local);
            assert_eq!(act.clone().perform(&fleet), expected, "session {session}, step {step}: {act:?}");
        }
        let (expected, found) = (everything(&local), everything(&fleet));
        assert_eq!(found.0, expected.0, "session {session}");
        assert_eq!(found.1, expected.1, "session {session}: the backups differ");
        // Restoring the backup gives the same contents (FL-2).
        assert_eq!(everything(&Store::restore_in_memory(found.1.as_slice()).unwrap()), expected);
    }
}
