//! `turnfold verify`: the audit of stored matches, of histories and of replay files.

use std::str::FromStr;

use serde::Serialize;
use turnfold_core::Digest;
use turnfold_replay::{
    FileName, Finding, FindingKind, History, LeftToCheck, Mismatch, QuotedLink, Revision, SourceName,
    Sources, Verification, VerifiedBranch, golden::check::check_replay, golden::verify::verify,
};
use turnfold_store::{BranchName, MatchName, NEXT_STEP, StoreError};

use self::quoted::print_quoted;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Line, Report, added, counted, dim, plain, removed};
use crate::render::printable;

mod quoted;

/// Audit matches and replay files: chain, decoding, rules, dice
///
/// Recomputes every link and every seeded roll, and decodes and folds every command again. A match is verified with all
/// its branches and everything else that the store keeps for it, a revision up to its entry. In a replay file, every
/// outcome and hash must be what the rules compute, and the header the one that was blessed. Of fair dice, only count
/// and range are checked: `audit` recomputes their values, given the desk. Exits with 1 if a log disagrees with its
/// rules, with 3 if the store is damaged.
///
/// A link covers the setup and all entries before it, with their times and keys. So two people who have the same match
/// can compare it by telephone: one reads out a link from `verify` or `log --links` with its entry, the other runs
/// `verify --expect`. If the logs differ, it exits with 1 and names the first entry that differs, or a range that
/// contains it and the link to ask for next. An imported match has links of its own.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold verify duel\n  turnfold verify duel@flank:12 duel.tfl\n  \
    turnfold verify duel --expect 9c41d2aa01b3c4d5@12")]
pub(crate) struct Args {
    /// Matches, revisions such as `duel@flank:12`, and replay files [default: all matches]
    #[arg(value_name = "MATCH|REV|FILE")]
    targets: Vec<VerifyTarget>,

    /// Require this link, or at least 16 digits of it, after an entry of the one revision; may be repeated
    #[arg(long, value_name = "LINK@SEQ", requires = "targets")]
    expect: Vec<QuotedLink>,
}

/// What is to be audited.
#[derive(Clone, Debug)]
enum VerifyTarget {
    /// All of a match.
    Match(MatchName),
    /// A branch up to an entry.
    Line(Revision),
    File(FileName),
}

impl FromStr for VerifyTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse()? {
            SourceName::Revision(revision) if !text.contains(['@', ':']) => {
                Ok(Self::Match(revision.match_name))
            }
            SourceName::Revision(revision) => Ok(Self::Line(revision)),
            SourceName::File(FileName { seq: Some(_), .. }) => {
                Err(format!("expected a whole replay file, found `{text}`"))
            }
            SourceName::File(file) => Ok(Self::File(file)),
        }
    }
}

impl Args {
    /// Returns the one history whose links are compared.
    fn line_compared(&self) -> Result<Option<Revision>, Failure> {
        match self.targets.as_slice() {
            _ if self.expect.is_empty() => Ok(None),
            [VerifyTarget::Line(line)] => Ok(Some(line.clone())),
            [VerifyTarget::Match(name)] => {
                Ok(Some(Revision { match_name: name.clone(), branch: BranchName::main(), seq: None }))
            }
            [VerifyTarget::File(_)] => Err(Failure::usage("a replay file has no links to compare")
                .hint("`turnfold log FILE` prints state hashes, which two people can compare")),
            _ => Err(Failure::usage("links can be compared with one revision only, found several")),
        }
    }
}

/// A match that was verified, or the store as a whole.
#[derive(Serialize)]
struct VerifiedMatch<'a> {
    #[serde(rename = "match")]
    /// `null` for the store as a whole.
    match_name: Option<&'a str>,
    ok: bool,
    #[serde(flatten)]
    found: &'a Verification,
}

impl<'a> VerifiedMatch<'a> {
    fn new(match_name: Option<&'a MatchName>, found: &'a Verification) -> Self {
        Self { match_name: match_name.map(MatchName::as_str), ok: found.findings.is_empty(), found }
    }
}

impl Report for VerifiedMatch<'_> {
    fn lines(&self) -> Vec<Line> {
        let name = self.match_name.unwrap_or("the store");
        let branches = self.found.branches.iter().map(|branch| {
            let VerifiedBranch { branch, entries, link, state_hash } = branch;
            let entries = counted(*entries, "entry", "entries");
            let place = plain(format_args!(" {name}@{branch}: {entries} "));
            Line::from([added("ok"), place, dim(format_args!("state {state_hash:.16} link {link:.16}"))])
        });
        let findings = self.found.findings.iter().map(|finding| {
            let branch = finding.branch.as_ref().map(|branch| format!("@{branch}")).unwrap_or_default();
            let seq = finding.seq.map(|seq| format!(":{seq}")).unwrap_or_default();
            let message = plain(format_args!(" {name}{branch}{seq}: {}", finding.message));
            Line::from([removed(finding.kind), message])
        });
        branches.chain(findings).chain(self.found.left.map(|left| left_line(name, left))).collect()
    }
}

