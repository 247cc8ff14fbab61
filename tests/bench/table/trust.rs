//! Signing and auditing a long match, compared with `verify`.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use turnfold_core::trust::{KeyKind, PrivateKey, TrustPolicy};
use turnfold_history::golden::verify;
use turnfold_mail::audit::audit;
use turnfold_proof::audit::{AuditQuestion, AuditRow, RowName, RowResult};
use turnfold_proof::bundle::{BundleFile, StoreRecords};
use turnfold_proof::signing::{KeyFile, Signers, write_signed_bundle};
use turnfold_store::{BranchName, StoreReader};

use crate::input::{Play, fixture};
use crate::measure::{Clock, take_turns};
use crate::report::{Rate, Table, Time, count};
use crate::stores::{match_name, write_one_match};
use crate::{Scale, row};

/// The minimum speed as a share of the speed of `verify`.
const SHARE: f64 = 0.5;

/// Measures signing and auditing a store with one match, and its bundle.
pub(crate) fn table(dir: &Path, scale: Scale) -> Table {
    let play = Play::simulate("initiative", &fixture("initiative", "small-board"), 1, scale.long_match());
    let (entries, store) = (count(play.entries.len()), dir.join("trust"));
    write_one_match(&store, &play, 10_000);
    drop(play);
    let store = StoreReader::open(&store).expect("the store opens");
    let registry = turnfold_games::standard();
    let key = PrivateKey::of_seed("bench.example".parse().expect("a name"), KeyKind::Signer, &[7; 32]);
    let policy = format!("log {}\nquorum none\n", key.verifier());
    let policy = TrustPolicy::read(&policy).expect("a policy");
    let key = KeyFile::create(&dir.join("bench.key"), key).expect("a new key");
    let signers = Signers::open(&[key.path]).expect("the key opens");
    let line = format!("{}@{}", match_name(0), BranchName::main()).parse().expect("a line");
    let sign = || signers.sign(&store, &line, None).expect("it is signed").note;
    let records = StoreRecords::of_all(&store).expect("the store reads").with_checkpoints(vec![sign()]);
    let bundle = dir.join("trust.bundle");
    let write = || {
        let file = BufWriter::new(File::create(&bundle).expect("a new file"));
        write_signed_bundle(&mut { file }, &records, &signers, Vec::new()).expect("it is written");
    };
    let question =
        AuditQuestion { policy: Some(&policy), held: &[], registry: &registry, accepts_brought_rules: false };
    let sound = |rows: Vec<AuditRow>| {
        let passed = |name| rows.iter().any(|row| row.row == name && row.result == RowResult::Pass);
        assert!(
            [RowName::Bytes, RowName::Chain, RowName::Signature, RowName::Rules].into_iter().all(passed),
            "{rows:?}"
        );
    };
    write();
    let [verified, signed, audited, bundled, read] = take_turns(
        Clock::Thread,
        scale.rounds(),
        [
            &mut || {
                let found = verify(&store, &match_name(0), Some(&registry)).expect("the store reads");
                assert!(found.findings.is_empty() && found.branches.len() == 1);
            },
            &mut || drop(sign()),
            &mut || sound(audit(&records, question).expect("the store reads")),
            &mut || write(),
            &mut || {
                let bundle = BundleFile::read(&bundle).expect("the bundle reads");
                sound(audit(&bundle, question).expect("the bundle reads"));
            },
        ],
    )
    .map(|times| times.fastest());
    let verified_rate = Rate::of(entries, verified);
    let rows = [
        ("`verify`", verified),
        ("`sign`", signed),
        ("`audit` of the store", audited),
        ("`bundle --key`", bundled),
        ("`audit` of the bundle", read),
    ];
    let rows = rows.map(|(what, took)| {
        let rate = Rate::of(entries, took);
        let target = if what == "`verify`" { String::new() } else { rate.at_least(verified_rate.0 * SHARE) };
        row![what, Time(took), rate, rate.times(verified_rate), target]
    });
    Table {
        title: "Signing and auditing",
        about: format!(
            "One match of {entries} entries on disk; each reads it from start to end, with every check of the chain. The \
             target is half the speed of `verify`. A bundle is read twice: for its form, then for everything else; nothing \
             holds its records, so memory does not grow with them."
        ),
        columns: &["work", "time", "rate", "relative to `verify`", "target"],
        rows: rows.to_vec(),
    }
}
