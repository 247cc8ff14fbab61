//! Logs of matches by `mail run` with one entry changed, removed, repeated or swapped. The audit never passes a forged
//! game, and detects changes of the desk that players have signed as seen (PM-32, PM-33).

use turnfold_core::Seat::{self, Host, P1, P2};
use turnfold_proof::audit::{AuditRow, RowName, RowResult};
use turnfold_proof::bundle::{BundleRecords, BundledRecord, StoreRecords};
use turnfold_store::{Entry, IdempotencyKey};

use super::bundled::Bundled;
use super::post::Post;

const GAME: usize = 0;
const DESK: usize = 1;

fn bundled(post: &Post) -> Bundled {
    let records = StoreRecords::of_all(&post.store).unwrap();
    let mut found = Bundled { outline: records.outline().clone(), records: Vec::new() };
    records
        .each(&mut |line, record| {
            let BundledRecord::Shown(record, _) = record else { unreachable!("a store has all of it") };
            match found.records.last_mut() {
                Some((last, parts, _)) if *last == line => parts.push(record.to_vec()),
                _ => found.records.push((line, vec![record.to_vec()], Vec::new())),
            }
            Ok(())
        })
        .unwrap();
    found
}

fn begun(fair: bool) -> Post {
    let begin = if fair { "fair\n" } else { "" };
    let terms = format!("{begin}default = [\"stay\"]\nbetween = [\"next\"]");
    let mut post = Post::begun("siege", "begins_with_roll = false", &terms);
    let dice = if fair { "" } else { "2 5" };
    post.play(&format!(
        "run 1 / p1: attack; stay / p2: stay / run 2 {dice} / p2: stay / run 9 / p1: stay / p2: stay / run 10 / audited"
    ));
    post
}

/// Changes the entries of `main` of a match, renumbers them, and audits the result.
fn forged(honest: &Bundled, of: usize, change: &dyn Fn(&mut Vec<Entry>)) -> Vec<AuditRow> {
    let mut forged = Bundled { outline: honest.outline.clone(), records: honest.records.clone() };
    let (_, parts, _) = forged.records.iter_mut().find(|(line, ..)| *line == (of, 0)).unwrap();
    let mut entries: Vec<Entry> = parts[1..].iter().map(|record| Entry::decode(record).unwrap()).collect();
    change(&mut entries);
    for (seq, entry) in (1..).zip(&mut entries) {
        entry.seq = seq;
    }
    parts.truncate(1);
    parts.extend(entries.iter().map(Entry::encode));
    forged.outline.matches[of].branches[0].count = parts.len() as u64;
    forged.audit(&mut |_| {})
}

fn result(rows: &[AuditRow], name: RowName) -> RowResult {
    rows.iter().find(|row| row.row == name).unwrap().result
}

type Change = Box<dyn Fn(&mut Vec<Entry>)>;

/// Returns every change of one entry, with its name.
fn changes(entries: &[Entry]) -> Vec<(String, Change)> {
    let mut changes: Vec<(String, Change)> = Vec::new();
    for index in 0..entries.len() {
        let mut add = |name: &str, change: Change| changes.push((format!("{name} {}", index + 1), change));
        add("drop", Box::new(move |all| drop(all.remove(index))));
        add("repeat", Box::new(move |all| all.insert(index, all[index].clone())));
        if index + 1 < entries.len() && entries[index].command != entries[index + 1].command {
            add("exchange", Box::new(move |all| all.swap(index, index + 1)));
        }
        for seat in [P1, P2, Host] {
            if seat != entries[index].seat {
                add("give", Box::new(move |all| all[index].seat = seat));
            }
        }
        for (other, from) in entries.iter().enumerate().skip(index % 3).step_by(3) {
            let from = from.command.clone();
            if from != entries[index].command {
                add(
                    &format!("copy {} to", other + 1),
                    Box::new(move |all| all[index].command.clone_from(&from)),
                );
            }
        }
        add("bytes of", Box::new(move |all| all[index].command.push(0)));
    }
    changes
}

fn entries(honest: &Bundled, of: usize) -> Vec<Entry> {
    let (_, parts, _) = honest.records.iter().find(|(line, ..)| *line == (of, 0)).unwrap();
    parts[1..].iter().map(|record| Entry::decode(record).unwrap()).collect()
}

#[test]
fn pm_32_no_game_passes_with_one_entry_changed() {
    for fair in [false, true] {
        let honest = bundled(&begun(fair));
        let all = entries(&honest, GAME);
        for (name, change) in changes(&all) {
            let rows = forged(&honest, GAME, &change);
            assert_ne!(result(&rows, RowName::Authorship), RowResult::Pass, "{name}: {rows:#?}");
        }
        for (index, entry) in all.iter().enumerate() {
            for key in [None, Some("turn:1:host"), Some("order:x:1"), Some("turn:9:p1")] {
                let rows = forged(&honest, GAME, &|all| {
                    all[index].idempotency_key = key.map(|key| key.parse().unwrap());
                });
                let is_same = entry.idempotency_key.as_ref().map(IdempotencyKey::as_str) == key;
                let expected = if is_same { RowResult::Pass } else { RowResult::Fail };
                // A turn position contains the link of the game, so it no longer matches either.
                assert_eq!(result(&rows, RowName::Authorship), expected, "key {index} {key:?}: {rows:#?}");
            }
        }
    }
}

#[test]
fn pm_33_no_desk_passes_with_an_entry_changed_before_a_paper_that_counts() {
    for fair in [false, true] {
        let honest = bundled(&begun(fair));
        let all = entries(&honest, DESK);
        // The last paper has seen all entries before it.
        let seen = all.iter().rposition(|entry| entry.seat != Seat::Host).unwrap();
        for (name, change) in changes(&all) {
            let rows = forged(&honest, DESK, &change);
            let index: usize = name.rsplit(' ').next().unwrap().parse().unwrap();
            let first = index + usize::from(name.starts_with("repeat"));
            let fails = [RowName::Rules, RowName::Authorship, RowName::Consistency, RowName::Dice];
            let has_failed = fails.iter().any(|row| result(&rows, *row) == RowResult::Fail);
            assert!(has_failed || first > seen, "{name}: {rows:#?}");
        }
    }
}
