//! What came of many logs, counted by ruleset and grouped by what differs first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;
use turnfold_core::Seat;
use turnfold_replay::{Claim, Difference, Divergence, DivergenceKind, FirstDifference, Subject};

use super::finding::Finding;
use crate::failure::Failure;
use crate::output::{Output, Tone, counted, paint};
use crate::render::printable;

/// How many logs of a group are named unless all are asked for.
const SHOWN_MAX: usize = 5;

/// A ruleset's name and the version a log was recorded under.
type Recorded = (&'static str, u32);

/// Findings, sorted out.
pub(super) struct Summary<'a> {
    counts: Counts,
    rulesets: BTreeMap<Recorded, RulesetCounts>,
    /// The largest group first.
    groups: Vec<Group<'a>>,
    unreadable: Vec<(&'a Finding, &'a Failure)>,
}

#[derive(Clone, Copy, Default, Serialize)]
struct Counts {
    logs: u64,
    same: u64,
    differ: u64,
    unreadable: u64,
    entries: u64,
}

struct RulesetCounts {
    build_version: u32,
    counts: Counts,
}

/// Logs of one ruleset and version in which the same thing differs first.
struct Group<'a> {
    recorded: Recorded,
    text: &'a str,
    reason: Option<&'a str>,
    /// The ids of the rules behind the reason.
    rules: &'static [&'static str],
    logs: Vec<(&'a Finding, &'a FirstDifference)>,
}

#[derive(Serialize)]
pub(super) struct SummaryJson<'a> {
    /// What of the logs is compared: outcomes and states, or whether they are accepted.
    compared: &'static str,
    #[serde(flatten)]
    counts: Counts,
    rulesets: Vec<RulesetJson>,
    groups: Vec<GroupJson<'a>>,
    unreadable_logs: Vec<UnreadableJson<'a>>,
}

#[derive(Serialize)]
struct RulesetJson {
    ruleset: &'static str,
    version: u32,
    build_version: u32,
    #[serde(flatten)]
    counts: Counts,
}

#[derive(Serialize)]
struct GroupJson<'a> {
    ruleset: &'static str,
    version: u32,
    cause: &'a str,
    reason: Option<&'a str>,
    rules: &'static [&'static str],
    logs: Vec<DepartureJson<'a>>,
}

#[derive(Serialize)]
struct DepartureJson<'a> {
    log: &'a str,
    /// The entry, or the one before an attempt.
    seq: u64,
    attempt: bool,
    seat: Option<Seat>,
    command: Option<&'a str>,
    old: Option<String>,
    new: Option<String>,
    field: Option<&'a Difference>,
}

#[derive(Serialize)]
struct UnreadableJson<'a> {
    log: &'a str,
    ruleset: Option<&'static str>,
    version: Option<u32>,
    message: String,
}

impl Counts {
    fn add(&mut self, finding: &Finding) {
        self.logs += 1;
        self.entries += finding.entries;
        match &finding.departure {
            Ok(None) => self.same += 1,
            Ok(Some(_)) => self.differ += 1,
            Err(_) => self.unreadable += 1,
        }
    }

    /// Tells the counts in words; what is not there is left out.
    fn told(&self) -> String {
        let logs = counted(self.logs, "log folds the same", "logs fold the same");
        let mut told = format!("{} of {logs}", self.same);
        if self.differ > 0 {
            told += &paint(Tone::Removed, format_args!(", {}", counted(self.differ, "differs", "differ")));
        }
        if self.unreadable > 0 {
            told += &paint(Tone::Warning, format_args!(", {} unreadable", self.unreadable));
        }
        format!("{told} ({})", counted(self.entries, "entry", "entries"))
    }
}

impl<'a> Summary<'a> {
    pub(super) fn of(findings: &'a [Finding]) -> Self {
        let mut summary = Self {
            counts: Counts::default(),
            rulesets: BTreeMap::new(),
            groups: Vec::new(),
            unreadable: Vec::new(),
        };
        let mut groups: BTreeMap<(Recorded, &str), Group<'a>> = BTreeMap::new();
        for finding in findings {
            summary.counts.add(finding);
            if let Some((rules, version)) = finding.recorded {
                let row = RulesetCounts { build_version: rules.version(), counts: Counts::default() };
                summary.rulesets.entry((rules.name(), version)).or_insert(row).counts.add(finding);
            }
            match (&finding.departure, finding.recorded) {
                (Ok(Some(departure)), Some((rules, version))) => {
                    let recorded = (rules.name(), version);
                    let text = departure.group.as_str();
                    let reason = departure.divergence.code();
                    let rules = reason.map_or(&[][..], |reason| rules.rule_ids(reason));
                    let group = Group { recorded, text, reason, rules, logs: Vec::new() };
                    groups.entry((recorded, text)).or_insert(group).logs.push((finding, departure));
                }
                (Err(failure), _) => summary.unreadable.push((finding, failure)),
                _ => {}
            }
        }
        summary.groups = groups.into_values().collect();
        summary.groups.sort_by_key(|group| Reverse(group.logs.len()));
        summary
    }

