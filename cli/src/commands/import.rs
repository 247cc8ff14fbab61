//! `turnfold import`: imports a match from a replay file, or matches from a bundle.

use std::path::{Path, PathBuf};
#[cfg(feature = "modules")]
use std::{fs::File, io::BufReader};

use serde_json::json;
use turnfold_core::Digest;
use turnfold_core::registry::ModuleSource as _;
use turnfold_history::{Imported, Revision, Sources};
use turnfold_mail::audit::audit;
use turnfold_proof::audit::AuditQuestion;
use turnfold_proof::bundle::import::{BranchChange, ImportNames, ImportPlan, ImportedBranch};
use turnfold_proof::bundle::{BundleFile, NeededModule, is_bundle};
use turnfold_referee::within;
use turnfold_store::{BranchName, MatchName, Store, StoreError};
#[cfg(feature = "modules")]
use {
    turnfold_core::DicePolicy,
    turnfold_referee::{Recording, RecordingBranch},
    turnfold_store::{NewEntries, NewEntry, PackedEntries},
};

use super::game::{MODULES_TIME, require_folder, require_laws, write_module};
use super::new::{Game, genesis};
use crate::clock;
use crate::context::{Context, StoreAddress};
use crate::failure::{ExitStatus, Failure, Result};
use crate::output::{Line, counted, dim, plain, strong};
use crate::sources::expanded;

/// Import a match from a replay file, or matches from a bundle
///
/// Recorded outcomes, hashes and the blessed header must match what the rules compute; otherwise nothing is imported. The
/// match has everything that the file records. Its id, its times and so its links are new, because a replay file does not
/// record them.
///
/// A bundle keeps id, times and links. A new match is created; an existing match is extended where the bundle continues
/// it. If a branch differs from the stored one, nothing is imported and the first different entry is named; `--branch`
/// imports such a branch under another name. A bundle is refused if its chain is wrong or its rules reject an entry; if this
/// program does not have the rules, they are not checked, and the command reports it. A module that comes with a bundle and is
/// missing here is copied to where modules lie, as `turnfold game add` copies it: if a law is broken, nothing is imported.
/// Signatures are not checked: use `turnfold audit`.
///
/// With `--recording`, a file has the moves of a game played elsewhere, each with the state after it. Its rules are unknown;
/// every verb that needs no rules works on it.
///
/// With several files, each match is named after its file; a folder or pattern stands for the replay files and bundles in it. A
/// file that cannot be imported leaves the others as they are.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  turnfold import duel.tfl --name again\n  turnfold import duel.bundle\n  \
    turnfold import games/\n  turnfold import --recording game.jsonl"
)]
pub(crate) struct Args {
    /// Replay files, pages that hold one, bundles, or folders or patterns of `*.tfl` and `*.bundle`
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Name of the match [default: the file's name without `.tfl` or `.html`]
    #[arg(long, value_name = "MATCH", value_parser = Revision::new_match_name)]
    name: Option<MatchName>,

    /// The files are recordings: a line of JSON for each move, with the state after it (see `help referees`)
    #[arg(long, conflicts_with = "branch")]
    recording: bool,

    /// Name under which to import the branch of a bundle that differs from the stored one
    #[arg(long, value_name = "BRANCH")]
    branch: Option<BranchName>,
}

/// The parts of a match that a replay file does not record, so that the import makes new ones.
const NEW: [&str; 3] = ["id", "times", "links"];

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let endings: &[&str] = if args.recording { &["jsonl"] } else { &["tfl", "bundle"] };
    let files = expanded(&args.files, endings)?;
    if let [file] = args.files.as_slice()
        && files.sources == args.files
    {
        return import(args, file, &mut None, true, context);
    }
    for (option, is_used) in [("--name", args.name.is_some()), ("--branch", args.branch.is_some())] {
        if is_used {
            return Err(
                Failure::usage(format!("`{option}` is for one file")).hint("import the files one by one")
            );
        }
    }
    // The store is opened once for all replay files.
    let mut store = None;
    files.answer_each(
        |file| file.display().to_string(),
        context,
        |file, context| import(args, file, &mut store, false, context),
    )
}

