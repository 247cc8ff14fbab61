//! `turnfold verify`: the audit of stored matches, of histories and of replay files.

use std::fmt::Display;
use std::str::FromStr;

use serde::Serialize;
use turnfold_replay::{
    Closing, FileName, Finding, FindingKind, History, LeftToCheck, MismatchReport, QuotedLink, Revision,
    SourceName, Sources, Verification, VerifiedBranch, check::check_replay, verify::verify,
};
use turnfold_store::{BranchName, Damage, MatchName, NEXT_STEP, StoreError};

use self::quoted::print_quoted;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Output, Tone, counted, paint};
use crate::render::printable;

mod quoted;

/// Audit matches and replay files: chain, decoding, rules, dice
///
/// Every entry's link is recomputed, every command decoded and folded again, every seeded roll recomputed. A match is
/// audited with all its branches and all that the store keeps beside them, a revision up to its entry. In a replay file
/// every outcome and hash must be what the rules make of it, and the header the one that was blessed. Of fair dice only
/// count and range are checked: `audit` recomputes their values, with the desk. Exits with 1 when a log disagrees with
/// its rules, with 3 when the store is damaged.
///
/// A link proves the setup and all entries before it, with their times and keys. So two people who have the same match
/// can compare what they have by telephone: one reads out a link that `verify` or `log --links` prints and its entry,
/// the other runs `verify --expect`. It exits with 1 when their logs part, and tells the first entry where they do, or
/// between which entries that is and which link to ask for next; several links may be given. An imported match has
/// links of its own.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold verify duel\n  turnfold verify duel@flank:12 duel.tfl\n  \
    turnfold verify duel --expect 9c41d2aa01b3c4d5@12")]
pub(crate) struct Args {
    /// Matches, revisions such as `duel@flank:12`, and replay files [default: all matches]
    #[arg(value_name = "MATCH|REV|FILE")]
    targets: Vec<Target>,

    /// Require this link, or at least 16 digits of it, after an entry of the one revision; may be given again
    #[arg(long, value_name = "LINK@SEQ", requires = "targets")]
    expect: Vec<QuotedLink>,
}

/// What is to be audited.
#[derive(Clone, Debug)]
enum Target {
    /// All of a match.
    Match(MatchName),
    /// A branch up to an entry.
    Line(Revision),
    File(FileName),
}

impl FromStr for Target {
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
    /// Returns the one history of which links are expected.
    fn line_compared(&self) -> Result<Option<Revision>, Failure> {
        match self.targets.as_slice() {
            _ if self.expect.is_empty() => Ok(None),
            [Target::Line(line)] => Ok(Some(line.clone())),
            [Target::Match(name)] => {
                Ok(Some(Revision { match_name: name.clone(), branch: BranchName::main(), seq: None }))
            }
            [Target::File(_)] => Err(Failure::usage("a replay file has no links to compare")
                .hint("`turnfold log FILE` prints state hashes, which two people can compare")),
            _ => Err(Failure::usage("links can be compared with one revision only, found several")),
        }
    }
}

#[derive(Serialize)]
struct VerifyJson<'a> {
    #[serde(rename = "match")]
    /// `null` for the store as a whole.
    match_name: Option<&'a str>,
    ok: bool,
    branches: Vec<BranchJson<'a>>,
    findings: Vec<FindingJson<'a>>,
    /// Who checks the values of fair dice.
    dice: Option<&'static str>,
}

#[derive(Serialize)]
struct BranchJson<'a> {
    branch: &'a str,
    entries: u64,
    link: String,
    state_hash: String,
}

#[derive(Serialize)]
struct FindingJson<'a> {
    branch: Option<&'a str>,
    seq: Option<u64>,
    kind: &'static str,
    message: &'a str,
}

fn code(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Damaged => "damaged",
        FindingKind::Disagrees => "disagrees",
        FindingKind::UnknownRules => "unknown_rules",
        FindingKind::WrongSnapshot => "wrong_snapshot",
    }
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
            Target::Match(_) | Target::Line(_) if compared.is_some() => ExitStatus::Yes,
            Target::Match(name) => verify_matches(Some(name), context)?,
            Target::Line(line) => verify_line(line, context)?,
            Target::File(file) => verify_file(file, context)?,
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
        print_of_store(damage, context)?;
    }
    for match_name in matches {
        let match_name = &match_name?;
        let verification = verify(&store, match_name, &context.registry)?;
        for finding in &verification.findings {
            if finding.kind == FindingKind::Damaged { damaged += 1 } else { disagreeing += 1 }
        }
        print(match_name, &verification, context)?;
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
    print(&revision.match_name, &verification, context)?;
    Ok(ExitStatus::Yes)
}

