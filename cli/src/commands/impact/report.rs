//! Many logs folded again, counted by ruleset and grouped by what differs first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use turnfold_core::Seat;
use turnfold_replay::{Claim, Difference, Divergence, DivergenceKind, FirstDifference, Subject};

use super::finding::Finding;
use crate::failure::Failure;
use crate::output::{Line, counted, dim, plain, removed, strong, warning};
use crate::render::printable;

/// How many logs of a group are named unless all are asked for.
const SHOWN_MAX: usize = 5;

/// A ruleset's name and the version a log was recorded under.
type Recorded = (&'static str, u32);

/// Findings, sorted out.
pub(super) struct Summary<'a> {
    /// Whether the logs come from a store, which records no outcomes.
    is_of_store: bool,
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
struct SummaryDocument<'a> {
    /// What of the logs is compared: outcomes and states, or whether they are accepted.
    compared: &'static str,
    #[serde(flatten)]
    counts: Counts,
    rulesets: Vec<RulesetDocument>,
    groups: Vec<GroupDocument<'a>>,
    unreadable_logs: Vec<UnreadableDocument>,
}

#[derive(Serialize)]
struct RulesetDocument {
    ruleset: &'static str,
    version: u32,
    build_version: u32,
    #[serde(flatten)]
    counts: Counts,
}

#[derive(Serialize)]
struct GroupDocument<'a> {
    ruleset: &'static str,
    version: u32,
    cause: &'a str,
    reason: Option<&'a str>,
    rules: &'static [&'static str],
    logs: Vec<DepartureDocument<'a>>,
}

#[derive(Serialize)]
struct DepartureDocument<'a> {
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
struct UnreadableDocument {
    log: String,
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

    /// Returns the counts in words after `before`; counts of 0 are left out.
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
    pub(super) fn of(findings: &'a [Finding], is_of_store: bool) -> Self {
        let mut summary = Self {
            is_of_store,
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

    /// Returns the lines, which name every log if `all` is set.
    pub(super) fn lines(&self, all: bool) -> Vec<Line> {
        let mut lines = Vec::new();
        for ((ruleset, version), RulesetCounts { build_version, counts }) in &self.rulesets {
            let versions = if version == build_version {
                version.to_string()
            } else {
                format!("{version} → {build_version}")
            };
            lines.push(counts.line([strong(ruleset), plain(format_args!(" version {versions}: "))].into()));
        }
        let shown = if all { usize::MAX } else { SHOWN_MAX };
        lines.extend(self.groups.iter().flat_map(|group| group.lines(shown)));
        if !self.unreadable.is_empty() {
            lines.push(strong("unreadable").into());
            let failures = self.unreadable.iter().take(shown);
            lines.extend(failures.map(|(_, failure)| Line::from(format!("  {failure}"))));
            lines.extend(rest(self.unreadable.len(), shown));
        }
        lines.push(self.counts.line("in all, ".into()));
        if self.is_of_store {
            let note =
                "stored logs record no outcomes: what is compared is whether every command is accepted";
            lines.push(dim(note).into());
        }
        lines
    }
}

impl Serialize for Summary<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ruleset = |(&(ruleset, version), row): (&Recorded, &RulesetCounts)| RulesetDocument {
            ruleset,
            version,
            build_version: row.build_version,
            counts: row.counts,
        };
        let unreadable = |(finding, failure): &(&Finding, &Failure)| UnreadableDocument {
            log: finding.name.clone(),
            ruleset: finding.recorded.map(|(rules, _)| rules.name()),
            version: finding.recorded.map(|(_, version)| version),
            message: failure.to_string(),
        };
        let document = SummaryDocument {
            compared: if self.is_of_store { "acceptance" } else { "outcomes" },
            counts: self.counts,
            rulesets: self.rulesets.iter().map(ruleset).collect(),
            groups: self.groups.iter().map(Group::document).collect(),
            unreadable_logs: self.unreadable.iter().map(unreadable).collect(),
        };
        document.serialize(serializer)
    }
}

impl Group<'_> {
    fn lines(&self, shown: usize) -> Vec<Line> {
        let (ruleset, version) = self.recorded;
        let logs = counted(self.logs.len() as u64, "log", "logs");
        let rules =
            if self.rules.is_empty() { String::new() } else { format!(" [{}]", self.rules.join(", ")) };
        let heading = format_args!("{}{rules}: {logs} of {ruleset} version {version}", self.text);
        let mut lines = vec![Line::from(strong(heading))];
        let logs = self.logs.iter().take(shown);
        lines.extend(
            logs.map(|(finding, departure)| Line::from(format!("  {}: {}", finding.name, place(departure)))),
        );
        lines.extend(rest(self.logs.len(), shown));
        lines
    }

    fn document(&self) -> GroupDocument<'_> {
        GroupDocument {
            ruleset: self.recorded.0,
            version: self.recorded.1,
            cause: self.text,
            reason: self.reason,
            rules: self.rules,
            logs: self
                .logs
                .iter()
                .map(|(finding, departure)| DepartureDocument::of(finding, departure))
                .collect(),
        }
    }
}

impl<'a> DepartureDocument<'a> {
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

/// Returns how many of a list were not shown.
fn rest(all: usize, shown: usize) -> Option<Line> {
    (all > shown).then(|| dim(format_args!("  and {} more; `--all` names them", all - shown)).into())
}
