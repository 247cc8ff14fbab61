//! Checkpoints of branches: signed by keys of the policy, kept by the auditor, seen by players, cosigned by witnesses (TR-23 to
//! TR-25, PM-33).

use std::collections::BTreeMap;

use jiff::Timestamp;
use turnfold_core::Digest;
use turnfold_core::trust::{BadSignature, Checkpoint, SignedNote, TrustPolicy};

use super::question::{AuditQuestion, HeldCheckpoint};
use super::rows::{AuditRow, FurtherRow, RowBuilder, RowName, counted};
use crate::bundle::sizes::{BranchFinder, revision};
use crate::bundle::{BranchIndex, BranchTrees};

pub(super) struct CheckpointContext<'a> {
    pub(super) branches: &'a BranchFinder<'a>,
    pub(super) question: AuditQuestion<'a>,
    pub(super) trees: &'a BranchTrees<'a>,
}

/// Decides whether rules that only the bundle brings are vouched for.
pub(super) struct Vouching<'a> {
    pub(super) question: AuditQuestion<'a>,
    pub(super) signed: &'a [BranchCheckpoints],
}

impl Vouching<'_> {
    /// Returns why a module that only the bundle brings is not trusted as the rules of a branch; `None` if it is.
    ///
    /// A pin is part of the first record, so a key of the policy that signed any part of the branch signed the digest. If the
    /// policy lists modules, no others count.
    pub(super) fn why_not(
        &self,
        branch: BranchIndex,
        module: &Digest,
        is_pinned: bool,
        trees: &BranchTrees<'_>,
    ) -> Option<String> {
        if self.question.accepts_brought_rules {
            return None;
        }
        let mut lists_others = false;
        if let Some(policy) = self.question.policy {
            if policy.modules().contains(module) {
                return None;
            }
            lists_others = !policy.modules().is_empty();
        }
        let why = if lists_others {
            "the policy does not list it"
        } else if !is_pinned {
            "the match pins none"
        } else if !self.is_signed(branch, trees) {
            "no signature covers the pin"
        } else {
            return None;
        };
        Some(format!("rules brought by the bundle: module {module}, and {why}"))
    }

    /// Returns `true` if a key of the policy signed some part of a branch, and the branch still begins like it.
    fn is_signed(&self, branch: BranchIndex, trees: &BranchTrees<'_>) -> bool {
        for found in self.signed {
            if found.branch != branch {
                continue;
            }
            for (Checkpoint { size, root, .. }, _) in &found.signed {
                if *size > 0 && trees.root(branch, *size) == Some(*root) {
                    return true;
                }
            }
        }
        false
    }
}

pub(super) struct BranchCheckpoints {
    branch: BranchIndex,
    /// The checkpoints that keys of the policy signed.
    signed: Vec<(Checkpoint, SignedNote)>,
    bad: Option<BadSignature>,
    /// The sizes at which roots are asked for.
    sizes: Vec<u64>,
}

impl BranchCheckpoints {
    pub(super) fn add_wanted(&self, wanted: &mut Vec<(BranchIndex, u64)>) {
        for size in &self.sizes {
            wanted.push((self.branch, *size));
        }
    }
}

pub(super) fn checkpoints(
    branches: &BranchFinder<'_>,
    question: AuditQuestion<'_>,
) -> Vec<BranchCheckpoints> {
    let outline = branches.outline;
    let mut by_branch: BTreeMap<BranchIndex, BranchCheckpoints> = BTreeMap::new();
    for (match_index, found) in outline.matches.iter().enumerate() {
        for branch in 0..found.branches.len() {
            let branch = (match_index, branch);
            let none = BranchCheckpoints { branch, signed: Vec::new(), bad: None, sizes: Vec::new() };
            by_branch.insert(branch, none);
        }
    }
    let Some(policy) = question.policy else { return by_branch.into_values().collect() };
    for note in &outline.checkpoints {
        let Ok(checkpoint) = note.text().parse::<Checkpoint>() else { continue };
        let Some(index) = branches.branch_of(&checkpoint.origin) else { continue };
        let Some(of_branch) = by_branch.get_mut(&index) else { continue };
        of_branch.sizes.push(checkpoint.size);
        match policy.is_signed(note, &checkpoint.origin) {
            Ok(true) => of_branch.signed.push((checkpoint, note.clone())),
            Ok(false) => {}
            Err(bad) => of_branch.bad = Some(bad),
        }
    }
    for HeldCheckpoint { checkpoint, .. } in question.held {
        let Some(index) = branches.branch_of(&checkpoint.origin) else { continue };
        if let Some(of_branch) = by_branch.get_mut(&index) {
            of_branch.sizes.push(checkpoint.size);
        }
    }
    by_branch.into_values().collect()
}

/// Requires each branch to have a checkpoint at its full size, and none that contradicts it.
pub(super) fn signature(branches: &[BranchCheckpoints], known: &CheckpointContext<'_>) -> AuditRow {
    let mut row = RowBuilder::default();
    if known.question.policy.is_none() {
        row.not_checked(None, "no policy says whose signatures count; give one with `--policy`");
        return row.row(RowName::Signature, String::new);
    }
    for of_branch in branches {
        let size = known.branches.size(of_branch.branch);
        let at = revision(known.branches.outline, of_branch.branch);
        if let Some(bad) = &of_branch.bad {
            row.fail(at.clone(), bad.to_string());
        }
        let mut covered = 0;
        for (checkpoint, _) in &of_branch.signed {
            if checkpoint.size > size {
                row.fail(
                    at.clone(),
                    format!("size {} is signed, but there are {size} records", checkpoint.size),
                );
            } else if known.trees.root(of_branch.branch, checkpoint.size) != Some(checkpoint.root) {
                let signed = checkpoint.size;
                row.fail(at.clone(), format!("the first {signed} records differ from the signed ones"));
            } else {
                covered = covered.max(checkpoint.size);
            }
        }
        if covered < size {
            let last = size.saturating_sub(1);
            let records = if covered == last {
                format!("record {last}")
            } else {
                format!("records {covered} to {last}")
            };
            row.not_checked(at, format!("no signature of a key of the policy covers {records}"));
        }
    }
    row.row(RowName::Signature, || format!("{} signed to the end", counted(branches.len() as u64, "branch")))
}