#[derive(Serialize)]
struct VerifiedFileJson<'a> {
    file: String,
    ok: bool,
    entries: u64,
    state_hash: Option<String>,
    log: Option<String>,
    mismatch: Option<MismatchReport<'a>>,
    /// Who checks the values of fair dice.
    dice: Option<&'static str>,
}

/// Requires of a replay file all that `check` requires.
fn verify_file(file: &FileName, context: &mut Context) -> Result<ExitStatus, Failure> {
    let replay = context.read_replay(&file.path)?.whole()?;
    let checked = check_replay(&replay)?;
    let ok = checked.difference.is_none();
    let closing = replay.closing.filter(|_| ok);
    let left = LeftToCheck::of(&replay.header.dice);
    let output = &mut context.output;
    if output.is_json() {
        output.json(&VerifiedFileJson {
            file: file.to_string(),
            ok,
            entries: checked.entries,
            state_hash: closing.map(|closing| closing.state.to_string()),
            log: closing.map(|closing| closing.log.to_string()),
            mismatch: checked.difference.as_ref().map(|mismatch| mismatch.report()),
            dice: left.map(LeftToCheck::text),
        })?;
    } else if let Some(mismatch) = &checked.difference {
        for (tone, line) in mismatch.lines() {
            output.line(paint(tone, line))?;
        }
    } else if let Some(Closing { state, log, .. }) = closing {
        let entries = counted(checked.entries, "entry", "entries");
        let hash = paint(Tone::Dim, format_args!("state {state:.16} log {log:.16}"));
        output.line(format_args!(
            "{} {}: {entries} {hash}",
            paint(Tone::Added, "ok"),
            printable(&file.to_string())
        ))?;
        print_left(&printable(&file.to_string()), left, output)?;
    }
    Ok(if ok { ExitStatus::Yes } else { ExitStatus::No })
}

/// Prints what concerns the store as a whole.
fn print_of_store(damage: Damage, context: &mut Context) -> Result<(), Failure> {
    let finding = Finding::from(damage);
    let output = &mut context.output;
    if output.is_json() {
        let verification = Verification { findings: vec![finding], ..Verification::default() };
        return Ok(output.json(&to_json(None, &verification))?);
    }
    let kind = paint(Tone::Removed, code(finding.kind));
    Ok(output.line(format_args!("{kind} the store: {}", finding.message))?)
}

fn print(match_name: &MatchName, verification: &Verification, context: &mut Context) -> Result<(), Failure> {
    let output = &mut context.output;
    if output.is_json() {
        return Ok(output.json(&to_json(Some(match_name), verification))?);
    }
    for branch in &verification.branches {
        let entries = counted(branch.entries, "entry", "entries");
        let hash = paint(Tone::Dim, format_args!("state {:.16} link {:.16}", branch.state_hash, branch.link));
        output.line(format_args!(
            "{} {match_name}@{}: {entries} {hash}",
            paint(Tone::Added, "ok"),
            branch.branch
        ))?;
    }
    for finding in &verification.findings {
        let branch = finding.branch.as_ref().map(|branch| format!("@{branch}")).unwrap_or_default();
        let seq = finding.seq.map(|seq| format!(":{seq}")).unwrap_or_default();
        let kind = paint(Tone::Removed, code(finding.kind));
        output.line(format_args!("{kind} {match_name}{branch}{seq}: {}", finding.message))?;
    }
    print_left(match_name, verification.left, output)
}

/// Prints what another check is left with.
fn print_left(name: &dyn Display, left: Option<LeftToCheck>, output: &mut Output) -> Result<(), Failure> {
    let Some(left) = left else { return Ok(()) };
    Ok(output.line(format_args!("{} {name}: {}", paint(Tone::Dim, "dice"), left.text()))?)
}

fn to_json<'a>(match_name: Option<&'a MatchName>, verification: &'a Verification) -> VerifyJson<'a> {
    let branches = verification.branches.iter().map(|branch| BranchJson {
        branch: branch.branch.as_str(),
        entries: branch.entries,
        link: branch.link.to_string(),
        state_hash: branch.state_hash.to_string(),
    });
    let findings = verification.findings.iter().map(|finding| FindingJson {
        branch: finding.branch.as_ref().map(BranchName::as_str),
        seq: finding.seq,
        kind: code(finding.kind),
        message: &finding.message,
    });
    VerifyJson {
        match_name: match_name.map(MatchName::as_str),
        ok: verification.findings.is_empty(),
        branches: branches.collect(),
        findings: findings.collect(),
        dice: verification.left.map(LeftToCheck::text),
    }
}
