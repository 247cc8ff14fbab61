//! `turnfold mail recover`: restores matches from the letters that players have (PM-111).

use std::path::PathBuf;

use serde_json::json;
use turnfold_mail::audit::audit;
use turnfold_mail::{MailHost, Recovery};
use turnfold_proof::audit::AuditQuestion;
use turnfold_proof::bundle::import::{ImportNames, ImportPlan};

use super::post::HostArgs;
use crate::clock;
use crate::commands::import::import_line;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::Line;

/// Recover matches by mail from the letters that players have
///
/// For a store that is lost, or older than the folder KEY.seen: the key signs no other history than the one that it knows. Ask
/// each player for the newest letter, with its attachment. The bundle of a letter leaves out what its player may not know,
/// but together the bundles of all seats show everything that they cover. Game and desk get all entries that the store does
/// not have. Afterwards, `mail run` goes on.
///
/// Exits with 1 if entries cannot be had, and names the first of them: they came after the newest letter of the seat
/// that may know them. What comes before is recovered all the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold mail recover from-ben.eml cleo.bundle --key ann.key")]
pub(crate) struct Args {
    /// Letters with the bundle attached, or bundles
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    host: HostArgs,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let room = args.host.post_room(context)?;
    let store = context.open_or_create_store()?;
    let registry = context.registry.clone();
    let recovery = Recovery::of(&args.files, &store, &room.signers, &registry)?;
    let rows = audit(&recovery.records, AuditQuestion::of_import(&registry))?;
    let plan = ImportPlan::of(&recovery.records, &rows, Some(&store), &registry, &ImportNames::default())?;
    plan.carry_out(&store)?;
    let mut missing = recovery.missing;
    for game in &recovery.games {
        if let Err(error) = MailHost::of(&store, game, &registry, &room.signers, clock::now_ms()?) {
            missing.push(error.to_string());
        }
    }
    drop(store);
    let recovered = json!({ "lines": plan.branches, "missing": missing });
    context.output.verdict(missing.is_empty(), &recovered, || {
        let mut lines: Vec<Line> = plan.branches.iter().map(import_line).collect();
        lines.extend(missing.iter().map(|what| Line::from(format!("cannot be had: {what}"))));
        lines
    })
}
