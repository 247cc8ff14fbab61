//! Power cuts: every acknowledged entry survives (ST-1), and any other batch survives completely or not at all (ST-2).
//! While heads are packed, the index may be behind what is durable, never ahead of it (ST-12, ST-14).

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use turnfold_store::{Store, StoreOptions};

use crate::disk::{Chance, Disk, Image, Loss, Trust};
use crate::recorded::{Known, Recorded, record, record_with};
use crate::session::{Commands, Open, Progress, Session};
use crate::tape::{Event, Synced};

/// Returns how many power cuts a test tries: a few, or as many as `TURNFOLD_POWER_CUTS` sets.
fn cuts(few: usize) -> usize {
    std::env::var("TURNFOLD_POWER_CUTS").map_or(few, |cuts| cuts.parse().unwrap())
}

fn open(dir: &Path) -> Store {
    Store::open_or_create(dir).unwrap()
}

/// Like [`open`], but a head is full after a few commits.
fn open_packing_often(dir: &Path) -> Store {
    StoreOptions::new().create().head_bytes(6 * 1024).open(dir).unwrap()
}

fn check_loses_nothing(session: Session, open: Open, few: usize) {
    let recorded = record(session, open);
    let failures = recorded.failures(Trust::AllSyncs, cuts(few), 1);
    assert!(failures.is_empty(), "{} of {} cuts:\n{}", failures.len(), cuts(few), failures.join("\n"));
}

#[test]
fn a_store_whose_making_was_cut_short_anywhere_can_be_made_again() {
    let recorded = record(Session::plan(0, Commands::Small, 1, 1, 1), open);
    let made = recorded.events.iter().position(|event| matches!(event, Event::Progress(_))).unwrap();
    let mut disk = Disk::new(recorded.folder.path(), Trust::AllSyncs);
    let known = Known::nothing(recorded.session.lines.len());
    for (moment, event) in (1..=made).zip(&recorded.events) {
        disk.carry_out(event);
        for (number, loss) in (0..4).flat_map(|number| Loss::ALL.map(|loss| (number, loss))) {
            let image = disk.image(loss, &mut Chance::new(number));
            let checked = recorded.check(&image, &known);
            assert!(checked.is_ok(), "after operation {moment}, {event:?}, {loss:?}: {checked:?}");
        }
    }
}

#[test]
fn small_commands_survive_any_power_cut() {
    check_loses_nothing(Session::plan(1, Commands::Small, 4, 3, 40), open, 100);
}

#[test]
fn small_commands_survive_any_power_cut_while_heads_are_packed() {
    check_loses_nothing(Session::plan(9, Commands::Small, 3, 3, 40), open_packing_often, 100);
}

#[test]
fn large_commands_survive_any_power_cut() {
    check_loses_nothing(Session::plan(2, Commands::Large, 2, 2, 8), open, 30);
}

#[test]
fn large_commands_survive_any_power_cut_while_heads_are_packed() {
    check_loses_nothing(Session::plan(8, Commands::Large, 2, 2, 12), open_packing_often, 30);
}

/// Each opening finds the heads filled differently. It writes its notes and the first commits where the last opening
/// ended.
#[test]
fn commands_survive_any_power_cut_of_many_openings() {
    check_loses_nothing(Session::plan(4, Commands::Small, 2, 12, 5), open_packing_often, 60);
    check_loses_nothing(Session::plan(5, Commands::Small, 2, 12, 5).ending_full(), open_packing_often, 60);
    check_loses_nothing(Session::plan(7, Commands::Large, 1, 5, 3).ending_full(), open, 20);
}

/// Calls `check` with the disk after operations between the last acknowledgement before a closing and the first one
/// after the next opening: after each one that touches a head, and after every `every`-th of the others.
fn after_each_step_of_closing(
    recorded: &Recorded,
    every: usize,
    check: &mut dyn FnMut(usize, &Disk, &Known),
) {
    let mut disk = Disk::new(recorded.folder.path(), Trust::AllSyncs);
    let mut known = Known::nothing(recorded.session.lines.len());
    let is_acknowledgement = |event: &Event| match event {
        Event::Progress(what) => matches!(recorded.session.progress[*what], Progress::Acknowledged { .. }),
        _ => false,
    };
    let is_closing = |event: &Event| match event {
        Event::Progress(what) => recorded.session.progress[*what] == Progress::Closed,
        _ => false,
    };
    let (mut heads, mut steps) = (BTreeSet::new(), 0);
    for (moment, event) in recorded.events.iter().enumerate() {
        disk.carry_out(event);
        known.hear(event, &recorded.session.progress);
        let touches_a_head = match event {
            Event::MakeFile { path, file } if path.to_string_lossy().contains("/head.") => {
                heads.insert(*file)
            }
            Event::Write { file, .. } | Event::Sync { file, .. } => heads.contains(file),
            event => is_closing(event),
        };
        let (before, after) = (&recorded.events[..moment], &recorded.events[moment..]);
        let next = after.iter().find(|event| is_acknowledgement(event) || is_closing(event));
        let last = before.iter().rev().find(|event| is_acknowledgement(event) || is_closing(event));
        let is_at_an_end = next.is_none_or(&is_closing) || last.is_some_and(&is_closing);
        if is_at_an_end && (touches_a_head || moment.is_multiple_of(every)) {
            steps += 1;
            check(moment, &disk, &known);
        }
    }
    assert!(steps > 40, "{steps}");
}

