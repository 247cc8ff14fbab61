//! Matches in memory in the form that an audit reads.

use turnfold_core::trust::TreeHash;
use turnfold_mail::audit::{FairRoll, audit_with};
use turnfold_proof::ProofError;
use turnfold_proof::audit::{AuditQuestion, AuditRow, RowName, RowResult};
use turnfold_proof::bundle::{BundleOutline, BundleRecords, BundledRecord, TakeRecord};

use super::correspondence::registry;

/// Requires this result of a row, and returns its reason.
pub(super) fn expect(rows: &[AuditRow], row: RowName, result: RowResult, reason: &str) -> String {
    let found = rows.iter().find(|found| found.row == row).unwrap();
    assert_eq!(found.result, result, "{found:?}");
    assert!(found.reason.contains(reason), "expected `{reason}`: {found:?}");
    found.reason.clone()
}

/// A branch by its indexes, its own records, and the indexes of the redacted records.
pub(super) type LineParts = ((usize, usize), Vec<Vec<u8>>, Vec<usize>);

/// Records of matches, in memory.
pub(super) struct Bundled {
    pub(super) outline: BundleOutline,
    pub(super) records: Vec<LineParts>,
}

impl Bundled {
    /// Adds a match of another bundle under another name.
    pub(super) fn add(&mut self, other: Self, index: usize, name: &str) {
        let of = self.outline.matches.len();
        let mut added = other.outline.matches[index].clone();
        added.name = name.parse().unwrap();
        self.outline.matches.push(added);
        let records = other.records.into_iter().filter(|(line, ..)| line.0 == index);
        self.records.extend(records.map(|((_, line), parts, left_out)| ((of, line), parts, left_out)));
    }

    pub(super) fn audit(&self, report: &mut dyn FnMut(&FairRoll)) -> Vec<AuditRow> {
        let question =
            AuditQuestion { policy: None, held: &[], registry: &registry(), accepts_brought_rules: false };
        audit_with(self, question, report).unwrap()
    }
}

impl BundleRecords for Bundled {
    fn outline(&self) -> &BundleOutline {
        &self.outline
    }

    fn each(&self, take: &mut TakeRecord<'_>) -> Result<(), ProofError> {
        for (line, records, left_out) in &self.records {
            let first = usize::try_from(self.outline.matches[line.0].branches[line.1].first).unwrap();
            for (index, record) in (first..).zip(records) {
                let leaf = BundledRecord::LeftOut(TreeHash::of_record(record));
                let shown = BundledRecord::Shown(record, None);
                take(*line, if left_out.contains(&index) { leaf } else { shown })?;
            }
        }
        Ok(())
    }
}
