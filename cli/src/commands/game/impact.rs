//! `turnfold game impact`: shows what the rules of this build change over many logs.

mod summary;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use turnfold_core::{AnyRules, Registry};
use turnfold_history::error::input;
use turnfold_history::error::limits::REPLAY;
use turnfold_history::golden::found::{self, FoundFiles};
use turnfold_history::tfl::in_page::replay_bytes;
use turnfold_history::{RecordedLog, Replay, ReplayError, Revision, Sources, tfl};
use turnfold_store::StoreReader;

use self::summary::{ImpactFinding, Summary};
use super::module_of;
use crate::commands::new::{find, no_referee};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure, FailureKind, unless_fault};
use crate::files::{input_name, is_standard, with_replays};
use crate::output::counted;
use crate::sources::{read_piped, warn_of_unread};
use crate::stderr;

/// The most logs of a group that are named without `--all`.
const SHOWN_MAX: usize = 5;

/// Show what the rules of this build change over a corpus of logs
///
/// Folds every log again, in parallel, and counts for each ruleset and version how many give the same result. The others
/// are grouped by the first difference. Run it before a changed ruleset is released.
///
/// Logs of another version of a ruleset, which every other verb refuses, are folded by the rules of this build as far as
/// their setup and commands can be read. Files are compared by outcomes first. If all outcomes are the same, state hashes
/// are compared as the recorded version makes them, so they also differ if only the layout of the state does. What a file
/// does not record is not compared.
///
/// Stored logs record no outcomes. With `--matches`, a log counts as the same if every command is still accepted and every
/// seeded roll is right. If this program also has the version under which a match was recorded, it computes the outcomes by
/// that version and compares them.
///
/// With `--module`, a module gives the rules: fold your logs by the next version of a game before you release it.
///
/// With `--rules referee:NAME`, a referee that claims to be the same game as NAME of this build is compared with it, log by
/// log: what it refuses, and the first outcome, effect or view that differs. Hashes are left out, since a referee encodes its
/// states differently. No other referee plays then.
///
/// Exits with 1 if any log differs or cannot be read.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples: turnfold game impact\n          turnfold game impact replays bug-reports --all\n          \
                        turnfold --format json game impact --matches\n          turnfold game impact replays/lifecycle --rules \
                        referee:lifecycle --referee 'lifecycle=node port.mjs'"
)]
pub(crate) struct Args {
    /// Replay files, or folders to search for `*.tfl`
    #[arg(value_name = "PATH", default_value = "replays", conflicts_with = "matches")]
    paths: Vec<PathBuf>,

    /// Look at every branch of every match in the store instead
    #[arg(long)]
    matches: bool,

    /// Fold logs of this ruleset by its newest version, or by `referee:NAME`, the referee of that game
    #[arg(long, value_name = "NAME")]
    rules: Option<String>,

    /// Fold logs of its ruleset by this module
    #[arg(long, value_name = "FILE|DIGEST", conflicts_with = "rules")]
    module: Option<PathBuf>,

    /// Name every log of a group, not only the first few
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let others = OtherRules::find(args, context)?;
    // A port has the name of a built-in game, so it never enters the registry (RF-4).
    let registry = match &others {
        Some(OtherRules::Port(_)) => context.registry.clone().without_referees(),
        _ => context.registry.clone(),
    };
    let mut unsearched = Vec::new();
    let findings = if args.matches {
        of_store(&context.read_store()?, &registry, others.as_ref())?
    } else {
        let piped = read_piped(&args.paths)?;
        let FoundFiles { files, unread, failed } = found::replays(&args.paths);
        warn_of_unread(&unread);
        let (files, without) = with_replays(files);
        unsearched.extend(failed.into_iter().map(Failure::from).chain(without));
        if files.is_empty() {
            return Failure::worst_of(unsearched).map_or(Ok(ExitStatus::Yes), Err);
        }
        of_files(files, &piped, &registry, others.as_ref())
    };
    let summary = Summary::of(&findings, args.matches, others.as_ref().and_then(OtherRules::port));
    context.output.show(&summary, || summary.lines(if args.all { usize::MAX } else { SHOWN_MAX }))?;
    let is_trouble = |finding: &&ImpactFinding| {
        finding.first_difference.as_ref().is_err_and(|failure| failure.kind == FailureKind::Trouble)
    };
    let troubled = findings.iter().filter(is_trouble).count() as u64;
    if troubled > 0 {
        let logs = counted(troubled, "log", "logs");
        unsearched.push(Failure::trouble(format!("{logs} could not be read")));
    }
    if let Some(failure) = Failure::worst_of(unsearched) {
        context.output.flush()?;
        return Err(failure);
    }
    Ok(ExitStatus::from(summary.counts.same == summary.counts.logs))
}

