//! `turnfold bundle`: writes matches and their checkpoints to one file (TR-18, TR-19).

use std::collections::BTreeSet;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::slice;

use turnfold_core::trust::SignedNote;
use turnfold_history::{Sources, Viewer};
use turnfold_proof::ProofError;
use turnfold_proof::audit::read_held;
use turnfold_proof::bundle::{
    BundleRecords, BundledModule, NeededModule, SeatRecords, StoreRecords, write_bundle,
};
use turnfold_proof::signing::{Signers, sign_branches, write_signed_bundle};
use turnfold_store::MatchName;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::files::{self, NewFile, check_new};
use crate::output::counted;
use crate::sources::Several;

/// Write matches to one file that others can check
///
/// A bundle holds every record as it is stored, with its id, times, keys and links. `turnfold audit` checks it, and `turnfold
/// import` imports it into another store. With a key, every branch is signed at its head, and earlier checkpoints of the key
/// are included. A bundle is text: it can be checked without turnfold, with base64, SHA-256 and Ed25519.
///
/// It reveals everything: the players' secrets and the seed of seeded dice. Only its owner can read the file. With `--as p1`, a
/// record that p1 may not fully know is left out, together with everything recorded in the same append. The command is
/// refused if the missing records could be guessed: in seeded matches, if the setup deals secrets, and unless the idempotency
/// keys of all calls by other players begin with `order:`, `paper:` or `turn:`, which cannot be guessed.
///
/// If a match is played by a module, the bundle holds the module's file too, so that others can audit the match without
/// anything else; `--without-modules` leaves it out. A module is rules and holds no secrets of a match.
///
/// If `-o` names a folder that exists, or ends in a slash, each match is written to a bundle of its own there, named after the
/// match. A match that cannot be bundled leaves the others as they are.
///
/// Without `--as`, no rules are needed: a match can be bundled even if this program no longer has its rules.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  turnfold bundle duel -o duel.bundle
  turnfold bundle duel --key ann.key -o duel.bundle
  turnfold bundle duel ford -o bundles/")]
pub(crate) struct Args {
    /// The matches
    #[arg(value_name = "MATCH", required = true)]
    matches: Vec<MatchName>,

    /// Sign every branch
    #[arg(long, value_name = "FILE", env = "TURNFOLD_KEY")]
    key: Vec<PathBuf>,

    /// Include the checkpoints of a file: a checkpoint, a proof or a bundle
    #[arg(long, value_name = "FILE")]
    add: Vec<PathBuf>,

    /// Leave out the modules that the matches are played by
    #[arg(long)]
    without_modules: bool,

    /// Redact records the seat may not see; only their hashes are included
    #[arg(long = "as", value_name = "SEAT", default_value_t = Viewer::HOST)]
    viewer: Viewer,

    #[command(flatten)]
    output: NewFile,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    if args.output.names_folder() {
        let folder = args.output.make_folder()?;
        context.workspace.keep_reader();
        let matches = Several::from(args.matches.clone());
        return matches.answer_each(MatchName::to_string, context, |name, context| {
            let path = folder.join(format!("{name}.bundle"));
            check_new(&path, args.output.is_forced())?;
            bundle(args, slice::from_ref(name), Some(&path), context)
        });
    }
    let path = args.output.path()?;
    if path.is_none() {
        context.output.refuse_json_next_to("bundle")?;
    }
    bundle(args, &args.matches, path, context)
}

fn bundle(
    args: &Args,
    matches: &[MatchName],
    path: Option<&Path>,
    context: &mut Context,
) -> Result<ExitStatus> {
    let mut notes = Vec::new();
    for path in &args.add {
        notes.extend(read_held(path)?.into_iter().map(|held| held.note));
    }
    let store = context.read_store()?;
    if !args.viewer.sees_all() {
        context.require_rules("`bundle --as`", &store, matches)?;
    }
    // The modules whose files are missing on this machine are listed (MD-10).
    let mut modules = Vec::new();
    let mut missing = Vec::new();
    let needed = NeededModule::of_matches(&store, matches)?;
    for module in if args.without_modules { BTreeSet::new() } else { needed } {
        if let Some(file) = module.file(&context.registry) {
            modules.push(file);
        } else {
            tracing::warn!("not bundled, because it is missing here: module {module}");
            missing.push(module);
        }
    }
    let records = StoreRecords::of(&store, matches)?.with_modules(modules);
    let records = SeatRecords::of(records, args.viewer, &context.registry)?;
    notes.sort();
    notes.dedup();
    let signers = if args.key.is_empty() { None } else { Some(Signers::open(&args.key)?) };
    let Some(path) = path else {
        if let Some(signers) = &signers {
            // Signs before anything is printed, because signing may be refused.
            sign_branches(&records, signers)?;
        }
        let stdout = context.output.bytes()?;
        return match write(&mut BufWriter::new(stdout), &records, signers.as_ref(), notes) {
            Ok(_) => Ok(ExitStatus::Yes),
            Err(ProofError::Write(source)) => Err(Failure::cut_short("bundle", source)),
            Err(error) => Err(error.into()),
        };
    };
    let count = files::write_private(path, args.output.is_forced(), |file| {
        Ok(write(&mut BufWriter::new(file), &records, signers.as_ref(), notes)?)
    })?;
    let outline = records.outline();
    let mut branches = 0;
    let mut own = 0;
    for branch in outline.matches.iter().flat_map(|bundled| &bundled.branches) {
        branches += 1;
        own += branch.count;
    }
    let file = path.display().to_string();
    let matches = outline.matches.len() as u64;
    let bundled = serde_json::json!({
        "file": file, "matches": matches, "lines": branches, "records": own, "checkpoints": count,
        "modules": outline.modules.iter().map(BundledModule::digest).collect::<Vec<_>>(),
        "missing_modules": missing,
    });
    context.output.answer(&bundled, || {
        let matches = counted(matches, "match", "matches");
        let branches = counted(branches, "branch", "branches");
        let own = counted(own, "record", "records");
        let checkpoints = counted(count, "checkpoint", "checkpoints");
        let modules = counted(outline.modules.len() as u64, "module", "modules");
        let modules = if outline.modules.is_empty() { String::new() } else { format!(", {modules}") };
        let bundled = format!("bundled {matches} to `{file}`: {branches}, {own}, {checkpoints}{modules}");
        vec![bundled.into()]
    })
}

fn write(
    out: &mut dyn Write,
    records: &dyn BundleRecords,
    signers: Option<&Signers>,
    notes: Vec<SignedNote>,
) -> Result<u64, ProofError> {
    let Some(signers) = signers else {
        let count = notes.len() as u64;
        write_bundle(out, records, notes)?;
        return Ok(count);
    };
    write_signed_bundle(out, records, signers, notes)
}