/// ST-11: closing writes the end of the journal twice. Between these writes, and until the first commit after the next
/// opening, a power cut never makes a sound store look damaged. `TURNFOLD_POWER_CUTS` multiplies the number of images
/// tried.
#[test]
fn closing_and_opening_again_survive_a_power_cut_at_any_step() {
    let times = cuts(1);
    for (seed, open) in [(21, open as Open), (22, open_packing_often)] {
        let recorded = record(Session::plan(seed, Commands::Small, 2, 5, 6), open);
        let mut failures = Vec::new();
        after_each_step_of_closing(&recorded, 8 / times.min(8), &mut |moment, disk, known| {
            for (number, loss) in (0..times as u64).flat_map(|number| Loss::ALL.map(|loss| (number, loss))) {
                let image = disk.image(loss, &mut Chance::new(number));
                if let Err(reason) = recorded.check(&image, known) {
                    failures.push(format!("after operation {moment}, {loss:?}: {reason}"));
                }
            }
        });
        assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    }
}

/// Where a head has the second copy of the journal's end: after its header.
const END: Range<usize> = 64..120;

/// Returns the image without the frames in the last two pages of memory of the head that was written last, or `None` if
/// the image does not show which head that is.
fn without_last_frames(image: &Image) -> Option<Image> {
    let heads = image.iter().filter(|(path, _)| path.to_string_lossy().contains("/journal/head."));
    let ends: Vec<_> = heads
        .map(|(path, content)| {
            let number = content.as_ref().unwrap()[END][16..24].try_into().unwrap();
            (u64::from_le_bytes(number), path.clone())
        })
        .collect();
    let [(first, first_path), (second, second_path)] = &ends[..] else { return None };
    let current = if first < second { first_path } else { second_path };
    let mut harmed = image.clone();
    let head = harmed.get_mut(current)?.as_mut()?;
    let last = head.iter().rposition(|byte| *byte != 0)?;
    head[(last / 4096 * 4096).saturating_sub(4096).max(512)..].fill(0);
    (first != second).then_some(harmed)
}

/// ST-3, ST-11: after a store was closed, neither a power cut nor the loss of its last frames makes entries vanish
/// silently.
#[test]
fn a_closed_store_that_loses_its_last_frames_never_looks_sound() {
    let (mut noticed, mut harmless, mut silent) = (0, 0, 0);
    for (seed, open) in [(23, open as Open), (24, open_packing_often)] {
        let recorded = record(Session::plan(seed, Commands::Small, 2, 5, 6), open);
        after_each_step_of_closing(&recorded, 50, &mut |moment, disk, known| {
            for (number, loss) in Loss::ALL.into_iter().enumerate().filter(|_| known.is_closed) {
                let image = disk.image(loss, &mut Chance::new(number as u64));
                let Some(mut harmed) = without_last_frames(&image) else { continue };
                match recorded.check(&harmed, known) {
                    Ok(()) => harmless += 1,
                    Err(reason) => {
                        noticed += 1;
                        let what = format!("after operation {moment}, {loss:?}: {reason}");
                        assert!(reason.contains("corrupt store"), "{what}");
                    }
                }
                // Without the second copy the loss would go unnoticed.
                for (_, content) in
                    harmed.iter_mut().filter(|(path, _)| path.to_string_lossy().contains("/head."))
                {
                    content.as_mut().unwrap()[END].fill(0);
                }
                let lost = recorded.check(&harmed, known);
                silent += u32::from(lost.is_err_and(|reason| !reason.contains("corrupt store")));
            }
        });
    }
    assert!(noticed > 50 && silent > 20, "{noticed} noticed, {harmless} harmless, {silent} silent");
}

