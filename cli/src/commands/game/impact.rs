//! `turnfold game impact`: shows what the rules of this build change over many logs.

mod summary;

use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;
use turnfold_core::{AnyRules, Registry};
use turnfold_history::compare::RecordedLog;
use turnfold_history::golden::FoundFiles;
use turnfold_history::input::Limits;
use turnfold_history::tfl::{Replay, replay_bytes};
use turnfold_history::{Revision, Sources};
use turnfold_store::{BranchInfo, MatchInfo, StoreReader};

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
        let FoundFiles { files, unread, failed } = FoundFiles::replays(&args.paths);
        warn_of_unread(&unread);
        unsearched.extend(failed.into_iter().map(Failure::from));
        let files = with_replays(files, &mut unsearched);
        if files.is_empty() {
            return ExitStatus::Yes.unless(unsearched);
        }
        of_files(files, &piped, &registry, others.as_ref())
    };
    let port = match &others {
        Some(OtherRules::Port(port)) => Some(port),
        _ => None,
    };
    let summary = Summary::of(&findings, args.matches, port);
    context.output.show(&summary, || summary.lines(if args.all { usize::MAX } else { SHOWN_MAX }))?;
    let mut troubled = 0;
    for finding in &findings {
        if let Err(failure) = &finding.first_difference
            && failure.kind == FailureKind::Trouble
        {
            troubled += 1;
        }
    }
    if troubled > 0 {
        let logs = counted(troubled, "log", "logs");
        unsearched.push(Failure::trouble(format!("{logs} could not be read")));
    }
    context.output.flush()?;
    ExitStatus::from(summary.counts.same == summary.counts.logs).unless(unsearched)
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
            return Ok(Some(Self::Given(module_of(module, context)?)));
        }
        let Some(given) = &args.rules else { return Ok(None) };
        let Some(name) = given.strip_prefix("referee:") else {
            return Ok(Some(Self::Given(find(given, context)?)));
        };
        if context.registry.find(name).is_none() {
            let name = name.escape_debug();
            let message = format!("no game `{name}` is built in, so there is nothing to compare with");
            return Err(Failure::usage(message).hint("`turnfold game list` lists the games"));
        }
        let referees = context.registry.referees().ok_or_else(|| no_referee(name))?;
        match referees.by_name(name) {
            Ok(Some(port)) => Ok(Some(Self::Port(port))),
            Ok(None) => Err(no_referee(name)),
            Err(why) => Err(Failure::usage(format!("the referee of `{name}`: {why}"))),
        }
    }

    fn fold(others: Option<&Self>, mut log: RecordedLog) -> RecordedLog {
        match others {
            Some(Self::Given(rules)) if rules.name() == log.rules.name() => log.rules = rules.clone(),
            Some(Self::Port(port)) if port.name() == log.rules.name() => log.port = Some(port.clone()),
            _ => {}
        }
        log
    }
}

fn of_files(
    files: Vec<PathBuf>,
    piped: &[u8],
    registry: &Registry,
    others: Option<&OtherRules>,
) -> Vec<ImpactFinding> {
    let logs = files.into_iter().map(|path| (input_name(&path).into_owned(), path)).collect();
    in_parallel(logs, |name, path| {
        let bytes = if is_standard(&path) { piped.to_vec() } else { Limits::REPLAY.read_file(&path)? };
        let bytes = replay_bytes(&path, bytes)?;
        let replay = Replay::read_any_version(name, &bytes, registry)?;
        Ok(OtherRules::fold(others, RecordedLog::of_replay(&replay, registry)))
    })
}

fn of_store(
    store: &StoreReader,
    registry: &Registry,
    others: Option<&OtherRules>,
) -> Result<Vec<ImpactFinding>, Failure> {
    let mut branches = Vec::new();
    for MatchInfo { name: match_name, .. } in store.matches()? {
        match store.branches(&match_name) {
            Ok(found) => {
                for BranchInfo { name: branch, .. } in found {
                    let branch = Revision { match_name: match_name.clone(), branch, seq: None };
                    branches.push((branch.to_string(), Ok(branch)));
                }
            }
            Err(error) => branches.push((match_name.to_string(), Err(Failure::from(error)))),
        }
    }
    if branches.is_empty() {
        return Err(Failure::usage("the store holds no matches").hint("nothing was folded"));
    }
    Ok(in_parallel(branches, |_, branch| {
        let branch = branch?;
        let log = store.read(&branch.match_name, &branch.branch, None)?;
        match others {
            Some(OtherRules::Given(rules)) if rules.name() == log.genesis.ruleset => {
                Ok(RecordedLog::under(rules.clone(), &branch, log, registry)?)
            }
            others => Ok(OtherRules::fold(others, RecordedLog::of_store(&branch, log, registry)?)),
        }
    }))
}

fn in_parallel<T: Send>(
    logs: Vec<(String, T)>,
    read: impl Fn(&str, T) -> Result<RecordedLog, Failure> + Sync,
) -> Vec<ImpactFinding> {
    let progress = stderr::progress(logs.len() as u64, "folding {bar:30} {pos}/{len} {eta}");
    let findings = logs.into_par_iter().map(|(name, log)| {
        let found = unless_fault(&name, || Ok(ImpactFinding::of(read(&name, log)?)));
        progress.inc(1);
        found.unwrap_or_else(|failure| ImpactFinding::unreadable(name, failure))
    });
    let findings = findings.collect();
    progress.finish_and_clear();
    findings
}
