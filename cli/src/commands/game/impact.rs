//! `turnfold game impact`: shows what the rules of this build change over many logs.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;
use turnfold_core::{AnyRules, Registry, Seat};
use turnfold_history::compare::{Claim, Difference, DivergenceKind, FirstDifference, RecordedLog, Subject};
use turnfold_history::golden::FoundFiles;
use turnfold_history::input::Limits;
use turnfold_history::tfl::{Replay, replay_bytes};
use turnfold_history::{Revision, Sources};
use turnfold_store::{BranchInfo, MatchInfo, StoreReader};

use super::{find_module, read};
use crate::commands::new::{find, no_referee};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure, FailureKind, Result, unless_fault};
use crate::files::{input_name, is_standard, with_replays};
use crate::output::{Line, counted, dim, plain, printable, removed, strong, warning};
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

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let others = OtherRules::find(args, context)?;
    // A port has the name of a built-in game, so it never enters the registry (RF-4).
    let mut registry = context.registry.clone();
    if others.port.is_some() {
        registry = registry.without_referees();
    }
    let mut unsearched = Vec::new();
    let findings = if args.matches {
        of_store(&context.read_store()?, &registry, &others)?
    } else {
        let piped = read_piped(&args.paths)?;
        let FoundFiles { files, unread, failed } = FoundFiles::replays(&args.paths);
        warn_of_unread(&unread);
        unsearched.extend(failed.into_iter().map(Failure::from));
        let files = with_replays(files, &mut unsearched);
        if files.is_empty() {
            return ExitStatus::Yes.unless(unsearched);
        }
        let logs = files.into_iter().map(|path| (input_name(&path).into_owned(), path)).collect();
        in_parallel(logs, |name, path| {
            let bytes = if is_standard(&path) { piped.clone() } else { Limits::REPLAY.read_file(&path)? };
            let bytes = replay_bytes(&path, bytes)?;
            let replay = Replay::read_any_version(name, &bytes, &registry)?;
            Ok(others.of_log(RecordedLog::of_replay(&replay, &registry)))
        })
    };
    let summary = Summary::of(&findings, args.matches, others.port.as_ref());
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
#[derive(Default)]
struct OtherRules {
    /// Rules that replace those under which the log was recorded.
    given: Option<Arc<dyn AnyRules>>,
    /// A referee that claims to be the same game, which is compared with the rules of this build (RF-20).
    port: Option<Arc<dyn AnyRules>>,
}

impl OtherRules {
    fn find(args: &Args, context: &Context) -> Result<Self> {
        if let Some(module) = &args.module {
            let given = match module.to_string_lossy().parse() {
                Ok(digest) => find_module(&digest, context)?,
                Err(_) => read(module)?.1,
            };
            return Ok(Self { given: Some(given), port: None });
        }
        let Some(given) = &args.rules else { return Ok(Self::default()) };
        let Some(name) = given.strip_prefix("referee:") else {
            return Ok(Self { given: Some(find(given, context)?), port: None });
        };
        if context.registry.find(name).is_none() {
            let name = name.escape_debug();
            let message = format!("no game `{name}` is built in, so there is nothing to compare with");
            return Err(Failure::usage(message).hint("`turnfold game list` lists the games"));
        }
        let referees = context.registry.referees().ok_or_else(|| no_referee(name))?;
        match referees.by_name(name) {
            Ok(Some(port)) => Ok(Self { given: None, port: Some(port) }),
            Ok(None) => Err(no_referee(name)),
            Err(why) => Err(Failure::usage(format!("the referee of `{name}`: {why}"))),
        }
    }

    fn given_for(&self, ruleset: &str) -> Option<Arc<dyn AnyRules>> {
        self.given.clone().filter(|rules| rules.name() == ruleset)
    }

    fn of_log(&self, mut log: RecordedLog) -> RecordedLog {
        if let Some(rules) = self.given_for(log.rules.name()) {
            log.rules = rules;
        }
        if let Some(port) = &self.port
            && port.name() == log.rules.name()
        {
            log.port = Some(port.clone());
        }
        log
    }
}

fn of_store(store: &StoreReader, registry: &Registry, others: &OtherRules) -> Result<Vec<ImpactFinding>> {
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
        let rules = others.given_for(&log.genesis.ruleset);
        Ok(others.of_log(RecordedLog::of_store(&branch, log, rules, registry)?))
    }))
}