fn import(
    args: &Args,
    file: &Path,
    opened: &mut Option<Store>,
    is_only: bool,
    context: &mut Context,
) -> Result<ExitStatus> {
    if args.recording {
        #[cfg(feature = "modules")]
        return import_recording(args, file, context);
        #[cfg(not(feature = "modules"))]
        return Err(Failure::usage("this build was made without its feature `modules`"));
    }
    if is_bundle(file) {
        *opened = None;
        let names = ImportNames { match_name: args.name.clone(), branch: args.branch.clone() };
        return import_bundle(file, &names, context);
    }
    if args.branch.is_some() {
        return Err(
            Failure::usage("`--branch` is for bundles, and this is a replay file").hint("leave it out")
        );
    }
    let name = name_of(args, file)?;
    let now_ms = clock::now_ms()?;
    let imported = match Imported::of_long(file, &context.registry, now_ms) {
        Some(imported) => imported,
        None => Imported::of(&context.read_replay(file)?.whole()?, now_ms)
            .map_err(|error| Failure::undone(error, "nothing was imported"))?,
    };
    let Imported { rules, setup, dice, module, title, entries, state, passed, .. } = imported;
    let count = entries.count();
    let genesis = genesis(Game { rules: rules.clone(), module, setup, dice }, title)?;
    let store = match opened {
        Some(store) => store,
        None => opened.insert(context.open_or_create_store()?),
    };
    store.create_long_match(&name, &genesis, entries)?;
    passed.keep(&name, &*rules, &context.workspace, store);
    if is_only {
        // Others may write while the answer waits for its reader.
        *opened = None;
    }
    let hash = state.state_hash();
    let imported = json!({
        "file": file.display().to_string(), "match": name.as_str(), "entries": count, "state_hash": hash, "new": NEW,
    });
    context.output.answer(&imported, || {
        let new = "its id, times and links are new, because a replay file does not record them";
        vec![match_line(&name, file, count, &hash), new.into()]
    })
}

fn match_line(name: &MatchName, file: &Path, count: u64, hash: &Digest) -> Line {
    let entries = counted(count, "entry", "entries");
    let source = plain(format_args!(" from `{}`: {entries} ", file.display()));
    Line::from([plain("imported match "), strong(name), source, dim(format_args!("#{hash:.16}"))])
}

/// Imports the matches of a file of recordings (RF-18). The whole file is read and checked before anything is stored.
#[cfg(feature = "modules")]
fn import_recording(args: &Args, path: &Path, context: &mut Context) -> Result<ExitStatus> {
    let shown = path.display().to_string();
    let file = File::open(path).map_err(|error| Failure::usage(format!("cannot read `{shown}`: {error}")))?;
    let recordings = Recording::read_all(BufReader::new(file))
        .map_err(|(line, why)| Failure::usage(format!("{shown}:{line}: {why}; nothing was imported")))?;
    if recordings.is_empty() {
        return Err(Failure::usage(format!("{shown}: it is empty")));
    }
    let first = name_of(args, path)?;
    let now_ms = clock::now_ms()?;
    // Check all matches before storing any.
    let mut matches = Vec::new();
    for (index, recording) in recordings.into_iter().enumerate() {
        let name = match index {
            0 => first.clone(),
            _ => Revision::new_match_name(&format!("{first}-{}", index + 1)).map_err(Failure::usage)?,
        };
        let Recording { rules, setup, title, branches, has_end } = recording;
        let genesis = genesis(Game { rules, module: None, setup, dice: DicePolicy::Recorded }, title)?;
        for branch in &branches {
            branch.name.parse::<BranchName>()?;
        }
        matches.push((name, genesis, branches, has_end));
    }
    let store = context.open_or_create_store()?;
    for (name, ..) in &matches {
        if store.genesis(name).is_ok() {
            return Err(StoreError::AlreadyExists { match_name: name.clone() }.into());
        }
    }
    for (name, genesis, branches, has_end) in matches {
        let Some(main) = branches.first() else { continue };
        let count = main.entries.len() as u64;
        let hash = main.state_hash;
        for RecordingBranch { name: branch, begins_after, entries: moves, .. } in branches {
            let mut entries = PackedEntries::default();
            for (seat, command, at_ms) in moves {
                entries.push(&NewEntry { seat, command, recorded_at_ms: at_ms.unwrap_or(now_ms) });
            }
            if let Some(after) = begins_after {
                let entries = NewEntries { entries, module: None };
                store.create_branch(&name, &branch.parse()?, &BranchName::main(), after, entries)?;
            } else {
                store.create_long_match(&name, &genesis, entries)?;
            }
        }
        let imported = json!({
            "file": shown, "match": name.as_str(), "entries": count, "state_hash": hash, "new": NEW, "has_end": has_end,
        });
        context.output.show(&imported, || {
            let mut lines = vec![match_line(&name, path, count, &hash)];
            if !has_end {
                lines.push("no end recorded".into());
            }
            lines
        })?;
    }
    store.close()?;
    Ok(ExitStatus::Yes)
}

