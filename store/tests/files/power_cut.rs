//! Power cuts: every acknowledged entry is there, and the rest is a whole batch or nothing.

use std::ops::Range;
use std::path::Path;

use turnfold_store::Store;

use crate::disk::{Chance, Disk, Loss, Trust};
use crate::recorded::{Known, record};
use crate::session::{Commands, Open, Session, Told};
use crate::tape::{Event, SyncedBy};

/// Returns how many power cuts a test tries: a few, or as many as `TURNFOLD_POWER_CUTS` says.
fn cuts(few: usize) -> usize {
    std::env::var("TURNFOLD_POWER_CUTS").map_or(few, |cuts| cuts.parse().unwrap())
}

const SEGMENT_BYTES: u64 = 512 * 1024;

/// What reaches the disk of the first write to a segment that is used again: not its header.
const TORN: Range<usize> = 512..1024;

fn open(dir: &Path) -> Store {
    Store::open_or_create(dir).unwrap()
}

/// As [`open`], but what was committed is moved into sled after a few commits.
fn open_moving_often(dir: &Path) -> Store {
    Store::open_or_create_with_journal_of(dir, 6 * 1024).unwrap()
}

fn check_loses_nothing(session: Session, trust: Trust, open: Open, few: usize) {
    let recorded = record(session, open);
    let failures = recorded.failures(trust, cuts(few), 1);
    assert!(failures.is_empty(), "{} of {} cuts:\n{}", failures.len(), cuts(few), failures.join("\n"));
}

#[test]
fn a_store_whose_making_was_cut_short_anywhere_can_be_made_again() {
    let recorded = record(Session::plan(0, Commands::Small, 1, 1, 1), open);
    let made = recorded.events.iter().position(|event| matches!(event, Event::Told(_))).unwrap();
    let mut disk = Disk::new(recorded.folder.path(), Trust::AllSyncs);
    let known = Known::nothing(recorded.session.lines.len());
    for (moment, event) in (1..=made).zip(&recorded.events) {
        disk.carry_out(event);
        for (number, loss) in (0..4).flat_map(|number| Loss::ALL.map(|loss| (number, loss))) {
            let image = disk.image(loss, &mut Chance::new(number));
            let checked = recorded.check(&image, &known, Trust::AllSyncs);
            assert!(checked.is_ok(), "after operation {moment}, {event:?}, {loss:?}: {checked:?}");
        }
    }
}

#[test]
fn small_commands_survive_any_power_cut() {
    check_loses_nothing(Session::plan(1, Commands::Small, 4, 3, 40), Trust::AllSyncs, open, 100);
}

#[test]
fn small_commands_survive_any_power_cut_while_they_are_moved_into_sled() {
    check_loses_nothing(Session::plan(9, Commands::Small, 3, 3, 40), Trust::AllSyncs, open_moving_often, 100);
}

#[test]
fn large_commands_survive_any_power_cut() {
    check_loses_nothing(Session::plan(2, Commands::Large, 2, 2, 8), Trust::AllSyncs, open, 30);
}

/// sled writes several segments at a time. So a power cut may leave a torn segment that was to be used again in the
/// midst of the log, which has not come to where it is used again.
#[test]
fn a_segment_that_is_torn_when_it_is_used_again_is_no_damage() {
    let recorded = record(Session::plan(8, Commands::Large, 1, 1, 24), open);
    let db = recorded.file("sled/db");
    let mut disk = Disk::new(recorded.folder.path(), Trust::AllSyncs);
    let mut known = Known::nothing(recorded.session.lines.len());
    let mut torn = 0;
    for event in &recorded.events {
        if let Event::Write { at, bytes, file } = event
            && *file == db
            && at.is_multiple_of(SEGMENT_BYTES)
            && bytes.len() > TORN.end
        {
            // What is not synced was not written yet, or it was.
            for loss in [Loss::Everything, Loss::Nothing] {
                let mut image = disk.image(loss, &mut Chance::new(0));
                let db = image.iter_mut().find(|(path, _)| path.ends_with("sled/db"));
                let db = db.and_then(|(_, content)| content.as_mut()).unwrap();
                let at = usize::try_from(*at).unwrap();
                if db.get(at..at + 4).is_some_and(|check| check != [0; 4]) {
                    db[at..][TORN].copy_from_slice(&bytes[TORN]);
                    let checked = recorded.check(&image, &known, Trust::AllSyncs);
                    assert!(checked.is_ok(), "torn at {at}, {loss:?}: {checked:?}");
                    torn += 1;
                }
            }
        }
        disk.carry_out(event);
        known.hear(event, &recorded.session.told);
    }
    assert!(torn > 10, "{torn} segments were torn");
}