fn in_parallel<T: Send>(
    logs: Vec<(String, T)>,
    read: impl Fn(&str, T) -> Result<RecordedLog> + Sync,
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

struct ImpactFinding {
    name: String,
    recorded: Option<(Arc<dyn AnyRules>, u32)>,
    entries: u64,
    has_outcomes: bool,
    first_difference: Result<Option<FirstDifference>>,
}

impl ImpactFinding {
    fn unreadable(name: String, failure: Failure) -> Self {
        Self { name, recorded: None, entries: 0, has_outcomes: false, first_difference: Err(failure) }
    }

    fn of(log: RecordedLog) -> Self {
        let entries = log.entries();
        let recorded = Some((log.rules.clone(), log.version));
        let has_outcomes = log.has_outcomes();
        let first_difference = log.first_difference().map_err(Failure::from);
        Self { entries, has_outcomes, recorded, first_difference, name: log.name }
    }
}

#[derive(Serialize)]
struct Summary<'a> {
    /// What is compared: `outcomes` of files, `acceptance` of stored commands, or `port` for a port with this build.
    compared: &'a str,
    /// The command of the port (RF-20).
    #[serde(skip_serializing_if = "Option::is_none")]
    referee: Option<String>,
    /// Whether the outcomes of some stored log were computed by the version that recorded it.
    #[serde(skip)]
    computes_outcomes: bool,
    #[serde(flatten)]
    counts: ImpactCounts,
    rulesets: Vec<RulesetCounts<'a>>,
    /// Sorted by size, the largest first.
    groups: Vec<Group<'a>>,
    unreadable_logs: Vec<UnreadableLog<'a>>,
}

#[derive(Clone, Copy, Default, Serialize)]
struct ImpactCounts {
    logs: u64,
    same: u64,
    differ: u64,
    unreadable: u64,
    entries: u64,
}

#[derive(Serialize)]
struct RulesetCounts<'a> {
    ruleset: &'a str,
    version: u32,
    build_version: u32,
    #[serde(flatten)]
    counts: ImpactCounts,
}

#[derive(Serialize)]
struct Group<'a> {
    ruleset: &'a str,
    version: u32,
    cause: &'a str,
    reason: Option<&'a str>,
    rules: Vec<&'a str>,
    logs: Vec<DifferingLog<'a>>,
}

#[derive(Serialize)]
struct DifferingLog<'a> {
    log: &'a str,
    /// The seq of the entry, or of the entry before an attempt.
    seq: u64,
    attempt: bool,
    seat: Option<Seat>,
    command: Option<&'a str>,
    old: Option<String>,
    new: Option<String>,
    field: Option<&'a Difference>,
    /// The first effects that differ, recorded and computed, if nothing but effects differs.
    #[serde(skip)]
    effects: Option<(String, String)>,
}

#[derive(Serialize)]
struct UnreadableLog<'a> {
    log: &'a str,
    ruleset: Option<&'a str>,
    version: Option<u32>,
    message: String,
}

impl ImpactCounts {
    fn add(&mut self, finding: &ImpactFinding) {
        self.logs += 1;
        self.entries += finding.entries;
        match &finding.first_difference {
            Ok(None) => self.same += 1,
            Ok(Some(_)) => self.differ += 1,
            Err(_) => self.unreadable += 1,
        }
    }

    fn line(&self, before: Line) -> Line {
        let logs = counted(self.logs, "log folds the same", "logs fold the same");
        let mut line = before.then(plain(format_args!("{} of {logs}", self.same)));
        if self.differ > 0 {
            line = line.then(removed(format_args!(", {}", counted(self.differ, "differs", "differ"))));
        }
        if self.unreadable > 0 {
            line = line.then(warning(format_args!(", {} unreadable", self.unreadable)));
        }
        line.then(plain(format_args!(" ({})", counted(self.entries, "entry", "entries"))))
    }
}