/// Returns the line about what another check is left with.
fn left_line(name: &str, left: LeftToCheck) -> Line {
    [dim("dice"), plain(format_args!(" {name}: {}", left.text()))].into()
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let compared = args.line_compared()?;
    let mut answers = Vec::new();
    if args.targets.is_empty() {
        answers.push(verify_matches(None, context)?);
    }
    for target in &args.targets {
        answers.push(match target {
            // The line whose links are expected is all that is asked about.
            VerifyTarget::Match(_) | VerifyTarget::Line(_) if compared.is_some() => ExitStatus::Yes,
            VerifyTarget::Match(name) => verify_matches(Some(name), context)?,
            VerifyTarget::Line(line) => verify_line(line, context)?,
            VerifyTarget::File(file) => verify_file(file, context)?,
        });
    }
    if let Some(line) = compared {
        answers.extend([verify_line(&line, context)?, print_quoted(&line, &args.expect, context)?]);
    }
    Ok(if answers.contains(&ExitStatus::No) { ExitStatus::No } else { ExitStatus::Yes })
}

/// Audits a match, or all of the store.
fn verify_matches(name: Option<&MatchName>, context: &mut Context) -> Result<ExitStatus, Failure> {
    let store = context.read_store()?;
    let matches: Box<dyn Iterator<Item = Result<MatchName, StoreError>>> = match name {
        None => Box::new(store.matches_after(None)?.map(|info| info.map(|info| info.name))),
        Some(name) => Box::new([Ok(name.clone())].into_iter()),
    };
    let (mut disagreeing, mut damaged) = (0, 0);
    if let Some(damage) = store.check_watermark()? {
        damaged += 1;
        let found = Verification { findings: vec![Finding::from(damage)], ..Verification::default() };
        context.output.report(&VerifiedMatch::new(None, &found))?;
    }
    for match_name in matches {
        let match_name = &match_name?;
        let verification = verify(&store, match_name, &context.registry)?;
        for finding in &verification.findings {
            if finding.kind == FindingKind::Damaged { damaged += 1 } else { disagreeing += 1 }
        }
        context.output.report(&VerifiedMatch::new(Some(match_name), &verification))?;
    }
    if damaged > 0 {
        context.output.flush()?;
        let findings = counted(damaged, "finding", "findings");
        return Err(Failure::trouble(format!("the store is damaged: {findings}")).hint(NEXT_STEP));
    }
    Ok(if disagreeing > 0 { ExitStatus::No } else { ExitStatus::Yes })
}

/// Audits a branch up to an entry.
fn verify_line(revision: &Revision, context: &mut Context) -> Result<ExitStatus, Failure> {
    let store = context.read_store()?;
    let log = store.read(&revision.match_name, &revision.branch, revision.seq)?;
    let entries = log.entries.len() as u64;
    let left = LeftToCheck::of(&log.genesis.dice);
    let state = History::of_log(revision, log, &context.registry)?.state()?;
    let link = store.links(&revision.match_name, &revision.branch, entries..=entries)?.first().copied();
    let link = link.ok_or_else(|| Failure::internal("an entry without a link"))?;
    let branch =
        VerifiedBranch { branch: revision.branch.clone(), entries, link, state_hash: state.state_hash() };
    let verification = Verification { branches: vec![branch], findings: Vec::new(), left };
    context.output.report(&VerifiedMatch::new(Some(&revision.match_name), &verification))?;
    Ok(ExitStatus::Yes)
}

/// A replay file that was verified.
#[derive(Serialize)]
struct VerifiedFile<'a> {
    file: String,
    ok: bool,
    entries: u64,
    state_hash: Option<Digest>,
    log: Option<Digest>,
    mismatch: Option<&'a Mismatch>,
    /// Who checks the values of fair dice.
    dice: Option<LeftToCheck>,
}

impl Report for VerifiedFile<'_> {
    fn lines(&self) -> Vec<Line> {
        if let Some(mismatch) = self.mismatch {
            return mismatch.lines();
        }
        let (Some(state), Some(log)) = (self.state_hash, self.log) else { return Vec::new() };
        let name = printable(&self.file);
        let entries = counted(self.entries, "entry", "entries");
        let hashes = dim(format_args!("state {state:.16} log {log:.16}"));
        let ok = Line::from([added("ok"), plain(format_args!(" {name}: {entries} ")), hashes]);
        [ok].into_iter().chain(self.dice.map(|left| left_line(&name, left))).collect()
    }
}

/// Requires of a replay file all that `check` requires.
fn verify_file(file: &FileName, context: &mut Context) -> Result<ExitStatus, Failure> {
    let replay = context.read_replay(&file.path)?.whole()?;
    let checked = check_replay(&replay)?;
    let ok = checked.difference.is_none();
    let closing = replay.closing.filter(|_| ok);
    context.output.report(&VerifiedFile {
        file: file.to_string(),
        ok,
        entries: checked.entries,
        state_hash: closing.map(|closing| closing.state),
        log: closing.map(|closing| closing.log),
        mismatch: checked.difference.as_deref(),
        dice: LeftToCheck::of(&replay.header.dice),
    })?;
    Ok(if ok { ExitStatus::Yes } else { ExitStatus::No })
}