#[test]
fn the_snapshot_that_closing_leaves_survives_any_power_cut() {
    for (trust, open) in [
        (Trust::AllSyncs, open as Open),
        (Trust::NotTheBinding, |dir| Store::open_or_create_unbound(dir).unwrap()),
    ] {
        let recorded = record(Session::plan(7, Commands::Large, 2, 2, 25), open);
        let events = &recorded.events;
        let closing = events.iter().rposition(|event| matches!(event, Event::Told(_))).unwrap();
        let is_snapshot = |event: &Event| matches!(event, Event::Rename { to, .. } if to.to_string_lossy().contains("/snap."));
        assert!(events[closing..].iter().any(is_snapshot), "closing left no snapshot");
        let failures = recorded.failures_within(closing..events.len(), trust, cuts(15), 1);
        assert!(failures.is_empty(), "{} cuts:\n{}", failures.len(), failures.join("\n"));
    }
}

/// What happened to the files before an acknowledgement.
#[derive(Debug, Default)]
struct Before {
    journal_writes: u64,
    journal_syncs: u64,
    /// After a flush.
    db_syncs: u64,
    /// Amid one.
    other_db_syncs: u64,
}

/// Requires every acknowledgement to follow one sync that is made for it: of the journal, or of what goes into sled. When
/// the journal is nearly full, what it holds goes into sled after an acknowledgement, with another one.
/// Returns how many commits went into the journal, and how many other syncs there were.
fn check_syncs(open: Open, commands: Commands) -> (u64, u64) {
    let recorded = record(Session::plan(6, commands, 1, 1, 60), open);
    let (db, journal) = (recorded.file("sled/db"), recorded.file("sled/journal"));
    let mut before = Before::default();
    let (mut acknowledged, mut journaled, mut settled, mut others) = (0, 0, 0, 0);
    for event in &recorded.events {
        match event {
            Event::Write { file, .. } if *file == journal => before.journal_writes += 1,
            Event::Sync { file, .. } if *file == journal => before.journal_syncs += 1,
            Event::Sync { file, by: SyncedBy::SecondHandle } if *file == db => before.db_syncs += 1,
            Event::Sync { file, by: SyncedBy::SledsHandle } if *file == db => before.other_db_syncs += 1,
            Event::Told(what) if matches!(recorded.session.told[*what], Told::Acknowledged { .. }) => {
                let found = std::mem::take(&mut before);
                let Before { journal_writes, journal_syncs, db_syncs, other_db_syncs } = found;
                let is_in_journal = (journal_writes, journal_syncs) == (1, 1) && db_syncs <= 1;
                let is_in_sled = (journal_writes, journal_syncs, db_syncs) == (0, 0, 1);
                // The first follows a creation too.
                assert!(is_in_journal || is_in_sled || acknowledged == 0, "{acknowledged}: {found:?}");
                acknowledged += 1;
                journaled += u64::from(is_in_journal);
                settled += u64::from(is_in_journal && db_syncs > 0);
                others += other_db_syncs;
            }
            _ => {}
        }
    }
    assert_eq!(acknowledged, 60);
    assert!(settled <= 60 / 5, "{settled} times");
    (journaled, others)
}

#[test]
fn every_acknowledgement_follows_one_fdatasync() {
    let (journaled, others) = check_syncs(open, Commands::Small);
    assert_eq!(journaled, 59);
    assert!(others <= 3, "sled's own syncs are deferred");
    let (journaled, others) = check_syncs(open_moving_often, Commands::Small);
    assert!((30..59).contains(&journaled), "{journaled} in the journal");
    assert!(others <= 3, "sled's own syncs are deferred");
    let (journaled, others) = check_syncs(open, Commands::Large);
    assert!(journaled > 10 && others > 10, "what is more than a journal is synced amid it");
    check_syncs(|dir| Store::open_or_create_unbound(dir).unwrap(), Commands::Small);
}

fn check_second_handle(session: Session, few: usize) {
    let open: Open = |dir| Store::open_or_create_unbound(dir).unwrap();
    check_loses_nothing(session, Trust::NotTheBinding, open, few);
}

#[test]
fn without_the_binding_the_second_handle_survives_any_power_cut() {
    check_second_handle(Session::plan(4, Commands::Small, 2, 2, 40), 60);
}

/// Where a single append is more than may otherwise be unsynced, what is left may have to be salvaged.
#[test]
fn without_the_binding_a_power_cut_amid_large_commands_loses_nothing() {
    check_second_handle(Session::plan(5, Commands::Large, 2, 2, 8), 20);
}

#[test]
fn without_the_syncs_of_flushes_or_of_the_journal_a_power_cut_loses_data() {
    let recorded = record(Session::plan(3, Commands::Small, 3, 3, 40), open_moving_often);
    for trust in [Trust::NotTheFlushes, Trust::NotTheJournal] {
        assert!(!recorded.failures(trust, 40, 1).is_empty(), "{trust:?}");
    }
}