/// The rules that the options name for the logs of their ruleset.
enum OtherRules {
    /// Rules that replace those under which the log was recorded.
    Given(Arc<dyn AnyRules>),
    /// A referee that claims to be the same game, which is compared with the rules of this build (RF-20).
    Port(Arc<dyn AnyRules>),
}

impl OtherRules {
    fn find(args: &Args, context: &Context) -> Result<Option<Self>, Failure> {
        if let Some(module) = &args.module {
            return module_of(module, context).map(|rules| Some(Self::Given(rules)));
        }
        let Some(given) = &args.rules else { return Ok(None) };
        let Some(name) = given.strip_prefix("referee:") else {
            return find(given, context).map(|rules| Some(Self::Given(rules)));
        };
        if context.registry.find(name).is_none() {
            let name = name.escape_debug();
            return Err(Failure::usage(format!(
                "no game `{name}` is built in, so there is nothing to compare with"
            ))
            .hint("`turnfold game list` lists the games"));
        }
        let referees = context.registry.referees().ok_or_else(|| no_referee(name))?;
        let found = referees.by_name(name);
        let found = found.map_err(|why| Failure::usage(format!("the referee of `{name}`: {why}")))?;
        found.map(|port| Some(Self::Port(port))).ok_or_else(|| no_referee(name))
    }

    fn port(&self) -> Option<&Arc<dyn AnyRules>> {
        if let Self::Port(rules) = self { Some(rules) } else { None }
    }

    /// Applies these rules to a log, if it is of their ruleset.
    fn fold(others: Option<&Self>, mut log: RecordedLog) -> RecordedLog {
        match others {
            Some(Self::Given(rules)) if rules.name() == log.rules.name() => log.rules = rules.clone(),
            Some(Self::Port(port)) if port.name() == log.rules.name() => log.port = Some(port.clone()),
            _ => {}
        }
        log
    }
}

/// Folds replay files in parallel. The findings are in the order of the files.
fn of_files(
    files: Vec<PathBuf>,
    piped: &[u8],
    registry: &Registry,
    others: Option<&OtherRules>,
) -> Vec<ImpactFinding> {
    in_parallel(files, |path| {
        let name = input_name(&path).into_owned();
        let fold = || {
            let log = RecordedLog::of_replay(&read(&path, piped, registry)?, registry);
            Ok(ImpactFinding::of(OtherRules::fold(others, log)))
        };
        unless_fault(&name, fold).unwrap_or_else(|failure| ImpactFinding::unreadable(name, failure))
    })
}

fn read(path: &Path, piped: &[u8], registry: &Registry) -> Result<Replay, Failure> {
    let bytes = if is_standard(path) { piped.to_vec() } else { input::read_file(path, &REPLAY)? };
    let bytes = replay_bytes(path, bytes).map_err(ReplayError::from)?;
    Ok(tfl::read_any_version(&input_name(path), &bytes, registry)?)
}

/// Folds every branch of every match in parallel.
fn of_store(
    store: &StoreReader,
    registry: &Registry,
    others: Option<&OtherRules>,
) -> Result<Vec<ImpactFinding>, Failure> {
    let mut branches = Vec::new();
    for found in store.matches()? {
        let match_name = found.name;
        match store.branches(&match_name) {
            Ok(found) => branches.extend(found.into_iter().map(|branch| {
                Ok(Revision { match_name: match_name.clone(), branch: branch.name, seq: None })
            })),
            Err(error) => {
                branches.push(Err((match_name.to_string(), Failure::from(error))));
            }
        }
    }
    if branches.is_empty() {
        return Err(Failure::usage("the store holds no matches").hint("nothing was folded"));
    }
    Ok(in_parallel(branches, |branch| match branch {
        Ok(branch) => {
            let name = branch.to_string();
            let fold = || {
                let log = store.read(&branch.match_name, &branch.branch, None)?;
                Ok(ImpactFinding::of(match others {
                    Some(OtherRules::Given(rules)) if rules.name() == log.genesis.ruleset => {
                        RecordedLog::under(rules.clone(), &branch, log, registry)?
                    }
                    others => OtherRules::fold(others, RecordedLog::of_store(&branch, log, registry)?),
                }))
            };
            unless_fault(&name, fold).unwrap_or_else(|failure| ImpactFinding::unreadable(name, failure))
        }
        Err((name, failure)) => ImpactFinding::unreadable(name, failure),
    }))
}

/// Examines logs in parallel and shows a progress bar.
fn in_parallel<T: Send>(logs: Vec<T>, look: impl Fn(T) -> ImpactFinding + Sync) -> Vec<ImpactFinding> {
    let progress = stderr::progress(logs.len() as u64, "folding {bar:30} {pos}/{len} {eta}");
    let look = |log| {
        let finding = look(log);
        progress.inc(1);
        finding
    };
    let findings = logs.into_par_iter().map(look).collect();
    progress.finish_and_clear();
    findings
}