/// ST-18: the old journal or the new one is complete, whatever is left of the other.
#[test]
fn a_compaction_survives_any_power_cut() {
    let compact = |dir: &Path| {
        Store::compact(dir, &mut |_| ()).unwrap();
    };
    for (commands, seed, few) in [(Commands::Small, 12, 60), (Commands::Large, 13, 20)] {
        let recorded = record_with(Session::plan(seed, commands, 2, 2, 12), open_packing_often, compact);
        let failures = recorded.failures_after(cuts(few), 1);
        assert!(failures.is_empty(), "{} of {} cuts:\n{}", failures.len(), cuts(few), failures.join("\n"));
    }
}

/// Requires that nothing is lost after any write to a file whose name ends in one of `names`. Returns the number of
/// these writes.
fn check_after_each_write(recorded: &Recorded, names: &[&str], loss: Loss) -> usize {
    let mut disk = Disk::new(recorded.folder.path(), Trust::AllSyncs);
    let mut known = Known::nothing(recorded.session.lines.len());
    let (mut files, mut writes) = (BTreeSet::new(), 0);
    for event in &recorded.events {
        disk.carry_out(event);
        known.hear(event, &recorded.session.progress);
        match event {
            Event::MakeFile { path, file }
                if names.iter().any(|name| path.to_string_lossy().ends_with(name)) =>
            {
                files.insert(*file);
            }
            Event::Write { file, .. } if files.contains(file) => {
                writes += 1;
                let checked = recorded.check(&disk.image(loss, &mut Chance::new(0)), &known);
                assert!(checked.is_ok(), "write {writes}: {checked:?}");
            }
            _ => {}
        }
    }
    writes
}

/// ST-12: an unsynced pack counts only if it is complete.
#[test]
fn a_pack_with_only_both_ends_written_does_not_count() {
    let recorded = record(Session::plan(9, Commands::Small, 1, 2, 30), open_packing_often);
    let packs = check_after_each_write(&recorded, &[".seg"], Loss::Insides);
    assert!(packs > 3, "{packs}");
}

/// ST-12: entries in a head are overwritten only when a segment has them, also by notes and by the first writes of an
/// opening.
#[test]
fn a_kill_after_any_write_to_a_head_loses_nothing_that_waits_in_it() {
    let open_tiny: Open = |dir| StoreOptions::new().create().head_bytes(3 * 512).open(dir).unwrap();
    for (session, open, least) in [
        (Session::plan(10, Commands::Small, 1, 10, 3), open_tiny, 40),
        (Session::plan(10, Commands::Small, 1, 10, 3).ending_full(), open_tiny, 40),
        (Session::plan(12, Commands::Large, 1, 12, 2), open as Open, 30),
    ] {
        let recorded = record(session, open);
        let writes = check_after_each_write(&recorded, &["head.a", "head.b"], Loss::Nothing);
        assert!(writes > least, "{writes}");
    }
}

/// ST-11: every acknowledgement follows one write and one sync of a head, while packing runs at the same time.
#[test]
fn every_acknowledgement_follows_one_write_and_one_sync_of_a_head() {
    for open in [open as Open, open_packing_often] {
        let recorded = record(Session::plan(6, Commands::Small, 1, 1, 60), open);
        let mut heads = BTreeSet::new();
        let (mut writes, mut syncs, mut acknowledged, mut large) = (0, 0, 0, 0);
        for event in &recorded.events {
            match event {
                Event::MakeFile { path, file } if path.to_string_lossy().contains("/head.") => {
                    heads.insert(*file);
                }
                Event::Write { file, .. } if heads.contains(file) => writes += 1,
                Event::Sync { of: Synced::Head, .. } => syncs += 1,
                Event::Progress(what)
                    if matches!(recorded.session.progress[*what], Progress::Acknowledged { .. }) =>
                {
                    // The first acknowledgement follows a creation too. A commit too large for a head has a note before
                    // and after it.
                    let is_large = (writes, syncs) == (2, 2);
                    large += u32::from(is_large);
                    assert!(
                        (writes, syncs) == (1, 1) || is_large || acknowledged == 0,
                        "{acknowledged}: {writes}, {syncs}"
                    );
                    (writes, syncs) = (0, 0);
                    acknowledged += 1;
                }
                _ => {}
            }
        }
        assert_eq!(acknowledged, 60);
        assert!(large <= 2, "{large} commits are large");
    }
}

#[test]
fn without_the_syncs_of_heads_or_segments_a_power_cut_loses_data() {
    let recorded = record(Session::plan(3, Commands::Small, 3, 3, 40), open_packing_often);
    for trust in [Trust::NotTheHeads, Trust::NotTheSegments] {
        assert!(!recorded.failures(trust, 40, 1).is_empty(), "{trust:?}");
    }
}