/// Compares the checkpoints that the auditor kept with the branches. `further` has the papers, compared with their desks.
pub(super) fn consistency(known: &CheckpointContext<'_>, further: FurtherRow) -> AuditRow {
    let mut row = further.found;
    let seen = further.checked.map(|seen| format!("; {seen}")).unwrap_or_default();
    let question = known.question;
    let mut compared = 0;
    let mut unknown = 0;
    for held in question.held {
        let Checkpoint { origin, size, root } = &held.checkpoint;
        match question.policy.map(|policy| policy.is_signed(&held.note, origin)) {
            Some(Ok(true)) => {}
            Some(Err(error)) => {
                row.fail(None, format!("`{}`: {error}", held.path.display()));
                continue;
            }
            _ => {
                unknown += 1;
                continue;
            }
        }
        compared += 1;
        let Some(index) = known.branches.branch_of(origin) else {
            row.fail(None, format!("branch missing: `{origin}` was signed at size {size}"));
            continue;
        };
        let now = known.branches.size(index);
        let at = revision(known.branches.outline, index);
        if now < *size {
            row.fail(at, format!("rolled back from {size} to {now} records"));
        } else if known.trees.root(index, *size) != Some(*root) {
            row.fail(at, format!("another history: the first {size} records differ from the signed ones"));
        }
    }
    match (question.policy, question.held.len()) {
        (_, 0) => row.not_checked(None, format!("no checkpoint is held; give one with `--held`{seen}")),
        (None, _) => row.not_checked(None, "no policy says whose checkpoints count"),
        _ if compared == 0 => row.not_checked(None, "no held checkpoint is signed by a key of the policy"),
        _ => {}
    }
    row.row(RowName::Consistency, || {
        let others =
            if unknown == 0 { String::new() } else { format!(", {unknown} of unknown keys ignored") };
        format!("{} held and found again{others}{seen}", counted(compared, "checkpoint"))
    })
}

/// Requires the policy's quorum for the newest signed checkpoint of each branch.
pub(super) fn cosignatures(branches: &[BranchCheckpoints], known: &CheckpointContext<'_>) -> AuditRow {
    let mut row = RowBuilder::default();
    let Some(policy) = known.question.policy else {
        row.not_checked(None, "no policy says whose cosignatures count; give one with `--policy`");
        return row.row(RowName::Cosignatures, String::new);
    };
    if !policy.has_quorum() {
        row.not_checked(None, "the policy asks for no cosignatures");
        return row.row(RowName::Cosignatures, String::new);
    }
    let mut times = Vec::new();
    for of_branch in branches {
        let at = revision(known.branches.outline, of_branch.branch);
        let Some(newest) = of_branch.signed.iter().map(|(checkpoint, _)| checkpoint.size).max() else {
            row.not_checked(at, "no signed checkpoint that a witness could cosign");
            continue;
        };
        let mut notes = Vec::new();
        for (checkpoint, note) in &of_branch.signed {
            if checkpoint.size == newest {
                notes.push(note);
            }
        }
        match cosigned(policy, &notes) {
            Err(bad) => row.fail(at, bad.to_string()),
            Ok((false, _)) => row.fail(at, format!("the quorum has not cosigned size {newest}")),
            Ok((true, found)) => times.extend(found),
        }
    }
    row.row(RowName::Cosignatures, || {
        let branches = counted(branches.len() as u64, "branch");
        let oldest = times.iter().min().map_or_else(String::new, |seconds| time(*seconds));
        let newest = times.iter().max().map_or_else(String::new, |seconds| time(*seconds));
        format!("the quorum has cosigned {branches}, between {oldest} and {newest}")
    })
}

/// Finds the cosignatures of notes. A quorum may be met by one note, or by all notes of the same text together.
fn cosigned(policy: &TrustPolicy, notes: &[&SignedNote]) -> Result<(bool, Vec<u64>), BadSignature> {
    let mut by_text: BTreeMap<&str, Vec<&SignedNote>> = BTreeMap::new();
    for note in notes {
        by_text.entry(note.text()).or_default().push(note);
    }
    let mut is_met = false;
    let mut times = Vec::new();
    for notes in by_text.into_values() {
        let mut signatures = Vec::new();
        for note in &notes {
            signatures.extend(note.signatures().iter().cloned());
        }
        let together = notes.first().and_then(|first| (*first).clone().with(signatures));
        for note in notes.into_iter().chain(together.as_ref()) {
            let found = policy.cosigned(note)?;
            is_met |= found.is_met;
            times.extend(found.times);
        }
    }
    Ok((is_met, times))
}

fn time(seconds: u64) -> String {
    if let Ok(signed) = i64::try_from(seconds)
        && let Ok(time) = Timestamp::from_second(signed)
    {
        return time.to_string();
    }
    // The time is outside of the calendar.
    format!("second {seconds}")
}