impl<'a> Summary<'a> {
    fn of(findings: &'a [ImpactFinding], is_of_store: bool, port: Option<&Arc<dyn AnyRules>>) -> Self {
        let mut counts = ImpactCounts::default();
        let mut rulesets = BTreeMap::new();
        let mut groups = BTreeMap::new();
        let mut unreadable_logs = Vec::new();
        for finding in findings {
            counts.add(finding);
            let log = finding.name.as_str();
            let recorded = finding.recorded.as_ref();
            if let Some((rules, version)) = recorded {
                let (ruleset, version) = (rules.name(), *version);
                let counts = ImpactCounts::default();
                let row = RulesetCounts { ruleset, version, build_version: rules.version(), counts };
                rulesets.entry((ruleset, version)).or_insert(row).counts.add(finding);
                if let Ok(Some(first_difference)) = &finding.first_difference {
                    let cause = first_difference.group.as_str();
                    let reason = first_difference.divergence.code();
                    let rules = reason.map(|reason| rules.rule_ids(reason)).unwrap_or_default();
                    let group = Group { ruleset, version, cause, reason, rules, logs: Vec::new() };
                    let group = groups.entry((ruleset, version, cause)).or_insert(group);
                    group.logs.push(DifferingLog::of(log, first_difference));
                }
            }
            if let Err(failure) = &finding.first_difference {
                let ruleset = recorded.map(|(rules, _)| rules.name());
                let version = recorded.map(|(_, version)| *version);
                unreadable_logs.push(UnreadableLog { log, ruleset, version, message: failure.to_string() });
            }
        }
        let compared = match port {
            Some(_) => "port",
            None if is_of_store => "acceptance",
            None => "outcomes",
        };
        let mut groups: Vec<Group<'_>> = groups.into_values().collect();
        groups.sort_by_key(|group| Reverse(group.logs.len()));
        let computes_outcomes = findings.iter().any(|finding| finding.has_outcomes);
        Self {
            compared,
            referee: port.and_then(|port| port.referee()),
            computes_outcomes,
            counts,
            rulesets: rulesets.into_values().collect(),
            groups,
            unreadable_logs,
        }
    }

    fn lines(&self, shown: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        for RulesetCounts { ruleset, version, build_version, counts } in &self.rulesets {
            let changed =
                if version == build_version { String::new() } else { format!(" → {build_version}") };
            let versions = plain(format_args!(" version {version}{changed}: "));
            lines.push(counts.line([strong(ruleset), versions].into()));
        }
        for Group { ruleset, version, cause, rules, logs, .. } in &self.groups {
            let rules = if rules.is_empty() { String::new() } else { format!(" [{}]", rules.join(", ")) };
            let count = counted(logs.len() as u64, "log", "logs");
            lines.push(strong(format_args!("{cause}{rules}: {count} of {ruleset} version {version}")).into());
            lines.extend(logs.iter().take(shown).map(DifferingLog::line));
            lines.extend(rest(logs.len(), shown));
        }
        if !self.unreadable_logs.is_empty() {
            lines.push(strong("unreadable").into());
            for log in self.unreadable_logs.iter().take(shown) {
                lines.push(format!("  {}", log.message).into());
            }
            lines.extend(rest(self.unreadable_logs.len(), shown));
        }
        lines.push(self.counts.line("in all, ".into()));
        if self.compared == "acceptance" {
            let mut note = "stored logs record no outcomes: ".to_owned();
            if self.computes_outcomes {
                note += "they are computed where this build has the recorded version; else ";
            }
            lines.push(dim(note + "what is compared is whether every command is accepted").into());
        }
        if let Some(referee) = &self.referee {
            let compared = "outcomes, effects and views are compared, hashes are not";
            lines.push(dim(format_args!("the port is the referee `{referee}`; {compared}")).into());
        }
        lines
    }
}

fn rest(all: usize, shown: usize) -> Option<Line> {
    let more = all.checked_sub(shown).filter(|more| *more > 0)?;
    Some(dim(format_args!("  and {more} more; `--all` names them")).into())
}

impl<'a> DifferingLog<'a> {
    fn of(log: &'a str, first_difference: &'a FirstDifference) -> Self {
        let FirstDifference { seq, divergence, field, .. } = first_difference;
        let (seat, command) = divergence.subject.command().unzip();
        let is_state = matches!(
            divergence.kind,
            DivergenceKind::StateHash | DivergenceKind::ClosingState | DivergenceKind::View
        );
        Self {
            log,
            seq: *seq,
            attempt: matches!(divergence.subject, Subject::Attempt { .. }),
            seat,
            command,
            old: divergence.recorded.as_ref().filter(|_| !is_state).map(Claim::short),
            new: (!is_state).then(|| divergence.computed.short()),
            field: field.as_ref(),
            effects: divergence.changed_effects(),
        }
    }

    fn line(&self) -> Line {
        let Self { log, seq, .. } = self;
        let place = if self.attempt { "attempt after entry" } else { "entry" };
        let mut line = format!("  {log}: {place} {seq}");
        if let (Some(seat), Some(command)) = (self.seat, self.command) {
            line = format!("{line} ({seat} {})", printable(command));
        }
        if let Some(field) = self.field {
            line = format!("{line}, {field}");
        } else if let Some((old, new)) = &self.effects {
            line = format!("{line}, {} → {}", printable(old), printable(new));
        }
        line.into()
    }
}
