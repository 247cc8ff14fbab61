//! `turnfold verify`: the audit of stored matches.

use serde::Serialize;
use turnfold_replay::{Finding, FindingKind, Sources, Verification, verify::verify};
use turnfold_store::{BranchName, Damage, MatchName, NEXT_STEP, StoreError};

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::output::{Tone, counted, paint};

/// Audit stored matches: chain, decoding, rules, seeded dice
///
/// Every entry's link is recomputed, every command decoded and folded again, every seeded roll recomputed. Exits with
/// 1 when a log disagrees with its rules, with 3 when the store is damaged.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold verify duel")]
pub(crate) struct Args {
    /// The matches [default: all]
    #[arg(value_name = "MATCH")]
    matches: Vec<MatchName>,
}

#[derive(Serialize)]
struct VerifyJson<'a> {
    #[serde(rename = "match")]
    /// `null` for the store as a whole.
    match_name: Option<&'a str>,
    ok: bool,
    branches: Vec<BranchJson<'a>>,
    findings: Vec<FindingJson<'a>>,
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

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let store = context.read_store()?;
    let matches: Box<dyn Iterator<Item = Result<MatchName, StoreError>>> = if args.matches.is_empty() {
        Box::new(store.matches_after(None)?.map(|info| info.map(|info| info.name)))
    } else {
        Box::new(args.matches.iter().cloned().map(Ok))
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
    Ok(if disagreeing > 0 { Answer::No } else { Answer::Yes })
}

/// Prints what concerns the store as a whole.
fn print_of_store(damage: Damage, context: &mut Context) -> Result<(), Failure> {
    let finding = Finding::from(damage);
    let output = &mut context.output;
    if output.is_json() {
        let verification = Verification { branches: Vec::new(), findings: vec![finding] };
        return Ok(output.json(&to_json(None, &verification))?);
    }
    let kind = paint(Tone::Old, code(finding.kind));
    Ok(output.line(format_args!("{kind} the store: {}", finding.message))?)
}

fn print(match_name: &MatchName, verification: &Verification, context: &mut Context) -> Result<(), Failure> {
    let output = &mut context.output;
    if output.is_json() {
        return Ok(output.json(&to_json(Some(match_name), verification))?);
    }
    for branch in &verification.branches {
        let entries = counted(branch.entries, "entry", "entries");
        let hash =
            paint(Tone::Faint, format_args!("state {:.16} link {:.16}", branch.state_hash, branch.link));
        output.line(format_args!(
            "{} {match_name}@{}: {entries} {hash}",
            paint(Tone::New, "ok"),
            branch.branch
        ))?;
    }
    for finding in &verification.findings {
        let branch = finding.branch.as_ref().map(|branch| format!("@{branch}")).unwrap_or_default();
        let seq = finding.seq.map(|seq| format!(":{seq}")).unwrap_or_default();
        let kind = paint(Tone::Old, code(finding.kind));
        output.line(format_args!("{kind} {match_name}{branch}{seq}: {}", finding.message))?;
    }
    Ok(())
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
    }
}
