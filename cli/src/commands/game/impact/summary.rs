//! The logs that `game impact` folds again, counted by ruleset and grouped by their first difference.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use turnfold_core::{AnyRules, Seat};
use turnfold_history::compare::{Claim, Difference, DivergenceKind, FirstDifference, RecordedLog, Subject};

use crate::failure::Failure;
use crate::output::{Line, counted, dim, plain, removed, strong, warning};
use crate::render::printable;

pub(super) struct ImpactFinding {
    name: String,
    recorded: Option<(Arc<dyn AnyRules>, u32)>,
    entries: u64,
    has_outcomes: bool,
    pub(super) first_difference: Result<Option<FirstDifference>, Failure>,
}

impl ImpactFinding {
    pub(super) fn unreadable(name: String, failure: Failure) -> Self {
        Self { name, recorded: None, entries: 0, has_outcomes: false, first_difference: Err(failure) }
    }

    pub(super) fn of(log: RecordedLog) -> Self {
        let entries = log.entries();
        let recorded = Some((log.rules.clone(), log.version));
        let has_outcomes = log.has_outcomes();
        let first_difference = log.first_difference().map_err(Failure::from);
        Self { entries, has_outcomes, recorded, first_difference, name: log.name }
    }
}

#[derive(Serialize)]
pub(super) struct Summary<'a> {
    /// What is compared: `outcomes` of files, `acceptance` of stored commands, or `port` for a port with this build.
    compared: &'a str,
    /// The command of the port (RF-20).
    #[serde(skip_serializing_if = "Option::is_none")]
    referee: Option<String>,
    /// Whether the outcomes of some stored log were computed by the version that recorded it.
    #[serde(skip)]
    computes_outcomes: bool,
    #[serde(flatten)]
    pub(super) counts: ImpactCounts,
    rulesets: Vec<RulesetCounts<'a>>,
    /// Sorted by size, the largest first.
    groups: Vec<Group<'a>>,
    unreadable_logs: Vec<UnreadableLog<'a>>,
}

#[derive(Clone, Copy, Default, Serialize)]
pub(super) struct ImpactCounts {
    pub(super) logs: u64,
    pub(super) same: u64,
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
    pub(super) fn of(
        findings: &'a [ImpactFinding],
        is_of_store: bool,
        port: Option<&Arc<dyn AnyRules>>,
    ) -> Self {
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
        let compared = if port.is_some() {
            "port"
        } else if is_of_store {
            "acceptance"
        } else {
            "outcomes"
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

    pub(super) fn lines(&self, shown: usize) -> Vec<Line> {
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
    fn of(log: &'a str, FirstDifference { divergence, field, .. }: &'a FirstDifference) -> Self {
        let (seat, command) = divergence.subject.command().unzip();
        let seq = match &divergence.subject {
            Subject::Entry { seq, .. } => *seq,
            Subject::Attempt { after, .. } | Subject::End { after } => *after,
            Subject::Header { .. } => 0,
        };
        let is_state = matches!(
            divergence.kind,
            DivergenceKind::StateHash | DivergenceKind::ClosingState | DivergenceKind::View
        );
        Self {
            log,
            seq,
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
