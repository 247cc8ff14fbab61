//! `turnfold migrate`: continues a match under another version of its ruleset.

use serde_json::json;
use turnfold_history::Revision;
use turnfold_history::compare::MigratedMatch;
use turnfold_mail::desk_naming;
use turnfold_show::render::OriginDocument;
use turnfold_store::{BranchName, MatchName};

use crate::context::Context;
use crate::failure::{ExitStatus, Result};
use crate::output::{Line, counted, plain, strong};

/// Continue a match under another version of its ruleset
///
/// Folds every branch by the rules of that version and compares as `game impact` does. If anything differs, nothing is created
/// and the first difference is named. Otherwise creates a match with the same setup, branches and entries, with their times
/// and idempotency keys, which names the old match as its origin. The old match stays as it is.
///
/// If this program has the rules of both versions, their outcomes are compared. If it has only the new ones, a match counts
/// as the same if every command is still accepted and every seeded roll is right.
///
/// The same match always gives the same one, so it is safe to repeat the command. Its id and links are new: signed
/// checkpoints and grants stay with the old match. A match by mail cannot be migrated, because its papers are bound to its id.
///
/// A match that pins a module stays with it, because that module plays it for ever. A match that a module plays without a pin
/// is migrated like any other.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold migrate duel duel-2")]
pub(crate) struct Args {
    /// The match
    #[arg(value_name = "MATCH")]
    match_name: MatchName,

    /// Name of the match to be created
    #[arg(value_name = "NEW", value_parser = Revision::new_match_name)]
    new: MatchName,

    /// Version of the ruleset [default: the newest]
    #[arg(long, value_name = "VERSION")]
    to: Option<u32>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let Args { match_name, new, to } = args;
    let store = context.open_store()?;
    let has_desk = desk_naming(&store, match_name, &BranchName::main())?.is_some();
    let migrated = MigratedMatch::of(&store, match_name, *to, has_desk, &context.registry)?;
    migrated.create(&store, new)?;
    drop(store);
    let MigratedMatch { rules, genesis, branches, compares_outcomes, .. } = &migrated;
    let ruleset = rules.name();
    let version = rules.version();
    let entries = migrated.entries();
    let branches = branches.len() as u64;
    let origin = OriginDocument::of(genesis);
    let document = json!({
        "match": new.as_str(),
        "migrated_from": match_name.as_str(),
        "ruleset": ruleset,
        "version": version,
        "branches": branches,
        "entries": entries,
        "compared": if *compares_outcomes { "outcomes" } else { "acceptance" },
        "origin": origin,
    });
    context.output.answer(&document, || {
        let old = origin.as_ref().map_or(0, |origin| origin.version);
        let counts = format!(
            ": {ruleset} version {old} → {version}, {}, {}",
            counted(entries, "entry", "entries"),
            counted(branches, "branch", "branches"),
        );
        let compared = if *compares_outcomes {
            "every outcome is the same".into()
        } else {
            format!("every command is still accepted; outcomes were not compared, as this build has no version {old}")
        };
        let migrated = plain(format_args!("migrated {match_name} to "));
        vec![Line::from([migrated, strong(new), plain(counts)]), compared.into()]
    })
}