    pub(super) fn all_same(&self) -> bool {
        self.counts.same == self.counts.logs
    }

    pub(super) fn to_json(&self, matches: bool) -> SummaryJson<'_> {
        let ruleset = |(&(ruleset, version), row): (&Recorded, &RulesetCounts)| RulesetJson {
            ruleset,
            version,
            build_version: row.build_version,
            counts: row.counts,
        };
        let unreadable = |(finding, failure): &(&'a Finding, &Failure)| UnreadableJson {
            log: &finding.name,
            ruleset: finding.recorded.map(|(rules, _)| rules.name()),
            version: finding.recorded.map(|(_, version)| version),
            message: failure.to_string(),
        };
        SummaryJson {
            compared: if matches { "acceptance" } else { "outcomes" },
            counts: self.counts,
            rulesets: self.rulesets.iter().map(ruleset).collect(),
            groups: self.groups.iter().map(Group::to_json).collect(),
            unreadable_logs: self.unreadable.iter().map(unreadable).collect(),
        }
    }

    pub(super) fn print(&self, all: bool, matches: bool, output: &mut Output) -> Result<(), Failure> {
        for ((ruleset, version), RulesetCounts { build_version, counts }) in &self.rulesets {
            let ruleset = paint(Tone::Strong, ruleset);
            let versions = if version == build_version {
                version.to_string()
            } else {
                format!("{version} → {build_version}")
            };
            output.line(format_args!("{ruleset} version {versions}: {}", counts.told()))?;
        }
        let shown = if all { usize::MAX } else { SHOWN_MAX };
        for group in &self.groups {
            group.print(shown, output)?;
        }
        if !self.unreadable.is_empty() {
            output.line(paint(Tone::Strong, "unreadable"))?;
            for (_, failure) in self.unreadable.iter().take(shown) {
                output.line(format_args!("  {failure}"))?;
            }
            print_rest(self.unreadable.len(), shown, output)?;
        }
        output.line(format_args!("in all, {}", self.counts.told()))?;
        if matches {
            let note = "stored logs tell no outcomes: what is compared is whether every command is accepted";
            output.line(paint(Tone::Dim, note))?;
        }
        Ok(())
    }
}

impl Group<'_> {
    fn print(&self, shown: usize, output: &mut Output) -> Result<(), Failure> {
        let (ruleset, version) = self.recorded;
        let logs = counted(self.logs.len() as u64, "log", "logs");
        let rules =
            if self.rules.is_empty() { String::new() } else { format!(" [{}]", self.rules.join(", ")) };
        let heading = format!("{}{rules}: {logs} of {ruleset} version {version}", self.text);
        output.line(paint(Tone::Strong, heading))?;
        for (finding, departure) in self.logs.iter().take(shown) {
            output.line(format_args!("  {}: {}", finding.name, place(departure)))?;
        }
        print_rest(self.logs.len(), shown, output)
    }

    fn to_json(&self) -> GroupJson<'_> {
        GroupJson {
            ruleset: self.recorded.0,
            version: self.recorded.1,
            cause: self.text,
            reason: self.reason,
            rules: self.rules,
            logs: self
                .logs
                .iter()
                .map(|(finding, departure)| DepartureJson::of(finding, departure))
                .collect(),
        }
    }
}

impl<'a> DepartureJson<'a> {
    fn of(finding: &'a Finding, departure: &'a FirstDifference) -> Self {
        let Divergence { subject, kind, recorded, computed, .. } = &departure.divergence;
        let (seat, command) = subject.command().unzip();
        let is_state = matches!(kind, DivergenceKind::StateHash | DivergenceKind::ClosingState);
        Self {
            log: &finding.name,
            seq: seq_of(subject),
            attempt: matches!(subject, Subject::Attempt { .. }),
            seat,
            command,
            old: recorded.as_ref().filter(|_| !is_state).map(Claim::short),
            new: (!is_state).then(|| computed.short()),
            field: departure.field.as_ref(),
        }
    }
}

/// Returns the number of the entry, or of the one before an attempt.
fn seq_of(subject: &Subject) -> u64 {
    match subject {
        Subject::Entry { seq, .. } => *seq,
        Subject::Attempt { after, .. } | Subject::End { after } => *after,
        Subject::Header { .. } => 0,
    }
}

/// Returns where a log departs, and the first field that changes there.
fn place(departure: &FirstDifference) -> String {
    let subject = &departure.divergence.subject;
    let command = subject.command();
    let command =
        command.map(|(seat, command)| format!(" ({seat} {})", printable(command))).unwrap_or_default();
    let place = if matches!(subject, Subject::Attempt { .. }) { "attempt after entry" } else { "entry" };
    let field = departure.field.as_ref().map(|field| format!(", {field}")).unwrap_or_default();
    format!("{place} {}{command}{field}", seq_of(subject))
}

/// Says how many of a list were not shown.
fn print_rest(all: usize, shown: usize, output: &mut Output) -> Result<(), Failure> {
    if all > shown {
        let rest = format!("  and {} more; `--all` names them", all - shown);
        output.line(paint(Tone::Dim, rest))?;
    }
    Ok(())
}