/// Imports a bundle into the store (TR-20a).
fn import_bundle(path: &Path, names: &ImportNames, context: &mut Context) -> Result<ExitStatus> {
    let bundle = BundleFile::read(path).map_err(|error| {
        let failure = Failure::from(error);
        let message = format!("bundle `{}`: {failure}, nothing was imported", path.display());
        Failure::new(failure.kind, message)
    })?;
    // The store is created, or its interrupted creation completed, only once the bundle has passed all checks. A
    // directory that is something else is refused then.
    let store = if let StoreAddress::Dir(dir) = &context.store {
        match Store::open(dir) {
            Ok(store) => Some(store),
            Err(StoreError::Missing { .. } | StoreError::NotAStore { .. }) => None,
            Err(error) => return Err(error.into()),
        }
    } else {
        Some(context.open_or_create_store()?)
    };
    // A bundle from someone else starts no program, not even a referee that is named for its game (RF-17).
    let registry = context.registry.clone().without_referees();
    let plan = within(MODULES_TIME, || {
        let rows = audit(&bundle, AuditQuestion::of_import(&registry))?;
        ImportPlan::of(&bundle, &rows, store.as_deref(), &registry, names)
    })?;
    // The modules that the matches need and that are missing here have to pass the laws (MD-10).
    let mut modules = Vec::new();
    let mut files = Vec::new();
    for (bundled, rules) in &plan.bundled {
        let module = bundled.digest();
        if context.modules.by_digest(&module).is_some() {
            continue;
        }
        require_folder(context)?;
        require_laws(&**rules, MODULES_TIME.as_secs(), "nothing was imported", context)?;
        modules.push(NeededModule { ruleset: rules.name().into(), version: rules.version(), module });
        files.push(bundled.file());
    }
    let store = match store {
        Some(store) => store,
        None => context.open_or_create_store()?,
    };
    for file in files {
        write_module(file, context)?;
    }
    plan.carry_out(&store)?;
    store.close()?;
    let imported = json!({
        "file": path.display().to_string(), "lines": plan.branches, "modules": modules, "not_checked": plan.not_checked,
    });
    context.output.answer(&imported, || {
        let mut lines = Vec::new();
        for NeededModule { ruleset, version, module } in &modules {
            let game = strong(format_args!("{ruleset} {version}"));
            let passed = plain(format_args!(" (module {module:.16}): all laws passed"));
            lines.push([plain("added "), game, passed].into());
        }
        lines.extend(plan.branches.iter().map(import_line));
        if let Some(left) = &plan.not_checked {
            lines.push([dim("not checked"), plain(format_args!(" rules: {left}"))].into());
        }
        lines
    })
}

pub(super) fn import_line(imported: &ImportedBranch) -> Line {
    let ImportedBranch { match_name, branch, change, added, .. } = imported;
    let added = counted(*added, "entry", "entries");
    let change = match change {
        BranchChange::UpToDate => ": already up to date".into(),
        BranchChange::Forward(head) => format!(": {added} added after entry {head}"),
        BranchChange::New(None) => format!(": imported, {added}"),
        BranchChange::New(Some((parent, at))) => format!(": imported, {added} after {parent}:{at}"),
    };
    Line::from([strong(format_args!("{match_name}@{branch}")), plain(change)])
}

fn name_of(args: &Args, file: &Path) -> Result<MatchName> {
    if let Some(name) = &args.name {
        return Ok(name.clone());
    }
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    Revision::new_match_name(&stem).map_err(|error| {
        Failure::usage(format!("no match can be named after the file: {error}"))
            .hint("give one with `--name`")
    })
}
